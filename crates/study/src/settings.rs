//! The settings of a run: one value of each axis.
//!
//! A *setting* is one of the names below or, if its name begins with a dash, a flag of the tool
//! itself. An *axis* is a setting with the list of values that it takes.

use loadline_plan::{DurationText, Rate, mask_words};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A setting and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name in the file.
    pub name: String,
    /// The line in the file.
    pub line: usize,
    /// The values; never empty.
    pub values: Vec<Setting>,
}

/// One value of one setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// The name of the tool.
    Tool(String),
    /// The name of the target.
    Target(String),
    /// With which other target the tool compares it.
    Against(String),
    /// The number of simultaneous connections, or users.
    Connections(u32),
    /// The number of the tool's threads, or of its processes.
    Threads(u32),
    /// The requested rate.
    Rate(Rate),
    /// The duration of the load.
    Duration(Duration),
    /// The number of requests.
    Requests(u64),
    /// True if connections serve more than one request.
    KeepAlive(bool),
    /// A script for the tool.
    Script(PathBuf),
    /// A flag of the tool itself.
    Flag(Flag),
}

/// A flag of the tool itself: its name as typed, and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// The name with its dashes.
    pub name: String,
    /// The value; `None` for a flag without one.
    pub value: Option<String>,
    /// True if the flag is present: an axis may turn a flag on and off.
    pub on: bool,
}

/// All settings of a run. Absent settings are left to the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The name of the tool.
    pub tool: String,
    /// The name of the target.
    pub target: String,
    /// With which other target the tool compares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The number of simultaneous connections, or users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// The number of the tool's threads, or of its processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The requested rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The duration of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// The number of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// True if connections serve more than one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<bool>,
    /// A script for the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
    /// The flags of the tool itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

impl Settings {
    /// Sets one setting; an earlier value is replaced.
    pub fn set(&mut self, setting: &Setting) {
        match setting.clone() {
            Setting::Tool(name) => self.tool = name,
            Setting::Target(name) => self.target = name,
            Setting::Against(name) => self.against = Some(name),
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

    /// Returns the settings with secrets in the flags masked, as they are saved.
    pub(crate) fn masked(&self) -> Settings {
        Settings {
            flags: self.flags.iter().map(Flag::masked).collect(),
            ..self.clone()
        }
    }

    /// Returns the settings in short: `t1-c10-60s-r2000`, without tool and target.
    pub(crate) fn short(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.against.clone());
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

/// Returns a rate in requests per second.
pub(crate) fn rate_text(rate: Rate) -> String {
    rate.per_second().to_string()
}

impl Flag {
    /// Returns the flag as arguments of the tool.
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
