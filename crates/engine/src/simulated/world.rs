//! A simulated world: a server, the network and the workers of a plan, run to their end.

use super::in_parts::InParts;
use super::plans::MS;
use super::ran::Ran;
use super::server::{Reply, Script, Seen, Server};
use crate::behaviour::Scenario;
use crate::control::{Handle, TakeOver};
use crate::event::{Detail, Event};
use crate::http2::http2_config;
use crate::launch::{Group, Launch, run_groups};
use crate::lost::WorkerFailure;
use crate::merger::Merger;
use crate::prepare::{Prepared, series_of};
use crate::report::Report;
use crate::worker;
use crate::written_request::WrittenRequest;
use loadline_metrics::SeriesId;
use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Address, Host, Sim, Task};
use loadline_record::{Exchange, Model};
use loadline_schedule::Stripe;
use loadline_transport::Endpoint;
use loadline_wire::h2;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The time in transit of a byte, by default.
pub(crate) const LATENCY: u64 = MS;
/// The time from the moment when the first worker begins to run to the begin of the load.
pub(crate) const HEAD_START: u64 = 2 * MS;
/// The time by which each worker begins to run later than the previous one, so that they do not all
/// read the clock at the same instants.
pub(crate) const STAGGER: u64 = MS / 10;

/// The configuration of a simulated run.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) latency_ns: u64,
    pub(crate) interval_ns: u64,
    /// The number of addresses of the first request's host.
    pub(crate) doors: u16,
    /// The most bytes that an operation moves.
    pub(crate) cut_up: Option<usize>,
    /// The most bytes in transit or unread.
    pub(crate) window: Option<usize>,
    /// The silence after which the server closes a connection.
    pub(crate) idle_ns: Option<u64>,
    /// The number of connections beyond which the server neither accepts nor refuses more.
    pub(crate) most_accepted: usize,
    /// True if the server answers a request when its head has arrived.
    pub(crate) hasty: bool,
    /// The number of streams that the server allows per connection of HTTP/2.
    pub(crate) most_streams: Option<u32>,
    /// The highest number of a stream.
    pub(crate) last_stream: Option<u32>,
    /// True if its users send their planned requests.
    sends: bool,
    script: Rc<Script>,
    incidents: Vec<Incident>,
    /// The takeovers with which further workers join, one each.
    joining: Vec<TakeOver>,
    on_interval: Rc<OnInterval>,
}

/// The time by which a worker that joins is there, and all receive what its share is, before it has
/// it.
const JOIN_LEAD: u64 = 150 * MS;

/// An action and its instant, in nanoseconds from the load's begin.
type Incident = (u64, Box<dyn FnOnce(&Hands)>);

/// An action for each interval that a worker, given by its number, reports.
type OnInterval = dyn Fn(&Hands, usize);

/// The objects that an incident can change.
pub(crate) struct Hands {
    pub(crate) sim: Sim,
    /// The begin of the load.
    begin_ns: Rc<Cell<u64>>,
    pub(crate) handle: Handle,
    pub(crate) server: Rc<Server>,
    /// The workers whose reports are lost.
    lost: RefCell<BTreeSet<u32>>,
    /// The starts of closed loads that each worker has reported, by its number and that of the
    /// scenario.
    begun: RefCell<BTreeMap<(u32, usize), u64>>,
}

impl Hands {
    /// Loses the reports of a worker from now on.
    pub(crate) fn lose(&self, worker: u32) {
        self.lost.borrow_mut().insert(worker);
    }

    /// Returns the starts of closed loads that these workers have reported, by scenario.
    pub(crate) fn begun(&self, workers: Range<u32>, scenarios: usize) -> Vec<u64> {
        let begun = self.begun.borrow();
        let of = |scenario| {
            let known = workers.clone().map(|worker| begun.get(&(worker, scenario)));
            known.flatten().sum()
        };
        (0..scenarios).map(of).collect()
    }
}

impl World {
    /// Creates a world in which the server answers at once.
    pub(crate) fn new(plan: Plan) -> Self {
        World {
            plan,
            latency_ns: LATENCY,
            interval_ns: 1_000 * MS,
            doors: 1,
            cut_up: None,
            window: None,
            idle_ns: None,
            most_accepted: usize::MAX,
            hasty: false,
            most_streams: None,
            last_stream: None,
            sends: true,
            script: Rc::new(|_| Reply::ok()),
            incidents: Vec::new(),
            joining: Vec::new(),
            on_interval: Rc::new(|_, _| ()),
        }
    }

