//! k6's scenarios as a plan of the engine.
//!
//! A virtual user is a user of the engine, and an iteration is one pass of its function. Arrivals
//! that find no free user are dropped, as in k6, unless the command line lets them wait.

use loadline_k6_options::{Executor, Scenario, Settings, Stage};
use loadline_plan::{
    AddressPolicy, Arrivals, Connection, Contradiction, EnvironmentProxies, HostRule, Identity,
    IpRange, LateArrivals, Load, Naming, Part, Plan, Rate, Script, Selection, Shape, Tls,
    TlsVersion,
};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// The duration of a scenario without an end: longer than any run.
const ENDLESS: Duration = Duration::from_secs(30 * 24 * 3600);
/// The plan's timeout. It is longer than any request takes, because requests have timeouts of their
/// own.
const NO_TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// The timeout of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The fewest users of a scenario with a rate on each thread, if it has more than one. Each thread
/// has a share of the arrivals, and drops those that find all of its own users busy, although a
/// user of another thread may be free: with so many, this is at most one arrival in fifty.
const USERS_PER_THREAD: u32 = 50;

/// The common settings of all plans of a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanContext<'a> {
    /// The script.
    pub(super) script: &'a Path,
    /// The options other than the load.
    pub(super) settings: &'a Settings,
    /// The cores that may be used, at least 1.
    pub(super) cores: u32,
    /// The number of processes of the load.
    pub(super) processes: u32,
    /// The seed of all random choices.
    pub(super) seed: u64,
    /// The treatment of arrivals that find no free user.
    pub(super) late: LateArrivals,
    /// True if HTTP/2 is used with servers that choose it.
    pub(super) speaks_http2: bool,
    /// The proxies of the environment, if there are any.
    pub(super) proxies: Option<&'a EnvironmentProxies>,
}

