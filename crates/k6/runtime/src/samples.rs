//! Samples of the users of a worker, and their tags.

use crate::exception::Thrown;
use crate::http::fields::Fields;
use crate::http::target::Targets;
use crate::outputs;
use crate::part::News;
use crate::program::Program;
use crate::run::{HttpOptions, RunState, Stage};
use crate::shared::runtime::Shared;
use crate::vu::Activity;
use loadline_engine::{Tally, TallyCodec};
use loadline_k6_metrics::{Metric, MetricId, Portion, Recorder, RecorderSetup, Tags};
use loadline_record::{Exception, Exceptions, Innermost, Snapshot};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

/// The tally of a test: measurements of the users of all stages, and news of the processes that run
/// parts of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// The measurements.
    pub portion: Portion,
    users: UserCounts,
    /// The exceptions of iterations.
    exceptions: Exceptions,
    news: Option<Box<News>>,
    /// The metrics of the script in the process that measured, if that runs a part of the test.
    metrics: Vec<Metric>,
    /// The setup of the recorder, which names the metrics.
    #[serde(skip)]
    setup: Arc<RecorderSetup>,
}

/// The number of users of each process, by its first worker: the most that were active at once, and
/// those that are ready.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct UserCounts {
    of_processes: BTreeMap<u32, (u32, u32)>,
    /// The time of the counts, in nanoseconds since 1970.
    at_ns: u64,
}

impl UserCounts {
    fn of(run: &RunState) -> Self {
        let process = run.part().map_or(0, |part| part.workers.start);
        let active = run.execution.take_most_active();
        let ready = run.execution.users_ready.load(Ordering::Relaxed);
        UserCounts {
            of_processes: BTreeMap::from([(process, (active, ready))]),
            at_ns: wall_ns(),
        }
    }

    /// Merges the counts of another worker, which sees all users of its process.
    fn merge(&mut self, other: Self) {
        for (process, (active, ready)) in other.of_processes {
            let own = self.of_processes.entry(process).or_default();
            *own = (own.0.max(active), own.1.max(ready));
        }
        self.at_ns = self.at_ns.max(other.at_ns);
    }

    /// Returns the sum over all processes: active and ready users.
    fn sum(&self) -> (u32, u32) {
        let counts = self.of_processes.values();
        counts.fold((0, 0), |sum, (active, ready)| {
            (sum.0 + active, sum.1 + ready)
        })
    }
}

impl Measured {
    /// Takes the measurements of a worker, and the news of its process; `None` if there are none,
    /// and no user was active.
    pub(crate) fn of(worker: &Worker, run: &RunState) -> Option<Self> {
        let portion = worker.record(Recorder::take);
        let exceptions = worker.exceptions.take();
        let users = UserCounts::of(run);
        let news = News::take(run);
        let is_part = run.part().is_some();
        let is_empty = users.sum().0 == 0 && portion.is_empty() && exceptions.is_empty();
        (is_part || !is_empty).then(|| Measured {
            portion,
            users,
            exceptions,
            news,
            metrics: match is_part {
                true => run.recording.registry.of_scripts(),
                false => Vec::new(),
            },
            setup: Arc::clone(&run.recording),
        })
    }

    /// Takes the news of a process that runs a part of the test, if there are any.
    pub(crate) fn news_of(run: &RunState) -> Option<Self> {
        let news = News::take(run)?;
        Some(Measured {
            news: Some(news),
            setup: Arc::clone(&run.recording),
            ..Measured::default()
        })
    }

    /// Returns the codec of measurements that other processes of a test make: metrics of their
    /// scripts become those of the same names in this process.
    pub fn codec(setup: &Arc<RecorderSetup>) -> TallyCodec {
        let setup = Arc::clone(setup);
        TallyCodec::completed_by(move |measured: Measured| {
            let renumbering = setup.registry.adopt(&measured.metrics);
            let renumbering = renumbering.map_err(|error| error.to_string())?;
            let mut portion = measured.portion;
            portion.renumber(&renumbering);
            Ok(Measured {
                portion,
                setup: Arc::clone(&setup),
                ..measured
            })
        })
    }

    /// Tells the test the news of the processes that run parts of it; nothing if there are none.
    pub fn deliver_news(&self, run: &RunState, stages: &[Arc<Stage>], program: &Program) {
        if let Some(news) = &self.news {
            news.deliver(run, stages, program);
        }
    }
}

impl Tally for Measured {
    fn merge(&mut self, other: Self) {
        self.portion.merge(other.portion);
        self.users.merge(other.users);
        self.exceptions.merge(&other.exceptions);
        match (&mut self.news, other.news) {
            (Some(own), Some(other)) => own.merge(*other),
            (own, other) => *own = own.take().or(other),
        }
    }

    fn add_to(&self, snapshot: &mut Snapshot) {
        let is_window = !snapshot.drain;
        outputs::add(&self.portion, &self.setup, is_window, &mut snapshot.metrics);
        let (active, ready) = self.users.sum();
        outputs::add_users((active, ready, self.users.at_ns), &mut snapshot.metrics);
        let exceptions = self.exceptions.begun_at(snapshot.start_ns);
        snapshot.exceptions.merge(&exceptions);
    }

