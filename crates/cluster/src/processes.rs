//! A run on several processes of this machine, from the view of the coordinator.

use crate::bodies::Bodies;
use crate::line::Line;
use crate::link::{Link, Part, Started};
use crate::loss::{Course, Handover, OnLoss};
use crate::message::{Command as Instruction, Job, ToChild};
use crate::pipes;
use loadline_engine::{Detail, Inlet, Order, Readiness, Run, StartError, TakeOver, TallyCodec};
use loadline_plan::{ListLines, Plan};
use loadline_reactor::monotonic_ns;
use std::io;
use std::ops::Range;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The interval in which commands are forwarded, and silent children are detected. A change of the
/// load is sent 150 ms ahead.
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

/// A run on several processes of this machine.
#[derive(Debug)]
pub struct Processes {
    /// The run, with the merged reports of all processes.
    pub run: Run,
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
        Processes::start_on(plan, lines, detail, users, OnLoss::Keep)
    }

    /// Starts a run of this plan in as many parts as there are lines, and begins its load: once the
    /// message with its begin must have reached each of them. Blocks until the load has begun.
    ///
    /// # Errors
    /// If a part can't begin; the processes of the others are ended then.
    pub fn start_on(
        plan: &Plan,
        lines: Vec<Line>,
        detail: Detail,
        users: &Users,
        on_loss: OnLoss,
    ) -> Result<Processes, StartError> {
        let inlet = Arc::new(OnceLock::new());
        let (send, started) = channel();
        let of = lines.len() as u32;
        let shares: Vec<Range<u32>> = shares(plan.threads, of).collect();
        let head_start_ns = lines.iter().map(|line| line.head_start_ns).max();
        let head_start_ns = head_start_ns.unwrap_or(0);
        let handover = Handover::new(plan, on_loss, lines.len(), head_start_ns);
        let tallies = users.tallies.as_ref();
        let mut links = links(plan, lines, tallies, &handover, &inlet, &send);
        drop(send);
        links
            .iter_mut()
            .for_each(|link| assign(link, plan, detail, users));
        let ready = all_ready(&mut links, &started)?;
        let begin_ns = monotonic_ns() + head_start_ns;
        let course = Course {
            begin_ns,
            length_ns: ready.length_ns,
        };
        let (run, run_inlet) = Run::of_parts(plan, &shares, ready, begin_ns);
        let run_inlet = inlet.get_or_init(|| run_inlet).clone();
        for link in &mut links {
            link.tell_loss(&run_inlet);
            link.start(course);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let guard = thread::spawn(move || look_after(links, &run_inlet, &over));
        Ok(Processes {
            run,
            is_over,
            guard: Some(guard),
        })
    }
}

/// Starts to read the lines of the parts of a run, which share its workers. Their tallies have this
/// codec; the results of their starts are sent to `started`.
pub(crate) fn links(
    plan: &Plan,
    lines: Vec<Line>,
    tallies: Option<&TallyCodec>,
    handover: &Handover,
    inlet: &Arc<OnceLock<Inlet>>,
    started: &Sender<(u32, Started)>,
) -> Vec<Link> {
    let shares = shares(plan.threads, lines.len() as u32);
    let parts = (0..).zip(shares).zip(lines);
    let link = |((index, workers), line): ((u32, Range<u32>), Line)| {
        let part = Part {
            index,
            name: line.name.clone(),
            workers,
            threads: plan.threads,
            scenarios: plan.scenarios.len().max(1),
            tallies: tallies.cloned(),
            handover: handover.clone(),
        };
        Link::new(line, part, Arc::clone(inlet), started.clone())
    };
    parts.map(link).collect()
}

/// Sends a part its assignment.
fn assign(link: &mut Link, plan: &Plan, detail: Detail, users: &Users) {
    let mut plan = Box::new(plan.clone());
    let bodies = Bodies::take(&mut plan);
    let lines = plan.list_lines();
    link.tell(&ToChild::Assign {
        bodies,
        lines: lines.map(|lines| Box::new(ListLines::clone(lines))),
        plan,
        job: users.job.clone(),
        detail,
        workers: link.workers(),
    });
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(guard) = self.guard.take() {
            let _ = guard.join();
        }
    }
}

/// Returns the workers of each process, as equal in number as possible.
pub(crate) fn shares(workers: u32, processes: u32) -> impl Iterator<Item = Range<u32>> {
    let end =
        move |index: u32| (u64::from(workers) * u64::from(index) / u64::from(processes)) as u32;
    (0..processes).map(move |index| end(index)..end(index + 1))
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

/// Forwards commands and kills silent children, until the run is over.
fn look_after(mut links: Vec<Link>, inlet: &Inlet, is_over: &AtomicBool) {
    let (mut order, mut changes) = (Order::Run, 0);
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(POLL_INTERVAL);
        for change in inlet.changes_since(changes) {
            changes += 1;
            tell_all(&mut links, &Instruction::Change(change));
        }
        let now = inlet.order();
        if now != order {
            order = now;
            tell_all(&mut links, &Instruction::Order(now));
        }
        links
            .iter_mut()
            .for_each(|link| link.miss_if_silent(POLL_INTERVAL));
        for takeover in takeovers(&mut links) {
            tell_all(&mut links, &Instruction::TakeOver(takeover));
        }
    }
}

/// Returns the takeovers of the load of parts that were lost since the last call.
fn takeovers(links: &mut [Link]) -> Vec<TakeOver> {
    let lost = |link: &mut Link| Some((link.taken_from_ns()?, link.workers()));
    let lost: Vec<(u64, Range<u32>)> = links.iter_mut().filter_map(lost).collect();
    let present = || links.iter().filter(|link| link.is_present());
    let takeover = |(at_ns, lost)| TakeOver {
        at_ns,
        lost,
        heirs: present().flat_map(Link::workers).collect(),
    };
    lost.into_iter().map(takeover).collect()
}

fn tell_all(links: &mut [Link], instruction: &Instruction) {
    links
        .iter_mut()
        .for_each(|link| link.command(instruction.clone()));
}

#[cfg(test)]
mod tests;
