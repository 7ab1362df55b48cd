//! Several runs of one saved file.
//!
//! Repeats have one report, of the differences from run to run; sides that took turns are compared;
//! all others have their reports one after the other.

use crate::csv::Columns;
use crate::style::Style;
use crate::text::{repeats, sides, uncompared};
use crate::{TextOptions, text};
use loadline_plan::Plan;
use loadline_record::{Role, RoleKind, Summary};
use loadline_verdict::{CheckResult, Comparison, RunResult, checks_together, whole_runs};

/// Returns all runs as text: the spread of repeats, the comparison of sides (a line for each run if
/// they are too few), or else the report of each, under a line with its number.
pub fn series_text(runs: &[RunResult], options: &TextOptions) -> String {
    if are_all(runs, RoleKind::Repeat) {
        return repeats(runs, options);
    }
    match compared(runs) {
        Some((found, plans)) => sides(&found, plans, runs, options),
        None if are_all(runs, RoleKind::Side) => uncompared(runs, options),
        None => each_text(runs, options),
    }
}

/// True if all runs (at least one) are of this kind.
pub(crate) fn are_all(runs: &[RunResult], kind: RoleKind) -> bool {
    let is = |run: &RunResult| {
        run.summary
            .role
            .as_ref()
            .is_some_and(|role| role.kind == kind)
    };
    !runs.is_empty() && runs.iter().all(is)
}

/// The comparison of a series of sides, with the plans of both; `None` if it is none, or too short.
pub(crate) fn compared(runs: &[RunResult]) -> Option<(Comparison, [&Plan; 2])> {
    if !are_all(runs, RoleKind::Side) {
        return None;
    }
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    let found = Comparison::of_sides(&summaries)?;
    let plan = |name: &str| Some(&side(runs, name).next()?.summary.plan);
    Some((found, [plan("A")?, plan("B")?]))
}

/// The runs of one side.
fn side<'a>(runs: &'a [RunResult], name: &str) -> impl Iterator<Item = &'a RunResult> {
    runs.iter().filter(move |run| {
        let role = run.summary.role.as_ref();
        role.is_some_and(|role| role.name.as_deref() == Some(name))
    })
}

/// The results of the checks over all whole runs of one side together.
pub(crate) fn checks_of_side(runs: &[RunResult], name: &str) -> Vec<CheckResult> {
    checks_together(&whole_runs(side(runs, name)))
}

fn each_text(runs: &[RunResult], options: &TextOptions) -> String {
    let style = Style::new(options.color);
    let each = runs.iter().enumerate().map(|(index, run)| {
        let title = style.strong(&title(run.summary.role.as_ref(), index + 1, runs.len()));
        let report = text(run, options);
        format!("{title}\n\n{report}")
    });
    each.collect::<Vec<_>>().join("\n")
}

/// Returns the position of a run, in the file and in its kind.
fn title(role: Option<&Role>, position: usize, runs: usize) -> String {
    let place = format!("Run {position} of {runs}");
    match role {
        Some(role) if role.kind != RoleKind::Unknown => {
            let name = role.name.as_ref().map(|name| format!(" of {name}"));
            let (kind, name) = (role.kind.name(), name.unwrap_or_default());
            format!("{place}: {kind} {}{name}", role.number)
        }
        _ => place,
    }
}

