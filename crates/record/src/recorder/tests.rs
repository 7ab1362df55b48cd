use super::*;
use crate::Distribution;
use crate::samples::{any_exchange, exchange, failure};
use loadline_metrics::SeriesTable;
use loadline_plan::Stage;
use proptest::prelude::*;

fn taken(model: Model, exchanges: &[Exchange]) -> Snapshot {
    let mut recorder = Recorder::new(model);
    for exchange in exchanges {
        recorder.begin(0);
        recorder.end(exchange);
    }
    recorder.take(1_000)
}

/// Returns a figure of each time, in the order of `Times::each`, without those of split exchanges.
fn figures(snapshot: &Snapshot, figure: impl Fn(&Distribution) -> u64) -> [u64; 10] {
    let each = snapshot.times.each();
    std::array::from_fn(|index| figure(each[index].1))
}

/// Returns the number of recorded values of each time.
fn lengths(snapshot: &Snapshot) -> [u64; 10] {
    figures(snapshot, Distribution::len)
}

#[test]
fn the_model_follows_from_the_shape() {
    let ramp = Shape::ClosedStages {
        start: 1,
        stages: Vec::<Stage<u32>>::new(),
    };
    assert_eq!(Model::of(&Shape::Closed), Model::Closed);
    assert_eq!(Model::of(&ramp), Model::Closed);
    assert_eq!(Model::of(&crate::samples::plan().load.shape), Model::Open);
}

