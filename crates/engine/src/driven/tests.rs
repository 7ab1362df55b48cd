//! Workers driven by a loop that waits for their descriptors with poll(2).

use super::*;
use crate::simulated::plans::{closed, open, time};
use crate::{
    EndReason, Event, NextReport, ReportReader, ReportWriter, Run, RunPart, WorkerFailure,
};
use loadline_reactor::monotonic_ns;
use loadline_record::{Snapshot, Unfinished};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const MS: u64 = 1_000_000;

/// Starts a server that answers everything it receives, a request at a time on each connection.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    let mut buffer = [0; 4_096];
    while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}

fn to(address: SocketAddr, mut plan: Plan) -> Plan {
    plan.requests[0].url = format!("http://{address}/").parse().expect("a URL");
    plan
}

/// Waits until a descriptor is readable; fails if that takes ten seconds.
fn wait_for(worker: &DrivenWorker) {
    let mut fds = [PollFd::new(worker, PollFlags::IN)];
    let patience = Timespec {
        tv_sec: 10,
        tv_nsec: 0,
    };
    let ready = poll(&mut fds, Some(&patience)).expect("a wait");
    assert_eq!(ready, 1, "nothing is due");
}

/// The result of a run whose workers are driven by this thread.
struct Driven {
    total: Snapshot,
    reason: EndReason,
    unfinished: Unfinished,
    /// The number of turns of all workers.
    turns: u64,
}

fn drive(plan: &Plan) -> Driven {
    let launches = [Launch::requests(plan)];
    let prepare =
        |index| DrivenWorker::prepare(plan, Detail::default(), &launches, index).expect("a server");
    let mut workers: Vec<DrivenWorker> = (0..plan.threads).map(prepare).collect();
    let begin_ns = monotonic_ns() + MS;
    let (mut run, inlet) = Run::elsewhere(plan, workers[0].ready().clone(), begin_ns);
    for worker in &mut workers {
        worker.begin(begin_ns, inlet.clone());
        worker.turn().expect("a loop");
    }
    let turns = workers.iter_mut().map(turn_to_the_end).sum();
    ended(&mut run, turns)
}

/// Takes the turns of a worker up to its last one, and returns their number. Pending work of others
/// waits in their descriptors meanwhile.
fn turn_to_the_end(worker: &mut DrivenWorker) -> u64 {
    let mut turns = 0;
    loop {
        wait_for(worker);
        turns += 1;
        if !worker.turn().expect("a loop") {
            return turns;
        }
    }
}

/// Returns the result of a run whose reports are all there.
fn ended(run: &mut Run, turns: u64) -> Driven {
    let mut total = Snapshot::default();
    loop {
        match run.next_event(Duration::ZERO) {
            Some(Event::Interval(snapshot)) => total.append(&snapshot),
            Some(Event::Ended { reason, unfinished }) => {
                return Driven {
                    total,
                    reason,
                    unfinished: *unfinished,
                    turns,
                };
            }
            Some(_) => {}
            None => panic!("the run does not end"),
        }
    }
}

/// Drives two workers, each of which is a part of the run. Their reports go through bytes, except
/// that the part `lost` is lost before its first one.
fn drive_in_parts(plan: &Plan, lost: Option<usize>) -> Driven {
    let launches = [Launch::requests(plan)];
    let begin_ns = monotonic_ns();
    let workers = [0..1, 1..2];
    let mut turns = 0;
    let drive = |worker: &std::ops::Range<u32>| {
        let prepared = DrivenWorker::prepare(plan, Detail::default(), &launches, worker.start);
        let mut driven = prepared.expect("a server");
        let ready = driven.ready().clone();
        let (part, inlet) = RunPart::elsewhere(plan, worker.clone(), ready, begin_ns);
        driven.begin(begin_ns, inlet);
        driven.turn().expect("a loop");
        turns += turn_to_the_end(&mut driven);
        (part, driven.ready().clone())
    };
    let parts: Vec<_> = workers.iter().map(drive).collect();
    let (mut run, inlet) = Run::of_parts(plan, &workers, parts[0].1.clone(), begin_ns);
    for (number, (mut part, _)) in parts.into_iter().enumerate() {
        if lost == Some(number) {
            inlet.lose_part(number, WorkerFailure::Stuck { worker: number });
            continue;
        }
        let mut writer = ReportWriter::default();
        let mut reader = ReportReader::new(workers[number].clone(), 1, None);
        while let NextReport::Report(report) = part.next_report(Duration::ZERO) {
            let bytes = writer.write(&report).expect("bytes");
            inlet.report_part(number, reader.read(&bytes).expect("its report"));
        }
        assert!(matches!(part.next_report(Duration::ZERO), NextReport::Over));
    }
    ended(&mut run, turns)
}

#[test]
fn a_closed_load_is_driven_to_its_last_request() {
    let mut plan = to(serve(), closed(3, 60_000 * MS));
    plan.request_limit = Some(200);
    let driven = drive(&plan);
    let counts = driven.total.counts;
    assert_eq!((counts.sent, counts.answered, counts.failed), (200, 200, 0));
    assert_eq!(driven.reason, EndReason::Requests);
}

#[test]
fn the_parts_of_driven_workers_add_up_to_the_last_request() {
    let mut plan = to(serve(), closed(3, 60_000 * MS));
    (plan.threads, plan.request_limit) = (2, Some(200));
    let driven = drive_in_parts(&plan, None);
    let counts = driven.total.counts;
    assert_eq!((counts.sent, counts.answered, counts.failed), (200, 200, 0));
    let workers: Vec<_> = driven.total.workers.keys().copied().collect();
    assert_eq!(workers, [0, 1]);
    assert_eq!(driven.reason, EndReason::Requests);
}

#[test]
fn a_run_goes_on_without_a_driven_part_that_is_lost() {
    let mut plan = to(serve(), closed(4, 60_000 * MS));
    (plan.threads, plan.request_limit) = (2, Some(200));
    let driven = drive_in_parts(&plan, Some(1));
    let counts = driven.total.counts;
    assert_eq!((counts.sent, counts.answered), (100, 100));
    assert_eq!(driven.reason, EndReason::Failed);
}

#[test]
fn deadlines_make_the_descriptor_readable() {
    let mut plan = to(serve(), open(100, 2, 500 * MS));
    plan.connection.drain = time(5_000 * MS);
    let driven = drive(&plan);
    let counts = driven.total.counts;
    assert_eq!((counts.planned, counts.sent, counts.answered), (50, 50, 50));
    assert_eq!(driven.reason, EndReason::Duration);
    // Every request has a start, a response and a few turns between; a busy loop would have made
    // thousands.
    assert!(driven.turns < 1_000, "{}", driven.turns);
}

#[test]
fn a_worker_that_is_driven_late_still_counts_all_its_arrivals() {
    let mut plan = to(serve(), open(100, 4, 300 * MS));
    plan.threads = 2;
    plan.connection.drain = time(5_000 * MS);
    let driven = drive(&plan);
    let counts = driven.total.counts;
    let planned = counts.sent + driven.unfinished.unsent;
    assert_eq!((counts.planned, planned), (30, 30));
    assert_eq!(counts.answered, counts.sent);
}

#[test]
fn a_target_that_is_not_there_is_said_before_the_load() {
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let plan = to(nobody.expect("a free port"), closed(1, MS));
    let launches = [Launch::requests(&plan)];
    let refused = DrivenWorker::prepare(&plan, Detail::default(), &launches, 0);
    assert!(matches!(refused, Err(StartError::Unreachable { .. })));
}
