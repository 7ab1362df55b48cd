//! Further differences between compared runs: the clock that timed them, the worker threads that
//! sent them, and the machine.
//!
//! None of it is refused, as one may compare machines on purpose. But it is in the ratio along with
//! what was meant to differ, so the reader of the ratio must know of it.

use loadline_plan::Clock;
use loadline_record::{Environment, Summary, counts_alike};
use std::collections::BTreeSet;

/// A condition that was not the same for all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Some runs took the end of a response from the kernel's clock, others from ours (`--clock`).
    Clock,
    /// Some runs are of a file of an earlier format version, which counted otherwise.
    Counting,
    /// The runs had these numbers of worker threads, in ascending order.
    Threads(Vec<u32>),
    /// The machine that the runs were made on was another, or was set up otherwise.
    Machine(Vec<MachineProperty>),
}

impl Mismatch {
    /// Its name, as in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Mismatch::Clock => "clock",
            Mismatch::Counting => "counting",
            Mismatch::Threads(_) => "threads",
            Mismatch::Machine(_) => "machine",
        }
    }
}

/// Something about a machine that was not the same for all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineProperty {
    /// The name of the condition.
    pub name: &'static str,
    /// The values, each once, in their order as text.
    pub values: Vec<String>,
}

type Source = (&'static str, fn(&Environment) -> Option<String>);

/// The properties that distinguish machines. The machine's current load is not one of them.
const PROPERTIES: [Source; 5] = [
    ("processor", |machine| machine.cpu_model.clone()),
    ("cores", |machine| machine.cores.map(|n| n.to_string())),
    ("usable cores", |machine| {
        machine.usable_cores.map(|n| n.to_string())
    }),
    ("governor", |machine| machine.governor.clone()),
    ("kernel", |machine| machine.kernel.clone()),
];

/// In what these runs were not made alike, apart from what is compared. A property that a run does
/// not have counts as equal to that of the other runs.
pub fn mismatches(runs: &[&Summary]) -> Vec<Mismatch> {
    let clocks = runs.iter().map(|run| run.plan.connection.clock);
    let by_ours = clocks.filter(|clock| *clock == Clock::User).count();
    let clock = (by_ours > 0 && by_ours < runs.len()).then_some(Mismatch::Clock);
    let properties: Vec<MachineProperty> = PROPERTIES
        .iter()
        .filter_map(|source| differing(source, runs))
        .collect();
    let machine = (!properties.is_empty()).then_some(Mismatch::Machine(properties));
    let alike: BTreeSet<bool> = runs.iter().map(|run| counts_alike(run.format)).collect();
    let counting = (alike.len() > 1).then_some(Mismatch::Counting);
    let threads: BTreeSet<u32> = runs.iter().map(|run| run.plan.threads).collect();
    let threads = (threads.len() > 1).then(|| Mismatch::Threads(threads.into_iter().collect()));
    [clock, counting, threads, machine]
        .into_iter()
        .flatten()
        .collect()
}

fn differing((name, of): &Source, runs: &[&Summary]) -> Option<MachineProperty> {
    let values: BTreeSet<String> = runs.iter().filter_map(|run| of(&run.environment)).collect();
    (values.len() > 1).then(|| MachineProperty {
        name,
        values: values.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::{environment, plan};
    use loadline_record::Header;
    use std::time::SystemTime;

    fn on(machine: Environment, clock: Clock) -> Summary {
        let mut plan = plan(400, 50);
        plan.connection.clock = clock;
        Summary::new(Header::new(&plan, machine, SystemTime::UNIX_EPOCH))
    }

    fn machine(kernel: Option<&str>, usable_cores: u64) -> Environment {
        Environment {
            kernel: kernel.map(str::to_owned),
            usable_cores: Some(usable_cores),
            ..environment()
        }
    }

    #[test]
    fn runs_made_alike_have_nothing_that_differs() {
        let one = on(machine(Some("6.1"), 2), Clock::Kernel);
        let mut other = one.clone();
        other.environment.load_average = Some([1.0; 3]);
        other.environment.kernel = None;
        assert_eq!(mismatches(&[&one, &other]), []);
        assert_eq!(mismatches(&[]), []);
    }

    #[test]
    fn runs_timed_by_two_clocks_are_unlike() {
        let by = |clock| on(machine(None, 2), clock);
        let (kernel, user) = (by(Clock::Kernel), by(Clock::User));
        assert_eq!(mismatches(&[&kernel, &kernel, &user]), [Mismatch::Clock]);
        assert_eq!(mismatches(&[&user, &user]), []);
    }

    #[test]
    fn runs_that_were_counted_by_two_rules_are_unlike() {
        let new = on(machine(None, 2), Clock::Kernel);
        let mut old = new.clone();
        old.format = 1;
        assert_eq!(mismatches(&[&old, &new]), [Mismatch::Counting]);
        assert_eq!(mismatches(&[&old, &old]), []);
    }

    #[test]
    fn runs_of_different_numbers_of_threads_are_unlike() {
        let one = on(machine(None, 2), Clock::Kernel);
        let mut four = one.clone();
        four.plan.threads = one.plan.threads + 3;
        let numbers = vec![one.plan.threads, four.plan.threads];
        assert_eq!(
            mismatches(&[&four, &one, &four]),
            [Mismatch::Threads(numbers)]
        );
    }

    #[test]
    fn a_machine_is_told_from_another_by_what_it_is() {
        let on = |kernel, cores| on(machine(Some(kernel), cores), Clock::Kernel);
        let (one, other) = (on("6.1", 2), on("5.15", 8));
        let found = mismatches(&[&one, &other, &one]);
        let differs = |name, values: [&str; 2]| MachineProperty {
            name,
            values: values.map(str::to_owned).to_vec(),
        };
        let expected = vec![
            differs("usable cores", ["2", "8"]),
            differs("kernel", ["5.15", "6.1"]),
        ];
        assert_eq!(found, [Mismatch::Machine(expected)]);
    }
}
