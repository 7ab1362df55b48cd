//! k6's web dashboard, for which Loadline shows its own live page: `--out web-dashboard`, and the
//! variables `K6_WEB_DASHBOARD…` with k6's names and defaults. Its events are k6's own.

mod events;

pub(crate) use events::{EventSettings, EventTest, Events, Now};

use crate::{FAILED, Refused};
use events::SplitBy;
use loadline_k6_options::GoDuration;
use loadline_tool_host::OwnPage;
use std::collections::BTreeMap;
use std::time::Duration;

/// k6's host and port where nothing else is said.
const HOST: &str = "127.0.0.1";
const PORT: &str = "5665";
/// k6's period of events, and the tag whose values have submetrics in them.
const PERIOD: Duration = Duration::from_secs(10);
const TAG: &str = "group";

/// The warning about a recording, which k6 writes for its own `replay`.
const NO_RECORD: &str = "\
Loadline does not record the web dashboard's events: save the run with --out loadline=FILE, which \
`loadline report` shows";

/// A requested dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dashboard {
    /// The page to serve; `None` if only a file is written.
    pub(crate) page: Option<OwnPage>,
    /// The settings of its events.
    pub(crate) events: EventSettings,
    /// The file of the report.
    pub(crate) export: Option<String>,
    /// The sentence about a setting that can't be obeyed.
    pub(crate) warning: Option<&'static str>,
}

impl Dashboard {
    /// Returns the dashboard that an argument of `--out web-dashboard=…` and the environment
    /// describe.
    ///
    /// # Errors
    /// If a port or a period is none.
    pub(crate) fn of(
        argument: &str,
        environment: &BTreeMap<String, String>,
    ) -> Result<Dashboard, Refused> {
        let settings = Settings {
            argument,
            environment,
        };
        let events = EventSettings {
            period: settings.period()?,
            tags: settings.tags(),
        };
        let host = settings.given("host").unwrap_or(HOST);
        let host = if host == "localhost" { HOST } else { host };
        let port = settings.given("port").unwrap_or(PORT);
        // k6 serves no page where the port is negative.
        let is_served = !port.starts_with('-');
        if is_served && port.parse::<u16>().is_err() {
            return Err(refused(
                "port",
                port,
                "a port, such as 5665, or -1 for none",
            ));
        }
        let is_bare_v6 = host.contains(':') && !host.starts_with('[');
        let place = match is_bare_v6 {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        Ok(Dashboard {
            page: is_served.then(|| OwnPage {
                place,
                opens_browser: settings.is_on("open"),
            }),
            events,
            export: settings.given("export").map(str::to_owned),
            warning: settings.given("record").map(|_| NO_RECORD),
        })
    }

    /// Returns the dashboard that the environment alone requests, if it does.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of).
    pub(crate) fn of_environment(
        environment: &BTreeMap<String, String>,
    ) -> Result<Option<Dashboard>, Refused> {
        let is_requested = environment
            .get("K6_WEB_DASHBOARD")
            .is_some_and(|text| is_true(text));
        is_requested
            .then(|| Dashboard::of("", environment))
            .transpose()
    }
}

/// The settings of a dashboard: those of the argument are stronger than the variables.
struct Settings<'a> {
    argument: &'a str,
    environment: &'a BTreeMap<String, String>,
}

impl<'a> Settings<'a> {
    /// Returns a setting; `None` if it is not given, or empty.
    fn given(&self, name: &str) -> Option<&'a str> {
        let pair = |pair: &'a str| pair.split_once('=').unwrap_or((pair, "true"));
        let mut pairs = self.argument.split('&').map(pair);
        let of_argument = pairs.rfind(|(key, _)| *key == name);
        let of_argument = of_argument.map(|(_, value)| value);
        let variable = format!("K6_WEB_DASHBOARD_{}", name.to_uppercase());
        let of_variable = || self.environment.get(&variable).map(String::as_str);
        of_argument
            .or_else(of_variable)
            .filter(|value| !value.is_empty())
    }

    /// Returns the period of events.
    fn period(&self) -> Result<Duration, Refused> {
        let Some(text) = self.given("period") else {
            return Ok(PERIOD);
        };
        let read = GoDuration::parse(text).map(GoDuration::duration);
        let read = read.ok().filter(|period| !period.is_zero());
        read.ok_or_else(|| refused("period", text, "a duration, such as 10s"))
    }

    /// Returns the tags that split metrics in events: each `tag` of the argument instead of the
    /// variable's, and its `tags` as well.
    fn tags(&self) -> Vec<SplitBy> {
        let of_argument = |name: &str| {
            let pairs = self.argument.split('&');
            let pairs = pairs.filter_map(|pair| pair.split_once('='));
            let own = pairs.filter(|(key, value)| *key == name && !value.is_empty());
            own.map(|(_, value)| value).collect::<Vec<_>>()
        };
        let single = of_argument("tag");
        let of_variable = self.environment.get("K6_WEB_DASHBOARD_TAGS");
        let usual = of_variable.map_or(TAG, String::as_str).split(',');
        let first: Vec<&str> = match single.is_empty() {
            true => usual.collect(),
            false => single,
        };
        let more = of_argument("tags").into_iter();
        let all = first
            .into_iter()
            .chain(more.flat_map(|list| list.split(',')));
        all.filter_map(SplitBy::named).collect()
    }

    fn is_on(&self, name: &str) -> bool {
        self.given(name).is_some_and(is_true)
    }
}

fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

fn refused(name: &str, value: &str, meant: &str) -> Refused {
    let what = "could not create the 'web-dashboard' output";
    Refused::new(FAILED, format!("{what}: {name} {value:?} is not {meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(argument: &str, variables: &[(&str, &str)]) -> Result<Dashboard, String> {
        let pairs = variables.iter();
        let pairs = pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Dashboard::of(argument, &pairs.collect()).map_err(|refused| refused.text)
    }

    fn place(argument: &str, variables: &[(&str, &str)]) -> Option<String> {
        of(argument, variables).unwrap().page.map(|page| page.place)
    }

    #[test]
    fn defaults_are_those_of_k6_and_the_argument_is_stronger() {
        assert_eq!(place("", &[]).as_deref(), Some("127.0.0.1:5665"));
        let variables = [
            ("K6_WEB_DASHBOARD_HOST", "0.0.0.0"),
            ("K6_WEB_DASHBOARD_PORT", "0"),
            ("K6_WEB_DASHBOARD_OPEN", "true"),
            ("K6_WEB_DASHBOARD_PERIOD", "3s"),
            ("K6_WEB_DASHBOARD_EXPORT", "a.html"),
            ("K6_WEB_DASHBOARD_TAGS", "group,name"),
        ];
        let all = of("", &variables).unwrap();
        assert_eq!(all.export.as_deref(), Some("a.html"));
        let page = all.page.unwrap();
        assert_eq!(
            (page.place.as_str(), page.opens_browser),
            ("0.0.0.0:0", true)
        );
        let argument = "host=::1&port=80&export=b.html&open=false";
        let all = of(argument, &variables).unwrap();
        assert_eq!(all.export.as_deref(), Some("b.html"));
        let page = all.page.unwrap();
        assert_eq!(
            (page.place.as_str(), page.opens_browser),
            ("[::1]:80", false)
        );
        assert!(of("open", &[]).unwrap().page.unwrap().opens_browser);
    }

    #[test]
    fn events_have_k6s_period_and_tag_unless_others_are_set() {
        let settings = |argument: &str, variables: &[(&str, &str)]| {
            let EventSettings { period, tags } = of(argument, variables).unwrap().events;
            (period.as_secs_f64(), tags)
        };
        let (group, scenario) = (SplitBy::Group, SplitBy::Scenario);
        assert_eq!(settings("", &[]), (10.0, vec![group]));
        let variables = [
            ("K6_WEB_DASHBOARD_PERIOD", "1500ms"),
            ("K6_WEB_DASHBOARD_TAGS", "scenario,name"),
        ];
        assert_eq!(settings("", &variables), (1.5, vec![scenario]));
        let argument = "period=2s&tag=group&tags=scenario,url";
        assert_eq!(settings(argument, &variables), (2.0, vec![group, scenario]));
        assert_eq!(settings("tag=name", &[]), (10.0, Vec::new()));
    }

    #[test]
    fn a_negative_port_serves_nothing() {
        assert_eq!(place("port=-1&export=a.html", &[]), None);
        assert_eq!(place("", &[("K6_WEB_DASHBOARD_PORT", "-1")]), None);
    }

    #[test]
    fn what_can_not_be_done_is_told() {
        let all = of("record=a.ndjson", &[]).unwrap();
        assert!(all.warning.unwrap().contains("--out loadline=FILE"));
        for argument in [
            "port=http",
            "port=99999",
            "period=often",
            "period=0s",
            "period=-1s",
        ] {
            let sentence = of(argument, &[]).expect_err(argument);
            assert!(sentence.contains("could not create the 'web-dashboard' output"));
        }
        let nothing = Dashboard::of_environment(&BTreeMap::new());
        assert!(nothing.is_ok_and(|asked| asked.is_none()));
    }
}
