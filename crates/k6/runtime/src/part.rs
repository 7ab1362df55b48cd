//! A part of a test: the workers of one process, when other processes run the rest (`--processes`).
//!
//! Processes share no memory. What users count is in the tally of their worker; what else the test
//! must know of a process is its [`News`]: log entries, the end that the script requested, how many
//! users and iterations there are. They travel in the same tally, also between two intervals.
//!
//! Numbers of users and iterations have to be unique in the whole test. Processes that share memory
//! have them from counts of the whole test (`counts.rs`). Where there are none, worker `w` of `n`
//! gives the numbers `w`, `w + n`, `w + 2n` …, as k6 does for execution segments. Those are all
//! numbers; so workers that join while the test lasts give some that no test reaches.

use crate::counts::TestCounts;
use crate::http::rate::RateLimit;
use crate::program::{Failure, Program};
use crate::run::{Abort, Entry, Execution, Level, Log, RunState, Scenario, Stage};
use loadline_k6_modules::Secrets;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// The numbers of users, and of iterations, for each worker that joins: more than there are before.
const USERS_OF_JOINED: u64 = 1_000_000;
const ITERATIONS_OF_JOINED: u64 = 1_000_000_000_000;

/// The workers of this process, when other processes run the rest of the test.
pub struct Part {
    /// The workers of this process, among those of the test.
    pub workers: Range<u32>,
    /// The number of workers of the test.
    pub of: u32,
    /// The log entries of the users, and the end that they requested.
    pub outbox: Arc<Outbox>,
    /// The duration of the parts of the test before the load.
    pub elapsed: Duration,
    /// The counts of the whole test, if its processes share memory.
    pub counts: Option<TestCounts>,
    /// The scenarios.
    stages: Vec<Arc<Stage>>,
    reported: Mutex<Reported>,
    clock: Once,
}

/// The state that this process has reported to the test.
#[derive(Debug, Default)]
struct Reported {
    counts: ProcessCounts,
    has_failure: bool,
    has_mark: bool,
}

impl Part {
    /// Creates the part of these workers, `of` so many of the test, of which nothing is reported.
    pub fn new(workers: Range<u32>, of: u32, stages: Vec<Arc<Stage>>, outbox: Arc<Outbox>) -> Self {
        let scenarios = stages.iter().filter(|stage| stage.scenario().is_some());
        let reported = Reported {
            counts: ProcessCounts::nothing(scenarios.count()),
            ..Reported::default()
        };
        Part {
            workers,
            of,
            outbox,
            elapsed: Duration::ZERO,
            counts: None,
            stages,
            reported: Mutex::new(reported),
            clock: Once::new(),
        }
    }

    /// Returns the place of a stage among the scenarios; 0 if it is none of them.
    pub(crate) fn place_of(&self, stage: &Arc<Stage>) -> usize {
        let mut scenarios = self.stages.iter().filter(|one| one.scenario().is_some());
        let place = scenarios.position(|one| Arc::ptr_eq(one, stage));
        place.unwrap_or_default()
    }

    /// Returns a number that no other worker of the test gives: the one for the `nth` user or
    /// iteration of a worker, from 0. Of workers that join the test, each has the next block of so
    /// many numbers.
    fn number(&self, worker: u32, nth: u64, block: u64) -> u64 {
        match worker.checked_sub(self.of) {
            None => nth * u64::from(self.of) + u64::from(worker),
            Some(joined) => (u64::from(joined) + 1) * block + nth,
        }
    }

    /// Returns the number of the next user of a worker, which has made `nth` before, from 1.
    pub(crate) fn next_user(&self, worker: u32, nth: u32) -> u32 {
        match &self.counts {
            Some(counts) => counts.next_user(),
            None => self.number(worker, nth.into(), USERS_OF_JOINED) as u32 + 1,
        }
    }

    /// Returns the number of the next iteration of a scenario, of which a worker has begun `nth`
    /// before, from 0.
    pub(crate) fn next_iteration(&self, scenario: usize, worker: u32, nth: u64) -> u64 {
        match &self.counts {
            Some(counts) => counts.next_iteration(scenario),
            None => self.number(worker, nth, ITERATIONS_OF_JOINED),
        }
    }

    /// Returns the share of this process in the rate of the test's requests.
    pub(crate) fn rate(&self, per_second: u64) -> RateLimit {
        RateLimit::share(per_second, self.workers.len() as u64, u64::from(self.of))
    }

