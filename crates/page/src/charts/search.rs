//! The charts of a search: response times over the load, and the course of its trials.

use crate::chart::INK;
use crate::{
    Axis, Chart, LoadLine, Mark, ReferenceLine, Series, SharedX, TrialEnd, TrialRow, Unit,
};
use serde::Serialize;

/// Colours of the result of a trial. A failed trial is a ring, told apart without colours as well.
const PASSED: usize = 0;
const FAILED: usize = 8;
const MEDIAN: usize = 3;
const BOUND: usize = 1;
const MEDIAN_BOUND: usize = 5;
const DISCARDED: usize = 4;
const WARM_UP: usize = INK;

const RESPONSE_TITLE: &str = "Response time over the load";

/// The charts of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchPlots {
    /// The x values of the series.
    pub shared_x: SharedX,
    /// The charts.
    pub charts: Vec<Chart>,
}

impl SearchPlots {
    /// The name of the most important chart.
    const RESPONSE_OVER_LOAD: &str = "response-time-over-load";

    /// Creates the charts of these trials; `users` if levels are numbers of users instead of rates.
    pub fn new(trials: &[TrialRow], load_line: Option<&LoadLine>, users: bool) -> SearchPlots {
        let mut shared_x = SharedX::default();
        let charts = [
            response_over_load(trials, load_line, users, &mut shared_x),
            course(trials, users, &mut shared_x),
        ];
        SearchPlots {
            charts: charts.into_iter().flatten().collect(),
            shared_x,
        }
    }

    /// Returns the chart of response times over the load; without any series if no trial had a
    /// response.
    pub fn response_over_load(&self) -> Chart {
        let mut charts = self.charts.iter();
        let found = charts.find(|chart| chart.name == SearchPlots::RESPONSE_OVER_LOAD);
        found.cloned().unwrap_or_else(|| Chart {
            name: SearchPlots::RESPONSE_OVER_LOAD.to_owned(),
            title: RESPONSE_TITLE.to_owned(),
            note: String::new(),
            x: levels(false),
            y: Axis::log("response time", Unit::Us),
            series: Vec::new(),
            heatmap: None,
            reference_lines: Vec::new(),
        })
    }
}

/// Draws the p50 and the p99 of each trial that passed or failed, over its level.
fn response_over_load(
    trials: &[TrialRow],
    load_line: Option<&LoadLine>,
    users: bool,
    shared_x: &mut SharedX,
) -> Option<Chart> {
    let is_shown = |trial: &&TrialRow| {
        matches!(trial.ended, TrialEnd::Passed | TrialEnd::Failed) && trial.p99_us.is_some()
    };
    let mut shown: Vec<&TrialRow> = trials.iter().filter(is_shown).collect();
    shown.sort_by(|a, b| a.level.total_cmp(&b.level));
    let highest = shown.last()?.level;
    let name = |trial: &&TrialRow| format!("trial {} ({}):", trial.number, trial.purpose);
    let x = shared_x.add(
        shown.iter().map(|trial| trial.level).collect(),
        shown.iter().map(name).collect(),
    );
    let dots = |name: &str, colour, us: &dyn Fn(&TrialRow) -> Option<f64>| {
        let y = shown.iter().map(|trial| us(trial)).collect();
        Series::new(name, x, y, Mark::Dots, colour)
    };
    let p99 = |end| {
        move |trial: &TrialRow| {
            let shown = trial.ended == end && !trial.p99_at_least;
            trial.p99_us.filter(|_| shown)
        }
    };
    let mut note = "Two dots for each trial, on a logarithmic scale.".to_owned();
    if shown
        .iter()
        .any(|trial| trial.p50_at_least || trial.p99_at_least)
    {
        note +=
            " A lower bound lies beyond all responses: requests had waited for so long in vain.";
    }
    if load_line.is_some() {
        note += " The dashed line is the load line, and the band around it its 95 % interval.";
    }
    let chart = Chart::of_series(
        (SearchPlots::RESPONSE_OVER_LOAD, RESPONSE_TITLE, &note),
        levels(users).between(0.0, 1.05 * highest),
        Axis::log("response time", Unit::Us),
        vec![
            dots("p50", MEDIAN, &|trial| {
                trial.p50_us.filter(|_| !trial.p50_at_least)
            }),
            dots("p50, a lower bound", MEDIAN_BOUND, &|trial| {
                trial.p50_us.filter(|_| trial.p50_at_least)
            }),
            dots("p99, a lower bound", BOUND, &|trial| {
                trial.p99_us.filter(|_| trial.p99_at_least)
            }),
            dots("p99, failed", FAILED, &p99(TrialEnd::Failed)),
            dots("p99, passed", PASSED, &p99(TrialEnd::Passed)),
        ],
    );
    let line = load_line.map(|line| ReferenceLine {
        at: line.level,
        band: Some((line.low, line.high)),
        label: line.text.clone(),
    });
    chart.map(|chart| Chart {
        reference_lines: line.into_iter().collect(),
        ..chart
    })
}

