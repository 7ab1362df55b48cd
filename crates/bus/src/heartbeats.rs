//! The signs of life of all lines of a bus, on one thread: a thousand threads that
//! wake up twice a second cost more than what they do, and so do messages that are written one by
//! one.

use crate::protocol::HEARTBEAT;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

/// Does something for a line; returns false once the line is gone.
type Beat = Box<dyn FnMut() -> bool + Send>;

/// The lines of a bus.
#[derive(Clone, Default)]
pub(crate) struct Heartbeats(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    beats: Vec<Beat>,
    /// True while the thread runs: as long as there is a line.
    is_running: bool,
}

impl Heartbeats {
    /// Does this now, and at every heartbeat until it returns false.
    pub(crate) fn add(&self, mut beat: impl FnMut() -> bool + Send + 'static) {
        if !beat() {
            return;
        }
        let mut lines = lock(&self.0);
        lines.beats.push(Box::new(beat));
        if !std::mem::replace(&mut lines.is_running, true) {
            let lines = Arc::downgrade(&self.0);
            thread::spawn(move || run(&lines));
        }
    }
}

fn run(lines: &Weak<Mutex<Lines>>) {
    loop {
        thread::sleep(HEARTBEAT);
        let Some(lines) = lines.upgrade() else {
            return;
        };
        let mut lines = lock(&lines);
        lines.beats.retain_mut(|beat| beat());
        if lines.beats.is_empty() {
            lines.is_running = false;
            return;
        }
    }
}

fn lock(lines: &Mutex<Lines>) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn each_line_has_its_beats_until_it_is_gone() {
        let heartbeats = Heartbeats::default();
        for _ in 0..2 {
            let (send, beats) = channel();
            for line in 1..=2_u32 {
                let (send, mut left) = (send.clone(), line);
                heartbeats.add(move || {
                    let _ = send.send(line);
                    left -= 1;
                    left > 0
                });
            }
            drop(send);
            // The channel is closed once no line is left; the first line has its only beat at once.
            let all: Vec<u32> = beats.iter().collect();
            assert_eq!(all, [1, 2, 2]);
        }
    }
}
