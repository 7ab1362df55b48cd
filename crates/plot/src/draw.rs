//! A chart as SVG.
//!
//! The library draws in whole units. A unit is a quarter of a pixel, so that lines are smooth on
//! paper as well: the drawing is four times as large as its displayed size.

use crate::axis_scale::AxisScale;
use crate::legend::{legend, text_width_px};
use crate::marks::{Drawn, band, cells, dashes};
use crate::unit::{size, words};
use loadline_page::{Chart, ReferenceLine, SharedX};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::Ranged;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{EmptyElement, Rectangle, Text};
use plotters::prelude::{IntoFont, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, TRANSPARENT, TextStyle, WHITE};

/// The width of a file's chart in pixels.
pub const WIDTH: u32 = 900;
/// The height of a file's chart in pixels.
pub const HEIGHT: u32 = 540;

/// Units of the drawing per pixel.
pub(crate) const UNITS: i32 = 4;
/// The factor by which the library draws text too small.
const FONT_FACTOR: f64 = 1.24;
const TITLE_PX: i32 = 20;
/// The height of text other than the title.
pub(crate) const TEXT_PX: i32 = 14;
/// The margin around the chart.
pub(crate) const MARGIN_PX: i32 = 16;
/// The height of a line of a legend, and of the labels of reference lines.
pub(crate) const LEGEND_ROW_PX: i32 = 24;

const INK: RGBColor = RGBColor(34, 34, 34);
const GRID: RGBColor = RGBColor(221, 221, 221);

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plot<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<AxisScale, AxisScale>>;
/// The result of drawing. Drawing into memory does not fail.
pub(crate) type Result<T = ()> = std::result::Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// Returns the chart as an SVG document of [`WIDTH`] by [`HEIGHT`] pixels. Series that are hidden
/// until a reader selects them are left out.
pub fn svg(chart: &Chart, shared_x: &SharedX) -> String {
    let chart = &harmless(chart);
    let series = drawn(chart, shared_x);
    let mut document = String::new();
    let size = (units(WIDTH), units(HEIGHT));
    let root = SVGBackend::with_string(&mut document, size).into_drawing_area();
    draw(chart, &series, &root)
        .and_then(|()| root.present())
        .expect("text in memory is always written, and axes have two ends");
    drop(root);
    shown_small(&document)
}

/// Returns the visible series, in the units that are shown.
fn drawn<'a>(chart: &'a Chart, shared_x: &'a SharedX) -> Vec<Drawn<'a>> {
    let (across, up) = (size(chart.x.unit), size(chart.y.unit));
    let shown = chart.series.iter().filter(|series| !series.is_hidden);
    let drawn = shown.map(|series| Drawn {
        name: &series.name,
        points: shared_x
            .points(series)
            .map(|(x, y)| (x / across, y / up))
            .collect(),
        mark: series.mark,
        colour: series.colour,
    });
    drawn.collect()
}

fn units(pixels: u32) -> u32 {
    pixels * UNITS.unsigned_abs()
}

pub(crate) fn px(pixels: i32) -> i32 {
    pixels * UNITS
}

/// Sets the displayed size of the document, which is drawn larger.
fn shown_small(document: &str) -> String {
    let drawn = format!("width=\"{}\" height=\"{}\"", units(WIDTH), units(HEIGHT));
    let shown = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\"");
    document.replacen(&drawn, &shown, 1)
}

/// Removes characters that XML does not allow (XML 1.0, 2.2).
fn harmless(chart: &Chart) -> Chart {
    let allowed = |letter: char| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}');
    let mut chart = chart.clone();
    let titles = [&mut chart.title, &mut chart.x.title, &mut chart.y.title];
    let names = chart.series.iter_mut().map(|series| &mut series.name);
    let labels = chart.reference_lines.iter_mut().map(|line| &mut line.label);
    for text in titles.into_iter().chain(names).chain(labels) {
        text.retain(allowed);
    }
    chart
}

fn draw(chart: &Chart, series: &[Drawn<'_>], root: &Area<'_>) -> Result {
    root.fill(&WHITE)?;
    let title = text_style(TITLE_PX, HPos::Left);
    let corner = (px(MARGIN_PX), px(MARGIN_PX));
    root.draw(&Text::new(chart.title.as_str(), corner, title))?;
    let below_title_px = MARGIN_PX + TITLE_PX + 12;
    let legend_px = legend(series, chart.heatmap.as_ref(), below_title_px, root)?;
    let (_, area) = root.split_vertically(px(below_title_px + legend_px + 8));
    plot(chart, series, &area)
}

pub(crate) fn text_style(size_px: i32, horizontal: HPos) -> TextStyle<'static> {
    let font = ("sans-serif", f64::from(px(size_px)) * FONT_FACTOR).into_font();
    TextStyle::from(font)
        .color(&INK)
        .pos(Pos::new(horizontal, VPos::Top))
}

