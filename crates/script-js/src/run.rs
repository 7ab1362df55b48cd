//! A run of a script: what its users share, and what its conductor sees of it.

use crate::http::RateLimit;
use crate::program::{Failure, SummaryFiles};
use crate::shared::VuMode;
use loadline_k6_metrics::RecorderSetup;
use loadline_k6_options::LocalIps;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

/// Takes what a script logs.
pub trait Log: Send + Sync {
    /// One entry.
    fn log(&self, entry: &Entry<'_>);
}

/// How grave an entry of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Shown with `-v` alone.
    Debug,
    /// Ordinary.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

/// An entry of the log.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// How grave it is.
    pub level: Level,
    /// What is said.
    pub message: &'a str,
    /// What belongs to it, by name: `source`, and what that brings.
    pub fields: &'a [(&'a str, &'a str)],
}

/// What the options of a run say to its users.
#[derive(Clone, Debug)]
pub struct UserOptions {
    /// Tags of every sample.
    pub tags: BTreeMap<String, String>,
    /// Tags that samples do not get, of those that k6 sets itself.
    pub unwanted_tags: Vec<String>,
    /// What samples get beside that because it was asked for: `ip` as a tag, `vu` and `iter` as
    /// metadata.
    pub optional_tags: Vec<String>,
    /// What iterations last at least: shorter ones are followed by a wait.
    pub min_iteration: Duration,
    /// The options as JSON, for `exec.test.options`.
    pub json: String,
    /// The addresses that users connect from, if they are said.
    pub local_ips: Option<LocalIps>,
    /// What requests are like.
    pub http: HttpOptions,
    /// What virtual users have for themselves.
    pub vu_mode: VuMode,
    /// The bytes that a runtime of QuickJS may use; half of the machine's without.
    pub memory_limit_bytes: Option<usize>,
    /// Whether the process ends with the run: then the memory of users is left to the system, as to
    /// give it back takes a third of what it took to make them.
    pub ends_with_process: bool,
}

/// What the options of a run say of requests.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The field `User-Agent`; empty for none.
    pub user_agent: String,
    /// How many redirects are followed, if that is said.
    pub max_redirects: Option<u32>,
    /// Whether failed requests throw.
    pub throws: bool,
    /// Whether bodies are dropped unless a request says otherwise.
    pub discards_bodies: bool,
    /// Whether cookies stay from one iteration to the next.
    pub keeps_cookies: bool,
    /// How many requests of `batch()` are in flight at a time, in all and to a host.
    pub batch: (usize, usize),
    /// What is shown of requests: nothing, `headers` or `full`.
    pub debug: Option<String>,
    /// How many requests a second the users may send together.
    pub rps: Option<u64>,
    /// Whether users close their connections after each iteration.
    pub closes_connections: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            user_agent: "Grafana k6/1.8.1".to_owned(),
            max_redirects: None,
            throws: false,
            discards_bodies: false,
            keeps_cookies: false,
            batch: (20, 6),
            debug: None,
            rps: None,
            closes_connections: false,
        }
    }
}

impl UserOptions {
    /// Whether samples get this, which they get when it is asked for.
    pub(crate) fn tells(&self, name: &str) -> bool {
        self.optional_tags.iter().any(|known| known == name)
    }
}

impl Default for UserOptions {
    fn default() -> Self {
        UserOptions {
            tags: BTreeMap::new(),
            unwanted_tags: Vec::new(),
            optional_tags: Vec::new(),
            min_iteration: Duration::ZERO,
            json: "{}".to_owned(),
            local_ips: None,
            http: HttpOptions::default(),
            vu_mode: VuMode::default(),
            memory_limit_bytes: None,
            ends_with_process: false,
        }
    }
}

/// What the users of a run share.
pub struct RunState {
    /// What its options say to them.
    pub options: UserOptions,
    /// What recorders are made of.
    pub recording: Arc<RecorderSetup>,
    /// What is given to functions.
    pub setup_data: SetupData,
    /// What its users count.
    pub execution: Execution,
    /// Asks the conductor to end the run.
    pub abort: Box<dyn Fn(Abort) + Send + Sync>,
    /// Bounds the requests of all users, if they are bounded.
    pub(crate) rate: Option<RateLimit>,
    failure: Mutex<Option<Failure>>,
    is_failed: AtomicBool,
    is_ending: AtomicBool,
    /// Whether users could not share a runtime where they should.
    is_unshared: AtomicBool,
}

/// What `setup()` gave, or what took its place.
#[derive(Debug, Default)]
pub struct SetupData(RwLock<Option<Option<Arc<str>>>>);

impl SetupData {
    /// It is this JSON from now on, or nothing. Users that have read it keep what they have.
    pub fn set(&self, json: Option<String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(json.map(Arc::from));
    }

