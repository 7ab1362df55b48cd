//! The observers of the command's runs: the terminal, the saved run, the log, the heat maps of a
//! page.

use crate::live::Live;
use loadline_page::Heat;
use loadline_record::Header;
use loadline_report::{heat_interval, judgement_json};
use loadline_runner::{End, Interval, Observed, Observer, RequestLog, SavedRun, has_measured};
use std::path::Path;

/// What observes the runs of a command.
pub(crate) struct RunObservers {
    live: Live,
    saved: Option<SavedRun>,
    log: Option<RequestLog>,
    heat_maps: Option<HeatMaps>,
}

impl RunObservers {
    /// Progress on stderr if it is `shown`, and nothing else.
    pub(crate) fn new(shown: bool) -> RunObservers {
        RunObservers {
            live: Live::new(shown),
            saved: None,
            log: None,
            heat_maps: None,
        }
    }

    /// The runs are saved in this file as well.
    pub(crate) fn save(mut self, path: Option<&Path>) -> Self {
        let judged = |path: &Path| SavedRun::new(path, judgement_json);
        self.saved = path.map(judged);
        self
    }

    /// Each request is logged in this file as well.
    pub(crate) fn log(mut self, path: Option<&Path>) -> Self {
        self.log = path.map(RequestLog::new);
        self
    }

    /// The response times of each run over time are kept as well, if a page shows them.
    pub(crate) fn heat_maps(mut self, wanted: bool) -> Self {
        self.heat_maps = wanted.then(HeatMaps::default);
        self
    }

    /// All of them.
    pub(crate) fn all(&mut self) -> Vec<&mut dyn Observer> {
        let mut all: Vec<&mut dyn Observer> = vec![&mut self.live];
        if let Some(saved) = &mut self.saved {
            all.push(saved);
        }
        if let Some(log) = &mut self.log {
            all.push(log);
        }
        if let Some(heat_maps) = &mut self.heat_maps {
            all.push(heat_maps);
        }
        all
    }

    /// The response times over time of each run that measured anything; none if they were not kept.
    pub(crate) fn into_heat_maps(self) -> Vec<Heat> {
        self.heat_maps.unwrap_or_default().0
    }
}

/// The response times of each run over time.
#[derive(Default)]
struct HeatMaps(Vec<Heat>);

impl Observer for HeatMaps {
    fn begun(&mut self, _: &Header) -> Observed {
        self.0.push(Heat::default());
        Ok(())
    }

    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        if let Some(heat) = self.0.last_mut() {
            heat_interval(heat, interval.snapshot);
        }
        Ok(())
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        if !has_measured(&end.result.summary) {
            self.0.pop();
        }
        Ok(())
    }
}
