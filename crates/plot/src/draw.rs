//! A figure as SVG.
//!
//! The library draws on whole units. A unit is a quarter of a pixel, so that lines are smooth on
//! paper as well: the drawing is made four times as large as it is shown.

use crate::marks::{dashes, dot, elements, line, tiles};
use crate::ruler::Ruler;
use crate::{Figure, Mark, Rule, Series};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::Ranged;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{EmptyElement, Text};
use plotters::prelude::{IntoFont, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, TRANSPARENT, TextStyle, WHITE};

/// The width of a figure in pixels.
pub const WIDTH: u32 = 900;
/// The height of a figure in pixels.
pub const HEIGHT: u32 = 540;

/// Units of the drawing to a pixel.
const UNITS: i32 = 4;
/// Text in pixels; the library makes it smaller by this factor.
const FONT_FACTOR: f64 = 1.24;
const TITLE_PX: i32 = 20;
const TEXT_PX: i32 = 14;
/// How much of its height a letter is wide, about.
const LETTER: f64 = 0.55;
const MARGIN_PX: i32 = 16;
const LEGEND_ROW_PX: i32 = 24;
/// The line or dot of a legend's entry.
const SAMPLE_PX: i32 = 26;

const INK: RGBColor = RGBColor(34, 34, 34);
const GRID: RGBColor = RGBColor(221, 221, 221);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Ruler, Ruler>>;
type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// The figure as an SVG document of [`WIDTH`] by [`HEIGHT`] pixels.
pub fn svg(figure: &Figure) -> String {
    let figure = &harmless(figure);
    let mut document = String::new();
    let size = (units(WIDTH), units(HEIGHT));
    let root = SVGBackend::with_string(&mut document, size).into_drawing_area();
    draw(figure, &root)
        .and_then(|()| root.present())
        .expect("text in memory is always written, and axes have two ends");
    drop(root);
    shown_small(&document)
}

fn units(pixels: u32) -> u32 {
    pixels * UNITS.unsigned_abs()
}

fn px(pixels: i32) -> i32 {
    pixels * UNITS
}

/// The document, drawn large, shown in its size.
fn shown_small(document: &str) -> String {
    let drawn = format!("width=\"{}\" height=\"{}\"", units(WIDTH), units(HEIGHT));
    let shown = format!("width=\"{WIDTH}\" height=\"{HEIGHT}\"");
    document.replacen(&drawn, &shown, 1)
}

/// The figure without characters that XML does not allow (XML 1.0, 2.2).
fn harmless(figure: &Figure) -> Figure {
    let allowed = |letter: char| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}');
    let clean = |text: &mut String| text.retain(allowed);
    let mut figure = figure.clone();
    clean(&mut figure.title);
    for axis in [&mut figure.x, &mut figure.y] {
        clean(&mut axis.title);
        clean(&mut axis.unit);
    }
    figure
        .series
        .iter_mut()
        .for_each(|series| clean(&mut series.name));
    figure
        .rules
        .iter_mut()
        .for_each(|rule| clean(&mut rule.label));
    figure
}

fn draw(figure: &Figure, root: &Area<'_>) -> Drawn {
    root.fill(&WHITE)?;
    let title = text_style(TITLE_PX, HPos::Left);
    root.draw(&Text::new(
        figure.title.as_str(),
        (px(MARGIN_PX), px(MARGIN_PX)),
        title,
    ))?;
    let below_title_px = MARGIN_PX + TITLE_PX + 12;
    let legend_px = legend(&figure.series, below_title_px, root)?;
    let (_, plot) = root.split_vertically(px(below_title_px + legend_px + 8));
    chart(figure, &plot)
}

fn text_style(size_px: i32, horizontal: HPos) -> TextStyle<'static> {
    let font = ("sans-serif", f64::from(px(size_px)) * FONT_FACTOR).into_font();
    TextStyle::from(font)
        .color(&INK)
        .pos(Pos::new(horizontal, VPos::Top))
}

/// Draws the legend from this height on, and says how high it is. One series needs none.
fn legend(series: &[Series], top_px: i32, root: &Area<'_>) -> Drawn<i32> {
    if series.len() < 2 {
        return Ok(0);
    }
    let (mut left_px, mut row) = (MARGIN_PX, 0);
    for (index, series) in series.iter().enumerate() {
        let width_px = SAMPLE_PX + 8 + text_width_px(&series.name) + 20;
        if left_px > MARGIN_PX && left_px + width_px > WIDTH as i32 - MARGIN_PX {
            (left_px, row) = (MARGIN_PX, row + 1);
        }
        entry(series, index, (left_px, top_px + row * LEGEND_ROW_PX), root)?;
        left_px += width_px;
    }
    Ok((row + 1) * LEGEND_ROW_PX)
}

