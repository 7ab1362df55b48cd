//! The users of a load in other processes (`--processes`): all that they need of a loaded test.
//!
//! A process loads the script from the files that the test has read, as from an archive. `setup()`,
//! `teardown()` and `handleSummary()` run in the test's own process.

use super::secret_sources::SecretSources;
use super::test::{Measures, Test};
use base64::prelude::{BASE64_STANDARD, Engine};
use loadline_engine::Launch;
use loadline_k6_metrics::{RecorderSetup, Registry, SubmetricSet};
use loadline_runner::Job;
use loadline_script_js::{
    LoadSetup, Outbox, Part, Program, RunState, Scenario, Secrets, Sources, Stage, StageKind,
    TestCounts, UserOptions, launch,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The tool's name in jobs.
pub const TOOL: &str = "k6";

/// The users of a test in another process.
#[derive(Serialize, Deserialize)]
struct Terms {
    main: Url,
    /// The modules and opened files, in Base64.
    files: BTreeMap<Url, String>,
    env: BTreeMap<String, String>,
    secrets: SecretSources,
    options: UserOptions,
    recording: Recording,
    stages: Vec<StageTerms>,
    /// The data of `setup()`.
    setup_data: Option<String>,
    /// The duration of the test before its load.
    elapsed: Duration,
    /// The number of users that are ready when the load begins, and of workers.
    ready: u32,
    workers: u32,
    /// The place of the counts that the processes share, if they run on one machine.
    counts: Option<PathBuf>,
}

/// The users of a test in other processes, from the test's own process.
pub(super) struct Elsewhere {
    pub(super) job: Job,
    /// The counts that the processes open, if they share memory, for as long as the load lasts.
    _counts: Option<TestCounts>,
}

/// The recording of the users.
#[derive(Serialize, Deserialize)]
struct Recording {
    /// The metrics and submetrics that have thresholds.
    thresholds: Vec<String>,
    keeps_samples: bool,
    by_group_and_scenario: bool,
}

/// A scenario.
#[derive(Serialize, Deserialize)]
struct StageTerms {
    function: String,
    name: String,
    executor: String,
    env: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
    length: (Option<Duration>, Option<u64>),
    has_arrivals: bool,
    most_users: u32,
}

/// Creates the job of the users of a test, whose setup is over, on so many workers. The processes
/// number users and iterations together if they share memory: if they are on this machine.
///
/// # Errors
/// If it can't be encoded, or there is no memory for counts that the processes share.
pub(super) fn job(
    test: &Test,
    measures: &Measures,
    state: &RunState,
    stages: &[Arc<Stage>],
    (ready, workers): (u32, u32),
    share_memory: bool,
) -> io::Result<Elsewhere> {
    let create = || TestCounts::create(stages.len());
    let counts = share_memory.then(create).transpose()?;
    let files = test.program.files().into_iter();
    let recording = &measures.recording;
    let terms = Terms {
        main: test.main.clone(),
        files: files
            .map(|(url, bytes)| (url, BASE64_STANDARD.encode(bytes)))
            .collect(),
        env: test.env.clone(),
        secrets: (*test.secrets).clone(),
        options: state.options.clone(),
        recording: Recording {
            thresholds: measures.thresholds.metrics().map(str::to_owned).collect(),
            keeps_samples: recording.keeps_samples,
            by_group_and_scenario: recording.by_group_and_scenario,
        },
        stages: stages
            .iter()
            .filter_map(|stage| StageTerms::of(stage))
            .collect(),
        setup_data: state.setup_data.json().map(|json| json.to_string()),
        elapsed: state.execution.elapsed(),
        ready,
        workers,
        counts: counts.as_ref().map(TestCounts::place),
    };
    Ok(Elsewhere {
        job: Job::new(TOOL, &terms)?,
        _counts: counts,
    })
}

/// Creates the users of a job, in the process that has these workers: a launch for each scenario.
///
/// # Errors
/// If the job has no valid terms, or its script can't be loaded here.
pub fn launches(job: &Job, workers: Range<u32>) -> Result<Vec<Launch>, String> {
    let terms: Terms = job.terms().map_err(|error| error.to_string())?;
    let secrets: Arc<dyn Secrets + Send + Sync> = Arc::new(terms.secrets);
    let outbox = Arc::new(Outbox::new(Arc::clone(&secrets)));
    let program = Program::load(LoadSetup {
        main: terms.main,
        sources: Box::new(Files::decode(&terms.files)?),
        env: terms.env,
        log: outbox.clone(),
        registry: Arc::new(Registry::new()),
        secrets: Some(secrets),
    });
    let program = program.map_err(|failure| failure.to_string())?;
    outbox.clear();
    let stages: Vec<Arc<Stage>> = terms.stages.into_iter().map(StageTerms::stage).collect();
    let recording = Arc::new(terms.recording.setup(program.registry())?);
    let mut part = Part::new(workers, terms.workers, stages.clone(), Arc::clone(&outbox));
    part.elapsed = terms.elapsed;
    part.counts = terms
        .counts
        .map(|place| open(&place, stages.len()))
        .transpose()?;
    let abort = Box::new(move |abort| outbox.abort(abort));
    let state = Arc::new(RunState::new(terms.options, recording, abort).for_part(part));
    state.setup_data.set(terms.setup_data);
    let launch = |stage| launch(&program, stage, &state, terms.ready, terms.workers);
    Ok(stages.iter().map(launch).collect())
}

fn open(place: &Path, scenarios: usize) -> Result<TestCounts, String> {
    let counts = TestCounts::open(place, scenarios);
    counts.map_err(|error| format!("the counts of the test can't be shared: {error}"))
}

impl Recording {
    fn setup(self, registry: &Arc<Registry>) -> Result<RecorderSetup, String> {
        let names = self.thresholds.iter().map(String::as_str);
        let submetrics = SubmetricSet::new(names, registry);
        Ok(RecorderSetup {
            registry: Arc::clone(registry),
            submetrics: submetrics.map_err(|error| error.to_string())?,
            keeps_samples: self.keeps_samples,
            by_group_and_scenario: self.by_group_and_scenario,
        })
    }
}

impl StageTerms {
    fn of(stage: &Stage) -> Option<Self> {
        let scenario = stage.scenario()?;
        Some(StageTerms {
            function: stage.function.clone(),
            name: scenario.name.clone(),
            executor: scenario.executor.clone(),
            env: scenario.env.clone(),
            tags: scenario.tags.clone(),
            length: scenario.length,
            has_arrivals: scenario.has_arrivals,
            most_users: scenario.most_users,
        })
    }

    fn stage(self) -> Arc<Stage> {
        let mut scenario = Scenario::new(&self.name, &self.executor);
        scenario.env = self.env;
        scenario.tags = self.tags;
        scenario.length = self.length;
        scenario.has_arrivals = self.has_arrivals;
        scenario.most_users = self.most_users;
        Arc::new(Stage::new(&self.function, StageKind::Scenario(scenario)))
    }
}

/// The files that the test has read.
struct Files(BTreeMap<Url, Vec<u8>>);

impl Files {
    fn decode(encoded: &BTreeMap<Url, String>) -> Result<Self, String> {
        let file = |(url, text): (&Url, &String)| {
            let bytes = BASE64_STANDARD.decode(text);
            let bytes = bytes.map_err(|error| format!("{url} can't be decoded: {error}"))?;
            Ok((url.clone(), bytes))
        };
        encoded
            .iter()
            .map(file)
            .collect::<Result<_, _>>()
            .map(Files)
    }
}

impl Sources for Files {
    fn read(&self, url: &Url) -> Result<Vec<u8>, String> {
        let missing = || format!("stat {}: no such file or directory", url.path());
        self.0.get(url).cloned().ok_or_else(missing)
    }
}
