//! A run that another process makes and writes into a saved run, shown on a page while it lasts.

use super::lever::Lever;
use loadline_live_page::{PageLog, Seat};
use loadline_plan::Level;
use loadline_record::{FollowedRun, LoadChange, Note, RunFile, Snapshot, Summary, append_notes};
use loadline_runner::{
    AgentRecord, Changed, Command, Feed, Levels, MOST_NOTES, Means, News, NoteProblem, Observer,
    Phase, RunEnd, Spawning, Steer, SteerProblem, Stretch,
};
use loadline_verdict::RunResult;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::mem;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time between two looks for more of the file.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time from the end of the run to that of its process, in which it may add to the
/// file: one that serves a page of its own goes on.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// A process that makes a run. It is ended by signals; the number of its users is changed by its
/// lever, if it has one. It knows of no notes: they are added to its saved run when that is whole.
#[derive(Clone, Debug)]
pub(crate) struct Maker {
    process: Option<Pid>,
    lever: Option<Arc<Lever>>,
    is_ending: Arc<AtomicBool>,
    has_ended: Arc<AtomicBool>,
    additions: Arc<Mutex<Additions>>,
}

/// The notes on a run, and what the page shows of its changes.
#[derive(Debug, Default)]
struct Additions {
    notes: Vec<Note>,
    /// The number of notes that the page shows, and that of changes of the load.
    shown: (usize, usize),
    /// True once notes were added to the saved run.
    are_closed: bool,
}

impl Maker {
    pub(crate) fn of(child: &Child, lever: Option<Lever>) -> Maker {
        Maker {
            process: i32::try_from(child.id()).ok().and_then(Pid::from_raw),
            lever: lever.map(Arc::new),
            is_ending: Arc::default(),
            has_ended: Arc::default(),
            additions: Arc::default(),
        }
    }

    /// Sends a signal to the process, as long as it is there.
    pub(crate) fn send(&self, signal: Signal) {
        self.is_ending.store(true, Ordering::Relaxed);
        if let Some(process) = self.process.filter(|_| !self.has_ended()) {
            // It may end at this moment.
            let _ = kill_process(process, signal);
        }
    }

