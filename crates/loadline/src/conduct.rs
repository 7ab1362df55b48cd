//! Conducting a run: the engine's events go to the summary, the saved run, the log and the live
//! display; interrupts and broken conditions end it early.

use crate::interrupt::Interrupts;
use crate::live::Live;
use anyhow::{Context, Result};
use loadline_engine::{EndReason, Event, Run};
use loadline_plan::{Plan, Shape};
use loadline_record::{
    Ended, Environment, Exchange, Header, LogWriter, RunWriter, Snapshot, Summary, Unfinished,
};
use loadline_verdict::evaluate_all;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long the conductor waits for an event before it looks after the display again.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is kept of a run beside its summary.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep<'a> {
    /// Where the run is saved.
    pub(crate) save: Option<&'a Path>,
    /// Where one record per request goes.
    pub(crate) log: Option<&'a Path>,
}

/// Runs a plan to its end, or to the user's.
pub(crate) fn conduct(plan: &Plan, keep: Keep<'_>, live: Live) -> Result<Summary> {
    for path in [keep.save, keep.log].into_iter().flatten() {
        ensure_writable(path)?;
    }
    let environment = Environment::read();
    let run = Run::start(plan.clone(), keep.log.is_some())?;
    let header = Header::new(plan, environment, SystemTime::now());
    let conductor = Conductor {
        interrupts: Interrupts::watch(run.handle()).context("signals can't be watched")?,
        saved: keep
            .save
            .map(|path| RunWriter::create(path, &header))
            .transpose()?,
        log: keep.log.map(create_log).transpose()?,
        broken: None,
        summary: Summary::new(header),
        run,
        live,
    };
    conductor.conduct()
}

/// Finds out before anything is sent whether a file can be written, and leaves what it holds.
fn ensure_writable(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.with_context(|| format!("{} can't be written", path.display()))?;
    if is_new {
        // The run may not start: then nothing is left behind.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

fn create_log(path: &Path) -> Result<LogWriter<File>> {
    LogWriter::create(path).with_context(|| format!("{} can't be written", path.display()))
}

struct Conductor {
    run: Run,
    live: Live,
    interrupts: Interrupts,
    summary: Summary,
    saved: Option<RunWriter<File>>,
    log: Option<LogWriter<File>>,
    /// The condition of --abort-on that broke.
    broken: Option<String>,
}

impl Conductor {
    fn conduct(mut self) -> Result<Summary> {
        loop {
            let event = self.run.next_event(PATIENCE).context("a worker failed")?;
            match event {
                None => self.live.tick(&self.summary),
                Some(Event::Interval(interval)) => self.interval(*interval)?,
                Some(Event::Log(exchanges)) => self.log(&exchanges)?,
                Some(Event::Ended { reason, unfinished }) => {
                    return self.finish(reason, unfinished);
                }
            }
        }
    }

    fn interval(&mut self, interval: Snapshot) -> Result<()> {
        if let Some(saved) = &mut self.saved {
            saved.interval(&interval)?;
        }
        self.summary.observe(&interval);
        self.live.interval(&self.summary);
        self.stop_if_broken();
        Ok(())
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

    fn log(&mut self, exchanges: &[Exchange]) -> Result<()> {
        if let Some(log) = &mut self.log {
            for exchange in exchanges {
                log.record(exchange).context("the log can't be written")?;
            }
        }
        Ok(())
    }

    fn finish(mut self, reason: EndReason, unfinished: Unfinished) -> Result<Summary> {
        self.live.clear();
        let ended = match self.broken.take() {
            Some(text) => Ended::Aborted(text),
            None if self.interrupts.happened() => Ended::Interrupted,
            None => ended(reason, &self.summary.plan),
        };
        self.summary.finish(ended, unfinished);
        if let Some(saved) = self.saved {
            saved.finish(&self.summary)?;
        }
        if let Some(log) = self.log {
            log.finish().context("the log can't be written")?;
        }
        Ok(self.summary)
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
        EndReason::Duration if has_stages => Ended::Stages,
        EndReason::Duration => Ended::Duration,
    }
}
