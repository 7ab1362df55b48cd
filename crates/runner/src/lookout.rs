//! Lookouts: what watches processes on other machines during all runs of this process.
//!
//! What they see belongs to the run as what is watched here does, but comes from elsewhere: it is
//! awaited by nobody, so that a machine that is slow or gone holds no report up. A reading that is
//! late is in the next interval.

use loadline_record::watched::{TreeUsage, Watched, WatchedTree};
use std::sync::OnceLock;

/// Watches processes on other machines.
pub trait Lookout: Send + Sync {
    /// Begins to watch for a run.
    ///
    /// # Errors
    /// The sentence about a machine that can't watch what it is to.
    fn begin(&self) -> Result<Vec<Box<dyn Sight>>, String>;
}

/// The view of one machine during a run.
pub trait Sight: Send {
    /// Returns the machine's name.
    fn machine(&self) -> &str;

    /// Has the usage counted from this instant on (nanoseconds of `CLOCK_MONOTONIC`), a second at a
    /// time.
    fn start(&mut self, zero_ns: u64);

    /// Returns the readings that have come since the last call, without waiting.
    fn readings(&mut self) -> Vec<Watched>;

    /// Returns the trees of the first reading, before the load.
    fn trees(&self) -> &[WatchedTree];
}

/// The lookout of all runs of this process.
static LOOKOUT: OnceLock<Box<dyn Lookout>> = OnceLock::new();

/// Has processes on other machines watched during all later runs of this process. The first lookout
/// stays.
pub fn post(lookout: Box<dyn Lookout>) {
    let _ = LOOKOUT.set(lookout);
}

/// The machines whose processes are watched during a run.
pub(crate) struct Sights(Vec<WatchedMachine>);

/// A machine, and its trees as they were last seen.
struct WatchedMachine {
    sight: Box<dyn Sight>,
    trees: Vec<WatchedTree>,
}

impl std::fmt::Debug for Sights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let machines = self.0.iter().map(|seen| seen.sight.machine());
        f.debug_list().entries(machines).finish()
    }
}

impl Sights {
    /// Begins to watch for a run; nothing without a lookout.
    ///
    /// # Errors
    /// Those of [`Lookout::begin`].
    pub(crate) fn begin() -> Result<Self, String> {
        match LOOKOUT.get() {
            Some(lookout) => Ok(Sights::of(lookout.begin()?)),
            None => Ok(Sights::of(Vec::new())),
        }
    }

    fn of(sights: Vec<Box<dyn Sight>>) -> Self {
        let seen = |sight: Box<dyn Sight>| {
            let mut trees = sight.trees().to_vec();
            trees
                .iter_mut()
                .for_each(|tree| belong(tree, sight.machine()));
            WatchedMachine { sight, trees }
        };
        Sights(sights.into_iter().map(seen).collect())
    }

    /// Has the usage counted from this instant on.
    pub(crate) fn start(&mut self, zero_ns: u64) {
        self.0.iter_mut().for_each(|seen| seen.sight.start(zero_ns));
    }

    /// Adds the trees of all machines to a reading of this one: in each reading the same, in the
    /// same order.
    pub(crate) fn add_to(&mut self, watched: &mut Watched) {
        for seen in &mut self.0 {
            seen.look(watched.length_ns);
            watched.trees.extend_from_slice(&seen.trees);
        }
    }
}

impl WatchedMachine {
    /// Takes what has come, as the usage of an interval of this length.
    fn look(&mut self, length_ns: u64) {
        let readings = self.sight.readings().into_iter();
        let all = readings.reduce(|mut all, next| {
            all.lengthen(&next);
            all
        });
        // What is not known yet was there, as far as is known.
        for tree in &mut self.trees {
            tree.change = None;
            tree.usage = TreeUsage {
                processes: tree.usage.processes,
                ..TreeUsage::default()
            };
        }
        let Some(all) = all else {
            return;
        };
        for (tree, mut next) in self.trees.iter_mut().zip(all.trees) {
            belong(&mut next, self.sight.machine());
            next.usage.cpu_ns = next
                .usage
                .cpu_ns
                .map(|cpu_ns| scaled(cpu_ns, all.length_ns, length_ns));
            *tree = next;
        }
    }
}

/// Names a tree by the machine that it is on.
fn belong(tree: &mut WatchedTree, machine: &str) {
    tree.name = format!("{machine} {}", tree.name);
    tree.machine = Some(machine.to_owned());
}

/// Returns an amount of one length of time as that of another one.
fn scaled(amount: u64, of_ns: u64, to_ns: u64) -> u64 {
    match of_ns {
        0 => 0,
        _ => (u128::from(amount) * u128::from(to_ns) / u128::from(of_ns)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose readings come one after the other.
    struct Machine(Vec<Vec<Watched>>, Vec<WatchedTree>);

    impl Sight for Machine {
        fn machine(&self) -> &'static str {
            "db-1"
        }

        fn start(&mut self, _zero_ns: u64) {}

        fn readings(&mut self) -> Vec<Watched> {
            self.0.remove(0)
        }

        fn trees(&self) -> &[WatchedTree] {
            &self.1
        }
    }

    fn reading(length_ns: u64, cpu_ns: u64) -> Watched {
        let usage = TreeUsage {
            processes: 2,
            cpu_ns: Some(cpu_ns),
            rss_bytes: Some(7),
            ..TreeUsage::default()
        };
        Watched {
            length_ns,
            trees: vec![WatchedTree {
                name: ":5432".to_owned(),
                usage,
                ..WatchedTree::default()
            }],
            ..Watched::default()
        }
    }

    #[test]
    fn trees_of_a_machine_are_always_there_and_late_readings_are_in_the_next_interval() {
        let (first, second) = (reading(1_000, 500), reading(1_000, 100));
        let trees = reading(0, 0).trees;
        let machine = Machine(vec![Vec::new(), vec![first, second]], trees);
        let mut sights = Sights::of(vec![Box::new(machine)]);
        let mut look = |length_ns| {
            let mut watched = Watched {
                length_ns,
                ..Watched::default()
            };
            sights.add_to(&mut watched);
            watched.trees.remove(0)
        };
        let none = look(1_000);
        assert_eq!(none.name, "db-1 :5432");
        assert_eq!(none.machine.as_deref(), Some("db-1"));
        assert_eq!((none.usage.processes, none.usage.cpu_ns), (2, None));
        let both = look(1_000);
        // 600 of 2 000 is 300 of 1 000.
        assert_eq!(both.usage.cpu_ns, Some(300));
        assert_eq!(both.usage.rss_bytes, Some(7));
        assert_eq!(both.name, "db-1 :5432");
    }

    #[test]
    fn amounts_of_other_lengths_are_scaled() {
        assert_eq!(scaled(5, 0, 10), 0);
        assert_eq!(scaled(u64::MAX, u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(scaled(50, 1_000, 1_020), 51);
    }
}
