//! `loadline watch`: like top for one service.

use crate::exit::Exit;
use crate::flags::watch::{WatchFlags, WatchFormat};
use crate::interrupt::ending_signals;
use anyhow::{Context, Result};
use loadline_record::watched::{Change, TreeUsage, Watched};
use loadline_report::{
    watch_csv_header, watch_csv_row, watch_json, watch_line, watch_line_header, watch_notes,
};
use loadline_watch::{Proc, Watcher};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The reason why nothing more is printed.
enum End {
    /// The user, a limit, or a reader that has gone.
    Requested,
    /// The target is no more.
    Ended(String),
}

/// Watches until it is interrupted, or until the target has ended.
pub(crate) fn run(flags: &WatchFlags) -> Result<Exit> {
    let interrupts = interrupts().context("signals can't be watched")?;
    let mut watcher = Watcher::new(Proc::default());
    watcher.watch(&flags.target)?;
    let mut screen = Screen::new(flags.output);
    if let End::Ended(sentence) = watch(flags, &mut watcher, &interrupts, &mut screen)? {
        // The figures may be read by a program; this is for people.
        let _ = writeln!(io::stderr(), "{sentence}");
    }
    Ok(Exit::Good)
}

/// Reports the first Ctrl-C.
fn interrupts() -> io::Result<Receiver<()>> {
    let mut signals = Signals::new(ending_signals())?;
    let (send, receive) = channel();
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            signals.forever().next();
            // A receiver that has gone has ended by itself.
            let _ = send.send(());
        })?;
    Ok(receive)
}

fn watch(
    flags: &WatchFlags,
    watcher: &mut Watcher,
    interrupts: &Receiver<()>,
    screen: &mut Screen,
) -> Result<End> {
    let clock = Instant::now();
    watcher.begin(0);
    for number in 1.. {
        // Looks are due by the clock: one that took its time does not move the others.
        let due = flags.interval * number;
        let due = flags.duration.map_or(due, |duration| due.min(duration));
        if interrupts.recv_timeout(due.saturating_sub(clock.elapsed()))
            != Err(RecvTimeoutError::Timeout)
        {
            return Ok(End::Requested);
        }
        let now = clock.elapsed();
        let watched = watcher.look(now.as_nanos() as u64);
        let is_read = screen.show(&watched, now)?;
        if let Some(sentence) = end_sentence(&watched) {
            return Ok(End::Ended(sentence));
        }
        let is_last = flags.count.is_some_and(|count| u64::from(number) >= count)
            || flags.duration.is_some_and(|duration| due >= duration);
        if is_last || !is_read {
            return Ok(End::Requested);
        }
    }
    Ok(End::Requested)
}

/// The sentence when the target has ended.
fn end_sentence(watched: &Watched) -> Option<String> {
    let tree = watched.trees.first()?;
    if tree.change != Some(Change::Ended) {
        return None;
    }
    let program = tree.command.as_deref().unwrap_or("its program");
    Some(match tree.pid {
        Some(pid) => format!("{program} (process {pid}) has ended."),
        None => format!("{program} has ended."),
    })
}

/// The sentence when others took the place of the target's processes.
fn comeback(watched: &Watched) -> Option<String> {
    let tree = watched.trees.first()?;
    let pid = tree
        .pid
        .filter(|_| tree.change == Some(Change::Restarted))?;
    Some(format!("{} was restarted, as process {pid}.", tree.name))
}

/// The output of samples.
struct Screen {
    format: WatchFormat,
    is_terminal: bool,
    /// Lines that are drawn over by the next look.
    drawn: usize,
    /// True if the line of names was printed.
    has_header: bool,
    /// The figures that could not be read, as last printed.
    notes: Vec<String>,
    /// The latest expensive figures.
    dear: Dear,
}

/// The figures that are expensive to read, and therefore read less often.
#[derive(Clone, Copy, Default)]
struct Dear {
    pss_bytes: Option<u64>,
    open_files: Option<u64>,
    sockets: Option<u64>,
}

impl Dear {
    /// Takes what was read now, and puts what was read before where nothing was.
    fn fill(&mut self, usage: &mut TreeUsage) {
        if usage.processes == 0 {
            return;
        }
        for (last, now) in [
            (&mut self.pss_bytes, &mut usage.pss_bytes),
            (&mut self.open_files, &mut usage.open_files),
            (&mut self.sockets, &mut usage.sockets),
        ] {
            *last = now.or(*last);
            *now = *last;
        }
    }
}

impl Screen {
    fn new(format: WatchFormat) -> Self {
        Screen {
            format,
            is_terminal: io::stdout().is_terminal(),
            drawn: 0,
            has_header: false,
            notes: Vec::new(),
            dear: Dear::default(),
        }
    }

    /// Prints a sample at this time. Returns whether the output still has a reader.
    fn show(&mut self, watched: &Watched, at: Duration) -> Result<bool> {
        let time_s = (at.as_secs_f64() * 1e3).round() / 1e3;
        let text = match self.format {
            WatchFormat::Json => format!("{}\n", watch_json(watched, time_s)),
            WatchFormat::Csv => self.headed(&watch_csv_header(), watch_csv_row(watched, time_s)),
            WatchFormat::Text => self.text(watched, time_s),
        };
        let mut stdout = io::stdout().lock();
        match stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true).context("stdout can't be written"),
        }
    }

    /// A row, under its header if it is the first.
    fn headed(&mut self, header: &str, row: String) -> String {
        match std::mem::replace(&mut self.has_header, true) {
            true => format!("{row}\n"),
            false => format!("{header}\n{row}\n"),
        }
    }

    fn text(&mut self, watched: &Watched, time_s: f64) -> String {
        let mut filled = watched.clone();
        if let Some(tree) = filled.trees.first_mut() {
            self.dear.fill(&mut tree.usage);
        }
        let line = watch_line(&filled, time_s, self.dear.pss_bytes);
        // A figure that is read less often is not unread in between.
        for note in watch_notes(watched).into_iter().chain(comeback(watched)) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        match self.is_terminal {
            true => self.redrawn(&line),
            false => self.log_line(line),
        }
    }

    /// Returns a line for a log; a figure that can't be read is reported once.
    fn log_line(&mut self, line: String) -> String {
        let row = self.headed(&watch_line_header(), line);
        let notes = self.notes.iter().skip(self.drawn);
        let notes: String = notes.map(|note| format!("{note}\n")).collect();
        self.drawn = self.notes.len();
        row + &notes
    }

    /// The same lines again, over those that were drawn before.
    fn redrawn(&mut self, line: &str) -> String {
        let width = terminal_size::terminal_size_of(io::stdout())
            .map_or(80, |(width, _)| usize::from(width.0));
        let back = match self.drawn {
            0 => String::new(),
            lines => format!("\x1b[{lines}A\r\x1b[J"),
        };
        let header = watch_line_header();
        let lines = [header.as_str(), line];
        let lines = lines
            .into_iter()
            .chain(self.notes.iter().map(String::as_str));
        // A line that wraps would be two, and only one would be drawn over.
        let cut = lines.map(|line| line.chars().take(width).collect::<String>() + "\n");
        let lines: Vec<String> = cut.collect();
        self.drawn = lines.len();
        back + &lines.concat()
    }
}
