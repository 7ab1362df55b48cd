//! A k6 command, from its words to its exit code.

use super::archive::Archive;
use super::clients::{Order, send_order};
use super::conduct::Conductor;
use super::console::{Console, LogOptions};
use super::new::{NAME, New, TEMPLATE};
use super::origin::Origin;
use super::output::Described;
use super::plan::PlanContext;
use super::progress::Progress;
use super::report::Report;
use super::rest::Server;
use super::running::Running;
use super::session::{ParsedCommand, Session};
use super::test::Test;
use super::{CANNOT_SERVE, FAILED, INVALID_CONFIG, Refused, go_json, version};
use loadline_k6_options::cli::{self, Command, Invocation};
use loadline_k6_options::needs;
use loadline_plan::LateArrivals;
use loadline_runner::Steer;
use loadline_script_js::{Entry, Level, Log};
use loadline_tool_host::processes::parse as parse_processes;
use loadline_tool_host::{Host, PageRequest, ShownPage};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};
use url::Url;

/// The default address of the REST API of a running test.
const ADDRESS: &str = "localhost:6565";

/// The time between two checks for a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

const LINGERS: &str = "\
The test is done, but --linger was enabled, so Loadline is waiting for Ctrl+C to continue...";

const COMMANDS: &str = "\
Runs k6 scripts, unchanged.

Usage:
  loadline k6 COMMAND

Commands:
  run SCRIPT      Run a script
  inspect SCRIPT  Print the options of a script as JSON
  archive SCRIPT  Write a script and its files to an archive
  new [FILE]      Write a new script
  pause, resume   Pause or resume a running test
  scale           Change the number of users of a running test
  status, stats   Print the status or the metrics of a running test
  version         Print the version

`loadline k6 COMMAND --help` lists the flags of a command.
";

/// Runs the command with these words after its name; returns its exit code.
pub fn run(words: &[String], host: Host) -> u8 {
    let Some(session) = Session::of(host) else {
        return FAILED;
    };
    let invocation = match cli::parse(words) {
        Ok(invocation) => invocation,
        Err(error) => return refuse(&session, &error.into()),
    };
    match command(&invocation, &session) {
        Ok(()) => 0,
        Err(refused) => refused.code,
    }
}

/// Logs an error in the words themselves, which occurs before the options of the log are known.
fn refuse(session: &Session, refused: &Refused) -> u8 {
    let options = LogOptions {
        is_terminal: session.terminals.stderr,
        has_colours: !has_no_colours(session, false),
        ..LogOptions::default()
    };
    let screen = Arc::clone(&session.screen);
    if let Ok(console) = Console::new(&options, &session.place.directory, screen) {
        console.log_refusal(refused);
    }
    refused.code
}

fn has_no_colours(session: &Session, is_flag_set: bool) -> bool {
    let variable = session.place.environment.get("NO_COLOR");
    is_flag_set || variable.is_some_and(|value| !value.is_empty())
}

/// Runs the command; errors are logged.
fn command(invocation: &Invocation, session: &Session) -> Result<(), Refused> {
    let environment = &session.place.environment;
    if invocation.flags.contains_key("help") || invocation.command == Command::Help {
        session.screen.print(&help(invocation));
        return ensure_printed(session).inspect_err(|refused| _ = refuse(session, refused));
    }
    let no_colours = has_no_colours(session, invocation.is_on("no-color", environment));
    let options = LogOptions {
        output: invocation.flag("log-output", environment),
        format: invocation.flag("log-format", environment),
        has_colours: !no_colours,
        is_terminal: session.terminals.stderr,
        is_verbose: invocation.is_on("verbose", environment),
    };
    let screen = Arc::clone(&session.screen);
    let console = Console::new(&options, &session.place.directory, screen)
        .inspect_err(|refused| _ = refuse(session, refused))?;
    let console = Arc::new(console);
    for warning in &invocation.warnings {
        session.screen.print(&format!("{warning}\n"));
    }
    let command = ParsedCommand {
        invocation,
        session,
        console: &console,
        has_colours: !no_colours,
    };
    let answered = command.answer().and_then(|()| ensure_printed(session));
    answered.inspect_err(|refused| console.log_refusal(refused))
}

/// Refuses the result of a command if standard output could not be written.
fn ensure_printed(session: &Session) -> Result<(), Refused> {
    session.screen.broken().map_or(Ok(()), |problem| {
        let text = format!("standard output could not be written: {problem}");
        Err(Refused::new(FAILED, text))
    })
}

