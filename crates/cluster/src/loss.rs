//! What becomes of the load of a lost part.

use crate::ledger::{Ledger, Loss};
use crate::watched::lock;
use loadline_engine::CHANGE_LEAD_NS;
use loadline_plan::{Plan, Shape};
use loadline_reactor::monotonic_ns;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The load of a part that is lost, from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// The other parts take it over: its arrivals, or its users.
    Share,
    /// It is lost, and the others keep theirs.
    #[default]
    Keep,
}

/// What the parts of a run have to know to hand on the load of one of them.
#[derive(Clone, Debug)]
pub(crate) struct Handover {
    /// True if the load, or some of its scenarios, can be handed on.
    is_shared: bool,
    /// The time that a message may take to a part, beside the time in which workers receive it.
    head_start_ns: u64,
    warmup_ns: u64,
    /// The parts that are neither lost nor done.
    present: Arc<AtomicUsize>,
    /// The number of workers that have shares of the load, from each of these instants on:
    /// nanoseconds from the begin of the load.
    sharing: Arc<Mutex<Vec<(u64, u32)>>>,
    ledger: Arc<Mutex<Ledger>>,
}

/// The begin of the load, and its length with the warm-up, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) begin_ns: u64,
    pub(crate) length_ns: u64,
}

impl Handover {
    /// Creates the handover of a plan's run in so many parts.
    pub(crate) fn new(plan: &Plan, on_loss: OnLoss, parts: usize, head_start_ns: u64) -> Handover {
        let parts_of_plan = plan.parts();
        let mut shapes = parts_of_plan.iter().map(|part| &part.load.shape);
        Handover {
            is_shared: on_loss == OnLoss::Share && shapes.any(is_anybodys),
            head_start_ns,
            warmup_ns: u64::try_from(plan.warmup.as_nanos()).unwrap_or(u64::MAX),
            present: Arc::new(AtomicUsize::new(parts)),
            sharing: Arc::new(Mutex::new(vec![(0, plan.threads)])),
            ledger: Arc::default(),
        }
    }

