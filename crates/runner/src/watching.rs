//! Watching beside a run: the generator, the target where it is on this host, and what was named.
//!
//! Processes are looked for before the load begins. What they use is read on the thread that
//! conducts the run, once for each interval.

use loadline_plan::Plan;
use loadline_reactor::Address;
use loadline_record::watched::Watched;
use loadline_watch::{NotFound, Proc, Target, Watcher, is_local};
use std::time::{Duration, Instant};

/// What is watched while a run lasts, beside the generator and the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// What was named.
    pub targets: Vec<Target>,
    /// Whether the load's target is looked for as well.
    pub find_target: bool,
}

/// Something that was named can't be watched.
#[derive(Debug, thiserror::Error)]
#[error("--watch {target}: {error}")]
pub struct WatchError {
    /// What was named.
    pub target: Target,
    /// Why it can't be watched.
    pub error: NotFound,
}

/// Watches beside a run.
#[derive(Debug)]
pub struct Watching {
    watcher: Watcher,
    clock: Instant,
    find_target: bool,
    /// When the measured part begins, by the clock, if that is still to come.
    zero: Option<Duration>,
}

impl Watching {
    /// Finds what was named, and who listens where the plan's requests may go, before anything is
    /// sent: that may take CPU time, and nothing of it is left for when the load has begun.
    ///
    /// # Errors
    /// If something that was named is not there.
    pub fn prepare(watch: &Watch, plan: &Plan) -> Result<Self, WatchError> {
        let mut watcher = Watcher::new(Proc::default());
        watcher.watch_generator();
        for target in &watch.targets {
            watcher.watch(target).map_err(|error| WatchError {
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
            zero: None,
        })
    }

    /// The load has begun, to these addresses and with this warm-up.
    pub fn begin(&mut self, addresses: &[Address], warmup: Duration) {
        let ip_addresses = addresses.iter().filter_map(|address| match address {
            Address::Ip(address) => Some(*address),
            Address::Unix(_) => None,
        });
        let first = ip_addresses.clone().next();
        self.watcher
            .follow_route_to(first.map(|address| address.ip()));
        if self.find_target {
            let local = ip_addresses.filter(|address| is_local(address.ip()));
            // Where nobody listens and yet somebody responds, a rule of a firewall redirects.
            self.watcher.watch_listeners(local);
        }
        self.zero = (!warmup.is_zero()).then(|| self.clock.elapsed() + warmup);
        self.watcher.begin(self.now_ns());
    }

    /// How long to wait for the next event, at most. Begins anew when the warm-up is over, which is
    /// when this is called next after such a wait.
    pub fn patience(&mut self, usual: Duration) -> Duration {
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

    /// What was used since the last interval.
    pub fn look(&mut self) -> Watched {
        self.watcher.look(self.now_ns())
    }

    fn now_ns(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }
}
