//! The outputs of a run: the summary after its end, the script's own summary, files.

use super::conduct::EndedTest;
use super::console::Console;
use super::identifiers::md5_hex;
use super::output::dashboard::{Dashboard, EventSettings, EventTest, Events, Now};
use super::output::exports::{Export, Exports};
use super::output::loadline::{Conclude, Kind, LoadlineOutput, Writer};
use super::output::{Described, Form, SampleFile, SampleWriter, TimeFormat, rfc3339_nano};
use super::session::ParsedCommand;
use super::test::Test;
use super::version::K6;
use super::{FAILED, Refused, go_json, go_words, page_tables};
use loadline_k6_metrics::summary::{self, Described as Machine, Ended, TimeUnit};
use loadline_k6_metrics::{Portion, Sink, Totals, builtin};
use loadline_k6_options::needs;
use loadline_runner::Observer;
use loadline_script_js::{Entry, Failure, Level, Log, SummaryFiles};
use loadline_tool_host::{OwnPage, ShowResults};
use loadline_web::Broadcast;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The outputs to print and to write.
pub(super) struct Report {
    mode: Mode,
    /// The file of `--summary-export`.
    export: Option<String>,
    /// True if machine-readable summaries have the newer form.
    is_newer: bool,
    /// Loadline's own outputs.
    loadline_outputs: Vec<LoadlineOutput>,
    /// The files of samples, before the run.
    files: Vec<SampleFile>,
    /// The writers of the same files, during the run.
    writers: RefCell<Vec<SampleWriter>>,
    /// The outputs that send metrics, before the run.
    exports: Vec<Export>,
    /// The same during the run; `None` without any.
    sending: RefCell<Option<Exports>>,
    /// The functions that add k6's results to pages.
    pages: RefCell<Vec<Conclude>>,
    /// The page that k6's words request, and the settings of its events.
    dashboard: Option<(OwnPage, EventSettings)>,
    /// These events, during the run.
    events: RefCell<Option<Events>>,
    /// The names of all outputs in the header.
    described: Vec<String>,
}

/// The share of failed requests from which the verdict of a valid result mentions them.
const FEW_FAILED: f64 = 0.01;

/// The amount of detail in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Disabled,
    Compact,
    Full,
    Legacy,
}

const LEGACY: &str = "\
The \"legacy\" summary mode has been deprecated, and will be removed by k6 v2.0. Please, \
migrate to either \"compact\" or \"full\" as soon as possible.";

const NO_ITERATIONS: &str = "\
No script iterations fully finished, consider making the test duration longer";

impl Report {
    /// Creates the outputs of a command line.
    ///
    /// # Errors
    /// If a mode or an output is invalid.
    pub(super) fn of(command: &ParsedCommand<'_>) -> Result<Report, Refused> {
        let mode = match command.flag("summary-mode").as_deref() {
            None | Some("compact") => Mode::Compact,
            Some("full") => Mode::Full,
            Some("legacy") => {
                command.console.log_plain(Level::Warning, LEGACY);
                Mode::Legacy
            }
            Some("disabled") => Mode::Disabled,
            Some(_) => return Err(Refused::new(FAILED, "invalid summary mode")),
        };
        let mut report = Report {
            mode: match command.is_on("no-summary") {
                true => Mode::Disabled,
                false => mode,
            },
            export: command.flag("summary-export"),
            // The legacy summary has only one form.
            is_newer: mode != Mode::Legacy && command.is_on("new-machine-readable-summary"),
            loadline_outputs: Vec::new(),
            files: Vec::new(),
            writers: RefCell::default(),
            exports: Vec::new(),
            sending: RefCell::default(),
            pages: RefCell::default(),
            dashboard: None,
            events: RefCell::default(),
            described: Vec::new(),
        };
        let environment = &command.session.place.environment;
        match command.invocation.all("out") {
            [] => {
                if let Some(output) = environment.get("K6_OUT").filter(|text| !text.is_empty()) {
                    report.add(command, output)?;
                }
            }
            outputs => outputs
                .iter()
                .filter(|output| !output.is_empty())
                .try_for_each(|output| report.add(command, output))?,
        }
        if let Some(dashboard) = Dashboard::of_environment(environment)?
            && report.dashboard.is_none()
        {
            report.add_dashboard(command, dashboard)?;
        }
        let file = environment.get("K6_WEB_DASHBOARD_EXPORT");
        if let Some(file) = file.filter(|file| !file.is_empty()) {
            report.add_page(command, file)?;
        }
        Ok(report)
    }

