use super::*;
use loadline_plan::{Arrivals, Load, Plan, Rate, Script, Shape};
use loadline_record::{
    AgentBegin, Distribution, Ended, Environment, Failures, Header, HostCounters, Snapshot,
    Unfinished, Workers,
};
use std::time::{Duration, SystemTime};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn plan(shape: Shape) -> Plan {
    Plan {
        requests: Vec::new(),
        load: Load {
            shape,
            users: 1,
            max_users: 1,
        },
        threads: 2,
        duration: Some(Duration::from_secs(10)),
        ..Plan::default()
    }
}

/// A run of 1 000 responses after 5 ms each, in which nothing went wrong.
fn healthy(shape: Shape) -> Summary {
    let header = Header::new(&plan(shape), Environment::default(), SystemTime::UNIX_EPOCH);
    let mut summary = Summary::new(header);
    let mut interval = Snapshot::empty(0);
    interval.end_ns = 10 * SECOND;
    (interval.counts.planned, interval.counts.sent) = (1_000, 1_000);
    interval.counts.answered = 1_000;
    interval.times.response.record_many_ns(5 * MS, 1_000);
    interval.times.service.record_many_ns(9_900_000, 1_000);
    interval.times.lateness.record_many_ns(20_000, 1_000);
    interval.workers = [(0, worker(0.1, 0.01)), (1, worker(0.2, 0.02))].into();
    summary.observe(&interval);
    summary.host = HostCounters {
        cpu_ticks: 2_000,
        steal_ticks: 20,
        segments: 4_000,
        retransmitted: 2,
        ..HostCounters::default()
    };
    summary.finish(Ended::Duration, Unfinished::default());
    summary
}

fn open() -> Summary {
    healthy(Shape::Rate {
        rate: "100".parse::<Rate>().unwrap(),
        arrivals: Arrivals::Constant,
    })
}

fn closed() -> Summary {
    healthy(Shape::Closed)
}

fn worker(cpu: f64, queued: f64) -> WorkerTimes {
    WorkerTimes {
        wall_ns: 10 * SECOND,
        cpu_ns: (cpu * 1e10) as u64,
        queued_ns: (queued * 1e10) as u64,
        ..WorkerTimes::default()
    }
}

/// Grade and name of what is found after a change to a healthy run.
fn found(mut summary: Summary, change: impl FnOnce(&mut Summary)) -> Vec<(Grade, &'static str)> {
    change(&mut summary);
    let findings = validity(&summary).list.into_iter();
    findings
        .map(|finding| (finding.grade, finding.cause.name()))
        .collect()
}

fn with_worker(cpu: f64, queued: f64) -> impl FnOnce(&mut Summary) {
    move |summary| summary.total.workers = Workers::from([(0, worker(cpu, queued))])
}

#[test]
fn nothing_speaks_against_a_healthy_run() {
    for summary in [open(), closed()] {
        assert_eq!(validity(&summary), Findings::default());
        assert_eq!(validity(&summary).grade(), Grade::Valid);
    }
}

#[test]
fn more_than_a_hundredth_of_dropped_iterations_makes_a_result_suspect() {
    let dropping = |dropped: u64, iterations: u64| {
        move |summary: &mut Summary| {
            summary.total.counts.planned = 1_000 + dropped;
            summary.total.counts.dropped = dropped;
            let times = &mut summary.total.times.iteration;
            (0..iterations).for_each(|_| times.record_ns(SECOND));
        }
    };
    assert_eq!(found(open(), dropping(0, 0)), []);
    assert_eq!(found(open(), dropping(10, 0)), []);
    let suspect = [(Grade::Suspect, "dropped")];
    assert_eq!(found(open(), dropping(11, 0)), suspect);
    // Of 100 iterations of ten requests.
    assert_eq!(found(open(), dropping(2, 100)), suspect);
}

/// Ten more seconds, in the last ones of which this many requests failed and none was answered.
fn with_an_outage(kind: ErrorKind, seconds: usize, failed: u64) -> impl FnOnce(&mut Summary) {
    move |summary| {
        for index in 0..10 {
            let mut second = Snapshot::empty((10 + index as u64) * SECOND);
            second.end_ns = second.start_ns + SECOND;
            match index < 10 - seconds {
                true => second.counts.answered = 100,
                false => second.counts.failed = failed / seconds as u64,
            }
            summary.observe(&second);
        }
        let failures = Failures {
            count: failed,
            ..Failures::default()
        };
        summary.total.errors = [(kind, failures)].into();
        summary.duration_ns = 20 * SECOND;
    }
}

