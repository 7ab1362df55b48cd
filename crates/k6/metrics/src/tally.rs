//! The measurements: sinks by metric, submetric, group and scenario, and the checks.
//!
//! A worker fills a [`Tally`], and all portions are merged into one. The number of names that
//! scripts can create is bounded: after [`MOST_NAMES`] groups or checks, further ones are only
//! counted.

use crate::{MetricId, MetricType, Renumbering, Sample, Sink};
use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The maximum number of groups in all scenarios, and of checks, that are recorded separately.
pub(crate) const MOST_NAMES: usize = 10_000;

/// The measurements of a worker since its last portion, with its samples if outputs need them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Portion {
    /// The values by metric, and the checks.
    pub tally: Tally,
    /// All values in their order; empty unless they are needed.
    pub samples: Vec<Sample>,
}

impl Portion {
    /// True if nothing was measured.
    pub fn is_empty(&self) -> bool {
        *self == Portion::default()
    }

    /// Adds the measurements of another worker in the same time.
    pub fn merge(&mut self, other: Portion) {
        self.tally.merge(&other.tally);
        self.samples.extend(other.samples);
    }

    /// Changes the indices of metrics from those of another registry to those of this one.
    pub fn renumber(&mut self, renumbering: &Renumbering) {
        if renumbering.is_identity() {
            return;
        }
        self.tally.sinks.renumber(renumbering);
        for cell in &mut self.tally.cells {
            cell.sinks.renumber(renumbering);
        }
        for sample in &mut self.samples {
            sample.metric = renumbering.of(sample.metric);
        }
    }
}

/// The results of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCount {
    /// The scenario; empty outside one.
    pub scenario: String,
    /// The path of the group, such as `::outer::inner`; empty outside one.
    pub group: String,
    /// The name.
    pub name: String,
    /// The number of passes.
    pub passes: u64,
    /// The number of failures.
    pub fails: u64,
}

/// The sinks of one group in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The scenario; empty outside one.
    pub scenario: String,
    /// The path of the group; empty outside one.
    pub group: String,
    /// The sinks by metric.
    pub sinks: Sinks,
}

/// Sinks by the index of their metric; `None` without a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sinks(Vec<Option<Sink>>);

impl Sinks {
    /// Returns the sink of a metric; `None` without a value.
    pub fn get(&self, metric: MetricId) -> Option<&Sink> {
        self.at(metric.index())
    }

    /// Returns the metrics that have values.
    pub fn metrics(&self) -> impl Iterator<Item = (MetricId, &Sink)> {
        let all = self.0.iter().enumerate();
        all.filter_map(|(index, sink)| Some((MetricId::of_index(index), sink.as_ref()?)))
    }

    fn renumber(&mut self, renumbering: &Renumbering) {
        let theirs = std::mem::take(&mut self.0);
        for (index, sink) in theirs.into_iter().enumerate() {
            let index = renumbering.of(MetricId::of_index(index)).index();
            if self.0.len() <= index {
                self.0.resize(index + 1, None);
            }
            self.0[index] = sink;
        }
    }

    pub(crate) fn at(&self, index: usize) -> Option<&Sink> {
        self.0.get(index)?.as_ref()
    }

    #[inline]
    pub(crate) fn add(&mut self, index: usize, kind: MetricType, value: f64, at_ns: u64) {
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        let sink = self.0[index].get_or_insert_with(|| Sink::new(kind));
        sink.add(value, at_ns);
    }

    pub(crate) fn merge(&mut self, other: &Sinks) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), None);
        }
        for (ours, theirs) in self.0.iter_mut().zip(&other.0) {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => ours.merge(theirs),
                (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
                (_, None) => {}
            }
        }
    }
}

/// Values by metric, submetric, group and scenario, and the checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Parts")]
pub struct Tally {
    /// The sinks by metric.
    pub sinks: Sinks,
    /// The sinks of the submetrics, by index.
    pub(crate) submetrics: Sinks,
    cells: Vec<Cell>,
    checks: Vec<CheckCount>,
    groups: Vec<String>,
    #[serde(skip)]
    index: NameIndex,
    left_out: u64,
}

