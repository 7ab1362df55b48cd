//! Running the command, and servers for it to load.

use crate::schemas::assert_fits;
use loadline_testbed::{Config, Server};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The variable with the path of the program that is tested: `make test` sets it to the one that is
/// shipped.
const PROGRAM: &str = "LOADLINE_PROGRAM";

/// What a finished command said.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_fits(&stdout);
        CommandOutput {
            code: output.status.code(),
            stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The program that is tested: by [`PROGRAM`], or else the last one that cargo built by the profile
/// of this test.
pub(crate) fn program() -> PathBuf {
    std::env::var_os(PROGRAM).map_or_else(built_beside_the_test, PathBuf::from)
}

fn built_beside_the_test() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("a test lies in `deps`");
    let program = profile.join("loadline");
    assert!(program.exists(), "build the program first: `cargo build`");
    program
}

/// The command with these words, ready to be started.
pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(program());
    for proxies in ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] {
        command.env_remove(proxies);
        command.env_remove(proxies.to_lowercase());
    }
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Held by every run for reading, and for writing by one that needs the machine for itself.
static QUIET: RwLock<()> = RwLock::new(());

/// Runs the command with these words to its end.
pub(crate) fn loadline(words: &[&str]) -> CommandOutput {
    let _beside_others = beside_others();
    output_of(words)
}

/// Keeps a run that needs the machine for itself waiting, for a test that starts the command on its
/// own. Not to be held while another is asked for: a run that waits comes before it.
pub(crate) fn beside_others() -> RwLockReadGuard<'static, ()> {
    QUIET.read().unwrap_or_else(PoisonError::into_inner)
}

fn output_of(words: &[&str]) -> CommandOutput {
    command(words).output().expect("the command starts").into()
}

/// Runs the command, which has to succeed, and returns the `summary` of its JSON report, whose
/// counts have to balance. Whether the machine was calm enough for the run to be valid is no
/// matter.
pub(crate) fn summary(words: &[&str]) -> Value {
    summary_of(loadline(&with_json(words)), words)
}

/// As [`summary`], while no other test runs the command: for figures that another process on the
/// same cores would change.
pub(crate) fn summary_alone(words: &[&str]) -> Value {
    let _alone = QUIET.write().unwrap_or_else(PoisonError::into_inner);
    summary_of(output_of(&with_json(words)), words)
}

fn with_json<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["--no-progress", "--allow-invalid", "-o", "json"], words].concat()
}

fn summary_of(said: CommandOutput, words: &[&str]) -> Value {
    assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is JSON");
    for part in report["intervals"].as_array().expect("intervals") {
        assert!(part["sent"].is_u64(), "{part}");
    }
    let summary = report["summary"].clone();
    assert_balanced(&summary);
    summary
}

/// sent = answered + failed + in flight.
pub(crate) fn assert_balanced(summary: &Value) {
    let ended = count(summary, "answered") + count(summary, "failed");
    assert_eq!(
        count(summary, "sent"),
        ended + count(summary, "in_flight"),
        "{summary:#}"
    );
}

pub(crate) fn count(summary: &Value, name: &str) -> u64 {
    summary[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} is no count in {summary:#}"))
}

/// How many failures of a kind there were.
pub(crate) fn failures(summary: &Value, kind: &str) -> u64 {
    summary["errors"][kind]["count"].as_u64().unwrap_or(0)
}

/// How many responses with this status there were.
pub(crate) fn statuses(summary: &Value, status: &str) -> u64 {
    summary["statuses"][status].as_u64().unwrap_or(0)
}

/// A test server on a free port.
pub(crate) fn serve() -> Server {
    serve_with(|_| ())
}

/// A test server on a free port, set up by `change`.
pub(crate) fn serve_with(change: impl FnOnce(&mut Config)) -> Server {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut config = Config {
        listen,
        ..Config::default()
    };
    change(&mut config);
    Server::start(config).expect("the test server starts")
}

/// A port of this machine that nothing uses.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// A URL of the test server with these options.
pub(crate) fn url(server: &Server, options: &str) -> String {
    format!("http://{}/?{options}", server.addr())
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary path is UTF-8")
}
