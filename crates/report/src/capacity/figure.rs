//! Response times over the load, as a figure for a file: every trial but the warm-up, and where the load
//! line is.

use super::CapacityReport;
use super::picture::shown;
use super::words::{amount, unit};
use loadline_capacity::{Answer, Trial};
use loadline_plot::{Axis, Figure, Rule, Series};

const NS_PER_MS: f64 = 1e6;

/// The p50 and the p99 of each trial over its level. Where the p99 stands says whether the trial held.
pub fn capacity_figure(report: &CapacityReport<'_>) -> Figure {
    let trials = shown(report);
    let points = |held: Option<bool>, time_ns: fn(&Trial) -> u64| -> Vec<(f64, f64)> {
        let chosen = trials
            .iter()
            .filter(|trial| held.is_none_or(|held| held == trial.held()));
        let mut points: Vec<(f64, f64)> = chosen
            .map(|trial| (trial.level, time_ns(trial) as f64 / NS_PER_MS))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let p99 = |trial: &Trial| trial.seen.p99_ns;
    let series = [
        ("p99, it held", points(Some(true), p99)),
        ("p99, it broke", points(Some(false), p99)),
        ("p50", points(None, |trial| trial.seen.p50_ns)),
    ];
    let series = series.into_iter().filter(|(_, points)| !points.is_empty());
    let x = match report.users {
        true => Axis::linear("users", ""),
        false => Axis::linear("rate asked for", "requests/s"),
    };
    Figure {
        title: "Response time over the load".to_owned(),
        x,
        y: Axis::log("response time", "ms"),
        series: series
            .map(|(name, points)| Series::dots(name, points))
            .collect(),
        tiles: Vec::new(),
        rules: load_line(report).into_iter().collect(),
    }
}

/// Where the load line is, if one was found.
fn load_line(report: &CapacityReport<'_>) -> Option<Rule> {
    let Answer::Found(line) = &report.outcome.answer else {
        return None;
    };
    Some(Rule {
        at: line.level,
        label: format!("load line: {} {}", amount(line.level), unit(report.users)),
    })
}
