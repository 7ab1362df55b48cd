//! Which threads wait for which, where an exporter and a worker share a core.
//!
//! What exporters do once a second takes milliseconds. A worker that must send at an instant in
//! between would wait for the end of the other thread's time slice. A lower priority would be
//! wrong: beside a worker that never waits, a thread of it falls behind.

use std::cell::Cell;
use std::thread;

/// The pieces of work between two turns: some 50 µs in all.
const PIECES_OF_A_TURN: u32 = 4;

thread_local! {
    /// The pieces since the last turn of another thread.
    static PIECES: Cell<u32> = const { Cell::new(0) };
}

/// Lets workers that wait for this core run, after every fourth call. To be called for each piece
/// of work: a series that is made, added or converted, a message that is sent.
pub(crate) fn let_workers_run() {
    let pieces = PIECES.get() + 1;
    PIECES.set(pieces % PIECES_OF_A_TURN);
    if pieces == PIECES_OF_A_TURN {
        thread::yield_now();
    }
}
