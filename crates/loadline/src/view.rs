//! The live view on the terminal: when it is shown, and the thread that draws it.
//!
//! It is drawn on stderr, where the progress line stands otherwise: so `> report.txt` keeps the
//! report alone, and the report on stdout follows when the screen of before is back. What is shown
//! is `loadline-terminal-view`'s; here are the terminal ([`screen`]), what others print meanwhile
//! ([`redirected_streams`]) and the escapes ([`backend`]).
//!
//! The observer updates the state once a second; a thread of its own draws it, so that the clock
//! goes on and no worker waits for a terminal. It draws only when the picture is another one: after
//! an interval, a key or a message, and once a second for the clock.

mod backend;
mod choice;
mod redirected_streams;
pub(crate) mod screen;
pub(crate) mod suspension;

pub(crate) use choice::{ViewChoice, ViewOptions, length};

use crate::terminal::speaks_utf8;
use crate::view::screen::Screen;
use anyhow::{Context, Result};
use loadline_record::{Header, Summary};
use loadline_runner::Interval;
use loadline_terminal_view::{Action, Keys, State, ViewStyle};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Frames per second of our own commands.
pub(crate) const FRAMES_PER_S: f64 = 10.0;

/// The live view of a command. Dropping it brings back the screen of before.
pub(crate) struct View {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Sends the events of a run to the live view.
#[derive(Clone)]
pub(crate) struct ViewHandle(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// The least time from one picture to the next.
    frame: Duration,
    /// True if the view is over.
    over: Mutex<bool>,
    /// Told when it is.
    ending: Condvar,
    /// True if the screen is left alone until the first interval.
    waits: bool,
}

impl View {
    /// A view with these keys, drawn at most so many times a second. The screen stays as it is
    /// until the load begins; with `waits` until the first interval, for a run that may be over
    /// before.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub(crate) fn new(keys: Keys, frames_per_s: f64, color: bool, waits: bool) -> Result<View> {
        let look = ViewStyle {
            color,
            ascii: !speaks_utf8(),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(keys, look)),
            frame: Duration::from_secs_f64(1.0 / frames_per_s.clamp(0.1, 1_000.0)),
            over: Mutex::new(false),
            ending: Condvar::new(),
            waits,
        });
        let drawn = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("view".to_owned())
            .spawn(move || drawn.draw_until_over())
            .context("a thread can't be started")?;
        suspension::watch();
        Ok(View {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns a handle that sends events to it.
    pub(crate) fn handle(&self) -> ViewHandle {
        ViewHandle(Arc::clone(&self.shared))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        *locked(&self.shared.over) = true;
        self.shared.ending.notify_all();
        if let Some(thread) = self.thread.take() {
            // If it panicked, that was told.
            let _ = thread.join();
        }
        screen::leave();
    }
}

impl ViewHandle {
    /// The load of a run has begun.
    pub(crate) fn begun(&self, header: &Header, title: &str) {
        self.update(|state| state.begun(header, title, Instant::now()));
        if !self.0.waits {
            screen::enter();
        }
    }

    /// An interval has ended.
    pub(crate) fn interval(&self, interval: &Interval<'_>) {
        let (snapshot, summary) = (interval.snapshot, interval.summary);
        self.update(|state| state.interval(snapshot, summary, Instant::now()));
        screen::enter();
    }

    /// The run has ended.
    pub(crate) fn ended(&self, summary: &Summary) {
        self.update(|state| state.ended(summary));
    }

    /// No keys are read: none are shown.
    pub(crate) fn without_keys(&self) {
        self.update(|state| state.read_keys(Keys::None));
    }

    /// Executes a key's action on the view itself; false if the action is not about the view.
    pub(crate) fn act(&self, action: Action) -> bool {
        let mut is_ours = false;
        self.update(|state| is_ours = state.act(action));
        is_ours
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut locked(&self.0.state));
    }
}

impl Shared {
    fn draw_until_over(&self) {
        let mut drawn = None;
        while !self.is_over_within_a_frame() {
            screen::with(|screen| self.draw(screen, &mut drawn));
        }
    }

    /// Waits until the next frame is due, or the view is over.
    fn is_over_within_a_frame(&self) -> bool {
        let over = locked(&self.over);
        let waited = self
            .ending
            .wait_timeout_while(over, self.frame, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Draws if the picture is another one than the last that was drawn.
    fn draw(&self, screen: &mut Screen, drawn: &mut Option<Picture>) {
        let lines = screen.new_lines();
        let now = Instant::now();
        // The state is copied: a terminal that is slow must not keep the run waiting.
        let state = {
            let mut state = locked(&self.state);
            lines.iter().for_each(|line| state.add_message(line));
            let picture = (state.picture(now), screen.generation(), screen.size());
            if drawn.as_ref() == Some(&picture) {
                return;
            }
            *drawn = Some(picture);
            state.clone()
        };
        screen.draw(&state, now);
    }
}

/// The identity of a picture: the content, the screen, the size.
type Picture = ((u64, u64), u64, (u16, u16));

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
