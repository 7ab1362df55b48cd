//! Several scenarios at once: each has its own schedule, end and counts.

use super::plans::{MS, SECOND, get, shaped, stages, time};
use super::ran::Ran;
use super::world::World;
use crate::{Change, EndReason};
use loadline_metrics::{Key, Series};
use loadline_plan::spread_by_weight;
use loadline_plan::{Arrivals, Client, Level, Load, Order, Part, Plan, Rate, Scenario, Shape};

/// Returns a scenario of this name, which requests a path of its name for this long.
fn scenario(name: &str, shape: Shape, connections: u32, duration_ns: u64) -> Scenario {
    Scenario {
        part: Part {
            name: name.to_owned(),
            ..Part::default()
        },
        requests: vec![get(&format!("http://10.0.0.1:80/{name}"))],
        script: None,
        order: Order::default(),
        think: None,
        client: Client::default(),
        load: Load {
            users: connections,
            max_users: connections,
            shape,
        },
        duration: Some(time(duration_ns)),
        request_limit: None,
    }
}

fn rate(per_second: u64) -> Shape {
    Shape::Rate {
        rate: Rate::each_second(per_second),
        arrivals: Arrivals::Constant,
    }
}

fn plan(threads: u32, scenarios: Vec<Scenario>) -> Plan {
    Plan {
        threads,
        ..shaped(Shape::Closed, 1, SECOND)
    }
    .with_scenarios(scenarios)
}

/// Returns the arrivals of the requests of a scenario at the server, from the begin of the load.
fn arrivals_of(ran: &Ran, name: &str) -> Vec<u64> {
    let path = format!("/{name}");
    let own = ran.seen.iter().filter(|seen| seen.target == path);
    let mut arrivals: Vec<u64> = own.map(|seen| seen.at_ns).collect();
    arrivals.sort_unstable();
    arrivals
}

/// Returns the series of a scenario's only request.
fn series(ran: &Ran, name: &str) -> Series {
    let tags = [("scenario".to_owned(), name.to_owned())].into();
    let key = Key::tagged(&format!("http://10.0.0.1/{name}"), tags).unwrap();
    let series = ran.total.series.get(&key);
    series
        .unwrap_or_else(|| panic!("{name}: {:?}", ran.total.series))
        .clone()
}

#[test]
fn a_closed_and_an_open_scenario_run_beside_each_other() {
    for threads in [1, 2] {
        let scenarios = vec![
            scenario("browse", Shape::Closed, 2, SECOND),
            scenario("order", rate(100), 4, SECOND),
        ];
        let ran = World::new(plan(threads, scenarios)).serves_in(8 * MS).run();
        // Two users with 10 ms for a request, and an arrival each 10 ms.
        assert_eq!(ran.counts(), [300, 300, 300, 0, 0], "{threads} workers");
        assert_eq!(series(&ran, "browse").answered, 200);
        assert_eq!(series(&ran, "order").answered, 100);
        let due: Vec<u64> = (0..100).map(|index| index * 10 * MS + MS).collect();
        assert_eq!(arrivals_of(&ran, "order"), due);
        assert_eq!(
            (ran.total.end_ns, ran.reason),
            (SECOND, EndReason::Duration)
        );
    }
}

/// Each scenario notices the stop at an instant of its own: together they have one window, and the
/// drain begins where it ends.
#[test]
fn scenarios_that_stop_at_different_instants_have_one_window() {
    for order_ms in (100..240).step_by(7) {
        let mut late = scenario("late", rate(100), 50, SECOND);
        late.part.start = time(37 * MS);
        let scenarios = vec![scenario("browse", Shape::Closed, 2, SECOND), late];
        let ran = World::new(plan(2, scenarios))
            .serves_in(63 * MS)
            .at(order_ms * MS, |hands| hands.handle.stop())
            .run();
        assert_eq!(ran.reason, EndReason::Stopped);
        let drains = ran.intervals.iter().filter(|interval| interval.drain);
        assert_eq!(drains.count(), 1, "stopped at {order_ms} ms");
        assert_eq!(ran.left()[0], 0, "all that was in flight has ended");
    }
}

