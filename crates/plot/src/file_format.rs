//! The file formats of charts.

use loadline_page::{Chart, SharedX};

/// A format of a chart's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Lines and text, for browsers and documents.
    Svg,
    /// Pixels, for programs that cannot show SVG.
    #[cfg(feature = "png")]
    Png,
}

impl FileFormat {
    /// The formats that this build can draw.
    pub const ALL: &[FileFormat] = &[
        FileFormat::Svg,
        #[cfg(feature = "png")]
        FileFormat::Png,
    ];

    /// Returns the extension of the file's name, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            FileFormat::Svg => "svg",
            #[cfg(feature = "png")]
            FileFormat::Png => "png",
        }
    }

    /// Returns the contents of a file of this format.
    #[must_use]
    pub fn draw(self, chart: &Chart, shared_x: &SharedX) -> Vec<u8> {
        match self {
            FileFormat::Svg => crate::svg(chart, shared_x).into_bytes(),
            #[cfg(feature = "png")]
            FileFormat::Png => crate::png(chart, shared_x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::tests::chart;

    #[test]
    fn each_format_begins_as_files_of_its_ending_do() {
        for format in FileFormat::ALL {
            let drawn = format.draw(&chart(Vec::new()), &SharedX::default());
            let start: &[u8] = match format.ending() {
                "svg" => b"<svg",
                _ => b"\x89PNG",
            };
            assert!(drawn.starts_with(start), "{format:?}");
        }
    }
}