impl ParsedCommand<'_> {
    fn answer(&self) -> Result<(), Refused> {
        match &self.invocation.command {
            Command::Run => self.run(),
            Command::Inspect => self.inspect(),
            Command::Archive => self.archive(),
            Command::New => self.new_script(),
            Command::Version => self.print(&match self.is_on("json") {
                true => version::json(),
                false => version::line(),
            }),
            Command::Pause => self.send_order(Order::Pause),
            Command::Resume => self.send_order(Order::Resume),
            Command::Status => self.send_order(Order::Status),
            Command::Stats => self.send_order(Order::Stats),
            Command::Scale => self.scale(),
            Command::Help => self.print(&help(self.invocation)),
            Command::Absent(name) => Err(Refused::new(
                FAILED,
                format!("Loadline has no `{name}`; its commands are listed by `loadline k6 help`"),
            )),
        }
    }

    fn load(&self) -> Result<Test, Refused> {
        self.invocation.check_switches(self.environment())?;
        if let Some(mode) = self.flag("compatibility-mode")
            && !matches!(mode.as_str(), "extended" | "base" | "experimental_enhanced")
        {
            let text = format!(
                "invalid compatibility mode \"{mode}\". Use: \"extended\", \"base\", \
                 \"experimental_enhanced\""
            );
            return Err(Refused::new(FAILED, text));
        }
        let argument = self.invocation.arguments.first();
        let argument = argument.map(String::as_str).unwrap_or_default();
        let kind = self.flag("type");
        let place = &self.session.place;
        let commands = &self.session.commands;
        let origin = Origin::find(argument, kind.as_deref(), place, commands)?;
        Test::load(self.invocation, origin, place, self.console)
    }

    /// Refuses traces of requests, which Loadline does not write.
    fn refuse_traces(&self) -> Result<(), Refused> {
        let refuse = |text: String| Err(Refused::new(FAILED, text));
        match self.flag("traces-output").as_deref() {
            None | Some("none") => Ok(()),
            Some(output) if output.starts_with("otel") => refuse(
                "Loadline writes no traces yet; leave out --traces-output, or use --out json=FILE"
                    .to_owned(),
            ),
            Some(output) => refuse(format!("invalid traces output {output:?}")),
        }
    }

    fn run(&self) -> Result<(), Refused> {
        self.refuse_traces()?;
        let mut report = Report::of(self)?;
        let test = self.load()?;
        let settings = test.settings();
        if let Some(path) = &settings.console_output {
            let path = self.session.place.directory.join(path);
            self.console.send_scripts_to(&path)?;
        }
        let has_thresholds = !self.is_on("no-thresholds");
        let by_group = report.distinguishes_groups();
        let measures = test.measures(has_thresholds, report.keeps_samples(), by_group)?;
        for sentence in measures.unindexed() {
            self.console.log_plain(Level::Warning, &sentence);
        }
        let described = Described {
            recording: &measures.recording,
            thresholds: &measures.thresholds,
            system_tags: &settings.system_tags,
        };
        report.begin(described, &test, self.environment(), self.console)?;
        let script = test.main.to_file_path().unwrap_or_default();
        let directory = &self.session.place.directory;
        let proxies = self.session.place.proxies()?;
        let context = PlanContext {
            // Reports name the script relative to the working directory.
            script: script.strip_prefix(directory).unwrap_or(&script),
            settings,
            cores: self.session.cores,
            processes: self.processes()?,
            seed: self.session.seed,
            late: match self.flag("late-iterations").as_deref() {
                Some("wait") => LateArrivals::Wait,
                _ => LateArrivals::Drop,
            },
            speaks_http2: !refuses_http2(self.environment()),
            proxies: proxies.as_ref(),
        };
        let mut progress = Progress::new(self, &test, &report);
        let interrupt = &self.session.interrupt;
        let mut conductor = Conductor::new(&test, &measures, context, interrupt)?;
        let page = self.page(&report, &conductor.running)?;
        progress.header(page.as_ref().map(|page| page.url.as_str()));
        let _server = self.serve(&conductor.running)?;
        conductor.observers = report.observers();
        if let Some(page) = page {
            conductor.observers.push(page.observer);
            // It is set once. The report has the results to the end of the test.
            let _ = conductor.running.shows.set(Arc::downgrade(&page.results));
            report.show_on(page.results);
        }
        let ran = conductor.run(&mut progress)?;
        if self.is_on("linger") {
            self.linger();
        }
        report.conclude(self, &test, &ran);
        progress.end();
        match ran.refused {
            None => Ok(()),
            Some(refused) => Err(refused),
        }
    }

    /// Returns the number of processes: that of the flag, or that before the words of k6.
    fn processes(&self) -> Result<u32, Refused> {
        let Some(number) = self.flag("processes") else {
            return Ok(self.session.processes);
        };
        parse_processes(&number).map_err(|sentence| Refused::new(INVALID_CONFIG, sentence))
    }

    /// Opens the live page of a test, if one is requested.
    fn page(&self, report: &Report, running: &Arc<Running>) -> Result<Option<ShownPage>, Refused> {
        let opened = (self.session.pages)(PageRequest {
            steer: Arc::clone(running) as Arc<dyn Steer>,
            own: report.dashboard(),
            events: report.events(),
        });
        opened.map_err(|sentence| Refused::new(FAILED, sentence))
    }

    /// Serves the REST API if `--address` is given.
    fn serve(&self, running: &Arc<Running>) -> Result<Option<Server>, Refused> {
        let address = self.flag("address").unwrap_or_default();
        if address.is_empty() {
            return Ok(None);
        }
        let served = Server::start(&address, running.clone());
        served.map(Some).map_err(|error| {
            self.console.log(&Entry {
                level: Level::Error,
                message: "Error from API server",
                fields: &[("error", &error.to_string())],
            });
            Refused::new(CANNOT_SERVE, "")
        })
    }

    /// Waits for a signal, while the REST API still responds.
    fn linger(&self) {
        let interrupt = &self.session.interrupt;
        if !interrupt.has_signal() && !self.is_on("quiet") {
            self.session.screen.print(LINGERS);
        }
        while !interrupt.has_signal() {
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn inspect(&self) -> Result<(), Refused> {
        let test = self.load()?;
        let has_requirements = self.is_on("execution-requirements");
        let mut fields = test.options.inspected(has_requirements);
        let execution = needs(&test.options.scenarios);
        if has_requirements {
            self.check_thresholds(&test)?;
            let length = loadline_k6_options::GoDuration::of(execution.length);
            fields.push(("totalDuration", json!(length.to_string())));
            fields.push(("maxVUs", json!(execution.max_vus)));
        }
        self.print(&printed(&fields))
    }

    /// Refuses thresholds that a run would refuse.
    fn check_thresholds(&self, test: &Test) -> Result<(), Refused> {
        let has_thresholds = !self.is_on("no-thresholds");
        test.measures(has_thresholds, false, false).map(drop)
    }

    fn archive(&self) -> Result<(), Refused> {
        let test = self.load()?;
        self.check_thresholds(&test)?;
        let directory = Url::from_directory_path(&self.session.place.directory);
        let has_env = !self.is_on("exclude-env-vars");
        let archive = Archive {
            options_json: Value::Object(
                test.options
                    .printed()
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>(),
            )
            .to_string(),
            script: test.main.clone(),
            directory: directory.unwrap_or_else(|()| test.main.clone()),
            env: has_env.then(|| test.env.clone()),
            compatibility_mode: self
                .flag("compatibility-mode")
                .unwrap_or_else(|| "extended".to_owned()),
            files: test.program.files(),
        };
        let name = self.flag("archive-out");
        let name = name.unwrap_or_else(|| "archive.tar".to_owned());
        let path = self.session.place.directory.join(name);
        let saved = archive.save(&path, SystemTime::now());
        saved.map_err(|error| Refused::new(FAILED, error))
    }

    fn new_script(&self) -> Result<(), Refused> {
        let file = self.invocation.arguments.first().cloned();
        let new = New {
            file: file.unwrap_or_else(|| NAME.to_owned()),
            is_forced: self.is_on("force"),
            template: self.flag("template").unwrap_or_else(|| TEMPLATE.to_owned()),
            project_id: self.flag("project-id").unwrap_or_default(),
            directory: self.session.place.directory.clone(),
        };
        let line = new.create().map_err(|error| Refused::new(FAILED, error))?;
        self.print(&line)
    }

    fn scale(&self) -> Result<(), Refused> {
        let number = |name: &str| self.flag(name).and_then(|text| text.parse().ok());
        self.send_order(Order::Scale {
            vus: number("vus"),
            vus_max: number("max"),
        })
    }

    /// Sends an order to the test that runs at `--address`.
    fn send_order(&self, order: Order) -> Result<(), Refused> {
        let address = self.flag("address").unwrap_or_else(|| ADDRESS.to_owned());
        let answer = send_order(&address, order, &self.session.commands);
        let yaml = answer.map_err(|error| Refused::new(FAILED, error))?;
        self.print(&yaml)
    }
}

/// True if `GODEBUG` disables HTTP/2, which is the way to force HTTP/1.1 in k6.
fn refuses_http2(environment: &BTreeMap<String, String>) -> bool {
    let settings = environment.get("GODEBUG").map_or("", String::as_str);
    settings
        .split(',')
        .any(|setting| setting == "http2client=0")
}

/// Returns the help of the command, or the list of all commands.
fn help(invocation: &Invocation) -> String {
    let name = match &invocation.command {
        Command::Run => "run",
        Command::Inspect => "inspect",
        Command::Archive => "archive",
        Command::New => "new",
        Command::Version => "version",
        Command::Pause => "pause",
        Command::Resume => "resume",
        Command::Status => "status",
        Command::Stats => "stats",
        Command::Scale => "scale",
        Command::Help | Command::Absent(_) => return COMMANDS.to_owned(),
    };
    cli::help(name)
}

/// Formats options as `inspect` does.
fn printed(fields: &[(&'static str, Value)]) -> String {
    let lines = fields.iter().map(|(name, value)| {
        let json = go_json::compact(value);
        format!("\"{name}\":{json}")
    });
    let object = format!("{{{}}}", lines.collect::<Vec<_>>().join(","));
    go_json::indented(&object)
}
