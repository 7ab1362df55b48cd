//! What is shown while a run lasts, on stderr: one line that is drawn again on a terminal, a plain
//! line every few seconds elsewhere.

use loadline_record::{Row, Summary};
use loadline_report::Progress;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(5);
/// Where the width of the terminal is not known.
const USUAL_WIDTH: usize = 80;
/// To the line's begin, and everything behind it away.
pub(crate) const CLEAR_LINE: &str = "\r\x1b[K";

/// What is shown while a run lasts.
pub(crate) struct Live {
    place: Place,
    /// What stands before each line.
    title: String,
    started: Instant,
    last_line: Instant,
}

enum Place {
    Nowhere,
    Terminal,
    Log,
}

impl Live {
    /// A display if `wanted`, as stderr allows.
    pub(crate) fn new(wanted: bool) -> Self {
        Live::titled(wanted, String::new())
    }

    /// As [`new`](Live::new), with this before each line.
    pub(crate) fn titled(wanted: bool, title: String) -> Self {
        let place = match wanted {
            false => Place::Nowhere,
            true if draws(&io::stderr()) => Place::Terminal,
            true => Place::Log,
        };
        Live {
            place,
            title,
            started: Instant::now(),
            last_line: Instant::now(),
        }
    }

    /// An interval was added to the summary.
    pub(crate) fn interval(&mut self, summary: &Summary) {
        match self.place {
            Place::Nowhere => {}
            Place::Terminal => self.draw(summary),
            Place::Log => self.log(summary),
        }
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, summary: &Summary) {
        if matches!(self.place, Place::Terminal) {
            self.draw(summary);
        }
    }

    /// Leaves the screen as it was.
    pub(crate) fn clear(&mut self) {
        if matches!(self.place, Place::Terminal) {
            say(CLEAR_LINE);
        }
        self.place = Place::Nowhere;
    }

    fn draw(&mut self, summary: &Summary) {
        if summary.rows.is_empty() {
            self.started = Instant::now();
        }
        let width = terminal_size::terminal_size_of(io::stderr())
            .map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        // The last column would wrap the cursor on some terminals.
        let line = self
            .progress(summary)
            .terminal_line(self.room(width.saturating_sub(1)), !speaks_utf8());
        say(&format!("{CLEAR_LINE}{}{line}", self.title));
    }

    fn log(&mut self, summary: &Summary) {
        if self.last_line.elapsed() + Duration::from_millis(500) < LOG_EVERY {
            return;
        }
        self.last_line = Instant::now();
        let line = self.progress(summary).log_line(self.room(USUAL_WIDTH));
        say(&format!("{}{line}\n", self.title));
    }

    /// The columns that the title leaves.
    fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.title.len())
    }

    fn progress(&self, summary: &Summary) -> Progress {
        Progress {
            latest: latest(&summary.rows),
            counts: summary.total.counts,
            elapsed: Duration::from_nanos(summary.duration_ns).max(self.elapsed(summary)),
            length: length(summary),
            request_limit: summary.plan.request_limit,
        }
    }

    /// Between two intervals the clock goes on.
    fn elapsed(&self, summary: &Summary) -> Duration {
        if summary.rows.is_empty() {
            Duration::ZERO
        } else {
            self.started.elapsed()
        }
    }
}

/// The last whole interval: the rest of a second at a run's end says little.
fn latest(rows: &[Row]) -> Option<Row> {
    rows.last().copied()
}

fn length(summary: &Summary) -> Option<Duration> {
    use loadline_plan::Shape;
    match &summary.plan.load.shape {
        Shape::ClosedStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        Shape::RateStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        _ => summary.plan.duration,
    }
}

/// Whether this is a terminal that can be drawn on: escapes would show on a dumb one.
pub(crate) fn draws(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the locale's characters are Unicode, by the variables that decide it.
pub(crate) fn speaks_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Says a line of its own, in place of one that is drawn again and again.
pub(crate) fn say_line(line: &str) {
    let clear = if draws(&io::stderr()) { CLEAR_LINE } else { "" };
    say(&format!("{clear}{line}\n"));
}

/// Where stderr is closed nobody wants to know.
fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}
