//! The users of a locustfile, for a search of their number.
//!
//! They run in a child process with Python, from the first trial to the last, and only their number
//! changes: they stay logged in, their connections stay open, and nothing is loaded again. The
//! child writes one saved run of all requests; a trial is a [`Window`] of its intervals, each a
//! second long. So a trial begins with a whole second, and lasts for whole seconds.
//!
//! Users who wait between their requests make trials longer. A *cycle* is the time from one request
//! of a user to the next one: new users are started evenly over a cycle, so that they do not all
//! send at once; another cycle passes before anything is measured; and a trial lasts at least two
//! of them.

mod child;
mod window;

pub use child::LocustfileError;

use crate::observer::Interests;
use crate::source::Source;
use crate::workload::Workload;
use child::Child;
use loadline_engine::StartError;
use loadline_plan::{Plan, Shape};
use loadline_record::Snapshot;
use std::cell::Cell;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;
use url::Url;
use window::{Step, Window};

/// The shortest time for which users settle.
const LEAST_SETTLING: Duration = Duration::from_secs(1);
/// The longest cycle that is waited for, in seconds.
const LONGEST_CYCLE_S: f64 = 60.0;
/// The fewest cycles in a trial.
const CYCLES: f64 = 2.0;

/// A locustfile whose users run in a child process.
pub struct Locustfile {
    child: Rc<Child>,
    state: Rc<State>,
}

/// The knowledge from the trials so far, for the next one.
#[derive(Default)]
struct State {
    /// The current number of users.
    users: Cell<u32>,
    /// The shortest cycle of a trial, in seconds; 0 as long as it is unknown.
    shortest_cycle_s: Cell<f64>,
    /// The cycle of the last trial, in seconds.
    last_cycle_s: Cell<f64>,
}

impl std::fmt::Debug for Locustfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Locustfile")
            .field("host", &self.host().as_str())
            .field("users", &self.state.users.get())
            .finish_non_exhaustive()
    }
}

impl State {
    /// Updates the cycles from a trial with this many users, and its merged record.
    fn learn(&self, users: u32, seen: &Snapshot) {
        if seen.counts.completed == 0 {
            return;
        }
        let users_s = f64::from(users) * seen.length_ns() as f64 / 1e9;
        let cycle_s = (users_s / seen.counts.completed as f64).min(LONGEST_CYCLE_S);
        let shortest_s = match self.shortest_cycle_s.get() {
            0.0 => cycle_s,
            known_s => known_s.min(cycle_s),
        };
        self.shortest_cycle_s.set(shortest_s);
        self.last_cycle_s.set(cycle_s);
    }
}

impl Locustfile {
    /// Starts the child by this command, and waits until it has loaded the locustfile. `print` is
    /// called with each line that the child prints from then on.
    ///
    /// # Errors
    /// If it can't be started, or refuses: then with its output.
    pub fn start(
        command: Command,
        print: impl Fn(&str) + Send + 'static,
    ) -> Result<Locustfile, LocustfileError> {
        Ok(Locustfile {
            child: Rc::new(Child::start(command, print)?),
            state: Rc::default(),
        })
    }

    /// Returns the URL of the requests' host.
    pub fn host(&self) -> &Url {
        self.child.host()
    }

    /// Returns the plan of a trial, extended to the time that its users need: they settle before
    /// it, and it measures whole seconds. Steps are whole seconds already.
    pub(crate) fn fit(&self, plan: Plan) -> Plan {
        let planned_s = plan.duration.unwrap_or_default().as_secs_f64();
        let cycles_s = match plan.load.shape {
            Shape::ClosedStages { .. } => 0.0,
            Shape::Closed
            | Shape::Rate { .. }
            | Shape::RateStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => CYCLES * self.state.shortest_cycle_s.get(),
        };
        let seconds = planned_s.max(cycles_s).max(1.0).ceil();
        Plan {
            duration: Some(Duration::from_secs_f64(seconds)),
            warmup: self.settling(plan.load.users),
            ..plan
        }
    }

    /// Returns the time until this many users are started and have settled.
    fn settling(&self, users: u32) -> Duration {
        let settled = Duration::from_secs_f64(self.state.last_cycle_s.get()).max(LEAST_SETTLING);
        Duration::from_secs_f64(self.spread_s(users)) + settled
    }

    /// Returns the time until this many users are started, in seconds.
    fn spread_s(&self, users: u32) -> f64 {
        match users > self.state.users.get() {
            true => self.state.shortest_cycle_s.get(),
            false => 0.0,
        }
    }
}

impl Workload for Locustfile {
    fn start(&self, plan: Plan, _: Interests) -> Result<Box<dyn Source>, StartError> {
        let steps = steps(&plan);
        let first = steps[0].users;
        let window = Window::begin(
            Rc::clone(&self.child),
            Rc::clone(&self.state),
            steps,
            self.spread_s(first),
            plan.warmup,
        )?;
        Ok(Box::new(window))
    }
}

/// Returns the numbers of users of a plan, one after the other, each for whole seconds.
fn steps(plan: &Plan) -> Vec<Step> {
    let step = |users: u32, length: Duration| Step {
        users,
        seconds: length.as_secs().max(1),
    };
    match &plan.load.shape {
        Shape::ClosedStages { stages, .. } => {
            let held = stages.iter().filter(|stage| !stage.duration.is_zero());
            held.map(|stage| step(stage.target, stage.duration))
                .collect()
        }
        Shape::Closed
        | Shape::Rate { .. }
        | Shape::RateStages { .. }
        | Shape::Burst { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => vec![step(plan.load.users, plan.duration.unwrap_or_default())],
    }
}
