//! What is known of the run, second by second: the news of the run in, the state and its changes
//! out.

use crate::agents;
use crate::api::{
    AgentSoFar, Band, CheckSoFar, Event, Figures, LevelNow, LevelUnit, Load, NameCourse,
    PercentileSoFar, Phase, SlowRows, Span, Standing, State,
};
use crate::baseline::{Baseline, Beside};
use crate::files::REPORT_CSV;
use crate::log::{MOST_LINES, Waiting};
use crate::patch::Patch;
use crate::results::Found;
use crate::slow::{Cell, Slow};
use loadline_page::{AddedTables, Against, Heat, RunPage, RunPlots, SearchPage};
use loadline_plan::{Check, Level, Plan, Shape};
use loadline_record::{Distribution, Header, IntervalArchive, Note, Snapshot, Summary};
use loadline_report::{RunSoFar, heat_interval, level_text, name_plots, planned_length, run_page};
use loadline_runner::{
    Command, Commands, Levels, MOST_NOTES, News, NoteProblem, RunEnd, Steer, Stretch,
};
use loadline_units::rounding::per_second;
use loadline_verdict::{Bands, CheckOutcome, Observed, Proofs, RunResult, evaluate};
use serde_json::Value;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The most names of a run whose parts are kept for spans of time: each name has a distribution in
/// each part.
const MOST_NAMES: usize = 200;

/// The most checks that are added to a run.
const MOST_ADDED: usize = 20;

/// The run so far, and how it is steered.
pub(crate) struct Model {
    steer: Arc<dyn Steer>,
    state: State,
    run: Option<Run>,
    /// The parts of the current run, or of the last one.
    parts: Parts,
    /// The slowest requests of the current run, or of the last one.
    slow: Slow,
    /// The files of each run that has ended.
    files: Vec<String>,
    /// The lines of the script that no event has brought yet.
    log: Waiting,
    /// The results of the tool whose run it is, which no event has shown yet, and the latest.
    found: Found,
    results: Option<AddedTables>,
    /// The file that the run is saved into.
    saved: Option<PathBuf>,
    /// The baseline that runs are compared with.
    baseline: Option<Arc<Baseline>>,
    /// The comparison of the current run.
    beside: Option<Beside>,
    /// The last run, until another one begins.
    ended: Option<EndedRun>,
    /// The checks that were added to the current run, or to the last one.
    added: Vec<AddedCheck>,
    /// The agents of the current run, or of the last one.
    agents: Vec<AgentSoFar>,
}

/// A check that a viewer added while the run lasted. Who sees the figures first chooses what they
/// pass: it is no check of the plan, and counts nowhere.
struct AddedCheck {
    check: Check,
    at_s: f64,
}

/// The reason why a check is not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CheckProblem {
    /// No run is under way.
    #[error("No run is under way: a check is added while one lasts.")]
    NoRun,
    /// It is there already.
    #[error("The run has this check already.")]
    Known,
    /// There are too many.
    #[error("A run takes {MOST_ADDED} added checks, and has them all.")]
    TooMany,
}

/// A run that has ended, with all that its page is made of.
struct EndedRun {
    result: RunResult,
    heat: Heat,
    against: Option<Against>,
    results: Option<AddedTables>,
}

impl EndedRun {
    fn page(&self) -> RunPage {
        let page = RunPage {
            against: self.against.clone(),
            ..run_page(&self.result, &self.heat)
        };
        page.with_added(self.results.clone())
    }
}

/// The parts of a run, from which spans of time are made; none of a run with many names.
#[derive(Default)]
struct Parts {
    header: Option<Header>,
    archive: Option<IntervalArchive>,
}

impl Parts {
    fn begin(header: &Header) -> Parts {
        Parts {
            header: Some(header.clone()),
            archive: Some(IntervalArchive::default()),
        }
    }

    fn observe(&mut self, snapshot: &Snapshot) {
        match &mut self.archive {
            Some(archive) if snapshot.series.len() <= MOST_NAMES => archive.observe(snapshot),
            _ => self.archive = None,
        }
    }
}

/// The proof of a check.
#[derive(Clone, Copy, Default)]
struct Proven {
    outcome: Option<CheckOutcome>,
    /// The length of the run at which it is expected to be proven.
    expected: Option<Duration>,
}