    /// Sets the clock of the test when the load has begun, once.
    pub(crate) fn start_clock(&self, execution: &Execution, began: impl FnOnce() -> Instant) {
        self.clock
            .call_once(|| execution.continue_after(self.elapsed, began()));
    }

    fn reported(&self) -> MutexGuard<'_, Reported> {
        // The counts are consistent even after a panic of another thread.
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("workers", &self.workers)
            .field("of", &self.of)
            .finish_non_exhaustive()
    }
}

/// An entry of a log that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptEntry {
    level: Level,
    message: String,
    fields: Vec<(String, String)>,
}

/// The log entries of a process, without the secrets of its script, and the end that the script
/// requested, until a tally takes them.
pub struct Outbox {
    secrets: Arc<dyn Secrets + Send + Sync>,
    kept: Mutex<(Vec<KeptEntry>, Option<String>)>,
}

impl Outbox {
    /// Creates an empty one for a script with these secrets.
    pub fn new(secrets: Arc<dyn Secrets + Send + Sync>) -> Self {
        Outbox {
            secrets,
            kept: Mutex::default(),
        }
    }

    /// Keeps the end that the script requested. A failure is kept by the state of the run.
    pub fn abort(&self, abort: Abort) {
        if let Abort::Requested(message) = abort {
            self.kept().1.get_or_insert(message);
        }
    }

    /// Forgets the entries so far: those of the first initialisation, which the test has logged.
    pub fn clear(&self) {
        self.kept().0.clear();
    }

    fn kept(&self) -> MutexGuard<'_, (Vec<KeptEntry>, Option<String>)> {
        // The entries are consistent even after a panic of another thread.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn redacted(&self, text: &str) -> String {
        self.secrets
            .redacted(text)
            .unwrap_or_else(|| text.to_owned())
    }
}

impl Log for Outbox {
    fn log(&self, entry: &Entry<'_>) {
        let fields = entry.fields.iter();
        let fields = fields.map(|(name, value)| ((*name).to_owned(), self.redacted(value)));
        let entry = KeptEntry {
            level: entry.level,
            message: self.redacted(entry.message),
            fields: fields.collect(),
        };
        self.kept().0.push(entry);
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

/// The number of users and iterations of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessCounts {
    /// The number of the count in its process: tallies of its workers may overtake each other.
    number: u64,
    ready: u32,
    active: u32,
    complete: u64,
    interrupted: u64,
    /// The counts of each scenario.
    scenarios: Vec<ScenarioCounts>,
}

/// The number of users and iterations of a scenario in a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ScenarioCounts {
    begun: u64,
    complete: u64,
    active: u32,
    lacks_users: bool,
}

impl ProcessCounts {
    /// Returns the counts of a process with so many scenarios, in which nothing has happened.
    fn nothing(scenarios: usize) -> Self {
        ProcessCounts {
            scenarios: vec![ScenarioCounts::default(); scenarios],
            ..ProcessCounts::default()
        }
    }

    /// Counts after the counts `before`; returns those if nothing has changed.
    fn after(before: &ProcessCounts, execution: &Execution, stages: &[Arc<Stage>]) -> Self {
        let scenarios = stages.iter().filter_map(|stage| stage.scenario());
        let now = ProcessCounts {
            number: before.number,
            ready: execution.users_ready.load(Relaxed),
            active: execution.users_active.load(Relaxed),
            complete: execution.iterations_complete.load(Relaxed),
            interrupted: execution.iterations_interrupted.load(Relaxed),
            scenarios: scenarios.map(ScenarioCounts::of).collect(),
        };
        match now == *before {
            true => now,
            false => ProcessCounts {
                number: before.number + 1,
                ..now
            },
        }
    }
}

impl ScenarioCounts {
    fn of(scenario: &Scenario) -> Self {
        ScenarioCounts {
            begun: scenario.begun.load(Relaxed),
            complete: scenario.complete.load(Relaxed),
            active: scenario.active.load(Relaxed),
            lacks_users: scenario.lacks_users.load(Relaxed),
        }
    }
}

/// The counts of all processes of a test, by their first workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AllCounts(BTreeMap<u32, ProcessCounts>);

impl AllCounts {
    /// Replaces the counts of processes by later ones.
    fn update(&mut self, counts: &AllCounts) {
        for (process, counts) in &counts.0 {
            let known = self.0.entry(*process).or_default();
            if counts.number > known.number {
                known.clone_from(counts);
            }
        }
    }

