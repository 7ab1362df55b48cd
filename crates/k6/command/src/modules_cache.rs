//! Modules of the web, and their cached copies.
//!
//! A module is requested in each run, as in k6, so that no test uses an old version without notice.
//! The cached copy is used if the server can't be reached. Modules whose URL contains a version, on
//! the server of k6's own libraries, never change: their copies are used at once.
//!
//! A module is first requested with `_k6=1` in its query, to which some servers respond
//! differently, and then without it.

use super::fetch::{CommandRequest, Fetched, fetch};
use loadline_plan::EnvironmentProxies;
use loadline_runner::Commands;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// The host whose modules never change, if their URL contains a version.
const VERSIONED: &str = "jslib.k6.io";

/// A module of the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebModule {
    /// The source text.
    pub bytes: Vec<u8>,
    /// The reason why this is the cached copy although the server was tried; worth a warning.
    pub kept_because: Option<String>,
}

/// The reason why a module is not available. Each ends a run with exit code 107.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// The server has no such module, or can't be reached, and there is no copy.
    #[error(
        "The moduleSpecifier \"{specifier}\" couldn't be retrieved from the resolved url \
         \"{url}\". Error : \"{problem}\""
    )]
    Unretrieved {
        /// The specifier in the script.
        specifier: String,
        /// The resolved URL.
        url: String,
        /// The description of the failure.
        problem: String,
    },
    /// The URL has another scheme than `file` and `https`.
    #[error("only supported schemes for imports are file and https, {url} has `{scheme}`")]
    Scheme {
        /// The URL.
        url: String,
        /// The scheme.
        scheme: String,
    },
}

/// Sends one request for a URL, and waits for its response.
type Fetch = Box<dyn Fn(&Url) -> Result<Fetched, String> + Send + Sync>;

/// Finds modules on the web.
pub struct ModulesCache {
    folder: Option<PathBuf>,
    fetcher: Fetch,
}

impl ModulesCache {
    /// Creates a cache with copies in this folder; `None` stores no copies. [`folder`] returns the
    /// usual folder. Modules are requested through these proxies.
    pub fn new(
        folder: Option<PathBuf>,
        proxies: Option<EnvironmentProxies>,
        commands: &Commands,
    ) -> Self {
        let commands = commands.clone();
        let fetcher = move |url: &Url| fetch(get(url), proxies.as_ref(), &commands);
        ModulesCache {
            folder,
            fetcher: Box::new(fetcher),
        }
    }

    /// Returns the module at a URL, which the script wrote as `specifier`.
    ///
    /// # Errors
    /// If there is no such module, or neither the server nor a copy is available.
    pub fn read(&self, specifier: &str, url: &Url) -> Result<WebModule, ModuleError> {
        if url.scheme() != "https" {
            return Err(ModuleError::Scheme {
                url: url.to_string(),
                scheme: url.scheme().to_owned(),
            });
        }
        if never_changes(url)
            && let Some(bytes) = self.kept(url)
        {
            return Ok(WebModule::fresh(bytes));
        }
        self.load(url).map_err(|problem| ModuleError::Unretrieved {
            specifier: specifier.to_owned(),
            url: url.to_string(),
            problem,
        })
    }

    fn load(&self, url: &Url) -> Result<WebModule, String> {
        let fetched = match self.retrieve(&marked(url)) {
            Ok(Ok(bytes)) => Ok(Ok(bytes)),
            _ => self.retrieve(url),
        };
        match fetched {
            Ok(found) => {
                let bytes = found?;
                // The run continues even if the copy can't be written.
                let _ = self.keep(url, &bytes);
                Ok(WebModule::fresh(bytes))
            }
            Err(problem) => match self.kept(url) {
                Some(bytes) => Ok(WebModule {
                    bytes,
                    kept_because: Some(problem),
                }),
                None => Err(problem),
            },
        }
    }

    /// Requests a module from its server; the inner error is a response without a module, the outer
    /// error is a missing response.
    fn retrieve(&self, url: &Url) -> Result<Result<Vec<u8>, String>, String> {
        let fetched = (self.fetcher)(url).map_err(|problem| format!("Get \"{url}\": {problem}"))?;
        Ok(match fetched.status {
            200 => Ok(fetched.body),
            404 => Err(format!("not found: {url}")),
            status => Err(format!("wrong status code ({status}) for: {url}")),
        })
    }

    fn kept(&self, url: &Url) -> Option<Vec<u8>> {
        std::fs::read(self.folder.as_ref()?.join(file_name(url))).ok()
    }

    /// Writes a copy completely or not at all, since another run may read it at the same time.
    fn keep(&self, url: &Url, bytes: &[u8]) -> io::Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(folder.join(file_name(url)))?;
        Ok(())
    }
}

impl std::fmt::Debug for ModulesCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModulesCache")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl WebModule {
    fn fresh(bytes: Vec<u8>) -> Self {
        WebModule {
            bytes,
            kept_because: None,
        }
    }
}

/// Returns the folder of the copies: `loadline/modules` in the user's cache folder.
pub fn folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let caches = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(absolute);
    let home = || variable("HOME").filter(|home| !home.is_empty());
    let caches = caches.or_else(|| Some(Path::new(&home()?).join(".cache")))?;
    Some(caches.join("loadline").join("modules"))
}

