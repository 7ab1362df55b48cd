//! Where a script's files come from: the disk, stdin, the web.

use super::fetch::{Asked, fetch};
use loadline_runner::Commands;
use loadline_script_js::Sources;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// The files of a command.
pub(super) struct Files {
    /// Those that are known already, by their URLs: what came by stdin, or in an archive.
    given: BTreeMap<String, Arc<[u8]>>,
    commands: Commands,
}

impl Files {
    /// The files of the disk and the web, and before them these.
    pub(super) fn new(given: BTreeMap<String, Arc<[u8]>>, commands: &Commands) -> Self {
        Files {
            given,
            commands: commands.clone(),
        }
    }
}

impl Sources for Files {
    fn read(&self, url: &Url) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.given.get(url.as_str()) {
            return Ok(bytes.to_vec());
        }
        match url.scheme() {
            "file" => of_disk(url),
            _ => of_web(url, &self.commands),
        }
    }
}

fn of_disk(url: &Url) -> Result<Vec<u8>, String> {
    let path = url
        .to_file_path()
        .map_err(|()| format!("{url} is no file of this machine"))?;
    if path.is_dir() {
        return Err(format!("read {}: is a directory", path.display()));
    }
    std::fs::read(&path).map_err(|error| in_words(&path, &error))
}

/// Why a file can't be read, in the words of Go's library.
fn in_words(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("stat {path}: no such file or directory"),
        io::ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        _ => format!("open {path}: {error}"),
    }
}

/// A page of the web: first as k6 asks for it, then as it is.
fn of_web(url: &Url, commands: &Commands) -> Result<Vec<u8>, String> {
    let mut marked = url.clone();
    marked.query_pairs_mut().append_pair("_k6", "1");
    load(&marked, commands).or_else(|_| load(url, commands))
}

fn load(url: &Url, commands: &Commands) -> Result<Vec<u8>, String> {
    let asked = Asked {
        method: "GET",
        url: url.clone(),
        json: None,
    };
    let fetched = fetch(asked, commands)
        .map_err(|problem| format!("The moduleSpecifier \"{url}\" couldn't be retrieved: {problem}"))?;
    match fetched.status {
        200 => Ok(fetched.body),
        status => Err(format!("wrong status code ({status}) for: {url}")),
    }
}

/// The URL of a script that a command line names: a file, `-` for stdin, or a page.
pub(super) fn main_url(named: &str, directory: &Path) -> Option<Url> {
    match Url::parse(named) {
        Ok(url) if matches!(url.scheme(), "file" | "https") => Some(url),
        _ => {
            let path: PathBuf = directory.join(named);
            Url::from_file_path(path).ok()
        }
    }
}