#[test]
fn an_answer_enters_every_time_of_its_own() {
    let answer = Exchange {
        intended_ns: 100,
        ready_ns: 130,
        start_ns: 200,
        dial_ns: 50,
        first_byte_ns: 1_250,
        end_ns: 1_750,
        wakeup_ns: 9,
        ..exchange(0, 0)
    };
    let snapshot = taken(Model::Open, &[answer]);
    let values = figures(&snapshot, Distribution::max_ns);
    assert_eq!(values, [1_650, 1_550, 30, 70, 0, 0, 0, 1_000, 500, 9]);
    assert_eq!(lengths(&snapshot), [1, 1, 1, 1, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn a_response_that_a_script_rejects_stays_answered_and_is_a_failure() {
    let mut table = SeriesTable::new(1);
    let name = table.intern(&Key::new("a").expect("a name"));
    let mut recorder = Recorder::new(Model::Closed).with_series(table);
    for _ in 0..3 {
        recorder.begin(0);
        recorder.end(&exchange(0, 0));
    }
    let mut all = recorder.take(1_000);
    // A script may read its response after the interval in which it was received.
    recorder.reject(name, 200);
    recorder.reject(name, 404);
    all.append(&recorder.take(2_000));
    assert_eq!(
        (all.counts.answered, all.counts.failed, all.counts.rejected),
        (3, 0, 2)
    );
    assert_eq!((all.counts.ended(), all.counts.failures()), (3, 2));
    assert_eq!(all.rejected, [(200, 1), (404, 1)].into());
    let series = all
        .series
        .get(&Key::new("a").expect("a name"))
        .expect("a series");
    assert_eq!((series.rejected, series.failures()), (2, 2));
    // Those with a bad status that were not rejected: none of the three.
    all.statuses = [(200, 2), (404, 1)].into();
    assert_eq!(all.accepted_with(|status| status >= 400), 0);
    assert_eq!(all.accepted_with(|status| status < 400), 1);
}

#[test]
fn a_start_that_was_missed_is_planned_and_has_a_response_time_and_no_service_time() {
    let mut recorder = Recorder::new(Model::of(&Shape::Paced));
    let missed = Exchange {
        intended_ns: 100,
        ready_ns: 900,
        start_ns: 950,
        first_byte_ns: 950,
        end_ns: 950,
        ..exchange(0, 0)
    };
    recorder.missed(SeriesId::default(), &missed);
    let snapshot = recorder.take(1_000);
    let counts = &snapshot.counts;
    assert_eq!((counts.planned, counts.missed, counts.unsent()), (1, 1, 0));
    assert_eq!((counts.sent, counts.answered, counts.in_flight), (0, 0, 0));
    assert!(snapshot.balanced(0));
    let times = &snapshot.times;
    let figures = [&times.response, &times.blocked, &times.lateness].map(Distribution::max_ns);
    assert_eq!(figures, [850, 800, 50]);
    assert_eq!((times.undelayed.len(), times.service.len()), (1, 0));
}

#[test]
fn response_times_are_kept_without_the_delay_that_loadline_added() {
    let sent_late = |lateness_ns: u64, service_ns: u64| Exchange {
        intended_ns: 0,
        ready_ns: 500_000,
        start_ns: 500_000 + lateness_ns,
        first_byte_ns: 500_000 + lateness_ns + service_ns,
        end_ns: 500_000 + lateness_ns + service_ns,
        ..exchange(0, 0)
    };
    let exchanges = [
        sent_late(0, 100_000),
        sent_late(900, 100_000),
        sent_late(300_000, 100_000),
        sent_late(300_000, 999_500_000),
    ];
    let times = taken(Model::Open, &exchanges).times;
    let near = |value: u64, expected: u64| value.abs_diff(expected) <= expected / 1_000;
    assert_eq!((times.response.len(), times.undelayed.len()), (4, 4));
    // The wait for a connection is the target's time, or the plan's.
    assert!(
        near(times.undelayed.percentile_ns(75.0), 601_000),
        "{times:?}"
    );
    assert!(near(times.response.percentile_ns(75.0), 900_000));
    assert!(near(times.undelayed.max_ns(), times.response.max_ns()));
    assert!(taken(Model::Closed, &exchanges).times.undelayed.is_empty());
}

#[test]
fn a_split_enters_its_parts_and_what_user_space_would_see() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.split(&Split {
        wait_ns: 5,
        send_ns: 20,
        wire_ns: 300,
        wakeup_ns: 40,
        parse_ns: 7,
    });
    let snapshot = recorder.take(1_000);
    assert_eq!(lengths(&snapshot), [0; 10]);
    let parts = &snapshot.times.each()[10..16];
    let parts: Vec<_> = parts.iter().map(|(_, times)| times.max_ns()).collect();
    assert_eq!(parts, [5, 20, 300, 40, 7, 367]);
}

#[test]
fn requests_are_counted_from_the_intervals_begin() {
    const MS: u64 = 1_000_000;
    let mut recorder = Recorder::new(Model::Open);
    recorder.arrived(5 * MS, 25 * MS, 2);
    assert_eq!(recorder.take(1_000 * MS).arrivals.sent, [0, 2]);
    recorder.arrived(990 * MS, 1_041 * MS, 1);
    let arrivals = recorder.take(2_000 * MS).arrivals;
    assert_eq!(
        arrivals.due,
        [1],
        "due before the interval counts at its begin"
    );
    assert_eq!(arrivals.sent, [0, 0, 1]);
}

#[test]
fn the_user_clock_gives_no_wakeups() {
    let snapshot = taken(Model::Open, &[exchange(0, 10), exchange(0, 20)]);
    assert!(snapshot.times.wakeup.is_empty());
}

#[test]
fn a_timeout_is_a_lower_bound_of_the_answer() {
    let timeout = Exchange {
        intended_ns: 500,
        ..failure(ErrorKind::Timeout, 2_000)
    };
    let snapshot = taken(Model::Open, &[timeout]);
    assert_eq!(snapshot.times.response.max_ns(), 2_501);
    assert_eq!(snapshot.times.service.max_ns(), 2_000);
    assert_eq!(lengths(&snapshot), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(snapshot.counts.failed, 1);
}

#[test]
fn other_failures_enter_no_time() {
    for kind in ErrorKind::ALL {
        if kind != ErrorKind::Timeout {
            let snapshot = taken(Model::Open, &[failure(kind, 2_000)]);
            assert_eq!(lengths(&snapshot), [0; 10], "{kind:?}");
            assert_eq!(snapshot.errors[&kind].count, 1);
        }
    }
}

#[test]
fn a_closed_load_has_no_delay() {
    let exchanges = [
        exchange(0, 100),
        exchange(50, 300),
        failure(ErrorKind::Read, 5),
    ];
    let snapshot = taken(Model::Closed, &exchanges);
    assert_eq!(snapshot.times.response, snapshot.times.service);
    assert_eq!(lengths(&snapshot)[..4], [2, 2, 2, 2]);
    assert_eq!(snapshot.times.blocked.max_ns(), 0);
    assert_eq!(snapshot.times.lateness.max_ns(), 0);
    assert_eq!(snapshot.counts.planned, 3);
}

#[test]
fn an_idle_interval_of_a_closed_load_is_empty() {
    assert_eq!(lengths(&taken(Model::Closed, &[])), [0; 10]);
}

#[test]
fn connections_are_counted_and_timed() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.resolved(5);
    for tls_ns in [None, Some(30)] {
        recorder.dialled(&Dial {
            connect_ns: 20,
            tls_ns,
        });
    }
    recorder.reconnected();
    let snapshot = recorder.take(1);
    assert_eq!(snapshot.counts.connections, 2);
    assert_eq!(snapshot.counts.reconnects, 1);
    assert_eq!(lengths(&snapshot), [0, 0, 0, 0, 1, 2, 1, 0, 0, 0]);
}

#[test]
fn the_first_example_of_an_interval_is_kept() {
    let mut recorder = Recorder::new(Model::Open);
    for text in ["one", "two"] {
        recorder.begin(0);
        recorder.end(&failure(ErrorKind::Connect, 1));
        recorder.failure_example(ErrorKind::Connect, || text.to_owned());
    }
    recorder.failure_example(ErrorKind::Connect, || unreachable!("one is kept already"));
    let errors = recorder.take(1).errors;
    assert_eq!(errors[&ErrorKind::Connect].example, "one");
    assert_eq!(errors[&ErrorKind::Connect].count, 2);
}

#[test]
fn an_example_told_before_the_end_waits_for_it() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.begin(0);
    recorder.failure_example(ErrorKind::Read, || "early".to_owned());
    assert!(recorder.take(1).errors.is_empty());
    recorder.end(&failure(ErrorKind::Read, 1));
    assert_eq!(recorder.take(2).errors[&ErrorKind::Read].example, "early");
}

#[test]
fn an_interval_begins_where_the_last_one_ended() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.begin(0);
    recorder.planned(4);
    let first = recorder.take(700);
    let second = recorder.take(900);
    assert_eq!((first.start_ns, first.end_ns), (0, 700));
    assert_eq!((second.start_ns, second.end_ns), (700, 900));
    assert_eq!(first.counts.planned, 4);
    let carried = Counts {
        in_flight: 1,
        in_flight_ns: 200,
        in_flight_max: 1,
        ..Counts::default()
    };
    assert_eq!(second.counts, carried);
    assert_eq!(recorder.in_flight(), 1);
}

