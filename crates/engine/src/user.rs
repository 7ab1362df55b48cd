//! One virtual user: its connections, its starts, its way through the schedule.

use crate::backoff::Backoff;
use crate::behaviour::{Batch, Behaviour, Observer};
use crate::pacer::Next;
use crate::worker::Worker;
use loadline_reactor::{Host, Timer};
use loadline_record::Outcome;
use loadline_schedule::Window;
use loadline_transport::Connection;
use loadline_wire::ResponseParser;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

/// One virtual user: a behaviour with its own connections.
pub struct User<H: Host> {
    pub(crate) worker: Rc<Worker<H>>,
    /// Its connection to each endpoint it has used, by the endpoint's index.
    pub(crate) connections: Vec<Slot<H>>,
    /// Starts of the iteration that no exchange has taken yet, the earliest last.
    pub(crate) starts: Vec<Start>,
    pub(crate) parser: ResponseParser,
    pub(crate) timer: Timer,
    /// Since when it has been free for the next start: since its last answer came, by the clock
    /// that ends exchanges, so that a worker which reads that late is not taken for a target.
    pub(crate) free_ns: u64,
    pub(crate) activity: Rc<Activity>,
    pub(crate) backoff: Backoff,
}

/// A start that the schedule has given. Nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// When it was to be.
    pub(crate) intended_ns: u64,
    /// When it was due and this user was free to take it.
    pub(crate) ready_ns: u64,
}

/// A user's connection to one endpoint.
pub(crate) struct Slot<H: Host> {
    /// Boxed, because each exchange takes it out and puts it back.
    pub(crate) open: Option<Box<OpenConnection<H>>>,
    /// The server closed the last one, so the next is a reconnect.
    pub(crate) closed_by_server: bool,
}

pub(crate) struct OpenConnection<H: Host> {
    pub(crate) connection: Connection<H::Socket>,
    /// Answers that came over it.
    pub(crate) served: u64,
}

impl<H: Host> Default for Slot<H> {
    fn default() -> Self {
        Slot {
            open: None,
            closed_by_server: false,
        }
    }
}

/// What a user is at, for its worker to look at.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// The earliest start it has taken whose exchange has not ended.
    pub(crate) since_ns: Cell<Option<u64>>,
    /// The starts that it has taken behind that one, the earliest last.
    pub(crate) later: RefCell<Vec<u64>>,
    /// How many exchanges it has in flight, and when they were begun.
    pub(crate) in_flight: Cell<u32>,
    pub(crate) begun_ns: Cell<u64>,
    /// How long they could have begun before; 0 in a closed load.
    pub(crate) late_ns: Cell<u64>,
    /// Whether it is in an iteration.
    pub(crate) iterating: Cell<bool>,
    /// Whether a closed loop of the users there were at the begin would have left it out.
    pub(crate) is_omitted: Cell<bool>,
}

impl<H: Host> User<H> {
    pub(crate) fn new(worker: Rc<Worker<H>>, activity: Rc<Activity>) -> Self {
        let timer = worker.host.timer();
        User {
            worker,
            connections: Vec::new(),
            starts: Vec::new(),
            parser: ResponseParser::new(),
            timer,
            free_ns: 0,
            activity,
            backoff: Backoff::default(),
        }
    }

    /// Sends a batch of requests on one connection and waits for all its answers; returns how the
    /// last exchange ended. Dials where there is no connection, and records every exchange. In a
    /// closed load it returns a moment later where a dial failed: 1 ms after the first one, up to
    /// 100 ms after many.
    // Not a future of its own around the exchange's: nearly all requests pass here.
    pub fn send<O: Observer>(
        &mut self,
        batch: Batch<'_>,
        observer: &mut O,
    ) -> impl Future<Output = Outcome> {
        crate::exchange::send(self, batch, observer)
    }

    /// Whether the window is over and nothing more is begun. Behind it only starts that the
    /// schedule has given already are.
    pub(crate) fn is_drained(&self) -> bool {
        self.worker.draining.get() && !self.has_due_start()
    }

    /// Whether the schedule has given it a start that no exchange has taken yet.
    fn has_due_start(&self) -> bool {
        self.worker.pacer.is_open() && !self.starts.is_empty()
    }

    /// How many starts of the schedule the iteration still has.
    pub fn starts_left(&self) -> usize {
        self.starts.len()
    }

    /// Waits. In a closed load what the iteration has not sent yet starts after that.
    pub async fn pause(&mut self, duration_ns: u64) {
        if !self.worker.pacer.is_open() {
            // Nothing was asked of the target yet that could be waited for.
            self.activity.since_ns.set(None);
        }
        let until_ns = self.worker.host.now_ns().saturating_add(duration_ns);
        self.timer.until(until_ns).await;
        self.free_ns = until_ns;
        self.put_off_starts();
    }

    /// Begins nothing more while the run lasts, and keeps its connections: the user is there and
    /// does nothing. Where nothing but users ends the run, it ends when all of them rest.
    pub async fn rest(&mut self) {
        // The arrivals that it holds in an open load stay unsent.
        self.activity.iterating.set(false);
        self.worker.one_rests();
        std::future::pending().await
    }

    /// Lets this worker begin nothing new, as if the run were over for it; the others go on. What
    /// is in flight comes to its end.
    pub fn end_worker(&self) {
        self.worker.stopping.set(true);
        self.worker.wake_supervisor();
    }

