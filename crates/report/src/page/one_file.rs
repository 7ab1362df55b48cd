//! The size of the one file that is report and baseline, of a long run.

use super::*;
use loadline_metrics::{Key, SeriesId, SeriesTable};
use loadline_page::Page;
use loadline_plan::{Arrivals, Load, Plan, Rate};
use loadline_record::{
    Ended, Environment, Exchange, Header, MOST_RUN_BYTES, Outcome, Recorder, RunFile, RunWriter,
    Unfinished, run_element_within,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The length of the run, in seconds.
const SECONDS: u64 = 3_600;
const NAMES: usize = 50;
const REQUESTS_PER_S: u64 = 1_000;
/// The template of the page is smaller; its own test says so.
const TEMPLATE_BYTES: usize = 160_000;
const MOST_BYTES: usize = 5_000_000;

fn header() -> Header {
    let plan = Plan {
        duration: Some(Duration::from_secs(SECONDS)),
        load: Load {
            shape: loadline_plan::Shape::Rate {
                rate: Rate::each_second(1_000),
                arrivals: Arrivals::Constant,
            },
            ..Load::default()
        },
        ..Plan::default()
    };
    Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH)
}

/// A response that takes a millisecond and an exponential time, of a sequence of its own.
fn exchange(start_ns: u64, random: &mut u64) -> Exchange {
    // Knuth's linear congruential generator (MMIX); its upper bits are random enough.
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let fraction = (*random >> 33) as f64 / (1_u64 << 31) as f64;
    let service_ns = 1_000_000 - (3e6 * (1.0 - fraction).ln()) as i64;
    let end_ns = start_ns + service_ns.unsigned_abs();
    Exchange {
        intended_ns: start_ns,
        ready_ns: start_ns,
        start_ns,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: start_ns,
        first_byte_ns: end_ns - 100_000,
        end_ns,
        wakeup_ns: 1_000,
        bytes_in: 400,
        bytes_out: 100,
        outcome: Outcome::Answered { status: 200 },
        request: None,
    }
}

/// Saves the run in this file. Returns it, and its response times over time.
fn saved(path: &Path) -> (RunResult, Heat) {
    let mut table = SeriesTable::new(2_000);
    let name = |index| Key::new(&format!("GET /shop/items/{index}")).expect("a name");
    let ids: Vec<SeriesId> = (0..NAMES).map(|index| table.intern(&name(index))).collect();
    let mut recorder = Recorder::new(Model::Open).with_series(table);
    let mut writer = RunWriter::create(path, &header()).expect("a file");
    let (mut summary, mut heat) = (Summary::new(header()), Heat::default());
    let mut random = 7;
    recorder.take(0);
    for second in 0..SECONDS {
        for (number, id) in (0..REQUESTS_PER_S).zip(ids.iter().cycle()) {
            let start_ns = second * 1_000_000_000 + number * 1_000_000;
            let exchange = exchange(start_ns, &mut random);
            recorder.planned(1);
            recorder.begin(start_ns);
            recorder.arrived(start_ns, start_ns, 1);
            recorder.end(&exchange);
            recorder.count_in_series(*id, &exchange);
        }
        let snapshot = recorder.take((second + 1) * 1_000_000_000);
        writer.interval(&snapshot).expect("an interval");
        heat_interval(&mut heat, &snapshot);
        summary.observe(&snapshot);
    }
    summary.finish(Ended::Duration, Unfinished::default());
    writer.finish(&summary).expect("an end");
    (RunResult::new(summary), heat)
}

#[test]
fn the_file_of_an_hour_with_fifty_names_is_short_and_its_sums_are_exact() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hour.run");
    let (run, heat) = saved(&path);
    let data = serde_json::to_string(&Page::Run(Box::new(run_page(&run, &heat))));
    let data = data.expect("a page is plain data");
    let element = run_element_within(&path, MOST_RUN_BYTES).expect("it is a run");
    let element = element.expect("it can be short");
    let (page, whole) = (data.len() + TEMPLATE_BYTES, element.len());
    assert!(page + whole <= MOST_BYTES, "{page} and {whole} bytes");
    let report = folder.path().join("report.html");
    std::fs::write(&report, format!("<p>{element}")).expect("a file");
    let within = RunFile::read(&report)
        .expect("it holds the run")
        .into_summary();
    assert_eq!(within.total, run.summary.total);
    assert_eq!(within.total.counts.answered, SECONDS * REQUESTS_PER_S);
    assert_eq!(within.total.series.len(), NAMES);
    assert_eq!(within.duration_ns, run.summary.duration_ns);
    let stretches = within.rows.len();
    assert!((20..1_000).contains(&stretches), "{stretches} stretches");
}
