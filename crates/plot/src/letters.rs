//! The outlines of letters in the embedded font.
//!
//! Servers often have no fonts, and a picture should look the same on every machine. The font has
//! the letters of Latin, Greek and Cyrillic, each a glyph that stands beside the one before.

use std::sync::OnceLock;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A text in one line.
pub(crate) struct Line {
    /// The outlines on a base line that begins at 0, 0; none without a visible letter.
    pub(crate) outline: Option<Path>,
    /// The way from the beginning of the first letter to the end of the last.
    pub(crate) width: f32,
}

/// Sets a text in letters of this size.
pub(crate) fn line(text: &str, size: f32) -> Line {
    let face = face();
    let scale = size / f32::from(face.units_per_em());
    let mut pen = Pen {
        outline: PathBuilder::new(),
        scale,
        x: 0.0,
    };
    for letter in text.chars() {
        // The first glyph of a font is an empty box, for what it has no letter for.
        let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
        face.outline_glyph(glyph, &mut pen);
        pen.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
    Line {
        width: pen.x,
        outline: pen.outline.finish(),
    }
}

/// Returns the font, whose tables are found once.
fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| {
        Face::parse(epaint_default_fonts::UBUNTU_LIGHT, 0).expect("a font that others draw with")
    })
}

/// Draws a glyph from here on. In fonts, up is positive.
struct Pen {
    outline: PathBuilder,
    /// The size of a font's unit.
    scale: f32,
    /// The begin of the glyph.
    x: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.outline.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.outline.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.outline.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.outline.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.outline.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_on_the_base_line_beside_each_other() {
        let one = line("H", 100.0);
        let two = line("HH", 100.0);
        assert!((two.width - 2.0 * one.width).abs() < 0.01 && one.width > 50.0);
        let (one, two) = (one.outline.unwrap().bounds(), two.outline.unwrap().bounds());
        assert!((one.bottom(), two.bottom()) == (0.0, 0.0) && one.top() < -60.0);
        assert!(two.left() == one.left() && two.right() > one.right() + 50.0);
    }

    #[test]
    fn letters_of_the_alphabets_that_the_font_has_differ_and_others_are_a_box() {
        let outline = |text| line(text, 10.0).outline.unwrap();
        let drawn = ["a", "Ä", "λ", "Ж", "µ", "漢"].map(outline);
        for (index, one) in drawn.iter().enumerate() {
            assert!(drawn[..index].iter().all(|other| other != one), "{index}");
        }
        assert_eq!(outline("漢"), outline("字"));
    }

    #[test]
    fn spaces_are_wide_and_invisible() {
        let spaces = line("  ", 10.0);
        assert!(spaces.outline.is_none() && spaces.width > 2.0);
        assert_eq!(line("", 10.0).width, 0.0);
    }
}
