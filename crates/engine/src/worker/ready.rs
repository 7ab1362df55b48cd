//! Setting up a worker: its connections are dialled before the load begins.

use super::backlog::Backlog;
use super::extra_users::ExtraUsers;
use super::free_users::FreeUsers;
use super::{LOG_BATCH, Worker};
use crate::behaviour::Scenario;
use crate::coalescing::OpenLoadCoalescing;
use crate::error_bodies::ErrorBodies;
use crate::exchange::establish_ahead;
use crate::http2::Http2Pool;
use crate::lingering::Lingering;
use crate::network::Network;
use crate::not_due::NotDueCounter;
use crate::pacer::{Pacer, most_users, nanoseconds, share, starts_of};
use crate::pool::OpenConnection;
use crate::prepare::Prepared;
use crate::report::Report;
use crate::sampling::Sampling;
use crate::shared_pool::SharedPool;
use loadline_plan::{Clock, HttpVersion, Part, Plan, Shape};
use loadline_reactor::{Address, Host, Task};
use loadline_record::{Model, Recorder};
use loadline_schedule::Stripe;
use loadline_transport::{Dial, DialError, Dialler, Endpoint};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// The number of connections that a worker dials at the same time before the run. More would only
/// queue up at the server, whose queue of new connections is short.
const DIAL_AT_ONCE: u32 = 64;
/// The number of failed dials after which dialling stops if no connection came up. If some came up,
/// dialling stops after as many consecutive failures as are dialled at the same time; or after a
/// dial that timed out, if no connection came up in the second half of its time.
const HOPELESS: u32 = 8;

/// A worker whose connections are open and whose load has not begun.
pub(crate) struct Ready<H: Host, S> {
    pub(super) worker: Rc<Worker<H>>,
    pub(super) scenario: S,
    pub(super) stripe: Stripe,
    pub(super) users: u32,
    pub(super) connections: VecDeque<Ahead<H>>,
    pub(super) resolve_times: Vec<Duration>,
    pub(super) interval_ns: u64,
    /// The number of the scenario in the plan, from 0.
    pub(super) number: usize,
    /// The error of the first dial that failed.
    pub(crate) first_error: Option<DialError>,
}

impl<H: Host, S> Ready<H, S> {
    /// Returns the number of open connections.
    pub(crate) fn connected(&self) -> usize {
        self.connections.len()
    }
}

/// A connection dialled ahead of the run.
pub(super) struct Ahead<H: Host> {
    pub(super) endpoint: usize,
    /// The connection, if it is for one user alone.
    pub(super) open: Option<Box<OpenConnection<H>>>,
    pub(super) dial: Dial,
}

/// Sets up a worker and dials its users' connections. If a dial fails, its user dials again when
/// the run has begun.
pub(crate) async fn prepare<H: Host, S: Scenario<H>>(
    host: H,
    prepared: &Prepared,
    stripe: Stripe,
    scenario: S,
    send: Box<dyn Fn(Report)>,
) -> Ready<H, S> {
    let plan = &prepared.plan;
    let own = of_connections(stripe);
    let users = share(u64::from(most_users(plan)), own) as u32;
    let most = share(u64::from(plan.load.max_users), own) as u32;
    let pacer = Pacer::new(plan, stripe);
    let network = new_network(host, prepared, stripe, &scenario, pacer.is_open());
    let mut worker = new_worker(network, pacer, prepared, most.max(users), send);
    if worker.pacer.is_open() {
        worker.closed_loop_slots = Cell::new(users);
    }
    let worker = Rc::new(worker);
    let has_target = !prepared.endpoints.is_empty();
    let is_ahead = plan.connection.keepalive && plan.connection.ahead && has_target;
    let ahead = if is_ahead {
        let most = shared(plan, stripe).unwrap_or(u32::MAX);
        let users = users.div_ceil(plan.connection.streams);
        users.min(starts(plan, own)).min(most)
    } else {
        0
    };
    let dialling = dial_ahead(&worker.network, prepared.endpoints.len(), ahead).await;
    // The names were resolved once for all workers: the first worker reports the times.
    let reported = if stripe.index == 0 {
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
        resolve_times: reported
            .iter()
            .filter_map(|endpoint| endpoint.resolve_time)
            .collect(),
        interval_ns: prepared.interval_ns,
        number: prepared.scenario,
        first_error: dialling.first_error.take(),
    }
}

/// Returns the tags of a scenario's series: without its name if it is the only scenario.
fn series_tags(part: &Part, is_alone: bool) -> Option<BTreeMap<String, String>> {
    match is_alone {
        true => (!part.tags.is_empty()).then(|| part.tags.clone()),
        false => Some(part.series_tags()),
    }
}

