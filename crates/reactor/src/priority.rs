//! Which threads wait for which.

/// The least niceness of a thread beside the load (setpriority(2)): it has a tenth of the time of a
/// worker that never waits.
const NICENESS: libc::c_int = 10;

/// Lets the workers go before the calling thread, and before those that it starts from now on.
///
/// For what happens once a second beside a run. A worker that must send at an instant would wait
/// for the end of this thread's time slice, which is milliseconds, if both share a core. Where the
/// system refuses, nothing changes.
pub fn let_workers_go_first() {
    // SAFETY: Both calls take numbers, and change nothing but a property of the calling thread: on
    // Linux, 0 means this thread alone.
    unsafe {
        let niceness = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS.max(niceness));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{NICENESS, let_workers_go_first};

    /// The niceness of the calling thread, from proc(5).
    fn niceness() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("a thread has one");
        // The name in brackets may have spaces; niceness is the 19th field, the 17th after it.
        let (_, fields) = stat.rsplit_once(") ").expect("the name of the thread");
        let field = fields.split(' ').nth(16).expect("the niceness");
        field.parse().expect("a number")
    }

    #[test]
    fn a_thread_and_those_that_it_starts_go_after_the_others() {
        let before = niceness();
        let beside = thread::spawn(|| {
            let_workers_go_first();
            (niceness(), thread::spawn(niceness).join().expect("ends"))
        });
        let (own, of_child) = beside.join().expect("ends");
        assert_eq!([own, of_child], [NICENESS.max(before); 2]);
        assert_eq!(niceness(), before, "only the calling thread changes");
    }
}
