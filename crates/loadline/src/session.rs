//! A session: the runs of one command, with what watches, keeps and shows them while they last.
//! Signals end them.

use crate::floor;
use crate::interrupt::{Interrupts, Manner};
use crate::keys::Keys;
use crate::live::Live;
use crate::observers::RunObservers;
use crate::waiting::Waiting;
use anyhow::Result;
use loadline_export::sqlite::{SqliteLog, is_database_name};
use loadline_page::Heat;
use loadline_plan::Plan;
use loadline_record::Floor;
use loadline_report::judgement;
use loadline_runner::{
    Commands, Common, Conducted, Planned, Prints, RequestLog, SavedRun, SeriesResult, Setup, Watch,
    Workload, conduct, conduct_series, workload,
};
use std::path::PathBuf;

/// What is kept, shown and watched while runs last.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// What is watched while a run lasts; `None` is nothing, not even the generator.
    pub(crate) watch: Option<Watch>,
    /// Whether it is first measured what this machine can do at best.
    pub(crate) floor: bool,
    /// Where the runs are saved.
    pub(crate) save: Option<PathBuf>,
    /// Where one record per request goes.
    pub(crate) log: Option<PathBuf>,
    /// Whether progress is shown: live on a terminal, else as plain lines.
    pub(crate) progress: bool,
}

/// What reports take from a session beside its results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Where a script prints.
    pub(crate) prints: Prints,
    /// Whether the response times over time are kept for a page.
    pub(crate) heat_maps: bool,
}

/// A run that has ended, before it is reported.
pub(crate) struct Ran {
    /// Its result.
    pub(crate) conducted: Conducted,
    /// What its users did: a script concludes behind the report.
    pub(crate) workload: Box<dyn Workload>,
    /// Its response times over time, if they are needed.
    pub(crate) heat: Heat,
}

impl Session {
    /// Makes one run of this plan.
    ///
    /// # Errors
    /// If it can't be made.
    pub(crate) fn run(&self, plan: &Plan, needs: Needs) -> Result<Ran> {
        let setup = Setup {
            watch: self.watch.as_ref(),
            floor: self.floor(plan)?,
            ..Setup::of(plan)
        };
        let mut observers = self.observers(needs.heat_maps);
        let commands = Commands::default();
        let _interrupts = Interrupts::watch(Manner::Gently, &commands)?;
        // A script may take long to load, or for ever.
        let waiting = self.progress.then(Waiting::for_script).transpose()?;
        let workload = workload(plan, needs.prints)?;
        drop(waiting);
        let _keys = self
            .progress
            .then(|| Keys::watch(&commands))
            .transpose()?
            .flatten();
        let conducted = conduct(&setup, workload.as_ref(), &commands, &mut observers.all())?;
        Ok(Ran {
            conducted,
            workload,
            heat: observers.into_heat_maps().pop().unwrap_or_default(),
        })
    }

    /// Makes the runs of a series, whose floor is that of `plan`; also the response times of each
    /// over time, if they are needed.
    ///
    /// # Errors
    /// If the first can't be made.
    pub(crate) fn run_series(
        &self,
        plan: &Plan,
        series: Vec<Planned>,
        needs: Needs,
    ) -> Result<(SeriesResult, Vec<Heat>)> {
        let common = Common {
            watch: self.watch.as_ref(),
            floor: self.floor(plan)?,
            prints: needs.prints,
        };
        let mut observers = self.observers(needs.heat_maps);
        let commands = Commands::default();
        let _interrupts = Interrupts::watch(Manner::Gently, &commands)?;
        let result = conduct_series(series, &common, &commands, &mut observers.all())?;
        Ok((result, observers.into_heat_maps()))
    }

    /// What observes its runs. Whatever else is to be told of them (an exporter, a live page) is
    /// one more observer here.
    pub(crate) fn observers(&self, heat_maps: bool) -> RunObservers {
        let mut observers = RunObservers::default();
        observers.add(Live::new(self.progress));
        if let Some(path) = &self.save {
            observers.add(SavedRun::new(path, judgement));
        }
        match &self.log {
            Some(path) if is_database_name(path) => observers.add(SqliteLog::new(path)),
            Some(path) => observers.add(RequestLog::new(path)),
            None => {}
        }
        if heat_maps {
            observers.keep_heat_maps();
        }
        observers
    }

    fn floor(&self, plan: &Plan) -> Result<Option<Floor>> {
        match self.floor {
            true => floor::before_run(plan),
            false => Ok(None),
        }
    }
}
