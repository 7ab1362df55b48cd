//! A script that has run: its log, its counts, its end.

use loadline_engine::{Detail, Event, Run};
use loadline_k6_metrics::{RecorderSetup, Totals};
use loadline_plan::{Load, Plan, Script, Shape};
use loadline_script_js::{
    Abort, Entry, Failure, LoadSetup, Log, Measured, Program, RunState, Scenario, Sources, Stage,
    StageKind, UserOptions, VuMode, launch,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::Url;

thread_local! {
    /// The mode of the users in the runs of this thread.
    static VU_MODE: Cell<VuMode> = const { Cell::new(VuMode::Isolated) };
    /// The memory limit of their runtimes in bytes.
    static MEMORY: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Calls `run` with this memory limit for runtimes.
pub(crate) fn with_memory<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
    MEMORY.set(Some(bytes));
    let result = run();
    MEMORY.set(None);
    result
}

/// Runs a test in both modes: with a runtime for each user, and with a shared one.
#[expect(clippy::print_stderr, reason = "a test that fails says in which mode")]
pub(crate) fn in_both_modes(test: impl Fn()) {
    for mode in [VuMode::Isolated, VuMode::Shared] {
        eprintln!("users are {mode:?}");
        VU_MODE.set(mode);
        test();
    }
    VU_MODE.set(VuMode::Isolated);
}

/// Calls `run` with users that share a runtime.
pub(crate) fn shared<T>(run: impl FnOnce() -> T) -> T {
    VU_MODE.set(VuMode::Shared);
    let result = run();
    VU_MODE.set(VuMode::Isolated);
    result
}

/// Files of a script, by their paths.
#[derive(Clone, Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, String>);

impl Sources for Files {
    fn read(&self, url: &Url) -> Result<Vec<u8>, String> {
        let file = self.0.get(url.path());
        let file = file.ok_or_else(|| format!("stat {}: no such file or directory", url.path()));
        file.map(|text| text.clone().into_bytes())
    }
}

/// Keeps the messages that are logged; panics on the message `panic!`.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Log for Lines {
    fn log(&self, entry: &Entry<'_>) {
        assert!(entry.message != "panic!", "a log that panics");
        let line = format!("{:?} {}", entry.level, entry.message);
        self.0.lock().expect("nobody panicked").push(line);
    }
}

impl Lines {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().expect("nobody panicked").clone()
    }
}

/// The interval at which the test checks if the script has requested the end of its run.
const TICK: Duration = Duration::from_millis(10);

/// A run that has ended.
pub(crate) struct Ran {
    pub(crate) log: Vec<String>,
    pub(crate) complete: u64,
    pub(crate) interrupted: u64,
    pub(crate) totals: Totals,
    pub(crate) failure: Option<Failure>,
    pub(crate) aborted: Option<Abort>,
    pub(crate) state: Arc<RunState>,
}

/// Loads a script whose main module is `/s/main.js`.
pub(crate) fn load(files: &[(&str, &str)]) -> (Result<Arc<Program>, Failure>, Lines) {
    let log = Lines::default();
    let named = files.iter();
    let files = named.map(|(name, text)| (format!("/s/{name}"), (*text).to_owned()));
    let main = files.clone().next().expect("a main module").0;
    let loaded = Program::load(LoadSetup {
        main: Url::parse(&format!("file://{main}")).expect("a URL"),
        sources: Box::new(Files(files.collect())),
        env: BTreeMap::from([("NAME".to_owned(), "value".to_owned())]),
        log: Arc::new(log.clone()),
        registry: Arc::default(),
        secrets: None,
    });
    (loaded, log)
}

/// The amount of users and iterations to run.
#[derive(Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) users: u32,
    pub(crate) iterations: u64,
    pub(crate) within: Duration,
}

impl Amount {
    pub(crate) const ONCE: Amount = Amount {
        users: 1,
        iterations: 1,
        within: Duration::from_secs(60),
    };
}

fn plan(amount: Amount) -> Plan {
    let mut plan = Plan {
        requests: Vec::new(),
        script: Some(Script {
            path: "main.js".into(),
            args: Vec::new(),
            names_urls: true,
            crc32: None,
        }),
        load: Load {
            users: amount.users,
            max_users: amount.users,
            shape: Shape::Closed,
        },
        threads: 1,
        duration: Some(amount.within),
        request_limit: Some(amount.iterations),
        ..Plan::default()
    };
    plan.connection.ahead = false;
    plan
}

/// Runs the default function of a script.
pub(crate) fn run(text: &str, amount: Amount) -> Ran {
    let (program, log) = load(&[("main.js", text)]);
    run_program(&program.expect("a script that loads"), &log, amount)
}

pub(crate) fn run_program(program: &Arc<Program>, log: &Lines, amount: Amount) -> Ran {
    let stage = Stage::new(
        "default",
        StageKind::Scenario(Scenario::new("default", "shared-iterations")),
    );
    run_stage(program, log, amount, stage, None)
}

pub(crate) fn run_stage(
    program: &Arc<Program>,
    log: &Lines,
    amount: Amount,
    stage: Stage,
    setup_data: Option<&str>,
) -> Ran {
    run_shared_stage(program, log, amount, &Arc::new(stage), setup_data)
}

/// Runs a stage to which the test keeps access.
pub(crate) fn run_shared_stage(
    program: &Arc<Program>,
    log: &Lines,
    amount: Amount,
    stage: &Arc<Stage>,
    setup_data: Option<&str>,
) -> Ran {
    let (abort, aborted) = channel();
    let recording = RecorderSetup {
        // The samples would be kept until the run has ended.
        keeps_samples: amount.iterations <= 1_000,
        ..RecorderSetup::default()
    };
    let options = UserOptions {
        vu_mode: VU_MODE.get(),
        memory_limit_bytes: MEMORY.get(),
        ..UserOptions::default()
    };
    let state = Arc::new(RunState::new(
        options,
        Arc::new(recording),
        Box::new(move |asked| drop(abort.send(asked))),
    ));
    if let Some(json) = setup_data {
        state.setup_data.set(Some(json.to_owned()));
    }
    let launch = launch(program, stage, &state, amount.users, 1);
    let mut run = Run::launch(plan(amount), Detail::default(), &[launch]).expect("a run");
    let mut asked = None;
    let mut totals = Totals::new(Arc::clone(&state.recording));
    loop {
        match run.next_event(TICK) {
            Some(Event::Ended { .. }) => break,
            Some(Event::Tally(tally)) => {
                let measured: &Measured = tally.get().expect("what users measured");
                totals.add(&measured.portion);
            }
            _ => {}
        }
        asked = asked.or_else(|| aborted.try_iter().next());
        if asked.is_some() {
            run.handle().abort();
        }
    }
    // Nothing more can come when its threads have ended.
    run.next_event(Duration::from_secs(60));
    Ran {
        log: log.all(),
        complete: state.execution.iterations_complete.load(Ordering::Relaxed),
        interrupted: state
            .execution
            .iterations_interrupted
            .load(Ordering::Relaxed),
        totals,
        failure: state.failure(),
        aborted: asked.or_else(|| aborted.try_iter().next()),
        state,
    }
}
