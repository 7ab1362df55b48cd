//! Metrics that are sent while a run lasts, to the real Prometheus and InfluxDB.

#[cfg(feature = "k6")]
mod boards;
mod bodies;
mod certificates;
mod datagrams;
mod influxdb;
mod influxdb2;
#[cfg(feature = "k6")]
mod k6;
mod many_urls;
mod otlp;
mod own_boards;
mod prometheus;
mod refusing;
pub(crate) mod scrape;
mod statsd;
mod traces;
mod webhook;

use crate::rig::{CommandOutput, beside_others, command, free_port, text};
use serde_json::json;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A receiver in a folder of its own, ended with the test.
struct Receiver {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Receiver {
    /// Starts a program; `arguments` are made of its folder and the port that it listens on.
    fn start(program: &str, arguments: impl FnOnce(&Path, u16) -> Vec<String>) -> Receiver {
        let folder = TempDir::new().unwrap();
        let port = free_port();
        let process = Command::new(program)
            .args(arguments(folder.path(), port))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} ({error}): `make test` installs it"));
        let receiver = Receiver {
            process,
            port,
            _folder: folder,
        };
        receiver.wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        receiver
    }

    fn wait_until(&self, is_ready: impl Fn() -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !is_ready() {
            assert!(Instant::now() < patience, "the receiver is not ready");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Asks a receiver for JSON, with these pairs in the query.
fn get_json(url: &str, pairs: &[(&str, &str)]) -> serde_json::Value {
    let mut curl = Command::new("curl");
    curl.args(["-sS", "-G", url]);
    for (name, value) in pairs {
        curl.args(["--data-urlencode", &format!("{name}={value}")]);
    }
    let said = curl.output().unwrap();
    let body = String::from_utf8_lossy(&said.stdout);
    serde_json::from_str(&body).unwrap_or_else(|_| panic!("{url} answers JSON: {body}"))
}

/// Runs the command with these words and variables.
fn run_with(words: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
    let _beside_others = beside_others();
    let mut command = command(words);
    command.envs(variables.iter().copied());
    command.output().unwrap().into()
}

/// A list of these requests, each with a name.
fn list(folder: &TempDir, requests: &[(&str, String)]) -> PathBuf {
    let line = |(name, url): &(&str, String)| format!("{}\n", json!({"url": url, "name": name}));
    let path = folder.path().join("urls");
    std::fs::write(&path, requests.iter().map(line).collect::<String>()).unwrap();
    path
}

/// The words of a run of so many seconds with these requests, whose metrics go to this output.
fn listed<'a>(urls: &'a Path, seconds: &'a str, output: &'a str) -> Vec<&'a str> {
    let words = [
        "-c",
        "2",
        "-t",
        "1",
        "--no-watch",
        "--allow-invalid",
        "-q",
        "--rate",
        "100/s",
    ];
    [
        &words[..],
        &["-d", seconds, "-o", output, "--urls", text(urls)],
    ]
    .concat()
}
