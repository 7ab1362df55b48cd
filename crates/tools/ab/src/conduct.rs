//! An ab command, from its words to its exit code.

use super::arguments::{parse, reason};
use super::behaviour::{Message, RepeatScenario};
use super::files;
use super::ledger::Records;
use super::options::Options;
use super::plan::{check_tls, no_certificate, plan, unknown_host};
use super::report::Report;
use super::request::head;
use super::tally::{Fatal, Tally};
use super::usage::{Output, banner, benchmarking, html_banner};
use loadline_engine::{AnyTally, Launch, StartError, TallyCodec};
use loadline_plan::Plan;
use loadline_runner::{
    Command, Commands, End, Interests, Job, Observed, Observer, RunError, Setup, Source, Watch,
    Workload, refusal_of_joins, start_counting,
};
use loadline_tool_host::{Host, processes};
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::SystemTime;

/// The words for a load that agents can join: ab always sends a number of requests.
const JOINED_INSTEAD: &str = "give -c and a duration (-d) to loadline itself, without ab";

/// Runs the command with these words after its name; returns its exit code.
pub fn run(words: &[String], host: Host) -> u8 {
    let mut console = Console {
        host,
        write_error: None,
    };
    let output = parse(words, |path| std::fs::read(path))
        .and_then(|options| conduct(options, &mut console))
        .unwrap_or_else(|output| output);
    console.print(&output);
    console.close(output.code)
}

/// Returns the request that the command with these words after its name repeats, head and body.
/// `read` reads the file of a body; no other file is opened, and nothing is sent.
///
/// # Errors
/// The exit code of a command that sends nothing.
pub fn request(
    words: &[String],
    read: impl Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<Vec<u8>, u8> {
    let options = parse(words, read).map_err(|output| output.code)?;
    let head = head(&options).ok_or(1)?;
    Ok(message(&options, head).bytes.clone())
}

/// Prints to stdout and stderr. A closed output is not an error: its reader needs no more.
struct Console {
    host: Host,
    /// The reason why a part of the report could not be written, if so.
    write_error: Option<io::Error>,
}

impl Console {
    fn out(&mut self, text: &[u8]) {
        let stdout = &mut self.host.stdout;
        match stdout.write_all(text).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.write_error = Some(error)
            }
            _ => {}
        }
    }

    fn err(&mut self, text: &str) {
        let _ = self.host.stderr.write_all(text.as_bytes());
    }

    /// Returns the exit code. It reports a report that could not be written, if there is no other
    /// error.
    fn close(mut self, code: u8) -> u8 {
        let Some(error) = self.write_error.take() else {
            return code;
        };
        self.err(&format!(
            "ab: Could not write the report: {}\n",
            reason(&error)
        ));
        match (code, error.raw_os_error()) {
            (0, Some(number)) => number as u8,
            (0, None) => 1,
            _ => code,
        }
    }

    fn print(&mut self, output: &Output) {
        self.out(output.stdout.as_bytes());
        self.err(&output.stderr);
    }
}

/// Runs the load that the options describe. The caller prints the returned output.
fn conduct(options: Options, console: &mut Console) -> Result<Output, Output> {
    console.err(&options.complaint);
    let head = head(&options).ok_or_else(|| Output::problem("Request too long"))?;
    check_tls(&options)?;
    greet(&options, console);
    let processes = console.host.processes;
    if let Some(sentence) = processes::too_many(processes, options.concurrency, "-c") {
        return Err(Output::sentence(&ab_message(&sentence)));
    }
    let plan = plan(&options, console.host.cores, processes)?;
    if let Some(sentence) = refusal_of_joins(&plan, JOINED_INSTEAD) {
        return Err(Output::sentence(&ab_message(&sentence)));
    }
    if options.verbosity >= 2 {
        let method = &options.method;
        console.out(format!("INFO: {method} header == \n---\n{head}\n---\n").as_bytes());
    }
    let message = message(&options, head);
    let request_bytes = message.bytes.len();
    let commands = console.host.commands.clone();
    let page = console.host.page();
    let mut page = page.map_err(|sentence| Output::sentence(&ab_message(&sentence)))?;
    let mut report = Reporter {
        tally: Tally::new(&options),
        next_progress: options.progress_every().map(u64::from),
        options: &options,
        request_bytes,
        commands: commands.clone(),
        given_up: None,
        console,
        began: SystemTime::now(),
    };
    let users = Crowds { message };
    let watch = Watch::of_target();
    let setup = Setup {
        watch: Some(&watch).filter(|_| page.is_some()),
        ..Setup::of(&plan)
    };
    let mut observers: Vec<&mut dyn Observer> = vec![&mut report];
    if let Some(page) = &mut page {
        observers.push(page.as_mut());
    }
    let conducted = loadline_runner::conduct(&setup, &users, &commands, &mut observers);
    drop(page);
    let conducted = conducted.map_err(|error| refusal(&error, &options))?;
    report.conclude(conducted.trouble.map(|lost| lost.to_string()))
}

