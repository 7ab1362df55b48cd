//! Conducting a run: the engine's events go to the summary, the saved run, the log and the live
//! display; interrupts and broken conditions end it early.

use crate::connecting::Connecting;
use crate::interrupt::{Interrupts, Manner};
use crate::live::Live;
use anyhow::{Context, Result, anyhow};
use loadline_engine::{EndReason, Event, Run, StartError};
use loadline_page::Heat;
use loadline_plan::{Plan, Shape, Until};
use loadline_reactor::Address;
use loadline_record::{
    Ended, Environment, Exchange, Floor, Header, HostCounters, IntervalArchive, LogWriter, Role,
    RunWriter, Snapshot, Summary, Transient, Unfinished,
};
use loadline_report::{heat_interval, judgement_json};
use loadline_runner::preflight::Reserved;
use loadline_runner::{Watch, Watching};
use loadline_script_lua::Script;
use loadline_verdict::{Goal, RunResult, evaluate_all, transient};
use std::cell::RefCell;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// How long the conductor waits for an event before it looks after the display again.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is kept of a run beside its summary, and what goes into it beside what was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keep<'a> {
    /// Where the run is saved.
    pub(crate) save: Option<Save<'a>>,
    /// What this run is among those of its file, if there are several.
    pub(crate) role: Option<Role>,
    /// Where one record per request goes.
    pub(crate) log: Option<&'a Path>,
    /// What is watched while the run lasts; `None` is nothing, not even the generator.
    pub(crate) watch: Option<&'a Watch>,
    /// What the machine does at best, if it was measured.
    pub(crate) floor: Option<Floor>,
    /// Where the snapshot of each interval is kept.
    pub(crate) snapshots: Option<&'a RefCell<Vec<Snapshot>>>,
    /// Whether the response times of each interval are kept, as an HTML report shows them.
    pub(crate) heat: bool,
}

/// Where a run is saved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Save<'a> {
    /// In this file, in place of whatever it holds.
    Over(&'a Path),
    /// In this file, behind the runs that it holds.
    Behind(&'a Path),
}

/// A run that has ended.
pub(crate) struct Conducted {
    /// What was measured.
    pub(crate) result: RunResult,
    /// Why the saved run or the log is not whole.
    pub(crate) trouble: Option<anyhow::Error>,
    /// The response times over time, if they were to be kept.
    pub(crate) heat: Heat,
}

/// Runs a plan to its end, to the user's or to the script's.
pub(crate) fn conduct(
    plan: &Plan,
    script: Option<&Script>,
    keep: Keep<'_>,
    live: Live,
) -> Result<Conducted> {
    let interrupts = Interrupts::watch(Manner::Gently).context("signals can't be watched")?;
    conduct_one(&interrupts, plan, script, keep, live)
}

/// As [`conduct`], as one run of several, between which interrupts are heard as well.
pub(crate) fn conduct_one(
    interrupts: &Interrupts,
    plan: &Plan,
    script: Option<&Script>,
    keep: Keep<'_>,
    live: Live,
) -> Result<Conducted> {
    let mut watching = keep.watch.map(Watching::prepare).transpose()?;
    let saved = keep
        .save
        .map(|save| Reserved::open(save.path()).map(|file| (save, file)))
        .transpose()?;
    let log = keep.log.map(Reserved::open).transpose()?;
    let environment = Environment {
        floor: keep.floor,
        pacing: Some(loadline_reactor::PACING.to_owned()),
        ..Environment::read()
    };
    let connecting = Connecting::watch(live.is_shown()).context("a thread can't be started")?;
    let run = start(plan.clone(), script, log.is_some())?;
    drop(connecting);
    interrupts.attach(run.handle());
    if let Some(watching) = &mut watching {
        watching.begin(run.addresses(), plan.warmup);
    }
    let header = Header {
        role: keep.role,
        started_monotonic_ns: Some(run.begin_ns()),
        left_out: run.left_out().iter().map(Address::to_string).collect(),
        ..Header::new(plan, environment, SystemTime::now())
    };
    let mut conductor = Conductor {
        interrupts,
        script,
        saved: None,
        log: None,
        trouble: None,
        broken: None,
        goal: Goal::of(plan)?,
        reached: false,
        archive: plan.settle.then(IntervalArchive::default),
        summary: Summary::new(header.clone()),
        watching,
        heat: keep.heat.then(Heat::default),
        run,
        live,
        snapshots: keep.snapshots,
        host_before: HostCounters::read(),
        warm_at: (!plan.warmup.is_zero()).then(|| Instant::now() + plan.warmup),
    };
    if let Some((save, file)) = saved {
        let writer = save.writer(file, &header).map_err(Into::into);
        conductor.saved = conductor.keep_going(writer);
    }
    if let Some(log) = log {
        let writer = LogWriter::new(log.take_empty()).context(NO_LOG);
        conductor.log = conductor.keep_going(writer);
    }
    let conducted = conductor.conduct();
    interrupts.detach();
    Ok(conducted)
}

impl Save<'_> {
    fn path(&self) -> &Path {
        match self {
            Save::Over(path) | Save::Behind(path) => path,
        }
    }

    /// Begins the run in this file, which is open already.
    fn writer(
        self,
        file: Reserved,
        header: &Header,
    ) -> Result<RunWriter<File>, loadline_record::Error> {
        match self {
            Save::Behind(path) if file.is_file() => RunWriter::append(path, header),
            Save::Over(path) | Save::Behind(path) => {
                RunWriter::new(path, file.take_empty(), header)
            }
        }
    }
}