    /// Adds an output, given as the value of `--out`.
    fn add(&mut self, command: &ParsedCommand<'_>, output: &str) -> Result<(), Refused> {
        let (name, argument) = output.split_once('=').unwrap_or((output, ""));
        let directory = &command.session.place.directory;
        let refused = |text: String| Err(Refused::new(FAILED, text));
        if let Some(export) = Export::of(name, argument, &command.session.place.environment) {
            let export = export?;
            self.described.push(export.described.clone());
            self.exports.push(export);
            return Ok(());
        }
        let mut own = |kind| {
            let path = directory.join(argument);
            self.loadline_outputs.push(LoadlineOutput { kind, path });
        };
        match name {
            "loadline" | "html" | "junit" if argument.is_empty() => {
                return refused(format!(
                    "the output '{name}' needs a file, as in {name}=FILE"
                ));
            }
            "loadline" => own(Kind::Saved),
            "html" => own(Kind::Page),
            "junit" => own(Kind::Junit),
            "web-dashboard" => {
                let environment = &command.session.place.environment;
                return self.add_dashboard(command, Dashboard::of(argument, environment)?);
            }
            "json" => {
                let named = (!matches!(argument, "" | "-")).then_some(argument);
                self.files
                    .push(SampleFile::open(Form::Json, named, directory)?);
                self.described
                    .push(format!("json ({})", named.unwrap_or("-")));
                return Ok(());
            }
            "csv" => {
                let (file, format) = csv_options(command, argument)?;
                self.described.push(format!("csv ({file})"));
                let form = Form::Csv(format);
                let opened = SampleFile::open(form, Some(&file), directory);
                self.files.push(opened.map_err(|refused| {
                    let text = format!("could not create the 'csv' output: {}", refused.text);
                    Refused::new(FAILED, text)
                })?);
                return Ok(());
            }
            "cloud" => {
                return refused(format!(
                    "Loadline does not write the output '{name}' yet; use --out html=FILE, \
                     --out json=FILE, or --out loadline=FILE, which `loadline report` reads"
                ));
            }
            _ => {
                return refused(format!(
                    "invalid output type '{name}', available types are: csv, \
                     experimental-prometheus-rw, html, influxdb, json, junit, loadline, \
                     opentelemetry, statsd"
                ));
            }
        }
        self.described.push(format!("{name} ({argument})"));
        Ok(())
    }

    /// Adds the page of a dashboard, and the file to which it is exported.
    fn add_dashboard(
        &mut self,
        command: &ParsedCommand<'_>,
        dashboard: Dashboard,
    ) -> Result<(), Refused> {
        if let Some(warning) = dashboard.warning {
            command.console.log_plain(Level::Warning, warning);
        }
        let page = dashboard.page.map(|page| (page, dashboard.events));
        self.dashboard = page.or(self.dashboard.take());
        match dashboard.export {
            Some(file) => self.add_page(command, &file),
            None => Ok(()),
        }
    }

    /// Adds a page that is written into this file, unless it is there already.
    fn add_page(&mut self, command: &ParsedCommand<'_>, file: &str) -> Result<(), Refused> {
        let path = command.session.place.directory.join(file);
        let kind = Kind::Page;
        match self
            .loadline_outputs
            .contains(&LoadlineOutput { kind, path })
        {
            true => Ok(()),
            false => self.add(command, &format!("html={file}")),
        }
    }

    /// Returns the page that k6's words request.
    pub(super) fn dashboard(&self) -> Option<OwnPage> {
        self.dashboard.as_ref().map(|(page, _)| page.clone())
    }

