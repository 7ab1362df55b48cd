//! An oha command, from its words to its exit code.

use super::arguments::{Arguments, Format};
use super::behaviour::OhaScenario;
use super::database::{StoredRun, store};
use super::debug;
use super::message::Message;
use super::options::Options;
use super::outcome::Output;
use super::plan::plan;
use super::report::{Measured, csv, json, text};
use super::spool::{Row, Spool};
use super::tally::{Results, Tally};
use clap::CommandFactory;
use loadline_engine::{AnyTally, Launch, StartError, TallyCodec};
use loadline_plan::Plan;
use loadline_record::Summary;
use loadline_runner::{
    Interests, Job, Observed, Observer, RunError, Setup, Source, Watch, Workload, refusal_of_joins,
    start_counting,
};
use loadline_tool_host::Host;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The time between two checks whether the user ends a wait.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The exit code of a command that SIGTERM ended.
const TERMINATED: u8 = 128 + 15;

/// Runs the command with these words after its name; returns its exit code.
pub fn run(words: &[String], mut host: Host) -> u8 {
    let output = command(words, &mut host).unwrap_or_else(|output| output);
    let printed = host.stdout.write_all(output.stdout.as_bytes());
    let printed = printed.and_then(|()| host.stdout.flush());
    // If stderr is closed, there is no other output for problems.
    let _ = host.stderr.write_all(output.stderr.as_bytes());
    match printed {
        Ok(()) if output.code == 0 && host.signals.is_terminated() => TERMINATED,
        Ok(()) => output.code,
        Err(error) => {
            let _ = writeln!(host.stderr, "Error: {error}");
            output.code.max(1)
        }
    }
}

/// Returns one request that the command with these words after its name sends over HTTP/1, head and
/// body; empty with HTTP/2. Files named by the words are read, and nothing is sent.
///
/// # Errors
/// The exit code of a command that sends nothing.
pub fn request(words: &[String], seed: u64) -> Result<Vec<u8>, u8> {
    let code = |output: Output| output.code;
    let arguments = Arguments::read(words).map_err(|error| code(error.into()))?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let options = Options::of(arguments, &mut random).map_err(code)?;
    let (url, _) = options.urls.draw(&mut random).map_err(|_| 1)?;
    let message = Message::new(&options, &url, options.bodies.get(0), false).map_err(|_| 1)?;
    Ok([&message.bytes[..], &message.body].concat())
}

fn command(words: &[String], host: &mut Host) -> Result<Output, Output> {
    let arguments = Arguments::read(words)?;
    if let Some(shell) = arguments.completions {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "oha", &mut script);
        return Ok(Output::text(String::from_utf8_lossy(&script).into_owned()));
    }
    let mut random = ChaCha8Rng::seed_from_u64(host.seed);
    let mut options = Options::of(arguments, &mut random)?;
    if let Some(count) = options.arguments.dump_urls {
        return dump(&options, count, &mut random, host);
    }
    let (sample, _) = options.urls.draw(&mut random).map_err(Output::error)?;
    let sample = sample.into_owned();
    let is_debug = options.arguments.debug;
    if is_debug {
        options.be_one_request();
    }
    if host.processes > 1 && is_read_once(words) {
        return Err(Output::refusal(READ_ONCE));
    }
    let plan = match options.sends_nothing() {
        true => None,
        false => {
            let (cores, processes) = (host.cores, host.processes);
            let plan = plan(&options, &sample, cores, processes)?;
            if let Some(sentence) = refusal_of_joins(&plan, "give a duration (-z)") {
                return Err(Output::refusal(sentence));
            }
            Some(plan)
        }
    };
    let mut destination = Destination::of(&options)?;
    if let Some(plan) = plan.as_ref().filter(|_| is_debug) {
        let exchange = debug::exchange(&options, &sample, plan, &host.commands)?;
        let mut output = destination.print(exchange.text.as_bytes())?;
        if let Some(problem) = exchange.problem {
            output.stderr = format!("Error: {problem}\n");
            output.code = 1;
        }
        return Ok(output);
    }
    let options = Arc::new(options);
    let conductor = Conductor {
        words,
        options,
        host,
    };
    conductor.conduct(plan, &mut destination)
}

/// What is said of words that name the standard input.
const READ_ONCE: &str = "each of several processes reads the files of the command, and the \
                         standard input can be read once; give a file, or leave out --processes.";

/// True if the words name a file that can be read only once.
fn is_read_once(words: &[String]) -> bool {
    let streams = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];
    words
        .iter()
        .any(|word| streams.iter().any(|stream| word.contains(stream)))
}

/// Prints random URLs, drawn as for requests.
fn dump(
    options: &Options,
    count: usize,
    random: &mut ChaCha8Rng,
    host: &mut Host,
) -> Result<Output, Output> {
    let mut out = io::BufWriter::new(&mut host.stdout);
    for _ in 0..count {
        if host.commands.is_ending() {
            break;
        }
        let (url, _) = options.urls.draw(random).map_err(Output::error)?;
        writeln!(out, "{url}").map_err(Output::error)?;
    }
    out.flush().map_err(Output::error)?;
    Ok(Output::default())
}

