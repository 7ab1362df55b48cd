//! The output of others while the live view is on: of a script, of a message, of a panic. On the
//! screen it would destroy the view, and would disappear with it.
//!
//! So stdout and stderr lead to files without a name as long as the view is on, where they led to
//! a terminal before. The view shows the last lines. When the screen of before is back, all of it
//! is printed to where it would have gone. A file has room for whatever a script prints, and never
//! keeps it waiting, which a pipe would.

use loadline_units::visible;
use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// The most that is looked at for new lines; of more only the end is shown.
const MOST_SHOWN: u64 = 4_096;

/// Streams that lead to files.
#[derive(Debug)]
pub(super) struct RedirectedStreams {
    streams: Vec<Stream>,
}

#[derive(Debug)]
struct Stream {
    which: Which,
    /// The destination of the stream before.
    before: File,
    /// The current destination.
    file: File,
    /// The number of bytes of the file that were shown.
    shown: u64,
}

#[derive(Clone, Copy, Debug)]
enum Which {
    Stdout,
    Stderr,
}

impl RedirectedStreams {
    /// Leads those of stdout and stderr that lead to a terminal to files.
    ///
    /// # Errors
    /// If there is no room for a file. Both lead to where they did then.
    pub(super) fn keep() -> io::Result<RedirectedStreams> {
        let mut redirected = RedirectedStreams {
            streams: Vec::new(),
        };
        if io::stdout().is_terminal() {
            io::stdout().flush()?;
            redirected.streams.push(Stream::redirect(Which::Stdout)?);
        }
        match Stream::redirect(Which::Stderr) {
            Ok(stream) => redirected.streams.push(stream),
            Err(error) => {
                redirected.print();
                return Err(error);
            }
        }
        Ok(redirected)
    }

    /// Returns the lines that were printed since the last call.
    pub(super) fn new_lines(&mut self) -> Vec<String> {
        let streams = self.streams.iter_mut();
        streams.flat_map(Stream::new_lines).collect()
    }

    /// Leads the streams to where they led before, and prints there what was printed meanwhile.
    pub(super) fn print(self) {
        // Where it can't be flushed or printed, nobody wants to know.
        let _ = io::stdout().flush();
        for stream in &self.streams {
            let _ = stream.which.lead_to(&stream.before);
        }
        for mut stream in self.streams {
            let _ = stream.file.rewind();
            let _ = io::copy(&mut stream.file, &mut stream.before);
        }
    }
}

impl Which {
    fn lead_to(self, file: &File) -> io::Result<()> {
        Ok(match self {
            Which::Stdout => dup2_stdout(file),
            Which::Stderr => dup2_stderr(file),
        }?)
    }
}

impl Stream {
    fn redirect(which: Which) -> io::Result<Stream> {
        let before = match which {
            Which::Stdout => io::stdout().as_fd().try_clone_to_owned()?,
            Which::Stderr => io::stderr().as_fd().try_clone_to_owned()?,
        };
        let file = tempfile::tempfile()?;
        which.lead_to(&file)?;
        Ok(Stream {
            which,
            before: before.into(),
            file,
            shown: 0,
        })
    }

    /// Returns the whole lines after the shown ones, fit for a terminal.
    fn new_lines(&mut self) -> Vec<String> {
        let length = self.file.metadata().map_or(0, |file| file.len());
        if length <= self.shown {
            return Vec::new();
        }
        let from = self.shown.max(length.saturating_sub(MOST_SHOWN));
        let mut bytes = vec![0; (length - from) as usize];
        if self.file.read_exact_at(&mut bytes, from).is_err() {
            return Vec::new();
        }
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        self.shown = from + end as u64 + 1;
        let text = String::from_utf8_lossy(&bytes[..end]).replace('\t', " ");
        text.lines()
            .map(|line| visible(line).into_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(redirected: &[u8]) -> Stream {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(redirected).unwrap();
        Stream {
            which: Which::Stderr,
            before: tempfile::tempfile().unwrap(),
            file,
            shown: 0,
        }
    }

    #[test]
    fn a_line_is_shown_once_and_when_it_is_whole() {
        let mut stream = stream(b"one\n\x1b[2Jtwo\nthr");
        assert_eq!(stream.new_lines(), ["one", "\\x1b[2Jtwo"]);
        assert!(stream.new_lines().is_empty());
        stream.file.write_all(b"ee\n").unwrap();
        assert_eq!(stream.new_lines(), ["three"]);
    }

    #[test]
    fn of_very_much_the_end_is_shown() {
        let mut stream = stream(&b"a line of a script that prints for ever\n".repeat(10_000));
        let lines = stream.new_lines();
        assert!((2..200).contains(&lines.len()), "{}", lines.len());
        assert!(stream.new_lines().is_empty());
    }
}