    /// Runs iterations in each of its windows until nothing is left to begin.
    pub(crate) async fn run(&mut self, behaviour: &mut impl Behaviour<H>, windows: Vec<Window>) {
        for window in windows {
            let begin_ns = self.worker.begin_ns.get();
            self.timer
                .until(begin_ns.saturating_add(window.from_ns))
                .await;
            let to_ns = window
                .to_ns
                .unwrap_or(u64::MAX)
                .min(self.worker.pacer.end_ns);
            let to_ns = begin_ns.saturating_add(to_ns);
            while self.take_starts(behaviour.depth(), to_ns).await {
                self.activity.iterating.set(true);
                self.worker.iterations.set(self.worker.iterations.get() + 1);
                let has_slot = self.worker.take_closed_loop_slot();
                self.activity.is_omitted.set(!has_slot);
                behaviour.iterate(self).await;
                if has_slot {
                    self.worker.return_closed_loop_slot();
                }
                self.activity.iterating.set(false);
                self.activity.since_ns.set(None);
            }
            if self.worker.stopping.get() || self.worker.pacer.is_spent() {
                return;
            }
        }
    }

    /// Takes `depth` starts and waits until the last is due; false if there is none before `to_ns`.
    /// A pipeline's batch goes out when its last start is due: until then the earlier ones wait
    /// for it, as for a connection.
    async fn take_starts(&mut self, depth: u32, to_ns: u64) -> bool {
        self.starts.clear();
        if self.worker.stopping.get() {
            return false;
        }
        let now_ns = self.worker.host.now_ns();
        // What fell due in the window is sent behind it too, as soon as there is a connection.
        let goes_on = self.worker.draining.get() && self.worker.pacer.is_open();
        if now_ns >= to_ns && !goes_on {
            return false;
        }
        while self.starts.len() < depth as usize
            && let Some(intended_ns) = self.take_start(now_ns)
        {
            self.starts.push(Start {
                intended_ns,
                ready_ns: intended_ns,
            });
        }
        let Some(last) = self.starts.last() else {
            return false;
        };
        let due_ns = last.intended_ns;
        let ready_ns = self.free_ns.max(due_ns);
        self.starts
            .iter_mut()
            .for_each(|start| start.ready_ns = ready_ns);
        self.starts.reverse();
        self.show_starts();
        if due_ns > now_ns {
            self.worker.backlog.is_empty_at(now_ns);
            self.timer.until(due_ns).await;
        }
        true
    }

    /// Lets the worker see which starts were taken.
    fn show_starts(&self) {
        let first = self.starts.last();
        let activity = &self.activity;
        activity.since_ns.set(first.map(|start| start.intended_ns));
        // Those of a closed load begin together.
        if self.worker.pacer.is_open()
            && let [later @ .., _] = self.starts.as_slice()
            && !later.is_empty()
        {
            let mut shown = activity.later.borrow_mut();
            shown.clear();
            shown.extend(later.iter().map(|start| start.intended_ns));
        }
    }

    /// Takes a start from the schedule.
    fn take_start(&self, now_ns: u64) -> Option<u64> {
        let begin_ns = self.worker.begin_ns.get();
        match self.worker.pacer.take(now_ns - begin_ns) {
            Next::Nothing => None,
            Next::Now => Some(now_ns),
            Next::At(at_ns) => Some(begin_ns.saturating_add(at_ns)),
        }
    }

    /// The start of the next exchange: the schedule's, or `now_ns` if the iteration has used up
    /// its own.
    pub(crate) fn next_start(&mut self, now_ns: u64) -> Start {
        self.starts.pop().unwrap_or_else(|| {
            self.worker.suspend_coalescing();
            Start {
                intended_ns: now_ns,
                ready_ns: now_ns,
            }
        })
    }

    /// What the iteration has not sent yet had to wait for what was done before: in a closed load
    /// it starts now, in an open one it could not before the user was free.
    ///
    /// [`send`](Self::send) and [`pause`](Self::pause) end with it. A behaviour that takes its time
    /// to make up a request calls it before it sends that, so that a closed load does not count it
    /// in the service time. In an open load it remains lateness.
    pub fn put_off_starts(&mut self) {
        if self.starts.is_empty() {
            return;
        }
        let now_ns = self.worker.host.now_ns();
        for start in &mut self.starts {
            if !self.worker.pacer.is_open() {
                start.intended_ns = now_ns;
            }
            start.ready_ns = start.intended_ns.max(self.free_ns);
        }
    }

    /// Gives up a connection to another endpoint where one more would be too many.
    pub(crate) fn make_room(&mut self) {
        let most = self.worker.most_kept;
        if self.connections.len() <= most {
            return;
        }
        let mut kept = self
            .connections
            .iter_mut()
            .filter(|slot| slot.open.is_some());
        let given_up = kept.next();
        if kept.count() + 1 >= most
            && let Some(slot) = given_up
        {
            slot.open = None;
        }
    }

    pub(crate) fn slot(&mut self, endpoint: usize) -> &mut Slot<H> {
        if self.connections.len() <= endpoint {
            self.connections.resize_with(endpoint + 1, Slot::default);
        }
        &mut self.connections[endpoint]
    }
}

impl<H: Host> std::fmt::Debug for User<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User")
            .field("activity", &self.activity)
            .finish_non_exhaustive()
    }
}
