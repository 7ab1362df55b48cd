//! The memory of the series of a run at their bound, with the course of the busiest names.

use loadline_metrics::{
    DEFAULT_MOST, Key, RequestOutcome, SeriesId, SeriesRecorder, SeriesSet, SeriesTable,
};
use loadline_record::{NameHistory, Snapshot};

/// Returns the resident memory of this process in bytes.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux has /proc");
    let pages = status.split(' ').nth(1).expect("a second field");
    pages.parse::<usize>().expect("a number") * 4_096
}

/// Two workers, the totals and the history over a minute, each series with times from 0.1 ms to
/// 100 ms.
#[test]
fn two_thousand_names_and_their_history_take_at_most_forty_megabytes() {
    let before = resident_bytes();
    let mut table = SeriesTable::new(DEFAULT_MOST);
    for index in 0..DEFAULT_MOST {
        table.intern(&Key::new(&format!("https://shop.example/articles/{index}")).unwrap());
    }
    let mut workers = [0, 1].map(|_| SeriesRecorder::new(table.clone()));
    let (mut total, mut history) = (SeriesSet::new(DEFAULT_MOST), NameHistory::default());
    let mut most = 0;
    for second in 0..60_u64 {
        let mut interval = Snapshot::empty(second * 1_000_000_000);
        interval.end_ns += 1_000_000_000;
        for worker in &mut workers {
            for request in 0..20_000_u64 {
                let spread = (request * 7_919 + second * 104_729) % 1_000;
                let time_ns = (100_000.0 * 1_000_f64.powf(spread as f64 / 1_000.0)) as u64;
                let id = SeriesId((request % u64::from(DEFAULT_MOST)) as u32);
                worker.record(id, RequestOutcome::Answered { status: 200 }, time_ns, true);
            }
            interval.series.merge(&worker.take());
        }
        total.merge(&interval.series);
        history.observe(&interval, &total);
        most = most.max(resident_bytes().saturating_sub(before));
    }
    assert_eq!(total.total().answered, 60 * 2 * 20_000);
    assert_eq!(history.moments().len(), 60);
    println!("{most} bytes");
    assert!(most <= 40_000_000, "{most} bytes");
}
