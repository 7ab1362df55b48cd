//! `loadline study`.

use crate::closing::print_reason;
use crate::exit::Exit;
use crate::flags::study::StudyFlags;
use crate::flags::{self, Refusal};
use crate::interrupt::ending_signals;
use crate::publish::{print, write_file, write_plots};
use crate::terminal::{CLEAR_LINE, draws};
use anyhow::{Context, Result};
use loadline_page::{Fact, Page, StudyPage, html};
use loadline_study::{
    Conductor, Events, Folder, Interrupter, Problem, Progress, Run, SavedRun, Screen, Study,
    StudyEnd, csv, markdown, study_page, table,
};
use loadline_units::visible;
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The table for programs, in the folder of the results.
const TABLE: &str = "results.csv";
/// The table for documents, there as well.
const MARKDOWN: &str = "results.md";
/// The report with pictures, there as well.
const REPORT: &str = "report.html";
/// The folder of its pictures as files.
const PLOTS: &str = "plots";

/// Makes the runs of a study that were not made yet, and prints all results.
pub(crate) fn run(flags: &StudyFlags) -> Result<Exit> {
    let study = match flags.quick {
        true => read(&flags.file)?.for_quick(),
        false => read(&flags.file)?,
    };
    let runs = study.runs(flags.quick)?;
    study.check_own(&runs, takes)?;
    if flags.list {
        return list(&study, &runs);
    }
    let listed = in_order_of_file(&runs);
    let path = results(flags, &study);
    let folder = Folder::open(&path, &study)?;
    let mut conductor = Conductor::prepare(&study, runs, &folder)?;
    let mut line = Line::new(!flags.no_progress);
    missing(conductor.missing_tools())
        .iter()
        .for_each(|text| line.print_line(text));
    let events = Events::default();
    watch_interrupts(events.interrupter()).context("signals can't be watched")?;
    let ended = conductor.conduct(flags.redo, &mut line, &events);
    line.clear();
    let saved = folder.saved(&listed)?;
    if saved.is_empty() && ended.is_err() {
        return Ok(ended.map(|_| Exit::Failed)?);
    }
    let mut page = study_page(&study, &folder, &saved, conductor.missing_tools())?;
    page.facts.push(machine());
    page.facts.extend(commit(&flags.file));
    page.notes.extend(conductor.left_out());
    let left_out: Vec<String> = missing(conductor.missing_tools())
        .into_iter()
        .chain(conductor.left_out())
        .collect();
    publish(&saved, &path, page, &left_out)?;
    match ended? {
        StudyEnd::Interrupted => {
            print_reason("interrupted; the table covers the runs until then.");
            Ok(Exit::Interrupted)
        }
        StudyEnd::Complete if saved.iter().any(|run| run.outcome.failure.is_some()) => {
            print_reason("some runs failed; the table says why.");
            Ok(Exit::Failed)
        }
        StudyEnd::Complete => Ok(Exit::Good),
    }
}

fn read(path: &Path) -> Result<Study> {
    let bytes = std::fs::read(path).with_context(|| format!("{} can't be read", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        anyhow::anyhow!("{}, line {line}: {}", path.display(), Problem::NotText)
    })?;
    Ok(Study::parse(path, &text)?)
}

/// Checks the arguments of a run of our own.
fn takes(words: &[String]) -> Result<(), String> {
    let line = std::iter::once("loadline").chain(words.iter().map(String::as_str));
    match flags::parse(line.map(OsString::from)) {
        Err(Refusal::Mistake(sentence)) => Err(sentence),
        Err(Refusal::Requested(_)) | Ok(_) => Ok(()),
    }
}

/// Prints the runs in the order in which they are made.
fn list(study: &Study, runs: &[Run]) -> Result<Exit> {
    let lines = runs
        .iter()
        .map(|run| format!("{}.{}\n", run.name, run.repeat));
    let missing = missing(&study.missing_tools(runs)).into_iter();
    print(
        &lines
            .chain(missing.map(|line| line + "\n"))
            .collect::<String>(),
    )?;
    Ok(Exit::Good)
}

/// The machine that the runs were made on.
fn machine() -> Fact {
    let environment = loadline_watch::environment();
    let cores = environment.cores.map(|cores| format!("{cores} cores"));
    let kernel = environment.kernel.map(|kernel| format!("Linux {kernel}"));
    let known = [environment.cpu_model, cores, kernel].into_iter().flatten();
    Fact {
        name: "machine".to_owned(),
        text: known.collect::<Vec<_>>().join(", "),
    }
}

