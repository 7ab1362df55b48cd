//! Whether the machine was left to a test while it measured.
//!
//! A hypervisor gives cores to its other guests for tens of milliseconds at a stretch, and so does
//! a machine with other work. A figure that was taken meanwhile says nothing against the program.
//! The witness knows it from threads of its own, one on each core, that sleep for a moment again
//! and again and see how late they wake; so it does not depend on what the program says of itself.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the threads sleep at a time.
const MOMENT: Duration = Duration::from_millis(1);

/// Later than this they did not wake by themselves: something else had the core.
const USUAL: Duration = Duration::from_micros(500);

/// Watches the cores from its start until it is asked.
pub(crate) struct Witness {
    done: Arc<AtomicBool>,
    begun: Instant,
    threads: Vec<JoinHandle<Taken>>,
}

/// What was taken away from one core, or from the worst of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// The longest that a thread woke too late.
    pub(crate) longest: Duration,
    /// The share of all time in which it should have been awake and was not.
    pub(crate) share: f64,
}

impl Witness {
    pub(crate) fn start() -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let usable = sched_getaffinity(None).expect("Linux tells");
        let cores = (0..CpuSet::MAX_CPU).filter(|core| usable.is_set(*core));
        let threads = cores
            .map(|core| {
                let done = Arc::clone(&done);
                thread::spawn(move || watched(core, &done))
            })
            .collect();
        Witness {
            done,
            begun: Instant::now(),
            threads,
        }
    }

    /// What was taken from the worst of the cores.
    pub(crate) fn taken(self) -> Taken {
        let length_s = self.begun.elapsed().as_secs_f64();
        self.done.store(true, Ordering::Relaxed);
        let each = self
            .threads
            .into_iter()
            .map(|thread| thread.join().expect("it only sleeps"));
        each.map(|taken| Taken {
            share: taken.share / length_s,
            ..taken
        })
        .fold(Taken::default(), |worst, taken| Taken {
            longest: worst.longest.max(taken.longest),
            share: worst.share.max(taken.share),
        })
    }
}

/// What is taken from this core until it is done; the share in seconds.
fn watched(core: usize, done: &AtomicBool) -> Taken {
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).expect("a core that this process may use");
    let mut taken = Taken::default();
    while !done.load(Ordering::Relaxed) {
        let begun = Instant::now();
        thread::sleep(MOMENT);
        let late = begun.elapsed().saturating_sub(MOMENT);
        if late > USUAL {
            taken.longest = taken.longest.max(late);
            taken.share += late.as_secs_f64();
        }
    }
    taken
}
