//! Refuses plans that could not be run, before anything is started.

mod http2;

use crate::Part;
use crate::contradiction::{LONGEST_SOCKET_PATH, MOST_PIPELINED};
use crate::{
    Arrivals, Bound, Check, Clock, Clocked, Comparison, Connection, Contradiction, IpVersion, Load,
    Metric, Plan, Rate, Request, Shape, Stage,
};
use std::collections::HashSet;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// A condition under which a plan is refused, and the sentence for it.
type Rule = (bool, Contradiction);

impl Plan {
    /// Checks that the plan can be run as it stands: something to send, some time to send it, and
    /// no two parts that contradict each other.
    ///
    /// # Errors
    /// The first [`Contradiction`] that is found.
    pub fn validate(&self) -> Result<(), Contradiction> {
        self.validate_scenarios()?;
        self.validate_requests()?;
        refuse_first(self.script_rules())?;
        refuse_first(self.http2_rules())?;
        refuse_first(self.load.rules())?;
        refuse_first(self.extent_rules())?;
        self.validate_conditions()?;
        refuse_first(self.connection.rules())?;
        self.connection.validate_local_addresses()
    }

    /// Refuses scenarios that could not be run by themselves, and two of one name.
    fn validate_scenarios(&self) -> Result<(), Contradiction> {
        if self.scenarios.is_empty() {
            return Ok(());
        }
        let mut names = HashSet::new();
        for plan in self.parts() {
            let Some(part) = &plan.part else { continue };
            if !names.insert(part.name.clone()) {
                return Err(Contradiction::ScenarioTwice(part.name.clone()));
            }
            plan.validate_part(part)
                .map_err(|problem| Contradiction::InScenario {
                    name: part.name.clone(),
                    problem: Box::new(problem),
                })?;
        }
        Ok(())
    }

    /// Refuses what one scenario could not do.
    fn validate_part(&self, part: &Part) -> Result<(), Contradiction> {
        self.validate_requests()?;
        refuse_first(self.script_rules())?;
        refuse_first(self.load.rules())?;
        let each = part.iterations_per_user;
        let ends = self.duration.is_some() || self.request_limit.is_some() || each.is_some();
        refuse_first([
            (!ends, Contradiction::NoEnd),
            (
                self.duration == Some(Duration::ZERO),
                Contradiction::NoTime("duration"),
            ),
            (self.request_limit == Some(0), Contradiction::NoRequests),
            (each == Some(0), Contradiction::NoIterations),
            (
                each.is_some() && self.load.shape != Shape::Closed,
                Contradiction::IterationsOfUsers,
            ),
        ])
    }

    fn validate_requests(&self) -> Result<(), Contradiction> {
        if self.requests.is_empty() {
            return Err(Contradiction::NoTarget);
        }
        self.validate_names()?;
        let weightless = self.requests.iter().find(|request| request.weight == 0);
        weightless.map_or(Ok(()), |request| {
            Err(Contradiction::NoWeight(request.url.clone()))
        })
    }

    fn validate_names(&self) -> Result<(), Contradiction> {
        let given = self.requests.iter().filter_map(|r| r.name.as_deref());
        let names = given.collect::<HashSet<_>>().len();
        let most = self.max_series;
        let is_above = names > most as usize;
        refuse_first([
            (most == 0, Contradiction::NoSeries),
            (is_above, Contradiction::NamesAboveMost { names, most }),
        ])
    }

    fn script_rules(&self) -> [Rule; 3] {
        let has_script = self.script.is_some();
        let is_plain = self
            .requests
            .iter()
            .any(|request| request.url.scheme() == "http");
        let asks_proxy = is_plain && self.connection.proxy.is_some();
        let (several, pipelined) = (self.requests.len() > 1, self.connection.pipeline > 1);
        [
            (has_script && several, Contradiction::ScriptAndUrls),
            (has_script && pipelined, Contradiction::ScriptAndPipeline),
            (has_script && asks_proxy, Contradiction::ProxyAndScript),
        ]
    }