/// The commit of the repository that the study's file is in, if it is in one.
fn commit(file: &Path) -> Option<Fact> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let output = Command::new("git")
        .current_dir(folder.unwrap_or(Path::new(".")))
        .args([
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
            "--exclude=*",
        ])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then(|| Fact {
        name: "commit".to_owned(),
        text,
    })
}

/// The runs as the file lists them, repeats together.
fn in_order_of_file(runs: &[Run]) -> Vec<Run> {
    let mut listed = runs.to_vec();
    listed.sort_by_key(|run| (run.place, run.repeat));
    listed
}

fn results(flags: &StudyFlags, study: &Study) -> PathBuf {
    let name = match flags.quick {
        true => format!("{}-quick", study.name),
        false => study.name.clone(),
    };
    flags
        .results
        .clone()
        .unwrap_or_else(|| Path::new("results").join(name))
}

/// The sentence about tools that are not there.
fn missing(tools: &[String]) -> Option<String> {
    let names = tools.join(", ");
    match tools.len() {
        0 => None,
        1 => Some(format!(
            "{names} is not on this machine: its runs are skipped."
        )),
        _ => Some(format!(
            "{names} are not on this machine: their runs are skipped."
        )),
    }
}

/// Prints the table of what was made, and writes that for programs.
fn publish(saved: &[SavedRun], folder: &Path, page: StudyPage, left_out: &[String]) -> Result<()> {
    let markdown = markdown(saved, &page.title, &page.started_at, &page.facts);
    write_file(&folder.join(MARKDOWN), markdown.as_bytes())?;
    let pictures = picture(page, folder)?;
    let path = folder.join(TABLE);
    write_file(&path, csv(saved).as_bytes())?;
    let mut text = match saved {
        [] => "No run was made.\n".to_owned(),
        saved => table(saved),
    };
    text.push('\n');
    let lines = left_out.iter().cloned();
    let lines = lines.chain([format!("All results are in {}.", path.display()), pictures]);
    lines.for_each(|line| text.push_str(&(line + "\n")));
    print(&text)
}

/// Writes the pictures, each as a file and all in a report, and returns a sentence with their
/// location; or with the reason why there is no report.
fn picture(page: StudyPage, folder: &Path) -> Result<String> {
    let page = Page::Study(Box::new(page));
    let (path, plots) = (folder.join(REPORT), folder.join(PLOTS));
    write_plots(&plots, &page, &[])?;
    let html = match html(&page) {
        Ok(html) => html,
        Err(missing) => return Ok(format!("{missing} Plots are in {}.", plots.display())),
    };
    write_file(&path, html.as_bytes())?;
    Ok(format!(
        "The report is {}, its plots are in {}.",
        path.display(),
        plots.display()
    ))
}

/// The first Ctrl-C stops tool and target and ends the study; further ones change nothing.
fn watch_interrupts(interrupter: Interrupter) -> io::Result<()> {
    let mut signals = Signals::new(ending_signals())?;
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            signals.forever().for_each(|_| interrupter.interrupt());
        })?;
    Ok(())
}

/// The line about how far a study is, on stderr.
struct Line {
    is_shown: bool,
    is_terminal: bool,
    /// The run that a log has a line of.
    last_printed: usize,
}

impl Line {
    fn new(is_shown: bool) -> Self {
        Line {
            is_shown,
            is_terminal: draws(&io::stderr()),
            last_printed: 0,
        }
    }

    fn clear(&self) {
        if self.is_shown && self.is_terminal {
            write(CLEAR_LINE);
        }
    }
}

impl Screen for Line {
    fn progress(&mut self, progress: &Progress) {
        if !self.is_shown {
            return;
        }
        if self.is_terminal {
            let width = terminal_size::terminal_size_of(io::stderr())
                .map_or(80, |(width, _)| usize::from(width.0));
            // The last column would wrap the cursor on some terminals.
            let line: String = progress
                .line()
                .chars()
                .take(width.saturating_sub(1))
                .collect();
            write(&format!("{CLEAR_LINE}{line}"));
        } else if self.last_printed != progress.number {
            self.last_printed = progress.number;
            write(&format!("{}\n", progress.line()));
        }
    }

    fn print_line(&mut self, line: &str) {
        self.clear();
        write(&format!("{}\n", visible(line)));
    }
}

/// Writes to stderr. Errors are ignored: if stderr is closed, nobody reads it.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}
