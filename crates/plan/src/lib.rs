//! What a run is: plain data, units, parsing, validation; no I/O.
//!
//! A [`Plan`] says all of a run: the requests, the [`Load`], the connections, the checks. Every
//! front end (flags, plan files, other tools' command lines) makes one; the engine runs it.

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
    AddressPolicy, Clock, ConnectTo, Connection, HostRule, HttpVersion, Identity, IpRange,
    IpVersion, Naming, Proxy, Selection, ServerName, Tls, TlsVersion, Windows, parse_ip_address,
    parse_part,
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
pub use secrets::{MASKED, is_secret_name, mask_line, mask_words};
pub use target::{BaseUrl, Credentials, Target, TargetProblem};
pub use think::Think;
pub use until::Until;
pub use url_list::{JsonProblem, LineProblem, ListedRequest, parse_url_list};

pub use loadline_units::{
    DurationText, Rate, parse_count, parse_duration, parse_percentile, parse_small_count,
};

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// All of a run, after defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What is sent; never empty. All requests of one plan may go to different hosts.
    pub requests: Vec<Request>,
    /// The long list of which the requests are the templates, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<LongList>,
    /// What makes up the requests instead; then there is one request, whose URL says where to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// In which order users take the requests.
    pub order: Order,
    /// How long users of a closed load wait between two iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// What users do with responses.
    #[serde(default, skip_serializing_if = "Client::is_plain")]
    pub client: Client,
    /// How much, and in which model.
    pub load: Load,
    /// Worker threads, at least one.
    pub threads: u32,
    /// How many processes they are spread over, at least one.
    #[serde(default = "one_process", skip_serializing_if = "is_one_process")]
    pub processes: u32,
    /// How long starts are issued, warm-up apart; `None` only with a `request_limit`.
    pub duration: Option<Duration>,
    /// What ends the run before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The run ends when this many exchanges have ended (answered or failed).
    pub request_limit: Option<u64>,
    /// Time before the measured part, driven the same and left out of every figure.
    pub warmup: Duration,
    /// Whether what is not steady yet at the beginning of the measured part is found at the end of
    /// the run, and left out of every figure as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settle: bool,
    /// The most names that have series of their own in reports; the rest is counted together.
    #[serde(
        default = "default_max_series",
        skip_serializing_if = "is_default_max_series"
    )]
    pub max_series: u32,
    /// The seed of everything random in the run.
    pub seed: u64,
    /// How connections are made and used.
    pub connection: Connection,
    /// Conditions on the whole run.
    pub checks: Vec<Check>,
    /// Conditions that end the run early when they break.
    pub abort_on: Vec<Check>,
    /// Several loads at once. Where there are any, the plan's own requests and load are those of
    /// all of them together, as [`with_scenarios`](Plan::with_scenarios) makes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
    /// What this load is among several, where it is the [part](Plan::parts) of a plan that one
    /// scenario is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Box<Part>>,
    /// Texts that are kept out of what is written of the run. They stay in memory.
    #[serde(skip)]
    pub secrets: Vec<String>,
}

fn one_process() -> u32 {
    1
}

fn is_one_process(processes: &u32) -> bool {
    *processes == 1
}

/// The most names that have series of their own, if the user does not say otherwise.
pub const DEFAULT_MAX_SERIES: u32 = 2_000;

fn default_max_series() -> u32 {
    DEFAULT_MAX_SERIES
}

fn is_default_max_series(most: &u32) -> bool {
    *most == DEFAULT_MAX_SERIES
}

impl Default for Plan {
    /// A closed load of [`DEFAULT_CONNECTIONS`] on one worker for [`DEFAULT_DURATION`], of no
    /// request yet, with the seed 1.
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
