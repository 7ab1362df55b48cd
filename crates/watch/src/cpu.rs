//! CPU time of a tree between two samples.
//!
//! The kernel counts a process's own time (`utime` + `stime`) and the time of the children that it
//! has waited for (`cutime` + `cstime`, proc_pid_stat(5)). The second pair includes short-lived
//! children that no sample saw; but it also holds the whole life of the children that were sampled
//! before, which has to be subtracted.

use crate::proc::Proc;
use procfs_core::process::Stat;
use std::collections::HashMap;

/// Returns the total CPU time of a process in seconds, including its children that have ended. A
/// process that has ended but was not reaped counts too. `None` if it is gone.
pub fn cpu_s(pid: u32) -> Option<f64> {
    total_s(&Proc::default(), pid)
}

fn total_s(proc: &Proc, pid: u32) -> Option<f64> {
    let times = Times::of(&proc.stat(pid).ok()?);
    Some(proc.ticks_ns(times.own + times.children) as f64 / 1e9)
}

/// The times of one process, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// The start of the process, since boot: distinguishes it from a later process with the same
    /// number.
    pub(crate) start: u64,
    /// The process's own time.
    pub(crate) own: u64,
    /// The time of the children that it has waited for.
    pub(crate) children: u64,
}

impl Times {
    /// Reads the times from a status line.
    pub(crate) fn of(stat: &Stat) -> Times {
        let children = |ticks: i64| u64::try_from(ticks).unwrap_or(0);
        Times {
            start: stat.starttime,
            own: stat.utime + stat.stime,
            children: children(stat.cutime) + children(stat.cstime),
        }
    }
}

/// Returns the time that a tree used between two samples, in ticks, from its processes in both.
/// Processes missing in `before` were started in between. The time that a process used after its
/// last sample is lost if nobody waited for it.
pub(crate) fn used(before: &HashMap<u32, Times>, after: &HashMap<u32, Times>) -> u64 {
    let (mut own, mut children, mut gone) = (0_u64, 0_u64, 0_u64);
    for (pid, now) in after {
        let then = same(before, *pid, now.start);
        own += now.own.saturating_sub(then.map_or(0, |then| then.own));
        children += now
            .children
            .saturating_sub(then.map_or(0, |then| then.children));
    }
    for (pid, then) in before {
        if same(after, *pid, then.start).is_none() {
            gone += then.own + then.children;
        }
    }
    own + children.saturating_sub(gone)
}

fn same(times: &HashMap<u32, Times>, pid: u32, start: u64) -> Option<&Times> {
    times.get(&pid).filter(|times| times.start == start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn tree(processes: &[(u32, u64, u64, u64)]) -> HashMap<u32, Times> {
        let times = processes.iter().map(|&(pid, start, own, children)| {
            let times = Times {
                start,
                own,
                children,
            };
            (pid, times)
        });
        times.collect()
    }

    #[test]
    fn living_processes_add_up() {
        let before = tree(&[(1, 5, 100, 0), (2, 6, 10, 0)]);
        let after = tree(&[(1, 5, 130, 0), (2, 6, 15, 0), (3, 9, 7, 0)]);
        assert_eq!(used(&before, &after), 30 + 5 + 7);
    }

    #[test]
    fn a_child_that_ended_counts_once() {
        let before = tree(&[(1, 5, 100, 0), (2, 6, 40, 2)]);
        // Process 2 used 3 more ticks, then was waited for.
        let after = tree(&[(1, 5, 100, 45)]);
        assert_eq!(used(&before, &after), 3);
    }

    #[test]
    fn children_that_no_look_saw_count() {
        let before = tree(&[(1, 5, 100, 20)]);
        let after = tree(&[(1, 5, 101, 60)]);
        assert_eq!(used(&before, &after), 41);
    }

    #[test]
    fn what_nobody_waited_for_takes_nothing_away() {
        let before = tree(&[(1, 5, 100, 0), (2, 6, 400, 0)]);
        let after = tree(&[(1, 5, 110, 0)]);
        assert_eq!(used(&before, &after), 10);
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let before = tree(&[(7, 5, 1_000, 0)]);
        let after = tree(&[(7, 50, 3, 0)]);
        assert_eq!(used(&before, &after), 3);
    }

    #[test]
    fn all_that_a_process_used_has_the_time_of_its_children() {
        let made_up = Fixture::new();
        let stat = "12 (a) (b c) R 1 12 12 0 -1 4194304 90 0 0 0 5 6 7 8 20 0 1 0 100 1 1 ";
        made_up.write("12/stat", &(stat.to_owned() + &"0 ".repeat(28)));
        assert_eq!(total_s(&made_up.proc(), 12), Some(0.26));
        made_up.write("13/stat", "13 (a");
        assert_eq!(total_s(&made_up.proc(), 13), None);
        assert!(cpu_s(std::process::id()).is_some());
        assert_eq!(cpu_s(u32::MAX), None);
    }
}
