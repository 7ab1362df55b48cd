//! Scripts and what they see: each function of the API with its arguments and results.

mod calls;
mod done;
mod module;
mod threads;

use crate::{Error, Options, Script};
use std::net::TcpListener;
use std::path::PathBuf;
use tempfile::TempDir;

/// A script in a file of its own, and a listener at the URL that it is run against.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) listener: TcpListener,
    pub(crate) options: Options,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/path?query", listener.local_addr().unwrap());
        Bench {
            folder: tempfile::tempdir().unwrap(),
            options: Options::new(url),
            listener,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("script.lua")
    }

    /// `127.0.0.1:port`.
    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().unwrap().to_string()
    }

    /// A file that the script appends to by the function `log`, which this is put before.
    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub(crate) fn load(&self, source: &str) -> Result<Script, Error> {
        // On the first line, so that the script's own lines keep their numbers.
        let log = format!(
            "local function log(...) local f = io.open({:?}, 'a') local t = {{...}} for i = 1, \
             select('#', ...) do t[i] = tostring((select(i, ...))) end f:write(table.concat(t, ' \
             '), '\\n') f:close() end ",
            self.log()
        );
        std::fs::write(self.path(), log + source).unwrap();
        Script::load(&self.path(), &self.options)
    }

    /// Loads a script and returns what it logged.
    pub(crate) fn logged(&self, source: &str) -> Vec<String> {
        let script = self.load(source);
        script.unwrap_or_else(|error| panic!("{error}"));
        self.lines()
    }

    /// What was logged.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What a script that can't be loaded is told.
    pub(crate) fn refused(&self, source: &str) -> String {
        let error = self.load(source).expect_err("an error");
        let folder = format!("{}/", self.folder.path().display());
        error.to_string().replace(&folder, "")
    }
}