    /// The JSON; `None` if there is none, whatever the reason.
    pub fn json(&self) -> Option<Arc<str>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.clone().flatten()
    }

    /// Whether it is known, be it that there is none.
    pub fn is_known(&self) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.is_some()
    }
}

/// Why a script ends its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abort {
    /// `exec.test.abort()`, with what it says and where.
    Asked(String),
    /// What a user ended with that no run can go on behind.
    Failed,
}

impl RunState {
    /// A run that has not begun.
    pub fn new(
        options: UserOptions,
        recording: Arc<RecorderSetup>,
        abort: Box<dyn Fn(Abort) + Send + Sync>,
    ) -> Self {
        RunState {
            rate: options.http.rps.map(RateLimit::each_second),
            options,
            recording,
            setup_data: SetupData::default(),
            execution: Execution::default(),
            abort,
            failure: Mutex::default(),
            is_failed: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            is_unshared: AtomicBool::new(false),
        }
    }

    /// Ends the run because of this; the first counts.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        drop(first);
        self.end(Abort::Failed);
    }

    /// Ends the run: no iteration begins any more.
    pub(crate) fn end(&self, because: Abort) {
        self.is_ending.store(true, Ordering::Relaxed);
        (self.abort)(because);
    }

    /// Whether the script has ended its run.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Users can't share a runtime, though they should; whether that is news.
    pub(crate) fn become_unshared(&self) -> bool {
        !self.is_unshared.swap(true, Ordering::Relaxed)
    }

    /// Whether users can't share a runtime, though they should.
    pub(crate) fn is_unshared(&self) -> bool {
        self.is_unshared.load(Ordering::Relaxed)
    }

    /// Why the run can't go on, if it can't.
    pub fn failure(&self) -> Option<Failure> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone()
    }

    /// `exec.test.fail()`: the run goes on, and has failed.
    pub(crate) fn mark_failed(&self) {
        self.is_failed.store(true, Ordering::Relaxed);
    }

    /// Whether the script said that its run has failed.
    pub fn is_failed(&self) -> bool {
        self.is_failed.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for RunState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunState")
            .field("execution", &self.execution)
            .finish_non_exhaustive()
    }
}

/// What the users of a run count.
#[derive(Debug, Default)]
pub struct Execution {
    /// Users that are ready.
    pub users_ready: AtomicU32,
    /// Users in an iteration's scenario.
    pub users_active: AtomicU32,
    /// Iterations that came to their end.
    pub iterations_complete: AtomicU64,
    /// Iterations that were cut off.
    pub iterations_interrupted: AtomicU64,
    /// The numbers of users given so far.
    pub(crate) last_id: AtomicU32,
    clock: Mutex<Clock>,
}

/// Counts the time of a test, that in which users are initialised left out.
#[derive(Debug, Default)]
struct Clock {
    /// Of the parts that are over.
    before: Duration,
    /// When the part began that goes on.
    since: Option<Instant>,
}

impl Execution {
    /// A part of the test begins: `setup()`, the load, `teardown()`.
    pub fn begin_part(&self, at: Instant) {
        self.clock().since = Some(at);
    }

    /// The part of the test has ended.
    pub fn end_part(&self, at: Instant) {
        let mut clock = self.clock();
        if let Some(since) = clock.since.take() {
            clock.before += at.saturating_duration_since(since);
        }
    }