#[test]
fn statuses_of_earlier_intervals_do_not_come_back() {
    let mut recorder = Recorder::new(Model::Open);
    recorder.begin(0);
    recorder.end(&exchange(0, 1));
    recorder.take(1);
    assert!(recorder.take(2).statuses.is_empty());
}

/// An event of a recorder: an exchange begins, an exchange ends, the interval ends.
#[derive(Clone, Debug)]
enum Event {
    Begin,
    End(Exchange),
    Cut,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Begin),
        4 => any_exchange().prop_map(Event::End),
        1 => Just(Event::Cut),
    ]
}

/// Plays the events and returns the snapshots.
fn play(model: Model, events: &[Event]) -> Vec<Snapshot> {
    let mut recorder = Recorder::new(model);
    let mut snapshots = Vec::new();
    for (now_ns, event) in (1..).zip(events) {
        match event {
            Event::Begin => recorder.begin(0),
            Event::End(exchange) if recorder.in_flight() > 0 => recorder.end(exchange),
            Event::End(_) => {}
            Event::Cut => snapshots.push(recorder.take(now_ns)),
        }
    }
    snapshots.push(recorder.take(events.len() as u64 + 1));
    snapshots
}

fn total(snapshots: &[Snapshot]) -> Snapshot {
    let mut total = Snapshot::empty(0);
    snapshots.iter().for_each(|snapshot| total.append(snapshot));
    total
}

