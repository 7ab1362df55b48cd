//! Merges the saved runs of processes that ran the same plan at the same time.
//!
//! Each of these parts ran the whole plan, so loads and counts add up: two parts of a plan of 1
//! 000/s are a load of 2 000/s. Intervals are merged by index, not by time: the clocks of two
//! machines differ by more than the intervals do.

use super::differences::first_difference;
use super::encoding::Encoder;
use super::header::{Header, LongBody};
use super::line::StoredSnapshot;
use super::reader::RunFile;
use crate::error::Error;
use crate::{Ended, Snapshot, Unfinished};
use loadline_plan::Plan;
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// The common content of the headers of all parts.
#[derive(PartialEq, Serialize)]
struct Planned<'a> {
    /// The plan without its seed, which may differ, so that parts draw different numbers.
    plan: Plan,
    long_bodies: &'a [LongBody],
}

impl<'a> Planned<'a> {
    fn of(header: &'a Header) -> Self {
        Planned {
            plan: Plan {
                seed: 0,
                ..header.plan.clone()
            },
            long_bodies: &header.long_bodies,
        }
    }
}

/// The maximum difference between the starts of parts.
const START_SPREAD: Duration = Duration::from_secs(10);

impl RunFile {
    /// Merges the runs of several processes that each ran all of the same plan at the same time,
    /// without loss.
    ///
    /// Version, environment and path are those of the first part, the start is the earliest. The
    /// result is complete if all parts are. It ended as the first part did, unless another one was
    /// stopped early. The transient of several parts is not cut.
    pub fn merge_concurrent(mut parts: Vec<RunFile>) -> Result<RunFile, Error> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        refuse_others(&parts)?;
        Ok(merged(&parts))
    }

    fn refuse_other_plan(&self, other: &RunFile) -> Result<(), Error> {
        let (first, second) = (Planned::of(&self.header), Planned::of(&other.header));
        if first == second {
            return Ok(());
        }
        match first_difference(&first, &second) {
            None => Ok(()),
            Some(difference) => Err(Error::DifferentPlans {
                first: self.path.clone(),
                other: other.path.clone(),
                key: difference.key,
                in_first: difference.in_first,
                in_other: difference.in_other,
            }),
        }
    }

    /// Refuses a part by its time. The same plan is often run again, so that only the time
    /// distinguishes parts from repeats.
    fn refuse_other_time(&self, other: &RunFile) -> Result<(), Error> {
        let apart = distance(self.header.started_at, other.header.started_at);
        let (first, other_path) = (self.path.clone(), other.path.clone());
        if apart.is_zero() {
            return Err(Error::SameRun {
                first,
                other: other_path,
            });
        }
        if apart >= self.longest_wait().min(other.longest_wait()) {
            return Err(Error::Apart {
                first,
                other: other_path,
                apart_s: apart.as_secs_f64(),
            });
        }
        Ok(())
    }

    /// Returns the maximum time until another part must start: it starts before this one is over.
    fn longest_wait(&self) -> Duration {
        match self.summary.total.end_ns {
            0 => START_SPREAD,
            end_ns => START_SPREAD.min(Duration::from_nanos(end_ns)),
        }
    }
}

fn refuse_others(parts: &[RunFile]) -> Result<(), Error> {
    let Some((first, others)) = parts.split_first() else {
        return Err(Error::NothingToMerge);
    };
    for (index, other) in others.iter().enumerate() {
        first.refuse_other_plan(other)?;
        for earlier in &parts[..=index] {
            earlier.refuse_other_time(other)?;
        }
    }
    Ok(())
}