    /// Waits for the end of the process.
    ///
    /// # Errors
    /// The errors of the system.
    pub(crate) fn wait(&self, mut child: Child) -> io::Result<ExitStatus> {
        let status = child.wait();
        self.has_ended.store(true, Ordering::Release);
        status
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Returns the notes and the changes that were not returned before.
    fn news(&self) -> (Vec<Note>, Vec<LoadChange>) {
        let mut additions = self.additions();
        let mut changes = self.changes();
        let shown = (additions.notes.len(), changes.len());
        let before = mem::replace(&mut additions.shown, shown);
        (
            additions.notes[before.0..].to_vec(),
            changes.split_off(before.1),
        )
    }

    /// Returns all changes of the number of users so far.
    fn changes(&self) -> Vec<LoadChange> {
        let lever = self.lever.as_ref();
        lever.map_or_else(Vec::new, |lever| lever.changes())
    }

    /// Returns the records of the agents in an interval, whose users report together: the responses
    /// of each are known.
    fn agents(&self, whole: &Snapshot) -> Vec<AgentRecord> {
        let lever = self.lever.as_ref();
        let agents = lever.map_or_else(Vec::new, |lever| lever.agents());
        AgentRecord::joined(whole, agents)
    }

    /// Returns all notes and changes, and takes no more.
    fn end_news(&self) -> (Vec<Note>, Vec<LoadChange>) {
        let mut additions = self.additions();
        additions.are_closed = true;
        (additions.notes.clone(), self.changes())
    }

    fn additions(&self) -> MutexGuard<'_, Additions> {
        self.additions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the process has ended, but not for long.
    fn await_end(&self) {
        let until = Instant::now() + CLOSING_TIME;
        while !self.has_ended() && Instant::now() < until {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Steer for Maker {
    fn means(&self) -> Means {
        let levels = match self.lever {
            Some(_) => Levels::Spawned,
            None => Levels::None,
        };
        Means {
            levels,
            ..Means::default()
        }
    }

    fn phase(&self) -> Phase {
        match self.has_ended() {
            true => Phase::Ended,
            false => Phase::Running,
        }
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    fn change(&self, level: Level) -> Changed {
        match (level, &self.lever) {
            (Level::Users(users), Some(_)) => Ok(Some(self.spawn(users, None)?.change)),
            (_, Some(_)) => Err(SteerProblem::Tool(
                "its level is a number of users.".to_owned(),
            )),
            (_, None) => Err(SteerProblem::OnlyEnded),
        }
    }

    fn spawn(&self, users: u32, rate_per_s: Option<f64>) -> Result<Spawning, SteerProblem> {
        let lever = self.lever.as_ref().ok_or(SteerProblem::OnlyEnded)?;
        lever.spawn(users, rate_per_s)
    }

    fn note(&self, note: Note) -> Result<(), NoteProblem> {
        let mut additions = self.additions();
        if additions.are_closed {
            return Err(NoteProblem::NoRun);
        }
        if additions.notes.len() >= MOST_NOTES {
            return Err(NoteProblem::TooMany);
        }
        additions.notes.push(note);
        Ok(())
    }

    fn end(&self, command: Command) {
        self.send(match command {
            Command::Stop => Signal::INT,
            Command::Abort => Signal::TERM,
        });
    }
}

/// The files of a run that is followed.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    /// The file that the process writes into, once it is there.
    pub(crate) record: PathBuf,
    /// Another name for it, which stays when the process has ended and perhaps removed its own.
    pub(crate) kept: Option<PathBuf>,
}

impl Followed {
    /// Returns the name that stays.
    fn lasting(&self) -> &Path {
        self.kept.as_deref().unwrap_or(&self.record)
    }

    /// Gives the file the name that stays.
    fn keep(&self) {
        let Some(kept) = &self.kept else { return };
        let Ok(target) = self.record.canonicalize() else {
            return;
        };
        // Another file system takes no hard link; the file of a user stays by itself.
        if fs::hard_link(&target, kept).is_err() {
            let _ = symlink(&target, kept);
        }
    }

    /// Adds the notes to the run, which is whole.
    fn annotate(&self, run: &mut Summary, notes: Vec<Note>) {
        if !notes.is_empty() {
            // What can't be added to the file is on the page, and in its report.
            let _ = append_notes(self.lasting(), &notes);
            run.notes.extend(notes);
        }
    }
}

/// Shows the run that a process writes into these files, on a thread of its own that ends with it.
///
/// # Errors
/// If the system gives no thread.
pub(crate) fn follow(files: Followed, maker: Maker, feed: Feed) -> io::Result<JoinHandle<()>> {
    let show = move || {
        // What can't be read is not shown; the process itself tells what went wrong.
        let _ = show(&files, &maker, feed);
    };
    thread::Builder::new()
        .name("followed".to_owned())
        .spawn(show)
}

/// Copies the lines that a process appends to this file into the log of a page, on a thread of its
/// own that ends with it.
///
/// # Errors
/// If the system gives no thread.
pub(crate) fn follow_log(
    path: PathBuf,
    maker: Maker,
    mut log: PageLog,
) -> io::Result<JoinHandle<()>> {
    let copy = move || {
        if let Some((file, _)) = opened(&path, &maker) {
            let mut growing = Growing {
                file,
                maker: &maker,
            };
            // What can't be read is not shown; it is on the terminal.
            let _ = io::copy(&mut growing, &mut log);
        }
    };
    thread::Builder::new()
        .name("followed log".to_owned())
        .spawn(copy)
}

/// Shows a run of a page's seat.
///
/// # Errors
/// If the system gives no thread.
pub(crate) fn follow_seated(
    path: PathBuf,
    maker: Maker,
    seat: &Seat,
) -> io::Result<JoinHandle<()>> {
    let feed = seat.take(Arc::new(maker.clone()), Some(path.clone()))?;
    let files = Followed {
        record: path,
        kept: None,
    };
    follow(files, maker, feed)
}

fn show(files: &Followed, maker: &Maker, mut feed: Feed) -> Result<(), loadline_record::Error> {
    let path = &files.record;
    let Some((file, whole)) = opened(path, maker) else {
        return Ok(());
    };
    files.keep();
    let growing = Growing { file, maker };
    let mut run = FollowedRun::begin(path, BufReader::new(growing))?;
    let header = Arc::new(run.header().clone());
    // A feed takes all news.
    let _ = feed.news(&News::Begun(Arc::clone(&header)));
    let mut number = 0;
    while let Some(snapshot) = run.next_interval()? {
        let (notes, changes) = maker.news();
        let agents = maker.agents(&snapshot);
        let stretch = Stretch {
            run: Arc::clone(&header),
            first: number,
            last: number,
            snapshot,
            tally: None,
            watched: None,
            changes,
            notes,
            slow: Vec::new(),
            agents,
        };
        number += 1;
        let _ = feed.news(&News::Interval(Arc::new(stretch)));
    }
    maker.await_end();
    let mut summary = RunFile::parse(path, BufReader::new(whole))?.into_summary();
    let (notes, changes) = maker.end_news();
    // The process adds its changes to the file itself, if it has come so far.
    if summary.changes.len() < changes.len() {
        summary.changes = changes;
    }
    files.annotate(&mut summary, notes);
    let end = RunEnd {
        whole: None,
        result: RunResult::new(summary),
    };
    let _ = feed.news(&News::Ended(Arc::new(end)));
    Ok(())
}

/// Waits for the file, and opens it twice: to follow it, and to read all of it at the end, when it
/// may have no name any more.
fn opened(path: &Path, maker: &Maker) -> Option<(File, File)> {
    loop {
        let is_last_look = maker.has_ended();
        if let (Ok(one), Ok(other)) = (File::open(path), File::open(path)) {
            return Some((one, other));
        }
        if is_last_look {
            return None;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// A file that grows as long as its writer lasts.
struct Growing<'a> {
    file: File,
    maker: &'a Maker,
}

impl Read for Growing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let is_last_look = self.maker.has_ended();
            let length = self.file.read(buffer)?;
            if length > 0 || is_last_look {
                return Ok(length);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::Plan;
    use loadline_record::{Environment, Header, RunWriter};
    use loadline_runner::{QUEUE, feed};
    use std::process::Command as Program;
    use std::time::SystemTime;

    #[test]
    fn a_file_that_grows_is_shown_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.run");
        // A process that lasts until its input ends stands for the one that writes.
        let mut child = Program::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a process");
        let input = child.stdin.take();
        let maker = Maker::of(&child, None);
        let (sink, inbox) = feed(QUEUE);
        let files = Followed {
            record: path.clone(),
            kept: Some(folder.path().join("kept.run")),
        };
        let following = follow(files.clone(), maker.clone(), sink).expect("a thread");
        let header = Header::new(
            &Plan::default(),
            Environment::default(),
            SystemTime::UNIX_EPOCH,
        );
        let file = File::create(&path).expect("a file");
        let mut writer = RunWriter::new(&path, file, &header).expect("a header");
        assert!(matches!(inbox.wait(), Some(News::Begun(_))));
        let mut summary = Summary::new(header);
        let mut interval = Snapshot::empty(0);
        interval.end_ns = 1_000_000_000;
        interval.counts.sent = 7;
        summary.observe(&interval);
        let note = |text| Note::new(5, text).expect("a text");
        maker.note(note("deployed")).expect("it is kept");
        writer.interval(&interval).expect("an interval");
        let Some(News::Interval(stretch)) = inbox.wait() else {
            panic!("no interval");
        };
        assert_eq!(stretch.snapshot.counts.sent, 7);
        assert_eq!(stretch.notes, [note("deployed")]);
        maker.note(note("restarted")).expect("it is kept");
        // As Locust does with a record that nobody asked for.
        fs::remove_file(&path).expect("it is there");
        summary.complete = true;
        writer.finish(&summary).expect("an end");
        drop(input);
        assert_eq!(maker.phase(), Phase::Running);
        maker.wait(child).expect("it ends");
        let Some(News::Ended(end)) = inbox.wait() else {
            panic!("no end");
        };
        assert_eq!(end.result.summary.total.counts.sent, 7);
        let notes = [note("deployed"), note("restarted")];
        assert_eq!(end.result.summary.notes, notes);
        let kept = RunFile::read(files.lasting()).expect("it is whole");
        assert_eq!(kept.summary().notes, notes);
        assert_eq!(maker.note(note("late")), Err(NoteProblem::NoRun));
        assert!(inbox.wait().is_none());
        following.join().expect("the thread ends");
        assert_eq!(maker.phase(), Phase::Ended);
    }
}