/// Draws the level of each trial, in chronological order.
fn course(trials: &[TrialRow], users: bool, shared_x: &mut SharedX) -> Option<Chart> {
    let highest = trials.iter().map(|trial| trial.level).fold(0.0, f64::max);
    let name = |trial: &TrialRow| format!("{}: trial", trial.purpose);
    let x = shared_x.add(
        trials.iter().map(|trial| f64::from(trial.number)).collect(),
        trials.iter().map(name).collect(),
    );
    let dots = |name: &str, colour, end| {
        let level = |trial: &TrialRow| (trial.ended == end).then_some(trial.level);
        Series::new(
            name,
            x,
            trials.iter().map(level).collect(),
            Mark::Dots,
            colour,
        )
    };
    let note = "The level of each trial, in the order in which they were made.";
    let chart = Chart::of_series(
        ("trials", "Course of the search", note),
        Axis::whole("trial").between(0.0, trials.len() as f64 + 1.0),
        // Room above the dots for the labels of the reference lines.
        levels(users).between(0.0, 1.2 * highest),
        vec![
            dots("warm-up", WARM_UP, TrialEnd::WarmUp),
            dots("discarded", DISCARDED, TrialEnd::Discarded),
            dots("failed", FAILED, TrialEnd::Failed),
            dots("passed", PASSED, TrialEnd::Passed),
        ],
    );
    chart.map(|chart| Chart {
        reference_lines: stretches(trials),
        ..chart
    })
}

/// Returns a line for the beginning of each part of the search after the first, half a step before
/// its first trial.
fn stretches(trials: &[TrialRow]) -> Vec<ReferenceLine> {
    let turns = trials
        .windows(2)
        .filter(|pair| pair[0].stretch != pair[1].stretch);
    let line = |pair: &[TrialRow]| ReferenceLine {
        at: f64::from(pair[1].number) - 0.5,
        band: None,
        label: pair[1].stretch.clone(),
    };
    turns.map(line).collect()
}

