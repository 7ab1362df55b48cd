//! What `loadline web` starts: the command line of a form, by the ordinary path of that command.
//! Runs of Loadline and of k6 are made in this process, those of locustfiles by Python in another.

use super::earlier::{self, Earlier};
use super::locustfile;
use super::words::{Words, kind_of_file};
use crate::commands;
use crate::exit::sentence;
use crate::flags::{self, Command, Refusal};
use crate::invocation::Invocation;
use crate::resolve::{RunEnvironment, Search, resolve, resolve_search};
use crate::terminal::print_line;
#[cfg(feature = "k6")]
use loadline_live_page::PageLog;
use loadline_live_page::{
    Baseline, Composed, EarlierRun, FileKind, NewRun, Offer, OfferedFile, Seat, Starter,
};
use loadline_page::Page;
use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;

/// The most files that are offered.
const MOST_FILES: usize = 200;
/// The sentence about a run that broke off by a defect of ours.
const PANICKED: &str = "The run panicked, which is a defect of Loadline: please report it.";

/// Starts runs in the current folder.
pub(crate) struct FolderStarter {
    /// The folder, as its user knows it.
    pub(crate) folder: String,
    /// The file that the page was opened for.
    pub(crate) chosen: Option<String>,
    earlier: Earlier,
}

impl FolderStarter {
    /// Starts runs in this folder, which is the current one.
    pub(crate) fn new(folder: String, chosen: Option<String>) -> FolderStarter {
        FolderStarter {
            folder,
            chosen,
            earlier: Earlier::default(),
        }
    }
}

impl Starter for FolderStarter {
    fn offer(&self) -> Offer {
        Offer {
            folder: self.folder.clone(),
            files: offered(),
            chosen: self.chosen.clone(),
        }
    }

    fn compose(&self, new: &NewRun) -> Result<Composed, String> {
        let words = Words::of(new, &self.offer())?;
        match words.kind {
            FileKind::Plan if words.is_search => drop(search(&words)?),
            FileKind::Plan => drop(native(&words)?),
            FileKind::K6 | FileKind::Locust => {}
        }
        Ok(Composed {
            command: words.line(),
            save: words.save,
        })
    }

    fn start(&self, new: &NewRun, seat: &Seat) -> Result<(), String> {
        let words = Words::of(new, &self.offer())?;
        let line = words.line();
        seat.when_begun(move || print_line(&format!("Started from the page: {line}")));
        match words.kind {
            FileKind::Plan if words.is_search => {
                let search = search(&words)?;
                on_its_own(seat, move |seat| run_search(search, seat))
            }
            FileKind::Plan => {
                let invocation = native(&words)?;
                on_its_own(seat, move |seat| run_native(invocation, seat))
            }
            FileKind::K6 => on_its_own(seat, move |seat| run_k6(&words, seat)),
            FileKind::Locust => on_its_own(seat, move |seat| locustfile::run(&words, seat)),
        }
    }

    fn earlier(&self) -> Vec<EarlierRun> {
        self.earlier.rows()
    }

    fn report(&self, name: &str) -> Result<Page, String> {
        earlier::report(name)
    }

    fn baseline(&self, name: &str) -> Result<Baseline, String> {
        earlier::baseline(name)
    }

    fn compare(&self, base: &str, with: &str) -> Result<String, String> {
        earlier::compare(base, with)
    }
}

/// The files of the current folder that describe runs, by name. A file in Python or TypeScript may
/// be something else: it is offered if it names what such scripts import.
fn offered() -> Vec<OfferedFile> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kind = kind_of_file(Path::new(&name))?;
        let begins = name.starts_with(|first: char| first.is_alphanumeric() || first == '_');
        (begins && is_meant(&name, kind)).then_some(OfferedFile { name, kind })
    });
    let mut files: Vec<OfferedFile> = files.collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files.truncate(MOST_FILES);
    files
}

fn is_meant(name: &str, kind: FileKind) -> bool {
    let imported = match kind {
        FileKind::Plan => return true,
        FileKind::K6 => "k6",
        FileKind::Locust => "locust",
    };
    let content = std::fs::read(name).unwrap_or_default();
    String::from_utf8_lossy(&content).contains(imported)
}

/// Makes a run on a thread of its own, and leaves the seat whatever becomes of it.
fn on_its_own(
    seat: &Seat,
    run: impl FnOnce(&Seat) -> Result<(), String> + Send + 'static,
) -> Result<(), String> {
    let seat = seat.clone();
    let whole = move || {
        let ran = catch_unwind(AssertUnwindSafe(|| run(&seat)));
        let ran = ran.unwrap_or_else(|_| Err(PANICKED.to_owned()));
        seat.leave(ran.err());
    };
    let thread = thread::Builder::new().name("run".to_owned()).spawn(whole);
    thread
        .map(drop)
        .map_err(|error| format!("The run can't be started: {error}."))
}