impl PlanContext<'_> {
    /// Returns the plan of these scenarios.
    ///
    /// # Errors
    /// If the engine can't run it, or there are more processes than users.
    pub(super) fn of_scenarios(&self, scenarios: &[Scenario]) -> Result<Plan, String> {
        let scenarios: Vec<_> = scenarios.iter().map(|one| self.scenario(one)).collect();
        let mut plan = self.empty().with_scenarios(scenarios);
        plan.threads = self.threads(&plan);
        plan.processes = self.processes;
        give_each_worker_a_user(&mut plan);
        if plan.threads < plan.processes {
            return Err(format!(
                "--processes {} is more than the VUs of a scenario: give at most {}, or more VUs",
                plan.processes, plan.threads
            ));
        }
        plan.validate().map_err(|problem| problem.to_string())?;
        Ok(plan)
    }

    /// Returns the number of threads: one for each core and process, but so few that scenarios with
    /// a rate have [users enough](USERS_PER_THREAD) on each of them.
    fn threads(&self, plan: &Plan) -> u32 {
        let needed = self.cores.max(self.processes);
        let open = plan.scenarios.iter().map(|scenario| &scenario.load);
        let open = open.filter(|load| load.shape.is_open());
        let most = match open.map(|load| load.max_users).min() {
            Some(users) => users.min(self.processes.max(users / USERS_PER_THREAD)),
            None => needed,
        };
        needed.min(most).min(plan.load.max_users).max(1)
    }

    /// Returns the plan of one call of one function, with this time limit.
    ///
    /// # Errors
    /// If the engine can't run it.
    pub(super) fn of_call(&self, name: &str, within: Duration) -> Result<Plan, Contradiction> {
        let part = Part {
            name: name.to_owned(),
            ..Part::default()
        };
        let once = loadline_plan::Scenario {
            duration: Some(within),
            request_limit: Some(1),
            ..self.part(part, one_user())
        };
        let plan = self.empty().with_scenarios(vec![once]);
        plan.validate()?;
        Ok(plan)
    }

    fn empty(&self) -> Plan {
        Plan {
            seed: self.seed,
            connection: self.connection(),
            ..Plan::default()
        }
    }

    fn connection(&self) -> Connection {
        Connection {
            keepalive: !self.settings.has_no_reuse,
            timeout: NO_TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            negotiates_http: self.speaks_http2,
            naming: Some(Box::new(naming(self.settings))),
            environment_proxies: self.proxies.cloned().map(Box::new),
            tls: tls(self.settings),
            ahead: false,
            ..Connection::default()
        }
    }

    fn part(&self, part: Part, load: Load) -> loadline_plan::Scenario {
        loadline_plan::Scenario {
            part,
            requests: Vec::new(),
            script: Some(Script {
                path: self.script.to_owned(),
                args: Vec::new(),
                crc32: None,
                names_urls: true,
            }),
            order: loadline_plan::Order::default(),
            think: None,
            client: loadline_plan::Client::default(),
            load,
            duration: None,
            request_limit: None,
        }
    }

    fn scenario(&self, scenario: &Scenario) -> loadline_plan::Scenario {
        let executor = &scenario.executor;
        let iterations = match executor {
            Executor::SharedIterations { iterations, .. } => Some(*iterations),
            Executor::PerVuIterations { .. }
            | Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ConstantArrivalRate { .. }
            | Executor::RampingArrivalRate { .. }
            | Executor::ExternallyControlled { .. } => None,
        };
        loadline_plan::Scenario {
            duration: Some(executor.length().unwrap_or(ENDLESS)),
            request_limit: iterations.or(scenario.arrivals),
            ..self.part(self.place(scenario), load(executor))
        }
    }

    /// Returns the scenario's place among the others.
    fn place(&self, scenario: &Scenario) -> Part {
        Part {
            name: scenario.name.clone(),
            start: scenario.start_time,
            graceful_stop: scenario.graceful_stop,
            iterations_per_user: match scenario.executor {
                Executor::PerVuIterations { iterations, .. } => Some(iterations),
                Executor::SharedIterations { .. }
                | Executor::ConstantVus { .. }
                | Executor::RampingVus { .. }
                | Executor::ConstantArrivalRate { .. }
                | Executor::RampingArrivalRate { .. }
                | Executor::ExternallyControlled { .. } => None,
            },
            late_arrivals: match scenario.executor {
                Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => {
                    self.late
                }
                Executor::SharedIterations { .. }
                | Executor::PerVuIterations { .. }
                | Executor::ConstantVus { .. }
                | Executor::RampingVus { .. }
                | Executor::ExternallyControlled { .. } => LateArrivals::Wait,
            },
            graceful_ramp_down: match scenario.executor {
                Executor::RampingVus {
                    graceful_ramp_down, ..
                } => Some(graceful_ramp_down),
                Executor::ExternallyControlled { .. } => Some(Duration::ZERO),
                Executor::SharedIterations { .. }
                | Executor::PerVuIterations { .. }
                | Executor::ConstantVus { .. }
                | Executor::ConstantArrivalRate { .. }
                | Executor::RampingArrivalRate { .. } => None,
            },
            tags: scenario.tags.clone(),
        }
    }
}

/// Returns the rules for names and addresses of the options; invalid rules were refused before.
fn naming(settings: &Settings) -> Naming {
    let ranges = settings.blocked_addresses.iter();
    Naming {
        hosts: settings.hosts.iter().filter_map(host_rule).collect(),
        blocked_hosts: settings.blocked_hosts.clone(),
        blocked_ranges: ranges.filter_map(|text| IpRange::parse(text)).collect(),
        selection: match settings.dns.select.as_str() {
            "first" => Selection::First,
            "roundRobin" => Selection::RoundRobin,
            _ => Selection::Random,
        },
        policy: match settings.dns.policy.as_str() {
            "preferIPv6" => AddressPolicy::PreferV6,
            "onlyIPv4" => AddressPolicy::OnlyV4,
            "onlyIPv6" => AddressPolicy::OnlyV6,
            "any" => AddressPolicy::Any,
            _ => AddressPolicy::PreferV4,
        },
        ttl: settings.dns.ttl,
    }
}

/// Parses a host and its address, each with or without a port.
fn host_rule((host, address): (&String, &String)) -> Option<HostRule> {
    let (pattern, port) = match host.rsplit_once(':') {
        Some((pattern, port)) => (pattern, Some(port.parse().ok()?)),
        None => (host.as_str(), None),
    };
    let (to, to_port) = match address.parse::<SocketAddr>() {
        Ok(address) => (address.ip(), Some(address.port())),
        Err(_) => (address.parse().ok()?, None),
    };
    Some(HostRule {
        pattern: pattern.to_owned(),
        port,
        to,
        to_port,
    })
}

