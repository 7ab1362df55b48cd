//! The files of latencies that the DeathStarBench fork of wrk2 writes into the current folder, each
//! line a whole number of microseconds.
//!
//! With `-P` each thread has a file, `0.txt` and so on, with a line for each response. With `-p`
//! there is `url0thread0.txt` with the 99th percentile of the first thread's answers, a line for
//! each tenth of what that thread sends in a second. As in the fork, files of these names are
//! written anew.

use crate::Arguments;
use loadline_record::{Exchange, Outcome};
use loadline_runner::preflight::{Reserved, Unwritable};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const TAIL: &str = "url0thread0.txt";

/// The requested files, while the run lasts.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    /// A file for each thread, if they are requested.
    each: Vec<BufWriter<File>>,
    tail: Option<Tail>,
}

#[derive(Debug)]
struct Tail {
    file: BufWriter<File>,
    /// Answers for one line.
    every: usize,
    micros: Vec<u64>,
}

/// The files before the run has begun.
#[derive(Debug, Default)]
pub(super) struct Reservation {
    each: Vec<Reserved>,
    tail: Option<Reserved>,
    /// Answers for one line of the tail.
    every: usize,
}

impl Reservation {
    /// Opens the files; what they hold is left until the run has begun.
    ///
    /// # Errors
    /// If one can't be written.
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Unwritable> {
        let files = if arguments.each_latency {
            arguments.threads
        } else {
            0
        };
        let each = (0..files).map(|thread| Reserved::open(Path::new(&format!("{thread}.txt"))));
        let tail = arguments
            .tail_latency
            .then(|| Reserved::open(Path::new(TAIL)));
        let of_thread = arguments.rate.unwrap_or_default() / u64::from(arguments.threads);
        Ok(Reservation {
            each: each.collect::<Result<_, _>>()?,
            tail: tail.transpose()?,
            every: (of_thread / 10).max(1) as usize,
        })
    }

    /// True if the exchanges of the run are needed.
    pub(super) fn needs_exchanges(&self) -> bool {
        !self.each.is_empty() || self.tail.is_some()
    }

    /// The files, empty.
    pub(super) fn begin(self) -> Latencies {
        let empty = |file: Reserved| BufWriter::new(file.take_empty());
        let every = self.every;
        Latencies {
            each: self.each.into_iter().map(empty).collect(),
            tail: self.tail.map(|file| Tail {
                file: empty(file),
                every,
                micros: Vec::new(),
            }),
        }
    }
}

impl Latencies {
    /// Takes in what a thread's exchanges came to.
    ///
    /// # Errors
    /// Those of the files.
    pub(super) fn take(&mut self, worker: usize, exchanges: &[Exchange]) -> io::Result<()> {
        for exchange in exchanges {
            if !matches!(exchange.outcome, Outcome::Answered { .. }) {
                continue;
            }
            let micros = (exchange.end_ns - exchange.intended_ns) / 1_000;
            if let Some(file) = self.each.get_mut(worker) {
                writeln!(file, "{micros}")?;
            }
            if let Some(tail) = self.tail.as_mut().filter(|_| worker == 0) {
                tail.take(micros)?;
            }
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of the files.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let tail = self.tail.iter_mut().map(|tail| &mut tail.file);
        self.each.iter_mut().chain(tail).try_for_each(Write::flush)
    }
}

impl Tail {
    fn take(&mut self, micros: u64) -> io::Result<()> {
        self.micros.push(micros);
        if self.micros.len() < self.every {
            return Ok(());
        }
        self.micros.sort_unstable();
        // The nearest rank.
        let rank = (self.every * 99).div_ceil(100);
        let percentile = self.micros[rank - 1];
        self.micros.clear();
        writeln!(self.file, "{percentile}")?;
        // Whoever watches the file sees each line as it comes.
        self.file.flush()
    }
}
