//! Turns of threads that share a core: a worker, and what happens once a second beside the load.
//!
//! Exporters compute for milliseconds at a time. A worker that must send at an instant in between
//! would wait for the end of the other thread's time slice. So what must be done within the second
//! is done in pieces, between which a worker may run. A lower priority would be wrong for it:
//! beside a worker that never waits, a thread of it falls behind. What may be some hundred
//! milliseconds late is interrupted after each piece: [`InPieces`](crate::InPieces).
//!
//! What may be late as well as not is done while no worker needs the core.

use std::cell::Cell;
use std::thread;

/// The pieces of work between two turns: some 50 µs in all.
const PIECES_OF_A_TURN: u32 = 4;

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
        PIECES.set(0);
        thread::yield_now();
    }
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
}