/// The data of the current run's page.
struct Run {
    /// The run, judged with the latest interval.
    judged: RunResult,
    proofs: Proofs,
    /// The proofs of the checks, one each.
    proven: Vec<Proven>,
    bands: Bands,
    percentiles: Vec<PercentileSoFar>,
    heat: Heat,
    page: RunSoFar,
}

impl Model {
    /// Creates the model of runs that are steered so, and each of which has these files.
    pub(crate) fn new(steer: Arc<dyn Steer>, files: &[&str]) -> Self {
        let standing = Standing {
            load: not_begun(&steer),
            ..Standing::default()
        };
        Model {
            steer,
            state: State {
                standing,
                page: Value::Null,
                search: Value::Null,
                log: Vec::new(),
            },
            run: None,
            parts: Parts::default(),
            slow: Slow::default(),
            files: files.iter().map(|path| (*path).to_owned()).collect(),
            log: Waiting::default(),
            found: Found::default(),
            results: None,
            saved: None,
            baseline: None,
            beside: None,
            ended: None,
            added: Vec::new(),
            agents: Vec::new(),
        }
    }

    /// Creates the model of a page from which runs are started.
    pub(crate) fn idle() -> Self {
        let mut model = Model::new(Arc::new(Commands::default()), &[]);
        let standing = &mut model.state.standing;
        standing.phase = Phase::Idle;
        (standing.starts, standing.can_start) = (true, true);
        model
    }

    /// Adds a check to the run that is under way, and judges it. Returns what changed by it, and
    /// the instant, in seconds.
    ///
    /// # Errors
    /// The reason why it is not added.
    pub(crate) fn add_check(&mut self, check: Check) -> Result<(Event, f64), CheckProblem> {
        let Some(run) = self.run.as_ref().filter(|_| self.is_under_way()) else {
            return Err(CheckProblem::NoRun);
        };
        let figures = &mut self.state.standing.figures;
        if figures.checks.iter().any(|known| known.check == check.text) {
            return Err(CheckProblem::Known);
        }
        if self.added.len() >= MOST_ADDED {
            return Err(CheckProblem::TooMany);
        }
        let at_s = figures.elapsed_s;
        self.added.push(AddedCheck { check, at_s });
        let new = &self.added[self.added.len() - 1..];
        figures
            .checks
            .extend(judged(new, &run.judged.summary, false));
        Ok((self.event(Patch::default()), at_s))
    }

    /// Stops the run that is under way as soon as it is decided, or no longer. Returns what changed
    /// by it; `None` if there is no run, or nothing to decide.
    pub(crate) fn stop_when_decided(&mut self, is_on: bool) -> Option<Event> {
        if !self.is_under_way() || !self.state.standing.can_decide {
            return None;
        }
        self.state.standing.stops_when_decided = is_on;
        Some(self.event(Patch::default()))
    }

    /// Shows that the run under way is told to end. Returns what changed by it; `None` if it is
    /// shown already, or there is no run.
    pub(crate) fn show_ending(&mut self) -> Option<Event> {
        let standing = &mut self.state.standing;
        if standing.phase != Phase::Running || !self.steer.is_ending() {
            return None;
        }
        standing.phase = Phase::Ending;
        Some(self.event(Patch::default()))
    }

    /// Returns what steers the current run.
    pub(crate) fn steer(&self) -> Arc<dyn Steer> {
        Arc::clone(&self.steer)
    }

    /// Claims the page for a run that is to be started; false if one is under way.
    pub(crate) fn claim(&mut self) -> bool {
        mem::replace(&mut self.state.standing.can_start, false)
    }

    /// Prepares for a run that was started from the page: what was shown of the one before goes.
    pub(crate) fn expect(
        &mut self,
        steer: Arc<dyn Steer>,
        files: Vec<String>,
        saved: Option<PathBuf>,
    ) -> Event {
        (self.steer, self.files, self.run) = (steer, files, None);
        (self.saved, self.beside, self.ended) = (saved, None, None);
        drop((self.log.take(), self.found.take()));
        (self.state.log, self.results) = (Vec::new(), None);
        (self.parts, self.slow) = (Parts::default(), Slow::default());
        self.state.standing = Standing {
            number: self.state.standing.number,
            starts: true,
            load: not_begun(&self.steer),
            baseline: self.state.standing.baseline.take(),
            ..Standing::default()
        };
        let search = mem::take(&mut self.state.search);
        let before = mem::take(&mut self.state.page);
        Event {
            search: Patch::between(&search, &Value::Null),
            ..self.event(Patch::between(&before, &Value::Null))
        }
    }

