//! Context switches of a tree.
//!
//! The kernel counts them for each thread, in `task/*/status`. The count of a thread ends with the
//! thread, so its last switches are lost.

use crate::proc::{Proc, ReadFailure, numbers_in, text};
use loadline_record::watched::Why;
use std::collections::HashMap;

/// The counts of one thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    voluntary: u64,
    involuntary: u64,
}

/// The context switches of a tree's threads, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Voluntary: the threads gave up their cores to wait.
    pub(crate) voluntary: f64,
    /// Involuntary: the cores were taken from the threads.
    pub(crate) involuntary: f64,
}

/// The counts of the last reading.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    threads: HashMap<u32, Counts>,
    at_ns: Option<u64>,
}

impl Switches {
    /// Reads the counts and returns the rates since the last reading; `None` at the first.
    pub(crate) fn read(
        &mut self,
        proc: &Proc,
        pids: &[u32],
        now_ns: u64,
    ) -> Result<Option<Rates>, ReadFailure> {
        let mut threads = HashMap::new();
        for &pid in pids {
            threads_of(proc, pid, &mut threads)?;
        }
        let before = std::mem::replace(&mut self.threads, threads);
        let since_ns = self.at_ns.replace(now_ns);
        let length_ns = since_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        Ok((length_ns > 0).then(|| self.rates(&before, length_ns)))
    }

    fn rates(&self, before: &HashMap<u32, Counts>, length_ns: u64) -> Rates {
        let (mut voluntary, mut involuntary) = (0, 0);
        for (tid, now) in &self.threads {
            let then = before.get(tid).copied().unwrap_or_default();
            voluntary += now.voluntary.saturating_sub(then.voluntary);
            involuntary += now.involuntary.saturating_sub(then.involuntary);
        }
        let per_s = |count: u64| count as f64 * 1e9 / length_ns as f64;
        Rates {
            voluntary: per_s(voluntary),
            involuntary: per_s(involuntary),
        }
    }
}

/// Adds the counts of a process's threads; nothing if the process is gone.
fn threads_of(
    proc: &Proc,
    pid: u32,
    threads: &mut HashMap<u32, Counts>,
) -> Result<(), ReadFailure> {
    let tids = match numbers_in(&proc.of(pid, "task")) {
        Err(ReadFailure::Absent) => return Ok(()),
        tids => tids?,
    };
    for tid in tids {
        match text(&proc.of(pid, &format!("task/{tid}/status"))) {
            Err(ReadFailure::Absent) => {}
            status => drop(threads.insert(tid, counts(&status?)?)),
        }
    }
    Ok(())
}

fn counts(status: &str) -> Result<Counts, ReadFailure> {
    let count = |key: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(key));
        let count = value.and_then(|value| value.trim().parse().ok());
        count.ok_or(ReadFailure::Refused(Why::Untold))
    };
    Ok(Counts {
        voluntary: count("voluntary_ctxt_switches:")?,
        involuntary: count("nonvoluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn rates_are_those_since_the_last_reading() {
        let fixture = Fixture::new();
        fixture.process(5, 1, "a");
        fixture.thread(5, 5, 100, 10);
        fixture.thread(5, 6, 50, 0);
        let mut switches = Switches::default();
        let first = switches.read(&fixture.proc(), &[5], SECOND);
        assert_eq!(first, Ok(None));
        fixture.thread(5, 5, 120, 13);
        fixture.thread(5, 7, 4, 1);
        let rates = switches.read(&fixture.proc(), &[5], 3 * SECOND);
        let expected = Rates {
            voluntary: 12.0,
            involuntary: 2.0,
        };
        assert_eq!(rates, Ok(Some(expected)));
    }

    #[test]
    fn a_process_that_has_gone_switches_no_more() {
        let fixture = Fixture::new();
        let mut switches = Switches::default();
        switches.read(&fixture.proc(), &[5], 0).unwrap();
        let rates = switches.read(&fixture.proc(), &[5], SECOND).unwrap();
        assert_eq!(rates.map(|rates| rates.voluntary), Some(0.0));
    }

    #[test]
    fn a_kernel_that_does_not_tell_is_named() {
        let fixture = Fixture::new();
        fixture.process(5, 1, "a");
        fixture.write("5/task/5/status", "Name:\ta\n");
        let read = Switches::default().read(&fixture.proc(), &[5], 0);
        assert_eq!(read, Err(ReadFailure::Refused(Why::Untold)));
    }
}