fn text_width_px(text: &str) -> i32 {
    (text.chars().count() as f64 * f64::from(TEXT_PX) * LETTER).ceil() as i32
}

fn entry(series: &Series, index: usize, (left_px, top_px): (i32, i32), root: &Area<'_>) -> Drawn {
    let middle = px(top_px + TEXT_PX / 2);
    let (begin, end) = (px(left_px), px(left_px + SAMPLE_PX));
    if series.mark != Mark::Dots {
        root.draw(&line(vec![(begin, middle), (end, middle)], index))?;
    }
    if series.mark != Mark::Line {
        root.draw(&dot(((begin + end) / 2, middle), index))?;
    }
    let at = (end + px(8), px(top_px));
    let style = text_style(TEXT_PX, HPos::Left);
    root.draw(&Text::new(series.name.as_str(), at, style))
}

fn chart<'a>(figure: &Figure, area: &Area<'a>) -> Drawn {
    let points = || figure.series.iter().flat_map(|series| &series.points);
    let corners = || figure.tiles.iter().map(|tile| [tile.x, tile.y]);
    let across = corners().flat_map(|[(left, right), _]| [left, right]);
    let up = corners().flat_map(|[_, (low, high)]| [low, high]);
    let pointed_out = figure.rules.iter().map(|rule| rule.at);
    let across = across.chain(pointed_out);
    let x = Ruler::new(&figure.x, points().map(|point| point.0).chain(across));
    let y = Ruler::new(&figure.y, points().map(|point| point.1).chain(up));
    let above_px = if figure.rules.is_empty() {
        0
    } else {
        LEGEND_ROW_PX
    };
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(above_px))
        .margin_left(px(MARGIN_PX))
        .margin_right(px(2 * MARGIN_PX))
        .margin_bottom(px(MARGIN_PX))
        .x_label_area_size(px(48))
        .y_label_area_size(px(92))
        .build_cartesian_2d(x.clone(), y.clone())?;
    let words = text_style(TEXT_PX, HPos::Left);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(3))
        .axis_style(INK.stroke_width(4))
        .set_all_tick_mark_size(px(5))
        .label_style(words.clone())
        .axis_desc_style(words)
        .x_desc(figure.x.words())
        .y_desc(figure.y.words())
        .draw()?;
    let ground = tiles(&figure.tiles, &x, &y);
    let mut drawn = ground.len();
    chart.draw_series(ground)?;
    rules(&figure.rules, &mut chart, &x, &y)?;
    for (index, series) in figure.series.iter().enumerate() {
        let elements = elements::<SVGBackend<'a>>(series, index, &x, &y);
        drawn += elements.len();
        chart.draw_series(elements)?;
    }
    if drawn == 0 {
        nothing(area)?;
    }
    Ok(())
}

/// Draws the rules that are on the axis, each with its words above the plot.
fn rules<'a>(rules: &[Rule], chart: &mut Chart<'a>, x: &Ruler, y: &Ruler) -> Drawn {
    for rule in rules {
        let Some(place) = x.place(rule.at) else {
            continue;
        };
        let dashes = dashes::<SVGBackend<'a>>(rule.at, y, INK.stroke_width(5));
        let style = text_style(TEXT_PX, towards_the_middle(place));
        let words = Text::new(rule.label.clone(), (0, -px(TEXT_PX + 6)), style);
        chart.draw_series([dashes])?;
        chart.draw_series([EmptyElement::at((rule.at, y.range().end)) + words])?;
    }
    Ok(())
}

/// Which side of words stands at a place of the plot, so that none are cut off at its ends.
fn towards_the_middle(place: f64) -> HPos {
    match place {
        ..0.2 => HPos::Left,
        0.8.. => HPos::Right,
        _ => HPos::Center,
    }
}

/// Says that there is nothing to see.
fn nothing(area: &Area<'_>) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let middle = (width as i32 / 2, height as i32 / 2);
    area.draw(&Text::new(
        "no data",
        middle,
        text_style(TEXT_PX, HPos::Center),
    ))
}

#[cfg(test)]
mod tests;