/// The users of all workers.
struct Crowds {
    message: Arc<Message>,
}

impl Workload for Crowds {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let job = || Job::new(TOOL, &*self.message);
        let launch = launch_of(Arc::clone(&self.message));
        start_counting(plan, interests, launch, job, TallyCodec::of::<Records>())
    }
}

fn launch_of(message: Arc<Message>) -> Launch {
    Launch::scenario(move |_| RepeatScenario::new(Arc::clone(&message)))
}

/// The tool's name in jobs.
pub const TOOL: &str = "ab";

/// Creates the users of a job of ab.
///
/// # Errors
/// If the job has no valid terms.
pub fn launch(job: &Job) -> Result<Launch, String> {
    let message: Message = job.terms().map_err(|error| error.to_string())?;
    Ok(launch_of(Arc::new(message)))
}

fn message(options: &Options, head: String) -> Arc<Message> {
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(options.body.as_deref().unwrap_or_default());
    Arc::new(Message {
        bytes,
        method: options.method.clone(),
        verbosity: options.verbosity,
    })
}

fn greet(options: &Options, console: &mut Console) {
    let banner = match options.html {
        Some(_) => html_banner(),
        None => banner(),
    };
    let has_progress = options.progress_every().is_some();
    let line = benchmarking(
        &options.target.host,
        options.proxy.as_ref(),
        has_progress,
        options.html.as_ref(),
    );
    console.out((banner + &line).as_bytes());
}

/// Returns the message for a run that could not start, in ab's words if it has any.
fn refusal(error: &RunError, options: &Options) -> Output {
    match error {
        RunError::Start(StartError::Resolve(_)) => {
            let proxy = options.proxy.as_ref().map(|(host, _)| host);
            unknown_host(proxy.unwrap_or(&options.target.host))
        }
        RunError::Start(StartError::Tls(error)) if options.certificate.is_some() => {
            let file = options.certificate.as_deref().unwrap_or_default();
            no_certificate(file, &error.to_string())
        }
        RunError::Watch(_)
        | RunError::Goal(_)
        | RunError::Name(_)
        | RunError::Script(_)
        | RunError::Threw(_)
        | RunError::Start(_)
        | RunError::Void(_)
        | RunError::Observer(_) => Output::sentence(&ab_message(&error)),
    }
}

fn ab_message(problem: &impl Display) -> String {
    format!("ab: {problem}")
}

/// Reports the results of a run, while it lasts and at its end.
struct Reporter<'a> {
    options: &'a Options,
    /// The length of each request in bytes.
    request_bytes: usize,
    tally: Tally,
    console: &'a mut Console,
    commands: Commands,
    /// The message in place of the report, if the run was given up.
    given_up: Option<Output>,
    /// The number of requests in the next line of progress; `None` without progress.
    next_progress: Option<u64>,
    began: SystemTime,
}

impl Observer for Reporter<'_> {
    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(records) = tally.get() {
            self.take(records);
        }
        Ok(())
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        let left = end.whole.unfinished.in_flight;
        self.tally.left(left, self.request_bytes);
        Ok(())
    }
}