fn plot<'a>(chart: &Chart, series: &[Drawn<'_>], area: &Area<'a>) -> Result {
    let points = || series.iter().flat_map(|series| &series.points);
    let lines = chart
        .reference_lines
        .iter()
        .map(|line| line.at / size(chart.x.unit));
    let x = AxisScale::new(&chart.x, points().map(|point| point.0).chain(lines));
    let y = AxisScale::new(&chart.y, points().map(|point| point.1));
    let has_lines = !chart.reference_lines.is_empty();
    let mut plot = ChartBuilder::on(area)
        .margin_top(px(if has_lines { LEGEND_ROW_PX } else { 0 }))
        .margin_left(px(MARGIN_PX))
        .margin_right(px(2 * MARGIN_PX))
        .margin_bottom(px(MARGIN_PX))
        .x_label_area_size(px(48))
        .y_label_area_size(px(92))
        .build_cartesian_2d(x.clone(), y.clone())?;
    plot.draw_series(bands(chart, &x, &y))?;
    mesh(chart, &mut plot)?;
    let ground = chart.heatmap.as_ref().map(|map| cells(map, &x, &y));
    let ground = ground.unwrap_or_default();
    let mut count = ground.len();
    plot.draw_series(ground)?;
    reference_lines(chart, &mut plot, &x, &y)?;
    for series in series {
        let elements = series.elements::<SVGBackend<'a>>(&x, &y);
        count += elements.len();
        plot.draw_series(elements)?;
    }
    if count == 0 {
        nothing(area)?;
    }
    Ok(())
}

/// Draws the grid, the axes and their labels.
fn mesh(chart: &Chart, plot: &mut Plot<'_>) -> Result {
    let style = text_style(TEXT_PX, HPos::Left);
    plot.configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(3))
        .axis_style(INK.stroke_width(4))
        .set_all_tick_mark_size(px(5))
        .label_style(style.clone())
        .axis_desc_style(style)
        .x_desc(words(&chart.x))
        .y_desc(words(&chart.y))
        .draw()
}

fn bands(chart: &Chart, x: &AxisScale, y: &AxisScale) -> Vec<Rectangle<(f64, f64)>> {
    let size = size(chart.x.unit);
    let on_axis = |line: &&ReferenceLine| x.place(line.at / size).is_some();
    let lines = chart.reference_lines.iter().filter(on_axis);
    let bands = lines.filter_map(|line| line.band);
    bands
        .map(|(low, high)| band((low / size, high / size), x, y))
        .collect()
}

/// Draws the reference lines that are on the axis, each with its label above the plot; a label that
/// would overlap the one before is left out.
fn reference_lines<'a>(chart: &Chart, plot: &mut Plot<'a>, x: &AxisScale, y: &AxisScale) -> Result {
    let mut taken_px = i32::MIN;
    for line in &chart.reference_lines {
        let at = line.at / size(chart.x.unit);
        let Some(place) = x.place(at) else {
            continue;
        };
        plot.draw_series([dashes::<SVGBackend<'a>>(at, y, INK.stroke_width(5))])?;
        let side = towards_the_middle(place);
        let width_px = text_width_px(&line.label);
        let at_px = plot.backend_coord(&(at, y.range().start)).0 / UNITS;
        let left_px = match side {
            HPos::Left => at_px,
            HPos::Center => at_px - width_px / 2,
            HPos::Right => at_px - width_px,
        };
        if left_px > taken_px {
            let style = text_style(TEXT_PX, side);
            let label = Text::new(line.label.clone(), (0, -px(TEXT_PX + 6)), style);
            plot.draw_series([EmptyElement::at((at, y.range().end)) + label])?;
            taken_px = left_px + width_px + 8;
        }
    }
    Ok(())
}

/// Returns the alignment of a label at a position of the plot, so that no label is cut off at the
/// ends.
fn towards_the_middle(place: f64) -> HPos {
    match place {
        ..0.2 => HPos::Left,
        0.8.. => HPos::Right,
        _ => HPos::Center,
    }
}

/// Writes `no data`.
fn nothing(area: &Area<'_>) -> Result {
    let (width, height) = area.dim_in_pixel();
    let middle = (width as i32 / 2, height as i32 / 2);
    area.draw(&Text::new(
        "no data",
        middle,
        text_style(TEXT_PX, HPos::Center),
    ))
}

#[cfg(test)]
pub(crate) mod tests;