    /// Sets the server's reaction to each request.
    pub(crate) fn script(self, script: impl Fn(&Seen) -> Reply + 'static) -> Self {
        let script = Rc::new(script);
        World { script, ..self }
    }

    /// Sets the time that the server takes for each response.
    pub(crate) fn serves_in(self, service_ns: u64) -> Self {
        self.script(move |_| Reply::ok().after(service_ns))
    }

    /// Adds an action at this instant, in nanoseconds from the load's begin.
    pub(crate) fn at(mut self, at_ns: u64, incident: impl FnOnce(&Hands) + 'static) -> Self {
        self.incidents.push((at_ns, Box::new(incident)));
        self
    }

    /// Adds a worker that joins by this takeover, which names it.
    pub(crate) fn joins(mut self, takeover: TakeOver) -> Self {
        self.joining.push(takeover);
        self
    }

    /// Removes all incidents.
    pub(crate) fn without_incidents(mut self) -> Self {
        self.incidents.clear();
        self
    }

    /// Sets an action for each interval that a worker, given by its number, reports.
    pub(crate) fn on_interval(self, act: impl Fn(&Hands, usize) + 'static) -> Self {
        let on_interval = Rc::new(act);
        World {
            on_interval,
            ..self
        }
    }

    /// Runs the plan's own requests, in all its scenarios.
    pub(crate) fn run(self) -> Ran {
        let parts = self.plan.parts();
        self.run_groups(parts, async |host, prepared, stripe, tell| {
            Launch::requests(&prepared.plan)
                .set_up(host, prepared, stripe, tell)
                .await
        })
    }

    /// Runs the plan with the scenario of each worker.
    pub(crate) fn run_scenario<S: Scenario<Sim>>(
        self,
        scenario: impl Fn(&Arc<Prepared>, Stripe) -> S,
    ) -> Ran {
        let parts = vec![self.plan.clone()];
        self.run_groups(parts, async |host, prepared, stripe, tell| {
            let scenario = scenario(prepared, stripe);
            let ready = worker::prepare(host, prepared, stripe, scenario, tell).await;
            Box::new(ready) as Box<dyn Group>
        })
    }

    /// Runs users that send nothing, so that no invariants of requests are checked.
    pub(crate) fn run_sending_nothing<S: Scenario<Sim>>(mut self, scenario: S) -> Ran {
        self.sends = false;
        let scenario = Cell::new(Some(scenario));
        self.run_scenario(|_, _| scenario.take().expect("there is one worker"))
    }

    /// Runs the groups of users that are set up for each part of the plan on each worker.
    fn run_groups(
        mut self,
        parts: Vec<Plan>,
        set_up: impl AsyncFn(Sim, &Arc<Prepared>, Stripe, Box<dyn Fn(Report)>) -> Box<dyn Group>,
    ) -> Ran {
        let endpoints = self.endpoints();
        let hands = self.hands(addresses(&endpoints));
        let sim = &hands.sim;
        let is_alone = parts.len() == 1;
        let prepared = parts.iter().enumerate().map(|(scenario, part)| {
            let prepared = prepared(part, endpoints.clone(), self.interval_ns);
            let last_stream = self.last_stream.unwrap_or(prepared.http2.last_stream);
            let http2 = h2::Config {
                last_stream,
                ..prepared.http2
            };
            Arc::new(Prepared {
                scenario,
                is_alone,
                http2,
                ..prepared
            })
        });
        let prepared: Vec<_> = prepared.collect();
        let joining = std::mem::take(&mut self.joining);
        let more = joining.len() as u32;
        let told = Reports::new(&self.plan, more, Rc::clone(&self.on_interval));
        let told = Rc::new(told);
        sim.run(async {
            let mut ready = Vec::new();
            for index in 0..self.plan.threads + more {
                let of = self.plan.threads;
                let stripe = Stripe { index, of };
                let mut groups = Vec::new();
                for (scenario, prepared) in prepared.iter().enumerate() {
                    let tell = told.listener(&hands, index as usize, scenario);
                    groups.push(set_up(sim.clone(), prepared, stripe, tell).await);
                }
                ready.push(groups);
            }
            hands.begin_ns.set(sim.now_ns() + HEAD_START);
            let _incidents = self.spawn_incidents(&hands);
            let joiners = ready.split_off(self.plan.threads as usize);
            let joined = joiners.into_iter().zip(joining).map(|(groups, takeover)| {
                let zero_ns = self.plan.warmup.as_nanos() as u64;
                join(groups, takeover, zero_ns, &hands, &told)
            });
            let joined: Vec<Task> = joined.collect();
            run_all(ready, &hands).await;
            for worker in joined {
                worker.await;
            }
        });
        // Tasks own the world, which owns tasks: let them all end.
        hands.server.down();
        sim.run(sim.timer().until(sim.now_ns() + 10 * MS));
        told.ran(&hands.server, self.sends)
    }

