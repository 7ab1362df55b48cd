//! The identity of a run, which decides whether a saved run is the one that a study needs.
//!
//! A saved run contains it, without secrets. A study that continues repeats a run if its identity
//! differs in any part.

use crate::settings::Settings;
use crate::study::{Command, Cores, Pin, Study, Target, WarmUp, What};
use loadline_plan::{mask_line, mask_words};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// Everything that determines a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The settings.
    pub settings: Settings,
    /// The words that start the tool. The program is named as in the file, so that a study may
    /// continue in another place.
    pub tool: Option<Vec<String>>,
    /// The definition of the target.
    pub target: Option<TargetIdentity>,
    /// The cores of both sides.
    pub pin: PinIdentity,
    /// The identity of the target that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<TargetIdentity>,
    /// The identities of the backends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backends: Vec<TargetIdentity>,
    /// The settings of warm-ups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
}

/// The definition of a target, as far as it affects runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetIdentity {
    /// The name of the target.
    pub name: String,
    /// The URL of the requests.
    pub url: String,
    /// The command that starts it.
    pub start: Option<What>,
    /// The command between two runs.
    pub reset: Option<What>,
    /// The files in its folder: name and text.
    pub files: Vec<(String, String)>,
    /// Its cores, if it has some of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Cores>,
}

/// The cores of each side; `None` leaves the choice to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinIdentity {
    /// The tools' cores.
    pub tools: Option<Cores>,
    /// The targets' cores.
    pub targets: Option<Cores>,
}

impl Identity {
    /// Returns the identity of a run with these settings.
    pub(crate) fn new(study: &Study, settings: &Settings) -> Identity {
        Identity {
            settings: settings.masked(),
            tool: study
                .tool(&settings.tool)
                .map(|tool| mask_words(&tool.words)),
            target: study.target(&settings.target).map(TargetIdentity::new),
            pin: PinIdentity::new(&study.pin),
            against: settings
                .against
                .as_ref()
                .and_then(|name| study.target(name).map(TargetIdentity::new)),
            backends: study.backends.iter().map(TargetIdentity::new).collect(),
            warm_up: study.warm_up.clone(),
        }
    }
}

impl TargetIdentity {
    fn new(target: &Target) -> TargetIdentity {
        let what = |command: &Option<Command>| {
            command.as_ref().map(|known| match &known.what {
                What::Words(words) => What::Words(mask_words(words)),
                What::Shell(line) => What::Shell(mask_line(line)),
            })
        };
        TargetIdentity {
            name: target.name.clone(),
            url: mask_words(std::slice::from_ref(&target.url)).concat(),
            start: what(&target.start),
            reset: what(&target.reset),
            files: target.files.clone(),
            cores: target.cores.clone(),
        }
    }
}

impl PinIdentity {
    fn new(pin: &Pin) -> PinIdentity {
        PinIdentity {
            tools: pin.tools.clone(),
            targets: pin.targets.clone(),
        }
    }
}

/// Reads the identity in a saved run; `None` for one of another form, which differs from every
/// current identity.
pub(crate) fn read<'de, D>(deserializer: D) -> Result<Option<Identity>, D::Error>
where
    D: Deserializer<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Saved {
        Known(Box<Identity>),
        Other(IgnoredAny),
    }
    Ok(match Saved::deserialize(deserializer)? {
        Saved::Known(identity) => Some(*identity),
        Saved::Other(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SAVED: &str = concat!(
        r#"{"pin":{"targets":null,"tools":[0,2]},"#,
        r#""settings":{"connections":10,"duration":{"nanos":500000000,"secs":1},"#,
        r#""rate":2000,"target":"here","tool":"wrk"},"#,
        r#""target":{"files":[["a.conf","text"]],"name":"here","reset":"sync; sleep 1","#,
        r#""start":["server","{port}"],"url":"http://127.0.0.1:{port}/"},"tool":["wrk"]}"#
    );

    fn identity() -> Identity {
        Identity {
            settings: Settings {
                tool: "wrk".to_owned(),
                target: "here".to_owned(),
                connections: Some(10),
                rate: Some("2000".parse().unwrap()),
                duration: Some(Duration::from_millis(1_500)),
                ..Settings::default()
            },
            tool: Some(vec!["wrk".to_owned()]),
            target: Some(TargetIdentity {
                name: "here".to_owned(),
                url: "http://127.0.0.1:{port}/".to_owned(),
                start: Some(What::Words(vec!["server".to_owned(), "{port}".to_owned()])),
                reset: Some(What::Shell("sync; sleep 1".to_owned())),
                files: vec![("a.conf".to_owned(), "text".to_owned())],
                cores: None,
            }),
            pin: PinIdentity {
                tools: Cores::parse("0,2"),
                targets: None,
            },
            against: None,
            backends: Vec::new(),
            warm_up: None,
        }
    }

    fn reread(text: &str) -> Option<Identity> {
        read(&mut serde_json::Deserializer::from_str(text)).unwrap()
    }

    #[test]
    fn it_is_written_as_saved_runs_have_it_and_read_back() {
        let rate = serde_json::to_string(&identity().settings.rate).unwrap();
        let saved = SAVED.replace(r#""rate":2000"#, &format!(r#""rate":{rate}"#));
        assert_eq!(reread(&saved), Some(identity()));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(
            value(&serde_json::to_string(&identity()).unwrap()),
            value(&saved)
        );
    }

    #[test]
    fn another_form_is_another_run() {
        for other in ["null", "{}", r#"{"tool":"wrk"}"#, "[1]"] {
            assert_eq!(reread(other), None, "{other}");
        }
        let text = serde_json::to_string(&identity()).unwrap();
        assert_eq!(reread(&text.replacen('{', r#"{"more":1,"#, 1)), None);
    }
}
