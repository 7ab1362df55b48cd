//! Sampling of everything that is watched.

use crate::find::{NotFound, TargetSearch, roots};
use crate::host::Host;
use crate::listeners::Listeners;
use crate::probe_budget::ProbeBudget;
use crate::proc::Proc;
use crate::route;
use crate::sockets::{self, Namespaces};
use crate::table::Table;
use crate::target::Target;
use crate::tree::{Tree, missing};
use loadline_record::watched::{Figure, GENERATOR, Watched, WatchedTree};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The shortest time between two readings of proportional memory.
const PSS_EVERY: Duration = Duration::from_secs(5);

/// Watches trees of processes, and the host.
///
/// First select what to watch ([`watch`](Watcher::watch) and similar methods), then call
/// [`begin`](Watcher::begin) at the start of the measured time, then [`look`](Watcher::look) once
/// for each sample. Times are nanoseconds of any one monotonic clock.
#[derive(Debug)]
pub struct Watcher {
    proc: Proc,
    /// The process identifier of this process.
    own: u32,
    table: Table,
    trees: Vec<Tree>,
    host: Host,
    begun_ns: u64,
    /// The listening processes, as [`find_listeners`](Watcher::find_listeners) found them.
    listeners: Option<Listeners>,
    list: ProbeBudget,
    files: ProbeBudget,
    pss: ProbeBudget,
    switches: ProbeBudget,
}

impl Watcher {
    /// Creates a watcher of the host, without any process yet.
    pub fn new(proc: Proc) -> Watcher {
        Watcher::as_process(proc, std::process::id())
    }

    /// Creates a watcher on behalf of the process with this number.
    pub(crate) fn as_process(proc: Proc, own: u32) -> Watcher {
        let mut watcher = Watcher {
            proc,
            own,
            table: Table::default(),
            trees: Vec::new(),
            host: Host::default(),
            begun_ns: 0,
            listeners: None,
            list: ProbeBudget::every(Duration::ZERO),
            files: ProbeBudget::every(Duration::ZERO),
            pss: ProbeBudget::every(PSS_EVERY),
            switches: ProbeBudget::every(Duration::ZERO),
        };
        let interface = route::default_interface(&watcher.proc);
        watcher.host.follow(Some(interface));
        watcher
    }

    /// Sets the share of a core that each kind of expensive reading (the list of processes, open
    /// files, sockets, proportional memory, context switches) may take, as one part in this many;
    /// the default is a five-thousandth.
    pub fn allow_each(&mut self, parts: u32) {
        for budget in [
            &mut self.list,
            &mut self.files,
            &mut self.pss,
            &mut self.switches,
        ] {
            budget.allow(parts);
        }
    }

    /// Watches this process, named as the generator.
    pub fn watch_generator(&mut self) {
        self.refresh();
        let tree = Tree::of_self(GENERATOR, self.own, &self.proc, &self.table);
        self.trees.push(tree);
    }

    /// Watches a target.
    ///
    /// # Errors
    /// If there is no such process now.
    pub fn watch(&mut self, target: &Target) -> Result<(), NotFound> {
        self.refresh();
        let target = target.clone();
        let search = TargetSearch {
            target,
            address: None,
        };
        let roots = search.find(&self.proc, &self.table, self.own)?;
        self.add(search, roots);
        Ok(())
    }

    /// Finds the listening processes of this host, for
    /// [`watch_listeners`](Watcher::watch_listeners). This may take long, so call it before the
    /// load. For these ports the processes are found in any case.
    pub fn find_listeners(&mut self, ports: &[u16]) {
        self.refresh();
        let pids: Vec<u32> = self.table.pids().collect();
        self.listeners = Some(Listeners::read(&self.proc, &pids, ports));
    }

    /// Watches the processes that listen at addresses of this host, as found by
    /// [`find_listeners`](Watcher::find_listeners), except for those that are watched already. A
    /// process that may not be inspected becomes a tree without readings.
    ///
    /// Returns the number of addresses that a process listens at.
    pub fn watch_listeners(&mut self, addresses: impl IntoIterator<Item = SocketAddr>) -> usize {
        let addresses: Vec<SocketAddr> = addresses.into_iter().collect();
        if addresses.is_empty() {
            return 0;
        }
        let listeners = self.listeners.take().unwrap_or_default();
        let is_there = |address: &&SocketAddr| self.add_listener(&listeners, **address);
        let count = addresses.iter().filter(is_there).count();
        self.listeners = Some(listeners);
        count
    }

    /// Watches the processes that listen at an address; false if there are none.
    fn add_listener(&mut self, listeners: &Listeners, address: SocketAddr) -> bool {
        let target = Target::Port(address.port());
        match listeners.on(address.port(), Some(address.ip())) {
            Ok(found) => {
                let address = Some(address.ip());
                let roots = roots(&self.table, found, self.own);
                self.add(TargetSearch { target, address }, roots);
                true
            }
            Err(NotFound::NotReported(_)) => {
                let name = target.to_string();
                if self.trees.iter().all(|tree| tree.name() != name) {
                    self.trees.push(Tree::refused(name, self.own));
                }
                true
            }
            Err(_) => false,
        }
    }

