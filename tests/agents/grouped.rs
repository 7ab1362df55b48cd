//! Agents that join the reports of others, although there are few of them: the coordinator is the
//! library here, which has groups as small as it is given. Bus, agents and worker processes are
//! those of any run. So many agents that the command has groups are in `merged.rs`.

use super::overheard::overhear;
use super::{Agent, Bus, url};
use crate::rig::{beside_others, serve};
use loadline_bus::{Selector, gather};
use loadline_cluster::{Grouping, Line, Machines, OnLoss, Processes, Recruiter, Users};
use loadline_engine::{Detail, Event};
use loadline_plan::{Arrivals, Body, Load, Plan, Request, Shape};
use loadline_record::{Snapshot, Unfinished};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

/// The agents, which have two groups.
const AGENTS: u32 = 6;
const GROUPING: Grouping = Grouping {
    most_alone: 4,
    most_together: 3,
};

/// The agents of a bus, by their names.
fn agents(bus: &Bus) -> BTreeMap<String, Agent> {
    let names = (1..=AGENTS).map(|number| format!("agent-{number}"));
    let start = |name: String| (name.clone(), Agent::start(&bus.url(), &name, &[]));
    names.map(start).collect()
}

/// A plan whose agents have two users each.
fn plan(url: &str, shape: Shape) -> Plan {
    let request = Request {
        method: "GET".to_owned(),
        url: url.parse().expect("a URL"),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: None,
    };
    Plan {
        requests: vec![request],
        threads: AGENTS,
        load: Load {
            users: 2 * AGENTS,
            max_users: 2 * AGENTS,
            shape,
        },
        ..Plan::default()
    }
}

fn open_load(url: &str, rate: u64, length: Duration) -> Plan {
    let shape = Shape::Rate {
        rate: rate.to_string().parse().expect("a rate"),
        arrivals: Arrivals::Constant,
    };
    Plan {
        duration: Some(length),
        ..plan(url, shape)
    }
}

/// Looks for agents that may join a run on a bus.
fn recruiter(bus: &Bus) -> Recruiter {
    let connection = bus.connect();
    let one = Selector {
        count: Some(1),
        ..Selector::default()
    };
    Box::new(move || {
        let hosts = gather(&connection, &one, None, Duration::ZERO).ok()?;
        hosts.into_iter().next().map(|host| host.line)
    })
}

/// Begins the run of a plan on the agents of a bus, which others may join by a recruiter.
fn begin(bus: &Bus, plan: &Plan, recruiter: Option<Recruiter>) -> Processes {
    let connection = bus.connect();
    let all = Selector {
        count: Some(AGENTS),
        ..Selector::default()
    };
    let hosts = gather(&connection, &all, None, Duration::from_secs(10)).expect("agents");
    let lines: Vec<Line> = hosts.into_iter().map(|host| host.line).collect();
    let machines = Machines {
        on_loss: OnLoss::Share,
        grouping: GROUPING,
    };
    let (detail, users) = (Detail::default(), Users::default());
    Processes::start_on(plan, lines, detail, &users, &machines, recruiter).expect("a run")
}

/// Follows a run to its end. Returns all of its intervals as one, and what is unfinished.
fn follow(processes: &mut Processes) -> (Snapshot, Unfinished) {
    let mut all = Snapshot::empty(0);
    loop {
        match processes.run.next_event(Duration::from_secs(1)) {
            Some(Event::Interval(interval)) => all.append(&interval),
            Some(Event::Ended { unfinished, .. }) => return (all, *unfinished),
            _ => {}
        }
    }
}

/// The reports that go to mergers, and those that go to the coordinator itself.
fn ways(bus: &Bus) -> Arc<[AtomicUsize; 2]> {
    let counts = Arc::<[AtomicUsize; 2]>::default();
    let counted = Arc::clone(&counts);
    let subjects = ["loadline.run.*.merger.*.*.up", "loadline.run.*.*.up"];
    overhear(bus, &subjects, move |way, message| {
        // A number of four bytes, the kind, and a frame: `r` is a report.
        if message[4..].starts_with(b"fr") {
            counted[way].fetch_add(1, Ordering::Relaxed);
        }
        None
    });
    counts
}

