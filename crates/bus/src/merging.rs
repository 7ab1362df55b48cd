//! The reports of a group, which an agent joins for the coordinator.

use crate::connection::{Bus, Subscription};
use crate::error::BusError;
use crate::line_end::LineEnd;
use crate::parcel::Parcel;
use crate::protocol::{self, HEARTBEAT};
use loadline_cluster::{Frame, MergeOrder, merged};
use loadline_engine::{GroupReports, WorkerFailure};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The interval in which reports are joined.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A merger at work.
pub(crate) struct Merging {
    losses: Sender<(usize, WorkerFailure)>,
    is_abandoned: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The merger's ends of the lines to the parts of its group.
struct Group {
    merger: u32,
    reports: GroupReports,
    parts: Vec<(LineEnd, Subscription)>,
    losses: Receiver<(usize, WorkerFailure)>,
    is_abandoned: Arc<AtomicBool>,
}

impl Merging {
    /// Begins to join the reports of a group; `send` sends frames to the coordinator.
    ///
    /// # Errors
    /// If the order or the bus can't be used.
    pub(crate) fn begin(
        bus: &Bus,
        run: &str,
        order: &MergeOrder,
        send: impl FnMut(Frame) + Send + 'static,
    ) -> io::Result<Self> {
        let line = |part: u32| -> Result<(LineEnd, Subscription), BusError> {
            let from = bus.subscribe(&protocol::to_merger(run, order.merger, part))?;
            let to = protocol::from_merger(run, order.merger, part);
            Ok((LineEnd::new(bus, to), from))
        };
        let parts = order.parts.iter().map(|(part, _)| line(*part));
        let (losses, lost) = channel();
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let group = Group {
            merger: order.merger,
            reports: order.reports()?,
            parts: parts.collect::<Result<_, _>>().map_err(io::Error::other)?,
            losses: lost,
            is_abandoned: Arc::clone(&is_abandoned),
        };
        Ok(Merging {
            losses,
            is_abandoned,
            thread: thread::spawn(move || group.run(send)),
        })
    }

    /// Marks a part of the group as lost.
    pub(crate) fn lose(&self, part: usize, failure: WorkerFailure) {
        // Whoever has joined everything needs no losses.
        let _ = self.losses.send((part, failure));
    }

    /// True if everything is joined.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }
}

impl Drop for Merging {
    fn drop(&mut self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }
}

impl Group {
    fn run(mut self, mut send: impl FnMut(Frame)) {
        let mut beaten: Option<Instant> = None;
        while !self.is_abandoned.load(Ordering::Relaxed) {
            self.receive();
            while let Ok(Some(message)) = self.reports.next_message() {
                send(merged(self.merger, &message));
            }
            if self.reports.is_over() {
                return;
            }
            if beaten.is_none_or(|beaten| beaten.elapsed() >= HEARTBEAT) {
                beaten = Some(Instant::now());
                self.parts.iter_mut().for_each(|(line, _)| line.beat());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Takes what has arrived.
    fn receive(&mut self) {
        for (part, (line, from)) in self.parts.iter_mut().enumerate() {
            for message in from.messages.try_iter() {
                // What is no message of a line is none of a part.
                if let Ok(Some(Parcel::Frame(Frame::Report(report)))) = line.take(&message.contents)
                {
                    self.reports.take(part, &report);
                }
            }
        }
        // A part that is lost has sent before what counts.
        for (part, failure) in self.losses.try_iter() {
            self.reports.lose(part, &failure);
        }
    }
}
