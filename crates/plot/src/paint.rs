//! A chart's SVG as pixels.
//!
//! The library that draws charts writes six kinds of elements, side by side and with plain
//! attributes: this paints those, and no other SVG.

use crate::letters::line;
use roxmltree::{Document, Node};
use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// Returns the document as an image of this size in pixels. Its coordinates are multiplied by
/// `scale`.
pub(crate) fn painted(document: &str, (width, height): (u32, u32), scale: f32) -> Pixmap {
    let document = Document::parse(document).expect("our own SVG is well formed");
    let mut pixels = Pixmap::new(width, height).expect("the size is neither nothing nor huge");
    let enlarge = Transform::from_scale(scale, scale);
    for element in document.root_element().children() {
        paint(Element(element), enlarge, &mut pixels);
    }
    pixels
}

/// Paints one element: its area, and then its outline.
fn paint(element: Element<'_>, enlarge: Transform, pixels: &mut Pixmap) {
    let Some(shape) = element.shape() else {
        return;
    };
    let place = enlarge.pre_concat(element.turn());
    if let Some(paint) = element.paint("fill") {
        pixels.fill_path(&shape, &paint, FillRule::Winding, place, None);
    }
    if let Some(paint) = element.paint("stroke") {
        let stroke = Stroke {
            width: element.number("stroke-width").unwrap_or(1.0),
            ..Stroke::default()
        };
        pixels.stroke_path(&shape, &paint, &stroke, place, None);
    }
}

/// An element of the document, or the white space between two.
#[derive(Clone, Copy)]
struct Element<'a>(Node<'a, 'a>);

