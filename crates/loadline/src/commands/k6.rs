//! `loadline k6`: its commands, run here and reported in its words.
//!
//! The JavaScript engine is compiled from C, so that a build may leave it out.

/// Runs what these words ask of the tool on so many cores and processes; returns its exit code.
#[cfg(not(feature = "k6"))]
pub(crate) fn run(_words: &[String], _cores: u32, _processes: u32) -> u8 {
    crate::exit::refuse(
        "this build runs no k6 scripts; build it with `make build`, or `cargo build --features k6`",
    );
    255
}

#[cfg(feature = "k6")]
pub(crate) use with_scripts::run;

#[cfg(feature = "k6")]
mod with_scripts {
    use crate::exit::refuse;
    use loadline_dialects::k6::{
        FAILED, INTERRUPTED, Interrupt, Natives, PageOutput, Place, Said, Screen, Surroundings,
        Terminals,
    };
    use loadline_page::{AddedTables, Heat, Page, RunPage};
    use loadline_report::{JobReport, Threshold, heat_interval, judgement, junit, run_page};
    use loadline_runner::preflight::{Reserved, write_whole};
    use loadline_runner::{Command, Commands, End, Interval, Observed, Observer, SavedRun};
    use loadline_verdict::{Grade, RunResult};
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::io::{self, IsTerminal};
    use std::path::{Path, PathBuf};
    use std::rc::Rc;
    use std::sync::Arc;
    use std::thread;

    /// Runs what these words ask of the tool on so many cores and processes; returns its exit code.
    pub(crate) fn run(words: &[String], cores: u32, processes: u32) -> u8 {
        let (interrupt, commands) = (Interrupt::default(), Commands::default());
        if let Err(error) = obey_signals(&interrupt, &commands) {
            refuse(&format!("signals can't be watched: {error}"));
            return FAILED;
        }
        let directory = match std::env::current_dir() {
            Ok(directory) => directory,
            Err(error) => {
                refuse(&format!("the working directory is not known: {error}"));
                return FAILED;
            }
        };
        let screen = Screen::new(Box::new(io::stdout()), Box::new(io::stderr()));
        loadline_dialects::k6::run(
            words,
            Surroundings {
                cores,
                processes,
                seed: rand::random(),
                place: Place {
                    directory,
                    environment: environment(),
                },
                screen: Arc::new(screen),
                terminals: terminals(),
                natives: Natives {
                    save: |path| Box::new(SavedRun::new(path, judgement)),
                    page: PageFile::output,
                    junit: JunitFile::output,
                    judge,
                },
                interrupt,
                commands,
            },
        )
    }

    /// Whether a result can be believed, and why not.
    fn judge(end: &End<'_>) -> Vec<Said> {
        let findings = &end.result.findings;
        let grade = findings.grade();
        let is_warning = grade != Grade::Valid;
        let said = |text| Said { is_warning, text };
        let grade = said(format!("the result is {}", grade.name()));
        let sentences = findings.validity_sentences().map(said);
        std::iter::once(grade).chain(sentences).collect()
    }

    /// Writes the HTML report of a run.
    struct PageFile {
        path: PathBuf,
        heat: Heat,
        /// The page that was written.
        written: Rc<RefCell<Option<RunPage>>>,
    }

    impl PageFile {
        fn output(path: PathBuf) -> PageOutput {
            let written = Rc::default();
            PageOutput {
                observer: Box::new(PageFile {
                    path: path.clone(),
                    heat: Heat::default(),
                    written: Rc::clone(&written),
                }),
                conclude: Box::new(move |tables| {
                    let Some(page) = written.take() else {
                        return Ok(());
                    };
                    let tables = AddedTables::parse(tables.to_string().as_bytes());
                    let tables = tables.map_err(|error| error.to_string())?;
                    write_page(&path, page.with_added(Some(tables))).map(drop)
                }),
            }
        }
    }

    fn write_page(path: &Path, page: RunPage) -> Result<RunPage, String> {
        let page = Page::Run(Box::new(page));
        let html = loadline_page::html(&page).map_err(|error| error.to_string())?;
        write_whole(path, html.as_bytes()).map_err(|error| error.to_string())?;
        match page {
            Page::Run(page) => Ok(*page),
            _ => unreachable!("it is the page of a run"),
        }
    }

