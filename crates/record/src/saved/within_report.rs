//! A saved run within an HTML report: compressed, in an element that browsers neither run nor show.

use crate::error::Error;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, BufReader, Cursor, Write};
use std::path::Path;

const BEGIN: &str = "<script type=\"application/gzip\" id=\"saved-run\">";
const END: &str = "</script>";

/// Returns the element that holds this saved run. It comes after all else of a report, which is
/// then read as a saved run is.
pub fn run_element(run: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(run).and_then(|()| encoder.finish());
    let packed = packed.expect("memory takes all bytes");
    format!("{BEGIN}{}{END}\n", STANDARD.encode(packed))
}

/// Returns the input, or the saved run within it if it is an HTML report.
pub(super) fn unpacked(
    path: &Path,
    mut input: impl BufRead + 'static,
) -> Result<Box<dyn BufRead>, Error> {
    let read_error = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let begin = input.fill_buf().map_err(read_error)?;
    if begin.trim_ascii_start().first() != Some(&b'<') {
        return Ok(Box::new(input));
    }
    let mut report = Vec::new();
    input.read_to_end(&mut report).map_err(read_error)?;
    let Some(packed) = packed_run(&report) else {
        return Err(Error::NoRunWithin {
            path: path.to_owned(),
        });
    };
    let bytes = STANDARD.decode(packed);
    let bytes = bytes.map_err(|error| read_error(io::Error::other(error)))?;
    Ok(Box::new(BufReader::new(GzDecoder::new(Cursor::new(bytes)))))
}

/// Returns the content of the last element that holds a run.
fn packed_run(report: &[u8]) -> Option<&[u8]> {
    let begin = last(report, BEGIN.as_bytes())? + BEGIN.len();
    let rest = &report[begin..];
    let end = rest.iter().position(|byte| *byte == b'<')?;
    Some(&rest[..end])
}

fn last(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).rposition(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn read(bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut run = Vec::new();
        let mut input = unpacked(Path::new("a.html"), Cursor::new(bytes.to_vec()))?;
        input.read_to_end(&mut run).unwrap();
        Ok(run)
    }

    #[test]
    fn a_report_gives_back_the_run_that_it_holds() {
        let run = b"{\"loadline\":3,\"kind\":\"header\"}\n<script>\n".repeat(100);
        let element = run_element(&run);
        assert!(element.len() < run.len(), "{}", element.len());
        let report = format!("<!doctype html>{BEGIN}AAAA{END}<p></p>{element}");
        assert_eq!(read(report.as_bytes()).unwrap(), run);
        assert_eq!(read(&run).unwrap(), run, "a saved run stays as it is");
    }

    #[test]
    fn a_report_without_a_run_and_a_damaged_one_are_refused() {
        for text in [
            "<!doctype html><p>",
            "<script type=\"application/gzip\" id=\"saved-run\">",
        ] {
            let refused = read(text.as_bytes()).map(drop).unwrap_err().to_string();
            assert!(
                refused.contains("a.html") && refused.ends_with('.'),
                "{refused}"
            );
        }
        let damaged = format!("<p>{BEGIN}%%%{END}");
        assert!(matches!(read(damaged.as_bytes()), Err(Error::Read { .. })));
    }
}