    /// Creates the configured simulated loop, with its server.
    fn hands(&self, addresses: Vec<SocketAddr>) -> Rc<Hands> {
        let sim = Sim::new(self.plan.seed, self.latency_ns);
        if let Some(most) = self.cut_up {
            sim.cut_up(most);
        }
        if let Some(bytes) = self.window {
            sim.set_window(bytes);
        }
        let begin_ns = Rc::new(Cell::new(0));
        let server = Server::start(&sim, &begin_ns, addresses, Rc::clone(&self.script));
        server.idle_ns.set(self.idle_ns);
        server.most_accepted.set(self.most_accepted);
        server.hasty.set(self.hasty);
        let is_http2 = self.plan.connection.http == HttpVersion::V2;
        server.is_http2.set(is_http2);
        server.most_streams.set(self.most_streams);
        Rc::new(Hands {
            sim,
            begin_ns,
            handle: Handle::new(),
            server,
            lost: RefCell::default(),
            begun: RefCell::default(),
        })
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for request in &self.plan.requests {
            if !endpoints.iter().any(|known| known.serves(&request.url)) {
                endpoints.push(Endpoint::resolve(&request.url, &self.plan.connection).unwrap());
            }
        }
        for door in 1..self.doors {
            let address = SocketAddr::from(([10, 0, 0, 1], 8_000 + door));
            endpoints[0].addresses.push(Address::Ip(address));
        }
        endpoints
    }

    fn spawn_incidents(&mut self, hands: &Rc<Hands>) -> Vec<Task> {
        let spawn = |(at_ns, incident): Incident| {
            let hands = Rc::clone(hands);
            hands.sim.clone().spawn(async move {
                let at_ns = hands.begin_ns.get() + at_ns;
                hands.sim.timer().until(at_ns).await;
                incident(&hands);
            })
        };
        self.incidents.drain(..).map(spawn).collect()
    }
}

fn prepared(plan: &Plan, endpoints: Vec<Endpoint>, interval_ns: u64) -> Prepared {
    let (series, has_series, ids) = series_of(plan).unwrap();
    let written = |(request, id): (&loadline_plan::Request, SeriesId)| {
        let endpoint = endpoints
            .iter()
            .position(|known| known.serves(&request.url));
        WrittenRequest::new(request, endpoint.unwrap(), id, &plan.connection).unwrap()
    };
    Prepared {
        requests: plan.requests.iter().zip(ids).map(written).collect(),
        list: None,
        series,
        has_series,
        plan: plan.clone(),
        tls: None,
        http2: http2_config(&plan.connection),
        detail: Detail {
            exchanges: true,
            slow: false,
            error_bodies: false,
            parts: false,
        },
        interval_ns,
        most_kept: usize::MAX,
        most_lingering: u32::MAX,
        endpoints,
        left_out: Vec::new(),
        scenario: 0,
        is_alone: true,
    }
}

fn addresses(endpoints: &[Endpoint]) -> Vec<SocketAddr> {
    let all = endpoints.iter().flat_map(|endpoint| &endpoint.addresses);
    all.map(|address| match address {
        Address::Ip(address) => *address,
        Address::Unix(_) => panic!("the simulated network has IP addresses only"),
    })
    .collect()
}

