//! A session: the runs of one command, with what watches, keeps and shows them while they last.
//! Signals end them.

use crate::exporting::{Exporters, variables};
use crate::floor;
use crate::interrupt::{Interrupts, Manner};
use crate::keys::Keys;
use crate::live::Live;
use crate::observers::RunObservers;
use crate::terminal::print_line;
use crate::view::{FRAMES_PER_S, View, ViewOptions, length};
use crate::waiting::Waiting;
use crate::web::Web;
use anyhow::Result;
use loadline_export::sqlite::{SqliteLog, is_database_name};
use loadline_exporters::Requested;
use loadline_live_page::{Baseline, LivePage, Seat};
use loadline_page::Heat;
use loadline_plan::Plan;
use loadline_record::Floor;
use loadline_report::judgement;
use loadline_runner::{
    Commands, Common, Conducted, End, Feed, Planned, Prints, RequestLog, SavedRun, SeriesResult,
    Setup, Steer, Watch, Workload, conduct, conduct_series, workload,
};
use loadline_terminal_view::Keys as KeyMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The outputs and the watching of runs while they last.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The targets of the watch; `None` watches nothing, not even the generator.
    pub(crate) watch: Option<Watch>,
    /// True if the floor of this machine is measured first.
    pub(crate) floor: bool,
    /// The file of the saved runs.
    pub(crate) save: Option<PathBuf>,
    /// The file of the log, with one record per request.
    pub(crate) log: Option<PathBuf>,
    /// The exporters of metrics while runs last.
    pub(crate) exporters: Vec<Requested>,
    /// True if their series are those of single agents.
    pub(crate) per_agent: bool,
    /// True if progress is shown: live on a terminal, else as plain lines.
    pub(crate) progress: bool,
    /// The options of the live view.
    pub(crate) view: ViewOptions,
    /// The live page in a browser, if there is one.
    pub(crate) web: Option<Web>,
    /// The baseline that the live page compares runs with.
    pub(crate) baseline: Option<Arc<Baseline>>,
    /// The place of the run on a page that was there before it, if it was started from one.
    pub(crate) seat: Option<Seat>,
}

/// The data that reports need from a session in addition to its results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// The destination of a script's output.
    pub(crate) prints: Prints,
    /// True if the response times over time are kept for a page.
    pub(crate) heat_maps: bool,
}

/// A run that has ended, before it is reported.
pub(crate) struct EndedRun {
    /// Its result.
    pub(crate) conducted: Conducted,
    /// Its workload: a script concludes after the report.
    pub(crate) workload: Box<dyn Workload>,
    /// Its response times over time, if they are needed.
    pub(crate) heat: Heat,
    /// Its live page, unless the user has left already.
    pub(crate) page: Option<LivePage>,
}

/// Runs that have ended, before they are reported.
pub(crate) struct RanSeries {
    /// Their results.
    pub(crate) series: SeriesResult,
    /// The response times over time of each, if they are needed.
    pub(crate) heats: Vec<Heat>,
    /// Their live page, unless the user has left already.
    pub(crate) page: Option<LivePage>,
}

/// The keys of the view of several runs, whose load must be as planned; without a view there are
/// none.
///
/// # Errors
/// If the system refuses it.
pub(crate) fn keys_of_view(view: Option<&View>, commands: &Commands) -> Result<Option<Keys>> {
    match view {
        Some(view) => Keys::watch(KeyMap::Watch, commands, Some(view.handle())),
        None => Ok(None),
    }
}

impl Session {
    /// Makes one run of this plan.
    ///
    /// # Errors
    /// If it can't be made.
    pub(crate) fn run(&self, plan: &Plan, needs: Needs) -> Result<EndedRun> {
        let setup = Setup {
            watch: self.watch.as_ref(),
            floor: self.floor(plan)?,
            ..Setup::of(plan)
        };
        let commands = Commands::default();
        let (page, feed) = self.page(Arc::new(commands.clone()))?;
        let view = self.view(KeyMap::Load, length(plan))?;
        let mut observers = self.observers(needs.heat_maps, view.as_ref());
        if let Some(feed) = feed {
            observers.add(feed);
        }
        let interrupts = Interrupts::watch(Manner::Gently, &commands)?;
        // A script may take long to load, or for ever.
        let waiting = self.progress.then(Waiting::for_script).transpose()?;
        let workload = workload(plan, needs.prints)?;
        drop(waiting);
        let _keys = match self.progress {
            true => Keys::watch(KeyMap::Load, &commands, view.as_ref().map(View::handle))?,
            false => None,
        };
        let mut conducted = conduct(&setup, workload.as_ref(), &commands, &mut observers.all())?;
        let undelivered = observers.undelivered();
        conducted.result.findings.list.extend(undelivered);
        Ok(EndedRun {
            conducted,
            workload,
            heat: observers.into_heat_maps().pop().unwrap_or_default(),
            page: page.filter(|_| !interrupts.happened()),
        })
    }