impl Reporter<'_> {
    /// Returns the output at the end; `lost` is the reason of a lost worker, if one was lost.
    fn conclude(mut self, lost: Option<String>) -> Result<Output, Output> {
        if let Some(output) = self.given_up.take() {
            return Err(output);
        }
        match lost {
            Some(failure) => Ok(self.broken_off(&failure)),
            None if self.commands.is_ending() => Ok(self.interrupted()),
            None => self.finish(),
        }
    }

    /// Adds the records of the workers to the tally, and prints remarks, complaints and progress.
    fn take(&mut self, records: &Records) {
        self.tally.take(records);
        let remarks = std::mem::take(&mut self.tally.remarks);
        if !remarks.is_empty() {
            self.console.out(&remarks);
        }
        let complaints = std::mem::take(&mut self.tally.complaints);
        self.console.err(&complaints);
        self.print_progress();
        if let Some(fatal) = self.tally.fatal.take()
            && self.given_up.is_none()
        {
            self.given_up = Some(self.give_up(fatal));
            self.commands.send(Command::Abort);
        }
    }

    fn print_progress(&mut self) {
        let Some(every) = self.options.progress_every().map(u64::from) else {
            return;
        };
        while let Some(next) = self.next_progress.filter(|next| *next <= self.tally.done()) {
            self.console.err(&format!("Completed {next} requests\n"));
            self.next_progress = Some(next + every);
        }
    }

    /// Returns the output of a run without a report.
    fn give_up(&self, fatal: Fatal) -> Output {
        let total = match self.tally.done() {
            0 => String::new(),
            done => format!("Total of {done} requests completed\n"),
        };
        Output {
            stdout: total,
            stderr: fatal.text,
            code: fatal.code,
        }
    }

    /// Returns the text report of the run so far; even with options for another report.
    fn interrupted(&self) -> Output {
        let elapsed = self.began.elapsed().unwrap_or_default();
        let report = self.report((elapsed.as_micros() as u64).max(self.tally.end_us));
        Output {
            stdout: report.text(),
            code: 1,
            ..Output::default()
        }
    }

    /// Returns the output of a run that lost a worker.
    fn broken_off(&self, failure: &str) -> Output {
        Output {
            stderr: format!("ab: {failure}\n"),
            code: 2,
            ..self.interrupted()
        }
    }

    fn finish(&mut self) -> Result<Output, Output> {
        let done = self.tally.done();
        match self.next_progress {
            Some(_) => self.console.err(&format!("Finished {done} requests\n")),
            None => self.console.out(b"..done\n"),
        }
        let report = self.report(self.tally.end_us);
        if let Some(html) = &self.options.html {
            return Ok(Output {
                stdout: report.html(html),
                ..Output::default()
            });
        }
        let text = report.text();
        self.console.out(text.as_bytes());
        if done > 0 {
            self.write_files()?;
        }
        Ok(Output::default())
    }

    fn report(&self, elapsed_us: u64) -> Report<'_> {
        Report {
            options: self.options,
            tally: &self.tally,
            elapsed_us,
        }
    }

    fn write_files(&self) -> Result<(), Output> {
        let times = &self.tally.times;
        if let Some(path) = &self.options.csv {
            write("CSV", path, &files::csv(times))?;
        }
        if let Some(path) = &self.options.gnuplot {
            write("gnuplot", path, &files::gnuplot(times, self.began))?;
        }
        Ok(())
    }
}

fn write(what: &str, path: &str, text: &str) -> Result<(), Output> {
    std::fs::write(path, text).map_err(|error| {
        let reason = reason(&error);
        Output::sentence(&format!("Cannot open {what} output file: {reason}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// An output that refuses all writes.
    struct Closed(i32);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(self.0))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// An output that keeps all that is written.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the exit code and stderr of `ab -V` if stdout fails with this `errno`.
    fn version_into(number: i32) -> (u8, String) {
        let stderr = Kept::default();
        let host = Host::new(Box::new(Closed(number)), Box::new(stderr.clone()));
        let code = run(&["-V".to_owned()], host);
        let text = stderr.0.lock().unwrap();
        (code, String::from_utf8_lossy(&text).into_owned())
    }

    #[test]
    fn a_report_that_is_lost_is_told_unless_its_reader_has_gone() {
        let (no_space, broken_pipe) = (28, 32);
        let told = "ab: Could not write the report: No space left on device\n";
        assert_eq!(version_into(no_space), (28, told.to_owned()));
        assert_eq!(version_into(broken_pipe), (0, String::new()));
    }
}
