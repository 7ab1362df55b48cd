//! What is set of a run: one value of each axis.
//!
//! A *setting* is one of the words below or, where its name begins with a dash, a flag of the tool
//! itself. An *axis* is a setting with the values that it takes one after the other.

use loadline_plan::{DurationText, Rate, mask_words};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A setting and the values it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is called in the file.
    pub name: String,
    /// The line of the file where it stands.
    pub line: usize,
    /// Its values; never empty.
    pub values: Vec<Setting>,
}

/// One value of one setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// With which tool.
    Tool(String),
    /// Against which target.
    Target(String),
    /// How many connections, or users, at once.
    Connections(u32),
    /// How many threads, or processes, the tool has.
    Threads(u32),
    /// How many requests a second are asked for.
    Rate(Rate),
    /// How long.
    Duration(Duration),
    /// How many requests.
    Requests(u64),
    /// Whether connections serve more than one request.
    KeepAlive(bool),
    /// A script of the tool's own kind.
    Script(PathBuf),
    /// A flag of the tool's own.
    Flag(Flag),
}

/// A flag of a tool's own: as it is typed, and what comes behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Its name with its dashes.
    pub name: String,
    /// What comes behind it; `None` for a flag that stands alone.
    pub value: Option<String>,
    /// Whether it is there at all: an axis may turn a flag on and off.
    pub on: bool,
}

/// All that is set of a run. What is not set is left to the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// With which tool.
    pub tool: String,
    /// Against which target.
    pub target: String,
    /// How many connections, or users, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// How many threads, or processes, the tool has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// How many requests a second are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// How many requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Whether connections serve more than one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<bool>,
    /// A script of the tool's own kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
    /// Flags of the tool's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

impl Settings {
    /// Sets one thing more; one that was set before is replaced.
    pub fn set(&mut self, setting: &Setting) {
        match setting.clone() {
            Setting::Tool(name) => self.tool = name,
            Setting::Target(name) => self.target = name,
            Setting::Connections(count) => self.connections = Some(count),
            Setting::Threads(count) => self.threads = Some(count),
            Setting::Rate(rate) => self.rate = Some(rate),
            Setting::Duration(duration) => self.duration = Some(duration),
            Setting::Requests(count) => self.requests = Some(count),
            Setting::KeepAlive(keeps) => self.keep_alive = Some(keeps),
            Setting::Script(path) => self.script = Some(path),
            Setting::Flag(flag) => self.set_flag(flag),
        }
    }

    fn set_flag(&mut self, flag: Flag) {
        self.flags.retain(|known| known.name != flag.name);
        if flag.on {
            self.flags.push(flag);
        }
    }

    /// The same, with what is secret in its flags masked: as it is kept.
    pub(crate) fn masked(&self) -> Settings {
        Settings {
            flags: self.flags.iter().map(Flag::masked).collect(),
            ..self.clone()
        }
    }

    /// What is set, in short: `t1-c10-60s-r2000`, without tool and target.
    pub(crate) fn short(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.threads.map(|count| format!("t{count}")));
        parts.extend(self.connections.map(|count| format!("c{count}")));
        parts.extend(self.requests.map(|count| format!("n{count}")));
        parts.extend(self.duration.map(|length| DurationText(length).to_string()));
        parts.extend(self.rate.map(|rate| format!("r{}", rate_text(rate))));
        parts.extend(
            self.keep_alive
                .map(|keeps| keep_alive_text(keeps).to_owned()),
        );
        let stem = |path: &PathBuf| {
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        parts.extend(self.script.as_ref().and_then(stem));
        parts.extend(self.flags.iter().map(|flag| flag.masked().short()));
        parts.join("-")
    }
}

fn keep_alive_text(keeps: bool) -> &'static str {
    if keeps { "keepalive" } else { "close" }
}

/// A rate as requests a second.
pub(crate) fn rate_text(rate: Rate) -> String {
    rate.per_second().to_string()
}

impl Flag {
    /// The flag as the tool reads it.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> + '_ {
        std::iter::once(self.name.clone()).chain(self.value.clone())
    }

    fn masked(&self) -> Flag {
        let mut words = mask_words(&self.words().collect::<Vec<_>>()).into_iter();
        Flag {
            name: words.next().unwrap_or_default(),
            value: words.next(),
            on: self.on,
        }
    }

    fn short(&self) -> String {
        let name = self.name.trim_start_matches('-');
        match &self.value {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(name: &str, value: Option<&str>, on: bool) -> Setting {
        Setting::Flag(Flag {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            on,
        })
    }

    #[test]
    fn what_is_set_has_a_short_name() {
        let mut settings = Settings::default();
        for setting in [
            Setting::Threads(2),
            Setting::Connections(10),
            Setting::Duration(Duration::from_secs(90)),
            Setting::Rate(Rate::each_second(2_000)),
            Setting::KeepAlive(false),
            Setting::Script("lua/post.lua".into()),
            flag("--pipeline", Some("16"), true),
            flag("--latency", None, true),
        ] {
            settings.set(&setting);
        }
        let short = "t2-c10-1m30s-r2000-close-post-pipeline=16-latency";
        assert_eq!(settings.short(), short);
    }

    #[test]
    fn a_flag_that_is_off_takes_an_earlier_one_away() {
        let mut settings = Settings::default();
        settings.set(&flag("-v", Some("1"), true));
        settings.set(&flag("-v", Some("2"), true));
        assert_eq!(settings.short(), "v=2");
        settings.set(&flag("-v", None, false));
        assert_eq!(settings.flags, []);
    }
}