    fn note_part(&mut self, part: &str) {
        self.exceptions.note_part(part);
    }
}

/// What the users of a worker share.
pub(crate) struct Worker {
    recorder: RefCell<Recorder>,
    /// The exceptions of iterations since the last tally.
    exceptions: RefCell<Exceptions>,
    /// The runtime of its users, where they share one.
    pub(crate) shared: OnceCell<Rc<Shared>>,
    /// The targets of the users' requests.
    pub(crate) targets: Targets,
    /// The fields of requests for which scripts give none.
    usual_fields: OnceCell<Fields>,
}

impl Worker {
    /// A worker whose users have measured nothing yet.
    pub(crate) fn new(setup: Arc<RecorderSetup>) -> Rc<Self> {
        Rc::new(Worker {
            recorder: RefCell::new(Recorder::new(setup)),
            exceptions: RefCell::default(),
            shared: OnceCell::new(),
            targets: Targets::default(),
            usual_fields: OnceCell::new(),
        })
    }

    /// Returns the fields of requests for which scripts give none.
    pub(crate) fn usual_fields(&self, options: &HttpOptions) -> &Fields {
        self.usual_fields.get_or_init(|| {
            let agent = ("User-Agent".to_owned(), options.user_agent.clone());
            let is_sent = !options.user_agent.is_empty();
            Rc::new(is_sent.then_some(agent).into_iter().collect())
        })
    }

    /// True if these are those very fields, as opposed to equal ones.
    pub(crate) fn are_usual(&self, fields: &[(String, String)]) -> bool {
        let usual = self.usual_fields.get();
        usual.is_some_and(|usual| std::ptr::eq(usual.as_slice(), fields))
    }

    /// Calls `record` with the recorder.
    pub(crate) fn record<T>(&self, record: impl FnOnce(&mut Recorder) -> T) -> T {
        record(&mut self.recorder.borrow_mut())
    }

    /// Calls `record` with the recorder and the time, in nanoseconds since 1970. The time is 0
    /// where only a gauge would need it: reading the clock is part of a request's cost.
    pub(crate) fn record_now<T>(&self, record: impl FnOnce(&mut Recorder, u64) -> T) -> T {
        self.record(|recorder| {
            let at_ns = if recorder.needs_times() { wall_ns() } else { 0 };
            record(recorder, at_ns)
        })
    }

    /// Records a value with the current time.
    pub(crate) fn add(&self, metric: MetricId, value: f64, tags: &impl Tags) {
        let at_ns = wall_ns();
        self.record(|recorder| recorder.add(metric, value, at_ns, tags));
    }

    /// Records values with the current time and the same tags. No value may be a gauge's.
    pub(crate) fn add_all(&self, values: &[(MetricId, f64)], tags: &impl Tags) {
        self.record_now(|recorder, at_ns| {
            for (metric, value) in values {
                recorder.add(*metric, *value, at_ns, tags);
            }
        });
    }

    /// Counts an exception of an iteration.
    pub(crate) fn count_exception(&self, thrown: &Thrown) {
        let frames: Vec<String> = (thrown.frames.iter())
            .map(|frame| format!("at {frame}"))
            .collect();
        let frames = frames.join("\n");
        let exception = Exception::new(&thrown.name, &thrown.message, &frames, Innermost::First);
        self.exceptions.borrow_mut().record(exception);
    }

    /// What was recorded since the last call, if anything.
    pub(crate) fn take(&self) -> Option<Portion> {
        let portion = self.record(Recorder::take);
        (!portion.is_empty()).then_some(portion)
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

/// Returns the time in nanoseconds since 1970.
fn wall_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// The tags that a user's samples have in common, while its group and its tags stay the same.
#[derive(Debug, Default)]
pub(crate) struct CommonTags {
    tags: Vec<(String, String)>,
    metadata: Vec<(String, String)>,
}

impl CommonTags {
    /// Returns the tags and metadata of user `id` in this activity: tags of the run, of the
    /// scenario, of the group and of the user. Later ones replace earlier ones of the same name.
    // Rarely called, and its frame is large: within its caller each user's stack would have it.
    #[inline(never)]
    pub(crate) fn of(run: Option<&RunState>, id: u32, activity: &Activity) -> Self {
        let of_run = run.into_iter().flat_map(|run| run.options.tags.clone());
        let of_stage = activity.stage.iter().flat_map(|stage| stage.tags());
        let group = ("group".to_owned(), activity.group());
        let is_enabled = |(name, _): &(String, String)| {
            run.is_none_or(|run| !run.options.unwanted_tags.contains(name))
        };
        let of_k6 = of_stage.chain([group]).filter(is_enabled);
        let own = activity.tags.clone();
        let all = of_run.chain(of_k6).chain(own);
        let mut tags: Vec<(String, String)> = Vec::new();
        for (name, value) in all {
            tags.retain(|(known, _)| *known != name);
            tags.push((name, value));
        }
        CommonTags {
            tags,
            metadata: metadata(run, id, activity),
        }
    }
}

/// Returns the metadata of a user's samples: the numbers of user and iteration where they were
/// requested, and the metadata that the script has set.
fn metadata(run: Option<&RunState>, id: u32, activity: &Activity) -> Vec<(String, String)> {
    let numbers = [("vu", u64::from(id)), ("iter", activity.iteration)];
    let enabled = numbers
        .into_iter()
        .filter(|(name, _)| run.is_some_and(|run| run.options.has_optional_tag(name)));
    let enabled = enabled.map(|(name, number)| (name.to_owned(), number.to_string()));
    enabled.chain(activity.metadata.clone()).collect()
}

/// The tags of a sample: its own, then the user's common ones, which they replace.
pub(crate) struct SampleTags<'a> {
    own: &'a [(&'a str, &'a str)],
    common: Rc<CommonTags>,
}

impl<'a> SampleTags<'a> {
    pub(crate) fn new(own: &'a [(&'a str, &'a str)], common: Rc<CommonTags>) -> Self {
        SampleTags { own, common }
    }

