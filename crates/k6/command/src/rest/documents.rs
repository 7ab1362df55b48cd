//! The documents of the REST API: the state of a test, as JSON.

use super::control::{Check, Group, Metric, Status};
use crate::go_json;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A document with the requested data.
#[derive(Serialize)]
struct Document<T> {
    data: T,
}

/// A resource: its type, its identifier, its attributes.
#[derive(Serialize)]
struct Resource<'a, T> {
    r#type: &'static str,
    id: &'a str,
    attributes: T,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct StatusAttributes {
    status: u8,
    paused: bool,
    vus: i64,
    vus_max: i64,
    stopped: bool,
    running: bool,
    tainted: bool,
}

/// Returns the document of the status.
pub(super) fn status(status: &Status) -> String {
    let attributes = StatusAttributes {
        status: status.stage,
        paused: status.is_paused,
        vus: status.vus,
        vus_max: status.vus_max,
        stopped: status.is_stopped,
        running: status.is_running,
        tainted: status.is_tainted,
    };
    document(Resource {
        r#type: "status",
        id: "default",
        attributes,
    })
}

fn document<T: Serialize>(data: T) -> String {
    go_json::compact(&Document { data })
}

#[derive(Serialize)]
struct MetricAttributes<'a> {
    r#type: &'static str,
    contains: &'static str,
    tainted: Option<bool>,
    sample: &'a BTreeMap<String, f64>,
}

/// Returns the document of all metrics.
pub(super) fn metrics(metrics: &[Metric]) -> String {
    document(metrics.iter().map(metric_resource).collect::<Vec<_>>())
}

/// Returns the document of one metric.
pub(super) fn metric(metric: &Metric) -> String {
    document(metric_resource(metric))
}

fn metric_resource(metric: &Metric) -> Resource<'_, MetricAttributes<'_>> {
    Resource {
        r#type: "metrics",
        id: &metric.name,
        attributes: MetricAttributes {
            r#type: metric.kind,
            contains: metric.contains,
            tainted: metric.is_tainted,
            sample: &metric.sample,
        },
    }
}

#[derive(Serialize)]
struct GroupResource<'a> {
    r#type: &'static str,
    id: &'a str,
    attributes: GroupAttributes<'a>,
    relationships: Relationships<'a>,
}

#[derive(Serialize)]
struct GroupAttributes<'a> {
    path: &'a str,
    name: &'a str,
    checks: Option<&'a [Check]>,
}

#[derive(Serialize)]
struct Relationships<'a> {
    groups: Document<Vec<Link<'a>>>,
    parent: Document<Option<Link<'a>>>,
}

#[derive(Serialize)]
struct Link<'a> {
    r#type: &'static str,
    id: &'a str,
}

/// Returns the document of all groups: each before the groups in it.
pub(super) fn groups(root: &Group) -> String {
    let mut all = Vec::new();
    flatten(root, None, &mut all);
    document(all)
}

/// Returns the document of the group with this identifier.
pub(super) fn group(root: &Group, id: &str) -> Option<String> {
    let mut all = Vec::new();
    flatten(root, None, &mut all);
    let found = all.into_iter().find(|group| group.id == id);
    found.map(document)
}

fn flatten<'a>(group: &'a Group, parent: Option<&'a str>, all: &mut Vec<GroupResource<'a>>) {
    all.push(GroupResource {
        r#type: "groups",
        id: &group.id,
        attributes: GroupAttributes {
            path: &group.path,
            name: &group.name,
            checks: (!group.checks.is_empty()).then_some(&group.checks),
        },
        relationships: Relationships {
            groups: Document {
                data: group.groups.iter().map(|inner| link(&inner.id)).collect(),
            },
            parent: Document {
                data: parent.map(link),
            },
        },
    });
    for inner in &group.groups {
        flatten(inner, Some(&group.id), all);
    }
}

fn link(id: &str) -> Link<'_> {
    Link {
        r#type: "groups",
        id,
    }
}

#[derive(Serialize)]
struct SetupAttributes<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
}

/// Returns the document of the setup data.
pub(super) fn setup(data: Option<&Value>) -> String {
    document(Resource {
        r#type: "setupData",
        id: "default",
        attributes: SetupAttributes { data },
    })
}

#[derive(Serialize)]
struct Errors<'a> {
    errors: [Problem<'a>; 1],
}

#[derive(Serialize)]
struct Problem<'a> {
    status: String,
    title: &'a str,
    detail: &'a str,
}

/// Returns the document of an error.
pub(super) fn error(status: u16, title: &str, detail: &str) -> String {
    let problem = Problem {
        status: status.to_string(),
        title,
        detail,
    };
    go_json::compact(&Errors { errors: [problem] })
}
