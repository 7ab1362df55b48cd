//! The exporters of a run that lasts, together.

use crate::exporter::{BatchContent, Exporter, PrintLine, Running, TIME_AT_END};
use crate::{Batch, Delivery};
use std::io;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Exporters of a run that lasts.
#[derive(Default)]
pub struct RunningExporters(Vec<Running>);

impl RunningExporters {
    /// Starts exporters.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub fn start(exporters: Vec<Exporter>, print: &PrintLine) -> io::Result<RunningExporters> {
        let start = |exporter: Exporter| exporter.start(Arc::clone(print));
        let running = exporters.into_iter().map(start);
        running.collect::<Result<_, _>>().map(RunningExporters)
    }

    /// Hands each exporter the batch that is made for what it writes. Never waits.
    pub fn put(&self, mut make: impl FnMut(BatchContent) -> Arc<Batch>) {
        for running in &self.0 {
            running.outbox.put(make(running.content));
        }
    }

    /// Waits until all is delivered, for at most some seconds; reports what was not, and returns
    /// what became of the messages of each.
    pub fn end(self, print: &PrintLine) -> Vec<Delivery> {
        let until = Instant::now() + TIME_AT_END;
        self.0.iter().for_each(|running| running.close(until));
        let join = |running: Running| running.join(until);
        let deliveries: Vec<Delivery> = self.0.into_iter().map(join).collect();
        let sentences = deliveries.iter().filter_map(Delivery::sentence);
        sentences.for_each(|sentence| print(&sentence));
        deliveries
    }
}

/// Returns the time of day in nanoseconds since 1970.
pub fn now_ns() -> u64 {
    ns_of(SystemTime::now())
}

/// Returns an instant in nanoseconds since 1970.
pub fn ns_of(instant: SystemTime) -> u64 {
    let since = instant.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