    /// Offers the page for the next run, because this one is over, or could not be made.
    pub(crate) fn release(&mut self, problem: Option<String>) -> Event {
        let standing = &mut self.state.standing;
        standing.has_more = false;
        standing.phase = match standing.phase {
            Phase::Idle | Phase::Preparing => Phase::Idle,
            Phase::Running | Phase::Ending | Phase::Ended => Phase::Ended,
        };
        (standing.problem, standing.can_start) = (problem, true);
        self.event(Patch::default())
    }

    /// Sets the file that the run is saved into.
    pub(crate) fn save_into(&mut self, saved: Option<PathBuf>) {
        self.saved = saved;
    }

    /// Returns the file that the run is saved into.
    pub(crate) fn saved(&self) -> Option<&Path> {
        self.saved.as_deref()
    }

    /// Returns the baseline that runs are compared with.
    pub(crate) fn baseline(&self) -> Option<Arc<Baseline>> {
        self.baseline.clone()
    }

    /// Compares the current run and those after it with another baseline, or with none.
    pub(crate) fn compare_with(&mut self, baseline: Option<Arc<Baseline>>) -> Event {
        let name = baseline.as_ref().map(|baseline| baseline.name.clone());
        (self.baseline, self.state.standing.baseline) = (baseline, name);
        let plan = self.run.as_ref().map(|run| run.judged.summary.plan.clone());
        self.beside = plan.and_then(|plan| self.begin_beside(&plan));
        self.event(Patch::default())
    }

