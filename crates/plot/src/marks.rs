//! Lines, dots and tiles: what a series looks like, in the plot and in the legend, what a heatmap, and
//! what a place that is pointed out.

use crate::ruler::Ruler;
use crate::{Mark, Series, Tile};
use plotters::coord::ranged1d::Ranged;
use plotters::element::{
    Circle, Cross, DashedPathElement, DynElement, IntoDynElement, PathElement, Rectangle,
    TriangleMarker,
};
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor, ShapeStyle};

/// The colours of series, in their order: those of Okabe and Ito, *Color Universal Design* (2008),
/// that stand out on white, the darkest first. The colour-blind tell them apart, and most of them
/// differ in grey.
pub const PALETTE: [(u8, u8, u8); 7] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (0, 0, 0),
];

/// The colours of tiles, from nothing to the most: darker all the way, so that grey tells as much
/// (after the idea of cividis, Nuñez, Anderton and Renslow, 2018).
const RAMP: [(u8, u8, u8); 5] = [
    (250, 226, 90),
    (186, 170, 98),
    (122, 126, 122),
    (66, 84, 116),
    (24, 44, 92),
];

/// How wide a line is, in units of the drawing.
const LINE: u32 = 7;
/// How far a dot reaches from its middle, in units of the drawing.
const DOT: i32 = 16;

/// The dashes of a rule and the gaps between them, in units of the drawing.
const DASH: i32 = 24;

/// What the series of this number is drawn with.
pub(crate) fn style(index: usize) -> ShapeStyle {
    let (red, green, blue) = PALETTE[index % PALETTE.len()];
    ShapeStyle::from(&RGBColor(red, green, blue)).stroke_width(LINE)
}

/// The series as lines and dots; what is on no axis interrupts the line. A point without a neighbour
/// makes no line and is a dot: else a figure that is only known now and then would not be seen.
pub(crate) fn elements<DB: DrawingBackend>(
    series: &Series,
    index: usize,
    x: &Ruler,
    y: &Ruler,
) -> Vec<DynElement<'static, DB, (f64, f64)>> {
    let shown = |(at, value): &(f64, f64)| x.place(*at).is_some() && y.place(*value).is_some();
    let mut elements = Vec::new();
    if series.mark != Mark::Dots {
        let pieces = series.points.split(|point| !shown(point));
        elements.extend(pieces.filter_map(|piece| match piece {
            [] => None,
            [alone] => Some(speck(*alone, index)),
            _ => Some(line(piece.to_vec(), index)),
        }));
    }
    if series.mark != Mark::Line {
        let points = series.points.iter().copied().filter(|point| shown(point));
        elements.extend(points.map(|point| dot(point, index)));
    }
    elements
}

/// The tiles of a heatmap, without those that are on no axis.
pub(crate) fn tiles(tiles: &[Tile], x: &Ruler, y: &Ruler) -> Vec<Rectangle<(f64, f64)>> {
    let is_on = |ruler: &Ruler, (low, high)| ruler.place(low).and(ruler.place(high)).is_some();
    let shown = |tile: &&Tile| is_on(x, tile.x) && is_on(y, tile.y);
    let corners = |tile: &Tile| [(tile.x.0, tile.y.0), (tile.x.1, tile.y.1)];
    let shown = tiles.iter().filter(shown);
    shown
        .map(|tile| Rectangle::new(corners(tile), shade(tile.depth).filled()))
        .collect()
}

/// A dashed line from the bottom of the plot to its top.
pub(crate) fn dashes<DB: DrawingBackend>(
    at: f64,
    y: &Ruler,
    style: ShapeStyle,
) -> DynElement<'static, DB, (f64, f64)> {
    let height = y.range();
    let ends = [(at, height.start), (at, height.end)];
    DashedPathElement::new(ends, DASH, DASH, style).into_dyn()
}

/// The colour of this depth.
fn shade(depth: f64) -> RGBColor {
    let steps = (RAMP.len() - 1) as f64;
    let place = depth.clamp(0.0, 1.0) * steps;
    let below = place.floor().min(steps - 1.0);
    let (from, to) = (RAMP[below as usize], RAMP[below as usize + 1]);
    let mix = |from: u8, to: u8| {
        let (from, to) = (f64::from(from), f64::from(to));
        (from + (to - from) * (place - below)).round() as u8
    };
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// A line through these points.
pub(crate) fn line<DB: DrawingBackend, Point>(
    points: Vec<Point>,
    index: usize,
) -> DynElement<'static, DB, Point>
where
    Point: Clone + 'static,
{
    PathElement::new(points, style(index)).into_dyn()
}

/// A dot no wider than it must be to be seen.
fn speck<DB: DrawingBackend, Point>(point: Point, index: usize) -> DynElement<'static, DB, Point>
where
    Point: Clone + 'static,
{
    Circle::new(point, DOT / 2, style(index).filled()).into_dyn()
}

/// A dot, of a shape that changes with the series.
pub(crate) fn dot<DB: DrawingBackend, Point>(
    point: Point,
    index: usize,
) -> DynElement<'static, DB, Point>
where
    Point: Clone + 'static,
{
    let style = style(index);
    match index % 4 {
        0 => Circle::new(point, DOT, style.filled()).into_dyn(),
        1 => TriangleMarker::new(point, DOT * 5 / 4, style.filled()).into_dyn(),
        2 => Cross::new(point, DOT, style).into_dyn(),
        _ => Circle::new(point, DOT, style).into_dyn(),
    }
}
