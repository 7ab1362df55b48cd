//! Lines and dots: what a series looks like, in the plot and in the legend.

use crate::ruler::Ruler;
use crate::{Mark, Series};
use plotters::element::{Circle, Cross, DynElement, IntoDynElement, PathElement, TriangleMarker};
use plotters::prelude::DrawingBackend;
use plotters::style::{RGBColor, ShapeStyle};

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

/// How wide a line is, in units of the drawing.
const LINE: u32 = 7;
/// How far a dot reaches from its middle, in units of the drawing.
const DOT: i32 = 16;

/// What the series of this number is drawn with.
pub(crate) fn style(index: usize) -> ShapeStyle {
    let (red, green, blue) = PALETTE[index % PALETTE.len()];
    ShapeStyle::from(&RGBColor(red, green, blue)).stroke_width(LINE)
}

/// The series as lines and dots; what is on no axis interrupts the line.
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
        let pieces = pieces.filter(|piece| piece.len() > 1);
        elements.extend(pieces.map(|piece| line(piece.to_vec(), index)));
    }
    if series.mark != Mark::Line {
        let points = series.points.iter().copied().filter(|point| shown(point));
        elements.extend(points.map(|point| dot(point, index)));
    }
    elements
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
