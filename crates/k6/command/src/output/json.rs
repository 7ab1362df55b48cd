//! The output `json`: an object for each sample, on a line of its own.

use super::SampleWriter;
use super::time::rfc3339_nano;
use crate::go_json;
use loadline_k6_metrics::{MetricId, Sample, ThresholdSource};
use loadline_k6_options::GoDuration;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

impl SampleWriter {
    /// Returns the line of a sample, after that of its metric if it is the first one.
    pub(super) fn json(&mut self, sample: &Sample) -> String {
        let mut text = String::new();
        if self.seen.insert(sample.metric) {
            text = self.description(sample.metric);
        }
        let pairs = |pairs: &[(String, String)]| pairs.iter().cloned().collect();
        let metadata: BTreeMap<String, String> = pairs(&sample.tags.metadata);
        let point = Point {
            metric: self.name(sample.metric),
            kind: "Point",
            data: PointData {
                time: rfc3339_nano(sample.at_ns),
                value: sample.value,
                tags: pairs(&sample.tags.tags),
                metadata: (!metadata.is_empty()).then_some(metadata),
            },
        };
        text + &go_json::compact(&point) + "\n"
    }

    /// Returns the line of a metric before its first sample.
    fn description(&self, metric: MetricId) -> String {
        let all = self.recording.registry.all();
        let name = self.name(metric);
        let Some(known) = all.into_iter().find(|one| one.name == name) else {
            return String::new();
        };
        let submetrics = self.recording.submetrics.of(metric).iter();
        let submetrics: Vec<Submetric> = submetrics
            .map(|index| &self.recording.submetrics.all()[*index])
            .map(|one| Submetric {
                name: one.name.clone(),
                suffix: one.suffix.clone(),
                tags: one.tags.iter().cloned().collect(),
            })
            .collect();
        let thresholds = self.thresholds.of(&name).map(threshold).collect();
        let line = Metric {
            kind: "Metric",
            data: MetricData {
                name: name.clone(),
                kind: known.kind.name(),
                contains: known.contains.name(),
                thresholds,
                submetrics: (!submetrics.is_empty()).then_some(submetrics),
            },
            metric: name.clone(),
        };
        // k6 does not escape the conditions.
        let text = go_json::compact(&line) + "\n";
        let text = text.replace("\\u003c", "<").replace("\\u003e", ">");
        text.replace("\\u0026", "&")
    }
}

#[derive(Serialize)]
struct Point {
    metric: String,
    #[serde(rename = "type")]
    kind: &'static str,
    data: PointData,
}

#[derive(Serialize)]
struct PointData {
    time: String,
    value: f64,
    tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<BTreeMap<String, String>>,
}

#[derive(Serialize)]
struct Metric {
    #[serde(rename = "type")]
    kind: &'static str,
    data: MetricData,
    metric: String,
}

#[derive(Serialize)]
struct MetricData {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    contains: &'static str,
    thresholds: Vec<Threshold>,
    submetrics: Option<Vec<Submetric>>,
}

/// A condition as in the script, alone or with its options for ending the run.
#[derive(Serialize)]
#[serde(untagged)]
enum Threshold {
    Plain(String),
    #[serde(rename_all = "camelCase")]
    Aborting {
        threshold: String,
        abort_on_fail: bool,
        delay_abort_eval: Option<String>,
    },
}

fn threshold(source: &ThresholdSource) -> Threshold {
    let expression = source.expression.clone();
    if !source.abort_on_fail {
        return Threshold::Plain(expression);
    }
    let delay = source.delay_abort_eval_ns.map(Duration::from_nanos);
    Threshold::Aborting {
        threshold: expression,
        abort_on_fail: true,
        delay_abort_eval: delay.map(|delay| GoDuration::of(delay).to_string()),
    }
}

#[derive(Serialize)]
struct Submetric {
    name: String,
    suffix: String,
    tags: BTreeMap<String, String>,
}
