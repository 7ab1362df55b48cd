//! Source maps: from the lines of the running code to the lines of the original file.
//!
//! A table is made where Loadline strips types, and read where another tool has generated the file
//! and names the map in its last line (`//# sourceMappingURL=`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use oxc_sourcemap::SourceMap;
use url::Url;

/// The beginning of a last line that names a source map.
const MARK: &str = "//# sourceMappingURL=";

/// Positions in code with their positions in files, sorted by the former. Lines and columns count
/// from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    places: Vec<MappedPosition>,
    /// The original files, as the map names them.
    files: Vec<String>,
}

/// A position in the code, and its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MappedPosition {
    code: (u32, u32),
    written: (u32, u32),
    file: Option<u32>,
}

/// A position in an original file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    /// The file, as the map names it; `None` for the file itself.
    pub(crate) file: Option<&'a str>,
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column, from 1.
    pub(crate) column: u32,
}

impl Lines {
    /// Reads the table of a map. It keeps the names of files only if the map is `of_another` file.
    pub(crate) fn of(map: &SourceMap<'_>, of_another: bool) -> Self {
        let places = map.get_tokens().map(|token| MappedPosition {
            code: (token.get_dst_line(), token.get_dst_col()),
            written: (token.get_src_line(), token.get_src_col()),
            file: token.get_source_id().filter(|_| of_another),
        });
        Lines {
            places: places.collect(),
            files: map.get_sources().map(str::to_owned).collect(),
        }
    }

    /// Returns the origin of this position in the code; line and column count from 1.
    pub(crate) fn written(&self, line: u32, column: u32) -> Option<Written<'_>> {
        let code = (line.checked_sub(1)?, column.saturating_sub(1));
        let behind = self.places.partition_point(|place| place.code <= code);
        let place = self.places.get(behind.checked_sub(1)?)?;
        (place.code.0 == code.0).then(|| Written {
            file: place
                .file
                .and_then(|file| self.files.get(file as usize))
                .map(String::as_str),
            line: place.written.0 + 1,
            column: place.written.1 + 1,
        })
    }
}

/// Returns the place of a file's source map, if the last line names one.
pub(crate) fn map_of(code: &str) -> Option<&str> {
    let last = code.trim_end().lines().next_back()?;
    last.trim().strip_prefix(MARK)
}

/// Reads the map at a place that a file names: a `data:` URL, or a file, which `read` reads.
///
/// # Errors
/// The reason why the map can't be read; the positions are then used as they are.
pub(crate) fn read_map(
    place: &str,
    of: &Url,
    read: impl FnOnce(&Url) -> Result<Vec<u8>, String>,
) -> Result<Lines, String> {
    let json = match place.strip_prefix("data:") {
        Some(data) => inline_map(data)?,
        None => read(&of.join(place).map_err(|problem| problem.to_string())?)?,
    };
    let json = String::from_utf8(json).map_err(|problem| problem.to_string())?;
    let map = SourceMap::from_json_string(&json).map_err(|problem| problem.to_string())?;
    Ok(Lines::of(&map, true))
}

/// Decodes the map in a `data:` URL, given the part after the colon.
fn inline_map(data: &str) -> Result<Vec<u8>, String> {
    let coded = data.split_once(',');
    let coded = coded.filter(|(kind, _)| kind.ends_with(";base64"));
    let (_, text) = coded.ok_or("the source map in its last line is not written in base64")?;
    let decoded = STANDARD.decode(text.trim());
    decoded.map_err(|problem| problem.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map of one line, which comes from line 3 of `a.ts`.
    const MAP: &str = r#"{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAEA"}"#;

    fn url() -> Url {
        Url::parse("file:///s/a.js").unwrap()
    }

    fn written(lines: &Lines) -> Option<Written<'_>> {
        lines.written(1, 9)
    }

    #[test]
    fn a_map_stands_in_the_last_line_or_in_a_file() {
        let place = format!("data:application/json;base64,{}", STANDARD.encode(MAP));
        let code = format!("throw 1;\n//# sourceMappingURL={place}\n");
        assert_eq!(map_of(&code), Some(place.as_str()));
        assert_eq!(map_of("throw 1;"), None);
        let expected = Some(Written {
            file: Some("a.ts"),
            line: 3,
            column: 1,
        });
        let inline = read_map(&place, &url(), |_| Err(String::new())).unwrap();
        assert_eq!(written(&inline), expected);
        let beside = read_map("a.js.map", &url(), |url| {
            assert_eq!(url.path(), "/s/a.js.map");
            Ok(MAP.into())
        });
        assert_eq!(written(&beside.unwrap()), expected);
    }

    #[test]
    fn what_is_no_map_is_left_alone() {
        let missing = |_: &Url| Err("missing".to_owned());
        assert!(read_map("data:,x", &url(), missing).is_err());
        assert!(read_map("data:;base64,%", &url(), missing).is_err());
        assert_eq!(
            read_map("a.map", &url(), missing),
            Err("missing".to_owned())
        );
        assert!(read_map("a.map", &url(), |_| Ok(b"{".to_vec())).is_err());
    }
}
