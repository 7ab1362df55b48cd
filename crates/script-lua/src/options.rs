//! What a script is given before it runs.

use loadline_script::Prints;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a script is given before it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose words the script is written in.
    pub flavour: Flavour,
    /// The URL as typed: `init` gets it as `args[0]`, and `wrk.scheme`, `host`, `port` and `path`
    /// are its parts.
    pub url: String,
    /// What stands behind the URL: `init` gets them as `args[1]` and so on.
    pub args: Vec<String>,
    /// `wrk.method` before the script changes it.
    pub method: String,
    /// `wrk.headers` before the script changes them. Of several with the same name, in the same
    /// case, the last one counts.
    pub headers: Vec<(String, String)>,
    /// `wrk.body` before the script changes it.
    pub body: Option<Vec<u8>>,
    /// How many workers there will be: each has a state of its own.
    pub threads: u32,
    /// Whether `wrk.resolve` is called, which tries the addresses of the URL's host. Without, and
    /// where connections go elsewhere than the URL says, `wrk.addrs` and `thread.addr` are nil.
    pub resolve: bool,
    /// The most that `wrk.connect` may take.
    pub connect_timeout: Duration,
    /// Where the script's prints go.
    pub prints: Prints,
    /// What becomes of a script that can't be loaded.
    pub broken: Broken,
    /// Whether `os.exit` ends the process while the load lasts too, as in wrk. Otherwise it is an
    /// error there, so that the run has a report.
    pub may_exit: bool,
    /// The most metrics that the script may define.
    pub max_metrics: u32,
    /// The tags of all its metrics.
    pub tags: BTreeMap<String, String>,
}

impl Options {
    /// The options of wrk for a URL: one thread, GET, nothing else given.
    pub fn new(url: impl Into<String>) -> Self {
        Options {
            flavour: Flavour::Wrk,
            url: url.into(),
            args: Vec::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: None,
            threads: 1,
            resolve: true,
            connect_timeout: Duration::from_secs(10),
            prints: Prints::Stdout,
            broken: Broken::Refused,
            may_exit: true,
            max_metrics: loadline_metrics::DEFAULT_MOST,
            tags: BTreeMap::new(),
        }
    }
}

/// Whose words a script is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// Those of wrk 4.1: `delay()`, figures that are called for their distinct values.
    #[default]
    Wrk,
    /// Those of wrk2: `wrk.time_us()`, figures that are indexed for their samples, no `delay()`.
    Wrk2,
}

/// What becomes of a script whose file can't be read or throws while it is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Broken {
    /// It is an error.
    #[default]
    Refused,
    /// The run goes on with what was defined up to there, as wrk does;
    /// [`Script::complaints`](crate::Script::complaints) has what to print to stderr. One that asks
    /// for what Loadline does not offer is an error all the same.
    Tolerated,
}
