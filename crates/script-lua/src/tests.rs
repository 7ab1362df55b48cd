//! Scripts and their view: each function of the API with its arguments and results.

mod calls;
mod done;
mod module;
mod threads;

use crate::{Error, Options, Script};
use std::net::TcpListener;
use std::path::PathBuf;
use tempfile::TempDir;

/// A script in a file of its own, and a listener at the URL for its run.
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

    /// Returns the file to which the script's function `log` appends. That function is inserted
    /// before the script.
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

    /// Loads a script and returns the lines that it logged.
    pub(crate) fn logged(&self, source: &str) -> Vec<String> {
        let script = self.load(source);
        script.unwrap_or_else(|error| panic!("{error}"));
        self.lines()
    }

    /// Returns the lines that were logged.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the error of a script that can't be loaded.
    pub(crate) fn refused(&self, source: &str) -> String {
        let error = self.load(source).expect_err("an error");
        let folder = format!("{}/", self.folder.path().display());
        error.to_string().replace(&folder, "")
    }
}