#[test]
fn a_closed_load_that_waited_for_an_unreachable_target_is_no_evidence() {
    use ErrorKind::{Connect, Timeout};
    let outage = |grade| [(grade, "unreachable")];
    let second = with_an_outage(Connect, 1, 12);
    assert_eq!(found(closed(), second), outage(Grade::Suspect));
    let three = || with_an_outage(Connect, 3, 33);
    assert_eq!(found(closed(), three()), outage(Grade::Invalid));
    // A Lua script's users wait, those of other languages do not.
    let scripted = |path: &str| {
        let script = Script {
            path: path.into(),
            args: Vec::new(),
            crc32: None,
            names_urls: false,
        };
        move |summary: &mut Summary| {
            three()(summary);
            summary.plan.script = Some(script);
        }
    };
    assert_eq!(found(closed(), scripted("a.lua")), outage(Grade::Invalid));
    assert_eq!(found(closed(), scripted("a.py")), []);
    // Each arrival of an open load counts, and nothing is missing where as many fail as were sent.
    assert_eq!(found(open(), three()), []);
    assert_eq!(found(closed(), with_an_outage(Connect, 3, 300)), []);
    // A target that takes connections and hangs can be reached.
    assert_eq!(found(closed(), with_an_outage(Timeout, 3, 33)), []);
    // A run that never reached its target says so itself.
    let unreached = |summary: &mut Summary| {
        three()(summary);
        summary.total.counts.answered = 0;
    };
    assert_eq!(found(closed(), unreached), []);
}

#[test]
fn a_busy_worker_is_a_note_in_an_open_load_and_the_limit_in_a_closed_one() {
    use Grade::Valid;
    assert_eq!(found(open(), with_worker(0.84, 0.0)), []);
    assert_eq!(found(open(), with_worker(0.86, 0.0)), [(Valid, "busy")]);
    assert_eq!(found(closed(), with_worker(0.84, 0.0)), []);
    assert_eq!(found(closed(), with_worker(0.86, 0.0)), [(Valid, "limit")]);
}

/// A minute of an open load in which a worker computed for this share of this many seconds in a
/// row.
fn with_a_wave(share: f64, seconds: usize) -> Summary {
    let mut summary = open();
    for index in 0..60 {
        let mut second = Snapshot::empty((10 + index as u64) * SECOND);
        second.end_ns = second.start_ns + SECOND;
        let share = if (20..20 + seconds).contains(&index) {
            share
        } else {
            0.2
        };
        let times = WorkerTimes {
            wall_ns: SECOND,
            cpu_ns: (SECOND as f64 * share) as u64,
            ..WorkerTimes::default()
        };
        second.workers = [(0, times)].into();
        summary.observe(&second);
    }
    summary.finish(Ended::Duration, Unfinished::default());
    summary
}

#[test]
fn a_worker_that_was_busy_for_ten_seconds_is_found_in_a_minute() {
    let names = |summary: &Summary| -> Vec<&str> {
        let findings = validity(summary).list.into_iter();
        findings.map(|finding| finding.cause.name()).collect()
    };
    let wave = with_a_wave(0.9, 10);
    assert_eq!(validity(&wave).grade(), Grade::Valid);
    let Cause::BusyAtTimes { stretch } = validity(&wave).list[0].cause else {
        panic!("{:?}", validity(&wave));
    };
    assert_eq!(
        (stretch.start_ns, stretch.end_ns),
        (30 * SECOND, 40 * SECOND)
    );
    assert_eq!(
        names(&with_a_wave(0.9, 9)),
        [""; 0],
        "nine seconds are no stretch"
    );
    assert_eq!(names(&with_a_wave(0.8, 30)), [""; 0]);
}

