//! The workers of a run that are in this process: all of them, or some if the others are in other
//! processes. Each is a thread, or is driven by a loop that is not the engine's.

use crate::StartError;
use crate::control::Handle;
use crate::error::unreachable;
use crate::event::Detail;
use crate::launch::{Group, Launch, run_groups};
use crate::lost::WorkerFailure;
use crate::pacer::over_ns;
use crate::prepare::Prepared;
use crate::report::{MemberReport, Report};
use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Address, Host, Kernel, Task, monotonic_ns};
use loadline_schedule::Stripe;
use loadline_transport::DialError;
use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The state of these workers after all its workers have opened their connections.
#[derive(Clone, Debug)]
pub struct Readiness {
    /// The number of open connections.
    pub connected: usize,
    /// The error of the first connection that could not be opened.
    pub error: Option<String>,
    /// The addresses that receive requests.
    pub addresses: Vec<Address>,
    /// The addresses that receive nothing because they did not respond, while others of the same
    /// name did.
    pub left_out: Vec<Address>,
    /// The version of HTTP of all requests; never [`HttpVersion::Auto`].
    pub http: HttpVersion,
    /// The duration of the load, warm-up included, in nanoseconds; `u64::MAX` if it is not limited
    /// by time.
    pub length_ns: u64,
}

impl Readiness {
    pub(crate) fn of(
        scenarios: &[Arc<Prepared>],
        connected: usize,
        first_error: Option<&DialError>,
    ) -> Readiness {
        let length_ns = scenarios.iter().map(|prepared| over_ns(&prepared.plan));
        Readiness {
            connected,
            error: first_error.map(unreachable),
            addresses: each_once(scenarios.iter().map(|prepared| prepared.addresses())),
            left_out: each_once(scenarios.iter().map(|prepared| prepared.left_out.clone())),
            http: scenarios[0].plan.connection.http,
            length_ns: length_ns.max().unwrap_or(0),
        }
    }

    /// Returns the end of a load that begins at this instant (nanoseconds of `CLOCK_MONOTONIC`), if
    /// it is limited by time.
    pub(crate) fn over(&self, begin_ns: u64) -> Option<Instant> {
        let length_ns = Some(self.length_ns).filter(|length_ns| *length_ns < u64::MAX)?;
        let until_begin_ns = begin_ns.saturating_sub(monotonic_ns());
        let left_ns = length_ns.saturating_add(until_begin_ns);
        Instant::now().checked_add(Duration::from_nanos(left_ns))
    }
}

/// Workers of a run that are in this process.
#[derive(Debug)]
pub(crate) struct LocalWorkers {
    pub(crate) handle: Handle,
    pub(crate) reports: Receiver<MemberReport>,
    pub(crate) threads: Vec<JoinHandle<()>>,
    begin: Vec<Sender<u64>>,
    pub(crate) ready: Readiness,
    first_error: Option<DialError>,
}

impl LocalWorkers {
    /// Prepares a plan's run and opens the connections of these of its workers, which are numbered
    /// from 0 to the plan's number of threads. There is one launch per scenario of the plan; one if
    /// it has no scenarios. Blocks until they have dialled.
    ///
    /// # Errors
    /// If the plan can't be run here, or a worker was lost.
    ///
    /// # Panics
    /// If there are fewer launches than scenarios.
    pub(crate) fn launch(
        plan: &Plan,
        detail: Detail,
        launches: &[Launch],
        workers: Range<u32>,
    ) -> Result<LocalWorkers, StartError> {
        let composes = |index: usize| launches[index].composes;
        let scenarios = Prepared::all(plan, detail, composes, workers.len() as u32)?;
        let of = plan.threads;
        let handle = Handle::of_workers(of.max(workers.end));
        let (send, reports) = channel();
        let mut starting: Vec<Starting> = Vec::new();
        for index in workers {
            let stripe = Stripe { index, of };
            let parts = scenarios.iter().cloned().zip(launches.iter().cloned());
            starting.push(Starting::spawn(parts.collect(), stripe, &handle, &send)?);
        }
        drop(send);
        let (connected, first_error) = await_connections(&starting, &reports)?;
        let ready = Readiness::of(&scenarios, connected, first_error.as_ref());
        let (begin, threads) = starting
            .into_iter()
            .map(|worker| (worker.begin, worker.thread))
            .unzip();
        Ok(LocalWorkers {
            handle,
            reports,
            threads,
            begin,
            ready,
            first_error,
        })
    }

    /// Returns workers that other loops of this process drive, with their handle and what they
    /// report.
    pub(crate) fn driven(
        handle: Handle,
        reports: Receiver<MemberReport>,
        ready: Readiness,
    ) -> LocalWorkers {
        LocalWorkers {
            handle,
            reports,
            threads: Vec::new(),
            begin: Vec::new(),
            ready,
            first_error: None,
        }
    }

    /// Returns the state of the workers after it has opened its connections.
    pub(crate) fn ready(&self) -> &Readiness {
        &self.ready
    }

