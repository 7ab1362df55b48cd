//! Conducts one run: the events of its source go to the summary and to the observers; commands end
//! it early.

use crate::agent_notes;
use crate::clock::kept_by_kernel;
use crate::commands::{Command, Commands};
use crate::early_end::EarlyEnd;
use crate::error::{ObserverError, RunError, Trouble};
use crate::feed::{AgentRecord, Happened, Newsroom, RunEnd};
use crate::fleet::has_fleet;
use crate::observer::{End, Interval, Observer, ObserverErrors, Observers};
use crate::source::Source;
use crate::steering::Steering;
use crate::watching::{Watch, Watching};
use crate::workload::Workload;
use loadline_cluster::Newcomer;
use loadline_engine::{AnyTally, Change, EndReason, Event, PartRecord};
use loadline_metrics::CustomMetrics;
use loadline_plan::{Plan, Shape, mask_response};
use loadline_reactor::{Address, raise_open_files, stamps_received};
use loadline_record::{
    Ended, Environment, Floor, Header, HostCounters, IntervalArchive, LoadChange, Model, Note,
    Role, SlowRequest, Snapshot, Summary, Transient, Unfinished,
};
use loadline_script::OnError;
use loadline_verdict::{RunResult, begins_off, odd_agents, transient};
use loadline_watch::host_counters;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The wait for an event after which observers are notified that nothing happened.
const IDLE_INTERVAL: Duration = Duration::from_millis(200);
/// The wait for workers to finish at the end of the run: their users report their last results
/// then.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(20);

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// The role of this run among others, if there are several.
    pub role: Option<Role>,
    /// The processes to watch during the run; `None` for nothing, not even the generator.
    pub watch: Option<&'a Watch>,
    /// The best results of the machine, if they were measured.
    pub floor: Option<Floor>,
}

