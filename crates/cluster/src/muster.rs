//! The parts of a run up to the begin of its load: each has a line and some of the workers, and
//! beyond a number of parts a group; it is assigned the plan, and opens its connections.

use crate::assignment::{Assignment, shares};
use crate::group::{Grounds, Group, Grouping};
use crate::line::Line;
use crate::link::{Beginning, Link, Part, Started};
use crate::loss::{Course, Handover, OnLoss};
use crate::message::{Before, Job};
use crate::newcomers::{Enlistment, Newcomers};
use crate::supervision::Supervision;
use loadline_engine::{Allotments, Inlet, Order, Readiness, Run, StartError, TallyCodec};
use loadline_plan::Plan;
use loadline_reactor::monotonic_ns;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The interval in which the begin of children is awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The error for a child that found another version of HTTP than those before it.
const OTHER_HTTP: &str = "the server chose another version of HTTP than for the others; give \
                          --http 1.1 or 2";

/// The behaviour and the tallies of the users of a run on several processes.
#[derive(Clone, Debug, Default)]
pub struct Users {
    /// The behaviour of the users; `None` if they send the requests of the plan.
    pub job: Option<Job>,
    /// The codec of their scenarios' tallies, if they count.
    pub tallies: Option<TallyCodec>,
}

/// The division of a run among machines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machines {
    /// The heirs of the load of a machine that is lost.
    pub on_loss: OnLoss,
    /// The groups in which reports are joined on the way.
    pub grouping: Grouping,
}

/// The parts of a run.
pub(crate) struct Muster<'a> {
    plan: &'a Plan,
    tallies: Option<&'a TallyCodec>,
    handover: Handover,
    /// The workers of each.
    shares: Vec<Range<u32>>,
    groups: Vec<Arc<Group>>,
    links: Vec<Link>,
    started: Receiver<(u32, Started)>,
    inlet: Arc<OnceLock<Inlet>>,
    head_start_ns: u64,
}

/// A run whose load begins.
pub(crate) struct Begun {
    pub(crate) run: Run,
    pub(crate) inlet: Inlet,
    pub(crate) course: Course,
}

impl<'a> Muster<'a> {
    /// Gives each line a part of a plan's run, and starts to read them.
    pub(crate) fn new(
        plan: &'a Plan,
        lines: Vec<Line>,
        users: &'a Users,
        machines: &Machines,
    ) -> Self {
        let (inlet, tallies) = (Arc::new(OnceLock::new()), users.tallies.as_ref());
        let shares: Vec<Range<u32>> = shares(plan.threads, lines.len() as u32).collect();
        let head_start_ns = lines.iter().map(|line| line.head_start_ns).max();
        let head_start_ns = head_start_ns.unwrap_or(0);
        let handover = Handover::new(plan, machines.on_loss, lines.len(), head_start_ns);
        let grounds = Grounds {
            scenarios: plan.scenarios.len().max(1),
            tallies: users.tallies.clone(),
            inlet: Arc::clone(&inlet),
        };
        let names: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
        let groups = groups((&shares, &names), machines.grouping, &grounds);
        let common = Common {
            plan,
            tallies,
            handover: &handover,
            groups: &groups,
        };
        let (send, started) = channel();
        let links = links(&common, lines, &inlet, &send);
        Muster {
            plan,
            tallies,
            handover,
            shares,
            groups,
            links,
            started,
            inlet,
            head_start_ns,
        }
    }

    /// Returns the groups of the parts, if they have any.
    pub(crate) fn groups(&self) -> &[Arc<Group>] {
        &self.groups
    }

    /// Returns what the parts have to know to hand on the load of one of them.
    pub(crate) fn handover(&self) -> Handover {
        self.handover.clone()
    }

    /// Returns the begin of the load of each agent.
    pub(crate) fn beginnings(&self) -> Vec<Beginning> {
        self.links.iter().filter_map(Link::beginning).collect()
    }

    /// Sends each part its assignment.
    pub(crate) fn assign(&mut self, assignment: &Assignment) {
        self.links.iter_mut().for_each(|link| assignment.give(link));
    }

