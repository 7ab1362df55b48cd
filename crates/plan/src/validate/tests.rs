use super::*;
use crate::contradiction::MOST_PIPELINED;
use crate::{
    Arrivals, Client, Connection, IpVersion, LateArrivals, ListedRequest, Load, Order, Rate,
    Request, RequestDefaults, Scenario, Script, Stage, Think, Tls,
};

fn plan() -> Plan {
    let listed = ListedRequest::new("127.0.0.1:8080".parse().expect("a URL"));
    Plan {
        requests: vec![RequestDefaults::default().complete(listed)],
        load: Load {
            users: 50,
            max_users: 50,
            shape: Shape::Closed,
        },
        threads: 2,
        duration: Some(Duration::from_secs(10)),
        ..Plan::default()
    }
}

/// Returns the message about the plan after a change.
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
        plan.load.max_users = 80;
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

/// Creates a scenario with the load of the plan.
fn scenario(name: &str) -> Scenario {
    Scenario {
        part: Part {
            name: name.to_owned(),
            tags: [("team".to_owned(), "a".to_owned())].into(),
            ..Part::default()
        },
        requests: plan().requests,
        script: None,
        order: Order::default(),
        think: None,
        client: Client::default(),
        load: plan().load,
        duration: plan().duration,
        request_limit: None,
    }
}

#[test]
fn what_becomes_of_late_arrivals_and_of_users_that_leave_fits_the_load() {
    let said = |change: fn(&mut Scenario)| {
        let mut scenario = scenario("browse");
        change(&mut scenario);
        let plan = plan().with_scenarios(vec![scenario]);
        plan.validate().map_err(|problem| problem.to_string())
    };
    let open = |scenario: &mut Scenario| {
        scenario.load.shape = Shape::Rate {
            rate: Rate::each_second(5),
            arrivals: Arrivals::Constant,
        };
        scenario.part.late_arrivals = LateArrivals::Drop;
    };
    assert_eq!(said(open), Ok(()));
    let closed = said(|scenario| scenario.part.late_arrivals = LateArrivals::Drop);
    let closed = closed.expect_err("nothing arrives");
    assert!(
        closed.contains("Late arrivals can be dropped in an open load only"),
        "{closed}"
    );
    let stages = |scenario: &mut Scenario| {
        let length = Duration::from_secs(10);
        let stages = vec![Stage {
            duration: length,
            target: 50,
        }];
        scenario.load.shape = Shape::ClosedStages { start: 1, stages };
        scenario.part.graceful_ramp_down = Some(length);
    };
    assert_eq!(said(stages), Ok(()));
    let even = said(|scenario| scenario.part.graceful_ramp_down = Some(Duration::ZERO));
    let even = even.expect_err("no user leaves");
    assert!(even.contains("leave between stages"), "{even}");
}

#[test]
fn a_check_looks_at_a_tag_that_a_scenario_has() {
    let checked =
        |plan: &mut Plan, check: &str| plan.checks = vec![check.parse().expect("a check")];
    let said = refusal(|plan| checked(plan, "p99{scenario:browse}<1s"));
    assert!(
        said.contains("only the scenarios of a plan file have tags"),
        "{said}"
    );
    let several = || plan().with_scenarios(vec![scenario("browse"), scenario("order")]);
    let validated = |check: &str| {
        let mut plan = several();
        checked(&mut plan, check);
        plan.validate().map_err(|problem| problem.to_string())
    };
    assert_eq!(validated("p99{scenario:order,team:a}<1s"), Ok(()));
    let said = validated("p99{scenario:sell}<1s").expect_err("no such scenario");
    assert_eq!(
        said,
        "p99{scenario:sell}<1s looks at a tag that no scenario has; the tags are \
         scenario:browse, scenario:order, team:a."
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
            names_urls: false,
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
    assert!(refusal(|plan| plan.load.users = 0).starts_with("--connections 0"));
}

#[test]
fn only_users_of_a_closed_load_think() {
    let think = |plan: &mut Plan| plan.think = Some(Think::Constant(Duration::from_secs(1)));
    allowed(think);
    let said = refusal(|plan| {
        think(plan);
        plan.load.shape = Shape::Rate {
            rate: Rate::each_second(10),
            arrivals: Arrivals::Constant,
        };
    });
    assert!(
        said.starts_with("--think pauses the users of a closed loop"),
        "{said}"
    );
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
        refusal(|plan| plan.load.max_users = 10),
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

#[test]
fn only_a_script_that_names_its_urls_needs_no_request() {
    let script = |names_urls| {
        Some(Script {
            path: "a.js".into(),
            args: vec![],
            crc32: None,
            names_urls,
        })
    };
    refusal(|plan| (plan.requests, plan.script) = (vec![], script(false)));
    allowed(|plan| (plan.requests, plan.script) = (vec![], script(true)));
}

#[test]
fn scripts_run_on_processes_too() {
    let on_processes = |names_urls| {
        move |plan: &mut Plan| {
            (plan.threads, plan.processes) = (2, 2);
            plan.script = Some(Script {
                path: "a.js".into(),
                args: vec![],
                crc32: None,
                names_urls,
            });
        }
    };
    allowed(on_processes(false));
    allowed(on_processes(true));
}
