//! Work beside the load in short pieces, wherever the thread is.
//!
//! A worker that never waits, because its next request is always near, is never woken up and so
//! preempts nobody. Another thread has its turn at a tick of the scheduler, every 1 to 10 ms, and
//! keeps the core until the next tick: requests are late by as much, and at 50 000 a second it
//! takes the worker several times as long to catch up. So a timer interrupts what computes after a
//! piece of its work, and the handler of the signal sleeps until a worker has had the core. No code
//! has to think of it. Once the workers have ended, the work goes on as it is.

use crate::kernel::{has_loops, monotonic_ns};
use libc::{c_int, c_void, siginfo_t};
use std::cell::Cell;
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::OnceLock;

/// The length of a piece, in nanoseconds: shorter ones cost more than they hold, because the caches
/// are the worker's each time.
const PIECE_NS: i64 = 100_000;
/// The sleep after a piece, in milliseconds.
const SLEEP_MS: c_int = 1;
/// The time after which the pieces are longer: work for each second has to be done within it.
const SHORT_PIECES_NS: u64 = 250_000_000;
/// The length of a piece from then on.
const LONG_PIECE_NS: i64 = 2_000_000;

/// Has the thread that began it work in pieces, as long as it lives.
///
/// For what computes beside the load and may be done some hundred milliseconds later. A system call
/// that waits may end early meanwhile (`EINTR`).
#[derive(Debug)]
pub struct InPieces {
    /// The handler of its signal knows the place. It never leaves the thread.
    _timer: Option<Rc<PieceTimer>>,
}

impl InPieces {
    /// Has the calling thread work in pieces from now on, until no worker is there. Where the
    /// system refuses, nothing changes.
    #[must_use]
    pub fn begin() -> InPieces {
        let signal = handled_signal().filter(|_| has_loops());
        InPieces {
            _timer: signal.and_then(|signal| PieceTimer::begin(signal).ok()),
        }
    }
}

#[derive(Debug)]
struct PieceTimer {
    /// `None` if there is none yet.
    id: Cell<Option<libc::timer_t>>,
    begun_ns: u64,
}