    /// True while a load lasts, or its responses are awaited.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.state.standing.phase, Phase::Running | Phase::Ending)
    }

    /// True if the runs are the trials of a search.
    pub(crate) fn is_search(&self) -> bool {
        !self.state.search.is_null()
    }

    /// Shows a search whose trials are the runs.
    pub(crate) fn show_search(&mut self, page: &SearchPage) -> Event {
        let page = serde_json::to_value(page).expect("a page is plain data with text as keys");
        let before = mem::replace(&mut self.state.search, page);
        let search = Patch::between(&before, &self.state.search);
        Event {
            search,
            ..self.event(Patch::default())
        }
    }

    fn begin_beside(&self, plan: &Plan) -> Option<Beside> {
        let baseline = self.baseline.as_ref().filter(|_| !self.is_search())?;
        let baseline = Arc::clone(baseline);
        Some(Beside::new(baseline, plan, self.saved.clone()))
    }

    /// Returns the state with all news so far.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Returns the data of a report of the run as it stands; `None` if there is nothing yet.
    pub(crate) fn report(&self) -> Option<Value> {
        let (kind, page) = match self.is_search() {
            true => ("search", &self.state.search),
            false => ("run", &self.state.page),
        };
        let mut page = page.clone();
        let members = page.as_object_mut()?;
        members.insert("kind".to_owned(), kind.into());
        Some(page)
    }

    /// Takes what happened in a run. Returns what changed by it, and the page of a run that has
    /// ended.
    pub(crate) fn take(&mut self, news: &News) -> (Event, Option<RunPage>) {
        match news {
            News::Begun(header) => (self.begin(header), None),
            News::Interval(stretch) => (self.lengthen(stretch), None),
            News::Ended(end) => {
                let page = self.end(end);
                (self.show(&page), Some(page))
            }
        }
    }

    /// Returns the lines of the script that the next event brings.
    pub(crate) fn log(&self) -> Waiting {
        self.log.clone()
    }

    /// Returns the place of what the tool of the run finds of it.
    pub(crate) fn found(&self) -> Found {
        self.found.clone()
    }

    /// Takes what the tool of the run has found since the last time.
    fn take_found(&mut self) {
        self.results = self.found.take().or(self.results.take());
    }

    /// Shows what the tool of the run that has ended found of it last. Returns what changed by it,
    /// the page of the run, and the run; `None` if there is nothing new.
    pub(crate) fn conclude(&mut self) -> Option<(Event, RunPage, &RunResult)> {
        let ended = self.ended.as_mut()?;
        ended.results = Some(self.found.take()?);
        let page = ended.page();
        let event = self.show(&page);
        let ended = self.ended.as_ref()?;
        Some((event, page, &ended.result))
    }

    /// Returns the lines for the next event. A log begins with the load.
    fn new_lines(&mut self) -> Vec<String> {
        if self.state.standing.phase == Phase::Preparing {
            return Vec::new();
        }
        let lines = self.log.take();
        let log = &mut self.state.log;
        log.extend(lines.iter().cloned());
        log.drain(..log.len().saturating_sub(MOST_LINES));
        lines
    }

    /// Returns the event after the last one: nothing changes any more.
    pub(crate) fn over(&mut self) -> Event {
        self.state.standing.phase = Phase::Ended;
        (self.state.standing.is_over, self.state.standing.has_more) = (true, false);
        self.event(Patch::default())
    }

    /// Returns a span of the run in seconds, judged by itself; `None` if nothing was measured in
    /// it, or its parts are not kept.
    pub(crate) fn span(&self, from_s: f64, to_s: f64) -> Option<RunResult> {
        let header = self.parts.header.as_ref()?;
        let archive = self.parts.archive.as_ref()?;
        let ns = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
        let summary = archive.span(header, ns(from_s), ns(to_s))?;
        Some(RunResult::so_far(summary))
    }

    /// Returns the course of a name over the current run, or over the last one; `None` if there is
    /// no such name, or its course is not kept.
    pub(crate) fn name(&self, name: &str) -> Option<NameCourse> {
        let current = self.run.as_ref().map(|run| &run.judged.summary);
        let summary = current.or(self.ended.as_ref().map(|ended| &ended.result.summary))?;
        let plots = name_plots(summary, name)?;
        Some(NameCourse {
            name: name.to_owned(),
            plots: serde_json::to_value(plots).expect("plots are plain data with text as keys"),
        })
    }

    /// Returns all agents of the current run, or of the last one, by name.
    pub(crate) fn agents(&self) -> &[AgentSoFar] {
        &self.agents
    }

    /// Returns the slowest requests of a cell; `None` before a run has begun.
    pub(crate) fn slow(&self, cell: Cell) -> Option<SlowRows> {
        let header = self.parts.header.as_ref()?;
        Some(self.slow.rows(cell, &header.plan))
    }

    /// True if a note can still be written on the last run: no other one follows.
    pub(crate) fn takes_late_notes(&self) -> bool {
        self.ended.is_some() && !self.is_search() && !self.steer.has_more()
    }

    /// Writes a note on the run that has ended. Returns what changed by it, the page of the run,
    /// and the run.
    ///
    /// # Errors
    /// If there is none, or it has too many notes.
    pub(crate) fn note(&mut self, note: Note) -> Result<(Event, RunPage, &RunResult), NoteProblem> {
        let ended = self.ended.as_mut().ok_or(NoteProblem::NoRun)?;
        if ended.result.summary.notes.len() >= MOST_NOTES {
            return Err(NoteProblem::TooMany);
        }
        ended.result.summary.notes.push(note);
        let page = ended.page();
        let event = self.show(&page);
        let ended = self.ended.as_ref().ok_or(NoteProblem::NoRun)?;
        Ok((event, page, &ended.result))
    }

    fn begin(&mut self, header: &Header) -> Event {
        (self.ended, self.results) = (None, None);
        self.added.clear();
        self.agents.clear();
        (self.parts, self.slow) = (Parts::begin(header), Slow::default());
        self.beside = self.begin_beside(&header.plan);
        let mut run = Run {
            judged: RunResult::so_far(Summary::new(header.clone())),
            proofs: Proofs::of(&header.plan),
            proven: Vec::new(),
            bands: Bands::of(&header.plan),
            percentiles: Vec::new(),
            heat: Heat::default(),
            page: RunSoFar::default(),
        };
        let can_decide = self.can_decide(&header.plan);
        let standing = &mut self.state.standing;
        standing.phase = Phase::Running;
        (standing.can_decide, standing.stops_when_decided) = (can_decide, false);
        standing.has_more = self.steer.has_more();
        standing.figures = Figures {
            planned_s: planned_length(&header.plan).map(|length| length.as_secs_f64()),
            validity: "valid".to_owned(),
            ..Figures::default()
        };
        let means = self.steer.means();
        standing.load = Load {
            scenarios: scenario_names(&header.plan),
            can_pause: means.pauses,
            levels: units(means.levels, &header.plan),
            spawns: means.levels == Levels::Spawned,
            users: planned_users(&header.plan),
            ..Load::default()
        };
        let page = run.page();
        self.run = Some(run);
        self.show(&page)
    }

    fn lengthen(&mut self, stretch: &Stretch) -> Event {
        let Some(run) = self.run.take() else {
            return self.event(Patch::default());
        };
        self.parts.observe(&stretch.snapshot);
        self.slow.observe(stretch);
        if !stretch.snapshot.drain {
            agents::observe(&mut self.agents, &stretch.agents);
        }
        let mut run = run.with(stretch);
        let standing = &mut self.state.standing;
        standing.load.level = level(&run.judged.summary);
        standing.load.now = now(&run.judged.summary);
        standing.load.is_paused = self.steer.is_paused();
        if !stretch.snapshot.drain {
            standing.figures = figures(&run, &stretch.snapshot);
            let added = judged(&self.added, &run.judged.summary, false);
            standing.figures.checks.extend(added);
            standing.figures.agents = agents::listed(&self.agents);
            standing.figures.agents_total = self.agents.len() as u64;
        }
        if stretch.snapshot.drain || self.steer.is_ending() {
            standing.phase = Phase::Ending;
        }
        if let Some(beside) = &mut self.beside {
            beside.observe(&run.judged.summary);
        }
        self.stop_if_decided(&run);
        self.take_found();
        let page = RunPage {
            against: self.beside.as_ref().map(Beside::against),
            ..run.page()
        };
        self.run = Some(run);
        self.show(&page.with_added(self.results.clone()))
    }

    /// True if a run of this plan has something to decide. Trials of a search are no such runs.
    fn can_decide(&self, plan: &Plan) -> bool {
        let compares = self.beside.as_ref().is_some_and(Beside::compares);
        !self.is_search() && (compares || !plan.checks.is_empty())
    }

    /// Stops the run, if that is asked for, and it is decided.
    fn stop_if_decided(&mut self, run: &Run) {
        let can_decide = self.can_decide(&run.judged.summary.plan);
        let beside = self.beside.as_ref();
        let standing = &mut self.state.standing;
        standing.can_decide = can_decide;
        if standing.stops_when_decided && can_decide && is_decided(&run.proven, beside) {
            standing.stops_when_decided = false;
            self.steer.end(Command::Stop);
        }
    }

    fn end(&mut self, end: &RunEnd) -> RunPage {
        let result = &end.result;
        self.take_found();
        let beside = self.beside.as_mut();
        let against = beside.map(|beside| beside.conclude(&result.summary));
        let heat = self.run.take().map_or_else(Heat::default, |run| run.heat);
        let percentiles = Bands::of(&result.summary.plan).at_the_end(&result.summary);
        let is_search = self.is_search();
        let standing = &mut self.state.standing;
        standing.phase = Phase::Ended;
        (standing.can_decide, standing.stops_when_decided) = (false, false);
        standing.load.is_paused = false;
        standing.files = self.files.clone();
        // A search has no figures of each second.
        standing
            .files
            .retain(|path| !is_search || path != REPORT_CSV);
        let latest = mem::take(&mut standing.figures);
        standing.figures = Figures {
            rate_per_s: latest.rate_per_s,
            asked_per_s: latest.asked_per_s,
            p50_us: latest.p50_us,
            p95_us: latest.p95_us,
            p99_us: latest.p99_us,
            percentiles: percentiles.into_iter().map(percentile).collect(),
            ..counted(result, &at_the_end(result))
        };
        let added = judged(&self.added, &result.summary, true);
        standing.figures.checks.extend(added);
        standing.figures.agents = latest.agents;
        standing.figures.agents_total = latest.agents_total;
        let ended = EndedRun {
            result: result.clone(),
            heat,
            against,
            results: self.results.clone(),
        };
        let page = ended.page();
        self.ended = Some(ended);
        page
    }

    /// Shows a page from now on.
    fn show(&mut self, page: &RunPage) -> Event {
        let page = serde_json::to_value(page).expect("a page is plain data with text as keys");
        let before = mem::replace(&mut self.state.page, page);
        self.event(Patch::between(&before, &self.state.page))
    }

    fn event(&mut self, page: Patch) -> Event {
        self.state.standing.number += 1;
        Event {
            log: self.new_lines(),
            standing: self.state.standing.clone(),
            page,
            search: Patch::default(),
        }
    }
}