    /// Sets the counts of the users of the processes with these workers to 0. What they completed
    /// stays.
    pub(crate) fn lose_users_of(&mut self, workers: &Range<u32>) {
        for (_, lost) in self.0.range_mut(workers.clone()) {
            (lost.ready, lost.active) = (0, 0);
            lost.scenarios.iter_mut().for_each(|one| one.active = 0);
        }
    }

    fn sum<T: Sum>(&self, count: impl Fn(&ProcessCounts) -> T) -> T {
        self.0.values().map(count).sum()
    }

    /// Stores the sums where users of this process would be counted.
    fn store(&self, execution: &Execution, stages: &[Arc<Stage>], program: &Program) {
        execution
            .users_ready
            .store(self.sum(|one| one.ready), Relaxed);
        let active = self.sum(|one| one.active);
        execution.users_active.store(active, Relaxed);
        execution.note_active(active);
        let (complete, interrupted) = (
            self.sum(|one| one.complete),
            self.sum(|one| one.interrupted),
        );
        execution.iterations_complete.store(complete, Relaxed);
        execution.iterations_interrupted.store(interrupted, Relaxed);
        let scenarios = stages.iter().filter_map(|stage| stage.scenario());
        for (index, scenario) in scenarios.enumerate() {
            self.store_scenario(index, scenario, program);
        }
    }

    fn store_scenario(&self, index: usize, scenario: &Scenario, program: &Program) {
        let counts = self.0.values().filter_map(|one| one.scenarios.get(index));
        let counts: Vec<ScenarioCounts> = counts.copied().collect();
        let all = || counts.iter();
        scenario.has_begun(all().map(|one| one.begun).sum());
        scenario.has_completed(all().map(|one| one.complete).sum());
        scenario.has_active(all().map(|one| one.active).sum());
        if all().any(|one| one.lacks_users) {
            scenario.warn_of_lack(program);
        }
    }
}

/// The news of processes for their test, in addition to measurements: all since their last news.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct News {
    entries: Vec<KeptEntry>,
    aborted: Option<String>,
    failure: Option<Failure>,
    is_marked_failed: bool,
    /// The counts of processes where they have changed.
    counts: AllCounts,
}

impl News {
    /// Takes the news of this process; `None` if there are none, or if it runs the whole test.
    pub(crate) fn take(run: &RunState) -> Option<Box<Self>> {
        let part = run.part()?;
        let mut reported = part.reported();
        let counts = ProcessCounts::after(&reported.counts, &run.execution, &part.stages);
        let is_new = counts.number > reported.counts.number;
        let changed = is_new.then(|| (part.workers.start, counts.clone()));
        let (entries, aborted) = std::mem::take(&mut *part.outbox.kept());
        let news = News {
            entries,
            aborted,
            failure: run.failure().filter(|_| !reported.has_failure),
            is_marked_failed: run.is_failed() && !reported.has_mark,
            counts: AllCounts(changed.into_iter().collect()),
        };
        reported.counts = counts;
        reported.has_failure |= news.failure.is_some();
        reported.has_mark |= news.is_marked_failed;
        (news != News::default()).then(|| Box::new(news))
    }

    /// Adds the news of another worker, which may be one of another process.
    pub(crate) fn merge(&mut self, other: News) {
        self.entries.extend(other.entries);
        self.aborted = self.aborted.take().or(other.aborted);
        self.failure = self.failure.take().or(other.failure);
        self.is_marked_failed |= other.is_marked_failed;
        self.counts.update(&other.counts);
    }

