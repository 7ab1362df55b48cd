//! Parts that join a run while it lasts.
//!
//! A recruiter looks for them on a thread of its own. Each opens its connections as those of the
//! beginning did; then all receive the second from which each has an equal share of the arrivals,
//! and the newcomer what happened before: which changes the schedule has, and who has which share.
//! A part is numbered by the order in which it was found, and so are its workers.

use crate::assignment::Assignment;
use crate::ledger::Outsider;
use crate::line::Line;
use crate::link::{Link, Part, Started};
use crate::loss::{Course, Handover};
use crate::message::Before;
use loadline_engine::{CHANGE_LEAD_NS, Change, Inlet, TakeOver, TallyCodec};
use loadline_plan::Plan;
use loadline_reactor::monotonic_ns;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// The time between two looks for those who may join.
const RECRUITING_INTERVAL: Duration = Duration::from_millis(500);
const SECOND_NS: u64 = 1_000_000_000;

/// Looks for one more process for a part of the run, and returns the line to it if there is one.
pub type Recruiter = Box<dyn FnMut() -> Option<Line> + Send>;

/// An agent that has joined a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newcomer {
    /// The number of its part.
    pub part: u32,
    /// Its name.
    pub agent: String,
    /// Its workers.
    pub workers: Range<u32>,
    /// The instant from which it has a share of the load: nanoseconds from the run's zero.
    pub from_ns: u64,
}

/// What a part that joins has to know.
pub(crate) struct Enlistment {
    pub(crate) plan: Box<Plan>,
    pub(crate) assignment: Assignment,
    /// The codec of its workers' tallies, if they have any.
    pub(crate) tallies: Option<TallyCodec>,
    pub(crate) handover: Handover,
    pub(crate) inlet: Arc<OnceLock<Inlet>>,
    pub(crate) course: Course,
    pub(crate) head_start_ns: u64,
    /// The workers of each part.
    pub(crate) each: u32,
}

/// Those who join.
pub(crate) struct Newcomers {
    enlistment: Enlistment,
    /// The number of the next worker.
    next_worker: u32,
    lines: Receiver<Line>,
    names: Vec<(u32, Option<String>)>,
    /// Where each part says that it has begun, and where this is received.
    begins: Sender<(u32, Started)>,
    begun: Receiver<(u32, Started)>,
    sender: Sender<Newcomer>,
}

impl Newcomers {
    /// Begins to look for those who may join, until the run is over.
    pub(crate) fn new(
        enlistment: Enlistment,
        mut recruiter: Recruiter,
        is_over: Arc<AtomicBool>,
        sender: Sender<Newcomer>,
    ) -> Self {
        let (send, lines) = channel();
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                if recruiter().is_some_and(|line| send.send(line).is_err()) {
                    return;
                }
                thread::sleep(RECRUITING_INTERVAL);
            }
        });
        let (begins, begun) = channel();
        Newcomers {
            next_worker: enlistment.plan.threads,
            enlistment,
            lines,
            names: Vec::new(),
            begins,
            begun,
            sender,
        }
    }

    /// Assigns a part to each process that was found.
    pub(crate) fn take_in(&mut self, links: &mut Vec<Link>) {
        while let Ok(line) = self.lines.try_recv() {
            let Enlistment {
                plan,
                assignment,
                tallies,
                handover,
                inlet,
                each,
                ..
            } = &self.enlistment;
            let workers = self.next_worker..self.next_worker + each;
            self.next_worker = workers.end;
            handover.enter();
            let part = Part {
                index: links.len() as u32,
                name: line.name.clone(),
                agent: line.agent.clone(),
                workers,
                scenarios: plan.scenarios.len().max(1),
                tallies: tallies.clone(),
                handover: handover.clone(),
                group: None,
            };
            self.names.push((part.index, line.agent.clone()));
            let mut link = Link::new(line, part, Arc::clone(inlet), self.begins.clone());
            assignment.give(&mut link);
            links.push(link);
        }
    }

    /// Returns the parts whose connections are open since the last call. Those that can't open
    /// theirs stay out, which is noted.
    pub(crate) fn ready(&mut self) -> Vec<u32> {
        let started: Vec<(u32, Started)> = self.begun.try_iter().collect();
        let ready = started.into_iter().filter_map(|(index, ready)| {
            if let (Err(reason), Some(agent)) = (&ready, self.agent(index)) {
                self.enlistment.handover.ledger().refuse(Outsider {
                    agent: agent.to_owned(),
                    reason: reason.clone(),
                    at_ns: self.now_ns(),
                });
            }
            ready.is_ok().then_some(index)
        });
        ready.collect()
    }

    /// Returns the name of the agent that has the part of this number.
    fn agent(&self, index: u32) -> Option<&str> {
        let found = self.names.iter().find(|(number, _)| *number == index);
        found.and_then(|(_, agent)| agent.as_deref())
    }

    /// Returns the time since the run's zero, in nanoseconds.
    fn now_ns(&self) -> u64 {
        let zero_ns = self.enlistment.course.begin_ns + self.zero_ns();
        monotonic_ns().saturating_sub(zero_ns)
    }

    /// Returns the next whole second, in nanoseconds from the begin of the load, that can
    /// reach all in time, and that is not before `after_ns`; `None` if the load is over by then.
    pub(crate) fn next_second_ns(&self, after_ns: u64) -> Option<u64> {
        let Course {
            begin_ns,
            length_ns,
        } = self.enlistment.course;
        let lead_ns = self.enlistment.head_start_ns + CHANGE_LEAD_NS;
        let soon_ns = (monotonic_ns() + lead_ns).saturating_sub(begin_ns);
        let zero_ns = self.zero_ns();
        let measured_ns = soon_ns.max(after_ns).saturating_sub(zero_ns);
        let at_ns = zero_ns + measured_ns.div_ceil(SECOND_NS) * SECOND_NS;
        (at_ns < length_ns).then_some(at_ns)
    }

    /// Returns the run's zero, in nanoseconds from the begin of the load.
    fn zero_ns(&self) -> u64 {
        u64::try_from(self.enlistment.plan.warmup.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Has a part begin at this instant, and sends it what happened before.
    pub(crate) fn begin(
        &mut self,
        links: &mut [Link],
        index: u32,
        at_ns: u64,
        (changes, takeovers): (&[Change], &[TakeOver]),
        inlet: &Inlet,
    ) {
        let from_ns = at_ns - self.zero_ns();
        let link = &mut links[index as usize];
        inlet.join_part(index as usize, link.workers(), from_ns);
        let before = Before {
            changes: changes.to_vec(),
            takeovers: takeovers.to_vec(),
        };
        link.start(self.enlistment.course, before);
        let Enlistment { handover, each, .. } = &self.enlistment;
        handover.join(*each, at_ns);
        // If it was lost in the meantime, nobody else says so.
        link.report_loss(inlet);
        if let Some(agent) = self.agent(index) {
            let _ = self.sender.send(Newcomer {
                part: index,
                agent: agent.to_owned(),
                workers: links[index as usize].workers(),
                from_ns,
            });
        }
    }
}
