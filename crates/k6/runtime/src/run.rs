//! A run of a script: state that its users share, and what its conductor reads of it.

use crate::counts::{Count, TestCounts};
use crate::http::rate::RateLimit;
use crate::part::{AllCounts, Part};
use crate::program::{Failure, Program, SummaryFiles};
use crate::vu_mode::VuMode;
use loadline_k6_metrics::RecorderSetup;
use loadline_k6_options::LocalIps;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

/// Receives the log entries of a script.
pub trait Log: Send + Sync {
    /// Receives one entry.
    fn log(&self, entry: &Entry<'_>);
}

/// The severity of a log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Shown with `-v` only.
    Debug,
    /// Information.
    Info,
    /// A possible problem.
    Warning,
    /// A problem.
    Error,
}

/// An entry of the log.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The severity.
    pub level: Level,
    /// The text.
    pub message: &'a str,
    /// Further fields by name: `source`, and those that depend on it.
    pub fields: &'a [(&'a str, &'a str)],
}

/// The options of a run that its users need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UserOptions {
    /// Tags of every sample.
    pub tags: BTreeMap<String, String>,
    /// System tags of k6 that samples do not get.
    pub unwanted_tags: Vec<String>,
    /// Optional additions to samples that were requested: `ip` as a tag, `vu` and `iter` as
    /// metadata.
    pub optional_tags: Vec<String>,
    /// The minimum duration of an iteration: a shorter one is followed by a wait.
    pub min_iteration: Duration,
    /// The options as JSON, for `exec.test.options`.
    pub json: String,
    /// The local addresses that users connect from, if they are given.
    pub local_ips: Option<LocalIps>,
    /// Options of requests.
    pub http: HttpOptions,
    /// The state that each virtual user has of its own.
    pub vu_mode: VuMode,
    /// The memory limit of a runtime of QuickJS in bytes; half of the machine's memory if `None`.
    pub memory_limit_bytes: Option<usize>,
    /// True if the process ends with the run. Then the memory of users is left to the system,
    /// because freeing it takes a third of the time that it took to create them.
    pub ends_with_process: bool,
}

/// The options of a run for its requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HttpOptions {
    /// The field `User-Agent`; empty for no such field.
    pub user_agent: String,
    /// The maximum number of redirects to follow, if it is given.
    pub max_redirects: Option<u32>,
    /// True if failed requests throw.
    pub throws: bool,
    /// True if bodies are discarded, unless a request has its own setting.
    pub discards_bodies: bool,
    /// True if cookies are kept from one iteration to the next.
    pub keeps_cookies: bool,
    /// The maximum number of concurrent requests of `batch()`: in total, and to one host.
    pub batch: (usize, usize),
    /// The debug output of requests: nothing, `headers` or `full`.
    pub debug: Option<String>,
    /// The maximum rate of all users' requests together, per second.
    pub rps: Option<u64>,
    /// True if users close their connections after each iteration.
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
    /// True if samples get this optional tag or metadata.
    pub(crate) fn has_optional_tag(&self, name: &str) -> bool {
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

/// State that the users of a run share.
pub struct RunState {
    /// The options that users need.
    pub options: UserOptions,
    /// The setup of recorders.
    pub recording: Arc<RecorderSetup>,
    /// The data of `setup()`, the argument of functions.
    pub setup_data: SetupData,
    /// The counts of users and iterations.
    pub execution: Execution,
    /// Requests the end of the run from its conductor.
    pub abort: Box<dyn Fn(Abort) + Send + Sync>,
    /// The limit of the rate of all users' requests, if there is one.
    pub(crate) rate: Option<RateLimit>,
    /// The part of the test that this process runs, if others run the rest.
    part: Option<Part>,
    /// The counts of the processes that run parts of the test, if there are any.
    counts_of_processes: Mutex<AllCounts>,
    failure: Mutex<Option<Failure>>,
    is_failed: AtomicBool,
    is_ending: AtomicBool,
    /// True if users could not share a runtime although the options request it.
    is_unshared: AtomicBool,
}

/// The result of `setup()`, or the data that replaces it.
#[derive(Debug, Default)]
pub struct SetupData(RwLock<Option<Option<Arc<str>>>>);

impl SetupData {
    /// Sets the data to this JSON, or to nothing. Users that have read it keep what they have.
    pub fn set(&self, json: Option<String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(json.map(Arc::from));
    }

    /// Returns the JSON; `None` if there is none, whatever the reason.
    pub fn json(&self) -> Option<Arc<str>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.clone().flatten()
    }

    /// True if the data was set, to JSON or to nothing.
    pub fn is_known(&self) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.is_some()
    }
}