    /// Waits until all parts are ready, and merges their states. All must have found the same
    /// version of HTTP; the addresses are those of the first one.
    ///
    /// # Errors
    /// If one of them can't begin.
    pub(crate) fn all_ready(&mut self) -> Result<Readiness, StartError> {
        let mut all: Option<Readiness> = None;
        let mut waiting = self.links.len();
        while waiting > 0 {
            let (index, ready) = match self.started.recv_timeout(POLL_INTERVAL) {
                Ok(started) => started,
                Err(RecvTimeoutError::Timeout) => {
                    self.links
                        .iter_mut()
                        .for_each(|link| link.miss_if_silent(POLL_INTERVAL));
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            waiting -= 1;
            let name = self.links[index as usize].name();
            let failed = |reason: &str| StartError::Remote(format!("{name}: {reason}"));
            let ready = Readiness::from(ready.map_err(|reason| failed(&reason))?);
            match &mut all {
                None => all = Some(ready),
                Some(all) if all.http != ready.http => {
                    return Err(failed(OTHER_HTTP));
                }
                Some(all) => {
                    all.connected += ready.connected;
                    all.error = all.error.take().or(ready.error);
                }
            }
        }
        let all = all.ok_or_else(|| StartError::Remote("no process was started".to_owned()))?;
        match &all.error {
            Some(error) if all.connected == 0 => Err(StartError::Remote(error.clone())),
            _ => Ok(all),
        }
    }

    /// Begins the load, once the message with its begin must have reached each part.
    pub(crate) fn begin(&mut self, ready: Readiness) -> Begun {
        let begin_ns = monotonic_ns() + self.head_start_ns;
        let course = Course {
            begin_ns,
            length_ns: ready.length_ns,
        };
        let (run, inlet) = Run::of_parts(self.plan, &self.members(), ready, begin_ns);
        let inlet = self.inlet.get_or_init(|| inlet).clone();
        for group in &self.groups {
            group.supervise(&mut self.links);
        }
        for link in &mut self.links {
            link.report_loss(&inlet);
            link.start(course, Before::default());
        }
        Begun { run, inlet, course }
    }

    /// Returns the workers of each part.
    pub(crate) fn shares(&self) -> &[Range<u32>] {
        &self.shares
    }

    /// Returns the workers of each member of the run: of a group, or of a part without one.
    fn members(&self) -> Vec<Range<u32>> {
        match self.groups.is_empty() {
            true => self.shares.clone(),
            false => self.groups.iter().map(|group| group.workers()).collect(),
        }
    }

    /// Returns what parts that join have to know.
    pub(crate) fn enlistment(&self, assignment: Assignment, course: Course) -> Enlistment {
        let parts = self.shares.len() as u32;
        Enlistment {
            plan: Box::new(self.plan.clone()),
            assignment,
            tallies: self.tallies.cloned(),
            handover: self.handover.clone(),
            inlet: Arc::clone(&self.inlet),
            course,
            head_start_ns: self.head_start_ns,
            each: (self.plan.threads / parts).max(1),
        }
    }

    /// Returns the supervision of the parts while the load lasts.
    pub(crate) fn supervision(self, inlet: Inlet, newcomers: Option<Newcomers>) -> Supervision {
        Supervision {
            links: self.links,
            groups: self.groups,
            allotments: Allotments::new(self.plan),
            takeovers: Vec::new(),
            changes: Vec::new(),
            order: Order::Run,
            newcomers,
            inlet,
        }
    }
}

/// The common grounds of a run's parts.
pub(crate) struct Common<'a> {
    pub(crate) plan: &'a Plan,
    /// The codec of their tallies, if they have any.
    pub(crate) tallies: Option<&'a TallyCodec>,
    pub(crate) handover: &'a Handover,
    /// The groups of the parts, if they have any.
    pub(crate) groups: &'a [Arc<Group>],
}

/// Creates the groups of parts with these workers and names.
fn groups(
    (workers, names): (&[Range<u32>], &[String]),
    grouping: Grouping,
    grounds: &Grounds,
) -> Vec<Arc<Group>> {
    let groups = grouping.groups(workers.len()).into_iter().enumerate();
    let group = |(number, own): (usize, Range<u32>)| {
        let parts = own.start as usize..own.end as usize;
        let parts = (workers[parts.clone()].to_vec(), names[parts].to_vec());
        Arc::new(Group::new(number, own, parts, grounds))
    };
    groups.map(group).collect()
}

/// Starts to read the lines of the parts of a run, which share its workers. The results of their
/// starts are sent to `started`.
pub(crate) fn links(
    common: &Common<'_>,
    lines: Vec<Line>,
    inlet: &Arc<OnceLock<Inlet>>,
    started: &Sender<(u32, Started)>,
) -> Vec<Link> {
    let plan = common.plan;
    let shares = shares(plan.threads, lines.len() as u32);
    let parts = (0..).zip(shares).zip(lines);
    let link = |((index, workers), line): ((u32, Range<u32>), Line)| {
        let part = Part {
            index,
            name: line.name.clone(),
            agent: line.agent.clone(),
            workers,
            scenarios: plan.scenarios.len().max(1),
            tallies: common.tallies.cloned(),
            handover: common.handover.clone(),
            group: common.groups.iter().find(|group| group.has(index)).cloned(),
        };
        Link::new(line, part, Arc::clone(inlet), started.clone())
    };
    parts.map(link).collect()
}