#[test]
fn what_agents_join_of_few_others_is_exactly_what_all_of_them_sent() {
    let _beside_others = beside_others();
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = agents(&bus);
    let ways = ways(&bus);
    let url = url(&server);
    let open = open_load(&url, 300, Duration::from_secs(2));
    let closed = Plan {
        duration: None,
        request_limit: Some(600),
        ..plan(&url, Shape::Closed)
    };
    for plan in [open, closed] {
        let mut processes = begin(&bus, &plan, None);
        let (all, unfinished) = follow(&mut processes);
        assert_eq!(processes.run.failures(), []);
        let counts = all.counts;
        assert_eq!((counts.sent, counts.answered, counts.failed), (600, 600, 0));
        assert_eq!((unfinished.unsent, unfinished.in_flight), (0, 0));
        let times = processes.response_times_of_parts();
        let each: Vec<u64> = times.iter().map(|part| part.all.len()).collect();
        assert_eq!(each.len(), AGENTS as usize, "{each:?}");
        assert_eq!(each.iter().sum::<u64>(), 600, "{each:?}");
        // The run's own record says how many responses each of them has had.
        let workers = processes.agents_in_groups();
        let of_agents: Vec<u64> = workers
            .iter()
            .map(|(_, own)| all.workers.range(own.clone()))
            .map(|own| own.map(|(_, times)| times.answered).sum())
            .collect();
        assert_eq!(of_agents, each);
        drop(processes);
        bus.await_free(AGENTS as usize);
    }
    assert_eq!(server.stop().answers, 1_200);
    let [to_mergers, to_coordinator] = &*ways;
    // At least one of each agent and load.
    assert!(to_mergers.load(Ordering::Relaxed) >= 2 * AGENTS as usize);
    assert_eq!(to_coordinator.load(Ordering::Relaxed), 0);
}

#[test]
fn mergers_of_few_agents_are_lost_one_after_another_and_the_sums_add_up() {
    const RATE: u64 = 120;
    const SECONDS: u64 = 8;
    let _beside_others = beside_others();
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = agents(&bus);
    let plan = open_load(&url(&server), RATE, Duration::from_secs(SECONDS));
    let mut processes = begin(&bus, &plan, None);
    // The first of a group joins its reports, and then the second one.
    let victims = processes.agents()[..2].to_vec();
    let victims = victims.iter().map(|name| agents.remove(name).expect("one"));
    let victims: Vec<Agent> = victims.collect();
    let (all, unfinished) = scope(|scope| {
        scope.spawn(|| {
            // After the begin, and the first report.
            sleep(Duration::from_millis(2_500));
            for mut victim in victims {
                victim.0.kill().unwrap();
                sleep(Duration::from_millis(700));
            }
        });
        follow(&mut processes)
    });
    let failures = processes.run.failures();
    assert_eq!(failures.len(), 2, "{failures:?}");
    let counts = all.counts;
    assert_eq!(counts.planned, RATE * SECONDS, "{counts:?}");
    let missing = unfinished.unsent;
    assert_eq!(missing, unfinished.lost, "{unfinished:?}");
    assert_eq!(counts.sent + missing, RATE * SECONDS, "{counts:?}");
    // A sixth of the rate of each, for as long as it was not heard.
    let most = RATE / 6 * 7 * 2;
    assert!((1..=most).contains(&missing), "{missing}: {failures:?}");
    assert_eq!(counts.failed, 0, "{counts:?}");
    assert!(server.stop().answers >= counts.answered);
    drop(processes);
    bus.await_free(AGENTS as usize - 2);
}

#[test]
fn agents_that_join_a_run_with_mergers_take_a_share_and_the_sums_add_up() {
    const RATE: u64 = 140;
    const SECONDS: u64 = 12;
    let _beside_others = beside_others();
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = agents(&bus);
    let ways = ways(&bus);
    let url = url(&server);
    let plan = open_load(&url, RATE, Duration::from_secs(SECONDS));
    let mut processes = begin(&bus, &plan, Some(recruiter(&bus)));
    let late = ["late-1", "late-2"].map(|name| Agent::start(&bus.url(), name, &[]));
    let (all, unfinished) = follow(&mut processes);
    assert_eq!(processes.run.failures(), []);
    let joined = processes.newcomers();
    let mut names: Vec<&str> = joined.iter().map(|one| one.agent.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["late-1", "late-2"]);
    let counts = all.counts;
    let planned = RATE * SECONDS;
    // A busy machine may leave something unsent.
    let (unsent, in_flight) = (unfinished.unsent, unfinished.in_flight);
    assert_eq!(
        (counts.planned, unfinished.lost),
        (planned, 0),
        "{counts:?}"
    );
    assert_eq!(counts.sent + unsent, planned, "{counts:?}");
    assert_eq!(counts.answered + in_flight, counts.sent, "{counts:?}");
    // They report to the coordinator itself, and have an equal share from when on they are there.
    let [_, to_coordinator] = &*ways;
    assert!(to_coordinator.load(Ordering::Relaxed) >= 2);
    let times = processes.response_times_of_parts();
    assert_eq!(times.len(), AGENTS as usize + late.len(), "{joined:?}");
    assert_eq!(processes.response_times_of_agents().len(), times.len());
    let sent: u64 = times.iter().map(|part| part.all.len()).sum();
    assert_eq!(sent, counts.answered);
    for newcomer in &joined {
        assert_eq!(
            processes.agent_of(newcomer.part as usize),
            Some(newcomer.agent.as_str())
        );
        // A seventh of the rate, as long as the other one is not there.
        let seconds = SECONDS - newcomer.from_ns / 1_000_000_000;
        let own = times[newcomer.part as usize].all.len();
        let most = (RATE / 7 + 1) * seconds;
        assert!((1..=most).contains(&own), "{newcomer:?}: {own}");
    }
    assert!(server.stop().answers >= counts.answered);
    drop(processes);
    bus.await_free(AGENTS as usize + late.len());
}
