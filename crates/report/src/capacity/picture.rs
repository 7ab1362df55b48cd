//! Response times over the load, drawn with characters.
//!
//! Rates run to the right, times upwards on a logarithmic scale. Several trials in one place are
//! drawn as one, the worst of them. A time that is a lower bound points upwards.

use super::CapacityReport;
use super::words::amount;
use crate::layout;
use crate::style::Style;
use loadline_capacity::{Purpose, Trial};
use loadline_units as units;

/// Lines of the drawing.
const HEIGHT: usize = 12;
/// Columns of the times beside it.
const MARGIN: usize = 10;

/// The mark in one place; the greater, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Nothing,
    Median,
    Passed,
    Failed,
    AtLeast,
}

impl Mark {
    fn glyph(self) -> char {
        match self {
            Mark::Nothing => ' ',
            Mark::Median => '-',
            Mark::Passed => 'o',
            Mark::Failed => 'x',
            Mark::AtLeast => '^',
        }
    }
}

pub(super) fn lines(report: &CapacityReport<'_>, style: Style, width: usize) -> Vec<String> {
    let trials = shown(report);
    let Some(scale) = Scale::of(&trials, width) else {
        return Vec::new();
    };
    let title = style.strong("Response time over the load");
    let has_bound = |trial: &&Trial| trial.seen.p50_at_least || trial.seen.p99_at_least;
    let bound = match trials.iter().any(has_bound) {
        true => ", ^ at least",
        false => "",
    };
    let key = style.faint(&format!("  o p99 (passed), x p99 (failed), - p50{bound}"));
    let mut lines = vec![format!("{title}{key}")];
    let rows = scale.draw(&trials);
    for (index, row) in rows.iter().enumerate() {
        let time = units::time(scale.time_ns(index));
        let marks: String = row.iter().map(|mark| mark.glyph()).collect();
        let axis = style.faint(&format!("{} |", layout::right(&time, MARGIN)));
        lines.push(format!("{axis}{}", style.bar(&marks)));
    }
    let unit = if report.users { " users" } else { " req/s" };
    let highest = format!("{}{unit}", amount(scale.highest));
    let blank = layout::blanks(MARGIN + 2);
    let axis = layout::right(&highest, scale.columns.saturating_sub(1));
    lines.push(style.faint(&format!("{blank}0{axis}")));
    lines
}

/// The trials that are drawn: all but the warm-up and those discarded, where anything was answered.
fn shown<'a>(report: &CapacityReport<'a>) -> Vec<&'a Trial> {
    let trials = report.outcome.trials.iter();
    let is_drawn = |trial: &&Trial| trial.purpose != Purpose::WarmUp && !trial.discarded;
    trials
        .filter(is_drawn)
        .filter(|trial| trial.seen.p50_ns > 0)
        .collect()
}

/// From loads and times to columns and rows.
struct Scale {
    highest: f64,
    least_ns: f64,
    most_ns: f64,
    columns: usize,
}

impl Scale {
    /// A scale for these trials; none where there is nothing to compare.
    fn of(trials: &[&Trial], width: usize) -> Option<Scale> {
        let levels = || trials.iter().map(|trial| trial.level);
        let highest = levels().fold(0.0, f64::max);
        let least_ns = trials.iter().map(|trial| trial.seen.p50_ns as f64);
        let most_ns = trials.iter().map(|trial| trial.seen.p99_ns as f64);
        let several = levels().any(|level| level < highest);
        several.then(|| Scale {
            highest,
            least_ns: least_ns.fold(f64::MAX, f64::min),
            most_ns: most_ns.fold(0.0, f64::max),
            columns: width - MARGIN - 2,
        })
    }

    fn draw(&self, trials: &[&Trial]) -> Vec<Vec<Mark>> {
        let mut rows = vec![vec![Mark::Nothing; self.columns]; HEIGHT];
        for trial in trials {
            let p50 = match trial.seen.p50_at_least {
                true => Mark::AtLeast,
                false => Mark::Median,
            };
            let p99 = match trial.held() {
                _ if trial.seen.p99_at_least => Mark::AtLeast,
                true => Mark::Passed,
                false => Mark::Failed,
            };
            let column = self.column(trial.level);
            for (ns, mark) in [(trial.seen.p50_ns, p50), (trial.seen.p99_ns, p99)] {
                let place = &mut rows[self.row(ns as f64)][column];
                *place = mark.max(*place);
            }
        }
        rows
    }

    fn column(&self, level: f64) -> usize {
        (level / self.highest * (self.columns - 1) as f64).round() as usize
    }

    /// The row of a time; the first is the longest.
    fn row(&self, ns: f64) -> usize {
        let share = (ns / self.least_ns).ln() / self.span();
        let from_below = share.clamp(0.0, 1.0) * (HEIGHT - 1) as f64;
        HEIGHT - 1 - from_below.round() as usize
    }

    /// The time in the middle of a row.
    fn time_ns(&self, row: usize) -> f64 {
        let share = (HEIGHT - 1 - row) as f64 / (HEIGHT - 1) as f64;
        self.least_ns * (share * self.span()).exp()
    }

    fn span(&self) -> f64 {
        (self.most_ns / self.least_ns).ln().max(1e-9)
    }
}
