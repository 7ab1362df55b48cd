//! What becomes of the load of a lost part.

use crate::watched::lock;
use loadline_engine::CHANGE_LEAD_NS;
use loadline_plan::{Plan, Shape};
use loadline_reactor::monotonic_ns;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

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

/// An agent that is lost while its part of a load lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its name.
    pub agent: String,
    /// The end of its last interval that counts: nanoseconds from the run's zero.
    pub until_ns: u64,
    /// The instant from which the others send its load, if they do: as above.
    pub taken_from_ns: Option<u64>,
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
    /// The losses that nobody has taken notice of.
    losses: Arc<Mutex<Vec<Loss>>>,
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
            losses: Arc::default(),
        }
    }

    /// Notes that an agent is lost, after this instant from the run's zero; the instant from which
    /// the others send its load is from the begin of that.
    pub(crate) fn note(&self, agent: &str, until_ns: u64, taken_from_ns: Option<u64>) {
        lock(&self.losses).push(Loss {
            agent: agent.to_owned(),
            until_ns,
            taken_from_ns: taken_from_ns.map(|from_ns| from_ns.saturating_sub(self.warmup_ns)),
        });
    }

    /// Returns the losses since the last call.
    pub(crate) fn take_losses(&self) -> Vec<Loss> {
        std::mem::take(&mut *lock(&self.losses))
    }

    /// Notes that a part may join.
    pub(crate) fn enter(&self) {
        self.present.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a part has ended. Returns the instant from which the others take its load over,
    /// in nanoseconds from the begin of the load; `None` if they don't.
    pub(crate) fn leave(&self, course: Option<Course>) -> Option<u64> {
        let left = self.present.fetch_sub(1, Ordering::Relaxed) - 1;
        let course = course.filter(|_| self.is_shared && left > 0)?;
        let lead_ns = CHANGE_LEAD_NS + self.head_start_ns;
        let from_ns = (monotonic_ns() + lead_ns).saturating_sub(course.begin_ns);
        (from_ns < course.length_ns).then_some(from_ns)
    }

    /// Returns the end of a loss, as the end of a sentence.
    pub(crate) fn extent(&self, taken_from_ns: Option<u64>) -> String {
        let Some(from_ns) = taken_from_ns else {
            return "on".to_owned();
        };
        let seconds = (from_ns as f64 - self.warmup_ns as f64) / 1e9;
        format!("to {seconds:.1} s, from when on the others send it")
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
        let from_ns = shared.leave(course).expect("a handover");
        assert!(from_ns >= CHANGE_LEAD_NS + 1_000_000_000);
        assert_eq!(shared.leave(course), None);
        let said = "to 1.3 s, from when on the others send it";
        assert_eq!(shared.extent(Some(1_250_000_001)), said);
        assert_eq!(shared.extent(None), "on");
    }

    #[test]
    fn losses_are_noted_once_from_the_zero_of_the_run() {
        let plan = Plan {
            warmup: std::time::Duration::from_secs(1),
            ..open()
        };
        let handover = Handover::new(&plan, OnLoss::Share, 3, 0);
        handover.note("one", 2_000_000_000, Some(7_500_000_000));
        handover.clone().note("two", 3_000_000_000, None);
        let loss = |agent: &str, until_ns, taken_from_ns| Loss {
            agent: agent.to_owned(),
            until_ns,
            taken_from_ns,
        };
        let expected = [
            loss("one", 2_000_000_000, Some(6_500_000_000)),
            loss("two", 3_000_000_000, None),
        ];
        assert_eq!(handover.take_losses(), expected);
        assert_eq!(handover.take_losses(), []);
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
        assert_eq!(kept.leave(course(u64::MAX)), None);
        let mut paced = Plan::default();
        paced.load.shape = Shape::Paced;
        let paced = Handover::new(&paced, OnLoss::Share, 2, 0);
        assert_eq!(paced.leave(course(u64::MAX)), None);
        let closed = Handover::new(&Plan::default(), OnLoss::Share, 2, 0);
        assert!(closed.leave(course(u64::MAX)).is_some());
        let over = Handover::new(&open(), OnLoss::Share, 3, 0);
        assert_eq!(over.leave(course(1)), None);
        assert_eq!(over.leave(None), None);
    }
}
