//! Successes on disk, for outputs that list each one: CSV sorted by start, or rows of a database.
//!
//! Rows arrive in the order of their ends. They are written to a temporary file in sorted pieces,
//! which are merged on reading, so that memory does not grow with their number.

use super::tally::Success;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

/// The number of rows in a piece.
const PIECE: usize = 200_000;
/// The size of the read buffer of a piece, in bytes.
const READ_BYTES: usize = 64 * 1024;
/// The value written for a missing time.
const NOTHING: u64 = u64::MAX;

/// A success with the target of its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) success: Success,
    /// The target as sent: the path, or the whole URL.
    pub(super) target: String,
}

/// Stores rows, and returns them sorted.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    /// The end of each piece in the file, in bytes.
    ends: Vec<u64>,
    piece: Vec<Row>,
}

impl Spool {
    /// Creates an empty spool.
    ///
    /// # Errors
    /// If there is no room for temporary files.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Spool {
            file: tempfile::tempfile()?,
            ends: Vec::new(),
            piece: Vec::new(),
        })
    }

    pub(super) fn add(&mut self, row: Row) -> io::Result<()> {
        self.piece.push(row);
        match self.piece.len() {
            PIECE => self.write_piece(),
            _ => Ok(()),
        }
    }

    /// Returns all rows in the order of their starts.
    pub(super) fn sorted(&mut self) -> io::Result<Sorted<'_>> {
        self.write_piece()?;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut pieces = Vec::new();
        for (start, end) in starts.zip(&self.ends) {
            let part = Part {
                file: &self.file,
                at: start,
                end: *end,
            };
            pieces.push(BufReader::with_capacity(READ_BYTES, part));
        }
        Sorted::new(pieces)
    }

    fn write_piece(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        self.piece.sort_by_key(|row| row.success.start_ns);
        let mut output = BufWriter::new(&self.file);
        for row in self.piece.drain(..) {
            row.write(&mut output)?;
        }
        output.flush()?;
        drop(output);
        self.ends.push((&self.file).seek(SeekFrom::End(0))?);
        Ok(())
    }
}

/// A part of a file, read without moving the positions of the other parts.
#[derive(Debug)]
struct Part<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..room], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Rows in the order of their starts.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    pieces: Vec<BufReader<Part<'a>>>,
    /// The next row of each piece.
    next: Vec<Option<Row>>,
    /// The pieces by the start of their next row.
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<'a> Sorted<'a> {
    fn new(pieces: Vec<BufReader<Part<'a>>>) -> io::Result<Self> {
        let mut sorted = Sorted {
            next: vec![None; pieces.len()],
            order: BinaryHeap::new(),
            pieces,
        };
        for index in 0..sorted.pieces.len() {
            sorted.advance(index)?;
        }
        Ok(sorted)
    }

    fn advance(&mut self, index: usize) -> io::Result<()> {
        let row = Row::read(&mut self.pieces[index])?;
        if let Some(row) = &row {
            self.order.push(Reverse((row.success.start_ns, index)));
        }
        self.next[index] = row;
        Ok(())
    }

    fn take(&mut self) -> io::Result<Option<Row>> {
        let Some(Reverse((_, index))) = self.order.pop() else {
            return Ok(None);
        };
        let row = self.next[index].take();
        self.advance(index)?;
        Ok(row)
    }
}

impl Iterator for Sorted<'_> {
    type Item = io::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

impl Row {
    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let success = &self.success;
        for number in [
            success.start_ns,
            success.intended_ns,
            success.end_ns,
            success.latency_ns,
            success.first_byte_ns.unwrap_or(NOTHING),
            success.dial_ns.unwrap_or(NOTHING),
            success.lookup_ns,
            u64::from(success.status),
            success.bytes,
            self.target.len() as u64,
        ] {
            output.write_all(&number.to_le_bytes())?;
        }
        output.write_all(self.target.as_bytes())
    }

    /// Reads the next row; `None` after the last one.
    fn read(input: &mut impl Read) -> io::Result<Option<Row>> {
        let mut bytes = [0; 10 * 8];
        match input.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let mut numbers = bytes
            .chunks_exact(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("chunks have eight bytes")));
        let mut number = || numbers.next().unwrap_or_default();
        let some = |number: u64| (number != NOTHING).then_some(number);
        let success = Success {
            start_ns: number(),
            intended_ns: number(),
            end_ns: number(),
            latency_ns: number(),
            first_byte_ns: some(number()),
            dial_ns: some(number()),
            lookup_ns: number(),
            status: number() as u16,
            bytes: number(),
        };
        let mut target = vec![0; number() as usize];
        input.read_exact(&mut target)?;
        let target = String::from_utf8_lossy(&target).into_owned();
        Ok(Some(Row { success, target }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start_ns: u64) -> Row {
        Row {
            success: Success {
                start_ns,
                intended_ns: start_ns + 1,
                end_ns: start_ns + 9,
                latency_ns: 8,
                first_byte_ns: start_ns.is_multiple_of(2).then_some(5),
                dial_ns: start_ns.is_multiple_of(3).then_some(4),
                lookup_ns: 3,
                status: 204,
                bytes: start_ns * 7,
            },
            target: format!("/{start_ns}"),
        }
    }

    #[test]
    fn rows_come_back_whole_in_the_order_of_their_starts() {
        let mut spool = Spool::new().expect("a file");
        let count = 2 * PIECE as u64 + 5;
        // Any order: multiples of a number without a divisor in common with the count.
        let starts = (0..count).map(|index| index * 7_919 % count);
        starts.for_each(|start| spool.add(row(start)).expect("room"));
        assert_eq!(spool.ends.len(), 2);
        let rows = spool.sorted().expect("rows");
        let mut seen = 0;
        for (expected, row_read) in (0..).zip(rows) {
            assert_eq!(row_read.expect("a row"), row(expected));
            seen += 1;
        }
        assert_eq!(seen, count);
    }

    #[test]
    fn without_a_row_there_is_none() {
        let mut spool = Spool::new().expect("a file");
        assert_eq!(spool.sorted().expect("rows").count(), 0);
    }
}