proptest! {
    #[test]
    fn every_exchange_is_accounted_for(
        events in prop::collection::vec(any_event(), 0..200),
        model in prop::sample::select(&[Model::Open, Model::Closed]),
    ) {
        let snapshots = play(model, &events);
        let mut in_flight = 0;
        for snapshot in &snapshots {
            prop_assert!(snapshot.balanced(in_flight));
            in_flight = snapshot.counts.in_flight;
            prop_assert_eq!(snapshot.counts.answered, snapshot.statuses.values().sum::<u64>());
            prop_assert_eq!(snapshot.counts.failed, snapshot.failures());
            let timeouts = snapshot.errors.get(&ErrorKind::Timeout).map_or(0, |all| all.count);
            let timed = snapshot.counts.answered + timeouts;
            prop_assert_eq!(lengths(snapshot)[..4].to_vec(), vec![timed; 4]);
            prop_assert_eq!(snapshot.times.rest.len(), snapshot.counts.answered);
        }
        prop_assert!(total(&snapshots).balanced(0));
    }

    #[test]
    fn cuts_lose_nothing(events in prop::collection::vec(any_event(), 0..200)) {
        let uncut: Vec<_> = events
            .iter()
            .filter(|event| !matches!(event, Event::Cut))
            .cloned()
            .collect();
        let mut whole = total(&play(Model::Open, &uncut));
        whole.end_ns = events.len() as u64 + 1;
        let mut cut = total(&play(Model::Open, &events));
        // The instants of these exchanges differ from those at which they are recorded.
        (whole.counts.in_flight_ns, cut.counts.in_flight_ns) = (0, 0);
        prop_assert_eq!(cut, whole);
    }

    /// Exchanges from one instant to another, in intervals with other bounds: the mean in flight
    /// follows from their lengths, wherever the bounds are, and never exceeds the maximum.
    #[test]
    fn what_was_in_flight_is_known_of_every_interval(
        flights in prop::collection::vec((0..5_000u64, 0..2_000u64), 0..60),
        cuts in prop::collection::btree_set(1..6_999u64, 0..20),
    ) {
        const END_NS: u64 = 7_000;
        let within = |from_ns: u64, to_ns: u64| -> u64 {
            let overlap = |(begun_ns, length_ns): &(u64, u64)| {
                to_ns.min(begun_ns + length_ns).saturating_sub(from_ns.max(*begun_ns))
            };
            flights.iter().map(overlap).sum()
        };
        let at_once = |from_ns: u64, to_ns: u64| -> u64 {
            let during = |at_ns: u64| flights.iter().filter(|(begun_ns, length_ns)| {
                (*begun_ns..=begun_ns + length_ns).contains(&at_ns)
            }).count() as u64;
            let begins = flights.iter().map(|(begun_ns, _)| *begun_ns);
            let begins = begins.filter(|at_ns| (from_ns..to_ns).contains(at_ns));
            begins.chain([from_ns]).map(during).max().unwrap_or(0)
        };
        let mut recorder = Recorder::new(Model::Open);
        let mut from_ns = 0;
        for to_ns in cuts.into_iter().chain([END_NS]) {
            let mut told: Vec<(u64, bool, u64)> = Vec::new();
            for (begun_ns, length_ns) in &flights {
                told.push((*begun_ns, false, *length_ns));
                told.push((begun_ns + length_ns, true, *length_ns));
            }
            told.retain(|(at_ns, _, _)| (from_ns..to_ns).contains(at_ns));
            told.sort_unstable();
            for (at_ns, is_end, length_ns) in told {
                match is_end {
                    false => recorder.begin(at_ns),
                    true => recorder.end(&exchange(at_ns - length_ns, length_ns)),
                }
            }
            let counts = recorder.take(to_ns).counts;
            prop_assert_eq!(counts.in_flight_ns, within(from_ns, to_ns));
            prop_assert_eq!(counts.in_flight_max, at_once(from_ns, to_ns));
            let mean = counts.in_flight_mean(to_ns - from_ns);
            prop_assert!(mean.is_none_or(|mean| mean <= counts.in_flight_max as f64));
            from_ns = to_ns;
        }
    }
}

#[test]
fn a_version_that_did_not_count_what_was_in_flight_says_nothing_of_it() {
    let old = Counts {
        sent: 5,
        in_flight: 2,
        ..Counts::default()
    };
    assert_eq!(
        (old.most_in_flight(), old.in_flight_mean(1_000)),
        (None, None)
    );
    let idle = Counts::default();
    assert_eq!(
        (idle.most_in_flight(), idle.in_flight_mean(1_000)),
        (Some(0), Some(0.0))
    );
}
