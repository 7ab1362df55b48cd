use super::*;
use crate::samples;
use proptest::prelude::*;
use std::sync::LazyLock;

fn progress(second: usize) -> Progress {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| samples::stalled().rows);
    let rows = &ROWS[..second];
    Progress {
        latest: rows.last().copied(),
        counts: Counts {
            answered: rows.iter().map(|row| row.counts.answered).sum(),
            failed: rows.iter().map(|row| row.counts.failed).sum(),
            ..Counts::default()
        },
        elapsed: Duration::from_secs(second as u64),
        length: Some(Duration::from_secs(10)),
        request_limit: None,
        warming_up: false,
    }
}

#[test]
fn failures_are_never_left_out_for_want_of_room() {
    let mut progress = progress(7);
    progress.counts.failed = 12;
    for width in 10..100 {
        for line in [
            progress.terminal_line(width, false),
            progress.log_line(width),
        ] {
            assert!(line.contains("12 failed"), "{width}: {line}");
        }
    }
    let line = progress.log_line(usize::MAX);
    assert!(
        line.contains(" answered, ") && line.contains("p50"),
        "{line}"
    );
}

#[test]
fn a_run_never_passes_its_length_and_says_that_it_warms_up() {
    let mut progress = progress(7);
    progress.elapsed = Duration::from_secs(12);
    let line = progress.log_line(80);
    assert!(line.starts_with("10 s of 10 s"), "{line}");
    assert!(line.contains("draining"), "{line}");
    progress.latest = None;
    progress.warming_up = true;
    assert!(progress.log_line(80).contains("warming up"));
}

#[test]
fn a_run_in_its_lines() {
    let seconds: Vec<Progress> = [0, 1, 5, 6, 7, 10].into_iter().map(progress).collect();
    let live = seconds
        .iter()
        .map(|progress| progress.terminal_line(80, false));
    let log = seconds.iter().map(|progress| progress.log_line(80));
    let lines: Vec<String> = live.chain(log).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_matters_least_goes_first_where_there_is_little_room() {
    let lines = [80, 70, 50, 35, 24, 10].map(|width| progress(7).terminal_line(width, false));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn ascii_has_a_bar_too() {
    let line = progress(7).terminal_line(80, true);
    assert!(line.is_ascii() && line.starts_with("###########"), "{line}");
}

#[test]
fn a_run_of_so_many_requests_goes_by_those() {
    let mut progress = progress(5);
    progress.length = None;
    progress.request_limit = Some(4 * progress.counts.answered);
    assert_eq!(progress.share(), Some(0.25));
    assert!(progress.terminal_line(80, false).ends_with("15 s left"));
    assert!(
        progress.log_line(80).starts_with("5 s, "),
        "{}",
        progress.log_line(80)
    );
}

#[test]
fn of_two_limits_the_nearer_counts() {
    let mut progress = progress(5);
    progress.request_limit = Some(progress.counts.answered * 10 / 9);
    let share = progress.share().unwrap();
    assert!((0.89..0.91).contains(&share), "{share}");
}

#[test]
fn a_run_without_an_end_has_no_time_left() {
    let progress = Progress {
        length: None,
        ..progress(5)
    };
    assert_eq!(progress.share(), None);
    assert!(!progress.terminal_line(80, false).contains("left"));
}

#[test]
fn time_left_is_written_as_a_clock() {
    assert_eq!([8, 65, 3_605].map(clock), ["8 s", "1:05", "1:00:05"]);
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal(
        width in 1usize..120,
        second in 0usize..=10,
        failed in any::<u64>(),
        elapsed_s in 0u64..1_000_000,
    ) {
        let mut progress = progress(second);
        progress.counts.failed = failed;
        progress.elapsed = Duration::from_secs(elapsed_s);
        prop_assert!(layout::width(&progress.terminal_line(width, false)) <= width);
        prop_assert!(layout::width(&progress.log_line(width)) <= width);
    }
}

#[test]
fn an_end_that_nobody_lives_to_see_is_not_told() {
    let endless = Progress {
        length: None,
        request_limit: Some(u64::MAX),
        ..progress(5)
    };
    let line = endless.terminal_line(200, false);
    assert!(!line.contains(" left"), "{line}");
}