/// Returns the share of a worker in the plan's connections. One that joins while the run lasts has
/// as many in addition as one of those from the beginning.
fn of_connections(stripe: Stripe) -> Stripe {
    Stripe {
        index: stripe.index % stripe.of,
        ..stripe
    }
}

/// Returns the number of connections that the users of a worker share, if they do: at least one.
fn shared(plan: &Plan, stripe: Stripe) -> Option<u32> {
    let all = plan.connection.shared?;
    Some(share(u64::from(all.get()), of_connections(stripe)).max(1) as u32)
}

/// Returns the most users of a worker that can have something to send: a run of few requests needs
/// no more connections than that. A warm-up has further requests, so it sets no limit.
fn starts(plan: &Plan, stripe: Stripe) -> u32 {
    match plan.request_limit {
        Some(limit) if plan.warmup.is_zero() => starts_of(limit, plan, stripe)
            .try_into()
            .unwrap_or(u32::MAX),
        _ => u32::MAX,
    }
}

/// Returns the run's endpoints, all of them at this address if there is one.
fn endpoints(prepared: &Prepared, address: Option<SocketAddr>) -> Vec<Endpoint> {
    let mut endpoints = prepared.endpoints.clone();
    if let Some(address) = address {
        let everywhere = |endpoint: &mut Endpoint| endpoint.addresses = vec![Address::Ip(address)];
        endpoints.iter_mut().for_each(everywhere);
    }
    endpoints
}

fn recorder<H: Host, S: Scenario<H>>(prepared: &Prepared, scenario: &S) -> Recorder {
    let mut recorder = Recorder::new(Model::of(&prepared.plan.load.shape));
    if prepared.has_series || scenario.names_requests() {
        recorder = recorder.with_series(prepared.series.clone());
    }
    match scenario.metrics() {
        Some(metrics) => recorder.with_metrics(metrics),
        None => recorder,
    }
}

fn new_network<H: Host, S: Scenario<H>>(
    host: H,
    prepared: &Prepared,
    stripe: Stripe,
    scenario: &S,
    is_open: bool,
) -> Network<H> {
    let plan = &prepared.plan;
    let settings = &plan.connection;
    let endpoints = endpoints(prepared, scenario.address());
    let are_stamped = settings.clock == Clock::Kernel && endpoints.iter().all(is_tcp);
    let (first, tls) = (stripe.index as usize, prepared.tls.as_ref());
    let keeps_bodies = prepared.detail.error_bodies;
    Network {
        dialler: Dialler::new(host.clone(), endpoints, settings, tls, first),
        host,
        recorder: RefCell::new(recorder(prepared, scenario)),
        zero_ns: Cell::new(u64::MAX),
        heads: RefCell::default(),
        keepalive: settings.keepalive,
        shared: shared(plan, stripe).map(SharedPool::new),
        http2: (settings.http == HttpVersion::V2)
            .then(|| Rc::new(Http2Pool::new(prepared.http2, settings.streams))),
        negotiates: settings.negotiates_http,
        http1_endpoints: RefCell::default(),
        most_kept: prepared.most_kept,
        lingering: Lingering::at_most(prepared.most_lingering),
        backs_off: scenario.backs_off() && !is_open,
        timeout_ns: nanoseconds(settings.timeout),
        awaits_late: settings.awaits_late,
        gathers_batches: settings.gathers_batches && are_stamped,
        sampling: Sampling::new(settings.kernel_timestamps),
        error_bodies: keeps_bodies.then(|| ErrorBodies::of(plan)),
        looks_closely: keeps_bodies || settings.kernel_timestamps.is_some(),
        coalescing: OpenLoadCoalescing::new(are_stamped),
        coalesces_arrivals: is_open && prepared.is_alone,
    }
}

fn new_worker<H: Host>(
    network: Network<H>,
    pacer: Pacer,
    prepared: &Prepared,
    most_users: u32,
    send: Box<dyn Fn(Report)>,
) -> Worker<H> {
    let plan: &Plan = &prepared.plan;
    Worker {
        network: Rc::new(network),
        series_tags: plan
            .part
            .as_deref()
            .and_then(|part| series_tags(part, prepared.is_alone)),
        pacer,
        paces_itself: plan.load.shape == Shape::Paced,
        drain_ns: nanoseconds(plan.connection.drain),
        drains_to_age: plan.connection.drains_to_age,
        begin_ns: Cell::new(0),
        stopping: Cell::new(false),
        draining: Cell::new(false),
        is_cut_off: Cell::new(false),
        iterations: Cell::new(0),
        backlog: Backlog::default(),
        not_due: NotDueCounter::default(),
        free_users: FreeUsers::default(),
        extra_users: ExtraUsers::default(),
        users: Cell::new(0),
        resting: Cell::new(0),
        thinking: Cell::new(0),
        most_users,
        closed_loop_slots: Cell::new(most_users),
        is_alone: prepared.is_alone,
        supervisor: RefCell::new(None),
        is_tally_due: Cell::new(false),
        log: prepared
            .detail
            .exchanges
            .then(|| RefCell::new(Vec::with_capacity(LOG_BATCH))),
        slowest: prepared.detail.slow.then(RefCell::default),
        send,
    }
}

