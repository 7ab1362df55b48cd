//! Turns of threads that share a core: a worker, and what happens once a second beside the load.
//!
//! Exporters and the live page compute for milliseconds at a time. A worker that must send at an
//! instant in between would wait for the end of the other thread's time slice. So what must be done
//! within the second is done in pieces, between which a worker may run. A lower priority would be
//! wrong for it: beside a worker that never waits, a thread of it falls behind.
//!
//! What may be late as well as not is done while no worker needs the core.

use std::cell::Cell;
use std::io::{self, BufRead, Read, Write};
use std::thread;

/// The pieces of work between two turns: some 50 µs in all.
const PIECES_OF_A_TURN: u32 = 4;
/// The bytes that are a piece of work where text is written or read.
const BYTES_OF_A_PIECE: usize = 4096;

thread_local! {
    /// The pieces since the last turn of another thread.
    static PIECES: Cell<u32> = const { Cell::new(0) };
}

/// Lets workers that wait for this core run, after every fourth call. To be called for each piece
/// of work: a series that is made, added or converted, some rows of a table, a message that is
/// sent.
pub fn let_workers_run() {
    let pieces = PIECES.get() + 1;
    PIECES.set(pieces);
    if pieces == PIECES_OF_A_TURN {
        let_workers_run_now();
    }
}

/// Lets workers that wait for this core run. To be called after what can't be divided and takes
/// as long as several pieces.
pub fn let_workers_run_now() {
    PIECES.set(0);
    thread::yield_now();
}

/// Has the calling thread run while no other one needs its core (sched(7), `SCHED_IDLE`): whichever
/// wakes up goes first at once.
///
/// For what computes long and may come late. It holds no lock for which others wait. Where the
/// system refuses, nothing changes.
pub fn run_when_idle() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: The call reads the parameters, which outlive it, and changes nothing but a property
    // of the calling thread: on Linux, 0 means this thread alone.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters);
    }
}

/// Text that is written or read in turns with workers.
#[derive(Debug, Default)]
pub struct InTurns<T> {
    inner: T,
    /// The bytes since the last piece.
    bytes: usize,
}

impl<T> InTurns<T> {
    /// Creates one around what takes or has the text.
    pub fn new(inner: T) -> Self {
        InTurns { inner, bytes: 0 }
    }

    /// Returns what took or had the text.
    pub fn into_inner(self) -> T {
        self.inner
    }

    fn count(&mut self, bytes: usize) {
        self.bytes += bytes;
        while self.bytes >= BYTES_OF_A_PIECE {
            self.bytes -= BYTES_OF_A_PIECE;
            let_workers_run();
        }
    }
}

impl<T: Write> Write for InTurns<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: BufRead> Read for InTurns<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count(read);
        Ok(read)
    }
}

impl<T: BufRead> BufRead for InTurns<T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
        self.count(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fourth_piece_is_followed_by_a_turn() {
        let pieces: Vec<u32> = (0..6)
            .map(|_| {
                let_workers_run();
                PIECES.get()
            })
            .collect();
        assert_eq!(pieces, [1, 2, 3, 0, 1, 2]);
    }

    /// The policy of the calling thread, from proc(5).
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("a thread has one");
        // The name in brackets may have spaces; the policy is the 41st field, the 39th after it.
        let (_, fields) = stat.rsplit_once(") ").expect("the name of the thread");
        let field = fields.split(' ').nth(38).expect("the policy");
        field.parse().expect("a number")
    }

    #[test]
    fn a_thread_that_may_be_late_is_the_only_one_that_waits() {
        let before = policy();
        let beside = thread::spawn(|| {
            run_when_idle();
            policy()
        });
        assert_eq!(beside.join().expect("ends"), libc::SCHED_IDLE);
        assert_eq!(policy(), before, "only the calling thread changes");
    }

    #[test]
    fn text_passes_unchanged_and_each_page_of_it_is_a_piece() {
        let text = vec![b'a'; 3 * BYTES_OF_A_PIECE];
        let mut out = InTurns::new(Vec::new());
        out.write_all(&text).unwrap();
        assert_eq!((PIECES.get(), out.bytes), (3, 0));
        let mut input = InTurns::new(&text[..BYTES_OF_A_PIECE + 1]);
        let mut read = Vec::new();
        input.read_until(b'\n', &mut read).unwrap();
        assert_eq!(read, text[..BYTES_OF_A_PIECE + 1]);
        assert_eq!((PIECES.get(), input.bytes), (0, 1));
        assert_eq!(out.into_inner(), text);
    }
}