impl Run {
    /// Adds an interval, and judges the run again.
    fn with(self, stretch: &Stretch) -> Run {
        let Run {
            judged,
            mut proofs,
            mut bands,
            mut heat,
            page,
            ..
        } = self;
        let mut summary = judged.summary;
        summary.observe(&stretch.snapshot);
        if let Some(watched) = &stretch.watched {
            summary.observe_watched(watched);
        }
        summary.changes.extend(&stretch.changes);
        summary.notes.extend_from_slice(&stretch.notes);
        heat_interval(&mut heat, &stretch.snapshot);
        let outcomes = proofs.observe(&summary).into_iter();
        let proven = outcomes.zip(proofs.expected());
        let proven = proven.map(|(outcome, expected)| Proven { outcome, expected });
        let proven = proven.collect();
        let percentiles = bands.observe(&summary).into_iter().map(percentile);
        let percentiles = percentiles.collect();
        Run {
            proven,
            proofs,
            bands,
            percentiles,
            judged: RunResult::so_far(summary),
            heat,
            page,
        }
    }

    /// Returns the page so far.
    fn page(&mut self) -> RunPage {
        self.page.of(&self.judged, &self.heat)
    }
}

/// Returns the tables of a span.
pub(crate) fn span_page(span: &RunResult) -> Span {
    let page = RunPage {
        plots: RunPlots::default(),
        ..RunSoFar::default().of(span, &Heat::default())
    };
    let total = &span.summary.total;
    Span {
        from_s: total.start_ns as f64 / 1e9,
        to_s: total.end_ns as f64 / 1e9,
        page: serde_json::to_value(page).expect("a page is plain data with text as keys"),
    }
}