    /// Tells the test: its log, the state that its users would change in this process, and what
    /// ends it.
    pub(crate) fn deliver(&self, run: &RunState, stages: &[Arc<Stage>], program: &Program) {
        for entry in &self.entries {
            let fields = entry.fields.iter();
            let fields: Vec<_> = fields.map(|(k, v)| (k.as_str(), v.as_str())).collect();
            program.log(entry.level, &entry.message, &fields);
        }
        let mut counts = run.counts_of_processes();
        counts.update(&self.counts);
        counts.store(&run.execution, stages, program);
        drop(counts);
        if self.is_marked_failed {
            run.mark_failed();
        }
        if let Some(failure) = &self.failure {
            run.fail(failure.clone());
        }
        if let Some(message) = &self.aborted {
            run.end(Abort::Requested(message.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StageKind;
    use crate::run::UserOptions;
    use loadline_k6_metrics::RecorderSetup;

    struct NoSecrets;

    impl Secrets for NoSecrets {
        fn value(&self, _: Option<&str>, name: &str) -> Result<String, String> {
            Err(name.to_owned())
        }

        fn redacted(&self, text: &str) -> Option<String> {
            text.contains("secret").then(|| "***".to_owned())
        }
    }

    fn stages() -> Vec<Arc<Stage>> {
        let scenario = Scenario::new("s", "constant-vus");
        vec![Arc::new(Stage::new(
            "default",
            StageKind::Scenario(scenario),
        ))]
    }

    fn run(workers: Range<u32>) -> (RunState, Vec<Arc<Stage>>) {
        let (outbox, stages) = (Arc::new(Outbox::new(Arc::new(NoSecrets))), stages());
        let part = Part::new(workers, 4, stages.clone(), outbox);
        (state().for_part(part), stages)
    }

    fn state() -> RunState {
        let recording = Arc::new(RecorderSetup::default());
        RunState::new(UserOptions::default(), recording, Box::new(|_| {}))
    }

    #[test]
    fn workers_give_numbers_that_no_other_worker_gives() {
        let (first, second) = (run(0..2).0, run(2..4).0);
        let parts = [&first, &second].map(|run| run.part().expect("a part"));
        let numbers = |worker: u32| [0, 1, 2].map(|nth| (worker, nth));
        let mut numbers: Vec<u64> = (0..4)
            .flat_map(numbers)
            .map(|(worker, nth)| parts[worker as usize / 2].number(worker, nth, 1_000))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        let joined = [4, 5].map(|worker| parts[0].next_iteration(0, worker, 7));
        assert_eq!(joined, [1_000_000_000_007, 2_000_000_000_007]);
        let users = [3, 4, 5].map(|worker| parts[1].next_user(worker, 2));
        assert_eq!(users, [12, 1_000_003, 2_000_003]);
    }

    #[test]
    fn counts_of_processes_add_up_in_whatever_order_they_come() {
        let ((one, own), (other, others)) = (run(0..2), run(2..4));
        let begun = |stages: &[Arc<Stage>], begun, active| {
            let scenario = stages[0].scenario().expect("a scenario");
            scenario.begun.store(begun, Relaxed);
            scenario.active.store(active, Relaxed);
        };
        assert_eq!(News::take(&one), None, "nothing has happened");
        begun(&own, 3, 2);
        let first = News::take(&one).expect("news");
        assert_eq!(News::take(&one), None, "nothing more");
        begun(&own, 5, 1);
        let second = News::take(&one).expect("news");
        begun(&others, 7, 4);
        let mut third = News::take(&other).expect("news");
        third.merge(*second);
        let mut all = AllCounts::default();
        for news in [&third, &first] {
            all.update(&news.counts);
        }
        let of = |count: fn(&ScenarioCounts) -> u64| all.sum(|one| count(&one.scenarios[0]));
        assert_eq!((of(|one| one.begun), of(|one| one.active.into())), (12, 5));
        all.lose_users_of(&(2..4));
        let of = |count: fn(&ScenarioCounts) -> u64| all.sum(|one| count(&one.scenarios[0]));
        assert_eq!((of(|one| one.begun), of(|one| one.active.into())), (12, 1));
    }

    #[test]
    fn news_leave_a_process_once_and_without_secrets() {
        let (run, _) = run(0..1);
        let outbox = &run.part().expect("a part").outbox;
        let entry = |message| Entry {
            level: Level::Info,
            message,
            fields: &[("source", "console")],
        };
        outbox.log(&entry("of the first initialisation"));
        outbox.clear();
        outbox.log(&entry("a secret"));
        outbox.log(&entry("plain"));
        outbox.abort(Abort::Requested("enough".to_owned()));
        outbox.abort(Abort::Requested("again".to_owned()));
        run.mark_failed();
        run.fail(Failure::Threw("an error".to_owned()));
        let news = News::take(&run).expect("news");
        let sent = serde_json::to_string(&news).expect("JSON");
        let came: News = serde_json::from_str(&sent).expect("news");
        assert_eq!(came, *news);
        let messages: Vec<&str> = came.entries.iter().map(|one| &*one.message).collect();
        assert_eq!(messages, ["***", "plain"]);
        assert_eq!(came.aborted.as_deref(), Some("enough"));
        assert_eq!(came.failure, Some(Failure::Threw("an error".to_owned())));
        assert!(came.is_marked_failed);
        assert_eq!(News::take(&run), None);
    }
}
