//! A run on several processes of this machine, from the view of the coordinator.

use crate::assignment::{Assignment, shares};
use crate::group::{Grounds, Group, Grouping};
use crate::line::Line;
use crate::link::{Link, Part, Started};
use crate::loss::{Course, Handover, OnLoss};
use crate::message::{Before, Job};
use crate::newcomers::{Enlistment, Newcomer, Newcomers, Recruiter};
use crate::pipes;
use crate::supervision::Supervision;
use loadline_engine::{Allotments, Detail, Inlet, Order, Readiness, Run, StartError, TallyCodec};
use loadline_plan::Plan;
use loadline_reactor::monotonic_ns;
use loadline_record::Distribution;
use std::io;
use std::ops::Range;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
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

/// A run on several processes of this machine.
#[derive(Debug)]
pub struct Processes {
    /// The run, with the merged reports of all processes.
    pub run: Run,
    agents: Vec<String>,
    groups: Vec<Arc<Group>>,
    /// The most by which a part begins before or after the others, in nanoseconds.
    begin_error_ns: u64,
    /// Those that have joined, as they come.
    joined: Option<Receiver<Newcomer>>,
    is_over: Arc<AtomicBool>,
    /// The thread that supervises the children, and owns them.
    guard: Option<JoinHandle<()>>,
}

impl Processes {
    /// Starts a run of this plan on this many processes, each with an equal share of the plan's
    /// workers, and begins its load. `program` creates the command of a child, which
    /// [serves](crate::serve) on its standard input and output. Blocks until the load has begun.
    ///
    /// # Errors
    /// If a process can't be started, or can't begin its part; the others are killed then.
    pub fn start(
        plan: &Plan,
        processes: u32,
        detail: Detail,
        users: &Users,
        program: impl Fn() -> Command,
    ) -> Result<Processes, StartError> {
        let name = |process: u32| format!("process {process} of {processes}");
        let lines = (1..=processes).map(|process| pipes::start(name(process), program()));
        let lines = lines.collect::<io::Result<Vec<Line>>>()?;
        let alone = Grouping {
            most_alone: usize::MAX,
            ..Grouping::default()
        };
        Processes::start_on(
            plan,
            lines,
            detail,
            users,
            &Machines {
                grouping: alone,
                on_loss: OnLoss::Keep,
            },
            None,
        )
    }