impl<'a> Setup<'a> {
    /// Creates a single run of this plan, with nothing watched.
    pub fn of(plan: &'a Plan) -> Setup<'a> {
        Setup {
            plan,
            role: None,
            watch: None,
            floor: None,
        }
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct Conducted {
    /// The measurement, judged.
    pub result: RunResult,
    /// The errors because of which not everything could be recorded.
    pub trouble: Option<Trouble>,
}

/// Conducts a run until it ends, by itself or by a command.
///
/// # Errors
/// If it could not be begun: nothing was measured then.
pub fn conduct(
    setup: &Setup<'_>,
    workload: &dyn Workload,
    commands: &Commands,
    observers: &mut [&mut dyn Observer],
) -> Result<Conducted, RunError> {
    let measured = attached(setup, workload, commands, observers)?;
    let conducted = measured.conclude(workload, observers);
    commands.detach();
    Ok(conducted)
}

/// Does the same up to the end of the load; observers receive its end from
/// [`MeasuredRun::conclude`]. For tools whose scripts count something after the load that belongs
/// to the run.
///
/// # Errors
/// If it could not be begun: nothing was measured then.
pub fn measure(
    setup: &Setup<'_>,
    workload: &dyn Workload,
    commands: &Commands,
    observers: &mut [&mut dyn Observer],
) -> Result<MeasuredRun, RunError> {
    let measured = attached(setup, workload, commands, observers)?;
    commands.detach();
    Ok(measured)
}

/// Conducts the load of a run, which commands reach from its begin on.
fn attached(
    setup: &Setup<'_>,
    workload: &dyn Workload,
    commands: &Commands,
    observers: &mut [&mut dyn Observer],
) -> Result<MeasuredRun, RunError> {
    // Responses arrive at the kernels of agents, which look at theirs.
    let (plan, by_our_clock) = kept_by_kernel(setup.plan, has_fleet() || stamps_received());
    let plan = &*plan;
    let watching = setup.watch.map(|watch| Watching::prepare(watch, plan));
    let mut watching = watching.transpose()?;
    let mut early_end = EarlyEnd::of(plan, commands)?;
    let mut observers = Observers::prepare(observers, &mut early_end)?;
    let environment = Environment {
        floor: setup.floor,
        pacing: Some(loadline_reactor::PACING.to_owned()),
        ..loadline_watch::environment()
    };
    let interests = observers.interests();
    let source = workload.start(plan.clone(), interests)?;
    let open_files = raise_open_files().unwrap_or(u64::MAX);
    commands.attach(source.control(), Steering::new(plan, open_files));
    workload.on_error(abort_by(commands.clone()));
    if let Some(watching) = &mut watching {
        watching.begin(source.addresses(), source.begin_ns(), plan.warmup);
    }
    let mut used = plan.clone();
    used.connection.http = source.http();
    let unstamped = source.unstamped();
    if !unstamped.is_empty() && unstamped.len() == source.agents().len() {
        used.connection.do_without_stamps();
    }
    let header = Header {
        role: setup.role.clone(),
        started_monotonic_ns: Some(source.begin_ns()),
        left_out: source.left_out().iter().map(Address::to_string).collect(),
        agents: source.agents().to_vec(),
        ..Header::new(&used, environment, SystemTime::now())
    };
    observers.notify(|observer| observer.begun(&header));
    let newsroom = interests.news.then(|| Newsroom::new(&header));
    if let Some(newsroom) = &newsroom {
        let news = newsroom.begun();
        observers.notify(|observer| observer.news(&news));
    }
    let at_begin = agent_notes::of_begin(&*source)
        .into_iter()
        .chain(by_our_clock)
        .chain(agent_notes::of_unstamped(&unstamped, 0));
    let conductor = Conductor {
        source,
        workload,
        commands,
        observers,
        poll_timeout: interests.idle_after.unwrap_or(IDLE_INTERVAL),
        watching,
        changes: Vec::new(),
        at_begin: at_begin.collect(),
        end_ns: 0,
        announced: Vec::new(),
        lost: 0,
        returned: String::new(),
        slow: Vec::new(),
        parts: Vec::new(),
        newsroom,
        archive: plan.settle.then(IntervalArchive::default),
        secrets: plan.secrets.clone(),
        summary: Summary::new(header),
        host_before: host_counters(),
        warm_at: (!plan.warmup.is_zero()).then(|| Instant::now() + plan.warmup),
    };
    Ok(conductor.conduct())
}

/// A run whose load has ended, and that is neither judged nor reported.
pub struct MeasuredRun {
    summary: Summary,
    /// The intervals, if the transient of the run is to be cut.
    archive: Option<IntervalArchive>,
    newsroom: Option<Newsroom>,
    /// The errors before those of observers: of a lost worker, of the script's teardown.
    errors: Vec<ObserverError>,
    observed: ObserverErrors,
}

impl MeasuredRun {
    /// True if no worker was lost, and neither the script's teardown nor an observer has failed.
    pub fn is_whole(&self) -> bool {
        self.errors.is_empty() && self.observed.is_empty()
    }

    /// Adds metrics that the script counted outside of the load.
    pub fn add_outside(&mut self, metrics: &CustomMetrics) {
        self.summary.add_outside(metrics);
    }

    /// Makes this error of the script the end of the run, unless a worker was lost.
    pub fn threw(&mut self, error: String) {
        let ended = &mut self.summary.ended;
        if !matches!(ended, Ended::Failed(_)) {
            *ended = Ended::Threw(error);
        }
    }

    /// Judges the run, and notifies its observers of the end. They are those of the load, in the
    /// same order.
    pub fn conclude(
        mut self,
        workload: &dyn Workload,
        observers: &mut [&mut dyn Observer],
    ) -> Conducted {
        self.summary.declared = workload.declared();
        let mut observers = Observers::resume(observers, self.observed);
        let (whole, result) = judge(self.summary, self.archive);
        let end = End {
            whole: whole.as_ref().unwrap_or(&result.summary),
            result: &result,
        };
        observers.notify(|observer| observer.ended(&end));
        if let Some(newsroom) = self.newsroom {
            let news = newsroom.ended(RunEnd::of(&end));
            observers.notify(|observer| observer.news(&news));
        }
        let observed = observers.into_errors();
        let errors = self.errors.into_iter().chain(observed.all);
        Conducted {
            result,
            trouble: Trouble::of_all(errors.collect()),
        }
    }
}

impl std::fmt::Debug for MeasuredRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeasuredRun")
            .field("ended", &self.summary.ended)
            .field("is_whole", &self.is_whole())
            .finish_non_exhaustive()
    }
}

/// Returns the action that ends a run when its script raises an error.
fn abort_by(commands: Commands) -> OnError {
    Arc::new(move |error| commands.end_run(Command::Abort, Ended::Threw(error.to_string())))
}

struct Conductor<'a> {
    source: Box<dyn Source>,
    workload: &'a dyn Workload,
    commands: &'a Commands,
    observers: Observers<'a>,
    poll_timeout: Duration,
    watching: Option<Watching>,
    summary: Summary,
    /// The machine's counters at the begin of the measured part.
    host_before: HostCounters,
    /// The end of the warm-up, while it lasts.
    warm_at: Option<Instant>,
    /// The changes of the load that no interval has reported yet.
    changes: Vec<LoadChange>,
    /// The notes about the begin, until an interval has reported them.
    at_begin: Vec<Note>,
    /// The end of the last interval: nanoseconds from the run's zero.
    end_ns: u64,
    /// The notes of what the others send of a lost agent's load, until an interval has some of it.
    announced: Vec<Note>,
    /// The number of agents that were lost.
    lost: usize,
    /// The sentences about those that were back, each after a space.
    returned: String,
    /// The slowest requests that no interval has reported yet.
    slow: Vec<SlowRequest>,
    /// The records of the parts in the next interval, if an observer wants them.
    parts: Vec<PartRecord>,
    /// Makes the news of this run, if an observer wants them.
    newsroom: Option<Newsroom>,
    /// The intervals so far, if the transient of the run is to be cut.
    archive: Option<IntervalArchive>,
    /// The texts that the plan calls secret.
    secrets: Vec<String>,
}