/// True if one of the checks is proven to fail or all to pass, and the run is faster or slower than
/// its baseline, where it is compared with one.
fn is_decided(proven: &[Proven], beside: Option<&Beside>) -> bool {
    let is = |outcome| move |one: &Proven| one.outcome == Some(outcome);
    let checks =
        proven.iter().any(is(CheckOutcome::Failed)) || proven.iter().all(is(CheckOutcome::Passed));
    checks && beside.is_none_or(|beside| beside.is_decided() || !beside.compares())
}

fn scenario_names(plan: &Plan) -> Vec<String> {
    let scenarios = plan.scenarios.iter();
    scenarios
        .map(|scenario| scenario.part.name.clone())
        .collect()
}

/// Returns the units of levels that the load of a plan can have.
fn units(levels: Levels, plan: &Plan) -> Vec<LevelUnit> {
    let shape = &plan.load.shape;
    match levels {
        Levels::None => Vec::new(),
        Levels::Users | Levels::Spawned => vec![LevelUnit::Users],
        Levels::OfPlan if matches!(shape, Shape::Scenarios { .. }) => vec![LevelUnit::Percent],
        Levels::OfPlan if shape.is_open() => vec![LevelUnit::Percent, LevelUnit::Rate],
        Levels::OfPlan => vec![LevelUnit::Percent, LevelUnit::Users],
    }
}

/// Returns the planned number of users; `None` of an open load, and of several scenarios.
fn planned_users(plan: &Plan) -> Option<u32> {
    let has_users = matches!(plan.load.shape, Shape::Closed | Shape::Paced);
    has_users.then_some(plan.load.users)
}

/// The load of a run that has not begun: what will have users is known.
fn not_begun(steer: &Arc<dyn Steer>) -> Load {
    Load {
        spawns: steer.means().levels == Levels::Spawned,
        ..Load::default()
    }
}

/// The last change of the load, in words.
fn level(summary: &Summary) -> Option<String> {
    let change = summary.changes.last()?;
    let level = level_text(change.level);
    Some(match change.scenario_of(&summary.plan) {
        Some(scenario) => format!("{level} of {scenario}"),
        None => level,
    })
}

