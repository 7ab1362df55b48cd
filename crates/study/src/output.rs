//! What a process printed, as far as it is kept: nobody knows how much that is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The text of a file; where there is more than `most` bytes, its begin and its end, with a line
/// between them that says how much is left out. One that is not there is empty.
pub(crate) fn excerpt(path: &Path, most: u64) -> String {
    read(path, most).unwrap_or_default()
}

fn read(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        file.read_to_end(&mut bytes)?;
        return Ok(text(&bytes));
    }
    let half = most / 2;
    file.by_ref().take(half).read_to_end(&mut bytes)?;
    let begin = text(&bytes);
    bytes.clear();
    file.seek(SeekFrom::Start(length - half))?;
    file.take(half).read_to_end(&mut bytes)?;
    let left_out = length - 2 * half;
    Ok(format!(
        "{begin}\n[{left_out} bytes are left out]\n{}",
        text(&bytes)
    ))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The last line that says anything, for a message.
pub(crate) fn last_line(text: &str) -> Option<&str> {
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_its_begin_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, "begin, a long middle, end").unwrap();
        assert_eq!(excerpt(&path, 25), "begin, a long middle, end");
        assert_eq!(excerpt(&path, 10), "begin\n[15 bytes are left out]\n, end");
        assert_eq!(excerpt(&folder.path().join("none"), 10), "");
    }

    #[test]
    fn the_last_line_is_one_that_says_something() {
        assert_eq!(last_line("a\nb \n\n"), Some("b"));
        assert_eq!(last_line(" \n"), None);
    }
}
