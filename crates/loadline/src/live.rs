//! The display of a run while it lasts, on stderr: the live view on a terminal that has room for
//! it, one line that is drawn again on another one, a plain line every few seconds elsewhere.

use crate::terminal::{CLEAR_LINE, draws, print, speaks_utf8};
use crate::view::ViewHandle;
use crate::waiting::Waiting;
use anyhow::Context;
use loadline_record::{Header, Role, RoleKind, Row, Summary};
use loadline_report::Progress;
use loadline_runner::{End, Interval, Observed, Observer};
use std::io;
use std::time::{Duration, Instant};

/// The interval of the lines in a log.
const LOG_EVERY: Duration = Duration::from_secs(5);
/// The width that is assumed if that of the terminal is not known.
const USUAL_WIDTH: usize = 80;

/// The display of a run while it lasts, or of each of several.
pub(crate) struct Live {
    place: Display,
    /// While the connections of a run are brought up.
    connecting: Option<Waiting>,
    /// The number of runs that have begun.
    runs: u32,
    /// The text before each line.
    title: String,
    started: Instant,
    last_line: Instant,
    /// The instant of the last interval.
    last_interval: Instant,
}

enum Display {
    Nowhere,
    Terminal,
    Log,
    View(ViewHandle),
}

impl Observer for Live {
    fn prepare(&mut self) -> Observed {
        if !matches!(self.place, Display::Nowhere) {
            let connecting = Waiting::for_connections().context("a thread can't be started")?;
            self.connecting = Some(connecting);
        }
        Ok(())
    }

    fn begun(&mut self, header: &Header) -> Observed {
        self.connecting = None;
        self.runs += 1;
        self.title = header
            .role
            .as_ref()
            .map_or_else(String::new, |role| title(self.runs, role));
        self.started = Instant::now();
        self.last_line = Instant::now();
        self.last_interval = Instant::now();
        if let Display::View(view) = &self.place {
            view.begun(header, &self.title);
        }
        Ok(())
    }

    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        if interval.snapshot.drain {
            return Ok(());
        }
        self.last_interval = Instant::now();
        match &self.place {
            Display::Nowhere => {}
            Display::View(view) => view.interval(interval),
            Display::Terminal => self.draw(interval.summary),
            Display::Log => self.log(interval.summary),
        }
        Ok(())
    }

    fn idle(&mut self, summary: &Summary) -> Observed {
        if matches!(self.place, Display::Terminal) {
            self.draw(summary);
        }
        Ok(())
    }

    /// One run of several leaves a line about the whole of it; one alone leaves the screen as it
    /// was.
    fn ended(&mut self, end: &End<'_>) -> Observed {
        let summary = end.whole;
        let width = match &self.place {
            Display::Nowhere => return Ok(()),
            Display::View(view) => {
                view.ended(summary);
                USUAL_WIDTH
            }
            Display::Terminal => {
                print(CLEAR_LINE);
                terminal_width().saturating_sub(1)
            }
            Display::Log => log_width(),
        };
        if !self.title.is_empty() {
            let whole = Progress {
                latest: Some(Row::of(&summary.total)),
                elapsed: Duration::from_nanos(summary.duration_ns),
                ..self.progress(summary)
            };
            let line = whole.log_line(self.room(width));
            print(&format!("{}{line}\n", self.title));
        }
        Ok(())
    }
}

/// Returns the text before the lines of the run that began as this one of several.
fn title(index: u32, role: &Role) -> String {
    let side = role.name.as_ref();
    let runs = match role.kind {
        RoleKind::Trial => return format!("trial {}: ", role.number),
        RoleKind::Side => role.of.map(|pairs| 2 * pairs),
        RoleKind::Repeat | RoleKind::Unknown => role.of,
    };
    let of = runs.map_or_else(String::new, |runs| format!(" of {runs}"));
    let side = side.map_or_else(String::new, |name| format!(" ({name})"));
    format!("run {index}{of}{side}: ")
}

impl Live {
    /// The view if there is one; else a line if it is `prints_line`, as stderr allows.
    pub(crate) fn new(prints_line: bool, view: Option<ViewHandle>) -> Self {
        Live {
            place: match view {
                Some(view) => Display::View(view),
                None if !prints_line => Display::Nowhere,
                None if draws(&io::stderr()) => Display::Terminal,
                None => Display::Log,
            },
            connecting: None,
            runs: 0,
            title: String::new(),
            started: Instant::now(),
            last_line: Instant::now(),
            last_interval: Instant::now(),
        }
    }

    fn draw(&mut self, summary: &Summary) {
        // The last column would wrap the cursor on some terminals.
        let room = self.room(terminal_width().saturating_sub(1));
        let line = self.progress(summary).terminal_line(room, !speaks_utf8());
        print(&format!("{CLEAR_LINE}{}{line}", self.title));
    }

    fn log(&mut self, summary: &Summary) {
        if self.last_line.elapsed() + Duration::from_millis(500) < LOG_EVERY {
            return;
        }
        self.last_line = Instant::now();
        let line = self.progress(summary).log_line(self.room(log_width()));
        print(&format!("{}{line}\n", self.title));
    }

    /// The columns that the title leaves.
    fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.title.len())
    }

    fn progress(&self, summary: &Summary) -> Progress {
        let warming_up = summary.rows.is_empty() && self.started.elapsed() < summary.plan.warmup;
        Progress::of(summary, self.elapsed(summary), warming_up)
    }

    /// The time since the end of warm-up. Between two intervals the clock goes on.
    fn elapsed(&self, summary: &Summary) -> Duration {
        if summary.rows.is_empty() {
            return self.started.elapsed().saturating_sub(summary.plan.warmup);
        }
        Duration::from_nanos(summary.duration_ns) + self.last_interval.elapsed()
    }
}

fn terminal_width() -> usize {
    terminal_size::terminal_size_of(io::stderr())
        .map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0))
}

/// Returns the width of a log, which has room for a whole line, unless the environment sets the
/// width of its reader's screen.
fn log_width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    columns
        .and_then(|columns| columns.parse().ok())
        .unwrap_or(usize::MAX)
}