    /// Starts a run of this plan in as many parts as there are lines, and begins its load: once the
    /// message with its begin must have reached each of them. Blocks until the load has begun. With
    /// a recruiter, others may join the load while it lasts.
    ///
    /// # Errors
    /// If a part can't begin; the processes of the others are ended then.
    pub fn start_on(
        plan: &Plan,
        lines: Vec<Line>,
        detail: Detail,
        users: &Users,
        machines: &Machines,
        recruiter: Option<Recruiter>,
    ) -> Result<Processes, StartError> {
        let inlet = Arc::new(OnceLock::new());
        let (send, started) = channel();
        let agents = lines.iter().filter_map(|line| line.agent.clone()).collect();
        let of = lines.len() as u32;
        let begin_error_ns = lines.iter().map(|line| line.clock_error_ns).max();
        let shares: Vec<Range<u32>> = shares(plan.threads, of).collect();
        let head_start_ns = lines.iter().map(|line| line.head_start_ns).max();
        let head_start_ns = head_start_ns.unwrap_or(0);
        let handover = Handover::new(plan, machines.on_loss, lines.len(), head_start_ns);
        let tallies = users.tallies.as_ref();
        let grounds = Grounds {
            scenarios: plan.scenarios.len().max(1),
            tallies: users.tallies.clone(),
            inlet: Arc::clone(&inlet),
        };
        let groups = groups(&shares, machines.grouping, &grounds);
        let common = Common {
            plan,
            tallies,
            handover: &handover,
            groups: &groups,
        };
        let mut links = links(&common, lines, &inlet, &send);
        drop(send);
        let assignment = Assignment::new(plan, detail, users.job.clone())?;
        links.iter_mut().for_each(|link| assignment.give(link));
        let ready = all_ready(&mut links, &started)?;
        let begin_ns = monotonic_ns() + head_start_ns;
        let course = Course {
            begin_ns,
            length_ns: ready.length_ns,
        };
        let members = match groups.is_empty() {
            true => shares,
            false => groups.iter().map(|group| group.workers()).collect(),
        };
        let (run, run_inlet) = Run::of_parts(plan, &members, ready, begin_ns);
        let run_inlet = inlet.get_or_init(|| run_inlet).clone();
        groups.iter().for_each(|group| group.supervise(&mut links));
        for link in &mut links {
            link.tell_loss(&run_inlet);
            link.start(course, Before::default());
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let (tell, joined) = channel();
        let newcomers = recruiter.map(|recruiter| {
            let order = Enlistment {
                plan: Box::new(plan.clone()),
                assignment,
                tallies: users.tallies.clone(),
                handover,
                inlet,
                course,
                head_start_ns,
                each: (plan.threads / of).max(1),
            };
            Newcomers::new(order, recruiter, Arc::clone(&is_over), tell)
        });
        let supervision = Supervision {
            links,
            groups: groups.clone(),
            allotments: Allotments::new(plan),
            takeovers: Vec::new(),
            changes: Vec::new(),
            order: Order::Run,
            newcomers,
            inlet: run_inlet,
        };
        let guard = thread::spawn(move || supervision.run(&over));
        Ok(Processes {
            run,
            agents,
            groups,
            begin_error_ns: begin_error_ns.unwrap_or(0),
            joined: Some(joined),
            is_over,
            guard: Some(guard),
        })
    }

    /// Returns the names of the agents that have the parts, in their order; nothing if they are
    /// children of this process.
    pub fn agents(&self) -> &[String] {
        &self.agents
    }

    /// Returns the response times of each part, in their order. Of parts whose reports others have
    /// joined, they come with the end, and are those since the last loss of such an agent.
    pub fn response_times_of_parts(&self) -> Vec<Distribution> {
        let members = self.run.response_times_of_parts();
        let Some(first_alone) = self.groups.last().map(|group| group.after()) else {
            return members;
        };
        let in_groups = self
            .groups
            .iter()
            .flat_map(|group| group.all_response_times());
        let alone = members.into_iter().skip(first_alone as usize);
        in_groups.chain(alone).collect()
    }

    /// Returns the most by which clocks of the parts are wrong, and so the instant at which each
    /// begins: nanoseconds.
    pub fn begin_error_ns(&self) -> u64 {
        self.begin_error_ns
    }

    /// Returns the agents that have joined since the last call.
    pub fn newcomers(&mut self) -> Vec<Newcomer> {
        let joined = self.joined.iter().flat_map(Receiver::try_iter);
        let joined: Vec<Newcomer> = joined.collect();
        self.agents
            .extend(joined.iter().map(|newcomer| newcomer.agent.clone()));
        joined
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

/// Creates the groups of parts with these workers.
fn groups(parts: &[Range<u32>], grouping: Grouping, grounds: &Grounds) -> Vec<Arc<Group>> {
    let groups = grouping.groups(parts.len()).into_iter().enumerate();
    let group = |(number, own): (usize, Range<u32>)| {
        let workers = parts[own.start as usize..own.end as usize].to_vec();
        Arc::new(Group::new(number, own, workers, grounds))
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
            workers,
            threads: plan.threads,
            scenarios: plan.scenarios.len().max(1),
            tallies: common.tallies.cloned(),
            handover: common.handover.clone(),
            group: common.groups.iter().find(|group| group.has(index)).cloned(),
        };
        Link::new(line, part, Arc::clone(inlet), started.clone())
    };
    parts.map(link).collect()
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(guard) = self.guard.take() {
            let _ = guard.join();
        }
    }
}

/// Waits until all children are ready, and merges their states. All must have found the same
/// version of HTTP; the addresses are those of the first child.
fn all_ready(
    links: &mut [Link],
    started: &Receiver<(u32, Started)>,
) -> Result<Readiness, StartError> {
    let mut all: Option<Readiness> = None;
    let mut waiting = links.len();
    while waiting > 0 {
        let (index, ready) = match started.recv_timeout(POLL_INTERVAL) {
            Ok(started) => started,
            Err(RecvTimeoutError::Timeout) => {
                links
                    .iter_mut()
                    .for_each(|link| link.miss_if_silent(POLL_INTERVAL));
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        waiting -= 1;
        let name = links[index as usize].name();
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

#[cfg(test)]
mod tests;
