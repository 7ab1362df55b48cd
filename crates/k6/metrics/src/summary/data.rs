//! The summary as JSON: the argument of `handleSummary`, and the file of `--summary-export`.

use super::Ended;
use crate::threshold::{Aggregation, per_second};
use crate::{Sink, Tally, Totals};
use serde_json::{Map, Value, json};

/// The data for `handleSummary` in addition to the metrics.
#[derive(Clone, Debug)]
pub struct SummaryContext {
    /// True if standard output is a terminal.
    pub is_stdout_tty: bool,
    /// True if standard error is a terminal.
    pub is_stderr_tty: bool,
    /// True if colours are disabled.
    pub no_color: bool,
    /// The result of `setup`.
    pub setup_data: Option<Value>,
}

/// Returns the argument of `handleSummary`. `md5_hex` computes the identifiers of groups and checks
/// from their paths.
pub fn handle_summary_data(
    ended: &Ended<'_>,
    context: &SummaryContext,
    md5_hex: &dyn Fn(&str) -> String,
) -> Value {
    let unit = ended.time_unit.map_or("", super::TimeUnit::option);
    let mut data = json!({
        "root_group": Tree { tally: &ended.totals.tally, md5_hex, is_keyed: false }.root(),
        "options": {
            "summaryTrendStats": ended.trend_stats,
            "summaryTimeUnit": unit,
            "noColor": context.no_color,
        },
        "state": {
            "isStdOutTTY": context.is_stdout_tty,
            "isStdErrTTY": context.is_stderr_tty,
            "testRunDurationMs": ended.elapsed_ns as f64 / 1e6,
        },
        "metrics": metrics(ended, metric),
    });
    if let Some(setup_data) = &context.setup_data {
        data["setup_data"] = setup_data.clone();
    }
    data
}

/// Returns the content of the file of `--summary-export`, with the result of `setup`. `md5_hex` as
/// for [`handle_summary_data`].
pub fn export(
    ended: &Ended<'_>,
    setup_data: Option<Value>,
    md5_hex: &dyn Fn(&str) -> String,
) -> Value {
    let tally = &ended.totals.tally;
    let mut data = json!({
        "root_group": Tree { tally, md5_hex, is_keyed: true }.root(),
        "metrics": metrics(ended, exported),
    });
    if let Some(setup_data) = setup_data {
        data["setup_data"] = setup_data;
    }
    data
}

/// Returns the groups and checks so far, in lists. `md5_hex` as for [`handle_summary_data`].
pub fn root_group(totals: &Totals, md5_hex: &dyn Fn(&str) -> String) -> Value {
    let tally = &totals.tally;
    Tree {
        tally,
        md5_hex,
        is_keyed: false,
    }
    .root()
}

fn metrics(ended: &Ended<'_>, make: fn(&Ended<'_>, &super::Shown) -> Value) -> Value {
    let shown = ended.shown();
    let all = shown.iter().map(|shown| (shown.name(), make(ended, shown)));
    Value::Object(all.collect())
}

fn metric(ended: &Ended<'_>, shown: &super::Shown) -> Value {
    let mut metric = json!({
        "type": shown.sink.kind().name(),
        "contains": shown.contains.name(),
        "values": values(ended, &shown.sink, "rate"),
    });
    let thresholds = thresholds(ended, &shown.name(), |is_ok| json!({ "ok": is_ok }));
    if let Some(thresholds) = thresholds {
        metric["thresholds"] = thresholds;
    }
    metric
}

fn exported(ended: &Ended<'_>, shown: &super::Shown) -> Value {
    let mut values = values(ended, &shown.sink, "value");
    // In this file `true` means that the threshold was crossed.
    if let Some(thresholds) = thresholds(ended, &shown.name(), |is_ok| Value::Bool(!is_ok)) {
        values.insert("thresholds".to_owned(), thresholds);
    }
    Value::Object(values)
}

fn thresholds(ended: &Ended<'_>, name: &str, make: impl Fn(bool) -> Value) -> Option<Value> {
    let own = ended
        .outcomes
        .iter()
        .filter(|outcome| outcome.metric == name);
    let all: Map<_, _> = own
        .map(|outcome| (outcome.expression.clone(), make(outcome.is_ok)))
        .collect();
    (!all.is_empty()).then_some(Value::Object(all))
}