fn tls(settings: &Settings) -> Tls {
    let own = settings.tls_auth.iter();
    Tls {
        insecure: settings.is_insecure,
        identities: own
            .map(|auth| Identity {
                certificate: auth.cert.clone(),
                key: auth.key.clone(),
            })
            .collect(),
        versions: versions(&settings.tls_versions),
        suites: settings.tls_cipher_suites.clone(),
        ..Tls::default()
    }
}

/// Returns the supported versions from the first to the last; all if there are no bounds.
fn versions((first, last): &(String, String)) -> Vec<TlsVersion> {
    let spoken = [("tls1.2", TlsVersion::V1_2), ("tls1.3", TlsVersion::V1_3)];
    let is_within = |name: &str| {
        (first.is_empty() || name >= first.as_str()) && (last.is_empty() || name <= last.as_str())
    };
    let within = spoken.into_iter().filter(|(name, _)| is_within(name));
    within.map(|(_, version)| version).collect()
}

/// Gives each worker at least one user from the begin on in scenarios with a rate: each worker has
/// a share of the arrivals, and one that finds no user on its worker would be dropped although
/// other users are free.
fn give_each_worker_a_user(plan: &mut Plan) {
    let loads = plan.scenarios.iter_mut().map(|scenario| &mut scenario.load);
    for load in loads.filter(|load| load.shape.is_open()) {
        load.users = load.users.max(plan.threads).min(load.max_users);
    }
}

fn one_user() -> Load {
    Load {
        users: 1,
        max_users: 1,
        shape: Shape::Closed,
    }
}

fn load(executor: &Executor) -> Load {
    let users = match executor {
        Executor::ExternallyControlled { vus, .. } => *vus,
        Executor::SharedIterations { .. }
        | Executor::PerVuIterations { .. }
        | Executor::ConstantVus { .. }
        | Executor::RampingVus { .. }
        | Executor::ConstantArrivalRate { .. }
        | Executor::RampingArrivalRate { .. } => executor.ready_vus(),
    };
    let users = users.max(1);
    let most = executor.max_vus().max(users);
    let shape = match executor {
        Executor::RampingVus {
            start_vus, stages, ..
        } => Shape::ClosedStages {
            start: *start_vus,
            stages: stages_of(stages, |target| target as u32),
        },
        Executor::ConstantArrivalRate {
            rate, time_unit, ..
        } => Shape::Rate {
            rate: per(*rate, *time_unit),
            arrivals: Arrivals::Constant,
        },
        Executor::RampingArrivalRate {
            start_rate,
            time_unit,
            stages,
            ..
        } => Shape::RateStages {
            start: per(*start_rate, *time_unit),
            stages: stages_of(stages, |target| per(target, *time_unit)),
            arrivals: Arrivals::Constant,
        },
        Executor::ExternallyControlled { vus, duration, .. } => controlled(*vus, *duration),
        Executor::SharedIterations { .. }
        | Executor::PerVuIterations { .. }
        | Executor::ConstantVus { .. } => Shape::Closed,
    };
    Load {
        users,
        max_users: most,
        shape,
    }
}

/// Returns the shape of a constant number of users, which commands may change. The engine refuses a
/// load that never has a user, so that there is one at the very end.
fn controlled(vus: u32, length: Option<Duration>) -> Shape {
    let stage = |duration, target| loadline_plan::Stage { duration, target };
    Shape::ClosedStages {
        start: vus,
        stages: vec![
            stage(length.unwrap_or(ENDLESS), vus),
            stage(Duration::ZERO, vus.max(1)),
        ],
    }
}

/// Returns the rate of this many per unit of time.
fn per(count: u64, unit: Duration) -> Rate {
    Rate {
        count,
        per_ns: (unit.as_nanos() as u64).max(1),
    }
}

fn stages_of<T>(stages: &[Stage], target: impl Fn(u64) -> T) -> Vec<loadline_plan::Stage<T>> {
    let stage = |stage: &Stage| loadline_plan::Stage {
        duration: stage.duration,
        target: target(stage.target),
    };
    stages.iter().map(stage).collect()
}