    /// Returns the events for its viewers.
    pub(super) fn events(&self) -> Option<Broadcast> {
        self.events.borrow().as_ref().map(Events::stream)
    }

    /// True if an output needs each sample.
    pub(super) fn keeps_samples(&self) -> bool {
        !self.files.is_empty() || !self.exports.is_empty()
    }

    /// True if values are recorded by group and scenario: for the summary, or for events.
    pub(super) fn distinguishes_groups(&self) -> bool {
        let splits = |(_, events): &(OwnPage, EventSettings)| !events.tags.is_empty();
        self.is_full() || self.dashboard.as_ref().is_some_and(splits)
    }

    /// True if the summary distinguishes groups and scenarios.
    fn is_full(&self) -> bool {
        self.mode == Mode::Full
    }

    /// Returns the names of the outputs for the header.
    pub(super) fn described(&self) -> String {
        match self.described.is_empty() {
            true => "-".to_owned(),
            false => self.described.join(", "),
        }
    }

    /// Writes the text before all samples, and starts what sends them.
    ///
    /// # Errors
    /// If a setting of an output can't be used.
    pub(super) fn begin(
        &mut self,
        described: Described<'_>,
        test: &Test,
        environment: &BTreeMap<String, String>,
        console: &Arc<Console>,
    ) -> Result<(), Refused> {
        if let Some((_, settings)) = &self.dashboard {
            let events = Events::begin(settings, event_test(test), described, Now::read());
            self.events = RefCell::new(Some(events));
        }
        if !self.exports.is_empty() {
            let recording = described.recording;
            let sending = Exports::start(&self.exports, environment, recording, console)?;
            self.sending = RefCell::new(Some(sending));
        }
        let files = std::mem::take(&mut self.files);
        let begun = files.into_iter().map(|file| file.begin(described));
        self.writers = RefCell::new(begun.collect());
        Ok(())
    }

    /// Creates the observers of Loadline's own outputs.
    pub(super) fn observers(&self) -> Vec<Box<dyn Observer>> {
        let writers = self.loadline_outputs.iter().map(LoadlineOutput::writer);
        let observers = writers.map(|Writer { observer, conclude }| {
            self.pages.borrow_mut().extend(conclude);
            observer
        });
        observers.collect()
    }

    /// Shows k6's results on a live page at the end of the test.
    pub(super) fn show_on(&self, results: ShowResults) {
        self.pages.borrow_mut().push(Box::new(move |tables| {
            results(&tables.to_string());
            Ok(())
        }));
    }

    /// Takes what users recorded.
    pub(super) fn take(&self, portion: &Portion) {
        let mut writers = self.writers.borrow_mut();
        writers.iter_mut().for_each(|writer| writer.take(portion));
        if let Some(sending) = self.sending.borrow_mut().as_mut() {
            sending.take(portion);
        }
        if let Some(events) = self.events.borrow_mut().as_mut() {
            events.take(portion, Now::read());
        }
    }

    /// Prints and writes the results of a run that has ended.
    pub(super) fn conclude(&self, command: &ParsedCommand<'_>, test: &Test, ran: &EndedTest) {
        if let Some(sending) = self.sending.take() {
            sending.end();
        }
        if let Some(events) = self.events.take() {
            events.end(Now::read());
        }
        for problem in self
            .writers
            .take()
            .into_iter()
            .filter_map(SampleWriter::end)
        {
            let text = format!("an output was not written whole: {problem}");
            command.console.log_plain(Level::Error, &text);
        }
        let totals = ran.totals();
        if ran.has_load && totals.sink(builtin::ITERATIONS).is_none() {
            command.console.log_plain(Level::Warning, NO_ITERATIONS);
        }
        if self.mode != Mode::Disabled {
            self.summarise(command, test, ran, &totals);
        }
        self.conclude_pages(command, test, ran, &totals);
        // Without a request there is no validity to report.
        if totals.sink(builtin::HTTP_REQ_DURATION).is_some() {
            let have_failed = matches!(
                totals.sink(builtin::HTTP_REQ_FAILED),
                Some(Sink::Rate(rate)) if rate.share() > FEW_FAILED
            );
            log_verdict(command, ran, have_failed);
        }
    }

