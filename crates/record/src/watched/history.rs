//! The watched usage of a whole run: the numbers of every reading, and the events of the trees.

use super::{Change, HostUsage, Missing, TreeUsage, Watched, WatchedHost, WatchedTree};

/// The maximum number of events stored per tree; later ones are only counted.
const MOST_EVENTS: usize = 100;

/// The watched usage of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchHistory {
    /// The machine at the last reading.
    pub host: WatchedHost,
    /// The trees, in the order in which they were requested.
    pub trees: Vec<TreeHistory>,
    /// The rows, one for each reading.
    pub rows: Vec<WatchRow>,
}

/// The history of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeHistory {
    /// The name under which it was requested; [`GENERATOR`](super::GENERATOR) for the generator
    /// itself.
    pub name: String,
    /// The machine that it is on; `None` if it is this one.
    pub machine: Option<String>,
    /// The name of the program of its first process.
    pub command: Option<String>,
    /// The first process, the last one that was known.
    pub pid: Option<u32>,
    /// The figures that could not be read, each once.
    pub missing: Vec<Missing>,
    /// The events, at most a hundred.
    pub events: Vec<WatchEvent>,
    /// The number of all events.
    pub event_count: u64,
}

/// An event of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchEvent {
    /// The end of the interval in which it was detected, in nanoseconds from the run's start.
    pub at_ns: u64,
    /// The kind of event.
    pub change: Change,
    /// The first process after it.
    pub pid: Option<u32>,
}

/// The numbers of one reading.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchRow {
    /// The end of its interval, in nanoseconds from the run's start.
    pub at_ns: u64,
    /// The length of the stretch, in nanoseconds.
    pub length_ns: u64,
    /// The usage of the machine.
    pub host: HostUsage,
    /// The usage of each tree, in their order.
    pub trees: Vec<TreeUsage>,
}

impl WatchHistory {
    /// Adds a reading, which belongs to the interval that ends at `at_ns`.
    pub fn observe(&mut self, watched: &Watched, at_ns: u64) {
        self.host.clone_from(&watched.host);
        self.trees
            .resize_with(watched.trees.len(), TreeHistory::default);
        for (history, tree) in self.trees.iter_mut().zip(&watched.trees) {
            history.observe(tree, at_ns);
        }
        self.rows.push(WatchRow {
            at_ns,
            length_ns: watched.length_ns,
            host: watched.host.usage,
            trees: watched.trees.iter().map(|tree| tree.usage).collect(),
        });
    }

    /// Returns the usage of one tree in every reading, with the reading's length in nanoseconds.
    pub fn usage_of(&self, tree: usize) -> impl Iterator<Item = (TreeUsage, u64)> + Clone + '_ {
        self.rows
            .iter()
            .filter_map(move |row| Some((*row.trees.get(tree)?, row.length_ns)))
    }

    /// Returns the usage of the machine in every reading, with the reading's length in nanoseconds.
    pub fn usage_of_host(&self) -> impl Iterator<Item = (HostUsage, u64)> + Clone + '_ {
        self.rows.iter().map(|row| (row.host, row.length_ns))
    }
}

impl TreeHistory {
    fn observe(&mut self, tree: &WatchedTree, at_ns: u64) {
        self.name.clone_from(&tree.name);
        self.machine.clone_from(&tree.machine);
        self.command = tree.command.clone().or(self.command.take());
        self.pid = tree.pid.or(self.pid);
        for missing in &tree.missing {
            if !self.missing.contains(missing) {
                self.missing.push(*missing);
            }
        }
        if let Some(change) = tree.change {
            self.event_count += 1;
            if self.events.len() < MOST_EVENTS {
                self.events.push(WatchEvent {
                    at_ns,
                    change,
                    pid: tree.pid,
                });
            }
        }
    }
}
