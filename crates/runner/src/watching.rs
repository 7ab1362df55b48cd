//! Watching during a run: the generator, the target if it is on this host, and named processes.
//!
//! Processes are searched before the load begins. Their usage is read on the thread that conducts
//! the run, once per interval.

use crate::lookout::Sights;
use loadline_plan::Plan;
use loadline_reactor::Address;
use loadline_record::watched::Watched;
use loadline_watch::{NotFound, Proc, Target, Watcher, is_local};
use std::time::{Duration, Instant};

/// The processes to watch during a run, in addition to the generator and the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The named processes.
    pub targets: Vec<Target>,
    /// True if the load's target is searched as well.
    pub find_target: bool,
}

impl Watch {
    /// Creates a watch of whatever serves the load on this host.
    pub fn of_target() -> Watch {
        Watch {
            targets: Vec::new(),
            find_target: true,
        }
    }
}

/// The reason why something can't be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// A named target is not there.
    #[error("--watch {target}: {error}")]
    Target {
        /// The named target.
        target: Target,
        /// The reason why it can't be watched.
        error: NotFound,
    },
    /// Another machine can't watch what it is to.
    #[error("--watch-agents: {0}")]
    Elsewhere(String),
}

/// Watches processes during a run.
#[derive(Debug)]
pub struct Watching {
    watcher: Watcher,
    clock: Instant,
    find_target: bool,
    /// The watched processes on other machines.
    sights: Sights,
    /// The begin of the measured part on the clock, if it is still to come.
    zero: Option<Duration>,
}

impl Watching {
    /// Finds the named processes, and those that listen on the ports of the plan's requests, before
    /// anything is sent: this may take CPU time, none of which falls into the load.
    ///
    /// # Errors
    /// If a named process does not exist.
    pub fn prepare(watch: &Watch, plan: &Plan) -> Result<Self, WatchError> {
        let mut watcher = Watcher::new(Proc::default());
        watcher.watch_generator();
        for target in &watch.targets {
            watcher.watch(target).map_err(|error| WatchError::Target {
                target: target.clone(),
                error,
            })?;
        }
        if watch.find_target {
            let ports: Vec<u16> = plan.ports().into_iter().collect();
            watcher.find_listeners(&ports);
        }
        Ok(Watching {
            watcher,
            clock: Instant::now(),
            find_target: watch.find_target,
            sights: Sights::begin().map_err(WatchError::Elsewhere)?,
            zero: None,
        })
    }

    /// Begins to watch, with a load to these addresses that begins at this instant (nanoseconds of
    /// `CLOCK_MONOTONIC`) with this warm-up.
    pub fn begin(&mut self, addresses: &[Address], begin_ns: u64, warmup: Duration) {
        let ip_addresses = addresses.iter().filter_map(|address| match address {
            Address::Ip(address) => Some(*address),
            Address::Unix(_) => None,
        });
        let first = ip_addresses.clone().next();
        self.watcher
            .follow_route_to(first.map(|address| address.ip()));
        if self.find_target {
            let local = ip_addresses.filter(|address| is_local(address.ip()));
            // If no process listens and yet there are responses, a firewall rule redirects.
            self.watcher.watch_listeners(local);
        }
        self.zero = (!warmup.is_zero()).then(|| self.clock.elapsed() + warmup);
        self.watcher.begin(self.now_ns());
        self.sights.start(begin_ns + warmup.as_nanos() as u64);
    }

    /// Returns the longest wait for the next event. Restarts the measurement when the warm-up is
    /// over, which is at the next call after such a wait.
    pub fn next_wait(&mut self, usual: Duration) -> Duration {
        let Some(zero) = self.zero else {
            return usual;
        };
        let left = zero.saturating_sub(self.clock.elapsed());
        if left.is_zero() {
            self.watcher.begin(self.now_ns());
            self.zero = None;
            return usual;
        }
        left.min(usual)
    }

    /// Returns the usage since the last interval.
    pub fn look(&mut self) -> Watched {
        let mut watched = self.watcher.look(self.now_ns());
        self.sights.add_to(&mut watched);
        watched
    }

    fn now_ns(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }
}