    /// How long the test has lasted.
    pub fn elapsed(&self) -> Duration {
        let clock = self.clock();
        let going_on = clock.since.map_or(Duration::ZERO, |since| since.elapsed());
        clock.before + going_on
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        // What it guards is whole whoever panicked meanwhile.
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What users do: one function of the script.
#[derive(Debug)]
pub struct Stage {
    /// The exported function.
    pub function: String,
    /// What it is called for.
    pub kind: StageKind,
    /// Whether the function has returned; of those that are called once.
    pub(crate) is_done: AtomicBool,
}

/// What a function of the script is called for.
#[derive(Debug)]
pub enum StageKind {
    /// Once before the load.
    Setup,
    /// Once behind the load.
    Teardown,
    /// Once at the very end: what was measured becomes files.
    Summary(Summary),
    /// The iterations of a scenario.
    Scenario(Scenario),
}

/// What `handleSummary()` is given, and what it gives.
#[derive(Debug)]
pub struct Summary {
    /// What was measured, as JSON.
    pub(crate) data: String,
    pub(crate) files: OnceLock<SummaryFiles>,
}

impl Summary {
    /// What was measured, as JSON, before it is handled.
    pub fn of(data: String) -> Self {
        Summary {
            data,
            files: OnceLock::new(),
        }
    }
}

/// A scenario, as its users see it.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its executor's name.
    pub executor: String,
    /// Variables of the environment beside the run's.
    pub env: BTreeMap<String, String>,
    /// Tags of all its samples.
    pub tags: BTreeMap<String, String>,
    /// How long it lasts at most, and how many iterations it has; what tells its progress.
    pub length: (Option<Duration>, Option<u64>),
    /// Whether its iterations have intended starts: they arrive at a rate.
    pub has_arrivals: bool,
    /// How many users it may have.
    pub most_users: u32,
    /// When it began.
    pub(crate) began: OnceLock<(Instant, SystemTime)>,
    /// Iterations begun so far.
    pub(crate) begun: AtomicU64,
    /// Whether it was told that its users are too few.
    pub(crate) lacks_users: AtomicBool,
    /// Iterations that came to their end.
    pub complete: AtomicU64,
    /// Users that are in an iteration of it.
    pub active: AtomicU32,
    /// The most users that were in one at the same time.
    pub most_active: AtomicU32,
    /// When the last of its iterations came to its end, if their number is given.
    pub(crate) ended: OnceLock<Instant>,
}

impl Scenario {
    /// A scenario of this name and executor, without anything else.
    pub fn new(name: &str, executor: &str) -> Self {
        Scenario {
            name: name.to_owned(),
            executor: executor.to_owned(),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            length: (None, None),
            has_arrivals: false,
            most_users: 0,
            began: OnceLock::new(),
            begun: AtomicU64::new(0),
            lacks_users: AtomicBool::new(false),
            complete: AtomicU64::new(0),
            active: AtomicU32::new(0),
            most_active: AtomicU32::new(0),
            ended: OnceLock::new(),
        }
    }

    /// A user enters an iteration.
    pub(crate) fn enter(&self) {
        let active = self.active.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_active.fetch_max(active, Ordering::Relaxed);
    }

    /// A user has left its iteration.
    pub(crate) fn leave(&self) {
        self.active.fetch_sub(1, Ordering::Relaxed);
    }

    /// An iteration came to its end.
    pub(crate) fn complete_one(&self) {
        let complete = self.complete.fetch_add(1, Ordering::Relaxed) + 1;
        if self.length.1 == Some(complete) {
            let _ = self.ended.set(Instant::now());
        }
    }

    /// When the last of its iterations came to its end, if their number is given.
    pub fn ended(&self) -> Option<Instant> {
        self.ended.get().copied()
    }

    /// How much of it is over, from 0 to 1.
    pub fn progress(&self) -> f64 {
        let share = match (self.length, self.began.get()) {
            ((_, Some(iterations)), _) if iterations > 0 => {
                self.complete.load(Ordering::Relaxed) as f64 / iterations as f64
            }
            ((Some(length), _), Some((began, _))) if !length.is_zero() => {
                began.elapsed().as_secs_f64() / length.as_secs_f64()
            }
            _ => 0.0,
        };
        share.clamp(0.0, 1.0)
    }
}

impl Stage {
    /// Users call this function for this.
    pub fn new(function: &str, kind: StageKind) -> Self {
        Stage {
            function: function.to_owned(),
            kind,
            is_done: AtomicBool::new(false),
        }
    }

    /// Whether its function has returned, if it is one that is called once.
    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    /// The scenario, if it is one.
    pub fn scenario(&self) -> Option<&Scenario> {
        match &self.kind {
            StageKind::Scenario(scenario) => Some(scenario),
            StageKind::Setup | StageKind::Teardown | StageKind::Summary(_) => None,
        }
    }

    /// What `handleSummary()` gave, if it gave anything.
    pub fn summary_files(&self) -> Option<&SummaryFiles> {
        match &self.kind {
            StageKind::Summary(summary) => summary.files.get(),
            _ => None,
        }
    }

    /// Whether it is a scenario whose iterations have intended starts.
    pub(crate) fn has_arrivals(&self) -> bool {
        self.scenario()
            .is_some_and(|scenario| scenario.has_arrivals)
    }

    /// The tag `group` outside of all groups.
    pub(crate) fn root_group(&self) -> &'static str {
        match self.kind {
            StageKind::Setup => "::setup",
            StageKind::Teardown => "::teardown",
            StageKind::Scenario(_) | StageKind::Summary(_) => "",
        }
    }

    /// The tags of all samples.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let name = self.scenario().map(|scenario| scenario.name.clone());
        let name = name.map(|name| ("scenario".to_owned(), name));
        let tags = self.scenario().into_iter().flat_map(|one| &one.tags);
        let tags = tags.map(|(name, value)| (name.clone(), value.clone()));
        name.into_iter().chain(tags)
    }
}
