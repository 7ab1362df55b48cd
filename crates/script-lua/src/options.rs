//! The input of a script before it runs.

use loadline_script::Prints;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The input of a script before it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    /// The tool whose interface the script uses.
    pub flavour: Flavour,
    /// The URL as typed: `init` receives it as `args[0]`, and `wrk.scheme`, `host`, `port` and
    /// `path` are its parts.
    pub url: String,
    /// The arguments after the URL: `init` receives them as `args[1]` and so on.
    pub args: Vec<String>,
    /// The initial value of `wrk.method`.
    pub method: String,
    /// The initial value of `wrk.headers`. Of several with the same name, in the same case, the
    /// last one is used.
    pub headers: Vec<(String, String)>,
    /// The initial value of `wrk.body`.
    pub body: Option<Vec<u8>>,
    /// The number of workers: each has a state of its own.
    pub threads: u32,
    /// True if `wrk.resolve` is called, which tries the addresses of the URL's host. If it is
    /// false, as where connections go to another place than the URL's, `wrk.addrs` and
    /// `thread.addr` are nil.
    pub resolve: bool,
    /// The timeout of `wrk.connect`.
    pub connect_timeout: Duration,
    /// The output for the script's prints; in other processes standard error.
    #[serde(skip)]
    pub prints: Prints,
    /// The treatment of a script that can't be loaded.
    pub broken: Broken,
    /// True if `os.exit` ends the process during the load too, as in wrk. Otherwise it is an error
    /// there, so that the run has a report.
    pub may_exit: bool,
    /// The maximum number of metrics that the script may define.
    pub max_metrics: u32,
    /// The tags of all metrics of the script.
    pub tags: BTreeMap<String, String>,
    /// True if other processes send the load: the target need not be reachable from here, and
    /// threads have no globals after the load.
    #[serde(skip)]
    pub is_elsewhere: bool,
}

impl Options {
    /// Creates the options of wrk for a URL: one thread, GET, no arguments.
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
            is_elsewhere: false,
        }
    }
}

/// The tool whose interface a script uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flavour {
    /// wrk 4.1: `delay()`, and figures that are called for their distinct values.
    #[default]
    Wrk,
    /// wrk2: `wrk.time_us()`, figures that are indexed for their samples, no `delay()`.
    Wrk2,
}

/// The treatment of a script whose file can't be read or raises an error while it is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Broken {
    /// An error.
    #[default]
    Refused,
    /// The run continues with the definitions up to there, as in wrk;
    /// [`Script::complaints`](crate::Script::complaints) has the messages for stderr. A script that
    /// uses a function that Loadline does not support is an error all the same.
    Tolerated,
}
