//! The origin of a script and its files: the disk, standard input, an archive, the web.

use super::archive::{Archive, is_archive};
use super::modules_cache::{ModulesCache, folder};
use super::{FAILED, Refused, go_words};
use loadline_plan::EnvironmentProxies;
use loadline_runner::Commands;
use loadline_script_js::Sources;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use url::Url;

/// The name of standard input on a command line.
const STDIN: &str = "-";

/// A script that was found, with all files that it may read.
pub(super) struct Origin {
    /// The main module.
    pub(super) main: Url,
    /// The source of files.
    pub(super) files: Files,
    /// The archive of the script, without its files; `None` if it is not from an archive.
    pub(super) archive: Option<Archive>,
}

/// Files by their URLs: those already read, and those of the disk and the web.
pub(super) struct Files {
    known: BTreeMap<Url, Vec<u8>>,
    /// True if other files are read from the disk and the web: false for archives, which are
    /// complete.
    is_open: bool,
    web: ModulesCache,
}

/// The working directory and environment of a command.
#[derive(Clone, Debug)]
pub(super) struct CommandContext {
    /// The working directory.
    pub(super) directory: PathBuf,
    /// The variables of the environment.
    pub(super) environment: BTreeMap<String, String>,
}

impl CommandContext {
    /// Returns the proxies of the environment, if there are any.
    ///
    /// # Errors
    /// If a variable names no usable one.
    pub(super) fn proxies(&self) -> Result<Option<EnvironmentProxies>, Refused> {
        let proxies = EnvironmentProxies::read(|name| self.environment.get(name).cloned());
        let proxies = proxies.map_err(|problem| Refused::new(FAILED, problem))?;
        Ok(Some(proxies).filter(|proxies| !proxies.is_empty()))
    }
}

impl Origin {
    /// Finds the script of an argument: a path, an archive's path, or `-`. `kind` is the value of
    /// `--type`.
    ///
    /// # Errors
    /// If it can't be read.
    pub(super) fn find(
        argument: &str,
        kind: Option<&str>,
        place: &CommandContext,
        commands: &Commands,
    ) -> Result<Origin, Refused> {
        let main = match argument {
            STDIN => file_url(&place.directory.join(STDIN)),
            path => file_url(&absolute(&place.directory, path)),
        };
        let bytes = read(argument, &main)?;
        let web = ModulesCache::new(
            folder(|name| place.environment.get(name).cloned()),
            place.proxies()?,
            commands,
        );
        let is_archived = match kind {
            None => is_archive(&bytes),
            Some("archive") => true,
            Some("js") => false,
            Some(other) => {
                return Err(Refused::new(
                    FAILED,
                    format!("unknown or unspecified test type '{other}' for '{main}'"),
                ));
            }
        };
        match is_archived {
            true => Origin::archived(&bytes, web),
            false => Ok(Origin {
                files: Files {
                    known: BTreeMap::from([(main.clone(), bytes)]),
                    is_open: true,
                    web,
                },
                main,
                archive: None,
            }),
        }
    }

    fn archived(bytes: &[u8], web: ModulesCache) -> Result<Origin, Refused> {
        let mut archive = Archive::read(bytes).map_err(|error| Refused::new(FAILED, error))?;
        Ok(Origin {
            main: archive.script.clone(),
            files: Files {
                known: std::mem::take(&mut archive.files),
                is_open: false,
                web,
            },
            archive: Some(archive),
        })
    }
}

/// Reads the bytes of the script itself.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
fn read(argument: &str, main: &Url) -> Result<Vec<u8>, Refused> {
    let mut bytes = Vec::new();
    let read = match argument {
        STDIN => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
        _ => fs::read(main.to_file_path().unwrap_or_default()),
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => {
            let path = main.path().trim_end_matches('/');
            Refused::new(FAILED, format!("read {path}: is a directory"))
        }
        _ => Refused::new(FAILED, not_found(argument)),
    })
}

fn not_found(specifier: &str) -> String {
    format!(
        "The moduleSpecifier \"{specifier}\" couldn't be found on local disk. Make sure that \
         you've specified the right path to the file. If you're running k6 using the Docker image \
         make sure you have mounted the local directory (-v /local/path/:/inside/docker/path) \
         containing your script and modules so that they're accessible by k6 from inside of the \
         container, see \
         https://grafana.com/docs/k6/latest/using-k6/modules/#use-modules-with-docker."
    )
}

fn absolute(directory: &Path, path: &str) -> PathBuf {
    let path = path.strip_prefix("file://").unwrap_or(path);
    directory.join(path)
}

/// Returns the URL of a file; `.` and `..` in it are resolved.
fn file_url(path: &Path) -> Url {
    let url = Url::from_file_path(path).ok();
    let resolved = url.and_then(|url| Url::parse(url.as_str()).ok());
    resolved.unwrap_or_else(|| Url::parse("file:///-").expect("it is a URL"))
}

impl Sources for Files {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    fn read(&self, url: &Url) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.known.get(url) {
            return Ok(bytes.clone());
        }
        let missing = || format!("stat {}: no such file or directory", url.path());
        match url.scheme() {
            _ if !self.is_open => Err(missing()),
            "file" => {
                let path = url.to_file_path().map_err(|()| missing())?;
                fs::read(&path).map_err(|error| {
                    let call = match error.kind() {
                        io::ErrorKind::NotFound => "stat",
                        _ => "open",
                    };
                    format!("{call} {}: {}", path.display(), go_words::system(&error))
                })
            }
            _ => {
                let read = self.web.read(url.as_str(), url);
                read.map(|module| module.bytes)
                    .map_err(|error| error.to_string())
            }
        }
    }
}
