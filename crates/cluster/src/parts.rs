//! A run in parts whose processes somebody else starts, supervises and ends: only their reports
//! arrive here.
//!
//! Locust's children are copies of a Python process, and obey its messages. Each sends its reports
//! as every child does ([`send_reports`](crate::send_reports)), and they are received and merged as
//! those of every child. Who supervises the process ends what it sends when it is lost.

use crate::assignment::shares;
use crate::frame::Frame;
use crate::line::{Line, Remote, Source};
use crate::link::Link;
use crate::loss::{Handover, OnLoss};
use crate::muster::{Common, links};
use loadline_engine::{Readiness, Run, TallyCodec};
use loadline_plan::{HttpVersion, Plan};
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};

/// A run in parts. Dropping it waits until each part has sent its last report, or is lost.
pub struct Parts {
    /// The run, with the merged reports of all parts.
    pub run: Run,
    _links: Vec<Link>,
}

impl Parts {
    /// Creates the run of this plan whose parts send their reports here: each has an equal share of
    /// the plan's workers and a name for the begin of a sentence, and their load begins at this
    /// instant (nanoseconds of `CLOCK_MONOTONIC`). Their scenarios have tallies with this codec, if
    /// they count.
    ///
    /// A part whose input ends before its last report is lost; the others continue.
    pub fn receive(
        plan: &Plan,
        inputs: Vec<(String, impl Read + Send + 'static)>,
        tallies: Option<&TallyCodec>,
        begin_ns: u64,
    ) -> Parts {
        let count = inputs.len();
        let parts: Vec<Range<u32>> = shares(plan.threads, count as u32).collect();
        let (run, inlet) = Run::of_parts(plan, &parts, readiness(), begin_ns);
        let inlet = Arc::new(OnceLock::from(inlet));
        let lines = inputs.into_iter().map(|(name, input)| line(name, input));
        // Locust's users are nobody else's: what a lost part would have sent is lost.
        let handover = Handover::new(plan, OnLoss::Keep, count, 0);
        // Nobody waits for the start of a part.
        let (started, _) = channel();
        let common = Common {
            plan,
            tallies,
            handover: &handover,
            groups: &[],
        };
        Parts {
            run,
            _links: links(&common, lines.collect(), &inlet, &started),
        }
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

/// Returns the state of parts that open their connections when they need them, and know themselves
/// when their load ends.
fn readiness() -> Readiness {
    Readiness {
        connected: 0,
        error: None,
        addresses: Vec::new(),
        left_out: Vec::new(),
        http: HttpVersion::V1_1,
        length_ns: u64::MAX,
    }
}

/// Returns the line of a part, by which nothing is sent to it.
fn line(name: String, input: impl Read + Send + 'static) -> Line {
    let source = Box::new(Input(BufReader::new(input)));
    Line::here(name, Box::new(drop), source, Box::new(Unsupervised))
}

/// The reports of a part.
struct Input<R>(BufReader<R>);

impl<R: Read + Send> Source for Input<R> {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        Frame::read(&mut self.0)
    }
}

/// A process that somebody else supervises.
struct Unsupervised;

impl Remote for Unsupervised {
    fn kill(&mut self) {}

    fn ending(&mut self) -> Option<String> {
        Some("sent no further reports".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::{EndReason, Event};
    use std::time::Duration;

    #[test]
    fn parts_that_send_nothing_more_are_lost_and_named() {
        let plan = Plan {
            threads: 2,
            ..Plan::default()
        };
        let inputs = ["process 1 of 2", "agent b"].map(|name| (name.to_owned(), io::empty()));
        let mut parts = Parts::receive(&plan, inputs.into(), None, 0);
        let event = parts.run.next_event(Duration::from_secs(10));
        let Some(Event::Ended { reason, .. }) = event else {
            panic!("no end but {event:?}");
        };
        assert_eq!(reason, EndReason::Failed);
        let mut lost: Vec<_> = parts
            .run
            .failures()
            .iter()
            .map(ToString::to_string)
            .collect();
        lost.sort();
        assert_eq!(
            lost,
            ["agent b", "process 1 of 2"].map(|part| format!(
                "{part} sent no further reports: the last that it told is the \
                 interval up to 0.0 s, and 50% of the load is lost from there on."
            ))
        );
    }
}