/// Runs a worker that joins.
fn join(
    groups: Vec<Box<dyn Group>>,
    takeover: TakeOver,
    zero_ns: u64,
    hands: &Rc<Hands>,
    told: &Rc<Reports>,
) -> Task {
    let (own, told) = (Rc::clone(hands), Rc::clone(told));
    hands.sim.spawn(async move {
        let begin_ns = own.begin_ns.get();
        let told_ns = begin_ns + takeover.at_ns - JOIN_LEAD;
        own.sim.timer().until(told_ns).await;
        told.join(takeover.joined.start, takeover.at_ns - zero_ns);
        own.handle.take_over(takeover);
        run_groups(groups, begin_ns, &own.handle).await;
    })
}

async fn run_all(ready: Vec<Vec<Box<dyn Group>>>, hands: &Rc<Hands>) {
    let mut workers = Vec::new();
    for (index, groups) in ready.into_iter().enumerate() {
        let own = Rc::clone(hands);
        workers.push(hands.sim.spawn(async move {
            let begin_ns = own.begin_ns.get();
            let from_ns = begin_ns - HEAD_START + index as u64 * STAGGER;
            own.sim.timer().until(from_ns).await;
            run_groups(groups, begin_ns, &own.handle).await;
        }));
    }
    for worker in workers {
        worker.await;
    }
}

/// The reports of the workers.
struct Reports {
    merger: RefCell<Merger>,
    /// The same reports, as if processes had the workers.
    in_parts: InParts,
    /// The exchanges of each scenario on each worker, the scenarios of a worker side by side.
    logs: RefCell<Vec<Vec<Exchange>>>,
    /// The model of each scenario's load.
    models: Vec<Model>,
    on_interval: Rc<OnInterval>,
}

impl Reports {
    fn new(plan: &Plan, joining: u32, on_interval: Rc<OnInterval>) -> Self {
        let parts = plan.parts();
        let workers = (plan.threads + joining) as usize;
        Reports {
            on_interval,
            merger: RefCell::new(Merger::new(plan)),
            in_parts: InParts::new(plan, joining),
            logs: RefCell::new(vec![Vec::new(); workers * parts.len()]),
            models: parts
                .iter()
                .map(|part| Model::of(&part.load.shape))
                .collect(),
        }
    }

    fn listener(
        self: &Rc<Self>,
        hands: &Rc<Hands>,
        worker: usize,
        scenario: usize,
    ) -> Box<dyn Fn(Report)> {
        let (told, hands) = (Rc::clone(self), Rc::clone(hands));
        let log = worker * self.models.len() + scenario;
        let counted = Cell::new(0);
        Box::new(move |report| match report {
            _ if hands.lost.borrow().contains(&(worker as u32)) => {
                let failure = WorkerFailure::Stuck { worker };
                told.take(worker, scenario, Report::Lost(failure));
            }
            Report::Log(exchanges) => told.logs.borrow_mut()[log].extend(exchanges),
            report => {
                if let Report::Interval(interval) = &report {
                    let mut begun = hands.begun.borrow_mut();
                    *begun.entry((worker as u32, scenario)).or_default() += interval.begun;
                    drop(begun);
                    let snapshot = &interval.snapshot;
                    let ended = snapshot.counts.answered + snapshot.counts.failed;
                    counted.set(counted.get() + ended);
                    let logged = told.logs.borrow()[log].len() as u64;
                    assert_eq!(
                        logged,
                        counted.get(),
                        "all that is counted is logged by then"
                    );
                    (told.on_interval)(&hands, worker);
                }
                told.take(worker, scenario, report);
            }
        })
    }

    fn take(&self, worker: usize, scenario: usize, report: Report) {
        self.in_parts.take(worker, scenario, report.clone());
        self.merger.borrow_mut().take(worker, scenario, report);
    }

    /// Has a worker join, whose intervals count from this instant on.
    fn join(&self, worker: u32, from_ns: u64) {
        let workers = worker..worker + 1;
        self.in_parts.join(workers.clone(), from_ns);
        let report = Report::Joined { workers, from_ns };
        self.merger.borrow_mut().take(worker as usize, 0, report);
    }

    fn ran(&self, server: &Server, sends: bool) -> Ran {
        let mut merger = self.merger.borrow_mut();
        let events: Vec<Event> = std::iter::from_fn(|| merger.event()).collect();
        self.in_parts.assert_merged(&events);
        let ran = Ran::new(events, self.logs.take(), server);
        if sends {
            ran.assert_invariants(&self.models);
        }
        ran
    }
}