/// The reason why a script ends its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abort {
    /// `exec.test.abort()`, with its message and the place of the call.
    Requested(String),
    /// A failure of a user after which no run can continue.
    Failed,
}

impl RunState {
    /// Creates a run that has not begun.
    pub fn new(
        options: UserOptions,
        recording: Arc<RecorderSetup>,
        abort: Box<dyn Fn(Abort) + Send + Sync>,
    ) -> Self {
        RunState {
            rate: options.http.rps.map(RateLimit::each_second),
            part: None,
            counts_of_processes: Mutex::default(),
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

    /// Has this process run only a part of the test.
    #[must_use]
    pub fn for_part(self, part: Part) -> Self {
        RunState {
            rate: self.options.http.rps.map(|rps| part.rate(rps)),
            part: Some(part),
            ..self
        }
    }

    /// Returns the part of the test that this process runs; `None` if it runs the whole test.
    pub(crate) fn part(&self) -> Option<&Part> {
        self.part.as_ref()
    }

    /// Returns the counts of the processes that run parts of the test, as far as they are known.
    pub(crate) fn counts_of_processes(&self) -> MutexGuard<'_, AllCounts> {
        let counts = self.counts_of_processes.lock();
        counts.unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts no users any more of the process that had these workers: it is lost.
    pub fn lose_users_of(&self, workers: &Range<u32>) {
        self.counts_of_processes().lose_users_of(workers);
    }

    /// Ends the run because of this; the first counts.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        drop(first);
        self.end(Abort::Failed);
    }

    /// Ends the run: no more iterations begin.
    pub(crate) fn end(&self, because: Abort) {
        self.is_ending.store(true, Ordering::Relaxed);
        (self.abort)(because);
    }

    /// True if the run was ended by the script or by a failure.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Notes that users can't share a runtime although they should. Returns true for the first
    /// call.
    pub(crate) fn become_unshared(&self) -> bool {
        !self.is_unshared.swap(true, Ordering::Relaxed)
    }

    /// True if users can't share a runtime although they should.
    pub(crate) fn is_unshared(&self) -> bool {
        self.is_unshared.load(Ordering::Relaxed)
    }

    /// Returns the count over all processes that share memory; without such ones, of this process.
    pub(crate) fn count(&self, count: Count) -> u64 {
        match self.shared() {
            Some(shared) => shared.read(count),
            None => self.execution.of_process(count),
        }
    }

    /// Counts a user that is initialised.
    pub(crate) fn user_is_ready(&self) {
        self.execution.users_ready.fetch_add(1, Ordering::Relaxed);
        self.in_shared(|shared| shared.add(Count::Ready));
    }

    /// Counts a user that enters an iteration of this scenario.
    pub(crate) fn enter(&self, scenario: &Scenario) {
        let active = self.execution.users_active.fetch_add(1, Ordering::Relaxed) + 1;
        self.execution.note_active(active);
        scenario.enter();
        self.in_shared(|shared| shared.add(Count::Active));
    }

    /// Counts a user that leaves its iteration of this scenario.
    pub(crate) fn leave(&self, scenario: &Scenario) {
        self.execution.users_active.fetch_sub(1, Ordering::Relaxed);
        scenario.leave();
        self.in_shared(|shared| shared.subtract(Count::Active));
    }

    /// Counts an iteration of this scenario that ended by itself.
    pub(crate) fn complete(&self, scenario: &Scenario) {
        self.execution
            .iterations_complete
            .fetch_add(1, Ordering::Relaxed);
        scenario.complete_one();
        self.in_shared(|shared| shared.add(Count::Complete));
    }

    /// Counts an iteration that was cancelled.
    pub(crate) fn interrupt(&self) {
        self.execution
            .iterations_interrupted
            .fetch_add(1, Ordering::Relaxed);
        self.in_shared(|shared| shared.add(Count::Interrupted));
    }

    fn shared(&self) -> Option<&TestCounts> {
        self.part().and_then(|part| part.counts.as_ref())
    }

    fn in_shared(&self, count: impl FnOnce(&TestCounts)) {
        if let Some(shared) = self.shared() {
            count(shared);
        }
    }

    /// Returns the failure that ended the run, if there is one.
    pub fn failure(&self) -> Option<Failure> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone()
    }

    /// Marks the run as failed, for `exec.test.fail()`; it goes on.
    pub(crate) fn mark_failed(&self) {
        self.is_failed.store(true, Ordering::Relaxed);
    }

