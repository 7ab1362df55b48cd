//! What was measured: sinks by metric, submetric, group and scenario, and the checks.
//!
//! A [`Tally`] is what a worker fills and what all portions are merged into. Names that scripts
//! make up are bounded: behind [`MOST_NAMES`] groups or checks, further ones are only counted.

use crate::{MetricId, MetricType, Sample, Sink};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// So many groups of all scenarios, and so many checks, are told apart.
pub(crate) const MOST_NAMES: usize = 10_000;

/// What a worker measured in a while, with its samples if outputs want them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Portion {
    /// The values by metric, and the checks.
    pub tally: Tally,
    /// All values in their order; empty unless they are asked for.
    pub samples: Vec<Sample>,
}

impl Portion {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        *self == Portion::default()
    }

    /// Adds what was measured elsewhere in the same while.
    pub fn merge(&mut self, other: Portion) {
        self.tally.merge(&other.tally);
        self.samples.extend(other.samples);
    }
}

/// How often a check passed and failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCount {
    /// The scenario; empty outside one.
    pub scenario: String,
    /// The path of the group, as `::outer::inner`; empty outside one.
    pub group: String,
    /// The name.
    pub name: String,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
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
    /// The sink of a metric; `None` without a value.
    pub fn get(&self, metric: MetricId) -> Option<&Sink> {
        self.at(metric.index())
    }

    /// The metrics that have values.
    pub fn metrics(&self) -> impl Iterator<Item = (MetricId, &Sink)> {
        let all = self.0.iter().enumerate();
        all.filter_map(|(index, sink)| Some((MetricId::of_index(index), sink.as_ref()?)))
    }

    pub(crate) fn at(&self, index: usize) -> Option<&Sink> {
        self.0.get(index)?.as_ref()
    }

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
    /// Those of the submetrics, by their index.
    pub(crate) submetrics: Sinks,
    cells: Vec<Cell>,
    checks: Vec<CheckCount>,
    groups: Vec<String>,
    #[serde(skip)]
    index: NameIndex,
    left_out: u64,
}

/// A tally as it comes from another process: where its names stand is found anew.
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

/// Where a name stands, without an allocation to ask.
#[derive(Clone, Debug, Default, PartialEq)]
struct NameIndex {
    cells: HashMap<Box<str>, usize>,
    checks: HashMap<Box<str>, usize>,
    groups: HashMap<Box<str>, usize>,
    key: String,
}

impl Tally {
    /// The groups that were entered, by path, in the order of their first entry.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The sinks by group and scenario, if they are asked for.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The checks, in the order of their first results.
    pub fn checks(&self) -> &[CheckCount] {
        &self.checks
    }

    /// The sink of a submetric, by its index; `None` without a value.
    pub fn submetric(&self, index: usize) -> Option<&Sink> {
        self.submetrics.at(index)
    }

    /// How many values had a group or a check that was left out, since there are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds all that the other one holds.
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

    /// Notes that a group was entered.
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

    /// The cell of a group in a scenario; `None` if there are too many.
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

    /// The sinks of a cell.
    pub(crate) fn cell_sinks(&mut self, at: usize) -> &mut Sinks {
        &mut self.cells[at].sinks
    }

    /// Counts a value that has no cell.
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
