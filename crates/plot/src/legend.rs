//! The legend above a plot: a line or dot for each series, or the colours of a heatmap.

use crate::draw::{Area, LEGEND_ROW_PX, MARGIN_PX, Result, TEXT_PX, WIDTH, px, text_style};
use crate::marks::{Drawn, dot, line, shade};
use loadline_page::{Heatmap, Mark};
use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// The approximate width of a letter, as a share of its height.
const LETTER: f64 = 0.55;
/// The width of the line or dot of an entry.
const SAMPLE_PX: i32 = 26;
/// The shares whose colours are shown for a heatmap.
const STEPS: [f64; 5] = [0.02, 0.25, 0.5, 0.75, 1.0];

/// Returns the approximate width of this text in pixels.
pub(crate) fn text_width_px(text: &str) -> i32 {
    (text.chars().count() as f64 * f64::from(TEXT_PX) * LETTER).ceil() as i32
}

/// Draws the legend from this height on, and returns its height. A single series has no legend.
pub(crate) fn legend(
    series: &[Drawn<'_>],
    heatmap: Option<&Heatmap>,
    top_px: i32,
    root: &Area<'_>,
) -> Result<i32> {
    if let Some(map) = heatmap {
        return ramp(map, top_px, root);
    }
    if series.len() < 2 {
        return Ok(0);
    }
    let (mut left_px, mut row) = (MARGIN_PX, 0);
    for series in series {
        let width_px = SAMPLE_PX + 8 + text_width_px(series.name) + 20;
        if left_px > MARGIN_PX && left_px + width_px > WIDTH as i32 - MARGIN_PX {
            (left_px, row) = (MARGIN_PX, row + 1);
        }
        entry(series, (left_px, top_px + row * LEGEND_ROW_PX), root)?;
        left_px += width_px;
    }
    Ok((row + 1) * LEGEND_ROW_PX)
}

fn entry(series: &Drawn<'_>, (left_px, top_px): (i32, i32), root: &Area<'_>) -> Result {
    let middle = px(top_px + TEXT_PX / 2);
    let (begin, end) = (px(left_px), px(left_px + SAMPLE_PX));
    root.draw(&match series.mark {
        Mark::Dots => dot(((begin + end) / 2, middle), series.colour),
        Mark::Line | Mark::Dashed => {
            let ends = vec![(begin, middle), (end, middle)];
            line(ends, series.colour, series.is_dashed())
        }
    })?;
    label(series.name, (end + px(8), px(top_px)), root)
}

/// Draws the colours of a heatmap, and the count of its fullest cell.
fn ramp(map: &Heatmap, top_px: i32, root: &Area<'_>) -> Result<i32> {
    let mut left_px = MARGIN_PX;
    for share in STEPS {
        let corners = [
            (px(left_px), px(top_px)),
            (px(left_px + SAMPLE_PX), px(top_px + TEXT_PX)),
        ];
        root.draw(&Rectangle::new(corners, shade(share).filled()))?;
        left_px += SAMPLE_PX;
    }
    let words = format!("few to {} responses in a cell", map.densest());
    label(&words, (px(left_px + 8), px(top_px)), root)?;
    Ok(LEGEND_ROW_PX)
}

fn label(text: &str, at: (i32, i32), root: &Area<'_>) -> Result {
    root.draw(&Text::new(text, at, text_style(TEXT_PX, HPos::Left)))
}
