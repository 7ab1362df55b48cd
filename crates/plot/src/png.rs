//! A chart as PNG: its SVG, rendered with an embedded font.
//!
//! Servers often have no fonts, and a picture should look the same on every machine.

use crate::{HEIGHT, WIDTH, svg};
use loadline_page::{Chart, SharedX};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::{Arc, OnceLock};

/// Pixels of the PNG for each pixel of the SVG, in each direction: enough for print and for
/// high-resolution screens.
pub const PNG_SCALE: u32 = 2;

/// The family in the font's own name table.
const FAMILY: &str = "Ubuntu";

/// Returns the chart as a PNG file of [`WIDTH`] × [`PNG_SCALE`] by [`HEIGHT`] × [`PNG_SCALE`]
/// pixels.
pub fn png(chart: &Chart, shared_x: &SharedX) -> Vec<u8> {
    let options = Options {
        fontdb: fonts(),
        ..Options::default()
    };
    let tree = Tree::from_str(&svg(chart, shared_x), &options).expect("our own SVG is well formed");
    let mut pixels = Pixmap::new(WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE)
        .expect("the size is neither nothing nor huge");
    let scale = PNG_SCALE as f32;
    let enlarge = Transform::from_scale(scale, scale);
    resvg::render(&tree, enlarge, &mut pixels.as_mut());
    encoded(pixels)
}

/// Encodes the pixels as a file. The background is opaque, so no colour is premultiplied by
/// transparency.
fn encoded(pixels: Pixmap) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixels.width(), pixels.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(pixels.data())?;
        writer.finish()
    });
    written.expect("pixels in memory are always encoded");
    file
}

/// Returns the font, which is read once.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let read = || {
        let mut fonts = Database::new();
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    };
    FONTS.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::tests::{chart, line};
    use loadline_page::Series;

    fn pixels(chart: &Chart, shared_x: &SharedX) -> Pixmap {
        Pixmap::decode_png(&png(chart, shared_x)).unwrap()
    }

    /// Returns the number of pixels of this colour.
    fn count(pixels: &Pixmap, (red, green, blue): (u8, u8, u8)) -> usize {
        let alike = |pixel: &&resvg::tiny_skia::PremultipliedColorU8| {
            (pixel.red(), pixel.green(), pixel.blue()) == (red, green, blue)
        };
        pixels.pixels().iter().filter(alike).count()
    }

    #[test]
    fn it_is_a_picture_of_the_stated_size_with_the_series_in_its_colours() {
        let mut shared_x = SharedX::default();
        let series = [("one", 1e3), ("two", 2e4)]
            .map(|(name, us)| line(name, &[(0.0, us), (10.0, us * 3.0)], &mut shared_x));
        let [one, two] = series;
        let pixels = pixels(&chart(vec![one, Series { colour: 1, ..two }]), &shared_x);
        assert_eq!((pixels.width(), pixels.height()), (1_800, 1_080));
        assert!(count(&pixels, crate::PALETTE[0]) > 500);
        assert!(count(&pixels, crate::PALETTE[1]) > 500);
        assert_eq!(count(&pixels, crate::PALETTE[2]), 0);
    }

    #[test]
    fn its_words_are_drawn_on_a_machine_without_fonts() {
        let nothing = SharedX::default();
        let named = pixels(&chart(Vec::new()), &nothing);
        let mut nameless = chart(Vec::new());
        nameless.title.clear();
        let nameless = pixels_dark(&pixels(&nameless, &nothing));
        assert!(pixels_dark(&named) > nameless + 300);
    }

    fn pixels_dark(pixels: &Pixmap) -> usize {
        let dark = pixels.pixels().iter();
        dark.filter(|pixel| pixel.red() < 128 && pixel.green() < 128)
            .count()
    }
}
