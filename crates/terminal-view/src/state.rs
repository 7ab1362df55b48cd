//! What the live view shows, as plain data. An observer updates it once a second; between two
//! intervals only the clock goes on, which the one that draws passes in.

use crate::keys::{Action, Keys};
use crate::time_scale::TimeScale;
use crate::timeline::Timeline;
use loadline_record::{Header, Snapshot, Summary};
use loadline_report::{LiveHead, LiveReport, Progress};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most messages that are kept: more than any screen shows.
const MOST_MESSAGES: usize = 8;

/// How the view looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether it has colours.
    pub color: bool,
    /// Whether it keeps to ASCII, for terminals that have nothing else.
    pub ascii: bool,
}

/// What is shown of a run, or of the one of several that lasts.
#[derive(Clone, Debug)]
pub struct State {
    /// How it looks.
    pub look: Look,
    pub(crate) keys: Keys,
    pub(crate) head: LiveHead,
    /// Which run it is of several; empty for one alone.
    pub(crate) title: String,
    pub(crate) report: LiveReport,
    pub(crate) timeline: Timeline,
    pub(crate) messages: VecDeque<String>,
    pub(crate) shows_help: bool,
    /// The time scale that was asked for; `None` is the automatic one.
    scale: Option<TimeScale>,
    progress: Option<Progress>,
    warmup: Duration,
    begun_at: Instant,
    /// When the latest interval came.
    interval_at: Instant,
    /// The length of the measured part when the run ended.
    ended_after: Option<Duration>,
    /// Counts what happened, so that one that draws sees whether anything did.
    version: u64,
}

impl State {
    /// Nothing yet, with this map of keys.
    pub fn new(keys: Keys, look: Look) -> State {
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

    /// The load of a run has begun; `title` says which one of several it is, and is empty for one
    /// alone. Messages stay.
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

    /// An interval has ended; `summary` is the run so far, this interval included.
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

    /// The run has ended after this time.
    pub fn ended(&mut self, summary: &Summary) {
        self.ended_after = Some(Duration::from_nanos(summary.duration_ns));
        self.version += 1;
    }

    /// Something was said, in a line. The last few are shown.
    pub fn say(&mut self, line: &str) {
        if self.messages.len() == MOST_MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(line.to_owned());
        self.version += 1;
    }

    /// From now on these keys are read.
    pub fn read_keys(&mut self, keys: Keys) {
        self.keys = keys;
        self.version += 1;
    }

    /// Does what a key asks of the view itself; false if it asks for something else.
    pub fn act(&mut self, action: Action) -> bool {
        let scale = self.time_scale();
        match action {
            Action::Help => self.shows_help = !self.shows_help,
            Action::Finer => self.scale = Some(scale.finer()),
            Action::Coarser => self.scale = Some(scale.coarser()),
            Action::AutomaticScale => self.scale = None,
            _ => return false,
        }
        self.version += 1;
        true
    }

    /// The map of keys.
    pub fn keys(&self) -> Keys {
        self.keys
    }

    /// The time scale of the plots, as it was asked for or as it fits the elapsed time.
    pub fn time_scale(&self) -> TimeScale {
        let elapsed = Duration::from_nanos(self.timeline.elapsed_ns());
        self.scale.unwrap_or_else(|| TimeScale::automatic(elapsed))
    }

    /// Whether the time scale is the automatic one.
    pub fn has_automatic_scale(&self) -> bool {
        self.scale.is_none()
    }

    /// How far the run has come at this instant; `None` before the first has begun.
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

    /// What tells one picture from another: it changes with everything that happens, and with the
    /// clock once a second. As long as it is the same, drawing again would draw the same.
    pub fn picture(&self, now: Instant) -> (u64, u64) {
        let elapsed = self.progress(now).map(|progress| progress.elapsed);
        (self.version, elapsed.map_or(0, |elapsed| elapsed.as_secs()))
    }
}