/// The load since its last change; none while it is as planned, or paused. One of several scenarios
/// that is changed alone leaves that of all as it is.
fn now(summary: &Summary) -> Option<LevelNow> {
    let mut changes = summary.changes.iter().rev();
    let (unit, number) = match changes.find(|change| change.scenario.is_none())?.level {
        Level::Share(thousandths) => (LevelUnit::Percent, f64::from(thousandths) / 10.0),
        Level::Rate(rate) => (LevelUnit::Rate, rate.per_second()),
        Level::Users(users) => (LevelUnit::Users, users.into()),
        Level::Paused => return None,
    };
    Some(LevelNow { unit, number })
}

/// Figures of a run whose latest interval is this one.
fn figures(run: &Run, latest: &Snapshot) -> Figures {
    let Run { judged, proven, .. } = run;
    let rate = |count| per_second(count, latest.length_ns());
    let times = &latest.times.response;
    Figures {
        rate_per_s: rate(latest.counts.completed),
        asked_per_s: (judged.summary.plan.load.shape.is_open())
            .then(|| rate(latest.counts.planned)),
        p50_us: percentile_us(times, 50.0),
        p95_us: percentile_us(times, 95.0),
        p99_us: percentile_us(times, 99.0),
        percentiles: run.percentiles.clone(),
        ..counted(judged, proven)
    }
}

/// A percentile as it goes over the network.
fn percentile(so_far: loadline_verdict::PercentileSoFar) -> PercentileSoFar {
    let us = |ns: u64| ns as f64 / 1e3;
    let band = so_far.band.map(|band| Band {
        lower_us: us(band.lower_ns),
        upper_us: band.upper_ns.map(us),
        as_of_s: band.as_of_ns as f64 / 1e9,
    });
    PercentileSoFar {
        percentile: so_far.percentile,
        us: us(so_far.value_ns),
        band,
        bounds_us: so_far.bounds_ns.into_iter().map(us).collect(),
    }
}

/// Judges checks that were added, on all of a run.
fn judged<'a>(
    added: &'a [AddedCheck],
    summary: &'a Summary,
    is_over: bool,
) -> impl Iterator<Item = CheckSoFar> + use<'a> {
    added.iter().map(move |added| {
        let outcome = evaluate(&added.check, &Observed::of_run(summary)).outcome;
        let is_decided = is_over && outcome != CheckOutcome::Undecided;
        CheckSoFar {
            check: added.check.text.clone(),
            outcome: outcome.word().to_owned(),
            proven: is_decided.then(|| outcome.word().to_owned()),
            more_s: None,
            added_at_s: Some(added.at_s),
        }
    })
}

/// At the end a check is what it came to.
fn at_the_end(run: &RunResult) -> Vec<Proven> {
    let outcomes = run.checks.iter().map(|check| check.outcome);
    let proven = outcomes.map(|outcome| Proven {
        outcome: Some(outcome).filter(|one| *one != CheckOutcome::Undecided),
        expected: None,
    });
    proven.collect()
}

/// Returns the counts so far, the judgement, and what is proven of each check.
fn counted(run: &RunResult, proven: &[Proven]) -> Figures {
    let elapsed_s = run.summary.duration_ns as f64 / 1e9;
    let counts = &run.summary.total.counts;
    Figures {
        elapsed_s,
        planned_s: planned_length(&run.summary.plan).map(|length| length.as_secs_f64()),
        planned: counts.planned,
        sent: counts.sent,
        answered: counts.answered,
        failed: counts.failed,
        rejected: counts.rejected,
        in_flight: counts.in_flight,
        validity: run.grade().name().to_owned(),
        checks: (run.checks.iter().enumerate())
            .map(|(index, check)| {
                let proven = proven.get(index).copied().unwrap_or_default();
                let more_s = |expected: Duration| (expected.as_secs_f64() - elapsed_s).max(0.0);
                CheckSoFar {
                    check: check.text.clone(),
                    outcome: check.outcome.word().to_owned(),
                    proven: proven.outcome.map(|outcome| outcome.word().to_owned()),
                    more_s: proven.expected.map(more_s),
                    added_at_s: None,
                }
            })
            .collect(),
        ..Figures::default()
    }
}

fn percentile_us(times: &Distribution, percentile: f64) -> Option<f64> {
    (!times.is_empty()).then(|| times.percentile_ns(percentile) as f64 / 1e3)
}

#[cfg(test)]
mod tests;