    fn extent_rules(&self) -> [Rule; 6] {
        let each_ends = !self.scenarios.is_empty();
        let connections = self.load.max_connections / self.connection.streams.max(1);
        let threads = self.threads;
        let shared = self.connection.shared.map_or(u32::MAX, NonZeroU32::get);
        let timeless = match self.load.shape.last_target() {
            Some(target) => Contradiction::NoStageWithTime(target),
            None => Contradiction::NoTime("duration"),
        };
        [
            (
                self.duration.is_none() && self.request_limit.is_none() && !each_ends,
                Contradiction::NoEnd,
            ),
            (self.duration == Some(Duration::ZERO), timeless),
            (self.request_limit == Some(0), Contradiction::NoRequests),
            (threads == 0, Contradiction::NoThreads),
            (
                shared < threads,
                Contradiction::ThreadsAboveShared { threads, shared },
            ),
            (
                threads > connections,
                Contradiction::ThreadsAboveConnections {
                    threads,
                    connections,
                },
            ),
        ]
    }
}

impl Plan {
    /// Refuses conditions on figures that a run of this load can't have.
    fn validate_conditions(&self) -> Result<(), Contradiction> {
        let conditions = || self.checks.iter().chain(&self.abort_on);
        self.validate_names_of(conditions())?;
        let conditions = conditions();
        let mut problems = conditions.filter_map(|check| self.load.shape.problem(check));
        problems.next().map_or(Ok(()), Err)
    }

    /// Refuses conditions on names that have no series.
    fn validate_names_of<'a>(
        &self,
        mut conditions: impl Iterator<Item = &'a Check>,
    ) -> Result<(), Contradiction> {
        const LISTED: usize = 5;
        let mut names = Vec::new();
        let mut known = HashSet::new();
        for name in self.requests.iter().map(Request::series_name) {
            if known.len() < self.max_series as usize && known.insert(name.clone()) {
                names.push(name);
            }
        }
        let is_unknown = |check: &&Check| {
            check
                .name
                .as_deref()
                .is_some_and(|name| !known.contains(name))
        };
        conditions.find(is_unknown).map_or(Ok(()), |check| {
            let listed = names.iter().take(LISTED).map(|name| format!("`{name}`"));
            let mut text = listed.collect::<Vec<_>>().join(", ");
            if names.len() > LISTED {
                text.push_str(", …");
            }
            Err(Contradiction::CheckOnUnknownName {
                check: check.text.clone(),
                names: text,
            })
        })
    }
}

impl Check {
    /// Whether it looks at the time from the intended start to the send alone.
    fn looks_at_delay(&self) -> bool {
        matches!(
            self.metric,
            Metric::Time(Clocked::Blocked | Clocked::Lateness, _)
        )
    }

    /// Whether only a rate of responses above this one keeps it.
    fn needs_more_than(&self, per_second: f64) -> bool {
        match (self.metric, self.comparison, self.bound) {
            (Metric::Rate, Comparison::GreaterOrEqual, Bound::PerSecond(bound)) => {
                bound > per_second
            }
            (Metric::Rate, Comparison::Greater, Bound::PerSecond(bound)) => bound >= per_second,
            _ => false,
        }
    }
}

fn refuse_first(rules: impl IntoIterator<Item = Rule>) -> Result<(), Contradiction> {
    let broken = rules.into_iter().find(|(is_broken, _)| *is_broken);
    broken.map_or(Ok(()), |(_, contradiction)| Err(contradiction))
}

impl Load {
    fn rules(&self) -> [Rule; 3] {
        let (most, connections) = (self.max_connections, self.connections);
        [
            self.shape.rule(),
            (connections == 0, Contradiction::NoConnections),
            (
                most < connections,
                Contradiction::MaxConnectionsBelow { most, connections },
            ),
        ]
    }
}

impl Shape {
    /// Why no run of this load can keep, or break, the condition.
    fn problem(&self, check: &Check) -> Option<Contradiction> {
        let text = || check.text.clone();
        if self.is_closed() && check.looks_at_delay() {
            return Some(Contradiction::CheckOnDelayWhenClosed(text()));
        }
        let rate = self.constant_rate()?;
        let is_above = check.needs_more_than(rate.per_second());
        is_above.then(|| Contradiction::CheckAboveRate {
            check: text(),
            rate,
        })
    }

    /// Whether starts wait for responses, and not for a schedule.
    fn is_closed(&self) -> bool {
        !self.is_open()
    }

    /// The rate of evenly spread arrivals that never changes; any other load may pass its mean.
    fn constant_rate(&self) -> Option<Rate> {
        match self {
            Shape::Rate {
                rate,
                arrivals: Arrivals::Constant,
            } => Some(*rate),
            _ => None,
        }
    }

    /// Where the last stage leads, as it is typed.
    fn last_target(&self) -> Option<String> {
        match self {
            Shape::ClosedStages { stages, .. } => Some(stages.last()?.target.to_string()),
            Shape::RateStages { stages, .. } => Some(stages.last()?.target.to_string()),
            _ => None,
        }
    }