    /// Adds k6's results to Loadline's pages.
    fn conclude_pages(
        &self,
        command: &ParsedCommand<'_>,
        test: &Test,
        ran: &EndedTest,
        totals: &Totals,
    ) {
        let pages = self.pages.take();
        if pages.is_empty() {
            return;
        }
        let tables = page_tables::tables(&ended(test, ran, totals), &machine(test));
        let problems = pages
            .into_iter()
            .filter_map(|conclude| conclude(&tables).err());
        for problem in problems {
            let text = format!("an output was not written whole: {problem}");
            command.console.log_plain(Level::Error, &text);
        }
    }

    fn summarise(
        &self,
        command: &ParsedCommand<'_>,
        test: &Test,
        ran: &EndedTest,
        totals: &Totals,
    ) {
        let ended = Ended {
            has_colours: command.has_colours && command.session.terminals.stdout,
            ..ended(test, ran, totals)
        };
        let newer = self.is_newer.then(|| {
            let machine = machine(test);
            summary::machine_readable(&ended, self.is_full(), &machine)
        });
        let own = match own_summary(command, test, ran, (&ended, newer.as_ref())) {
            Ok(own) => own,
            // There is no replacement for a summary that can't be written.
            Err(problem) => return log_problem(command, &problem),
        };
        let mut files = own.unwrap_or_else(|| self.usual_summary(&ended));
        if let Some(path) = &self.export {
            let json = newer.unwrap_or_else(|| summary::export(&ended, setup_data(ran), &md5_hex));
            let json = json.to_string();
            files.push((path.clone(), go_json::indented_by(4, &json).into_bytes()));
        }
        if let Some(problem) = write_all(command, &files) {
            log_problem(command, &problem);
        }
    }

    fn usual_summary(&self, ended: &Ended<'_>) -> SummaryFiles {
        let text = match self.mode {
            Mode::Legacy => summary::legacy(ended),
            Mode::Disabled | Mode::Compact | Mode::Full => summary::text(ended, self.is_full()),
        };
        vec![("stdout".to_owned(), text.into_bytes())]
    }
}

/// Returns what events say of a test.
fn event_test(test: &Test) -> EventTest {
    let scenarios = &test.options.scenarios;
    EventTest {
        script: test.main.to_string(),
        scenarios: scenarios.iter().map(|one| one.name.clone()).collect(),
        length: needs(scenarios).length,
    }
}

/// Returns the data of a summary.
fn ended<'a>(test: &'a Test, ran: &'a EndedTest, totals: &'a Totals) -> Ended<'a> {
    let settings = test.settings();
    Ended {
        totals,
        outcomes: &ran.outcomes,
        elapsed_ns: ran.elapsed.as_nanos() as u64,
        trend_stats: &settings.trend_stats,
        time_unit: settings.time_unit.as_deref().and_then(TimeUnit::parse),
        has_colours: false,
    }
}

/// Returns the data that the newer form has in addition to the measurements.
fn machine(test: &Test) -> Machine {
    let files = test.program.files();
    let source = files.get(&test.main);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Machine {
        script: source.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(bytes).into_owned()
        }),
        version: K6.to_owned(),
        at: rfc3339_nano(since.map_or(0, |since| since.as_nanos() as u64)),
    }
}

/// Logs the verdict on the validity of the result; mentions if many requests failed, since a valid
/// result may contain failures.
fn log_verdict(command: &ParsedCommand<'_>, ran: &EndedTest, have_failed: bool) {
    for (index, sentence) in ran.verdict.iter().enumerate() {
        let but = match index == 0 && !sentence.is_warning && have_failed {
            true => ": Loadline did not distort the figures, but many requests failed",
            false => "",
        };
        command.console.log(&Entry {
            level: match sentence.is_warning {
                true => Level::Warning,
                false => Level::Info,
            },
            message: &format!("{}{but}", sentence.text),
            fields: &[("source", "loadline")],
        });
    }
}

