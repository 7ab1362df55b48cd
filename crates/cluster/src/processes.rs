//! A run on several processes of this machine, from the view of the coordinator.

use crate::assignment::Assignment;
use crate::bundle::Bundle;
use crate::group::{Group, Grouping};
use crate::ledger::{Loss, Outsider, Return};
use crate::line::Line;
use crate::link::Beginning;
use crate::loss::{Handover, OnLoss};
use crate::muster::{Machines, Muster, Users};
use crate::newcomers::{Newcomer, Newcomers, Recruiter};
use crate::pipes;
use crate::returns::{Scout, look_for_lost};
use loadline_engine::{Detail, Run, StartError};
use loadline_plan::Plan;
use loadline_record::{AgentBegin, PartTimes};
use std::io;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

/// A run on several processes of this machine.
#[derive(Debug)]
pub struct Processes {
    /// The run, with the merged reports of all processes.
    pub run: Run,
    agents: Vec<String>,
    /// The workers of each.
    workers: Vec<Range<u32>>,
    /// The numbers of the parts that these agents have: one that can't begin leaves a gap.
    parts: Vec<u32>,
    groups: Vec<Arc<Group>>,
    /// The most by which the clock of a part is wrong, in nanoseconds.
    begin_error_ns: u64,
    /// The begin of the load of each agent that is there from then on.
    beginnings: Vec<Beginning>,
    /// Those that have joined, as they come.
    joined: Option<Receiver<Newcomer>>,
    handover: Handover,
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
        let agents = lines.iter().filter_map(|line| line.agent.clone());
        let agents: Vec<String> = agents.collect();
        let begin_error_ns = lines.iter().map(|line| line.clock_error_ns).max();
        let mut muster = Muster::new(plan, lines, users, machines);
        let mut assignment = Assignment::new(plan, detail, users.job.clone())?;
        if !agents.is_empty() {
            assignment = assignment.for_agents(Bundle::MOST_BYTES)?;
        }
        muster.assign(&assignment);
        let ready = muster.all_ready()?;
        let begun = muster.begin(ready);
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, joined) = channel();
        let newcomers = recruiter.map(|recruiter| {
            let enlistment = muster.enlistment(assignment, begun.course);
            Newcomers::new(enlistment, recruiter, Arc::clone(&is_over), sender)
        });
        let (groups, beginnings) = (muster.groups().to_vec(), muster.beginnings());
        let workers = muster.shares().to_vec();
        let handover = muster.handover();
        let supervision = muster.supervision(begun.inlet, newcomers);
        let over = Arc::clone(&is_over);
        let guard = thread::spawn(move || supervision.run(&over));
        // The members of a run in groups are the groups.
        let run = match detail.parts && groups.is_empty() {
            true => begun.run.with_records_of_parts(),
            false => begun.run,
        };
        Ok(Processes {
            run,
            parts: (0..agents.len() as u32).collect(),
            agents,
            workers,
            groups,
            begin_error_ns: begin_error_ns.unwrap_or(0),
            beginnings,
            joined: Some(joined),
            handover,
            is_over,
            guard: Some(guard),
        })
    }

    /// Returns the names of the agents that have the parts, in their order; nothing if they are
    /// children of this process.
    pub fn agents(&self) -> &[String] {
        &self.agents
    }

    /// Returns the name of the agent that has the part of this number, if it is an agent's.
    pub fn agent_of(&self, part: usize) -> Option<&str> {
        let at = self.parts.iter().position(|own| *own as usize == part)?;
        self.agents.get(at).map(String::as_str)
    }

    /// Returns the agents whose reports others join, with the workers of each, and those that have
    /// joined such a run; none if each of them reports to this process.
    pub fn agents_in_groups(&self) -> Vec<(String, Range<u32>)> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let workers = self.workers.iter().cloned();
        self.agents.iter().cloned().zip(workers).collect()
    }

    /// Returns the response times of each part, in their order. Of parts whose reports others have
    /// joined, they come with the end, and are those since the last loss of such an agent.
    pub fn response_times_of_parts(&self) -> Vec<PartTimes> {
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

    /// Returns the response times of each of the [agents](Self::agents), in their order, as
    /// [`response_times_of_parts`](Self::response_times_of_parts).
    pub fn response_times_of_agents(&self) -> Vec<PartTimes> {
        let all = self.response_times_of_parts();
        let of = |part: &u32| all.get(*part as usize).cloned().unwrap_or_default();
        self.parts.iter().map(of).collect()
    }

    /// Returns the most by which clocks of the parts are wrong, and so the instant at which each
    /// begins: nanoseconds.
    pub fn begin_error_ns(&self) -> u64 {
        self.begin_error_ns
    }

    /// Returns how far the begin of each agent's load is from the common instant. Agents that join
    /// while the load lasts are not among them.
    pub fn begins(&self) -> Vec<AgentBegin> {
        self.beginnings.iter().map(Beginning::known).collect()
    }

    /// Returns the agents since the last call whose kernels timestamp nothing that arrives: they
    /// end exchanges when they are read, though the plan is of the kernel's clock.
    pub fn unstamped(&self) -> Vec<String> {
        self.handover.ledger().take_unstamped()
    }

    /// Returns the agents that were lost since the last call.
    pub fn losses(&self) -> Vec<Loss> {
        self.handover.ledger().take_losses()
    }

    /// Begins to look for agents that are lost, until the run is over.
    pub fn look_for_lost(&self, plan: &Plan, scout: Scout) {
        let warmup_ns = u64::try_from(plan.warmup.as_nanos()).unwrap_or(u64::MAX);
        let zero_ns = self.run.begin_ns().saturating_add(warmup_ns);
        let is_over = Arc::clone(&self.is_over);
        look_for_lost(self.handover.clone(), scout, zero_ns, is_over);
    }

    /// Returns the lost agents that are back since the last call.
    pub fn returns(&self) -> Vec<Return> {
        self.handover.ledger().take_returns()
    }

    /// Returns the agents that would have joined since the last call, and can't.
    pub fn outsiders(&self) -> Vec<Outsider> {
        self.handover.ledger().take_outsiders()
    }

    /// Returns the agents that have joined since the last call.
    pub fn newcomers(&mut self) -> Vec<Newcomer> {
        let joined = self.joined.iter().flat_map(Receiver::try_iter);
        let joined: Vec<Newcomer> = joined.collect();
        self.parts
            .extend(joined.iter().map(|newcomer| newcomer.part));
        self.agents
            .extend(joined.iter().map(|newcomer| newcomer.agent.clone()));
        self.workers
            .extend(joined.iter().map(|newcomer| newcomer.workers.clone()));
        joined
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(guard) = self.guard.take() {
            let _ = guard.join();
        }
    }
}

#[cfg(test)]
mod tests;