fn get(url: &Url) -> CommandRequest {
    CommandRequest {
        method: "GET",
        url: url.clone(),
        json: None,
    }
}

fn marked(url: &Url) -> Url {
    let mut marked = url.clone();
    marked.query_pairs_mut().append_pair("_k6", "1");
    marked
}

fn never_changes(url: &Url) -> bool {
    let mut segments = url.path_segments().into_iter().flatten();
    url.host_str() == Some(VERSIONED) && segments.any(is_version)
}

/// True if a text is three numbers with dots between them.
fn is_version(text: &str) -> bool {
    let numbers: Vec<&str> = text.split('.').collect();
    let is_number = |n: &&str| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit());
    numbers.len() == 3 && numbers.iter().all(is_number)
}

fn file_name(url: &Url) -> String {
    let mut whole = url.clone();
    whole.set_fragment(None);
    let digest = Sha256::digest(whole.as_str());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits + ".js"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    const URL: &str = "https://example.test/a.js?v=1";

    /// Creates a cache in a folder that records its requests; a rule gives the responses.
    fn cache(
        folder: &Path,
        rule: impl Fn(&str) -> Result<(u16, &'static str), String> + Send + Sync + 'static,
    ) -> (ModulesCache, Arc<Mutex<Vec<String>>>) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&asked);
        let fetcher = move |url: &Url| {
            notes.lock().expect("notes").push(url.to_string());
            let (status, body) = rule(url.as_str())?;
            let body = body.as_bytes().to_vec();
            Ok(Fetched { status, body })
        };
        let cache = ModulesCache {
            folder: Some(folder.to_owned()),
            fetcher: Box::new(fetcher),
        };
        (cache, asked)
    }

    fn read(cache: &ModulesCache, url: &str) -> Result<WebModule, String> {
        let parsed = Url::parse(url).expect("a URL");
        cache.read(url, &parsed).map_err(|error| error.to_string())
    }

    #[test]
    fn a_module_is_asked_for_with_the_mark_of_k6_first_and_then_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let rule = |url: &str| {
            Ok(if url.contains("_k6") {
                (400, "")
            } else {
                (200, "1")
            })
        };
        let (cache, asked) = cache(folder.path(), rule);
        assert_eq!(read(&cache, URL), Ok(WebModule::fresh(b"1".to_vec())));
        let asked = asked.lock().expect("notes");
        assert_eq!(*asked, [&format!("{URL}&_k6=1"), URL]);
    }

    #[test]
    fn a_copy_is_used_where_the_server_can_t_be_reached() {
        let folder = tempfile::tempdir().expect("a folder");
        let (online, _) = cache(folder.path(), |_| Ok((200, "kept")));
        read(&online, URL).expect("a module");
        let (offline, _) = cache(folder.path(), |_| Err("no route".to_owned()));
        let module = read(&offline, URL).expect("the copy");
        assert_eq!(module.bytes, b"kept");
        assert_eq!(
            module.kept_because,
            Some(format!("Get \"{URL}\": no route"))
        );
    }

    #[test]
    fn a_copy_does_not_hide_that_the_server_has_the_module_no_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let (before, _) = cache(folder.path(), |_| Ok((200, "kept")));
        read(&before, URL).expect("a module");
        let (after, _) = cache(folder.path(), |_| Ok((404, "")));
        let said = format!(
            "The moduleSpecifier \"{URL}\" couldn't be retrieved from the resolved url \"{URL}\". \
             Error : \"not found: {URL}\""
        );
        assert_eq!(read(&after, URL), Err(said));
    }

    #[test]
    fn a_version_of_a_library_is_asked_for_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let (cache, asked) = cache(folder.path(), |_| Ok((200, "1")));
        let url = "https://jslib.k6.io/k6-utils/1.4.0/index.js";
        let first = read(&cache, url);
        assert_eq!(read(&cache, url), first);
        assert_eq!(asked.lock().expect("notes").len(), 1);
    }

    #[test]
    fn other_statuses_and_schemes_are_refused_in_the_words_of_k6() {
        let folder = tempfile::tempdir().expect("a folder");
        let (cache, _) = cache(folder.path(), |_| Ok((500, "")));
        let said = read(&cache, URL).expect_err("no module");
        assert!(said.ends_with(&format!("Error : \"wrong status code (500) for: {URL}\"")));
        let plain = read(&cache, "http://example.test/a.js");
        let said = "only supported schemes for imports are file and https, \
                    http://example.test/a.js has `http`";
        assert_eq!(plain, Err(said.to_owned()));
    }

    #[test]
    fn copies_lie_in_the_folder_of_caches() {
        let of = |xdg: Option<&'static str>, home: Option<&'static str>| {
            folder(move |name| {
                let value = if name == "HOME" { home } else { xdg };
                value.map(str::to_owned)
            })
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(of(Some("/c"), Some("/h")), path("/c/loadline/modules"));
        assert_eq!(
            of(Some("c"), Some("/h")),
            path("/h/.cache/loadline/modules")
        );
        assert_eq!(of(None, None), None);
    }
}
