//! A tree of processes: its members, its usage, its end and its restart.

use crate::cpu::{Times, used};
use crate::find::{TargetSearch, is_alive};
use crate::proc::{Proc, ReadFailure, parse};
use crate::switches::Switches;
use crate::table::Table;
use crate::target::Target;
use loadline_record::watched::{Change, Figure, Missing, WatchedTree, Why};
use procfs_core::process::{SmapsRollup, Stat};
use std::collections::{BTreeSet, HashMap};

/// The most memory whose proportional size is read: for more, the kernel takes a tenth of a second,
/// during which the process waits for parts of its own memory.
const MOST_FOR_PSS_BYTES: u64 = 8 << 30;

/// A tree of processes.
#[derive(Debug)]
pub(crate) struct Tree {
    name: String,
    /// The target, to find the tree again; `None` if it cannot come back.
    search: Option<TargetSearch>,
    /// The watching process. It belongs to its own tree only.
    own: u32,
    /// The root processes; empty once the tree has ended.
    roots: Vec<u32>,
    /// New processes outside the tree since it was found: one of them may replace it.
    born: BTreeSet<u32>,
    /// The round of the list of processes in which the tree was found.
    found_in: u64,
    /// All processes at the last sample, including zombies.
    times: HashMap<u32, Times>,
    /// The processes that run.
    running: Vec<u32>,
    command: Option<String>,
    pid: Option<u32>,
    /// True if this user may not inspect the tree's processes, not even to identify them.
    refused: bool,
    pub(crate) switches: Switches,
}

/// The status of a tree's processes.
#[derive(Default)]
struct Census {
    times: HashMap<u32, Times>,
    running: Vec<u32>,
    rss_pages: u64,
    threads: u64,
    missing: Vec<Missing>,
}

impl Tree {
    /// Creates the tree of the watching process itself.
    pub(crate) fn of_self(name: &str, own: u32, proc: &Proc, table: &Table) -> Tree {
        let mut tree = Tree::empty(name.to_owned(), None, own);
        tree.settle(vec![own], proc, table);
        tree
    }

    /// Creates the tree of a target whose processes were found.
    pub(crate) fn of(
        search: TargetSearch,
        roots: Vec<u32>,
        own: u32,
        proc: &Proc,
        table: &Table,
    ) -> Tree {
        let name = search.target.to_string();
        // The number of a process that has ended may be given to any other process.
        let comes_back = !matches!(search.target, Target::Pid(_));
        let mut tree = Tree::empty(name, comes_back.then_some(search), own);
        tree.settle(roots, proc, table);
        tree
    }

    /// Creates a tree that exists but cannot be read.
    pub(crate) fn refused(name: String, own: u32) -> Tree {
        Tree {
            refused: true,
            ..Tree::empty(name, None, own)
        }
    }

    fn empty(name: String, search: Option<TargetSearch>, own: u32) -> Tree {
        Tree {
            name,
            search,
            own,
            roots: Vec::new(),
            born: BTreeSet::new(),
            found_in: 0,
            times: HashMap::new(),
            running: Vec::new(),
            command: None,
            pid: None,
            refused: false,
            switches: Switches::default(),
        }
    }

    /// Returns the processes that run.
    pub(crate) fn running(&self) -> &[u32] {
        &self.running
    }

    /// Returns the name of the tree in reports.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// True if the tree has a process.
    pub(crate) fn is_there(&self) -> bool {
        !self.roots.is_empty()
    }

    /// Starts the tree with these processes and all their descendants.
    fn settle(&mut self, roots: Vec<u32>, proc: &Proc, table: &Table) {
        self.pid = roots.first().copied().or(self.pid);
        self.roots = roots;
        self.found_in = table.round();
        self.times.clear();
        let members: Vec<u32> = table.pids().filter(|pid| self.owns(*pid, table)).collect();
        let census = self.census(members.into_iter(), proc);
        (self.times, self.running) = (census.times, census.running);
        let command = self.pid.and_then(|pid| proc.stat(pid).ok());
        self.command = command.map(|stat| stat.comm).or(self.command.take());
    }

    /// True if a process is in the tree, or descends from one that is.
    fn owns(&self, pid: u32, table: &Table) -> bool {
        for ancestor in table.line_of(pid) {
            if self.times.contains_key(&ancestor) || self.roots.contains(&ancestor) {
                return true;
            }
            if ancestor == self.own {
                return false;
            }
        }
        false
    }