/// A run of Loadline's own, with all checked that can be before it is made.
fn native(words: &Words) -> Result<Invocation, String> {
    let typed = words.words.iter().map(OsString::from);
    let flags = match flags::parse(typed) {
        Ok(Command::Run(flags)) => flags,
        Ok(_) => return Err("This is no run.".to_owned()),
        Err(Refusal::Requested(text) | Refusal::Mistake(text)) => return Err(text),
    };
    let environment = &mut io::empty();
    let environment = RunEnvironment::of_this_machine(environment);
    let mut invocation = resolve(*flags, environment).map_err(|error| sentence(&error.into()))?;
    // The page is the one from which it was started, and shows its progress.
    invocation.session.web = None;
    invocation.session.progress = false;
    Ok(invocation)
}

/// A search for the load line, checked in the same way.
fn search(words: &Words) -> Result<Search, String> {
    let typed = words.words.iter().map(OsString::from);
    let flags = match flags::parse(typed) {
        Ok(Command::Capacity(flags)) => flags,
        Ok(_) => return Err("This is no search.".to_owned()),
        Err(Refusal::Requested(text) | Refusal::Mistake(text)) => return Err(text),
    };
    let environment = &mut io::empty();
    let environment = RunEnvironment::of_this_machine(environment);
    let search = resolve_search(*flags, environment);
    let mut search = search.map_err(|error| sentence(&error.into()))?;
    search.run.session.web = None;
    search.run.session.progress = false;
    Ok(search)
}

fn run_search(mut search: Search, seat: &Seat) -> Result<(), String> {
    search.run.session.seat = Some(seat.clone());
    let ran = commands::capacity::run(search);
    ran.map(drop).map_err(|error| sentence(&error))
}

fn run_native(mut invocation: Invocation, seat: &Seat) -> Result<(), String> {
    invocation.session.seat = Some(seat.clone());
    let ran = commands::run::run(invocation);
    ran.map(drop).map_err(|error| sentence(&error))
}

#[cfg(not(feature = "k6"))]
fn run_k6(_words: &Words, _seat: &Seat) -> Result<(), String> {
    Err("This build runs no k6 scripts; build it with `make build`.".to_owned())
}

#[cfg(feature = "k6")]
fn run_k6(words: &Words, seat: &Seat) -> Result<(), String> {
    use loadline_tool_host::{LivePages, PageRequest, ShownPage};
    use std::cell::Cell;
    use std::path::PathBuf;
    use std::rc::Rc;

    let is_shown = Rc::new(Cell::new(false));
    let (shown, taken) = (Rc::clone(&is_shown), seat.clone());
    let saved = PathBuf::from(&words.save);
    let pages: LivePages = Box::new(move |PageRequest { steer, .. }| {
        let feed = taken.take(steer, Some(saved.clone()));
        let feed = feed.map_err(|error| format!("the page can't show the run: {error}."))?;
        shown.set(true);
        Ok(Some(ShownPage {
            url: String::new(),
            observer: Box::new(feed),
            results: crate::dialect::shown_results(taken.results()),
        }))
    });
    let kept = KeptStderr::new(seat.log());
    let code = crate::dialect::run_k6(&words.words[2..], pages, Box::new(kept.clone()));
    match code != 0 && !is_shown.get() {
        true => Err(kept.last_line()),
        false => Ok(()),
    }
}

/// Standard error, which is in the log of the page, too, and whose last line is kept.
#[cfg(feature = "k6")]
#[derive(Clone)]
struct KeptStderr(std::sync::Arc<std::sync::Mutex<(Vec<u8>, PageLog)>>);

#[cfg(feature = "k6")]
impl KeptStderr {
    fn new(log: PageLog) -> KeptStderr {
        KeptStderr(std::sync::Arc::new(std::sync::Mutex::new((
            Vec::new(),
            log,
        ))))
    }

    fn last_line(&self) -> String {
        let kept = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept.0);
        let line = text.lines().rfind(|line| !line.trim().is_empty());
        line.map_or_else(|| "The script could not be run.".to_owned(), message_of)
    }
}

/// The message of a line of k6's log; another line as it is.
#[cfg(feature = "k6")]
fn message_of(line: &str) -> String {
    let message = line.split_once(" msg=").and_then(|(_, rest)| {
        // What k6 quotes is quoted as in JSON, but for control characters.
        let mut texts = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        texts.next()?.ok()
    });
    message.unwrap_or_else(|| line.to_owned())
}

#[cfg(feature = "k6")]
impl io::Write for KeptStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const KEPT: usize = 64 << 10;
        let mut kept = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.0.extend_from_slice(bytes);
        let surplus = kept.0.len().saturating_sub(KEPT);
        kept.0.drain(..surplus);
        io::Write::write_all(&mut kept.1, bytes)?;
        io::Write::write_all(&mut io::stderr(), bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::Write::flush(&mut io::stderr())
    }
}

#[cfg(all(test, feature = "k6"))]
mod tests {
    use super::*;

    #[test]
    fn what_k6_logs_is_told_without_time_and_level() {
        for (line, message) in [
            (
                r#"time="2026-11-28T01:30:26Z" level=error msg="no \"a.js\"" source=console"#,
                r#"no "a.js""#,
            ),
            (
                "time=a level=error msg=short",
                "time=a level=error msg=short",
            ),
            ("Usage: k6 run", "Usage: k6 run"),
        ] {
            assert_eq!(message_of(line), message);
        }
    }
}