    /// True if the script marked its run as failed.
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

/// Counts of a run's users and iterations, and the time of the test.
#[derive(Debug, Default)]
pub struct Execution {
    /// Users that are initialised.
    pub users_ready: AtomicU32,
    /// Users that are in an iteration.
    pub users_active: AtomicU32,
    /// The most of them at once since [`take_most_active`](Self::take_most_active).
    most_active: AtomicU32,
    /// Iterations that ended by themselves.
    pub iterations_complete: AtomicU64,
    /// Iterations that were cancelled.
    pub iterations_interrupted: AtomicU64,
    /// The last number that was given to a user.
    pub(crate) last_id: AtomicU32,
    clock: Mutex<Clock>,
}

/// Measures the time of a test, without the time in which users are initialised.
#[derive(Debug, Default)]
struct Clock {
    /// The time of the parts that have ended.
    before: Duration,
    /// The beginning of the current part.
    since: Option<Instant>,
}

impl Execution {
    fn of_process(&self, count: Count) -> u64 {
        match count {
            Count::Ready => self.users_ready.load(Ordering::Relaxed).into(),
            Count::Active => self.users_active.load(Ordering::Relaxed).into(),
            Count::Complete => self.iterations_complete.load(Ordering::Relaxed),
            Count::Interrupted => self.iterations_interrupted.load(Ordering::Relaxed),
        }
    }

    /// Records how many users are active now.
    pub(crate) fn note_active(&self, users: u32) {
        // Rarely more than before, and a load costs less than a store.
        if users > self.most_active.load(Ordering::Relaxed) {
            self.most_active.fetch_max(users, Ordering::Relaxed);
        }
    }

    /// Returns the most users that were active at once since the last call.
    pub(crate) fn take_most_active(&self) -> u32 {
        let active = self.users_active.load(Ordering::Relaxed);
        self.most_active.swap(active, Ordering::Relaxed).max(active)
    }

    /// Begins a part of the test at this instant, whose earlier parts ran in another process and
    /// took this long.
    pub(crate) fn continue_after(&self, before: Duration, at: Instant) {
        *self.clock() = Clock {
            before,
            since: Some(at),
        };
    }

    /// Begins a part of the test: `setup()`, the load or `teardown()`.
    pub fn begin_part(&self, at: Instant) {
        self.clock().since = Some(at);
    }

    /// Ends the current part of the test.
    pub fn end_part(&self, at: Instant) {
        let mut clock = self.clock();
        if let Some(since) = clock.since.take() {
            clock.before += at.saturating_duration_since(since);
        }
    }