/// Returns the file of the output `csv`, and its time format: from the argument, which is a file
/// name or `fileName=…,timeFormat=…`, and from variables.
fn csv_options(
    command: &ParsedCommand<'_>,
    argument: &str,
) -> Result<(String, TimeFormat), Refused> {
    let environment = &command.session.place.environment;
    let mut file = environment.get("K6_CSV_FILENAME").cloned();
    let mut format = environment.get("K6_CSV_TIME_FORMAT").cloned();
    for part in argument.split(',').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            None => file = Some(part.to_owned()),
            Some(("fileName", name)) => file = Some(name.to_owned()),
            Some(("timeFormat", name)) => format = Some(name.to_owned()),
            // The interval of writing does not change the contents of the file.
            Some(("saveInterval", _)) => {}
            Some((name, _)) => {
                return Err(Refused::new(
                    FAILED,
                    format!(
                        "could not create the 'csv' output: unknown key {name:?} as argument for \
                         csv output"
                    ),
                ));
            }
        }
    }
    let format = match format.as_deref() {
        None => TimeFormat::default(),
        Some(name) => TimeFormat::named(name).ok_or_else(|| {
            let text = format!("could not create the 'csv' output: unknown time format {name}");
            Refused::new(FAILED, text)
        })?,
    };
    Ok((file.unwrap_or_else(|| "file.csv".to_owned()), format))
}

/// Returns the result of `setup()`, if there is one.
fn setup_data(ran: &EndedTest) -> Option<Value> {
    serde_json::from_str(ran.setup_data.as_deref()?).ok()
}

/// Returns the files of the script's `handleSummary()`; `None` if there is no such function, or it
/// returns nothing.
///
/// # Errors
/// The reason why the returned value can't be written.
fn own_summary(
    command: &ParsedCommand<'_>,
    test: &Test,
    ran: &EndedTest,
    (ended, newer): (&Ended<'_>, Option<&Value>),
) -> Result<Option<SummaryFiles>, String> {
    if !test.program.has("handleSummary") {
        return Ok(None);
    }
    let terminals = command.session.terminals;
    let context = summary::SummaryContext {
        is_stdout_tty: terminals.stdout,
        is_stderr_tty: terminals.stderr,
        no_color: !command.has_colours,
        setup_data: setup_data(ran),
    };
    let data = match newer {
        Some(newer) => newer.clone(),
        None => summary::handle_summary_data(ended, &context, &md5_hex),
    };
    match ran.handle_summary(data.to_string()) {
        Ok(files) => Ok(files),
        Err(Failure::SummaryFiles(problem)) => Err(problem),
        Err(failure) => {
            command.console.log_refusal(&Refused::thrown(failure));
            Ok(None)
        }
    }
}

/// Writes texts to files; returns the problems, if there are any.
fn write_all(command: &ParsedCommand<'_>, files: &SummaryFiles) -> Option<String> {
    let mut problems = String::new();
    let screen = &command.session.screen;
    for (name, content) in files {
        match name.as_str() {
            "stdout" => screen.print(&String::from_utf8_lossy(content)),
            "stderr" => screen.print_error(&String::from_utf8_lossy(content)),
            path => {
                let written = fs::write(command.session.place.directory.join(path), content);
                if let Err(error) = written {
                    let problem = go_words::system(&error);
                    // Writing to a text can't fail.
                    let _ = write!(
                        problems,
                        "\n\t- could not open '{path}': open {path}: {problem}"
                    );
                }
            }
        }
    }
    (!problems.is_empty()).then(|| format!("Could not save some summary information:{problems}"))
}

fn log_problem(command: &ParsedCommand<'_>, problem: &str) {
    command.console.log(&Entry {
        level: Level::Error,
        message: "failed to handle the end-of-test summary",
        fields: &[("error", problem)],
    });
}
