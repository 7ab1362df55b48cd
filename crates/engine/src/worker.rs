//! A worker: one event loop, its users, and the supervisor that takes snapshots and ends the run.

use crate::behaviour::Scenario;
use crate::control::{Handle, Order};
use crate::event::Tick;
use crate::lap::Laps;
use crate::linger::Linger;
use crate::pacer::{Pacer, most_users, nanoseconds, share};
use crate::prepare::Prepared;
use crate::sampling::Sampling;
use crate::ticker::Ticker;
use crate::user::{Activity, Live, User};
use loadline_plan::Plan;
use loadline_reactor::{Address, Host, Task, Timer};
use loadline_record::{Exchange, Model, Recorder, Snapshot, Unfinished};
use loadline_schedule::Stripe;
use loadline_transport::{Dial, DialError, Dialler, Endpoint};
use loadline_wire::HeadMemo;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// How often a worker looks whether it is to stop.
const TICK_NS: u64 = 100_000_000;
/// Connections that a worker dials at the same time before the run. More would only queue up at
/// the server, whose queue of new connections is short.
const DIAL_AT_ONCE: u32 = 64;
/// If so many dials fail before one comes up, nothing answers there.
const HOPELESS: u32 = 8;
/// Exchanges that are logged in one message.
const LOG_BATCH: usize = 4096;

/// What a worker tells while the run lasts.
pub(crate) enum Report {
    Interval {
        snapshot: Box<Snapshot>,
        /// Until when the schedule was followed: the interval's end, or when the run was stopped.
        /// Nanoseconds from the begin of the load.
        followed_ns: u64,
    },
    /// The ticks of an interval, which follows.
    Ticks(Vec<Tick>),
    Log(Vec<Exchange>),
    /// The last word of a worker.
    Done(Done),
}

/// How a worker ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// All its users had run to their end, as opposed to being cut off.
    pub(crate) complete: bool,
    pub(crate) stopped: bool,
    pub(crate) unfinished: Unfinished,
}

/// What the users of one worker share.
pub(crate) struct Worker<H: Host> {
    pub(crate) host: H,
    pub(crate) dialler: Dialler<H>,
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) pacer: Pacer,
    /// The last head of an answer: the next one is often the same.
    pub(crate) heads: RefCell<HeadMemo>,
    pub(crate) keepalive: bool,
    /// Whether users wait after a dial that failed.
    pub(crate) backs_off: bool,
    pub(crate) timeout_ns: u64,
    /// Which exchanges are split by the kernel's clock.
    pub(crate) sampling: Sampling,
    /// When the load began, on the host's clock.
    pub(crate) begin_ns: Cell<u64>,
    /// When the measured part begins: the zero of everything recorded.
    pub(crate) zero_ns: Cell<u64>,
    /// Nothing new is begun any more: the run was stopped from outside, or the worker by a user.
    pub(crate) stopping: Cell<bool>,
    /// Iterations that users have begun.
    pub(crate) iterations: Cell<u64>,
    /// Users that live, and the most there may be.
    users: Cell<u32>,
    most_users: u32,
    supervisor: RefCell<Option<Waker>>,
    log: Option<RefCell<Vec<Exchange>>>,
    send: Box<dyn Fn(Report)>,
}

impl<H: Host> Worker<H> {
    /// Tells of an exchange of the measured part.
    #[inline]
    pub(crate) fn record(&self, exchange: &Exchange) {
        self.recorder.borrow_mut().end(exchange);
        if let Some(log) = &self.log {
            let mut log = log.borrow_mut();
            log.push(*exchange);
            if log.len() == LOG_BATCH {
                let batch = std::mem::replace(&mut *log, Vec::with_capacity(LOG_BATCH));
                (self.send)(Report::Log(batch));
            }
        }
    }

    /// Tells of a connection on which more came than its answers' lengths told.
    #[cold]
    pub(crate) fn surplus(&self) {
        if self.host.now_ns() >= self.zero_ns.get() {
            self.recorder.borrow_mut().surplus();
        }
    }

    pub(crate) fn dialled(&self, dial: &Dial) {
        let Dial { connect_ns, tls_ns } = *dial;
        self.recorder
            .borrow_mut()
            .dialled(&loadline_record::Dial { connect_ns, tls_ns });
    }

