//! The content of the live view, as plain data. An observer updates it once a second; between two
//! intervals only the time advances, which the caller of the drawing functions passes in.

use crate::keys::{Action, Keys};
use crate::time_scale::TimeScale;
use crate::timeline::Timeline;
use loadline_record::{Header, Snapshot, Summary};
use loadline_report::{LiveHead, LiveReport, Progress};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The highest number of messages that are kept: more than any screen shows.
const MOST_MESSAGES: usize = 8;

/// The appearance of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewStyle {
    /// True if the view has colours.
    pub color: bool,
    /// True if the view is limited to ASCII, for terminals without other characters.
    pub ascii: bool,
}

/// The content of the view: one run, or the current one of several.
#[derive(Clone, Debug)]
pub struct State {
    /// The appearance.
    pub look: ViewStyle,
    pub(crate) keys: Keys,
    pub(crate) head: LiveHead,
    /// The position of the run among several; empty for a single run.
    pub(crate) title: String,
    pub(crate) report: LiveReport,
    pub(crate) timeline: Timeline,
    pub(crate) messages: VecDeque<String>,
    pub(crate) shows_help: bool,
    /// The time scale that the user selected; `None` is the automatic one.
    scale: Option<TimeScale>,
    progress: Option<Progress>,
    warmup: Duration,
    begun_at: Instant,
    /// The time at which the latest interval was received.
    interval_at: Instant,
    /// The length of the measured part when the run ended.
    ended_after: Option<Duration>,
    /// Counts changes, so that the drawing code can detect them.
    version: u64,
}

impl State {
    /// Creates an empty view with this map of keys.
    pub fn new(keys: Keys, look: ViewStyle) -> State {
        let now = Instant::now();
        State {
            look,
            keys,
            head: LiveHead::default(),
            title: String::new(),
            report: LiveReport::default(),
            timeline: Timeline::default(),
            messages: VecDeque::new(),
            shows_help: false,
            scale: None,
            progress: None,
            warmup: Duration::ZERO,
            begun_at: now,
            interval_at: now,
            ended_after: None,
            version: 0,
        }
    }

    /// Begins a run, when its load begins. `title` is the run's position among several, and empty
    /// for a single run. Messages stay.
    pub fn begun(&mut self, header: &Header, title: &str, now: Instant) {
        self.head = LiveHead::of(&header.plan);
        self.title = title.to_owned();
        self.report = LiveReport::default();
        self.timeline = Timeline::default();
        self.warmup = header.plan.warmup;
        self.progress = Some(Progress::of(
            &Summary::new(header.clone()),
            Duration::ZERO,
            !self.warmup.is_zero(),
        ));
        (self.begun_at, self.interval_at) = (now, now);
        self.ended_after = None;
        self.version += 1;
    }

    /// Adds an interval that has ended; `summary` is the run so far, including this interval.
    pub fn interval(&mut self, interval: &Snapshot, summary: &Summary, now: Instant) {
        if interval.drain {
            return;
        }
        let elapsed = Duration::from_nanos(summary.duration_ns);
        self.progress = Some(Progress::of(summary, elapsed, false));
        self.report = LiveReport::of(summary, interval);
        self.timeline.observe(interval, summary.total.start_ns);
        self.interval_at = now;
        self.version += 1;
    }

    /// Ends the run.
    pub fn ended(&mut self, summary: &Summary) {
        self.ended_after = Some(Duration::from_nanos(summary.duration_ns));
        self.version += 1;
    }

    /// Adds a message of one line. The latest messages are shown.
    pub fn add_message(&mut self, line: &str) {
        if self.messages.len() == MOST_MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(line.to_owned());
        self.version += 1;
    }

    /// Sets the map of keys.
    pub fn read_keys(&mut self, keys: Keys) {
        self.keys = keys;
        self.version += 1;
    }

    /// Applies an action of the view itself; returns false for any other action.
    pub fn act(&mut self, action: Action) -> bool {
        let scale = self.time_scale();
        match action {
            Action::Help => self.shows_help = !self.shows_help,
            Action::Finer => self.scale = Some(scale.finer()),
            Action::Coarser => self.scale = Some(scale.coarser()),
            Action::AutomaticScale => self.scale = None,
            Action::MoreLoad | Action::LessLoad | Action::PauseOrResume | Action::Quit => {
                return false;
            }
        }
        self.version += 1;
        true
    }

    /// Returns the map of keys.
    pub fn keys(&self) -> Keys {
        self.keys
    }

    /// Returns the time scale of the plots: the selected one, or the automatic one for the elapsed
    /// time.
    pub fn time_scale(&self) -> TimeScale {
        let elapsed = Duration::from_nanos(self.timeline.elapsed_ns());
        self.scale.unwrap_or_else(|| TimeScale::automatic(elapsed))
    }

    /// True if the time scale is the automatic one.
    pub fn has_automatic_scale(&self) -> bool {
        self.scale.is_none()
    }

    /// Returns the progress of the run at this instant; `None` before the first run has begun.
    pub fn progress(&self, now: Instant) -> Option<Progress> {
        let progress = self.progress.as_ref()?;
        let since_begin = now.saturating_duration_since(self.begun_at);
        let elapsed = match (&progress.latest, self.ended_after) {
            (_, Some(length)) => length,
            (None, None) => since_begin.saturating_sub(self.warmup),
            (Some(_), None) => progress.elapsed + now.saturating_duration_since(self.interval_at),
        };
        Some(Progress {
            elapsed,
            warming_up: progress.latest.is_none() && since_begin < self.warmup,
            ..progress.clone()
        })
    }

    /// Returns a version of the picture: it changes with every event, and once a second with the
    /// time. As long as it is the same, drawing again would give the same picture.
    pub fn picture(&self, now: Instant) -> (u64, u64) {
        let elapsed = self.progress(now).map(|progress| progress.elapsed);
        (self.version, elapsed.map_or(0, |elapsed| elapsed.as_secs()))
    }
}