    /// Returns the duration of the test so far.
    pub fn elapsed(&self) -> Duration {
        let clock = self.clock();
        let going_on = clock.since.map_or(Duration::ZERO, |since| since.elapsed());
        clock.before + going_on
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        // The value is consistent even if a thread panicked while it held the lock.
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of the test for its users: one function of the script.
#[derive(Debug)]
pub struct Stage {
    /// The exported function.
    pub function: String,
    /// The purpose of the call.
    pub kind: StageKind,
    /// True if the function has returned; only for functions that are called once.
    pub(crate) is_done: AtomicBool,
}

/// The purpose for which a function of the script is called.
#[derive(Debug)]
pub enum StageKind {
    /// Once before the load.
    Setup,
    /// Once after the load.
    Teardown,
    /// Once at the very end, to make files of the metrics.
    Summary(Summary),
    /// The iterations of a scenario.
    Scenario(Scenario),
}

/// The input and the result of `handleSummary()`.
#[derive(Debug)]
pub struct Summary {
    /// The metrics, as JSON.
    pub(crate) data: String,
    pub(crate) files: OnceLock<SummaryFiles>,
}

impl Summary {
    /// Creates a summary of these metrics, given as JSON, that has not been handled yet.
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
    /// Variables of the environment in addition to the run's.
    pub env: BTreeMap<String, String>,
    /// Tags of all its samples.
    pub tags: BTreeMap<String, String>,
    /// The maximum duration, and the number of iterations; progress is computed from them.
    pub length: (Option<Duration>, Option<u64>),
    /// True if iterations have intended starts, because they arrive at a rate.
    pub has_arrivals: bool,
    /// The maximum number of users.
    pub most_users: u32,
    /// The beginning, on the monotonic and on the wall clock.
    pub(crate) began: OnceLock<(Instant, SystemTime)>,
    /// Iterations begun so far.
    pub(crate) begun: AtomicU64,
    /// True if a lack of users was logged.
    pub(crate) lacks_users: AtomicBool,
    /// Iterations that ended by themselves.
    pub complete: AtomicU64,
    /// Users that are in an iteration of this scenario.
    pub active: AtomicU32,
    /// The highest number of users that were in an iteration at the same time.
    pub most_active: AtomicU32,
    /// The end of the last iteration, if their number is given.
    pub(crate) ended: OnceLock<Instant>,
}

impl Scenario {
    /// Creates a scenario with this name and executor only.
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

    /// Records the beginning of the first iteration.
    pub(crate) fn note_begin(&self) {
        self.began
            .get_or_init(|| (Instant::now(), SystemTime::now()));
    }

    /// Counts a user that enters an iteration.
    pub(crate) fn enter(&self) {
        let active = self.active.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_active.fetch_max(active, Ordering::Relaxed);
    }

    /// Sets the number of users in an iteration, who are in other processes.
    pub(crate) fn has_active(&self, users: u32) {
        self.active.store(users, Ordering::Relaxed);
        self.most_active.fetch_max(users, Ordering::Relaxed);
    }

    /// Sets the number of iterations that have begun in other processes.
    pub(crate) fn has_begun(&self, iterations: u64) {
        if iterations > 0 {
            self.note_begin();
        }
        self.begun.store(iterations, Ordering::Relaxed);
    }

    /// Sets the number of iterations that ended by themselves in other processes.
    pub(crate) fn has_completed(&self, iterations: u64) {
        self.complete.store(iterations, Ordering::Relaxed);
        self.end_with(iterations);
    }

    /// Counts a user that has left its iteration.
    pub(crate) fn leave(&self) {
        self.active.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts an iteration that ended by itself.
    pub(crate) fn complete_one(&self) {
        let complete = self.complete.fetch_add(1, Ordering::Relaxed) + 1;
        self.end_with(complete);
    }

    /// Records the end of the scenario if these are all of its iterations.
    fn end_with(&self, complete: u64) {
        if self.length.1 == Some(complete) {
            self.ended.get_or_init(Instant::now);
        }
    }

    /// Logs that no user was free to begin an iteration, once.
    pub(crate) fn warn_of_lack(&self, program: &Program) {
        if self.lacks_users.swap(true, Ordering::Relaxed) {
            return;
        }
        let message = format!(
            "Insufficient VUs, reached {} active VUs and cannot initialize more",
            self.most_users
        );
        let fields = [
            ("executor", self.executor.as_str()),
            ("scenario", self.name.as_str()),
        ];
        program.log(Level::Warning, &message, &fields);
    }

    /// Returns the end of the last iteration, if their number is given.
    pub fn ended(&self) -> Option<Instant> {
        self.ended.get().copied()
    }

    /// Returns the completed share of the scenario, from 0 to 1.
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
    /// Creates a stage that calls `function` for this purpose.
    pub fn new(function: &str, kind: StageKind) -> Self {
        Stage {
            function: function.to_owned(),
            kind,
            is_done: AtomicBool::new(false),
        }
    }

    /// True if the function has returned; only for functions that are called once.
    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    /// Returns the scenario, if this stage is one.
    pub fn scenario(&self) -> Option<&Scenario> {
        match &self.kind {
            StageKind::Scenario(scenario) => Some(scenario),
            StageKind::Setup | StageKind::Teardown | StageKind::Summary(_) => None,
        }
    }

    /// Returns the files of `handleSummary()`, if it returned any.
    pub fn summary_files(&self) -> Option<&SummaryFiles> {
        match &self.kind {
            StageKind::Summary(summary) => summary.files.get(),
            StageKind::Setup | StageKind::Teardown | StageKind::Scenario(_) => None,
        }
    }

    /// True for a scenario whose iterations have intended starts.
    pub(crate) fn has_arrivals(&self) -> bool {
        self.scenario()
            .is_some_and(|scenario| scenario.has_arrivals)
    }

    /// Returns the value of the tag `group` outside of all groups.
    pub(crate) fn root_group(&self) -> &'static str {
        match self.kind {
            StageKind::Setup => "::setup",
            StageKind::Teardown => "::teardown",
            StageKind::Scenario(_) | StageKind::Summary(_) => "",
        }
    }

    /// Returns the tags of all samples of the stage.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let name = self.scenario().map(|scenario| scenario.name.clone());
        let name = name.map(|name| ("scenario".to_owned(), name));
        let tags = self.scenario().into_iter().flat_map(|one| &one.tags);
        let tags = tags.map(|(name, value)| (name.clone(), value.clone()));
        name.into_iter().chain(tags)
    }
}
