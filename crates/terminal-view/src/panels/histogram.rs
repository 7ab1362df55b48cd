//! The histogram of the response time so far. If there are more bins than lines, neighbours share a
//! line.

use super::{MARK, faint, headed, lines};
use crate::state::State;
use loadline_report::{HistogramRow, bar, right};
use loadline_units as units;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::{Line, Span};

/// The columns of an edge, and of a count.
const EDGE: usize = 9;
const COUNT: usize = 11;

pub(crate) fn draw(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let area = headed("Histogram", "", area, frame);
    let bins = together(&state.report.histogram, area.height.into());
    let largest = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let room = usize::from(area.width).saturating_sub(EDGE + COUNT + 2);
    let line = |bin: &HistogramRow| {
        Line::from(vec![
            faint(right(bin.edge.trim_end(), EDGE)),
            Span::from(right(&units::count(bin.count), COUNT)),
            Span::from("  "),
            Span::from(bar(bin.count, largest, room)).fg(MARK),
        ])
    };
    lines(bins.iter().map(line).collect(), area, frame);
}

/// Merges the bins into at most `most` lines.
fn together(bins: &[HistogramRow], most: usize) -> Vec<HistogramRow> {
    let of_a_line = bins.len().div_ceil(most.max(1)).max(1);
    let lines = bins.chunks(of_a_line).filter_map(|chunk| {
        let last = chunk.last()?;
        Some(HistogramRow {
            count: chunk.iter().map(|bin| bin.count).sum(),
            ..last.clone()
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_that_share_a_line_lose_nothing() {
        let bin = |up_to_ns| HistogramRow {
            up_to_ns,
            edge: up_to_ns.to_string(),
            count: 2,
        };
        let bins: Vec<HistogramRow> = (1..=11).map(bin).collect();
        for most in 1..13 {
            let lines = together(&bins, most);
            assert!(lines.len() <= most, "{most}: {lines:?}");
            assert_eq!(lines.iter().map(|line| line.count).sum::<u64>(), 22);
            assert_eq!(lines.last().map(|line| line.up_to_ns), Some(11));
        }
        assert!(together(&[], 5).is_empty());
    }
}