    /// When an arrival will find no user free, should none become so until then; `None` if there
    /// may be no more users. A free user takes the next arrival at once and waits for it, so one
    /// that nobody has taken is one for which nobody is free.
    fn next_shortage_ns(&self) -> Option<u64> {
        let may_grow = self.users.get() < self.most_users && !self.stopping.get();
        let untaken_ns = may_grow.then(|| self.pacer.first_untaken_ns())??;
        Some(self.begin_ns.get().saturating_add(untaken_ns))
    }

    /// Whether there is nothing left to wait for: a load that has run out of arrivals or users
    /// before its time is over goes on to its end.
    fn is_over(&self) -> bool {
        let for_good = self.stopping.get() || self.pacer.is_spent();
        self.users.get() == 0 && (for_good || self.pacer.end_ns == u64::MAX)
    }

    fn user_ended(&self) {
        self.users.set(self.users.get() - 1);
        if self.users.get() == 0 {
            self.wake_supervisor();
        }
    }

    pub(crate) fn wake_supervisor(&self) {
        if let Some(waker) = &*self.supervisor.borrow() {
            waker.wake_by_ref();
        }
    }
}

/// A worker whose connections are up and whose load has not begun.
pub(crate) struct Ready<H: Host, S> {
    worker: Rc<Worker<H>>,
    scenario: S,
    stripe: Stripe,
    users: u32,
    connections: VecDeque<Ahead<H>>,
    resolve_times: Vec<Duration>,
    interval_ns: u64,
    /// The first dial that failed.
    pub(crate) first_error: Option<DialError>,
}

impl<H: Host, S> Ready<H, S> {
    /// How many connections are up.
    pub(crate) fn connected(&self) -> usize {
        self.connections.len()
    }
}

/// A connection dialled ahead of the run.
struct Ahead<H: Host> {
    endpoint: usize,
    live: Live<H>,
    dial: Dial,
}

/// Sets up a worker and dials its users' connections. One that fails is left to its user, who
/// dials again when the run has begun.
pub(crate) async fn prepare<H: Host, S: Scenario<H>>(
    host: H,
    prepared: &Prepared,
    stripe: Stripe,
    scenario: S,
    send: Box<dyn Fn(Report)>,
) -> Ready<H, S> {
    let plan = &prepared.plan;
    let users = share(u64::from(most_users(plan)), stripe) as u32;
    let most = share(u64::from(plan.load.max_connections), stripe) as u32;
    let endpoints = endpoints(prepared, scenario.address());
    let mut worker = new_worker(host, prepared, endpoints, stripe, most.max(users), send);
    worker.backs_off = scenario.backs_off() && !worker.pacer.is_open();
    let worker = Rc::new(worker);
    let is_ahead = plan.connection.keepalive && plan.connection.ahead;
    let ahead = if is_ahead { users } else { 0 };
    let dialling = dial_ahead(&worker, prepared.endpoints.len(), ahead).await;
    // The names were resolved once for all workers: the first one tells.
    let told = if stripe.index == 0 {
        prepared.endpoints.as_slice()
    } else {
        &[]
    };
    Ready {
        worker,
        scenario,
        stripe,
        users,
        connections: dialling.up.take().into(),
        resolve_times: told
            .iter()
            .filter_map(|endpoint| endpoint.resolve_time)
            .collect(),
        interval_ns: prepared.interval_ns,
        first_error: dialling.first_error.take(),
    }
}

/// The run's endpoints, all of them at this address if there is one.
fn endpoints(prepared: &Prepared, address: Option<SocketAddr>) -> Vec<Endpoint> {
    let mut endpoints = prepared.endpoints.clone();
    if let Some(address) = address {
        let everywhere = |endpoint: &mut Endpoint| endpoint.addresses = vec![Address::Ip(address)];
        endpoints.iter_mut().for_each(everywhere);
    }
    endpoints
}

fn new_worker<H: Host>(
    host: H,
    prepared: &Prepared,
    endpoints: Vec<Endpoint>,
    stripe: Stripe,
    most_users: u32,
    send: Box<dyn Fn(Report)>,
) -> Worker<H> {
    let plan: &Plan = &prepared.plan;
    let first = stripe.index as usize;
    let tls = prepared.tls.as_ref();
    Worker {
        dialler: Dialler::new(host.clone(), endpoints, &plan.connection, tls, first),
        host,
        recorder: RefCell::new(Recorder::new(Model::of(&plan.load.shape))),
        pacer: Pacer::new(plan, stripe),
        heads: RefCell::default(),
        keepalive: plan.connection.keepalive,
        backs_off: true,
        timeout_ns: nanoseconds(plan.connection.timeout),
        sampling: Sampling::new(plan.connection.kernel_timestamps),
        begin_ns: Cell::new(0),
        zero_ns: Cell::new(0),
        stopping: Cell::new(false),
        iterations: Cell::new(0),
        users: Cell::new(0),
        most_users,
        supervisor: RefCell::new(None),
        log: prepared
            .log
            .then(|| RefCell::new(Vec::with_capacity(LOG_BATCH))),
        send,
    }
}