/// The parts of a tally from another process; the index of its names is rebuilt.
#[derive(Deserialize)]
struct Parts {
    sinks: Sinks,
    submetrics: Sinks,
    cells: Vec<Cell>,
    checks: Vec<CheckCount>,
    groups: Vec<String>,
    left_out: u64,
}

impl From<Parts> for Tally {
    fn from(parts: Parts) -> Self {
        let mut tally = Tally::default();
        tally.merge(&Tally {
            sinks: parts.sinks,
            submetrics: parts.submetrics,
            cells: parts.cells,
            checks: parts.checks,
            groups: parts.groups,
            index: NameIndex::default(),
            left_out: parts.left_out,
        });
        tally
    }
}

/// The positions of names, for look-ups without an allocation.
#[derive(Clone, Debug, Default, PartialEq)]
struct NameIndex {
    cells: HashMap<Box<str>, usize, RandomState>,
    checks: HashMap<Box<str>, usize, RandomState>,
    groups: HashMap<Box<str>, usize, RandomState>,
    key: String,
}

impl Tally {
    /// Returns the groups that were entered, by path, in the order of their first entry.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// Returns the sinks by group and scenario, if they are recorded.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns the checks, in the order of their first results.
    pub fn checks(&self) -> &[CheckCount] {
        &self.checks
    }

    /// Returns the sink of a submetric, by its index; `None` without a value.
    pub fn submetric(&self, index: usize) -> Option<&Sink> {
        self.submetrics.at(index)
    }

    /// Returns the number of values whose group or check was not recorded, since there are too
    /// many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds all values of another tally.
    pub fn merge(&mut self, other: &Tally) {
        self.sinks.merge(&other.sinks);
        self.submetrics.merge(&other.submetrics);
        self.left_out += other.left_out;
        other.groups.iter().for_each(|path| self.enter(path));
        for cell in &other.cells {
            match self.cell(&cell.scenario, &cell.group) {
                Some(at) => self.cells[at].sinks.merge(&cell.sinks),
                None => self.left_out += 1,
            }
        }
        for check in &other.checks {
            let (passes, fails) = (check.passes, check.fails);
            self.count(&check.scenario, &check.group, &check.name, passes, fails);
        }
    }

    /// Records that a group was entered.
    pub(crate) fn enter(&mut self, path: &str) {
        if self.index.groups.contains_key(path) {
            return;
        }
        if self.groups.len() >= MOST_NAMES {
            self.left_out += 1;
            return;
        }
        self.index.groups.insert(path.into(), self.groups.len());
        self.groups.push(path.to_owned());
    }

    /// Returns the cell of a group in a scenario; `None` if there are too many.
    pub(crate) fn cell(&mut self, scenario: &str, group: &str) -> Option<usize> {
        self.index.name(&[scenario, group]);
        if let Some(at) = self.index.cells.get(self.index.key.as_str()) {
            return Some(*at);
        }
        if self.cells.len() >= MOST_NAMES {
            return None;
        }
        let at = self.cells.len();
        self.index.cells.insert(self.index.key.as_str().into(), at);
        self.cells.push(Cell {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
            sinks: Sinks::default(),
        });
        Some(at)
    }

    /// Returns the sinks of a cell.
    pub(crate) fn cell_sinks(&mut self, at: usize) -> &mut Sinks {
        &mut self.cells[at].sinks
    }

    /// Counts a value without a cell.
    pub(crate) fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// Adds results of a check.
    pub(crate) fn count(
        &mut self,
        scenario: &str,
        group: &str,
        name: &str,
        passes: u64,
        fails: u64,
    ) {
        self.index.name(&[scenario, group, name]);
        if let Some(at) = self.index.checks.get(self.index.key.as_str()) {
            self.checks[*at].passes += passes;
            self.checks[*at].fails += fails;
            return;
        }
        if self.checks.len() >= MOST_NAMES {
            self.left_out += passes + fails;
            return;
        }
        let key = self.index.key.as_str().into();
        self.index.checks.insert(key, self.checks.len());
        self.checks.push(CheckCount {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
            name: name.to_owned(),
            passes,
            fails,
        });
    }
}

impl NameIndex {
    fn name(&mut self, parts: &[&str]) {
        self.key.clear();
        for part in parts {
            self.key.push_str(part);
            self.key.push('\0');
        }
    }
}
