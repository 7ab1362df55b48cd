//! The way of a part's reports from its agent: to the coordinator, or to a merger.
//!
//! Reports for a merger are kept until the coordinator says that they are counted, whatever the
//! merger has received: it may be lost with them.

use crate::connection::{Bus, Subscription};
use crate::error::BusError;
use crate::line_end::LineEnd;
use crate::parcel::Parcel;
use crate::protocol;
use loadline_cluster::Frame;
use loadline_engine::{ConveyError, KeptReports};

/// The reports of a part.
pub(crate) struct Reporting {
    bus: Bus,
    run: String,
    kept: KeptReports,
    /// The line to the merger, if there is one, and what comes from there.
    line: Option<(LineEnd, Subscription)>,
}

impl Reporting {
    /// Creates the reports of a part of this run, for the coordinator.
    pub(crate) fn new(bus: &Bus, run: &str) -> Self {
        Reporting {
            bus: bus.clone(),
            run: run.to_owned(),
            kept: KeptReports::default(),
            line: None,
        }
    }

    /// Has this merger receive the reports of this part that are not counted, and all later ones.
    pub(crate) fn send_to(
        &mut self,
        merger: u32,
        part: u32,
        counted_before: Option<u32>,
    ) -> Result<(), BusError> {
        self.kept.forget(counted_before);
        let back = self
            .bus
            .subscribe(&protocol::from_merger(&self.run, merger, part))?;
        let mut line = LineEnd::new(&self.bus, protocol::to_merger(&self.run, merger, part));
        let again = self.kept.again();
        for message in again.map_err(|error| BusError::Broken(error.to_string()))? {
            line.send(Parcel::Frame(Frame::Report(message)));
        }
        self.line = Some((line, back));
        Ok(())
    }

    /// Forgets reports that are counted.
    pub(crate) fn forget(&mut self, counted_before: Option<u32>) {
        self.kept.forget(counted_before);
    }

    /// Sends a report; returns false if it is for the coordinator.
    ///
    /// # Errors
    /// If it is no report.
    pub(crate) fn send(&mut self, report: &[u8]) -> Result<bool, ConveyError> {
        let Some((line, _)) = &mut self.line else {
            return Ok(false);
        };
        let message = self.kept.keep(report)?;
        line.send(Parcel::Frame(Frame::Report(message)));
        Ok(true)
    }

    /// True if no report is missing to the coordinator.
    pub(crate) fn is_counted(&self) -> bool {
        self.line.is_none() || self.kept.is_empty()
    }

    /// Takes what the merger has acknowledged.
    pub(crate) fn receive(&mut self) {
        let Some((line, back)) = &mut self.line else {
            return;
        };
        for message in back.messages.try_iter() {
            // What can't be read acknowledges nothing.
            let _ = line.take(&message.contents);
        }
    }

    /// Sends a sign of life to the merger, and again what it has not acknowledged.
    pub(crate) fn beat(&mut self) {
        if let Some((line, _)) = &mut self.line {
            line.beat();
        }
    }
}