/// Dials a connection for each user, some at the same time, to the endpoints in turn.
async fn dial_ahead<H: Host>(
    worker: &Rc<Worker<H>>,
    endpoints: usize,
    users: u32,
) -> Rc<Dialling<H>> {
    let dialling = Rc::new(Dialling {
        endpoints,
        users: users as usize,
        begun: Cell::new(0),
        failed: Cell::new(0),
        up: RefCell::default(),
        first_error: RefCell::new(None),
    });
    let diallers: Vec<Task> = (0..users.min(DIAL_AT_ONCE))
        .map(|_| {
            worker
                .host
                .spawn(dial_some(Rc::clone(worker), Rc::clone(&dialling)))
        })
        .collect();
    for dialler in diallers {
        dialler.await;
    }
    dialling
}

struct Dialling<H: Host> {
    endpoints: usize,
    users: usize,
    begun: Cell<usize>,
    failed: Cell<u32>,
    up: RefCell<Vec<Ahead<H>>>,
    first_error: RefCell<Option<DialError>>,
}

impl<H: Host> Dialling<H> {
    /// The endpoint of the next connection; `None` if all are begun or nothing answers.
    fn next(&self) -> Option<usize> {
        let index = self.begun.get();
        let hopeless = self.failed.get() >= HOPELESS && self.up.borrow().is_empty();
        if index == self.users || hopeless {
            return None;
        }
        self.begun.set(index + 1);
        Some(index % self.endpoints)
    }
}

async fn dial_some<H: Host>(worker: Rc<Worker<H>>, dialling: Rc<Dialling<H>>) {
    while let Some(endpoint) = dialling.next() {
        match worker.dialler.dial_ahead(endpoint).await {
            Ok((connection, dial)) => {
                let live = Live {
                    connection,
                    served: 0,
                };
                dialling.up.borrow_mut().push(Ahead {
                    endpoint,
                    live,
                    dial,
                });
            }
            Err(error) => {
                dialling.failed.set(dialling.failed.get() + 1);
                dialling.first_error.borrow_mut().get_or_insert(error);
            }
        }
    }
}

/// Runs the load of a worker from `begin_ns` on, to its end.
pub(crate) async fn run<H: Host, S: Scenario<H>>(
    ready: Ready<H, S>,
    begin_ns: u64,
    handle: &Handle,
) {
    let Ready {
        worker,
        scenario,
        stripe,
        users,
        connections,
        interval_ns,
        ..
    } = ready;
    worker.begin_ns.set(begin_ns);
    worker.zero_ns.set(begin_ns + worker.pacer.warmup_ns);
    connections
        .iter()
        .for_each(|ahead| worker.dialled(&ahead.dial));
    for time in ready.resolve_times {
        worker.recorder.borrow_mut().resolved(nanoseconds(time));
    }
    let mut crew = Crew {
        worker,
        scenario,
        stripe,
        connections,
        members: Vec::new(),
        hired: 0,
        dismissed_ns: None,
    };
    for _ in 0..users {
        crew.hire();
    }
    Supervisor::new(crew, interval_ns).watch(handle).await;
}

/// The users of a worker.
struct Crew<H: Host, S> {
    worker: Rc<Worker<H>>,
    scenario: S,
    stripe: Stripe,
    connections: VecDeque<Ahead<H>>,
    members: Vec<Member>,
    hired: u32,
    /// The earliest start that was due when those who had taken it were dismissed.
    dismissed_ns: Option<u64>,
}

struct Member {
    /// Runs as long as this lives.
    _task: Task,
    activity: Rc<Activity>,
}

impl Member {
    fn since_ns(&self) -> Option<u64> {
        self.activity.since_ns.get()
    }
}

impl<H: Host, S: Scenario<H>> Crew<H, S> {
    /// Adds a user, with one of the connections dialled ahead if one is left.
    fn hire(&mut self) {
        let worker = Rc::clone(&self.worker);
        let activity = Rc::new(Activity::default());
        let mut user = User::new(Rc::clone(&worker), Rc::clone(&activity));
        if let Some(Ahead { endpoint, live, .. }) = self.connections.pop_front() {
            user.slot(endpoint).live = Some(live);
        }
        let number = self.stripe.index + self.hired * self.stripe.of;
        let windows = worker.pacer.windows(number);
        let mut behaviour = self.scenario.user();
        worker.users.set(worker.users.get() + 1);
        self.hired += 1;
        let task = self.worker.host.spawn(async move {
            user.live(&mut behaviour, windows).await;
            worker.user_ended();
        });
        self.members.push(Member {
            _task: task,
            activity,
        });
    }