fn merged(parts: &[RunFile]) -> RunFile {
    let mut run = RunFile::started(&parts[0].path, merged_header(parts));
    run.summary.parts = parts.iter().map(|part| part.summary.parts).sum();
    let mut encoder = Encoder::new();
    let length = parts.iter().map(|part| part.window().len()).max();
    let window = (0..length.unwrap_or(0)).map(|index| merged_interval(parts, index));
    for interval in window.chain(merged_drain(parts)) {
        run.summary.observe(&interval);
        run.intervals
            .push(StoredSnapshot::encode(&interval, &mut encoder));
    }
    for part in parts {
        run.summary.host.add(&part.summary.host);
    }
    for part in parts {
        run.summary.changes.extend(&part.summary.changes);
        let notes = part.summary.notes.iter().cloned();
        run.summary.notes.extend(notes);
        let declared = part.summary.declared.iter().cloned();
        run.summary.declared.extend(declared);
        if let Some(outside) = &part.summary.outside {
            run.summary.add_outside(&outside.metrics);
        }
    }
    run.summary.changes.sort_by_key(|change| change.at_ns);
    // The watched data of parts is not merged: each part watched its own generator and machine.
    if parts.iter().all(|part| part.summary.complete) {
        run.summary
            .finish(merged_end(parts), merged_unfinished(parts));
    } else {
        run.summary.unfinished = merged_unfinished(parts);
    }
    run
}

fn merged_header(parts: &[RunFile]) -> Header {
    let starts = parts.iter().map(|part| part.header.started_at);
    let first = &parts[0].header;
    Header {
        started_at: starts.min().unwrap_or(first.started_at),
        // The parts may be of several machines, each with a clock of its own.
        started_monotonic_ns: None,
        ..first.clone()
    }
}

/// Renumbers the workers of an interval: each part has workers of its own, all numbered from 0.
fn numbered_from(first: u32, mut interval: Snapshot) -> Snapshot {
    let workers = std::mem::take(&mut interval.workers).into_iter();
    interval.workers = workers
        .map(|(worker, times)| (worker.saturating_add(first), times))
        .collect();
    interval
}

/// Merges the intervals with this index. A part that has ended before keeps its last exchanges in
/// flight, so that the sum is still balanced.
fn merged_interval(parts: &[RunFile], index: usize) -> Snapshot {
    let mut first_worker = 0;
    let mut intervals = parts.iter().filter_map(|part| {
        let before = first_worker;
        first_worker += part.header.plan.threads;
        let interval = part.window().get(index)?.decoded();
        Some(numbered_from(before, interval))
    });
    let mut sum = intervals.next().unwrap_or_default();
    intervals.for_each(|interval| sum.merge(&interval));
    for part in parts.iter().filter(|part| part.window().len() <= index) {
        let last = part.window().last().map(StoredSnapshot::decoded);
        let left = last.map_or(0, |last| last.counts.in_flight);
        sum.add_in_flight(left);
    }
    sum
}

/// Merges the drains of those parts that have one.
fn merged_drain(parts: &[RunFile]) -> Option<Snapshot> {
    if parts.iter().all(|part| part.drain().is_none()) {
        return None;
    }
    let start_ns = parts.iter().map(|part| part.summary.total.end_ns).max();
    let mut sum = Snapshot::empty(start_ns.unwrap_or(0));
    for part in parts {
        match part.drain() {
            Some(drain) => {
                sum.end_ns = sum.end_ns.max(sum.start_ns + drain.length_ns());
                let start_ns = sum.start_ns;
                sum.merge(&drain);
                sum.start_ns = start_ns;
            }
            None => sum.counts.in_flight += part.summary.total.counts.in_flight,
        }
    }
    sum.drain = true;
    Some(sum)
}

fn merged_end(parts: &[RunFile]) -> Ended {
    let ends = || parts.iter().map(|part| &part.summary.ended);
    ends()
        .find(|ended| matches!(ended, Ended::Aborted(_)))
        .or_else(|| ends().find(|ended| matches!(ended, Ended::Failed(_))))
        .or_else(|| ends().find(|ended| matches!(ended, Ended::Threw(_))))
        .or_else(|| ends().find(|ended| **ended == Ended::Interrupted))
        .unwrap_or(&parts[0].summary.ended)
        .clone()
}

fn merged_unfinished(parts: &[RunFile]) -> Unfinished {
    parts.iter().fold(Unfinished::default(), |mut sum, part| {
        sum.merge(&part.summary.unfinished);
        sum
    })
}

fn distance(one: SystemTime, other: SystemTime) -> Duration {
    one.duration_since(other)
        .unwrap_or_else(|error| error.duration())
}