    /// Makes the runs of a series, whose floor is that of `plan`.
    ///
    /// # Errors
    /// If the first can't be made.
    pub(crate) fn run_series(
        &self,
        plan: &Plan,
        series: Vec<Planned>,
        needs: Needs,
    ) -> Result<RanSeries> {
        let common = Common {
            watch: self.watch.as_ref(),
            floor: self.floor(plan)?,
            prints: needs.prints,
        };
        let lengths = series.iter().map(|planned| length(&planned.plan));
        let commands = Commands::default();
        let (page, feed) = self.page(Arc::new(commands.clone()))?;
        let view = self.view(KeyMap::Watch, lengths.sum())?;
        let mut observers = self.observers(needs.heat_maps, view.as_ref());
        if let Some(feed) = feed {
            observers.add(feed);
        }
        let interrupts = Interrupts::watch(Manner::Gently, &commands)?;
        let _keys = keys_of_view(view.as_ref(), &commands)?;
        let series = conduct_series(series, &common, &commands, &mut observers.all())?;
        Ok(RanSeries {
            series,
            heats: observers.into_heat_maps(),
            page: page.filter(|_| !interrupts.happened()),
        })
    }

    /// Returns the live page of its runs, which are steered so, if it serves one, and the observer
    /// of a live page. The runs are over on the page when the observer is gone.
    ///
    /// # Errors
    /// If the page can't be served.
    pub(crate) fn page(&self, steer: Arc<dyn Steer>) -> Result<(Option<LivePage>, Option<Feed>)> {
        let saved = self.save.as_deref();
        if let Some(seat) = &self.seat {
            let feed = seat.take(steer, saved.map(Path::to_owned))?;
            return Ok((None, Some(feed)));
        }
        let web = self.web.as_ref();
        let baseline = self.baseline.clone();
        let mut page = web
            .map(|web| web.open(steer, saved, baseline))
            .transpose()?;
        let feed = page.as_mut().and_then(LivePage::feed);
        Ok((page, feed))
    }

    /// Returns the observers of its runs. A further receiver of their events (an exporter, a live
    /// page) is one more observer here.
    pub(crate) fn observers(&self, heat_maps: bool, view: Option<&View>) -> RunObservers {
        let mut observers = RunObservers::default();
        observers.add(Live::new(self.progress, view.map(View::handle)));
        if let Some(path) = &self.save {
            observers.add(SavedRun::new(path, judgement));
        }
        match &self.log {
            Some(path) if is_database_name(path) => observers.add(SqliteLog::new(path)),
            Some(path) => observers.add(RequestLog::new(path)),
            None => {}
        }
        if !self.exporters.is_empty() {
            observers.export(self.exporters());
        }
        if heat_maps {
            observers.keep_heat_maps();
        }
        observers
    }

    fn exporters(&self) -> Exporters {
        let print = Arc::new(|sentence: &str| print_line(sentence));
        let render = |end: &End<'_>| format!("{:#}\n", loadline_report::json(end.result));
        let exporters = Exporters::new(&self.exporters, variables(), print, render);
        exporters.per_agent(self.per_agent)
    }

    /// Returns a live view of runs that last so long together, if it is requested and there is a
    /// terminal for it. If the length is not known, it waits for the first interval.
    ///
    /// # Errors
    /// If it is requested and there is no terminal for it.
    pub(crate) fn view(&self, keys: KeyMap, length: Option<Duration>) -> Result<Option<View>> {
        let written = [&self.save, &self.log].into_iter().flatten();
        if !self.progress || !self.view.is_shown(length, written.map(PathBuf::as_path))? {
            return Ok(None);
        }
        View::new(
            keys,
            FRAMES_PER_S,
            self.view.has_colours(),
            length.is_none(),
        )
        .map(Some)
    }

    fn floor(&self, plan: &Plan) -> Result<Option<Floor>> {
        match self.floor {
            true => floor::before_run(plan),
            false => Ok(None),
        }
    }
}
