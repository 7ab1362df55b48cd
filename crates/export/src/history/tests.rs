use super::*;
use loadline_plan::Plan;
use loadline_record::{Ended, Header, Unfinished};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn result(second: u64, response_ms: u64) -> RunResult {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    let environment = Environment {
        cpu_model: Some("A processor".to_owned()),
        cores: Some(4),
        ..Environment::default()
    };
    let mut summary = Summary::new(Header::new(&Plan::default(), environment, at));
    summary.total.counts.answered = 1_000;
    summary.total.counts.completed = 1_000;
    summary
        .total
        .times
        .response
        .record_many_ns(response_ms * 1_000_000, 1_000);
    summary.finish(Ended::Duration, Unfinished::default());
    summary.duration_ns = 1_000_000_000;
    RunResult::new(summary)
}

fn add(history: &mut History, test: &str, results: &[RunResult]) -> Result<(), HistoryError> {
    let runs: Vec<NewRun<'_>> = results
        .iter()
        .map(|result| NewRun {
            test,
            commit: Some("abc"),
            verdict: "passed",
            result,
        })
        .collect();
    history.add(&runs)
}

/// Both kinds of places.
fn places() -> (TempDir, [PathBuf; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let places = [
        folder.path().join("runs.sqlite"),
        folder.path().join("runs"),
    ];
    (folder, places)
}

#[test]
fn runs_are_read_in_their_order_with_the_figure_that_is_asked_for() {
    let (_folder, places) = places();
    for place in &places {
        let mut history = History::open(place).unwrap();
        add(&mut history, "one", &[result(1, 10), result(2, 20)]).unwrap();
        add(&mut history, "two", &[result(3, 30)]).unwrap();
        drop(history);
        let mut history = History::open_existing(place).unwrap();
        add(&mut history, "one", &[result(4, 40)]).unwrap();
        assert_eq!(history.tests().unwrap(), ["one", "two"]);
        let runs = history.runs("one", "p95", 100).unwrap();
        let ms: Vec<u64> = runs
            .iter()
            .map(|run| (run.value.unwrap() / 1e6) as u64)
            .collect();
        assert_eq!(ms, [10, 20, 40]);
        assert_eq!(runs[0].started_at, "1970-01-01T00:00:01.000000000Z");
        assert_eq!(runs[0].machine, "A processor, 4 cores");
        assert_eq!(runs[0].commit.as_deref(), Some("abc"));
        let last = history.runs("one", "p99.99", 1).unwrap();
        assert_eq!(
            (last.len(), last[0].value),
            (1, None),
            "a thousand are too few"
        );
        let figures = history.figures("two").unwrap();
        assert_eq!(figures, ["p50", "p75", "p90", "p95", "p99", "mean", "rate"]);
    }
}

#[test]
fn baselines_are_kept_by_name_and_replaced_alone() {
    let (_folder, places) = places();
    for place in &places {
        let mut history = History::open(place).unwrap();
        assert_eq!(history.baseline("main").unwrap(), None);
        history.keep("main", b"one").unwrap();
        history.keep("release-1.2", b"two").unwrap();
        history.keep("main", b"three").unwrap();
        assert_eq!(history.baseline("main").unwrap().unwrap(), b"three");
        assert_eq!(history.baseline("release-1.2").unwrap().unwrap(), b"two");
        for name in ["", ".", "..", "a/b", "../a", "-a", "a b", &"a".repeat(101)] {
            assert!(
                matches!(history.keep(name, b"x"), Err(HistoryError::BadName(_))),
                "{name}"
            );
        }
    }
    assert_eq!(fs::read(places[1].join("main.run")).unwrap(), b"three");
}

/// Returns the error at this place, and asserts that the file is unchanged.
fn refused(place: &Path) -> String {
    let before = fs::read(place).unwrap();
    let error = History::open(place).unwrap_err();
    assert_eq!(fs::read(place).unwrap(), before);
    error.to_string()
}

#[test]
fn what_is_no_history_of_this_version_is_refused_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a.sqlite");
    fs::write(
        &place,
        "no database at all, but a long enough text.".repeat(50),
    )
    .unwrap();
    assert!(refused(&place).contains("is no SQLite database"));
    fs::remove_file(&place).unwrap();
    let other = Connection::open(&place).unwrap();
    other.execute_batch("CREATE TABLE precious (x)").unwrap();
    drop(other);
    assert!(refused(&place).contains("is a database, and no history of runs"));
    fs::remove_file(&place).unwrap();
    drop(History::open(&place).unwrap());
    let newer = Connection::open(&place).unwrap();
    newer.pragma_update(None, "user_version", 7).unwrap();
    drop(newer);
    let said = refused(&place);
    assert!(
        said.contains("a history of version 7, and this Loadline reads version 1"),
        "{said}"
    );
    let replaced = crate::sqlite::check_replaceable(&place).unwrap_err();
    assert!(matches!(replaced, DatabaseError::History(_)), "{replaced}");
    let missing = History::open_existing(&folder.path().join("none.sqlite")).unwrap_err();
    assert!(matches!(missing, HistoryError::Missing(_)));
}

#[test]
fn a_locked_history_is_told_and_nothing_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a.sqlite");
    let mut history = History::open(&place).unwrap();
    history
        .connection
        .busy_timeout(Duration::from_millis(10))
        .unwrap();
    let other = Connection::open(&place).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = history.check_writable().unwrap_err();
    assert!(
        error.to_string().contains("is locked by another program"),
        "{error}"
    );
    let added = add(&mut history, "one", &[result(1, 10)]);
    assert!(added.is_err());
    other.execute_batch("COMMIT").unwrap();
    history.check_writable().unwrap();
    assert_eq!(history.tests().unwrap().len(), 0);
    add(&mut history, "one", &[result(1, 10)]).unwrap();
}

#[test]
fn on_a_full_disk_all_of_it_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a.sqlite");
    let mut history = History::open(&place).unwrap();
    add(&mut history, "one", &[result(1, 10)]).unwrap();
    history.keep("main", b"small").unwrap();
    let pages: i64 = history
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    history
        .connection
        .pragma_update(None, "max_page_count", pages)
        .unwrap();
    let many: Vec<RunResult> = (0..400).map(|second| result(second, 20)).collect();
    let error = add(&mut history, "one", &many).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert!(history.keep("main", &[7; 100_000]).is_err());
    drop(history);
    let history = History::open(&place).unwrap();
    assert_eq!(history.runs("one", "p50", 1_000).unwrap().len(), 1);
    assert_eq!(history.baseline("main").unwrap().unwrap(), b"small");
}