    /// Adds a user if an arrival finds none free.
    fn hire_if_short(&mut self, now_ns: u64) {
        let shortage_ns = self.worker.next_shortage_ns();
        if shortage_ns.is_some_and(|at_ns| at_ns <= now_ns) {
            self.hire();
        }
    }

    /// Lets go of those who wait for a start that will not come.
    fn dismiss_idle(&mut self, now_ns: u64) {
        let is_idle = |member: &mut Member| !member.activity.iterating.get();
        let dismissed: Vec<Member> = self.members.extract_if(.., is_idle).collect();
        let since = dismissed.iter().filter_map(Member::since_ns).min();
        self.dismissed_ns = since.filter(|at_ns| *at_ns <= now_ns);
        self.worker.users.set(self.members.len() as u32);
    }

    /// The earliest start of the measured part that has no end, of those before `now_ns`; one that
    /// nobody has taken must have been due when the run was stopped.
    fn oldest_ns(&self, now_ns: u64, stopped_ns: Option<u64>) -> Option<u64> {
        let worker = &self.worker;
        let taken = self.members.iter().filter_map(Member::since_ns);
        let untaken = worker.pacer.first_unsent_ns();
        let untaken = untaken.map(|at_ns| worker.begin_ns.get().saturating_add(at_ns));
        taken
            .chain(self.dismissed_ns)
            .chain(untaken.filter(|at_ns| stopped_ns.is_none_or(|stopped_ns| *at_ns <= stopped_ns)))
            .filter(|at_ns| (worker.zero_ns.get()..now_ns).contains(at_ns))
            .min()
    }
}

/// Takes a snapshot per interval, adds users that are wanted and ends the run.
struct Supervisor<H: Host, S> {
    crew: Crew<H, S>,
    timer: Timer,
    laps: Laps,
    /// When the laps begin anew: where the measured part does, if that is still to come.
    zero_ns: Option<u64>,
    linger: Linger,
    /// When the time to linger is next set.
    rest_due_ns: u64,
    interval_ns: u64,
    /// When the next snapshot is due.
    boundary_ns: u64,
    ticker: Ticker,
    end_ns: u64,
    /// When the run was stopped from outside, or this worker by one of its users.
    stopped_ns: Option<u64>,
}

impl<H: Host, S: Scenario<H>> Supervisor<H, S> {
    fn new(crew: Crew<H, S>, interval_ns: u64) -> Self {
        let worker = &crew.worker;
        Supervisor {
            timer: worker.host.timer(),
            boundary_ns: worker.zero_ns.get() + interval_ns,
            ticker: Ticker::new(worker.zero_ns.get(), TICK_NS),
            end_ns: worker.begin_ns.get().saturating_add(worker.pacer.end_ns),
            stopped_ns: None,
            laps: Laps::begin(&worker.host),
            zero_ns: (worker.pacer.warmup_ns > 0).then(|| worker.zero_ns.get()),
            linger: Linger::new(worker.begin_ns.get()),
            rest_due_ns: worker.begin_ns.get() + TICK_NS,
            crew,
            interval_ns,
        }
    }

    async fn watch(mut self, handle: &Handle) {
        loop {
            self.wait().await;
            let now_ns = self.now_ns();
            self.crew.hire_if_short(now_ns);
            self.leave_warmup(now_ns);
            self.set_linger(now_ns);
            self.tick(now_ns);
            if self.is_stopped_anew(handle.order()) {
                self.stop(now_ns);
            }
            let over = self.crew.worker.is_over();
            if over || now_ns >= self.end_ns || handle.order() == Order::Abort {
                return self.finish(over, handle.order());
            }
            self.snapshot_intervals(now_ns + 1);
        }
    }

    /// What the worker did with its time while it warmed up is in no figure either.
    fn leave_warmup(&mut self, now_ns: u64) {
        if self.zero_ns.take_if(|zero_ns| *zero_ns <= now_ns).is_some() {
            self.laps = Laps::begin(&self.crew.worker.host);
        }
    }