/// The rows of all runs as CSV, with the number of the run in front. All have the same columns.
pub fn series_csv(runs: &[RunResult]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let columns = Columns::of(runs);
    let mut all = format!("run,{}\n", columns.names());
    for (number, run) in (1..).zip(runs) {
        for row in columns.rows(run) {
            all.push_str(&format!("{number},{row}\n"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::series_json;

    fn judged(summary: Summary) -> RunResult {
        samples::result(&summary, Vec::new())
    }

    fn role(number: u32) -> Role {
        Role {
            kind: RoleKind::Side,
            number,
            of: Some(3),
            name: Some("B".to_owned()),
            search: None,
            spent_s: None,
        }
    }

    fn series() -> Vec<RunResult> {
        let mut other = samples::stalled();
        other.role = Some(role(2));
        vec![judged(samples::steady()), judged(other)]
    }

    #[test]
    fn each_report_stands_under_its_title() {
        let runs = series();
        let all = series_text(&runs, &TextOptions::default());
        let alone = |run: &RunResult| text(run, &TextOptions::default());
        let expected = format!(
            "Run 1 of 2\n\n{}\nRun 2 of 2: side 2 of B\n\n{}",
            alone(&runs[0]),
            alone(&runs[1])
        );
        assert_eq!(all, expected);
    }

    #[test]
    fn json_holds_each_run_with_its_role() {
        let all = series_json(&series());
        assert_eq!(all["runs"].as_array().map(Vec::len), Some(2));
        assert!(all["runs"][0]["role"].is_null());
        assert_eq!(all["runs"][1]["role"]["number"], 2);
        assert!(all["runs"][1]["summary"]["answered"].is_u64());
    }

    fn in_role(mut summary: Summary, kind: RoleKind, number: u32, name: Option<&str>) -> RunResult {
        summary.role = Some(Role {
            kind,
            number,
            of: None,
            name: name.map(str::to_owned),
            search: None,
            spent_s: None,
        });
        judged(summary)
    }

    #[test]
    fn repeats_have_their_spread() {
        let repeat = |number| in_role(samples::steady(), RoleKind::Repeat, number, None);
        let runs: Vec<RunResult> = (1..=6).map(repeat).collect();
        let text = series_text(&runs, &TextOptions::default());
        assert!(text.contains("Across the runs"), "{text}");
        let found = series_json(&runs);
        assert_eq!(found["spread"]["runs"], 6);
        let figure = &found["spread"]["figures"][0];
        assert_eq!(figure["figure"], "p50");
        assert_eq!(figure["values"].as_array().map(Vec::len), Some(6));
        assert_eq!(figure["median"], figure["median_interval"]["upper"]);
        assert_eq!(found["runs"].as_array().map(Vec::len), Some(6));
    }

    #[test]
    fn sides_are_held_against_each_other_in_pairs() {
        let side = |number, name| in_role(samples::steady(), RoleKind::Side, number, Some(name));
        let runs = [
            side(1, "B"),
            side(1, "A"),
            side(2, "A"),
            side(2, "B"),
            side(3, "A"),
        ];
        let text = series_text(&runs, &TextOptions::default());
        assert!(
            text.contains("cannot tell") && text.contains("2 runs of"),
            "{text}"
        );
        let found = series_json(&runs);
        assert_eq!(found["comparison"]["paired"], true);
        assert_eq!(found["comparison"]["standing"], "cannot_tell");
        // One pair is too few.
        let text = series_text(&runs[..3], &TextOptions::default());
        assert!(text.contains("there is one."), "{text}");
        let is_run = |line: &&str| line.starts_with("  A ") || line.starts_with("  B ");
        assert_eq!(text.lines().filter(is_run).count(), 3, "{text}");
        assert!(text.lines().count() < 15, "{text}");
    }

    #[test]
    fn checks_stand_beside_the_side_that_they_were_held_against() {
        let side = |number, name, summary: Summary| {
            let mut run = in_role(summary, RoleKind::Side, number, Some(name));
            run.summary.plan.checks = vec!["p99<10ms".parse().unwrap()];
            run
        };
        let pair = |number| {
            let stalled = side(number, "A", samples::stalled());
            [stalled, side(number, "B", samples::steady())]
        };
        let runs: Vec<RunResult> = (1..=2).flat_map(pair).collect();
        let text = series_text(&runs, &TextOptions::default());
        for line in ["  A  failed  p99<10ms  ", "  B  passed  p99<10ms  "] {
            assert!(text.contains(line), "{text}");
        }
        let found = series_json(&runs);
        let outcome = |side: &str| found["comparison"][side]["checks"][0]["outcome"].as_str();
        assert_eq!((outcome("a"), outcome("b")), (Some("broken"), Some("kept")));
    }

    #[test]
    fn csv_has_the_number_of_the_run_in_front() {
        let runs = series();
        let all = series_csv(&runs);
        assert!(all.starts_with("run,time_s,"), "{all}");
        let rows = |number: &str| all.lines().filter(|l| l.starts_with(number)).count();
        assert_eq!(rows("1,"), runs[0].summary.rows.len());
        assert_eq!(rows("2,"), runs[1].summary.rows.len());
        assert_eq!(rows("run,"), 1);
    }

    #[test]
    fn all_rows_of_a_series_have_the_columns_of_its_first_line() {
        let counted = judged(samples::counted());
        let mut checked = samples::stalled();
        checked.plan.checks = vec!["p99<10ms".parse().unwrap()];
        let runs = [judged(samples::closed()), RunResult::new(checked), counted];
        let all = series_csv(&runs);
        let width = |line: &str| line.split(',').count();
        let first = all.lines().next().unwrap();
        assert!(first.contains(",check,") && first.ends_with(",metric,value"));
        assert!(all.lines().all(|line| width(line) == width(first)), "{all}");
        assert_eq!(series_csv(&[]), "");
    }
}