#[test]
fn all_of_a_number_of_requests_are_sent_by_fewer_users_than_workers() {
    let mut few = scenario("few", Shape::Closed, 1, 20 * SECOND);
    few.request_limit = Some(7);
    let scenarios = vec![scenario("many", Shape::Closed, 4, SECOND), few];
    let ran = World::new(plan(3, scenarios)).serves_in(8 * MS).run();
    assert_eq!(series(&ran, "few").answered, 7);
    assert_eq!(ran.total.end_ns, SECOND);
}

#[test]
fn a_scenario_begins_at_its_start_and_the_run_ends_with_the_last() {
    let mut late = scenario("late", rate(10), 2, 500 * MS);
    late.part.start = time(1_200 * MS);
    let mut users = scenario("users", Shape::Closed, 1, 300 * MS);
    users.part.start = time(250 * MS);
    let scenarios = vec![scenario("first", rate(20), 2, SECOND), late, users];
    let ran = World::new(plan(1, scenarios)).serves_in(8 * MS).run();
    let due = [1_200, 1_300, 1_400, 1_500, 1_600].map(|ms| ms * MS + MS);
    assert_eq!(arrivals_of(&ran, "late"), due);
    let users = arrivals_of(&ran, "users");
    assert_eq!(users.len(), 30);
    assert_eq!(users[0], 251 * MS);
    assert_eq!(arrivals_of(&ran, "first").len(), 20);
    let lengths: Vec<u64> = ran.intervals.iter().map(|one| one.end_ns).collect();
    assert_eq!(lengths, [SECOND, 1_700 * MS]);
    assert_eq!(ran.total.counts.planned, 20 + 5 + users.len() as u64);
}

#[test]
fn what_an_iteration_has_begun_is_finished_in_the_graceful_stop() {
    let with_stop = |graceful_ns| {
        let mut one = scenario("one", Shape::Closed, 3, 100 * MS);
        one.part.graceful_stop = time(graceful_ns);
        let scenarios = vec![one, scenario("two", rate(10), 1, 400 * MS)];
        World::new(plan(1, scenarios)).serves_in(68 * MS).run()
    };
    // Each request takes 70 ms: the second of each user begins at 70 ms and ends at 140 ms.
    let cut = with_stop(0);
    assert_eq!(series(&cut, "one").answered, 3);
    assert_eq!(cut.unfinished.in_flight, 3);
    let finished = with_stop(60 * MS);
    assert_eq!(series(&finished, "one").answered, 6);
    assert_eq!(finished.unfinished.in_flight, 0);
    assert_eq!(arrivals_of(&finished, "two").len(), 4);
    let short = with_stop(30 * MS);
    assert_eq!(
        (series(&short, "one").answered, short.unfinished.in_flight),
        (3, 3)
    );
}

#[test]
fn iterations_are_shared_or_each_user_has_its_own() {
    for threads in [1, 2] {
        let shared = Scenario {
            request_limit: Some(25),
            ..scenario("shared", Shape::Closed, 4, 10 * SECOND)
        };
        let mut own = scenario("own", Shape::Closed, 4, 10 * SECOND);
        own.part.iterations_per_user = Some(6);
        let ran = World::new(plan(threads, vec![shared, own]))
            .serves_in(8 * MS)
            .run();
        assert_eq!(series(&ran, "shared").answered, 25);
        assert_eq!(series(&ran, "own").answered, 24);
        assert_eq!(ran.reason, EndReason::Requests);
        // Seven rounds of 10 ms at most.
        assert!(ran.total.end_ns <= 80 * MS, "{}", ran.total.end_ns);
    }
}