    fn tick(&mut self, now_ns: u64) {
        let answered = self.crew.worker.recorder.borrow().answered_so_far();
        self.ticker.tick(now_ns, answered);
    }

    /// Lets the loop of a closed load linger as long as its response times allow.
    fn set_linger(&mut self, now_ns: u64) {
        let worker = &self.crew.worker;
        if !worker.pacer.is_open() && now_ns >= self.rest_due_ns {
            let (users, iterations) = (worker.users.get(), worker.iterations.get());
            worker
                .host
                .set_linger(self.linger.observe(now_ns, users, iterations));
            self.rest_due_ns = now_ns + TICK_NS;
        }
    }

    /// Takes the snapshots of the intervals that ended before `before_ns`.
    fn snapshot_intervals(&mut self, before_ns: u64) {
        while self.boundary_ns < before_ns {
            self.snapshot(self.boundary_ns, self.boundary_ns);
            self.boundary_ns += self.interval_ns;
        }
    }

    /// Whether the run was stopped from outside, or this worker by one of its users, and nothing was
    /// done about it yet.
    fn is_stopped_anew(&self, order: Order) -> bool {
        let stopped = order >= Order::Stop || self.crew.worker.stopping.get();
        stopped && self.stopped_ns.is_none()
    }

    /// Begins nothing new.
    fn stop(&mut self, now_ns: u64) {
        self.stopped_ns = Some(now_ns);
        self.crew.worker.stopping.set(true);
        self.crew.dismiss_idle(now_ns);
    }

    /// Waits for the next thing to do, which users may bring forward.
    async fn wait(&mut self) {
        let now_ns = self.now_ns();
        let worker = &self.crew.worker;
        let shortage_ns = worker.next_shortage_ns().unwrap_or(u64::MAX);
        let next_ns = self.boundary_ns.min(self.end_ns).min(now_ns + TICK_NS);
        let next_ns = self.zero_ns.map_or(next_ns, |zero_ns| zero_ns.min(next_ns));
        self.timer.set(Some(next_ns.min(shortage_ns)));
        let timer = &self.timer;
        poll_fn(|cx| {
            *worker.supervisor.borrow_mut() = Some(cx.waker().clone());
            if worker.is_over() || self.is_stopped_anew(Order::Run) {
                return Poll::Ready(());
            }
            timer.poll(cx)
        })
        .await;
    }

    fn now_ns(&self) -> u64 {
        self.crew.worker.host.now_ns()
    }

    /// Hands over what was recorded up to here. The schedule was followed up to `followed_ns`, or
    /// to the stop, whose own instant counts: a start of that instant may have gone out.
    fn snapshot(&mut self, until_ns: u64, followed_ns: u64) {
        let worker = &self.crew.worker;
        let stopped_ns = self.stopped_ns.map_or(u64::MAX, |at_ns| at_ns + 1);
        let followed_ns = followed_ns.min(stopped_ns);
        let until_ns = until_ns.saturating_sub(worker.zero_ns.get());
        let answered = worker.recorder.borrow().answered_so_far();
        (worker.send)(Report::Ticks(self.ticker.end_interval(answered)));
        let mut snapshot = Box::new(worker.recorder.borrow_mut().take(until_ns));
        if let Some(times) = self.laps.end(&worker.host) {
            snapshot.workers.insert(self.crew.stripe.index, times);
        }
        let followed_ns = followed_ns.saturating_sub(worker.begin_ns.get());
        (worker.send)(Report::Interval {
            snapshot,
            followed_ns,
        });
    }

    /// Cuts off what is left, and hands over the rest.
    fn finish(mut self, over: bool, order: Order) {
        let stopped = self.stopped_ns.is_some() && order >= Order::Stop;
        let complete = over && !stopped;
        let now_ns = self.now_ns().min(self.end_ns);
        let worker = Rc::clone(&self.crew.worker);
        let oldest_ns = self.crew.oldest_ns(now_ns, self.stopped_ns);
        let oldest_ns = oldest_ns.map_or(0, |at_ns| now_ns - at_ns);
        self.crew.members.clear();
        self.snapshot_intervals(now_ns);
        self.snapshot(now_ns, self.end_ns.min(now_ns + 1));
        if let Some(log) = &worker.log {
            (worker.send)(Report::Log(log.take()));
        }
        let in_flight = worker.recorder.borrow().in_flight();
        let unfinished = Unfinished {
            in_flight,
            unsent: 0,
            oldest_ns,
        };
        (worker.send)(Report::Done(Done {
            complete,
            stopped,
            unfinished,
        }));
    }
}
