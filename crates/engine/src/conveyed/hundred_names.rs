//! The size of the reports of a part with one name or a hundred at 2 000 requests a second, and the
//! cost to read and merge them: in allocations and bytes, which are the same on every machine.

use super::*;
use crate::Event;
use crate::merger::Merger;
use crate::not_due::NotDue;
use crate::part_reports::PartReports;
use crate::report::{MemberReport, Report};
use crate::simulated::plans::{SECOND, open};
use allocation_counter::measure;
use loadline_metrics::{Key, SeriesId, SeriesTable};
use loadline_plan::Plan;
use loadline_record::{Model, Outcome, Recorder, WorkerTimes};
use std::time::Instant;

const NAMES: u32 = 100;
const RATE: u64 = 2_000;
const SECONDS: u64 = 5;
/// The parts of the run.
const PARTS: u32 = 2;

/// The most bytes of a report, the first one included: with one name, and with a hundred. Times
/// that are spread so widely fill many more buckets than those of a server on loopback, with which
/// a report of one name has some 2.5 KB.
const MOST_BYTES_OF_ONE: usize = 6 * 1_024;
const MOST_BYTES: usize = 12 * 1_024;
/// The most allocations and bytes with which a report becomes a part of the run's record.
const MOST_ALLOCATIONS: u64 = 2_000;
const MOST_ALLOCATED_BYTES: u64 = 1_536 * 1_024;

/// Returns the reports of a part with one worker and so many names: one for each second. Response
/// times have an exponential distribution around 1 ms.
fn reports(worker: u32, names: u32) -> Vec<Vec<u8>> {
    let mut table = SeriesTable::new(2_000);
    let ids: Vec<SeriesId> = (1..=names)
        .map(|number| {
            let name = format!("http://127.0.0.1:38551/item/{number}");
            table.intern(&Key::new(&name).expect("a name"))
        })
        .collect();
    let mut recorder = Recorder::new(Model::Open).with_series(table);
    let mut writer = ReportWriter::default();
    let mut part = PartReports::new(worker..worker + 1, 1);
    let seconds = (0..SECONDS).map(|second| {
        for number in 0..RATE {
            let exchange = exchange(second * SECOND + number * SECOND / RATE, number);
            recorder.begin(exchange.start_ns);
            recorder.arrived(exchange.ready_ns, exchange.start_ns, 1);
            recorder.end(&exchange);
            let id = ids[(number % u64::from(names)) as usize];
            recorder.count_in_series(id, &exchange);
        }
        let mut snapshot = recorder.take((second + 1) * SECOND);
        snapshot.workers.insert(worker, WorkerTimes::default());
        part.take(MemberReport {
            member: worker as usize,
            scenario: 0,
            report: Report::Interval(Interval {
                snapshot: Box::new(snapshot),
                tally: None,
                followed_ns: SECOND,
                begun: 0,
                changes: Vec::new(),
                gone: Gone::default(),
                not_due: NotDue::default(),
            }),
        });
        let report = part.next().expect("an interval");
        writer.write(&report).expect("bytes")
    });
    seconds.collect()
}

fn exchange(intended_ns: u64, number: u64) -> Exchange {
    // Numbers below 1 that are spread evenly, by the golden ratio.
    let uniform = (number as f64 * 0.618_033_988_749_895).fract();
    let took_ns = (-(1.0 - uniform).ln() * 1e6) as u64 + 50_000;
    let late_ns = 2_000 + number * 37 % 900;
    let start_ns = intended_ns + late_ns;
    Exchange {
        intended_ns,
        ready_ns: intended_ns,
        start_ns,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: start_ns,
        first_byte_ns: start_ns + took_ns,
        end_ns: start_ns + took_ns + 2_000,
        wakeup_ns: 5_000 + number * 91 % 2_000,
        bytes_in: 60,
        bytes_out: 40,
        outcome: Outcome::Answered { status: 200 },
        request: None,
    }
}

/// Calls `each` with a function for each report, which reads and merges it. Returns the requests
/// that are counted.
fn merge_each(mut each: impl FnMut(&mut dyn FnMut())) -> u64 {
    let plan = Plan {
        threads: PARTS,
        ..open(2 * RATE, 2, SECONDS * SECOND)
    };
    let members: Vec<Range<u32>> = (0..PARTS).map(|part| part..part + 1).collect();
    let mut merger = Merger::of_members(&plan, &members);
    let reader = |part: &Range<u32>| ReportReader::new(part.clone(), 1, None);
    let mut readers: Vec<ReportReader> = members.iter().map(reader).collect();
    let all: Vec<Vec<Vec<u8>>> = (0..PARTS).map(|part| reports(part, NAMES)).collect();
    let mut answered = 0;
    for second in 0..SECONDS as usize {
        for (part, reports) in all.iter().enumerate() {
            each(&mut || {
                let report = readers[part].read(&reports[second]).expect("a report");
                for told in report.into_reports(part) {
                    merger.take(told.member, told.scenario, told.report);
                }
                while let Some(event) = merger.event() {
                    if let Event::Interval(snapshot) = event {
                        answered += snapshot.counts.answered;
                    }
                }
            });
        }
    }
    answered
}

#[test]
fn each_report_is_small_also_the_first_which_has_the_names() {
    for (names, most) in [(1, MOST_BYTES_OF_ONE), (NAMES, MOST_BYTES)] {
        let sizes: Vec<usize> = reports(0, names).iter().map(Vec::len).collect();
        assert_eq!(sizes.len(), SECONDS as usize);
        assert!(sizes.iter().all(|size| *size <= most), "{sizes:?}");
    }
}

#[test]
fn to_merge_a_report_of_a_hundred_names_allocates_little() {
    let mut costs = Vec::new();
    let answered = merge_each(|merge| {
        let cost = measure(merge);
        costs.push((cost.count_total, cost.bytes_total));
    });
    assert_eq!(answered, u64::from(PARTS) * RATE * SECONDS);
    // The first reports have the names, too.
    let later = &costs[PARTS as usize..];
    let is_little =
        |(count, bytes): &(u64, u64)| *count <= MOST_ALLOCATIONS && *bytes <= MOST_ALLOCATED_BYTES;
    assert!(later.iter().all(is_little), "{costs:?}");
}

#[test]
#[ignore = "soak: prints how long it takes, for the guide"]
fn the_time_to_merge_a_report_of_a_hundred_names() {
    let mut times_ms = Vec::new();
    for _ in 0..100 {
        let answered = merge_each(|merge| {
            let since = Instant::now();
            merge();
            times_ms.push(since.elapsed().as_secs_f64() * 1e3);
        });
        assert_eq!(answered, u64::from(PARTS) * RATE * SECONDS);
    }
    times_ms.sort_by(f64::total_cmp);
    let rank = |percent: usize| times_ms[times_ms.len() * percent / 100];
    let bytes = [1, NAMES].map(|names| {
        let sizes = reports(0, names).iter().map(Vec::len).collect::<Vec<_>>();
        (names, sizes)
    });
    println!("{:.3} ms (median), {:.3} ms (p95)", rank(50), rank(95));
    println!("bytes by names: {bytes:?}");
}