    fn rule(&self) -> Rule {
        match self {
            Shape::Closed | Shape::Scenarios { .. } => (false, Contradiction::NoConnections),
            Shape::ClosedStages { start, stages } => (
                *start == 0 && all(stages, |&target| target == 0),
                Contradiction::NoStageAboveZero,
            ),
            Shape::Rate { rate, .. } => (rate.is_zero(), Contradiction::NoRate(*rate)),
            Shape::RateStages { start, stages, .. } => (
                start.is_zero() && all(stages, |target| target.is_zero()),
                Contradiction::NoStageAboveZero,
            ),
            Shape::Burst { size, every } => (
                *size == 0 || every.is_zero(),
                Contradiction::NoTime("burst"),
            ),
        }
    }
}

fn all<T>(stages: &[Stage<T>], holds: impl Fn(&T) -> bool) -> bool {
    stages.iter().all(|stage| holds(&stage.target))
}

impl Connection {
    fn rules(&self) -> [Rule; 12] {
        let has_socket = self.unix_socket.is_some();
        let socket = self.unix_socket.as_deref();
        let socket_bytes = socket.map_or(0, |path| path.as_os_str().len());
        let (elsewhere, from_here) = (
            !self.connect_to.is_empty(),
            !self.local_addresses.is_empty(),
        );
        [
            (self.pipeline == 0, Contradiction::NoPipeline),
            (
                self.pipeline > MOST_PIPELINED,
                Contradiction::PipelineTooDeep(self.pipeline),
            ),
            (
                self.pipeline > 1 && !self.keepalive,
                Contradiction::PipelineWithoutKeepalive,
            ),
            (self.timeout.is_zero(), Contradiction::NoTime("timeout")),
            (
                self.connect_timeout.is_zero(),
                Contradiction::NoTime("connect-timeout"),
            ),
            (
                self.tls.key.is_some() && self.tls.cert.is_none(),
                Contradiction::KeyWithoutCert,
            ),
            (
                socket_bytes > LONGEST_SOCKET_PATH,
                Contradiction::UnixSocketTooLong(socket_bytes),
            ),
            (
                has_socket && elsewhere,
                Contradiction::UnixSocketAnd("connect-to"),
            ),
            (
                has_socket && from_here,
                Contradiction::UnixSocketAnd("local-address"),
            ),
            (
                self.proxy.is_some() && has_socket,
                Contradiction::ProxyAnd("unix-socket"),
            ),
            (
                self.proxy.is_some() && elsewhere,
                Contradiction::ProxyAnd("connect-to"),
            ),
            (
                self.kernel_timestamps.is_some() && self.clock == Clock::User,
                Contradiction::KernelTimestampsAndUserClock,
            ),
        ]
    }

