//! The locustfile of a search: what its process is given, and which flags are then its own affair.

use super::SearchError;
use crate::flags::capacity::{CapacityFlags, SearchFlags};
use crate::flags::planned_command;
use crate::flags::run::RunFlags;
use crate::flags::run::request::TargetWord;
use clap::parser::ValueSource;
use loadline_plan::{Header, Script, Target};
use std::ffi::OsString;

/// The groups of flags that define the requests and connections: a locustfile defines these itself.
const OWN_AFFAIRS: [&str; 4] = ["Load", "Request", "Connection", "TLS"];
/// The URL that represents the host until the locustfile, which may set it, is loaded.
const UNKNOWN_HOST: &str = "http://localhost";

/// The locustfile of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Locust {
    /// Its file or files, as `loadline locust -f` takes them.
    pub(crate) file: String,
    /// The host of its requests, unless the locustfile sets one.
    pub(crate) host: Option<String>,
    /// Options of Locust's.
    pub(crate) options: Vec<OsString>,
}

impl Locust {
    /// Returns the script that represents it in the plan of a trial.
    pub(super) fn script(&self) -> Script {
        let text = |option: &OsString| option.to_string_lossy().into_owned();
        Script {
            path: (&self.file).into(),
            args: self.options.iter().map(text).collect(),
            crc32: None,
            names_urls: false,
        }
    }
}

/// The locustfile, if there is one. The plan of a run then has its host in place of requests.
pub(super) fn resolve(
    search: &SearchFlags,
    options: Vec<OsString>,
    run: &mut RunFlags,
) -> Result<Option<Locust>, SearchError> {
    let Some(file) = search.locustfile.clone() else {
        return refuse_strays(search, &options).map(|()| None);
    };
    if !search.users {
        return Err(SearchError::LocustfileAlone);
    }
    let url = run.request.places.iter().find_map(|place| match place {
        TargetWord::Url(target) => Some(target.url.to_string()),
        TargetWord::Plan(_) => None,
    });
    if let Some(url) = url {
        return Err(SearchError::UrlBesideLocustfile(url));
    }
    refuse_own_affairs(run)?;
    let host = host(search, run)?;
    run.request.header.clear();
    let stands_for = host.as_deref().unwrap_or(UNKNOWN_HOST);
    let target = stands_for.parse();
    let target = target.map_err(|_| SearchError::NoHost(stands_for.to_owned()))?;
    run.request.places = vec![TargetWord::Url(target)];
    Ok(Some(Locust {
        file,
        host,
        options,
    }))
}

/// Refuses flags that apply to a locustfile alone.
fn refuse_strays(search: &SearchFlags, options: &[OsString]) -> Result<(), SearchError> {
    match (&search.host, options) {
        (Some(_), _) => Err(SearchError::NoLocustfile("--host")),
        (None, []) => Ok(()),
        (None, _) => Err(SearchError::NoLocustfile("what follows --")),
    }
}

/// Refuses flags for settings that the locustfile makes.
fn refuse_own_affairs(run: &RunFlags) -> Result<(), SearchError> {
    let command = planned_command::<CapacityFlags>();
    let Ok(matches) = command.clone().try_get_matches_from(&run.typed) else {
        return Ok(());
    };
    let is_own = |flag: &&clap::Arg| {
        let of_locustfile = flag
            .get_help_heading()
            .is_some_and(|heading| OWN_AFFAIRS.contains(&heading));
        let typed = matches.value_source(flag.get_id().as_str()) == Some(ValueSource::CommandLine);
        of_locustfile && typed && flag.get_id() != "header"
    };
    match command.get_arguments().find(is_own) {
        Some(flag) => Err(SearchError::OfLocustfile(
            flag.get_long().unwrap_or_default().to_owned(),
        )),
        None => Ok(()),
    }
}

/// Returns the value of -H or --host: elsewhere -H is a header field, and was read as one.
fn host(search: &SearchFlags, run: &RunFlags) -> Result<Option<String>, SearchError> {
    let of_header = |header: &Header| format!("{}:{}", header.name, header.value);
    let mut hosts: Vec<String> = run.request.header.iter().map(of_header).collect();
    hosts.extend(search.host.clone());
    let is_host = |text: &&String| {
        let has_scheme = text.starts_with("http://") || text.starts_with("https://");
        has_scheme && text.parse::<Target>().is_ok()
    };
    match hosts.iter().find(|text| !is_host(text)) {
        Some(other) => Err(SearchError::NoHost(other.clone())),
        None => Ok(hosts.pop()),
    }
}
