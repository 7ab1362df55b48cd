//! A chart as PNG: its SVG, painted.

use crate::draw::UNITS;
use crate::paint::painted;
use crate::{HEIGHT, WIDTH, svg};
use loadline_page::{Chart, SharedX};
use tiny_skia::Pixmap;

/// Pixels of the PNG for each pixel of the SVG, in each direction: enough for print and for
/// high-resolution screens.
pub const PNG_SCALE: u32 = 2;

/// Returns the chart as a PNG file of [`WIDTH`] × [`PNG_SCALE`] by [`HEIGHT`] × [`PNG_SCALE`]
/// pixels.
pub fn png(chart: &Chart, shared_x: &SharedX) -> Vec<u8> {
    encoded(pixels(chart, shared_x))
}

fn pixels(chart: &Chart, shared_x: &SharedX) -> Pixmap {
    let size = (WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE);
    painted(&svg(chart, shared_x), size, PNG_SCALE as f32 / UNITS as f32)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::tests::{chart, line};
    use loadline_page::Series;

    /// Returns the number of pixels of this colour.
    fn count(pixels: &Pixmap, (red, green, blue): (u8, u8, u8)) -> usize {
        let alike = |pixel: &&tiny_skia::PremultipliedColorU8| {
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
        let chart = chart(vec![one, Series { colour: 1, ..two }]);
        let pixels = pixels(&chart, &shared_x);
        let file = std::io::Cursor::new(png(&chart, &shared_x));
        let mut file = ::png::Decoder::new(file).read_info().unwrap();
        let mut read = vec![0; file.output_buffer_size().unwrap()];
        let info = file.next_frame(&mut read).unwrap();
        assert_eq!((info.width, info.height), (1_800, 1_080));
        assert!(read == pixels.data());
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