impl Element<'_> {
    fn number(self, name: &str) -> Option<f32> {
        self.0.attribute(name)?.parse().ok()
    }

    /// The colour of an area or of an outline; none where there is nothing to paint.
    fn paint(self, name: &str) -> Option<Paint<'static>> {
        let hex = self.0.attribute(name)?.strip_prefix('#')?;
        let [_, red, green, blue] = u32::from_str_radix(hex, 16).ok()?.to_be_bytes();
        let mut colour = Color::from_rgba8(red, green, blue, u8::MAX);
        colour.set_alpha(self.number("opacity").unwrap_or(1.0));
        let mut paint = Paint::default();
        paint.set_color(colour);
        Some(paint)
    }

    /// The shape before it is turned; none for what has no extent.
    fn shape(self) -> Option<Path> {
        let number = |name| self.number(name);
        let mut path = PathBuilder::new();
        match self.0.tag_name().name() {
            "rect" => {
                let (x, y) = (number("x")?, number("y")?);
                path.push_rect(Rect::from_xywh(x, y, number("width")?, number("height")?)?);
            }
            "circle" => path.push_circle(number("cx")?, number("cy")?, number("r")?),
            "line" => {
                path.move_to(number("x1")?, number("y1")?);
                path.line_to(number("x2")?, number("y2")?);
            }
            "polyline" => self.trace(&mut path)?,
            "polygon" => {
                self.trace(&mut path)?;
                path.close();
            }
            "text" => return self.letters(),
            _ => return None,
        }
        path.finish()
    }

    /// Adds a line through the points of a list such as `1,2 3,4`.
    fn trace(self, path: &mut PathBuilder) -> Option<()> {
        let points = self.0.attribute("points")?.split_ascii_whitespace();
        for (index, point) in points.enumerate() {
            let (x, y) = point.split_once(',')?;
            let (x, y) = (x.parse().ok()?, y.parse().ok()?);
            match index {
                0 => path.move_to(x, y),
                _ => path.line_to(x, y),
            }
        }
        Some(())
    }

    /// The outlines of a text, on its base line and at its place.
    fn letters(self) -> Option<Path> {
        let size = self.number("font-size")?;
        let line = line(self.0.text()?.trim(), size);
        let before = match self.0.attribute("text-anchor")? {
            "middle" => line.width / 2.0,
            "end" => line.width,
            _ => 0.0,
        };
        let (x, y) = (
            self.number("x")? - before,
            self.number("y")? + self.below(size)?,
        );
        line.outline?.transform(Transform::from_translate(x, y))
    }

    /// The distance of the base line from a text's place. An `ex` is taken for half of the size.
    fn below(self, size: f32) -> Option<f32> {
        let distance = self.0.attribute("dy")?;
        match distance.strip_suffix("em") {
            Some(number) => Some(number.parse::<f32>().ok()? * size),
            None => Some(distance.strip_suffix("ex")?.parse::<f32>().ok()? * size / 2.0),
        }
    }

    /// The turn of a text around its place, such as `rotate(270, 1, 2)`.
    fn turn(self) -> Transform {
        let turned = || {
            let turn = self.0.attribute("transform")?;
            let numbers = turn.strip_prefix("rotate(")?.strip_suffix(')')?;
            let mut numbers = numbers.split(',').map(|number| number.trim().parse().ok());
            let mut next = || numbers.next().flatten();
            Some(Transform::from_rotate_at(next()?, next()?, next()?))
        };
        turned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (u32, u32) = (40, 40);

    /// Paints these elements in twice their size.
    fn image(elements: &str) -> Pixmap {
        painted(&format!("<svg>{elements}</svg>"), SIZE, 2.0)
    }

    /// Returns red, green, blue and opacity of a pixel, the colours multiplied by the opacity.
    fn at(image: &Pixmap, x: u32, y: u32) -> [u8; 4] {
        let pixel = image.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()]
    }

    /// Returns the columns and rows that something was painted in: the first and the last.
    fn extent(image: &Pixmap) -> ((u32, u32), (u32, u32)) {
        let places = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
        let dark: Vec<_> = places.filter(|(x, y)| at(image, *x, *y)[3] > 0).collect();
        let ends = |numbers: Vec<u32>| {
            let (least, most) = (numbers.iter().min(), numbers.iter().max());
            (*least.unwrap(), *most.unwrap())
        };
        (
            ends(dark.iter().map(|place| place.0).collect()),
            ends(dark.iter().map(|place| place.1).collect()),
        )
    }

    const INK: [u8; 4] = [255, 0, 128, 255];

    #[test]
    fn areas_are_filled_and_outlines_drawn() {
        for (element, inside) in [
            (
                r##"<rect x="2" y="2" width="16" height="16" fill="#FF0080" stroke="none"/>"##,
                true,
            ),
            (
                r##"<rect x="2" y="2" width="16" height="16" fill="none" stroke="#FF0080"/>"##,
                false,
            ),
            (
                r##"<circle cx="10" cy="10" r="8" fill="#FF0080" stroke="none"/>"##,
                true,
            ),
            (
                r##"<circle cx="10" cy="10" r="8" fill="none" stroke="#FF0080"/>"##,
                false,
            ),
            (
                r##"<polygon fill="#FF0080" points="2,2 18,2 18,18 2,18 "/>"##,
                true,
            ),
            (
                r##"<polyline fill="none" stroke="#FF0080" points="2,2 18,2 18,18 "/>"##,
                false,
            ),
        ] {
            let image = image(element);
            assert_eq!(at(&image, 20, 20) == INK, inside, "{element}");
            let ((left, right), (top, bottom)) = extent(&image);
            let is_edge = |least, most, at| (least..=most).contains(&at);
            assert!(
                is_edge(2, 4, left) && is_edge(2, 4, top),
                "{element}: {left}, {top}"
            );
            let ends = is_edge(34, 37, right) && is_edge(34, 37, bottom);
            assert!(ends, "{element}: {right}, {bottom}");
        }
    }

    #[test]
    fn a_line_has_the_width_that_it_states() {
        let line = r##"<line stroke="#FF0080" stroke-width="4" x1="0" y1="10" x2="20" y2="10"/>"##;
        assert_eq!(extent(&image(line)), ((0, 39), (16, 23)));
    }

    #[test]
    fn opacity_lets_what_was_painted_before_shine_through() {
        let whole = r##"<rect x="0" y="0" width="20" height="20" fill="#FFFFFF"/>"##;
        let half = r##"<rect x="0" y="0" width="20" height="20" fill="#000000" opacity="0.5"/>"##;
        let [red, .., opacity] = at(&image(&format!("{whole}{half}")), 9, 9);
        assert!(
            (126..=129).contains(&red) && opacity == 255,
            "{red}, {opacity}"
        );
    }

    #[test]
    fn a_text_begins_ends_or_is_centred_at_its_place() {
        let text = |anchor: &str, turn: &str| {
            let place = r##"x="10" y="10" dy="0.76em" font-size="6" fill="#000000""##;
            let turned = format!(r#"text-anchor="{anchor}" transform="{turn}""#);
            extent(&image(&format!("<text {place} {turned}>\nHH\n</text>")))
        };
        let (across, up) = text("start", "");
        assert!(
            across.0 >= 20 && up.0 >= 20 && up.1 < 30,
            "{across:?}, {up:?}"
        );
        let (before, same) = text("end", "");
        assert!(before.1 <= 20 && same == up, "{before:?}, {same:?}");
        let (around, _) = text("middle", "");
        assert!(around.0.abs_diff(40 - around.1) <= 2, "{around:?}");
        let (turned, above) = text("start", "rotate(270, 10, 10)");
        assert!(above.1 <= 20 && turned.0 >= 20, "{turned:?}, {above:?}");
    }

    #[test]
    fn what_has_no_extent_is_not_painted() {
        for element in [
            r##"<rect x="2" y="2" width="-1" height="16" fill="#FF0080"/>"##,
            r##"<polyline fill="none" stroke="#FF0080" points=""/>"##,
            r##"<text x="1" y="1" dy="1ex" text-anchor="end" font-size="6" fill="#FFF"> </text>"##,
        ] {
            let image = image(element);
            assert!(
                image.pixels().iter().all(|pixel| pixel.alpha() == 0),
                "{element}"
            );
        }
    }
}