/// Begins a run, with what a script makes of its users if there is one.
pub(crate) fn start(plan: Plan, script: Option<&Script>, log: bool) -> Result<Run, StartError> {
    let Some(script) = script else {
        return Run::start(plan, log);
    };
    let run = Run::start_scenario(plan, log, script.scenarios())?;
    script.watch(run.handle());
    Ok(run)
}

const NO_LOG: &str = "the log can't be written";

struct Conductor<'a> {
    run: Run,
    script: Option<&'a Script>,
    watching: Option<Watching>,
    heat: Option<Heat>,
    live: Live,
    snapshots: Option<&'a RefCell<Vec<Snapshot>>>,
    interrupts: &'a Interrupts,
    summary: Summary,
    saved: Option<RunWriter<File>>,
    log: Option<LogWriter<File>>,
    /// What could not be kept.
    trouble: Option<anyhow::Error>,
    /// The machine's counters when the measured part began.
    host_before: HostCounters,
    /// When the warm-up will be over, while it lasts.
    warm_at: Option<Instant>,
    /// The condition of --abort-on that broke.
    broken: Option<String>,
    /// What the run goes on until, within its duration.
    goal: Option<Goal>,
    /// Whether it was reached.
    reached: bool,
    /// The run as far as it went, if its transient is to be cut.
    archive: Option<IntervalArchive>,
}