    /// Watches the trees of these root processes, unless all of them are watched already.
    fn add(&mut self, search: TargetSearch, roots: Vec<u32>) {
        let known = |root: &u32| self.trees.iter().any(|tree| tree.running().contains(root));
        if !roots.iter().all(known) {
            let tree = Tree::of(search, roots, self.own, &self.proc, &self.table);
            self.trees.push(tree);
        }
    }

    /// Counts the traffic of the interface that leads to an address, or no traffic for `None`. The
    /// default is the interface of the default route.
    pub fn follow_route_to(&mut self, address: Option<IpAddr>) {
        let interface = address.and_then(|address| route::interface_to(&self.proc, address));
        self.host.follow(interface);
    }

    /// Starts the measured time: the first sample counts usage from now on.
    pub fn begin(&mut self, now_ns: u64) {
        self.refresh();
        self.look_at_amounts(now_ns);
    }

    /// Returns the usage since the sample before.
    pub fn look(&mut self, now_ns: u64) -> Watched {
        let mut watched = self.look_at_amounts(now_ns);
        self.add_files(now_ns, &mut watched.trees);
        self.add_pss(now_ns, &mut watched.trees);
        watched
    }

    /// Samples the counters that grow, and what is cheap to read with them. Open files and
    /// proportional memory are current values: they are not needed at the beginning, and should be
    /// due at the first sample.
    fn look_at_amounts(&mut self, now_ns: u64) -> Watched {
        let length_ns = now_ns.saturating_sub(self.begun_ns);
        self.begun_ns = now_ns;
        if self.list.is_due(now_ns) {
            let (proc, table) = (&self.proc, &mut self.table);
            // If the list cannot be read, there are no new processes.
            let _ = self.list.spend(now_ns, || table.refresh(proc));
        }
        let (proc, table) = (&self.proc, &self.table);
        let looks = self.trees.iter_mut().map(|tree| tree.look(proc, table));
        let mut trees: Vec<WatchedTree> = looks.collect();
        self.table.forget_fresh();
        self.add_switches(now_ns, &mut trees);
        Watched {
            length_ns,
            host: self.host.look(&self.proc),
            trees,
        }
    }

    /// Returns the number of links of open files read so far: the largest cost on a host with many.
    #[cfg(test)]
    pub(crate) fn links_read(&self) -> u64 {
        self.proc.links_read()
    }

    /// Reads the list of processes, regardless of the budget.
    fn refresh(&mut self) {
        let _ = self.table.refresh(&self.proc);
    }

    fn add_files(&mut self, now_ns: u64, seen: &mut [WatchedTree]) {
        if !self.files.is_due(now_ns) {
            return;
        }
        let (proc, trees) = (&self.proc, &self.trees);
        self.files.spend(now_ns, || {
            let mut namespaces = Namespaces::default();
            for (tree, seen) in present(trees, seen) {
                let WatchedTree { usage, missing, .. } = seen;
                sockets::read(proc, tree.running(), &mut namespaces, usage, missing);
            }
        });
    }

    fn add_switches(&mut self, now_ns: u64, seen: &mut [WatchedTree]) {
        if !self.switches.is_due(now_ns) {
            return;
        }
        let (proc, trees) = (&self.proc, &mut self.trees);
        self.switches.spend(now_ns, || {
            for (tree, seen) in trees.iter_mut().zip(seen) {
                let running = tree.running().to_vec();
                match tree.switches.read(proc, &running, now_ns) {
                    Ok(None) => {}
                    Ok(Some(rates)) => {
                        seen.usage.voluntary_switches_per_s = Some(rates.voluntary);
                        seen.usage.involuntary_switches_per_s = Some(rates.involuntary);
                    }
                    Err(unread) => {
                        let missing = missing(Figure::ContextSwitches, unread.why());
                        seen.missing.push(missing);
                    }
                }
            }
        });
    }

    fn add_pss(&mut self, now_ns: u64, seen: &mut [WatchedTree]) {
        if !self.pss.is_due(now_ns) {
            return;
        }
        let (proc, trees) = (&self.proc, &self.trees);
        self.pss.spend(now_ns, || {
            for (tree, seen) in present(trees, seen) {
                match tree.pss_bytes(proc, seen.usage.rss_bytes.unwrap_or(0)) {
                    Ok(bytes) => seen.usage.pss_bytes = Some(bytes),
                    Err(why) => seen.missing.push(missing(Figure::Pss, why)),
                }
            }
        });
    }
}

/// Returns the trees that exist, each with its sample.
fn present<'a>(
    trees: &'a [Tree],
    seen: &'a mut [WatchedTree],
) -> impl Iterator<Item = (&'a Tree, &'a mut WatchedTree)> {
    trees.iter().zip(seen).filter(|(tree, _)| tree.is_there())
}

#[cfg(test)]
mod tests;
