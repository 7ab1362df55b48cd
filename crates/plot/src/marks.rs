//! The appearance of series (in the plot and in the legend), of heatmaps and of reference lines.

use crate::axis_scale::AxisScale;
use crate::unit::size;
use loadline_page::{Heatmap, Mark, Unit};
use plotters::coord::ranged1d::Ranged;
use plotters::element::{
    Circle, Cross, DashedPathElement, DynElement, IntoDynElement, PathElement, Rectangle,
    TriangleMarker,
};
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor, ShapeStyle};

/// The colours of series: those of Okabe and Ito, *Color Universal Design* (2008), some of them
/// darkened to stand out on white, and nearly black. The page uses the same colours on a light
/// background. Colour-blind readers can distinguish them, and most of them differ in grey.
pub const PALETTE: [(u8, u8, u8); 7] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (176, 82, 140),
    (199, 133, 0),
    (58, 155, 217),
    (34, 34, 34),
];

/// The colours of a heatmap, from the emptiest cell to the fullest: darker and darker, also in grey
/// (after the idea of cividis, Nuñez, Anderton and Renslow, 2018).
const RAMP: [(u8, u8, u8); 5] = [
    (250, 226, 90),
    (186, 170, 98),
    (122, 126, 122),
    (66, 84, 116),
    (24, 44, 92),
];

/// The band of a reference line: light enough that the grid and dots are visible in it.
const BAND: RGBColor = RGBColor(226, 226, 226);

/// The width of a line, in units of the drawing.
const LINE: u32 = 7;
/// The radius of a dot, in units of the drawing.
const DOT: i32 = 16;

/// The dashes of a line and the gaps between them, in units of the drawing.
const DASH: i32 = 24;

/// A series in the units that are shown.
pub(crate) struct Drawn<'a> {
    /// The name in the legend.
    pub(crate) name: &'a str,
    /// The points; one that is not finite, or not on an axis, interrupts a line.
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) mark: Mark,
    pub(crate) colour: usize,
}

impl Drawn<'_> {
    /// True if the line is dashed: a goal, or a series after all colours were used.
    pub(crate) fn is_dashed(&self) -> bool {
        self.mark == Mark::Dashed || self.colour >= PALETTE.len()
    }

    /// Returns the series as lines or dots. A point without neighbours is drawn as a dot: a line
    /// would not show a number that is only known now and then.
    pub(crate) fn elements<DB: DrawingBackend>(
        &self,
        x: &AxisScale,
        y: &AxisScale,
    ) -> Vec<DynElement<'static, DB, (f64, f64)>> {
        let shown = |(at, value): &(f64, f64)| x.place(*at).is_some() && y.place(*value).is_some();
        if self.mark == Mark::Dots {
            let points = self.points.iter().copied().filter(|point| shown(point));
            return points.map(|point| dot(point, self.colour)).collect();
        }
        let pieces = self.points.split(|point| !shown(point));
        let element = |piece: &[(f64, f64)]| match piece {
            [] => None,
            [alone] => Some(speck(*alone, self.colour)),
            _ => Some(line(piece.to_vec(), self.colour, self.is_dashed())),
        };
        pieces.filter_map(element).collect()
    }
}

/// Returns the style of lines and dots of this colour.
fn style(colour: usize) -> ShapeStyle {
    let (red, green, blue) = PALETTE[colour % PALETTE.len()];
    ShapeStyle::from(&RGBColor(red, green, blue)).stroke_width(LINE)
}

/// Returns the cells of a heatmap, without those outside the axes.
pub(crate) fn cells(map: &Heatmap, x: &AxisScale, y: &AxisScale) -> Vec<Rectangle<(f64, f64)>> {
    let is_on = |scale: &AxisScale, low, high| scale.place(low).and(scale.place(high)).is_some();
    let cells = map.cells().filter_map(|cell| {
        let (left, right) = cell.seconds;
        let (low, high) = (cell.us.0 / size(Unit::Us), cell.us.1 / size(Unit::Us));
        let is_shown = is_on(x, left, right) && is_on(y, low, high);
        let corners = [(left, low), (right, high)];
        is_shown.then(|| Rectangle::new(corners, shade(cell.share).filled()))
    });
    cells.collect()
}

/// Returns the band of a reference line, from the bottom of the plot to its top.
pub(crate) fn band((low, high): (f64, f64), x: &AxisScale, y: &AxisScale) -> Rectangle<(f64, f64)> {
    let (across, up) = (x.range(), y.range());
    let within = |place: f64| place.clamp(across.start, across.end);
    let corners = [(within(low), up.start), (within(high), up.end)];
    Rectangle::new(corners, BAND.filled())
}

/// Returns a dashed line from the bottom of the plot to its top.
pub(crate) fn dashes<DB: DrawingBackend>(
    at: f64,
    y: &AxisScale,
    style: ShapeStyle,
) -> DynElement<'static, DB, (f64, f64)> {
    let height = y.range();
    let ends = [(at, height.start), (at, height.end)];
    DashedPathElement::new(ends, DASH, DASH, style).into_dyn()
}

/// Returns the colour of a cell with this share, from 0 to 1.
pub(crate) fn shade(share: f64) -> RGBColor {
    let steps = (RAMP.len() - 1) as f64;
    let place = share.clamp(0.0, 1.0) * steps;
    let below = place.floor().min(steps - 1.0);
    let (from, to) = (RAMP[below as usize], RAMP[below as usize + 1]);
    let mix = |from: u8, to: u8| {
        let (from, to) = (f64::from(from), f64::from(to));
        (from + (to - from) * (place - below)).round() as u8
    };
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Returns a line through these points.
pub(crate) fn line<DB: DrawingBackend, Point>(
    points: Vec<Point>,
    colour: usize,
    is_dashed: bool,
) -> DynElement<'static, DB, Point>
where
    Point: Clone + 'static,
{
    match is_dashed {
        true => DashedPathElement::new(points, DASH, DASH, style(colour)).into_dyn(),
        false => PathElement::new(points, style(colour)).into_dyn(),
    }
}

/// Returns a dot as small as is visible.
fn speck<DB: DrawingBackend, Point>(point: Point, colour: usize) -> DynElement<'static, DB, Point>
where
    Point: Clone + 'static,
{
    Circle::new(point, DOT / 2, style(colour).filled()).into_dyn()
}

/// Returns a dot, of a shape that changes with the colour; a ring after all colours were used.
pub(crate) fn dot<DB: DrawingBackend, Point>(
    point: Point,
    colour: usize,
) -> DynElement<'static, DB, Point>
where
    Point: Clone + 'static,
{
    let style = style(colour);
    match colour {
        _ if colour >= PALETTE.len() => Circle::new(point, DOT, style).into_dyn(),
        _ if colour % 3 == 1 => TriangleMarker::new(point, DOT * 5 / 4, style.filled()).into_dyn(),
        _ if colour % 3 == 2 => Cross::new(point, DOT, style).into_dyn(),
        _ => Circle::new(point, DOT, style.filled()).into_dyn(),
    }
}
