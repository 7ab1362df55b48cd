//! Lines: what carries the frames of a link, and who is at the other end. All that the coordinator
//! knows of them is here, so that a part of a run may be in a child or anywhere else.

use crate::frame::Frame;
use std::io;

/// The process at the other end of a line.
pub trait Remote: Send {
    /// Ends it at once.
    fn kill(&mut self);

    /// Returns how it ended, as the rest of a sentence; `None` while it runs.
    fn ending(&mut self) -> Option<String>;
}

/// Receives the frames of a line.
pub trait Source: Send {
    /// Waits for the next frame; `None` at the end.
    ///
    /// # Errors
    /// If something else was received.
    fn next(&mut self) -> io::Result<Option<Frame>>;
}

/// Sends the frames of a line, without waiting for the other end. A frame to an end that is gone is
/// lost.
pub type Sink = Box<dyn FnMut(Frame) + Send>;

/// A line.
pub struct Line {
    /// The name of the part at the other end, as the begin of a sentence.
    pub name: String,
    /// The name of the agent at the other end; `None` if that is on this machine.
    pub agent: Option<String>,
    /// The number of cores that it may use.
    pub cores: u32,
    /// The other end's `CLOCK_MONOTONIC` less that of this process, in nanoseconds: 0 on the same
    /// machine.
    pub clock_ahead_ns: i64,
    /// The most by which that is wrong, in nanoseconds.
    pub clock_error_ns: u64,
    /// The time that a message may take to the other end, in nanoseconds.
    pub head_start_ns: u64,
    /// Sends to the other end. Dropping it ends what the other end receives.
    pub sink: Sink,
    /// Receives from it, on a thread of its own.
    pub source: Box<dyn Source>,
    /// The process at the other end.
    pub remote: Box<dyn Remote>,
}

impl Line {
    /// Creates a line to a process of this machine that has this name, and at whose end messages
    /// are at once.
    pub fn here(
        name: String,
        sink: Sink,
        source: Box<dyn Source>,
        remote: Box<dyn Remote>,
    ) -> Self {
        Line {
            name,
            agent: None,
            cores: 1,
            clock_ahead_ns: 0,
            clock_error_ns: 0,
            head_start_ns: 0,
            sink,
            source,
            remote,
        }
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}