fn values(ended: &Ended<'_>, sink: &Sink, rate_key: &str) -> Map<String, Value> {
    let pairs: Vec<(&str, Value)> = match sink {
        Sink::Counter(counter) => {
            let rate = per_second(counter.count, ended.elapsed_ns);
            vec![("count", number(counter.count)), ("rate", number(rate))]
        }
        Sink::Gauge(gauge) => vec![
            ("value", number(gauge.value)),
            ("min", number(gauge.min)),
            ("max", number(gauge.max)),
        ],
        Sink::Rate(rate) => vec![
            (rate_key, number(rate.share())),
            ("passes", json!(rate.passes)),
            ("fails", json!(rate.total - rate.passes)),
        ],
        Sink::Trend(_) => {
            let stats = ended.trend_stats.iter();
            let stat = |stat: &'_ String| Aggregation::parse(stat).map(|of| of.of(sink, 1));
            stats
                .filter_map(|name| Some((name.as_str(), number(stat(name)?))))
                .collect()
        }
    };
    let named = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    named.collect()
}

/// Returns a number as JavaScript prints it: whole ones without a decimal point.
pub(super) fn number(value: f64) -> Value {
    // Whole numbers up to this limit are exact.
    const EXACT: f64 = 9e15;
    match value.fract() == 0.0 && value.abs() < EXACT {
        true => json!(value as i64),
        false => json!(value),
    }
}

/// The groups and their checks.
pub(super) struct Tree<'a> {
    pub(super) tally: &'a Tally,
    pub(super) md5_hex: &'a dyn Fn(&str) -> String,
    /// True if groups and checks are in objects by name, otherwise in lists.
    pub(super) is_keyed: bool,
}

impl Tree<'_> {
    fn root(&self) -> Value {
        self.group("")
    }

    fn group(&self, path: &str) -> Value {
        let groups = self.children(path).into_iter().map(|path| {
            let group = self.group(&path);
            (name_of(&path), group)
        });
        json!({
            "name": name_of(path),
            "path": path,
            "id": (self.md5_hex)(path),
            "groups": self.collect(groups.collect()),
            "checks": self.collect(self.checks(path)),
        })
    }

    fn collect(&self, named: Vec<(String, Value)>) -> Value {
        match self.is_keyed {
            true => Value::Object(named.into_iter().collect()),
            false => Value::Array(named.into_iter().map(|(_, value)| value).collect()),
        }
    }

    /// Returns the paths of the groups in this one.
    pub(super) fn children(&self, path: &str) -> Vec<String> {
        let of_checks = self.tally.checks().iter().map(|check| &check.group);
        let mut found: Vec<String> = Vec::new();
        for group in self.tally.groups().iter().chain(of_checks) {
            let below = group
                .strip_prefix(path)
                .and_then(|rest| rest.strip_prefix("::"));
            let Some(below) = below else { continue };
            let first = below.split("::").next().unwrap_or_default();
            let child = format!("{path}::{first}");
            if !found.contains(&child) {
                found.push(child);
            }
        }
        found
    }

    /// Returns the checks of a group; those of several scenarios are added up.
    pub(super) fn check_counts(&self, path: &str) -> Vec<(String, u64, u64)> {
        let mut found: Vec<(String, u64, u64)> = Vec::new();
        for check in self
            .tally
            .checks()
            .iter()
            .filter(|check| check.group == path)
        {
            match found.iter_mut().find(|known| known.0 == check.name) {
                Some(known) => {
                    known.1 += check.passes;
                    known.2 += check.fails;
                }
                None => found.push((check.name.clone(), check.passes, check.fails)),
            }
        }
        found
    }

    fn checks(&self, path: &str) -> Vec<(String, Value)> {
        let check = |(name, passes, fails): (String, u64, u64)| {
            let path = format!("{path}::{name}");
            let id = (self.md5_hex)(&path);
            let value = json!({
                "name": name, "path": path, "id": id, "passes": passes, "fails": fails,
            });
            (name, value)
        };
        self.check_counts(path).into_iter().map(check).collect()
    }
}

fn name_of(path: &str) -> String {
    path.rsplit("::").next().unwrap_or_default().to_owned()
}
