//! What was watched in a whole run: the numbers of every look, and what happened to the trees.

use super::{Change, HostUsage, Missing, TreeUsage, Watched, WatchedHost, WatchedTree};

/// The most events that are kept of one tree; later ones are only counted.
const MOST_EVENTS: usize = 100;

/// All that was watched in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchHistory {
    /// The machine as it was seen last; its usage is that of the last look.
    pub host: WatchedHost,
    /// The trees, in the order in which they were asked for.
    pub trees: Vec<TreeHistory>,
    /// One row for each look.
    pub rows: Vec<WatchRow>,
}

/// What became of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeHistory {
    /// What it was asked for by; [`GENERATOR`](super::GENERATOR) for the generator itself.
    pub name: String,
    /// The name of its first process's program.
    pub command: Option<String>,
    /// Its first process, the last one that was known.
    pub pid: Option<u32>,
    /// What could not be read, each figure once.
    pub missing: Vec<Missing>,
    /// What happened to it, at most a hundred events.
    pub events: Vec<WatchEvent>,
    /// How many events there were.
    pub event_count: u64,
}

/// Something that happened to a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchEvent {
    /// The end of the interval in which it was seen, in nanoseconds from the run's start.
    pub at_ns: u64,
    /// What it was.
    pub change: Change,
    /// The first process after it.
    pub pid: Option<u32>,
}

/// The numbers of one look.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchRow {
    /// The end of the interval that it belongs to, in nanoseconds from the run's start.
    pub at_ns: u64,
    /// How long the stretch was, in nanoseconds.
    pub length_ns: u64,
    /// What the machine used.
    pub host: HostUsage,
    /// What each tree used, in their order.
    pub trees: Vec<TreeUsage>,
}

impl WatchHistory {
    /// Adds a look, which belongs to the interval that ends at `at_ns`.
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

    /// The usage of one tree in every look, with the look's length in nanoseconds.
    pub fn usage_of(&self, tree: usize) -> impl Iterator<Item = (TreeUsage, u64)> + Clone + '_ {
        self.rows
            .iter()
            .filter_map(move |row| Some((*row.trees.get(tree)?, row.length_ns)))
    }

    /// The usage of the machine in every look, with the look's length in nanoseconds.
    pub fn usage_of_host(&self) -> impl Iterator<Item = (HostUsage, u64)> + Clone + '_ {
        self.rows.iter().map(|row| (row.host, row.length_ns))
    }
}

impl TreeHistory {
    fn observe(&mut self, tree: &WatchedTree, at_ns: u64) {
        self.name.clone_from(&tree.name);
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