impl PieceTimer {
    fn begin(signal: c_int) -> io::Result<Rc<PieceTimer>> {
        let timer = Rc::new(PieceTimer {
            id: Cell::new(None),
            begun_ns: monotonic_ns(),
        });
        // SAFETY: all fields are numbers or pointers, for which zero is a value.
        let mut event: libc::sigevent = unsafe { zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        // SAFETY: the call has no conditions.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        event.sigev_value.sival_ptr = Rc::as_ptr(&timer).cast_mut().cast();
        let mut id: libc::timer_t = null_mut();
        // SAFETY: the kernel reads the event and writes the number of the timer.
        let result =
            unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        timer.id.set(Some(id));
        timer.interrupt_once();
        Ok(timer)
    }

    /// Interrupts the thread once, after the next piece. Safe in the handler of a signal.
    fn interrupt_once(&self) {
        let Some(id) = self.id.get() else {
            return;
        };
        let is_long = monotonic_ns() - self.begun_ns > SHORT_PIECES_NS;
        // SAFETY: all fields are numbers, for which zero is a value.
        let mut due: libc::itimerspec = unsafe { zeroed() };
        due.it_value.tv_nsec = if is_long { LONG_PIECE_NS } else { PIECE_NS };
        // SAFETY: the timer exists, and the kernel reads the time.
        unsafe { libc::timer_settime(id, 0, &raw const due, null_mut()) };
    }
}

impl Drop for PieceTimer {
    /// A signal of the timer that is pending is handled as the call returns, before its place is
    /// free: it is one of this thread.
    fn drop(&mut self) {
        if let Some(id) = self.id.get() {
            // SAFETY: the timer exists, and nobody uses it afterwards.
            unsafe { libc::timer_delete(id) };
        }
    }
}

/// Returns the signal of the timers; `None` if the process uses it for something else.
fn handled_signal() -> Option<c_int> {
    static SIGNAL: OnceLock<Option<c_int>> = OnceLock::new();
    *SIGNAL.get_or_init(|| {
        let signal = libc::SIGRTMAX() - 1;
        handle(signal).then_some(signal)
    })
}

/// Sets the handler of a signal that nobody handles; false if somebody does.
fn handle(signal: c_int) -> bool {
    // SAFETY: all fields are numbers or pointers, for which zero is a value; the kernel writes the
    // present action, and reads the new one. The handler calls only what is safe in one.
    unsafe {
        let mut present: libc::sigaction = zeroed();
        let is_free = libc::sigaction(signal, null_mut(), &raw mut present) == 0
            && present.sa_sigaction == libc::SIG_DFL;
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = end_piece as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        is_free && libc::sigaction(signal, &raw const action, null_mut()) == 0
    }
}

/// Ends a piece of the work of this thread, and begins the next one after a sleep.
extern "C" fn end_piece(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes what the timer was created with, the place of a timer of this
    // thread, which is there until the timer is deleted. `errno` is that of the thread. All calls
    // are safe in a handler (signal-safety(7)).
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        if has_loops() {
            libc::poll(null_mut(), 0, SLEEP_MS);
            let timer = (*info).si_value().sival_ptr.cast::<PieceTimer>();
            (*timer).interrupt_once();
        }
        *errno = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;
    use std::hint::black_box;
    use std::thread;
    use std::time::{Duration, Instant};

    /// The CPU that the calling thread has used.
    fn used() -> Duration {
        // SAFETY: all fields are numbers, for which zero is a value, and the kernel writes them.
        let time = unsafe {
            let mut time: libc::timespec = zeroed();
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
            time
        };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    /// Computes until the thread has used so much CPU. Returns the number of its sleeps, and the
    /// milliseconds that passed.
    fn sleeps_of(cpu: Duration) -> (libc::c_long, libc::c_long) {
        let sleeps = || {
            // SAFETY: all fields are numbers, for which zero is one; the kernel writes them.
            unsafe {
                let mut usage: libc::rusage = zeroed();
                libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
                usage.ru_nvcsw
            }
        };
        let begin = Instant::now();
        let (before, until) = (sleeps(), used() + cpu);
        while used() < until {
            black_box((0..100).sum::<u32>());
        }
        (sleeps() - before, begin.elapsed().as_millis() as _)
    }

    #[test]
    fn work_sleeps_after_each_piece_as_long_as_it_is_in_pieces() {
        let measure = || {
            let _worker = Kernel::new().expect("a loop");
            let pieces = InPieces::begin();
            let within = sleeps_of(Duration::from_millis(6));
            drop(pieces);
            (within, sleeps_of(Duration::from_millis(6)))
        };
        let ((within, passed_ms), (after, _)) = thread::spawn(measure).join().expect("ends");
        // A signal, a sleep and cold caches are CPU of the thread as well. Where others have the
        // core, a piece has less CPU, and there are more.
        assert!(
            (10..=passed_ms + 1).contains(&within),
            "{within} in {passed_ms} ms"
        );
        assert_eq!(after, 0);
    }

    #[test]
    fn long_work_is_done_in_long_pieces_at_last() {
        let measure = || {
            let _worker = Kernel::new().expect("a loop");
            let _pieces = InPieces::begin();
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_nanos(SHORT_PIECES_NS) {
                black_box((0..100).sum::<u32>());
            }
            sleeps_of(Duration::from_millis(40))
        };
        let (sleeps, passed_ms) = thread::spawn(measure).join().expect("ends");
        assert!(
            (1..=passed_ms / 3 + 2).contains(&sleeps),
            "{sleeps} in {passed_ms} ms"
        );
    }

    #[test]
    fn several_threads_work_in_pieces_at_once() {
        let _worker = Kernel::new().expect("a loop");
        let work = || {
            let _pieces = InPieces::begin();
            sleeps_of(Duration::from_millis(4))
        };
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(work)).collect();
        for thread in threads {
            assert!(thread.join().expect("ends").0 > 0);
        }
    }

    #[test]
    fn a_signal_that_has_a_handler_is_left_alone() {
        let signal = libc::SIGRTMAX() - 2;
        assert!(handle(signal));
        assert!(!handle(signal));
    }
}