impl Conductor<'_> {
    fn conduct(mut self) -> MeasuredRun {
        loop {
            let usual = self.end_warmup();
            let poll_timeout = match &mut self.watching {
                Some(watching) => watching.next_wait(usual),
                None => usual,
            };
            match self.source.next_event(poll_timeout) {
                None => self.observers.notify(|one| one.idle(&self.summary)),
                Some(Event::Tally(tally)) => self.tally(tally),
                Some(Event::Interval(interval)) => self.interval(interval),
                Some(Event::Log { worker, exchanges }) => {
                    self.observers
                        .notify(|one| one.exchanges(worker, &exchanges));
                }
                Some(Event::Changed(change)) => self.change(change),
                Some(Event::Slow(mut requests)) => self.slow.append(&mut requests),
                Some(Event::Parts(records)) => self.parts = records,
                Some(Event::Ended { reason, unfinished }) => {
                    return self.finish(reason, *unfinished);
                }
            }
        }
    }

    /// Reads the machine's counters when the warm-up is over. Returns the longest wait for an event
    /// until then.
    fn end_warmup(&mut self) -> Duration {
        let Some(warm_at) = self.warm_at else {
            return self.poll_timeout;
        };
        let left = warm_at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.host_before = host_counters();
            self.warm_at = None;
            return self.poll_timeout;
        }
        left.min(self.poll_timeout)
    }

    /// Records a change of the load, to be reported with the next interval.
    fn change(&mut self, change: Change) {
        let warmup_ns = self.summary.plan.warmup.as_nanos() as i64;
        self.changes.push(LoadChange {
            at_ns: change.at_ns as i64 - warmup_ns,
            level: change.level,
            scenario: change.scenario,
        });
    }

    fn tally(&mut self, tally: AnyTally) {
        self.workload.tally(&tally);
        self.observers.notify(|observer| observer.tally(&tally));
        if let Some(newsroom) = &mut self.newsroom {
            newsroom.tally(tally);
        }
    }

    fn interval(&mut self, mut snapshot: Box<Snapshot>) {
        self.mask(&mut snapshot);
        self.end_ns = self.end_ns.max(snapshot.end_ns);
        let watching = self.watching.as_mut().filter(|_| !snapshot.drain);
        let watched = watching.map(Watching::look);
        self.summary.observe(&snapshot);
        if let Some(archive) = &mut self.archive {
            archive.observe(&snapshot);
        }
        if let Some(watched) = &watched {
            self.summary.observe_watched(watched);
        }
        let changes = std::mem::take(&mut self.changes);
        self.summary.changes.extend(&changes);
        let mut notes = std::mem::take(&mut self.at_begin);
        notes.extend(self.lost_agents());
        notes.extend(self.returned_agents());
        notes.extend(self.joined_agents());
        notes.extend(self.commands.take_notes());
        self.summary.notes.extend_from_slice(&notes);
        let interval = Interval {
            snapshot: &snapshot,
            changes: &changes,
            notes: &notes,
            watched: watched.as_ref(),
            summary: &self.summary,
        };
        self.observers
            .notify(|observer| observer.interval(&interval));
        let agents = self.records_of_agents(&snapshot);
        if let Some(newsroom) = &mut self.newsroom {
            let happened = Happened {
                changes,
                notes,
                slow: std::mem::take(&mut self.slow),
                agents,
            };
            let news = newsroom.interval(*snapshot, watched, happened);
            self.observers.notify(|observer| observer.news(&news));
        }
    }

    /// Masks secrets in a record: processes and agents do not know them.
    fn mask(&self, snapshot: &mut Snapshot) {
        if !self.secrets.is_empty() {
            let responses = &mut snapshot.error_responses;
            responses.map_bodies(|body| mask_response(body, &self.secrets));
        }
    }

    /// Returns the records of the agents in the interval that is reported, if they are wanted. Of
    /// agents whose reports others join it is only what the run's own record has of each worker.
    fn records_of_agents(&mut self, whole: &Snapshot) -> Vec<AgentRecord> {
        if self.newsroom.is_none() {
            return Vec::new();
        }
        let mut all = AgentRecord::joined(whole, self.source.agents_in_groups());
        for PartRecord { part, mut snapshot } in std::mem::take(&mut self.parts) {
            self.mask(&mut snapshot);
            let agent = self.source.agent_of(part).unwrap_or_default();
            AgentRecord::add(&mut all, agent, *snapshot);
        }
        all
    }

    /// Returns the notes of each agent that was lost: from when on nothing of it counts, and from
    /// when on the others send its load.
    fn lost_agents(&mut self) -> Vec<Note> {
        let mut notes = Vec::new();
        for loss in self.source.losses() {
            self.lost += 1;
            self.workload.lose(&loss.workers);
            let present = self.source.agents().len().saturating_sub(self.lost);
            notes.extend(agent_notes::of_loss(&loss, present));
            self.announced.extend(agent_notes::of_takeover(&loss));
        }
        // Those who were to send it may be lost before.
        let due = |note: &mut Note| note.at_ns < self.end_ns;
        notes.extend(self.announced.extract_if(.., due));
        notes
    }

    /// Returns a note for each lost agent that is back.
    fn returned_agents(&mut self) -> Vec<Note> {
        let returns = self.source.returns();
        for back in &returns {
            self.returned.push(' ');
            self.returned.push_str(&agent_notes::sentence(back));
        }
        returns.iter().filter_map(agent_notes::of_return).collect()
    }

    /// Returns a note for each agent that has joined, or can't.
    fn joined_agents(&mut self) -> Vec<Note> {
        let mut agents = self.source.agents().len().saturating_sub(self.lost);
        let note = |newcomer: Newcomer| {
            agents += 1;
            let text = format!("Agent {} joins, {agents} agents", newcomer.agent);
            Note::new(newcomer.from_ns, &text)
        };
        let notes = self.source.newcomers().into_iter().filter_map(note);
        let mut notes: Vec<Note> = notes.collect();
        let unstamped = self.source.unstamped();
        notes.extend(agent_notes::of_unstamped(&unstamped, self.end_ns));
        let outsiders = self.source.outsiders();
        notes.extend(outsiders.iter().filter_map(agent_notes::of_outsider));
        self.summary.agents = self.source.agents().to_vec();
        notes
    }

    fn finish(mut self, reason: EndReason, unfinished: Unfinished) -> MeasuredRun {
        self.summary.host = host_counters().since(&self.host_before);
        let mut of_agents = self.lost_agents();
        of_agents.extend(self.returned_agents());
        let ended = self.ended(reason);
        let mut errors = Vec::new();
        if let Ended::Failed(text) = &ended {
            errors.push(ObserverError::from(text.clone()));
        }
        // No later interval can report these.
        self.summary.changes.append(&mut self.changes);
        self.summary.notes.extend(of_agents);
        self.summary.notes.extend(self.commands.end_notes());
        self.summary.finish(ended, unfinished);
        let times = self.source.response_times_of_agents();
        self.summary.odd_agents = odd_agents(self.source.agents(), &times);
        self.summary.begins_off = begins_off(self.source.begins());
        self.source.next_event(FLUSH_TIMEOUT);
        let torn_down = self.workload.teardown();
        self.workload.flush();
        errors.extend(torn_down.err().map(ObserverError::from));
        MeasuredRun {
            summary: self.summary,
            archive: self.archive,
            newsroom: self.newsroom,
            errors,
            observed: self.observers.into_errors(),
        }
    }

    /// Returns the sentence about requests of a closed load with a number of them that nobody sent
    /// after a loss; nothing if all were sent.
    fn missing(&self) -> String {
        let sent = self.summary.total.counts.sent;
        let is_closed = self.summary.model == Model::Closed;
        let limit = self.summary.plan.request_limit.filter(|_| is_closed);
        match limit.map_or(0, |limit| limit.saturating_sub(sent)) {
            0 => String::new(),
            missing => format!(" {missing} of its requests were not sent by anybody else."),
        }
    }

    fn ended(&self, reason: EndReason) -> Ended {
        if reason == EndReason::Failed {
            let failure = self.source.failure(self.end_ns);
            let failure = failure.unwrap_or_else(|| "a worker failed.".to_owned());
            let all_lost = agent_notes::of_all_lost(self.source.agents().len(), self.lost);
            return Ended::Failed(failure + all_lost + &self.returned + &self.missing());
        }
        let ended = self.commands.ended();
        ended.unwrap_or_else(|| planned_end(reason, &self.summary.plan))
    }
}

/// Returns the summary of the whole run, if more was measured than counts, and the part that
/// counts, judged.
fn judge(mut summary: Summary, archive: Option<IntervalArchive>) -> (Option<Summary>, RunResult) {
    let Some(archive) = archive else {
        return (None, RunResult::new(summary));
    };
    summary.transient = Some(match transient(&summary.rows) {
        Transient::Cut { intervals } => Transient::Cut {
            intervals: archive.cut_after(intervals),
        },
        found @ (Transient::Never | Transient::TooShort) => found,
    });
    let settled = archive.cut(summary.clone());
    (Some(summary), RunResult::new(settled))
}

fn planned_end(reason: EndReason, plan: &Plan) -> Ended {
    let has_stages = matches!(
        plan.load.shape,
        Shape::ClosedStages { .. } | Shape::RateStages { .. }
    );
    match reason {
        EndReason::Requests => Ended::Requests,
        EndReason::Stopped => Ended::Interrupted,
        EndReason::Failed => Ended::Unknown,
        EndReason::Duration if has_stages => Ended::Stages,
        EndReason::Duration => Ended::Duration,
    }
}

#[cfg(test)]
mod tests;