    /// Notes that a part may join.
    pub(crate) fn enter(&self) {
        self.present.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that so many workers have a share from this instant on, in nanoseconds from the begin
    /// of the load.
    pub(crate) fn join(&self, workers: u32, at_ns: u64) {
        self.change_sharing(at_ns, |sharing| sharing + workers);
    }

    /// Notes that a part has ended, with nobody to take anything over.
    pub(crate) fn end(&self) {
        self.present.fetch_sub(1, Ordering::Relaxed);
    }

    /// Notes that a part with so many workers is lost. Returns the instant from which the others
    /// take its load over, in nanoseconds from the begin of the load; `None` if they don't.
    pub(crate) fn lose(&self, workers: u32, course: Option<Course>) -> Option<u64> {
        let left = self.present.fetch_sub(1, Ordering::Relaxed) - 1;
        let course = course.filter(|_| self.is_shared && left > 0)?;
        let lead_ns = CHANGE_LEAD_NS + self.head_start_ns;
        let from_ns = (monotonic_ns() + lead_ns).saturating_sub(course.begin_ns);
        let taken_from_ns = (from_ns < course.length_ns).then_some(from_ns)?;
        self.change_sharing(from_ns, |sharing| sharing.saturating_sub(workers));
        Some(taken_from_ns)
    }

    fn change_sharing(&self, at_ns: u64, change: impl FnOnce(u32) -> u32) {
        let mut sharing = lock(&self.sharing);
        let last = sharing.last().map_or(0, |(_, workers)| *workers);
        sharing.push((at_ns, change(last)));
    }

    /// Returns the share of the load that so many workers have at an instant from the run's zero,
    /// in percent.
    pub(crate) fn share_percent(&self, workers: u32, at_ns: u64) -> f64 {
        let at_ns = at_ns.saturating_add(self.warmup_ns);
        let sharing = lock(&self.sharing);
        let mut before = sharing.iter().rev();
        let found = before.find(|(from_ns, _)| *from_ns <= at_ns);
        let all = found.map_or(workers, |(_, workers)| *workers);
        100.0 * f64::from(workers) / f64::from(all.max(workers).max(1))
    }

    /// Notes that an agent is lost, after this instant from the run's zero; the instant from which
    /// the others send its load is from the begin of that.
    pub(crate) fn note(
        &self,
        (agent, workers): (&str, Range<u32>),
        until_ns: u64,
        taken_from_ns: Option<u64>,
    ) {
        self.ledger().lose(Loss {
            agent: agent.to_owned(),
            workers,
            until_ns,
            taken_from_ns: taken_from_ns.map(|from_ns| from_ns.saturating_sub(self.warmup_ns)),
        });
    }

    /// Returns what happens to agents.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// Returns an instant from the begin of the load as one from the run's zero, less than 0 in the
    /// warm-up.
    pub(crate) fn since_zero_ns(&self, from_begin_ns: u64) -> i64 {
        let from_begin_ns = i64::try_from(from_begin_ns).unwrap_or(i64::MAX);
        from_begin_ns.saturating_sub_unsigned(self.warmup_ns)
    }
}

/// True if anybody can send what is planned in a load of this shape: arrivals of a schedule, or
/// users without a schedule of their own.
fn is_anybodys(shape: &Shape) -> bool {
    match shape {
        Shape::Rate { .. }
        | Shape::RateStages { .. }
        | Shape::Burst { .. }
        | Shape::Closed
        | Shape::ClosedStages { .. } => true,
        Shape::Paced | Shape::Scenarios { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{Arrivals, Rate};

    fn open() -> Plan {
        let mut plan = Plan::default();
        plan.load.shape = Shape::Rate {
            rate: Rate {
                count: 1,
                per_ns: 1_000,
            },
            arrivals: Arrivals::Constant,
        };
        plan
    }

    #[test]
    fn a_load_is_handed_on_while_others_are_left() {
        let course = Some(Course {
            begin_ns: monotonic_ns(),
            length_ns: u64::MAX,
        });
        let shared = Handover::new(&open(), OnLoss::Share, 2, 1_000_000_000);
        let from_ns = shared.lose(1, course).expect("a handover");
        assert!(from_ns >= CHANGE_LEAD_NS + 1_000_000_000);
        assert_eq!(shared.lose(1, course), None);
    }

    #[test]
    fn the_share_of_a_part_is_that_of_the_instant_up_to_which_it_counts() {
        let plan = Plan {
            threads: 4,
            warmup: std::time::Duration::from_secs(1),
            ..open()
        };
        let handover = Handover::new(&plan, OnLoss::Share, 4, 0);
        let course = Course {
            begin_ns: monotonic_ns().saturating_sub(10_000_000_000),
            length_ns: u64::MAX,
        };
        assert_eq!(handover.share_percent(1, 0), 25.0);
        // From then on the other three have it.
        let from_ns = handover.lose(1, Some(course)).expect("a handover");
        let zero_ns = from_ns - 1_000_000_000;
        assert_eq!(handover.share_percent(1, zero_ns - 1), 25.0);
        assert_eq!(handover.share_percent(1, zero_ns), 100.0 / 3.0);
        handover.join(2, from_ns + 2_000_000_000);
        assert_eq!(handover.share_percent(1, zero_ns + 2_000_000_000), 20.0);
        assert_eq!(handover.share_percent(2, zero_ns + 2_000_000_000), 40.0);
    }

    #[test]
    fn losses_are_noted_once_from_the_zero_of_the_run() {
        let plan = Plan {
            warmup: std::time::Duration::from_secs(1),
            ..open()
        };
        let handover = Handover::new(&plan, OnLoss::Share, 3, 0);
        handover.note(("one", 0..1), 2_000_000_000, Some(7_500_000_000));
        handover.clone().note(("two", 1..2), 3_000_000_000, None);
        let loss = |agent: &str, until_ns, taken_from_ns| Loss {
            agent: agent.to_owned(),
            workers: if agent == "one" { 0..1 } else { 1..2 },
            until_ns,
            taken_from_ns,
        };
        let expected = [
            loss("one", 2_000_000_000, Some(6_500_000_000)),
            loss("two", 3_000_000_000, None),
        ];
        assert_eq!(handover.ledger().take_losses(), expected);
        assert_eq!(handover.ledger().take_losses(), []);
    }

    #[test]
    fn what_is_kept_paced_or_over_is_not_handed_on() {
        let course = |length_ns| {
            Some(Course {
                begin_ns: monotonic_ns(),
                length_ns,
            })
        };
        let kept = Handover::new(&open(), OnLoss::Keep, 2, 0);
        assert_eq!(kept.lose(1, course(u64::MAX)), None);
        let mut paced = Plan::default();
        paced.load.shape = Shape::Paced;
        let paced = Handover::new(&paced, OnLoss::Share, 2, 0);
        assert_eq!(paced.lose(1, course(u64::MAX)), None);
        let closed = Handover::new(&Plan::default(), OnLoss::Share, 2, 0);
        assert!(closed.lose(1, course(u64::MAX)).is_some());
        let over = Handover::new(&open(), OnLoss::Share, 3, 0);
        assert_eq!(over.lose(1, course(1)), None);
        assert_eq!(over.lose(1, None), None);
    }
}