fn is_tcp(endpoint: &Endpoint) -> bool {
    let mut addresses = endpoint.addresses.iter();
    addresses.all(|address| matches!(address, Address::Ip(_)))
}

/// Dials a connection for each user, some at the same time, to the endpoints in turn.
async fn dial_ahead<H: Host>(
    network: &Rc<Network<H>>,
    endpoints: usize,
    users: u32,
) -> Rc<Dialling<H>> {
    let dialling = Rc::new(Dialling {
        endpoints,
        users: users as usize,
        begun: Cell::new(0),
        failed: Cell::new(0),
        failed_in_a_row: Cell::new(0),
        last_up_ns: Cell::new(0),
        given_up: Cell::new(false),
        up: RefCell::default(),
        first_error: RefCell::new(None),
    });
    let diallers: Vec<Task> = (0..users.min(DIAL_AT_ONCE))
        .map(|_| {
            network
                .host
                .spawn(dial_some(Rc::clone(network), Rc::clone(&dialling)))
        })
        .collect();
    for dialler in diallers {
        dialler.await;
    }
    dialling
}

struct Dialling<H: Host> {
    endpoints: usize,
    pub(super) users: usize,
    pub(super) begun: Cell<usize>,
    pub(super) failed: Cell<u32>,
    failed_in_a_row: Cell<u32>,
    /// The instant at which the last connection came up.
    last_up_ns: Cell<u64>,
    /// True if a dial timed out, and no connection came up in the second half of its time.
    given_up: Cell<bool>,
    pub(super) up: RefCell<Vec<Ahead<H>>>,
    first_error: RefCell<Option<DialError>>,
}

impl<H: Host> Dialling<H> {
    /// Returns the endpoint of the next connection; `None` if all are begun or nothing responds.
    pub(super) fn next(&self) -> Option<usize> {
        let index = self.begun.get();
        let hopeless = self.failed.get() >= HOPELESS && self.up.borrow().is_empty();
        let over = self.given_up.get() || self.failed_in_a_row.get() >= DIAL_AT_ONCE;
        if index == self.users || hopeless || over {
            return None;
        }
        self.begun.set(index + 1);
        Some(index % self.endpoints)
    }
}

async fn dial_some<H: Host>(network: Rc<Network<H>>, dialling: Rc<Dialling<H>>) {
    while let Some(endpoint) = dialling.next() {
        let begun_ns = network.host.now_ns();
        match open_ahead(&network, endpoint, begun_ns).await {
            Ok((open, dial)) => {
                dialling.failed_in_a_row.set(0);
                dialling.last_up_ns.set(network.host.now_ns());
                dialling.up.borrow_mut().push(Ahead {
                    endpoint,
                    open,
                    dial,
                });
            }
            Err(error) => {
                dialling.failed.set(dialling.failed.get() + 1);
                let now_ns = network.host.now_ns();
                let none_came = now_ns - dialling.last_up_ns.get() >= (now_ns - begun_ns) / 2;
                if none_came && error.error.kind() == io::ErrorKind::TimedOut {
                    dialling.given_up.set(true);
                }
                let in_a_row = &dialling.failed_in_a_row;
                in_a_row.set(in_a_row.get() + 1);
                dialling.first_error.borrow_mut().get_or_insert(error);
            }
        }
    }
}

/// Opens a connection, to the point where a request can be sent.
async fn open_ahead<H: Host>(
    network: &Rc<Network<H>>,
    endpoint: usize,
    begun_ns: u64,
) -> Result<(Option<Box<OpenConnection<H>>>, Dial), DialError> {
    let (connection, dial) = network.dialler.dial_ahead(endpoint).await?;
    if network.http2.is_none() {
        return Ok((Some(OpenConnection::new(connection)), dial));
    }
    let allowed_ns = nanoseconds(network.dialler.settings().connect_timeout);
    let deadline_ns = begun_ns.saturating_add(allowed_ns);
    establish_ahead(network, endpoint, connection, deadline_ns).await?;
    Ok((None, dial))
}