#[test]
fn stages_of_users_and_of_a_rate_keep_their_course() {
    let users = Shape::ClosedStages {
        start: 0,
        stages: stages([(100 * MS, 2), (200 * MS, 2)]),
    };
    let rates = Shape::RateStages {
        start: Rate::each_second(0),
        stages: stages([(SECOND, Rate::each_second(100))]),
        arrivals: Arrivals::Constant,
    };
    let scenarios = vec![
        scenario("users", users, 2, SECOND),
        scenario("rates", rates, 3, SECOND),
    ];
    let ran = World::new(plan(2, scenarios)).serves_in(8 * MS).run();
    // One user from 0 and another from 50 ms, both to 300 ms.
    assert_eq!(series(&ran, "users").answered, 30 + 25);
    assert_eq!(series(&ran, "rates").answered, 50);
}

#[test]
fn a_late_change_and_a_pause_reach_all_scenarios() {
    let scenarios = vec![
        scenario("users", Shape::Closed, 10, SECOND),
        scenario("rate", rate(100), 2, SECOND),
    ];
    let world = World::new(plan(2, scenarios)).serves_in(8 * MS);
    let ran = world
        .at(300 * MS, |hands| {
            hands.handle.change_at(500 * MS, Level::Paused);
        })
        .at(600 * MS, |hands| {
            hands.handle.change_at(800 * MS, Level::Share(500));
        })
        .run();
    assert_eq!(series(&ran, "rate").answered, 50 + 10);
    assert_eq!(series(&ran, "users").answered, 500 + 100);
    assert_eq!(ran.counts(), [660, 660, 660, 0, 0]);
}

#[test]
fn the_users_of_one_scenario_change_and_the_others_go_on() {
    let scenarios = vec![
        scenario("own", Shape::Closed, 2, SECOND),
        scenario("other", Shape::Closed, 3, SECOND),
    ];
    let world = World::new(plan(2, scenarios)).serves_in(8 * MS);
    let change = |at_ns, users| Change {
        at_ns,
        level: Level::Users(users),
        scenario: Some(0),
    };
    let ran = world
        .at(300 * MS, move |hands| {
            hands.handle.carry_out(change(500 * MS, 5));
        })
        .at(600 * MS, move |hands| {
            hands.handle.carry_out(change(800 * MS, 0));
        })
        .run();
    // Each user has 10 ms for a request.
    assert_eq!(series(&ran, "own").answered, 2 * 50 + 5 * 30);
    assert_eq!(series(&ran, "other").answered, 3 * 100);
}

#[test]
fn a_warm_up_belongs_to_the_scenarios_that_begin_at_once() {
    let mut late = scenario("late", rate(10), 1, 500 * MS);
    late.part.start = time(500 * MS);
    let plan = Plan {
        warmup: time(200 * MS),
        ..plan(1, vec![scenario("early", rate(100), 1, SECOND), late])
    };
    let ran = World::new(plan).run();
    assert_eq!(arrivals_of(&ran, "early").len(), 120);
    assert_eq!(series(&ran, "early").answered, 100);
    let due = [700, 800, 900, 1_000, 1_100].map(|ms| ms * MS + MS);
    assert_eq!(arrivals_of(&ran, "late"), due);
    assert_eq!(ran.total.counts.planned, 105);
}

#[test]
fn classes_of_users_send_by_their_weights() {
    for threads in [1, 2] {
        let users = spread_by_weight(9, &[2, 1]);
        let class = |(name, users)| scenario(name, Shape::Closed, users, SECOND);
        let classes = ["browse", "order"].into_iter().zip(users).map(class);
        let ran = World::new(plan(threads, classes.collect()))
            .serves_in(8 * MS)
            .run();
        // Each user has 10 ms for a request.
        assert_eq!(series(&ran, "browse").answered, 600, "{threads} workers");
        assert_eq!(series(&ran, "order").answered, 300, "{threads} workers");
    }
}
