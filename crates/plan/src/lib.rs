//! The plan of a run: plain data, units, parsing, validation; no I/O.
//!
//! A [`Plan`] describes all of a run: the requests, the [`Load`], the connections, the checks.
//! Every front end (flags, plan files, other tools' command lines) creates one; the engine runs it.
//!
//! ## To change
//!
//! - an option of a run: its field: the requests `request.rs`, the load `load.rs`, scenarios
//!   `scenario.rs`, connections `connection.rs`, responses `client.rs`, the end `until.rs`
//! - options that contradict each other: the sentence `contradiction.rs`, the rule `validate.rs`,
//!   `validate/` or `load/options.rs`
//! - a shape of the load: `Shape` in `load.rs`; its flags `load/options.rs`, `load/stages.rs`; what
//!   may change it `load/level.rs`
//! - what a check may name (a statistic, a rate, a status): `Statistic` in `check.rs`, the words
//!   `check/grammar.rs`, statuses `check/statuses.rs`; metrics of scripts `check/custom.rs`
//! - URLs, and the words that are read as such: `target.rs` (`among_words`); lists of them
//!   `url_list.rs`, long ones `long_list.rs`
//! - headers, bodies, forms: `request/header.rs`, `request/content.rs`, `form.rs`
//! - what is masked in the record of a run: `secrets.rs`, `secrets/words.rs`; in what servers wrote
//!   `secrets/response.rs`
//! - names, addresses, proxies: `connection/naming.rs`, `connection/connect_to.rs`,
//!   `connection/proxy.rs`, those of the environment `connection/environment_proxies.rs`
//! - think time: `think.rs`
//! - the destinations of connections: `destination.rs`; a script: `script.rs`; the plan as JSON:
//!   `json.rs`; errors: `error.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod check;
mod client;
mod connection;
mod contradiction;
mod destination;
mod error;
mod form;
pub mod json;
mod load;
mod long_list;
mod request;
mod scenario;
mod script;
mod secrets;
mod target;
mod think;
mod until;
mod url_list;
mod validate;

pub use check::{
    Bound, Check, CheckProblem, Clocked, Comparison, CustomFigure, Metric, Statistic, Statuses,
};
pub use client::Client;
pub use connection::{
    AddressPolicy, Clock, ConnectTo, Connection, EnvironmentProxies, FileContents, HostRule,
    HttpVersion, Identity, IpRange, IpVersion, Naming, Proxy, Selection, ServerName, Tls,
    TlsVersion, UnusableProxy, Windows, parse_ip_address, parse_part,
};
pub use contradiction::Contradiction;
pub use error::Error;
pub use form::{FormField, FormPart, FormSource, Multipart};
pub use load::{
    Arrivals, Burst, DEFAULT_CONNECTIONS, DEFAULT_DURATION, DEFAULT_MAX_CONNECTIONS, LEAST_SHARE,
    Level, LevelProblem, Load, LoadOptions, MOST_SHARE, MOST_USERS, Shape, Stage, StageList,
};
pub use long_list::{LONGEST_WRITTEN_LIST, ListLines, ListSource, LongList, NamedRequest};
pub use request::{
    Body, Content, Header, HeaderProblem, Order, Request, RequestDefaults, parse_method,
};
pub use scenario::{LateArrivals, Part, SCENARIO_TAG, Scenario, spread_by_weight};
pub use script::Script;
pub use secrets::{MASKED, is_secret_name, mask_line, mask_response, mask_words};
pub use target::{BaseUrl, Credentials, Target, TargetProblem};
pub use think::Think;
pub use until::Until;
pub use url_list::{JsonProblem, LineProblem, ListedRequest, parse_url_list};

pub use loadline_units::{
    DurationText, Rate, parse_count, parse_duration, parse_percentile, parse_small_count,
};

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::time::Duration;

/// All of a run, after defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The requests; never empty, unless a [script names its URLs](Script::names_urls). Requests of
    /// one plan may go to different hosts.
    pub requests: Vec<Request>,
    /// The long list whose templates the requests are, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<LongList>,
    /// The script that makes the requests, if there is one; the plan then has one request, whose
    /// URL is the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// The order in which users take the requests.
    pub order: Order,
    /// The time for which users of a closed load wait between two iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// The users' handling of responses.
    #[serde(default, skip_serializing_if = "Client::is_plain")]
    pub client: Client,
    /// The amount of load, and its model.
    pub load: Load,
    /// The number of worker threads, at least one.
    pub threads: u32,
    /// The number of processes over which the workers are spread, at least one.
    #[serde(default = "one_process", skip_serializing_if = "is_one_process")]
    pub processes: u32,
    /// The time during which requests are started, without the warm-up; `None` only with a
    /// `request_limit` or with scenarios that end by their iterations.
    pub duration: Option<Duration>,
    /// The condition that ends the run before its duration is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The number of exchanges that ends the run, answered or failed.
    pub request_limit: Option<u64>,
    /// The time before the measured part, driven like the rest and left out of every figure.
    pub warmup: Duration,
    /// True if the transient at the beginning of the measured part is detected at the end of the
    /// run, and also left out of every figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settle: bool,
    /// The most names that have series of their own in reports; further names are counted together.
    #[serde(
        default = "default_max_series",
        skip_serializing_if = "is_default_max_series"
    )]
    pub max_series: u32,
    /// If each request carries a trace (`traceparent`): one in so many of them is sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<NonZeroU32>,
    /// The seed of all random choices of the run.
    pub seed: u64,
    /// Settings of connections.
    pub connection: Connection,
    /// Conditions on the whole run.
    pub checks: Vec<Check>,
    /// Conditions that end the run early as soon as they fail.
    pub abort_on: Vec<Check>,
    /// Several loads at once. If there are any, the plan's own requests and load are those of all
    /// scenarios together, as [`with_scenarios`](Plan::with_scenarios) computes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
    /// The identity of this load among the scenarios of a larger plan, if this is a
    /// [part](Plan::parts) of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Box<Part>>,
    /// Texts that are masked in everything that is written about the run. They stay in memory.
    #[serde(skip)]
    pub secrets: Vec<String>,
}

fn one_process() -> u32 {
    1
}

fn is_one_process(processes: &u32) -> bool {
    *processes == 1
}

/// The default for [`Plan::max_series`].
pub const DEFAULT_MAX_SERIES: u32 = 2_000;

fn default_max_series() -> u32 {
    DEFAULT_MAX_SERIES
}

fn is_default_max_series(most: &u32) -> bool {
    *most == DEFAULT_MAX_SERIES
}

impl Default for Plan {
    /// A closed load of [`DEFAULT_CONNECTIONS`] on one worker for [`DEFAULT_DURATION`], without
    /// requests, with the seed 1.
    fn default() -> Self {
        Self {
            requests: Vec::new(),
            list: None,
            script: None,
            order: Order::default(),
            think: None,
            client: Client::default(),
            load: Load::default(),
            threads: 1,
            processes: 1,
            duration: Some(DEFAULT_DURATION),
            until: None,
            request_limit: None,
            warmup: Duration::ZERO,
            settle: false,
            max_series: DEFAULT_MAX_SERIES,
            traceparent: None,
            seed: 1,
            connection: Connection::default(),
            checks: Vec::new(),
            abort_on: Vec::new(),
            scenarios: Vec::new(),
            part: None,
            secrets: Vec::new(),
        }
    }
}