    /// Refuses local addresses of an IP version that is ruled out.
    fn validate_local_addresses(&self) -> Result<(), Contradiction> {
        let (version, fits): (_, fn(&IpAddr) -> bool) = match self.ip_version {
            IpVersion::Any => return Ok(()),
            IpVersion::V4 => ("ipv4", IpAddr::is_ipv4),
            IpVersion::V6 => ("ipv6", IpAddr::is_ipv6),
        };
        match self.local_addresses.iter().find(|address| !fits(address)) {
            Some(&address) => Err(Contradiction::LocalAddressOfOtherVersion { version, address }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, ListedRequest, Rate, Request, RequestDefaults, Script, Tls};

    fn plan() -> Plan {
        let listed = ListedRequest::new("127.0.0.1:8080".parse().expect("a URL"));
        Plan {
            requests: vec![RequestDefaults::default().complete(listed)],
            load: Load {
                connections: 50,
                max_connections: 50,
                shape: Shape::Closed,
            },
            threads: 2,
            duration: Some(Duration::from_secs(10)),
            ..Plan::default()
        }
    }

    /// The sentence about the plan after a change.
    pub(super) fn refusal(change: impl FnOnce(&mut Plan)) -> String {
        let mut plan = plan();
        change(&mut plan);
        plan.validate().expect_err("a contradiction").to_string()
    }

    pub(super) fn allowed(change: impl FnOnce(&mut Plan)) {
        let mut plan = plan();
        change(&mut plan);
        assert_eq!(plan.validate(), Ok(()));
    }

    #[test]
    fn a_check_on_a_figure_that_the_run_cannot_have_is_refused() {
        let checking = |text: &str| vec![text.parse::<Check>().expect("a check")];
        let rate = |rate: u64, arrivals| Shape::Rate {
            rate: Rate::each_second(rate),
            arrivals,
        };
        for text in ["blocked.p99<1ms", "lateness.max<5ms"] {
            let said = refusal(|plan| plan.checks = checking(text));
            assert!(
                said.starts_with(text) && said.contains("closed loop"),
                "{said}"
            );
            assert!(refusal(|plan| plan.abort_on = checking(text)).starts_with(text));
            allowed(|plan| {
                plan.checks = checking(text);
                plan.load.shape = rate(100, Arrivals::Constant);
            });
        }
        let said = refusal(|plan| {
            plan.checks = checking("rate>=990");
            plan.load.shape = rate(500, Arrivals::Constant);
        });
        assert_eq!(
            said,
            "rate>=990 can never pass: --rate asks for 500/s; raise that, or lower the bound."
        );
        allowed(|plan| {
            plan.checks = checking("rate>=500");
            plan.load.shape = rate(500, Arrivals::Constant);
        });
        allowed(|plan| {
            plan.checks = checking("rate>=501");
            plan.load.shape = rate(500, Arrivals::Poisson);
        });
        allowed(|plan| plan.checks = checking("rate>=990"));
    }

    #[test]
    fn plans_that_can_be_run_pass() {
        allowed(|_| {});
        allowed(|plan| {
            plan.connection.pipeline = 16;
            plan.requests[0].method = "HEAD".into();
        });
        allowed(|plan| {
            plan.duration = None;
            plan.request_limit = Some(1);
        });
        allowed(|plan| {
            plan.load.max_connections = 80;
            plan.threads = 60;
        });
        allowed(|plan| {
            plan.connection.tls = Tls {
                cert: Some("a.pem".into()),
                ..Tls::default()
            }
        });
    }

    #[test]
    fn a_plan_needs_something_to_send() {
        assert!(refusal(|plan| plan.requests.clear()).starts_with("there is no URL to load"));
        assert_eq!(
            refusal(|plan| plan.requests[0].weight = 0),
            "the weight of http://127.0.0.1:8080/ is 0, so it would never be sent; give at least 1."
        );
        assert!(refusal(|plan| plan.request_limit = Some(0)).starts_with("--requests 0"));
        assert!(refusal(|plan| plan.connection.pipeline = 0).starts_with("--pipeline 0"));
        let deep = refusal(|plan| plan.connection.pipeline = 70_000);
        assert!(deep.starts_with("--pipeline 70000 is more than"), "{deep}");
        allowed(|plan| plan.connection.pipeline = MOST_PIPELINED);
        let path = |bytes| Some("s".repeat(bytes).into());
        let long = refusal(|plan| plan.connection.unix_socket = path(108));
        assert!(
            long.starts_with("--unix-socket has a path of 108 bytes"),
            "{long}"
        );
        allowed(|plan| plan.connection.unix_socket = path(107));
    }

    #[test]
    fn a_check_looks_at_a_name_that_there_is() {
        let checked =
            |plan: &mut Plan, check: &str| plan.checks = vec![check.parse().expect("a check")];
        allowed(|plan| checked(plan, "p99{name:http://127.0.0.1:8080/}<1ms"));
        allowed(|plan| {
            plan.requests[0].name = Some("login".to_owned());
            checked(plan, "errors{name:login}<1%");
        });
        assert_eq!(
            refusal(|plan| checked(plan, "errors{name:login}<1%")),
            "errors{name:login}<1% looks at a name that no request has; the names are \
             `http://127.0.0.1:8080/`."
        );
    }

    #[test]
    fn names_have_room_for_a_series_each() {
        let named = |plan: &mut Plan, names: &[&str]| {
            let request = |name: &&str| Request {
                name: Some((*name).to_owned()),
                ..plan.requests[0].clone()
            };
            plan.requests = names.iter().map(request).collect();
            plan.max_series = 2;
        };
        allowed(|plan| named(plan, &["a", "b", "a"]));
        assert_eq!(
            refusal(|plan| named(plan, &["a", "b", "c"])),
            "the requests have 3 different names, and reports have rows for at most 2; raise \
             --max-series, or use fewer names."
        );
        assert!(refusal(|plan| plan.max_series = 0).starts_with("--max-series 0"));
        allowed(|plan| {
            plan.max_series = 1;
            plan.requests = vec![plan.requests[0].clone(); 3];
        });
    }

    #[test]
    fn a_script_says_itself_what_is_sent() {
        let script = || {
            Some(Script {
                path: "a.lua".into(),
                args: vec![],
                crc32: None,
            })
        };
        allowed(|plan| plan.script = script());
        let refused = refusal(|plan| {
            plan.script = script();
            plan.requests.push(plan.requests[0].clone());
        });
        assert!(refused.starts_with("--script goes to one URL"), "{refused}");
        let refused = refusal(|plan| {
            plan.script = script();
            plan.connection.pipeline = 2;
        });
        assert!(refused.starts_with("--script itself decides"), "{refused}");
        let refused = refusal(|plan| {
            plan.script = script();
            plan.connection.proxy = Some("a:1".parse().expect("a proxy"));
        });
        assert!(refused.starts_with("--script writes requests"), "{refused}");
    }

    #[test]
    fn a_load_needs_a_level_above_zero() {
        let shaped = |shape| refusal(|plan| plan.load.shape = shape);
        let arrivals = Arrivals::Constant;
        let duration = Duration::from_secs(1);
        assert_eq!(
            shaped(Shape::Rate {
                rate: Rate::ZERO,
                arrivals
            }),
            "--rate 0/s sends nothing; give more."
        );
        let rates = vec![Stage {
            duration,
            target: Rate::ZERO,
        }];
        let stages = Shape::RateStages {
            start: Rate::ZERO,
            stages: rates,
            arrivals,
        };
        assert!(shaped(stages).starts_with("--stages stays at zero"));
        let stages = Shape::ClosedStages {
            start: 0,
            stages: vec![Stage {
                duration,
                target: 0,
            }],
        };
        assert!(shaped(stages).starts_with("--stages stays at zero"));
        assert!(refusal(|plan| plan.load.connections = 0).starts_with("--connections 0"));
    }

    #[test]
    fn a_plan_needs_time() {
        let zero = Duration::ZERO;
        assert!(refusal(|plan| plan.duration = None).starts_with("nothing ends the run"));
        for (refusal, flag) in [
            (refusal(|plan| plan.duration = Some(zero)), "duration"),
            (refusal(|plan| plan.connection.timeout = zero), "timeout"),
            (
                refusal(|plan| plan.connection.connect_timeout = zero),
                "connect-timeout",
            ),
            (
                refusal(|plan| {
                    plan.load.shape = Shape::Burst {
                        size: 1,
                        every: zero,
                    }
                }),
                "burst",
            ),
        ] {
            assert_eq!(refusal, format!("--{flag} must be more than 0."));
        }
    }

    #[test]
    fn connections_and_threads_fit_together() {
        assert_eq!(
            refusal(|plan| plan.load.max_connections = 10),
            "--max-connections 10 is below --connections 50; raise it, or lower --connections."
        );
        assert_eq!(
            refusal(|plan| plan.threads = 51),
            "--threads 51 is more than --connections 50: some would idle."
        );
        assert!(refusal(|plan| plan.threads = 0).starts_with("--threads 0"));
    }

    #[test]
    fn connection_options_fit_together() {
        let refused = |change: fn(&mut Connection)| refusal(|plan| change(&mut plan.connection));
        let refusals = [
            refused(|connection| {
                connection.pipeline = 2;
                connection.keepalive = false;
            }),
            refused(|connection| connection.tls.key = Some("key.pem".into())),
            refused(|connection| {
                connection.unix_socket = Some("/run/a".into());
                connection.connect_to = vec![":::".parse().expect("a place")];
            }),
            refused(|connection| {
                connection.proxy = Some("a:1".parse().expect("a proxy"));
                connection.connect_to = vec![":::".parse().expect("a place")];
            }),
            refused(|connection| {
                connection.ip_version = IpVersion::V4;
                connection.local_addresses = vec!["::1".parse().expect("an address")];
            }),
        ];
        let starts = [
            "--pipeline needs",
            "--key belongs",
            "--unix-socket is",
            "--proxy and --connect-to",
            "--ipv4 and",
        ];
        for (refusal, start) in refusals.iter().zip(starts) {
            assert!(refusal.starts_with(start), "{refusal}");
        }
        let shared = refusal(|plan| plan.connection.shared = NonZeroU32::new(1));
        assert_eq!(
            shared,
            "--threads 2 needs as many connections, and --shared-connections 1 are fewer; give \
             more of these, or fewer threads."
        );
    }
}
