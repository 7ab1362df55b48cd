//! The ratios of a comparison with their intervals, on one logarithmic axis around 1.

use crate::comparison::{known_ends, name, times};
use crate::layout;
use loadline_verdict::ComparedFigure;

/// Columns of the figures' names.
const NAMES: usize = 10;
/// The widest axis; a wider one shows no more.
const WIDEST: usize = 60;
/// The narrowest axis that still shows anything, however narrow the terminal is.
const NARROWEST: usize = 16;
/// The axis reaches at least this far on both sides of 1, as a logarithm: 5 %.
const NEAREST: f64 = 0.05;

/// A line for each figure, and the axis below.
pub(super) fn lines(figures: &[ComparedFigure], width: usize) -> Vec<String> {
    let axis = Axis::of(
        figures,
        width.saturating_sub(NAMES).clamp(NARROWEST, WIDEST),
    );
    let mut lines: Vec<String> = figures.iter().map(|figure| axis.line(figure)).collect();
    lines.push(axis.labels());
    lines
}

struct Axis {
    /// The logarithm of the ratio at the left end.
    from: f64,
    /// The logarithm of the ratio at the right end.
    to: f64,
    columns: usize,
}

impl Axis {
    fn of(figures: &[ComparedFigure], columns: usize) -> Axis {
        let ends = |figure: &ComparedFigure| {
            let (lower, upper) = known_ends(&figure.ratio);
            let ratio = figure.ratio.ratio;
            (lower.unwrap_or(ratio).ln(), upper.unwrap_or(ratio).ln())
        };
        let lower = figures.iter().map(|figure| ends(figure).0);
        let upper = figures.iter().map(|figure| ends(figure).1);
        Axis {
            from: lower.fold(-NEAREST, f64::min),
            to: upper.fold(NEAREST, f64::max),
            columns,
        }
    }

    /// The column of a ratio.
    fn column(&self, ratio: f64) -> usize {
        let share = (ratio.ln() - self.from) / (self.to - self.from);
        (share.clamp(0.0, 1.0) * (self.columns - 1) as f64).round() as usize
    }

    fn line(&self, compared: &ComparedFigure) -> String {
        let ratio = compared.ratio;
        let (lower, upper) = known_ends(&ratio);
        let (left, right) = (self.column(ratio.lower), self.column(ratio.upper));
        let (middle, one) = (self.column(ratio.ratio), self.column(1.0));
        let mark = |column: usize| match column {
            _ if column == middle => '●',
            _ if column == left && lower.is_some() => '├',
            _ if column == right && upper.is_some() => '┤',
            _ if column == one => '│',
            _ if (left..=right).contains(&column) => '─',
            _ => ' ',
        };
        let name = layout::left(&format!("  {}", name(compared.figure)), NAMES);
        name + &(0..self.columns).map(mark).collect::<String>()
    }

    /// The ratios at both ends, and 1 between them where there is room.
    fn labels(&self) -> String {
        let (from, to) = (times(self.from.exp()), times(self.to.exp()));
        let one = self.column(1.0);
        let end = self.columns.saturating_sub(layout::width(&to));
        let mut line = layout::left("  B / A", NAMES) + &from;
        if one > layout::width(&from) && one + 1 < end {
            line = layout::left(&line, NAMES + one) + "1";
        }
        layout::left(&line, NAMES + end) + &to
    }
}
