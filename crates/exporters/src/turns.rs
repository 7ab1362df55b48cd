//! Which threads wait for which, where an exporter and a worker share a core.
//!
//! What exporters do once a second takes milliseconds. A worker that must send at an instant in
//! between would wait for the end of the other thread's time slice. A lower priority would be
//! wrong: beside a worker that never waits, a thread of it falls behind.

use std::cell::Cell;
use std::thread;

/// The series between two turns: some 100 µs of work.
const SERIES_OF_A_TURN: u32 = 8;

thread_local! {
    /// The series since the last turn of another thread.
    static SERIES: Cell<u32> = const { Cell::new(0) };
}

/// Lets workers that wait for this core run, after every eighth call. To be called for each series
/// that is made or written.
pub(crate) fn let_workers_run() {
    let series = SERIES.get() + 1;
    SERIES.set(series % SERIES_OF_A_TURN);
    if series == SERIES_OF_A_TURN {
        thread::yield_now();
    }
}
