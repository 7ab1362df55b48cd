//! Documents of the REST API as k6's commands print them.
//!
//! Values that are optional in k6 are printed as texts in quotes; other values have no quotes.

use crate::go_words::yaml_number;
use serde_json::Value;
use std::fmt::Write;

/// Formats the status of the test.
pub(super) fn status(document: &Value) -> String {
    let attributes = &document["data"]["attributes"];
    let keys = [
        ("status", false),
        ("paused", true),
        ("vus", true),
        ("vus-max", true),
        ("stopped", false),
        ("running", false),
        ("tainted", false),
    ];
    let line = |(key, is_quoted): (&str, bool)| match is_quoted {
        true => format!("{key}: {}\n", optional(&attributes[key])),
        false => format!("{key}: {}\n", attributes[key]),
    };
    keys.into_iter().map(line).collect()
}

/// Formats the metrics, in the order of the document.
pub(super) fn metrics(document: &Value) -> String {
    match document["data"].as_array() {
        Some(all) if !all.is_empty() => all.iter().map(metric).collect(),
        _ => "[]\n".to_owned(),
    }
}

fn metric(metric: &Value) -> String {
    let attributes = &metric["attributes"];
    let name = scalar(metric["id"].as_str().unwrap_or_default());
    let mut text = format!("- name: {name}\n");
    for key in ["type", "contains"] {
        let value = attributes[key].as_str().unwrap_or_default();
        // Writing to a string can't fail.
        let _ = write!(text, "  {key}:\n    type: {value}\n    valid: true\n");
    }
    let _ = writeln!(text, "  tainted: {}", optional(&attributes["tainted"]));
    text + &sample(&attributes["sample"])
}

fn sample(sample: &Value) -> String {
    let members = sample.as_object().into_iter().flatten();
    let mut figures: Vec<(&str, f64)> = members
        .map(|(name, value)| (name.as_str(), value.as_f64().unwrap_or_default()))
        .collect();
    if figures.is_empty() {
        return "  sample: {}\n".to_owned();
    }
    figures.sort_by(|a, b| {
        order(a.0)
            .partial_cmp(&order(b.0))
            .expect("no NaN in names")
    });
    let lines = figures
        .iter()
        .map(|(name, value)| format!("    {name}: {}\n", yaml_number(*value)));
    "  sample:\n".to_owned() + &lines.collect::<String>()
}

/// Returns the sort key of a name: its letters, then the number in it, so that p(90) precedes
/// p(100).
fn order(name: &str) -> (&str, f64) {
    let at = name.find(|c: char| c.is_ascii_digit());
    let (letters, rest) = name.split_at(at.unwrap_or(name.len()));
    let number = rest.trim_end_matches(')').parse::<f64>();
    (letters, number.ok().filter(|n| !n.is_nan()).unwrap_or(0.0))
}

/// Formats an optional value: in quotes, and empty if it is unset.
fn optional(value: &Value) -> String {
    match value.is_null() {
        true => "\"\"".to_owned(),
        false => format!("\"{value}\""),
    }
}

/// Formats a text, in quotes if YAML would misread it.
fn scalar(text: &str) -> String {
    let is_misread = text.contains(": ")
        || text.contains(" #")
        || text.ends_with([':', ' '])
        || text.starts_with(|c: char| !c.is_alphanumeric() && c != '_');
    match is_misread {
        true => format!("'{}'", text.replace('\'', "''")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_status_has_quotes_where_k6_has_them() {
        let document = json!({ "data": { "attributes": {
            "status": 7, "paused": false, "vus": 1, "vus-max": 4,
            "stopped": false, "running": true, "tainted": false,
        }}});
        let lines = [
            "status: 7",
            "paused: \"false\"",
            "vus: \"1\"",
            "vus-max: \"4\"",
            "stopped: false",
            "running: true",
            "tainted: false",
            "",
        ];
        assert_eq!(status(&document), lines.join("\n"));
    }

    #[test]
    fn a_metric_is_printed_with_its_figures_in_order() {
        let document = json!({ "data": [{ "type": "metrics", "id": "t{x:a: b}", "attributes": {
            "type": "trend", "contains": "time", "tainted": null,
            "sample": { "p(100)": 1_000_000.0, "avg": 0.00001, "p(90)": 1.5 },
        }}]});
        let lines = [
            "- name: 't{x:a: b}'",
            "  type:",
            "    type: trend",
            "    valid: true",
            "  contains:",
            "    type: time",
            "    valid: true",
            "  tainted: \"\"",
            "  sample:",
            "    avg: 1e-05",
            "    p(90): 1.5",
            "    p(100): 1e+06",
            "",
        ];
        assert_eq!(metrics(&document), lines.join("\n"));
    }

    #[test]
    fn no_metrics_are_an_empty_list() {
        assert_eq!(metrics(&json!({ "data": [] })), "[]\n");
    }
}