    /// Returns the usage since the last sample, without the figures that are expensive to read.
    pub(crate) fn look(&mut self, proc: &Proc, table: &Table) -> WatchedTree {
        let born = table.fresh().iter().copied();
        let is_new = |pid: &u32| !self.times.contains_key(pid) && self.owns(*pid, table);
        let born: Vec<u32> = born.filter(is_new).collect();
        let census = self.census(self.times.keys().copied().chain(born), proc);
        let mut watched = WatchedTree::default();
        let usage = &mut watched.usage;
        if census.missing.is_empty() {
            let ticks = used(&self.times, &census.times);
            usage.cpu_ns = Some(proc.ticks_ns(ticks));
            usage.rss_bytes = Some(proc.pages_bytes(census.rss_pages));
            usage.threads = Some(census.threads);
            (self.times, self.running) = (census.times, census.running);
        }
        watched.missing = census.missing;
        if self.refused {
            watched.missing.push(missing(Figure::Cpu, Why::Rights));
        }
        watched.change = self.follow(proc, table);
        if !self.is_there() {
            watched.usage = Default::default();
        }
        watched.usage.processes = self.running.len() as u32;
        watched.name.clone_from(&self.name);
        watched.command.clone_from(&self.command);
        watched.pid = self.pid;
        watched
    }

    /// Reads the status lines of processes; processes that are gone are left out.
    fn census(&self, pids: impl Iterator<Item = u32>, proc: &Proc) -> Census {
        let mut census = Census::default();
        for pid in pids {
            match proc.stat(pid) {
                Ok(stat) => census.add(pid, &stat, self.times.get(&pid)),
                Err(ReadFailure::Absent) => {}
                Err(unread) => census.missing = vec![missing(Figure::Cpu, unread.why())],
            }
        }
        census.running.sort_unstable();
        census
    }

    /// Detects that the tree has ended, and searches for its replacement among the processes that
    /// are new since it was found, so that other processes of the host cost nothing.
    fn follow(&mut self, proc: &Proc, table: &Table) -> Option<Change> {
        let was_there = self.is_there();
        self.keep_born(table);
        self.roots.retain(|root| self.running.contains(root));
        if self.is_there() {
            return None;
        }
        self.times.clear();
        self.running.clear();
        match self.find_again(proc, table) {
            Some(roots) => {
                self.settle(roots, proc, table);
                Some(Change::Restarted)
            }
            None => was_there.then_some(Change::Ended),
        }
    }

    fn keep_born(&mut self, table: &Table) {
        if self.search.is_some() {
            let fresh = table.fresh().iter().copied();
            let is_born =
                |pid: &u32| table.is_newer(*pid, self.found_in) && !self.times.contains_key(pid);
            self.born.extend(fresh.filter(is_born));
            self.born.retain(|pid| table.has(*pid));
        }
    }

    /// Returns the processes that replace the tree, if there are any. A process gets its name and
    /// its port some time after its start, so processes that do not match yet are checked again.
    fn find_again(&mut self, proc: &Proc, table: &Table) -> Option<Vec<u32>> {
        let search = self.search.as_ref()?;
        if self.born.is_empty() {
            return None;
        }
        let born: Vec<u32> = self.born.iter().copied().collect();
        let roots = search.find_among(&born, proc, table, self.own);
        (!roots.is_empty()).then_some(roots)
    }

    /// Returns the proportional memory of the tree: each page is divided among the processes that
    /// share it. A process that ends during the reading counts as 0.
    pub(crate) fn pss_bytes(&self, proc: &Proc, rss_bytes: u64) -> Result<u64, Why> {
        if rss_bytes > MOST_FOR_PSS_BYTES {
            return Err(Why::TooLarge);
        }
        let mut sum = 0;
        for pid in &self.running {
            match parse::<SmapsRollup>(&proc.of(*pid, "smaps_rollup")) {
                Ok(rollup) => sum += pss_of(&rollup),
                Err(ReadFailure::Absent) => self.excuse(*pid, proc)?,
                Err(ReadFailure::Refused(why)) => return Err(why),
            }
        }
        Ok(sum)
    }

    /// Decides about an absent file: if its process still runs, this kernel does not have the file.
    fn excuse(&self, pid: u32, proc: &Proc) -> Result<(), Why> {
        match proc.stat(pid) {
            // The memory of an ending process disappears before its status line does.
            Ok(stat) if is_alive(&stat) && !proc.of(pid, "smaps_rollup").exists() => {
                Err(Why::Untold)
            }
            _ => Ok(()),
        }
    }
}

impl Census {
    fn add(&mut self, pid: u32, stat: &Stat, known: Option<&Times>) {
        let times = Times::of(stat);
        // The number was given to another process: the process of this tree is gone.
        if known.is_some_and(|known| known.start != times.start) {
            return;
        }
        self.times.insert(pid, times);
        if is_alive(stat) {
            self.running.push(pid);
            self.rss_pages += stat.rss;
            self.threads += u64::try_from(stat.num_threads).unwrap_or(0);
        }
    }
}

fn pss_of(rollup: &SmapsRollup) -> u64 {
    let maps = rollup.memory_map_rollup.iter();
    maps.filter_map(|map| map.extension.map.get("Pss")).sum()
}

/// A figure that is missing.
pub(crate) fn missing(figure: Figure, why: Why) -> Missing {
    Missing { figure, why }
}