#[test]
fn agents_that_do_not_begin_together_are_a_note_that_names_the_worst() {
    let begin = |agent: &str, late_ns, clock_error_ns| AgentBegin {
        agent: agent.to_owned(),
        late_ns,
        clock_error_ns,
    };
    let off = |summary: &mut Summary| {
        summary.begins_off = vec![
            begin("one", 0, 6_000_000),
            begin("two", 4_000_000, 3_000_000),
        ];
    };
    assert_eq!(found(open(), off), [(Grade::Valid, "uneven_begin")]);
    let mut summary = open();
    off(&mut summary);
    let findings = validity(&summary);
    let expected = Cause::UnevenBegin {
        agent: "two".to_owned(),
        late_ns: 4_000_000,
        clock_error_ns: 3_000_000,
        others: 1,
    };
    assert_eq!(findings.list[0].cause, expected);
}

#[test]
fn neighbours_are_noticed() {
    use Grade::Valid;
    for summary in [open(), closed()] {
        let crowded = found(summary.clone(), with_worker(0.1, 0.21));
        assert_eq!(crowded, [(Valid, "crowded")]);
        let stolen = |summary: &mut Summary| summary.host.steal_ticks = 101;
        assert_eq!(found(summary.clone(), stolen), [(Valid, "stolen")]);
        let lost = |summary: &mut Summary| summary.host.retransmitted = 41;
        assert_eq!(found(summary, lost), [(Valid, "lost")]);
    }
}

#[test]
fn a_loop_that_stalled_is_noted_in_either_model() {
    let turned = |length_ns: u64, count: u64| {
        move |summary: &mut Summary| {
            let worker = summary.total.workers.entry(0).or_default();
            worker.add_loop_iterations(length_ns, count);
        }
    };
    for summary in [open(), closed()] {
        assert_eq!(found(summary.clone(), turned(50 * MS, 100)), []);
        assert_eq!(
            found(summary.clone(), turned(51 * MS, 1)),
            [(Grade::Valid, "stood_still")]
        );
        let mut long = summary;
        long.total.workers.entry(0).or_default().wall_ns = 1_000 * SECOND;
        assert_eq!(found(long, turned(900 * MS, 1)), []);
    }
}

#[test]
fn what_ran_out_here_is_our_fault_in_either_model() {
    use Grade::{Invalid, Suspect};
    let failed = |kind: ErrorKind, count: u64| {
        move |summary: &mut Summary| {
            let example = String::new();
            let failures = Failures { count, example };
            summary.total.errors.insert(kind, failures);
        }
    };
    let kinds = [
        (ErrorKind::Ports, "ports"),
        (ErrorKind::Descriptors, "descriptors"),
    ];
    for (kind, name) in kinds {
        for summary in [open(), closed()] {
            assert_eq!(found(summary.clone(), failed(kind, 1)), [(Suspect, name)]);
            assert_eq!(found(summary.clone(), failed(kind, 10)), [(Suspect, name)]);
            assert_eq!(found(summary, failed(kind, 11)), [(Invalid, name)]);
        }
    }
    assert_eq!(found(open(), failed(ErrorKind::Connect, 500)), []);
}

#[test]
fn a_few_lost_segments_are_no_trouble() {
    let few = |summary: &mut Summary| {
        (summary.host.segments, summary.host.retransmitted) = (100, 10);
    };
    assert_eq!(found(open(), few), []);
}

#[test]
fn a_record_that_breaks_off_is_suspect() {
    let killed = |summary: &mut Summary| summary.complete = false;
    assert_eq!(found(closed(), killed), [(Grade::Suspect, "broken_off")]);
}

#[test]
fn a_moment_or_a_handful_of_requests_is_not_judged() {
    let late = |sends| {
        found(open(), |summary| {
            let of = |ns: u64| {
                let mut times = Distribution::default();
                times.record_many_ns(ns, sends);
                times
            };
            let times = &mut summary.total.times;
            (times.lateness, times.response) = (of(3 * MS), of(8 * MS));
            times.undelayed = of(5 * MS);
        })
    };
    assert_eq!(late(19), []);
    assert_eq!(late(20), [(Grade::Suspect, "late")]);
    let crowded = |wall_ns| {
        found(open(), |summary| {
            let times = WorkerTimes {
                wall_ns,
                queued_ns: wall_ns / 2,
                ..WorkerTimes::default()
            };
            summary.total.workers = [(0, times)].into();
        })
    };
    assert_eq!(crowded(99 * MS), []);
    assert_eq!(crowded(100 * MS), [(Grade::Valid, "crowded")]);
}