    /// Fails if connections were dialled and none could be opened.
    ///
    /// # Errors
    /// The error of the first connection.
    pub(crate) fn check_connections(&mut self) -> Result<(), StartError> {
        match self.first_error.take() {
            Some(error) if self.ready.connected == 0 => Err(StartError::Unreachable { error }),
            _ => Ok(()),
        }
    }

    /// Begins the load at this instant: nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) fn begin(&mut self, begin_ns: u64) {
        self.handle.begin(begin_ns, self.ready.length_ns);
        for worker in self.begin.drain(..) {
            // A worker that is gone already has reported the reason.
            let _ = worker.send(begin_ns);
        }
    }

    /// Returns the handle that stops the workers or changes their load, from any thread.
    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

/// Returns the addresses of all scenarios, without duplicates.
fn each_once(parts: impl Iterator<Item = Vec<Address>>) -> Vec<Address> {
    let mut known = HashSet::new();
    let is_new = |address: &Address| known.insert(address.clone());
    parts.flatten().filter(is_new).collect()
}

/// A worker's thread that opens its connections.
struct Starting {
    thread: JoinHandle<()>,
    /// Receives the number of open connections, and the first error.
    connected: Receiver<(usize, Option<DialError>)>,
    begin: Sender<u64>,
}

impl Starting {
    fn spawn(
        parts: Vec<(Arc<Prepared>, Launch)>,
        stripe: Stripe,
        handle: &Handle,
        send: &Sender<MemberReport>,
    ) -> io::Result<Starting> {
        let (sender, connected) = channel();
        let (begin, when) = channel();
        let worker = stripe.index as usize;
        let (send, last_word) = (send.clone(), send.clone());
        let (own_handle, handle) = (handle.clone(), handle.clone());
        let body = move || {
            let kernel = Kernel::new()?;
            let setting_up = set_up(kernel.clone(), &parts, stripe, &send);
            let mut groups = kernel.block_on(setting_up)?;
            let up = groups.iter().map(|group| group.connected()).sum();
            let first_error = groups.iter_mut().find_map(|group| group.take_error());
            let _ = sender.send((up, first_error));
            match when.recv() {
                Ok(begin_ns) => {
                    let _noting = note_begin(&kernel, stripe, begin_ns, &own_handle);
                    kernel.block_on(run_groups(groups, begin_ns, &own_handle))?;
                }
                // Another worker could not open any connection, so there is no run.
                Err(_) => return Ok(()),
            }
            // A user that was cut off is dropped, with its connections, in the loop's next
            // iteration.
            kernel.iterate().map(drop)
        };
        let thread = thread::Builder::new()
            .name(format!("worker-{worker}"))
            .spawn(move || {
                let ended = catch_unwind(AssertUnwindSafe(body));
                if let Some(failure) = WorkerFailure::of(worker, ended) {
                    handle.abort();
                    let report = Report::Lost(failure);
                    let _ = last_word.send(MemberReport {
                        member: worker,
                        scenario: 0,
                        report,
                    });
                }
            })?;
        Ok(Starting {
            thread,
            connected,
            begin,
        })
    }
}

/// Notes by how much a worker is late at the begin of the load, if it is there then: one that joins
/// begins later.
fn note_begin(kernel: &Kernel, stripe: Stripe, begin_ns: u64, handle: &Handle) -> Option<Task> {
    let (mut timer, handle) = (kernel.timer(), handle.clone());
    let noting = async move {
        timer.until(begin_ns).await;
        handle.note_begin(monotonic_ns().saturating_sub(begin_ns));
    };
    (stripe.index < stripe.of).then(|| kernel.spawn(noting))
}

/// Sets up the users of all scenarios on a worker's thread.
pub(crate) async fn set_up(
    kernel: Kernel,
    parts: &[(Arc<Prepared>, Launch)],
    stripe: Stripe,
    send: &Sender<MemberReport>,
) -> Vec<Box<dyn Group>> {
    let worker = stripe.index as usize;
    let mut groups = Vec::new();
    for (prepared, launch) in parts {
        let (send, scenario) = (send.clone(), prepared.scenario);
        // A dropped receiver needs no more reports.
        let sink = move |report| {
            drop(send.send(MemberReport {
                member: worker,
                scenario,
                report,
            }));
        };
        let group = launch.set_up(kernel.clone(), prepared, stripe, Box::new(sink));
        groups.push(group.await);
    }
    groups
}

/// Waits until all workers have dialled. Returns the number of open connections, and the first
/// error. Fails if a worker was lost.
fn await_connections(
    starting: &[Starting],
    reports: &Receiver<MemberReport>,
) -> Result<(usize, Option<DialError>), StartError> {
    let mut connected = 0;
    let mut first_error = None;
    for worker in starting {
        let Ok((up, error)) = worker.connected.recv() else {
            // The last report arrives when the thread has been unwound; no other arrives before the
            // load.
            if let Ok(MemberReport {
                report: Report::Lost(failure),
                ..
            }) = reports.recv()
            {
                return Err(failure.into());
            }
            continue;
        };
        connected += up;
        first_error = first_error.or(error);
    }
    Ok((connected, first_error))
}