/// The destination of the report.
enum Destination {
    Stdout,
    File(File),
}

impl Destination {
    /// Creates the output file before the run, so that a file that can't be written is reported at
    /// once.
    fn of(options: &Options) -> Result<Self, Output> {
        let Some(path) = &options.arguments.output else {
            return Ok(Destination::Stdout);
        };
        let file = File::create(path).map_err(|error| {
            Output::error(format!("{} can't be written: {error}", path.display()))
        })?;
        Ok(Destination::File(file))
    }

    fn print(&mut self, text: &[u8]) -> Result<Output, Output> {
        match self {
            Destination::Stdout => Ok(Output::text(String::from_utf8_lossy(text).into_owned())),
            Destination::File(file) => {
                file.write_all(text).map_err(Output::error)?;
                Ok(Output::default())
            }
        }
    }
}

/// Runs a plan and reports it.
struct Conductor<'a> {
    words: &'a [String],
    options: Arc<Options>,
    host: &'a mut Host,
}

impl Conductor<'_> {
    /// Runs the plan, or sends nothing without one; then prints the report and stores the
    /// successes.
    fn conduct(
        mut self,
        plan: Option<Plan>,
        destination: &mut Destination,
    ) -> Result<Output, Output> {
        let mut spool = self
            .lists()
            .then(Spool::new)
            .transpose()
            .map_err(Output::error)?;
        let began = SystemTime::now();
        let ran = match plan {
            None => {
                let duration = self.options.arguments.duration.unwrap_or_default();
                self.wait(self.options.wait().min(duration));
                self.nothing(began)
            }
            Some(plan) => self.run(&plan, spool.as_mut())?,
        };
        let mut output = self.report(&ran, spool.as_mut(), destination)?;
        if let Some(spool) = &mut spool {
            self.store(began, spool, &mut output);
        }
        if let Some(failure) = ran.failure {
            output.stderr += &format!("oha: {failure}\n");
            output.code = 2;
        }
        Ok(output)
    }

    /// Returns the result of a run that sent nothing.
    fn nothing(&self, began: SystemTime) -> RunOutcome {
        RunOutcome {
            measured: Measured {
                tally: Tally::new(self.options.arguments.stats_success_breakdown),
                aborted: 0,
                total: began.elapsed().unwrap_or_default().as_secs_f64().max(1e-9),
                unit: self.options.arguments.time_unit,
            },
            failure: None,
        }
    }

    /// Adds the successes to the database of `--db-url`, if it is given.
    fn store(&self, began: SystemTime, spool: &mut Spool, output: &mut Output) {
        let Some(path) = &self.options.arguments.db_url else {
            return;
        };
        output.stderr += &format!("Storing results to {}\n", path.display());
        let run = StoredRun {
            began,
            is_corrected: self.options.is_corrected(),
        };
        if let Err(error) = store(path, run, spool) {
            output.stderr += &format!("Error: {error}\n");
            output.code = 1;
        }
    }

    /// True if each success is listed in an output.
    fn lists(&self) -> bool {
        let arguments = &self.options.arguments;
        arguments.output_format == Format::Csv || arguments.db_url.is_some()
    }

    fn run(&mut self, plan: &Plan, spool: Option<&mut Spool>) -> Result<RunOutcome, Output> {
        let users = Users {
            options: Arc::clone(&self.options),
            terms: Terms {
                words: self.words.to_vec(),
                seed: self.host.seed,
                lists: spool.is_some(),
            },
        };
        let mut listener = Listener {
            spool,
            tally: Tally::new(self.options.arguments.stats_success_breakdown),
            problem: None,
        };
        let view = self
            .is_shown()
            .then(|| (self.host.view)(self.options.arguments.fps));
        let mut view = view.flatten();
        let mut page = self.host.page().map_err(Output::refusal)?;
        let waited = self.wait(self.options.wait());
        let watch = Watch::of_target();
        let setup = Setup {
            watch: Some(&watch).filter(|_| view.is_some() || page.is_some()),
            ..Setup::of(plan)
        };
        let mut observers: Vec<&mut dyn Observer> = vec![&mut listener];
        for shown in view.iter_mut().chain(&mut page) {
            observers.push(shown.as_mut());
        }
        let commands = &self.host.commands;
        let conducted =
            loadline_runner::conduct(&setup, &users, commands, &mut observers).map_err(refusal)?;
        let unspooled = listener.problem.take();
        let cut_short = self.host.commands.is_ending().then_some(waited);
        Ok(RunOutcome {
            measured: self.measured(&conducted.result.summary, listener.tally, cut_short),
            failure: conducted
                .trouble
                .map(|trouble| trouble.to_string())
                .or(unspooled),
        })
    }

    /// Waits for a time, or until the user ends the run; returns the time waited. The first burst
    /// comes after one burst interval, as in oha.
    fn wait(&self, time: Duration) -> Duration {
        let begun = Instant::now();
        while !self.host.commands.is_ending() && begun.elapsed() < time {
            thread::sleep(time.saturating_sub(begun.elapsed()).min(POLL_INTERVAL));
        }
        begun.elapsed().min(time)
    }

    fn is_shown(&self) -> bool {
        self.host.draws() && !self.options.arguments.no_tui
    }

    /// Returns the figures of a run. `cut_short` is the wait before the first burst, if the user
    /// ended the run.
    fn measured(&self, summary: &Summary, tally: Tally, cut_short: Option<Duration>) -> Measured {
        let end_ns = match (cut_short, self.options.arguments.duration) {
            (Some(waited), _) => waited.as_nanos() as u64 + summary.counted_ns(),
            (None, Some(duration)) => tally.end_ns.max(duration.as_nanos() as u64),
            (None, None) => tally.end_ns,
        };
        Measured {
            aborted: summary.unfinished.in_flight,
            total: end_ns as f64 / 1e9,
            unit: self.options.arguments.time_unit,
            tally,
        }
    }

    fn report(
        &mut self,
        ran: &RunOutcome,
        spool: Option<&mut Spool>,
        destination: &mut Destination,
    ) -> Result<Output, Output> {
        let measured = &ran.measured;
        let arguments = &self.options.arguments;
        let is_stdout = matches!(destination, Destination::Stdout);
        let has_colours = self.host.draws() && !self.host.refuses_colours();
        let colours = has_colours && !arguments.no_color && is_stdout;
        match (arguments.output_format, spool) {
            (Format::Text, _) => destination.print(text(measured, colours).as_bytes()),
            (Format::Json, _) => destination.print(json(measured).as_bytes()),
            (Format::Csv, Some(spool)) => {
                let output: &mut dyn Write = match destination {
                    Destination::Stdout => &mut *self.host.stdout,
                    Destination::File(file) => file,
                };
                csv(spool, output).map_err(Output::error)?;
                Ok(Output::default())
            }
            (Format::Csv | Format::Quiet, _) => Ok(Output::default()),
        }
    }
}

