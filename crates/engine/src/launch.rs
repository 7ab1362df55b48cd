//! Launches: creating the users of a scenario on each worker.
//!
//! A worker runs the users of all scenarios of a plan on one event loop. Each scenario is a
//! separate *group* on the loop: its users, its share of the schedule, its recorder and its
//! supervisor. Only the group knows what its users do, so that requests and scripts of any language
//! run side by side, and a plan with one load costs nothing more.

use crate::behaviour::Scenario;
use crate::control::Handle;
use crate::prepare::Prepared;
use crate::replay::Replay;
use crate::report::Report;
use crate::sessions::Sessions;
use crate::traced_replay::TracedReplay;
use crate::tracer::Tracer;
use crate::worker::{self, Ready};
use loadline_plan::Plan;
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

/// The receiver of a group's reports.
pub(crate) type ReportSink = Box<dyn Fn(Report)>;

/// A function that sets up a group of users on a worker's thread.
type SetUp<H> = dyn Fn(H, Arc<Prepared>, Stripe, ReportSink) -> Local<Box<dyn Group>> + Send + Sync;

/// Creates the users of a scenario on each worker.
pub struct Launch<H: Host = Kernel> {
    set_up: Arc<SetUp<H>>,
    /// True if the users compose requests, which may use other hosts than the plan.
    pub(crate) composes: bool,
}

/// The users of one scenario on one worker, whose load has not begun.
pub(crate) trait Group {
    /// Returns the number of open connections.
    fn connected(&self) -> usize;

    /// Returns the error of the first dial that failed, once.
    fn take_error(&mut self) -> Option<DialError>;

    /// Runs the load of the users from `begin_ns` on, to its end.
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
    /// Creates users that send the requests of their plan, and handle the responses as it
    /// describes.
    pub fn requests(plan: &Plan) -> Self {
        if !plan.client.is_plain() {
            return Launch::prepared(plan.client.follow_redirects > 0, |prepared, stripe| {
                Sessions::new(prepared, stripe.index, stripe.of)
            });
        }
        if let Some(one_in) = plan.traceparent {
            return Launch::prepared(false, move |prepared, stripe| {
                let tracer = Tracer::new(prepared.plan.seed, stripe.index, one_in);
                TracedReplay::new(prepared, stripe.index, stripe.of, tracer)
            });
        }
        Launch::prepared(false, |prepared, stripe| {
            Replay::new(Arc::clone(prepared), stripe.index, stripe.of)
        })
    }

    /// Creates the launches of each scenario of a plan whose users send its requests; one for the
    /// plan itself if it has no scenarios.
    pub fn of_plan(plan: &Plan) -> Vec<Self> {
        let parts = plan.parts();
        parts.iter().map(Launch::requests).collect()
    }

    /// Creates users with the behaviours of a scenario; the requests of their plan serve only to
    /// name the endpoints. `scenario` is called once on each worker's own thread, with the worker's
    /// number from 0.
    pub fn scenario<S: Scenario<H>>(scenario: impl Fn(u32) -> S + Send + Sync + 'static) -> Self {
        Launch::prepared(S::COMPOSES, move |_, stripe| scenario(stripe.index))
    }

    fn prepared<S: Scenario<H>>(
        composes: bool,
        scenario: impl Fn(&Arc<Prepared>, Stripe) -> S + Send + Sync + 'static,
    ) -> Self {
        let scenario = Arc::new(scenario);
        let set_up = move |host: H, prepared: Arc<Prepared>, stripe, sink: ReportSink| {
            let scenario = Arc::clone(&scenario);
            let group: Local<Box<dyn Group>> = Box::pin(async move {
                let scenario = scenario(&prepared, stripe);
                let ready = worker::prepare(host, &prepared, stripe, scenario, sink).await;
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
        sink: ReportSink,
    ) -> Box<dyn Group> {
        (self.set_up)(host, Arc::clone(prepared), stripe, sink).await
    }
}

/// Runs the groups of a worker concurrently, until the last one ends. All supervisors are one
/// future: as a separate task, a late supervisor would be woken before the users for which it
/// waits.
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
