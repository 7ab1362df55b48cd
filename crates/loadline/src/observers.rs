//! The observers of the runs of a session, among them the heat maps of a page.

use crate::exporting::Exporters;
use loadline_exporters::Delivery;
use loadline_page::Heat;
use loadline_record::Header;
use loadline_report::heat_interval;
use loadline_runner::{End, Interval, Observed, Observer, has_measured};
use loadline_verdict::{Cause, Finding, Grade};

/// The observers of a session's runs.
#[derive(Default)]
pub(crate) struct RunObservers {
    observers: Vec<Box<dyn Observer>>,
    exporters: Option<Exporters>,
    heat_maps: Option<HeatMaps>,
}

impl RunObservers {
    /// Adds an observer, which is notified after the others.
    pub(crate) fn add(&mut self, observer: impl Observer + 'static) {
        self.observers.push(Box::new(observer));
    }

    /// Adds the exporters of metrics.
    pub(crate) fn export(&mut self, exporters: Exporters) {
        self.exporters = Some(exporters);
    }

    /// The response times of each run over time are kept as well.
    pub(crate) fn keep_heat_maps(&mut self) {
        self.heat_maps = Some(HeatMaps::default());
    }

    /// All of them.
    pub(crate) fn all(&mut self) -> Vec<&mut dyn Observer> {
        let mut all: Vec<&mut dyn Observer> = Vec::new();
        for observer in &mut self.observers {
            all.push(observer.as_mut());
        }
        if let Some(exporters) = &mut self.exporters {
            all.push(exporters);
        }
        if let Some(heat_maps) = &mut self.heat_maps {
            all.push(heat_maps);
        }
        all
    }

    /// Returns the findings about metrics of the last run that were not delivered.
    pub(crate) fn undelivered(&self) -> Vec<Finding> {
        let deliveries = self.exporters.iter().flat_map(Exporters::deliveries);
        let sentences = deliveries.filter_map(Delivery::sentence);
        let finding = |sentence| Finding {
            grade: Grade::Valid,
            cause: Cause::NotDelivered { sentence },
        };
        sentences.map(finding).collect()
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