/// Returns the output for a run that could not start. It is a refusal where oha panics.
fn refusal(error: RunError) -> Output {
    match error {
        RunError::Start(StartError::Tls(_)) => Output::refusal(error),
        RunError::Watch(_)
        | RunError::Goal(_)
        | RunError::Name(_)
        | RunError::Script(_)
        | RunError::Threw(_)
        | RunError::Start(_)
        | RunError::Void(_)
        | RunError::Observer(_) => Output::error(error),
    }
}

/// The result of a run.
#[derive(Debug)]
struct RunOutcome {
    measured: Measured,
    /// The reason why the measurement is incomplete, if it is.
    failure: Option<String>,
}

/// The users of all workers.
struct Users {
    options: Arc<Options>,
    terms: Terms,
}

/// The data from which the users of a command are created.
#[derive(Debug, Serialize, Deserialize)]
struct Terms {
    /// The words after the command's name.
    words: Vec<String>,
    seed: u64,
    /// True if each success is listed.
    lists: bool,
}

impl Workload for Users {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let job = || Job::new(TOOL, &self.terms);
        let launch = self.terms.launch(Arc::clone(&self.options));
        start_counting(plan, interests, launch, job, TallyCodec::of::<Results>())
    }
}

impl Terms {
    fn launch(&self, options: Arc<Options>) -> Launch {
        let (lists, seed) = (self.lists, self.seed);
        Launch::scenario(move |worker| OhaScenario::new(Arc::clone(&options), lists, seed, worker))
    }
}

/// The tool's name in jobs.
pub const TOOL: &str = "oha";

/// Creates the users of a job of oha: reads the words again, and the files that they name.
///
/// # Errors
/// If one of them can't be read any more.
pub fn launch(job: &Job) -> Result<Launch, String> {
    let terms: Terms = job.terms().map_err(|error| error.to_string())?;
    let text = |output: Output| output.stderr.trim_end().to_owned();
    let arguments = Arguments::read(&terms.words).map_err(|error| error.to_string())?;
    let mut random = ChaCha8Rng::seed_from_u64(terms.seed);
    let options = Options::of(arguments, &mut random).map_err(text)?;
    Ok(terms.launch(Arc::new(options)))
}

/// Adds up the counts of the workers.
struct Listener<'a> {
    spool: Option<&'a mut Spool>,
    tally: Tally,
    /// The reason why not all successes could be stored for the list, if so.
    problem: Option<String>,
}

impl Observer for Listener<'_> {
    fn tally(&mut self, tally: &AnyTally) -> Observed {
        if let Some(results) = tally.get::<Results>() {
            self.tally.merge(&results.tally);
            results.rows.iter().for_each(|row| self.list(row));
        }
        Ok(())
    }
}

impl Listener<'_> {
    /// Stores a row, until the first error.
    fn list(&mut self, row: &Row) {
        let is_whole = self.problem.is_none();
        let Some(spool) = self.spool.as_mut().filter(|_| is_whole) else {
            return;
        };
        if let Err(error) = spool.add(row.clone()) {
            self.problem = Some(format!(
                "not all successes are listed: the temporary file can't be written: {error}"
            ));
        }
    }
}