fn levels(users: bool) -> Axis {
    match users {
        true => Axis::whole("users"),
        false => Axis::linear("rate asked for", Unit::PerSecond),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(number: u32, level: f64, p99_us: Option<f64>, ended: TrialEnd) -> TrialRow {
        TrialRow {
            number,
            purpose: "search".to_owned(),
            stretch: if number < 2 { "warm-up" } else { "search" }.to_owned(),
            level,
            p50_us: p99_us.map(|us| us / 10.0),
            p50_at_least: false,
            p99_us,
            p99_at_least: false,
            cells: Vec::new(),
            ended,
            text: String::new(),
        }
    }

    fn trials() -> Vec<TrialRow> {
        vec![
            trial(1, 10.0, Some(900.0), TrialEnd::WarmUp),
            trial(2, 100.0, Some(1_000.0), TrialEnd::Passed),
            trial(3, 400.0, Some(80_000.0), TrialEnd::Failed),
            trial(4, 200.0, Some(90_000.0), TrialEnd::Discarded),
            trial(5, 200.0, Some(2_000.0), TrialEnd::Passed),
            trial(6, 800.0, None, TrialEnd::Failed),
        ]
    }

    fn load_line() -> LoadLine {
        LoadLine {
            level: 200.0,
            low: 190.0,
            high: 220.0,
            text: "load line: 200 req/s".to_owned(),
        }
    }

    fn points(plots: &SearchPlots, chart: usize, name: &str) -> Vec<(f64, f64)> {
        let mut series = plots.charts[chart].series.iter();
        let series = series
            .find(|series| series.name == name)
            .expect("it is drawn");
        plots
            .shared_x
            .points(series)
            .filter(|point| !point.1.is_nan())
            .collect()
    }

    #[test]
    fn times_are_those_of_trials_that_tell_of_the_target() {
        let plots = SearchPlots::new(&trials(), None, false);
        let found = |name| points(&plots, 0, name);
        assert_eq!(found("p99, passed"), [(100.0, 1_000.0), (200.0, 2_000.0)]);
        assert_eq!(found("p99, failed"), [(400.0, 80_000.0)]);
        assert_eq!(found("p50").len(), 3);
        assert_eq!(plots.charts[0].x.unit, Unit::PerSecond);
    }

    #[test]
    fn the_load_line_is_pointed_out_where_one_was_found() {
        let plots = SearchPlots::new(&trials(), Some(&load_line()), false);
        let lines = plots.charts[0].reference_lines.iter();
        let lines: Vec<_> = lines
            .map(|line| (line.at, line.band, &*line.label))
            .collect();
        assert_eq!(
            lines,
            [(200.0, Some((190.0, 220.0)), "load line: 200 req/s")]
        );
        assert!(plots.charts[0].note.contains("load line"));
        let plots = SearchPlots::new(&trials(), None, false);
        assert_eq!(plots.charts[0].reference_lines, []);
        assert!(!plots.charts[0].note.contains("load line"));
    }

    #[test]
    fn the_course_has_every_trial_by_what_came_of_it() {
        let plots = SearchPlots::new(&trials(), None, false);
        let names: Vec<_> = plots.charts.iter().map(|chart| &*chart.name).collect();
        assert_eq!(names, ["response-time-over-load", "trials"]);
        let found = |name| points(&plots, 1, name);
        assert_eq!(found("passed"), [(2.0, 100.0), (5.0, 200.0)]);
        assert_eq!(found("failed"), [(3.0, 400.0), (6.0, 800.0)]);
        assert_eq!(found("discarded"), [(4.0, 200.0)]);
        assert_eq!(found("warm-up"), [(1.0, 10.0)]);
        let lines = plots.charts[1].reference_lines.iter();
        let lines: Vec<_> = lines.map(|line| (line.at, &*line.label)).collect();
        assert_eq!(lines, [(1.5, "search")]);
    }

    #[test]
    fn there_is_no_half_of_a_trial_or_of_a_user() {
        let whole = |users| {
            let charts = SearchPlots::new(&trials(), None, users).charts;
            [
                charts[0].x.is_whole,
                charts[1].x.is_whole,
                charts[1].y.is_whole,
            ]
        };
        assert_eq!(whole(true), [true, true, true]);
        assert_eq!(whole(false), [false, true, false]);
    }

    #[test]
    fn a_search_without_a_trial_has_no_chart() {
        assert_eq!(SearchPlots::new(&[], None, false).charts, []);
        let silent = [trial(1, 10.0, None, TrialEnd::Failed)];
        let names = SearchPlots::new(&silent, None, false).charts;
        assert_eq!(names.len(), 1);
    }
}