    impl Observer for PageFile {
        fn prepare(&mut self) -> Observed {
            loadline_page::ready().map_err(|error| error.to_string())?;
            drop(Reserved::open(&self.path)?);
            Ok(())
        }

        fn interval(&mut self, interval: &Interval<'_>) -> Observed {
            heat_interval(&mut self.heat, interval.snapshot);
            Ok(())
        }

        fn ended(&mut self, end: &End<'_>) -> Observed {
            let page = write_page(&self.path, run_page(end.result, &self.heat))?;
            self.written.replace(Some(page));
            Ok(())
        }
    }

    /// Writes k6's thresholds and the validity of a run as JUnit XML.
    struct JunitFile {
        path: PathBuf,
        /// The run that has ended.
        ended: Rc<RefCell<Option<RunResult>>>,
    }

    impl JunitFile {
        fn output(path: PathBuf) -> PageOutput {
            let ended: Rc<RefCell<Option<RunResult>>> = Rc::default();
            PageOutput {
                observer: Box::new(JunitFile {
                    path: path.clone(),
                    ended: Rc::clone(&ended),
                }),
                conclude: Box::new(move |tables| {
                    let Some(run) = ended.take() else {
                        return Ok(());
                    };
                    let tables = AddedTables::parse(tables.to_string().as_bytes());
                    let tables = tables.map_err(|error| error.to_string())?;
                    write_junit(&path, run, &thresholds(&tables))
                }),
            }
        }
    }

    fn write_junit(path: &Path, run: RunResult, thresholds: &[Threshold]) -> Result<(), String> {
        let xml = junit(&JobReport {
            runs: &[run],
            compared: None,
            thresholds,
            worst_accepted: Grade::Suspect,
        });
        write_whole(path, xml.as_bytes()).map_err(|error| error.to_string())
    }

    /// The rows of k6's thresholds: metric, condition, and a tick where it holds.
    fn thresholds(tables: &AddedTables) -> Vec<Threshold> {
        let of_thresholds = tables
            .tables
            .iter()
            .filter(|table| table.title == "Thresholds");
        let rows = of_thresholds.flat_map(|table| &table.rows);
        let threshold = |row: &Vec<String>| match row.as_slice() {
            [metric, expression, result, ..] => Some(Threshold {
                metric: metric.clone(),
                expression: expression.clone(),
                holds: result == "✓",
            }),
            _ => None,
        };
        rows.filter_map(threshold).collect()
    }

    impl Observer for JunitFile {
        fn prepare(&mut self) -> Observed {
            drop(Reserved::open(&self.path)?);
            Ok(())
        }

        fn ended(&mut self, end: &End<'_>) -> Observed {
            let run = end.result.clone();
            write_junit(&self.path, run.clone(), &[])?;
            self.ended.replace(Some(run));
            Ok(())
        }
    }

    /// The first signal ends a test, with all that comes behind its load; the second ends the
    /// process.
    fn obey_signals(interrupt: &Interrupt, commands: &Commands) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let (interrupt, commands) = (interrupt.clone(), commands.clone());
        let wait = move || {
            for signal in signals.forever() {
                commands.send(Command::Abort);
                let name = match signal {
                    SIGINT => "interrupt",
                    _ => "terminated",
                };
                if !interrupt.signal(name) {
                    refuse(&format!(
                        "{name}: the test ends at once, without its summary"
                    ));
                    std::process::exit(i32::from(INTERRUPTED));
                }
            }
        };
        let interrupts = thread::Builder::new().name("interrupts".to_owned());
        interrupts.spawn(wait).map(drop)
    }

    /// The variables that are text.
    fn environment() -> BTreeMap<String, String> {
        let variables = std::env::vars_os();
        let text = variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        text.collect()
    }

    fn terminals() -> Terminals {
        let size = terminal_size::terminal_size_of(io::stdout());
        Terminals {
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
            columns: size.map(|(columns, _)| columns.0),
        }
    }
}
