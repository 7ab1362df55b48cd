//! Submetrics: the values of a metric that have certain tags.
//!
//! Thresholds name them, as `metric{tag:value}`. They are parsed once, so that for a value only the
//! tags that some submetric of its metric needs are looked up.

use crate::{MetricId, Registry, Tags, builtin};
use std::collections::BTreeSet;

/// The reason why the name of a submetric is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmetricError {
    /// A brace is unmatched.
    #[error("metric {0:?} has unmatched opening/close curly brace")]
    Brace(String),
    /// The tags are not of the form `tag:value`.
    #[error("metric {0:?} tag expression is malformed")]
    Tag(String),
    /// The metric does not exist.
    #[error("no metric name {0:?} found")]
    Unknown(String),
}

/// The values of a metric that have certain tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submetric {
    /// The metric.
    pub parent: MetricId,
    /// The whole name, such as `http_reqs{status:200}`.
    pub name: String,
    /// The text in the braces, trimmed.
    pub suffix: String,
    /// The tags that a value must have.
    pub tags: Vec<(String, String)>,
}

impl Submetric {
    /// True if a value with these tags belongs to the submetric.
    fn has(&self, tags: &impl Tags) -> bool {
        let agrees = |(name, value): &(String, String)| match tags.get(name) {
            Some(found) => found == value.as_str(),
            None => value.is_empty(),
        };
        self.tags.iter().all(agrees)
    }
}

/// The submetrics of a run.
#[derive(Clone, Debug)]
pub struct SubmetricSet {
    all: Vec<Submetric>,
    /// The indices of the submetrics of each metric.
    by_parent: Vec<Vec<usize>>,
    /// The names of metrics and submetrics that thresholds request.
    requested: BTreeSet<String>,
}

impl Default for SubmetricSet {
    fn default() -> Self {
        let mut set = SubmetricSet {
            all: Vec::new(),
            by_parent: Vec::new(),
            requested: BTreeSet::new(),
        };
        set.push(Submetric {
            parent: builtin::HTTP_REQ_DURATION,
            name: "http_req_duration{expected_response:true}".to_owned(),
            suffix: "expected_response:true".to_owned(),
            tags: vec![("expected_response".to_owned(), "true".to_owned())],
        });
        set
    }
}

impl SubmetricSet {
    /// Creates the set of the submetrics among these names, and of the one that always exists.
    ///
    /// # Errors
    /// If a name is invalid, or its metric does not exist.
    pub fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        registry: &Registry,
    ) -> Result<SubmetricSet, SubmetricError> {
        let mut set = SubmetricSet::default();
        for name in names {
            let (metric, suffix) = split(name)?;
            let Some(suffix) = suffix else {
                set.requested.insert(metric.to_owned());
                continue;
            };
            let tags = tags_of(suffix)?;
            let unknown = || SubmetricError::Unknown(name.to_owned());
            let parent = registry.by_name(metric).ok_or_else(unknown)?;
            let suffix = suffix.trim().to_owned();
            let name = format!("{metric}{{{suffix}}}");
            set.requested.insert(name.clone());
            set.push(Submetric {
                parent,
                name,
                suffix,
                tags,
            });
        }
        Ok(set)
    }

    /// True if a threshold requests a metric or submetric of this name: the summary shows it even
    /// without a value.
    pub fn is_requested(&self, name: &str) -> bool {
        self.requested.contains(name)
    }

    /// Returns all submetrics, in the order of their indices.
    pub fn all(&self) -> &[Submetric] {
        &self.all
    }

    /// Returns the indices of the submetrics of a metric.
    #[inline]
    pub fn of(&self, parent: MetricId) -> &[usize] {
        self.by_parent
            .get(parent.index())
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the index of the submetric with this name.
    pub fn by_name(&self, name: &str) -> Option<usize> {
        let (metric, suffix) = split(name).ok()?;
        let name = format!("{metric}{{{}}}", suffix?.trim());
        self.all.iter().position(|known| known.name == name)
    }

    /// Returns the indices of the submetrics to which a value of this metric belongs.
    #[inline]
    pub(crate) fn matching(
        &self,
        metric: MetricId,
        tags: &impl Tags,
    ) -> impl Iterator<Item = usize> {
        let own = self.of(metric).iter().copied();
        own.filter(|index| self.all[*index].has(tags))
    }

    fn push(&mut self, submetric: Submetric) {
        if self.all.iter().any(|known| known.name == submetric.name) {
            return;
        }
        let parent = submetric.parent.index();
        if self.by_parent.len() <= parent {
            self.by_parent.resize(parent + 1, Vec::new());
        }
        self.by_parent[parent].push(self.all.len());
        self.all.push(submetric);
    }
}

/// Splits a name into the metric and the text in braces after it.
pub(crate) fn split(name: &str) -> Result<(&str, Option<&str>), SubmetricError> {
    let brace = || SubmetricError::Brace(name.to_owned());
    match name.split_once('{') {
        None if name.contains('}') => Err(brace()),
        None => Ok((name, None)),
        Some((metric, rest)) => {
            let suffix = rest.strip_suffix('}').ok_or_else(brace)?;
            Ok((metric, Some(suffix)))
        }
    }
}

fn tags_of(suffix: &str) -> Result<Vec<(String, String)>, SubmetricError> {
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let tag = |pair: &str| {
        let (name, value) = pair.split_once(':')?;
        Some((bare(name), bare(value)))
    };
    let malformed = |pair: &str| SubmetricError::Tag(pair.trim().to_owned());
    let pairs = suffix.split(',');
    pairs
        .map(|pair| tag(pair).ok_or_else(|| malformed(pair)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        let set = SubmetricSet::new([name], &Registry::new());
        set.unwrap_err().to_string()
    }

    #[test]
    fn tags_are_read_without_the_spaces_around_them() {
        let names = ["http_reqs{ a: b , c : \"d\" }", "http_reqs{group:::main}"];
        let set = SubmetricSet::new(names, &Registry::new()).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(set.all()[1].tags, [pair("a", "b"), pair("c", "d")]);
        assert_eq!(set.all()[1].name, "http_reqs{a: b , c : \"d\"}");
        assert_eq!(set.all()[2].tags, [pair("group", "::main")]);
        assert_eq!(set.of(builtin::HTTP_REQS), [1, 2]);
        assert_eq!(set.of(builtin::HTTP_REQ_DURATION), [0]);
        assert_eq!(set.by_name(names[0]), Some(1));
    }

    #[test]
    fn a_name_that_cannot_be_read_is_refused_in_k6s_words() {
        let brace = "metric \"http_reqs{a:b\" has unmatched opening/close curly brace";
        assert_eq!(error("http_reqs{a:b"), brace);
        assert_eq!(
            error("http_reqs{a}"),
            "metric \"a\" tag expression is malformed"
        );
        assert_eq!(
            error("http_reqs{}"),
            "metric \"\" tag expression is malformed"
        );
        assert_eq!(error("nope{a:b}"), "no metric name \"nope{a:b}\" found");
    }
}
