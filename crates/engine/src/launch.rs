//! Launches: how the users of a scenario come to a worker.
//!
//! A worker runs the users of all scenarios of a plan on one event loop. For the loop each scenario
//! is a *group* of its own: its users, its share of the schedule, its recorder and its supervisor.
//! What the users of a group do is known to the group alone, so that requests and scripts of any
//! language run beside each other, and a plan of one load costs nothing more.

use crate::behaviour::Scenario;
use crate::control::Handle;
use crate::prepare::Prepared;
use crate::replay::Replay;
use crate::sessions::Sessions;
use crate::worker::{self, Ready, Report};
use loadline_plan::{Client, Plan};
use loadline_reactor::{Host, Kernel};
use loadline_schedule::Stripe;
use loadline_transport::DialError;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// A future on the thread of its worker.
type Local<T> = Pin<Box<dyn Future<Output = T>>>;

/// Takes what a group tells.
pub(crate) type Tell = Box<dyn Fn(Report)>;

/// Sets up a group of users on a worker's thread.
type SetUp<H> = dyn Fn(H, Arc<Prepared>, Stripe, Tell) -> Local<Box<dyn Group>> + Send + Sync;

/// What begins the users of a scenario on each worker.
pub struct Launch<H: Host = Kernel> {
    set_up: Arc<SetUp<H>>,
    /// Whether they compose requests, whose hosts may be others than those of the plan.
    pub(crate) composes: bool,
}

/// The users of one scenario on one worker, whose load has not begun.
pub(crate) trait Group {
    /// How many connections are up.
    fn connected(&self) -> usize;

    /// The first dial that failed.
    fn take_error(&mut self) -> Option<DialError>;

    /// Runs their load from `begin_ns` on, to its end.
    fn run(self: Box<Self>, begin_ns: u64, handle: Handle) -> Local<()>;
}

impl<H: Host, S: Scenario<H>> Group for Ready<H, S> {
    fn connected(&self) -> usize {
        Ready::connected(self)
    }

    fn take_error(&mut self) -> Option<DialError> {
        self.first_error.take()
    }

    fn run(self: Box<Self>, begin_ns: u64, handle: Handle) -> Local<()> {
        Box::pin(async move { worker::run(*self, begin_ns, &handle).await })
    }
}

impl<H: Host> Launch<H> {
    /// Users that send the requests of their plan, and do this with the responses.
    pub fn requests(client: &Client) -> Self {
        if !client.is_plain() {
            return Launch::prepared(client.follow_redirects > 0, |prepared, stripe| {
                Sessions::new(prepared, stripe.index, stripe.of)
            });
        }
        Launch::prepared(false, |prepared, stripe| {
            Replay::new(Arc::clone(prepared), stripe.index, stripe.of)
        })
    }

    /// Users of each scenario of a plan that send its requests; of the plan itself where it has
    /// none.
    pub fn of_plan(plan: &Plan) -> Vec<Self> {
        let parts = plan.parts();
        parts
            .iter()
            .map(|part| Launch::requests(&part.client))
            .collect()
    }

    /// Users that do what a scenario makes of them; the requests of their plan say only which
    /// endpoints there are. `scenario` is called once on each worker's own thread, with the
    /// worker's number from 0.
    pub fn scenario<S: Scenario<H>>(scenario: impl Fn(u32) -> S + Send + Sync + 'static) -> Self {
        Launch::prepared(S::COMPOSES, move |_, stripe| scenario(stripe.index))
    }

    fn prepared<S: Scenario<H>>(
        composes: bool,
        scenario: impl Fn(&Arc<Prepared>, Stripe) -> S + Send + Sync + 'static,
    ) -> Self {
        let scenario = Arc::new(scenario);
        let set_up = move |host: H, prepared: Arc<Prepared>, stripe, tell: Tell| {
            let scenario = Arc::clone(&scenario);
            let group: Local<Box<dyn Group>> = Box::pin(async move {
                let scenario = scenario(&prepared, stripe);
                let ready = worker::prepare(host, &prepared, stripe, scenario, tell).await;
                Box::new(ready) as Box<dyn Group>
            });
            group
        };
        Launch {
            set_up: Arc::new(set_up),
            composes,
        }
    }

    /// Sets up the users of a worker and dials their connections.
    pub(crate) async fn set_up(
        &self,
        host: H,
        prepared: &Arc<Prepared>,
        stripe: Stripe,
        tell: Tell,
    ) -> Box<dyn Group> {
        (self.set_up)(host, Arc::clone(prepared), stripe, tell).await
    }
}

/// Runs the groups of a worker beside each other, to the end of the last one. All supervisors are
/// one future: as a task of its own, one that is late would be woken before the users that it
/// waits for.
pub(crate) async fn run_groups(groups: Vec<Box<dyn Group>>, begin_ns: u64, handle: &Handle) {
    let run = |group: Box<dyn Group>| group.run(begin_ns, handle.clone());
    let mut running: Vec<Local<()>> = groups.into_iter().map(run).collect();
    poll_fn(|cx| {
        running.retain_mut(|group| group.as_mut().poll(cx).is_pending());
        match running.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

impl<H: Host> Clone for Launch<H> {
    fn clone(&self) -> Self {
        Launch {
            set_up: Arc::clone(&self.set_up),
            composes: self.composes,
        }
    }
}

impl<H: Host> fmt::Debug for Launch<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("composes", &self.composes)
            .finish_non_exhaustive()
    }
}