impl Conductor<'_> {
    fn conduct(mut self) -> Conducted {
        loop {
            let usual = self.end_warmup();
            let patience = match &mut self.watching {
                Some(watching) => watching.patience(usual),
                None => usual,
            };
            match self.run.next_event(patience) {
                None => self.live.tick(&self.summary),
                Some(Event::Interval(interval)) => self.interval(&interval),
                Some(Event::Ticks { .. }) => {}
                Some(Event::Log { exchanges, .. }) => self.log(&exchanges),
                Some(Event::Ended { reason, unfinished }) => {
                    return self.finish(reason, *unfinished);
                }
            }
        }
    }

    /// Reads the machine's counters when the warm-up is over; how long to wait for an event until then.
    fn end_warmup(&mut self) -> Duration {
        let Some(warm_at) = self.warm_at else {
            return PATIENCE;
        };
        let left = warm_at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.host_before = HostCounters::read();
            self.warm_at = None;
            return PATIENCE;
        }
        left.min(PATIENCE)
    }

    fn interval(&mut self, interval: &Snapshot) {
        let watching = self.watching.as_mut().filter(|_| !interval.drain);
        let watched = watching.map(Watching::look);
        if let Some(mut saved) = self.saved.take() {
            let written = saved.watched_interval(interval, watched.as_ref());
            self.saved = self.keep_going(written.map(|()| saved).map_err(Into::into));
        }
        self.summary.observe(interval);
        if let Some(archive) = &mut self.archive {
            archive.observe(interval);
        }
        if interval.drain {
            return;
        }
        if let Some(snapshots) = self.snapshots {
            snapshots.borrow_mut().push(interval.clone());
        }
        if let Some(heat) = &mut self.heat {
            heat_interval(heat, interval);
        }
        if let Some(watched) = watched {
            self.summary.observe_watched(&watched);
        }
        self.live.interval(&self.summary);
        self.stop_if_broken();
        self.stop_if_reached();
    }

    fn keep_going<T>(&mut self, written: Result<T>) -> Option<T> {
        keep_going(&mut self.trouble, written)
    }

    fn stop_if_broken(&mut self) {
        if self.broken.is_some() {
            return;
        }
        let duration = Duration::from_nanos(self.summary.duration_ns);
        let conditions = &self.summary.plan.abort_on;
        let results = evaluate_all(conditions, &self.summary.total, duration);
        if let Some(broken) = results.into_iter().find(|result| result.is_broken()) {
            self.broken = Some(broken.text);
            self.run.handle().abort();
        }
    }

    /// Stops gently: what is in flight when the goal is reached is waited for, like all before it.
    fn stop_if_reached(&mut self) {
        if !self.reached
            && let Some(goal) = &mut self.goal
            && goal.is_met(&self.summary)
        {
            self.reached = true;
            self.run.handle().stop();
        }
    }

    /// Where the run settled, if that was asked. The saved run keeps all and says what to leave out.
    fn find_transient(&mut self) {
        let Some(archive) = &self.archive else { return };
        self.summary.transient = Some(match transient(&self.summary.rows) {
            Transient::Cut { intervals } => Transient::Cut {
                intervals: archive.cut_after(intervals),
            },
            found => found,
        });
    }

    fn log(&mut self, exchanges: &[Exchange]) {
        if let Some(mut log) = self.log.take() {
            let mut records = exchanges.iter().map(|exchange| log.record(exchange));
            let written = records
                .find(Result::is_err)
                .unwrap_or(Ok(()))
                .context(NO_LOG);
            self.log = self.keep_going(written.map(|()| log));
        }
    }

    fn finish(mut self, reason: EndReason, unfinished: Unfinished) -> Conducted {
        let ended = match self.broken.take() {
            _ if reason == EndReason::Failed => self.lose_worker(),
            Some(text) => Ended::Aborted(text),
            None if self.interrupts.happened() => Ended::Interrupted,
            None if self.reached => match self.summary.plan.until {
                Some(Until::Decided) => Ended::Decided,
                _ => Ended::Precise,
            },
            None => self
                .thrown()
                .unwrap_or_else(|| ended(reason, &self.summary.plan)),
        };
        self.summary.host = HostCounters::read().since(&self.host_before);
        self.summary.finish(ended, unfinished);
        self.live.finish(&self.summary);
        self.find_transient();
        if let Some(log) = self.log.take() {
            self.keep_going(log.finish().context(NO_LOG));
        }
        let saved = self.saved.take();
        // The saved run keeps what the result leaves out at the beginning.
        let (whole, result) = match self.archive.take() {
            Some(archive) => {
                let cut = archive.cut(self.summary.clone());
                (Some(self.summary), RunResult::new(cut))
            }
            None => (None, RunResult::new(self.summary)),
        };
        if let Some(saved) = saved {
            let judgement = judgement_json(&result);
            let whole = whole.as_ref().unwrap_or(&result.summary);
            let finished = saved.finish_judged(whole, Some(&judgement));
            keep_going(&mut self.trouble, finished.map_err(Into::into));
        }
        Conducted {
            result,
            trouble: self.trouble,
            heat: self.heat.unwrap_or_default(),
        }
    }
}

impl Conductor<'_> {
    /// A worker was lost: what was measured is reported, and then why it is not all.
    fn lose_worker(&mut self) -> Ended {
        let failure = self.run.failure();
        let text = failure.map_or_else(|| "a worker failed.".to_owned(), ToString::to_string);
        self.trouble = Some(anyhow!("{text}"));
        Ended::Failed(text)
    }

    /// What the script threw, if it did.
    fn thrown(&self) -> Option<Ended> {
        let error = self.script?.failure()?;
        Some(Ended::Threw(error.to_string()))
    }
}

/// What was measured is worth more than the file it was to be kept in: a file that can't be written is
/// given up, and said at the end.
fn keep_going<T>(trouble: &mut Option<anyhow::Error>, written: Result<T>) -> Option<T> {
    match written {
        Ok(value) => Some(value),
        Err(error) => {
            *trouble = Some(match trouble.take() {
                Some(before) => anyhow!("{before:#}; {error:#}"),
                None => error,
            });
            None
        }
    }
}

fn ended(reason: EndReason, plan: &Plan) -> Ended {
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
