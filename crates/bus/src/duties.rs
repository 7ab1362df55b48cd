//! What an agent does for a run beside passing on the frames of its part: it sends the reports of
//! the part to a merger, or is one. Both last until the coordinator has everything, and so beyond
//! the end of the part's own process.

use crate::connection::Bus;
use crate::merging::Merging;
use crate::reporting::Reporting;
use loadline_cluster::{Frame, ToAgent};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The duties of an agent that has a part of a run.
pub(crate) struct Duties {
    bus: Bus,
    run: String,
    merging: Option<Merging>,
    shared: Arc<Shared>,
}

/// The reports of the part, for the thread that receives them from its process.
pub(crate) struct Shared {
    reporting: Mutex<Reporting>,
    /// True once the process has sent its last message.
    is_done: AtomicBool,
}

impl Duties {
    /// Creates the duties of an agent in a run: nobody joins reports.
    pub(crate) fn new(bus: &Bus, run: &str) -> Self {
        Duties {
            bus: bus.clone(),
            run: run.to_owned(),
            merging: None,
            shared: Arc::new(Shared {
                reporting: Mutex::new(Reporting::new(bus, run)),
                is_done: AtomicBool::new(false),
            }),
        }
    }

    /// Returns the reports of the part.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Obeys a message of the coordinator; what the agent joins is sent by `send`.
    ///
    /// # Errors
    /// If the message or the bus can't be used.
    pub(crate) fn obey(
        &mut self,
        message: &[u8],
        send: impl FnMut(Frame) + Send + 'static,
    ) -> io::Result<()> {
        match ToAgent::read(message)? {
            ToAgent::SendTo {
                merger,
                part,
                counted_before,
            } => {
                let mut reporting = self.shared.reporting();
                let begun = reporting.send_to(merger, part, counted_before);
                begun.map_err(io::Error::other)
            }
            ToAgent::Counted { before } => {
                self.shared.reporting().forget(before);
                Ok(())
            }
            ToAgent::Merge(order) => {
                let merging = Merging::begin(&self.bus, &self.run, &order, send)?;
                self.merging = Some(merging);
                Ok(())
            }
            ToAgent::Lose { part, failure } => {
                if let Some(merging) = &self.merging {
                    merging.lose(part, failure);
                }
                Ok(())
            }
        }
    }

    /// Takes what the merger has acknowledged.
    pub(crate) fn receive(&self) {
        self.shared.reporting().receive();
    }

    /// Sends a sign of life to the merger.
    pub(crate) fn beat(&self) {
        self.shared.reporting().beat();
    }

    /// True if nothing is left to do for a part whose process has ended: at once, unless it ended
    /// well.
    pub(crate) fn are_over(&self) -> bool {
        let joins = self.merging.as_ref().is_some_and(|one| !one.is_over());
        let is_done = self.shared.is_done.load(Ordering::Relaxed);
        !is_done || (!joins && self.shared.reporting().is_counted())
    }
}

impl Shared {
    /// Takes a frame of the part's process. Returns the frame for the coordinator: a sign of life
    /// if it is a report for a merger.
    pub(crate) fn take(&self, frame: Frame) -> Frame {
        if frame.is_done() {
            self.is_done.store(true, Ordering::Relaxed);
        }
        let Frame::Report(report) = &frame else {
            return frame;
        };
        match self.reporting().send(report) {
            Ok(true) => Frame::alive(),
            // The coordinator says what is wrong with it.
            Ok(false) | Err(_) => frame,
        }
    }

    fn reporting(&self) -> MutexGuard<'_, Reporting> {
        let reporting = self.reporting.lock();
        reporting.unwrap_or_else(PoisonError::into_inner)
    }
}