    /// Creates the tags of a sample that belongs to no user.
    pub(crate) fn alone(own: &'a [(&'a str, &'a str)]) -> Self {
        SampleTags::new(own, Rc::default())
    }
}

impl Tags for SampleTags<'_> {
    fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        let own = self.own.iter().find(|(name, _)| *name == key);
        if let Some((_, value)) = own {
            return Some(Cow::Borrowed(value));
        }
        let mut common = self.common.tags.iter();
        let found = common.find(|(name, _)| name == key);
        found.map(|(_, value)| Cow::Borrowed(value.as_str()))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.own.iter().for_each(|(name, value)| visit(name, value));
        let is_own = |name: &str| self.own.iter().any(|(own, _)| *own == name);
        let common = self.common.tags.iter();
        for (name, value) in common.filter(|(name, _)| !is_own(name)) {
            visit(name, value);
        }
    }

    fn metadata(&self, visit: &mut dyn FnMut(&str, &str)) {
        let pairs = self.common.metadata.iter();
        pairs.for_each(|(name, value)| visit(name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::AnyTally;
    use loadline_k6_metrics::{Contains, MetricType, Sink};

    const METRICS: [(&str, MetricType); 3] = [
        ("visits", MetricType::Counter),
        ("waits", MetricType::Trend),
        ("level", MetricType::Gauge),
    ];

    /// Returns the measurements of a process in one of its intervals. Each process meets the
    /// metrics of the script in an order of its own.
    fn measured(process: usize, interval: u64) -> Measured {
        let setup = Arc::new(RecorderSetup::default());
        let mut recorder = Recorder::new(Arc::clone(&setup));
        let tags = SampleTags::alone(&[("group", "")]);
        for number in 0..METRICS.len() {
            let (name, kind) = METRICS[(number + process) % METRICS.len()];
            let metric = setup.registry.register(name, kind, Contains::Default);
            let metric = metric.expect("a metric");
            let at_ns = interval * 1_000 + process as u64;
            recorder.add(metric, (interval * 7 + process as u64) as f64, at_ns, &tags);
        }
        let is_passed = interval.is_multiple_of(2);
        recorder.check("is passed", is_passed, interval, &tags);
        Measured {
            portion: recorder.take(),
            metrics: setup.registry.of_scripts(),
            setup,
            ..Measured::default()
        }
    }

    #[test]
    fn what_a_merger_joins_of_processes_is_what_all_have_measured() {
        let setup = Arc::new(RecorderSetup::default());
        let codec = Measured::codec(&setup);
        let all = (0..4).flat_map(|process| (0..5).map(move |interval| (process, interval)));
        let tallies: Vec<(usize, AnyTally)> = all
            .map(|(process, interval)| (process, AnyTally::new(measured(process, interval))))
            .collect();
        let mut directly = None;
        for (_, tally) in &tallies {
            let tally = codec.decode(&tally.encode().expect("bytes"));
            AnyTally::add(&mut directly, Some(tally.expect("measurements")));
        }
        let names: Vec<String> = (0..4).map(|process| format!("agent {process}")).collect();
        let from_last: Vec<_> = tallies.into_iter().rev().collect();
        let joined = codec.through_merger(&from_last, &names);
        let portion = |tally: &AnyTally| tally.get::<Measured>().expect("its type").portion.clone();
        let joined = portion(&joined.expect("measurements"));
        assert_eq!(joined, portion(&directly.expect("measurements")));
        let visits = setup.registry.by_name("visits").expect("a metric");
        let Some(Sink::Counter(visits)) = joined.tally.sinks.get(visits) else {
            panic!("{joined:?} counts no visits");
        };
        let sum = 4 * 7 * (1 + 2 + 3 + 4) + 5 * (1 + 2 + 3);
        assert_eq!((visits.values, visits.count), (20, f64::from(sum)));
    }
}
