//! The slowest requests of the current run, with what is known of the generator and of the target
//! at their time: the contents of a cell of the heatmap.
//!
//! As in the heatmap there are at most 240 columns of time. Before one more is added, pairs of
//! neighbours are joined, and of each pair the slowest requests stay.

use crate::api::{Cause, CpuShare, SlowRow, SlowRows};
use loadline_plan::Plan;
use loadline_record::{Exchange, Outcome, SlowRequest};
use loadline_runner::Stretch;
use std::cmp::Reverse;

/// The most columns of time.
const MOST_COLUMNS: usize = 240;
/// The most requests of a column.
const MOST_KEPT: usize = 32;
/// The most requests of an answer.
const MOST_SHOWN: usize = 50;

/// The slowest requests of a run.
#[derive(Default)]
pub(crate) struct Slow {
    columns: Vec<Column>,
    /// The number of intervals in a column, 0 before the first.
    each: usize,
    /// The number of intervals in the last column.
    in_last: usize,
}

/// A stretch of time.
struct Column {
    start_ns: u64,
    end_ns: u64,
    /// The slowest requests, in no order.
    requests: Vec<SlowRequest>,
    /// The 99th percentile of the delay that the generator added; of several intervals the highest.
    lateness_p99_ns: u64,
    /// The trees that were watched, with the CPU time that is known of them.
    cpu_ns: Vec<(String, u64)>,
    /// The time in which it was used.
    watched_ns: u64,
}

/// What is asked for: a part of the time, and response times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) seconds: (f64, f64),
    pub(crate) us: (f64, f64),
}

impl Slow {
    /// Adds an interval.
    pub(crate) fn observe(&mut self, stretch: &Stretch) {
        let column = Column::of(stretch);
        match self.columns.last_mut() {
            Some(last) if self.in_last < self.each => {
                last.join(column);
                self.in_last += 1;
            }
            _ => {
                self.make_room();
                self.columns.push(column);
                self.in_last = 1;
            }
        }
    }

    fn make_room(&mut self) {
        self.each = self.each.max(1);
        if self.columns.len() < MOST_COLUMNS {
            return;
        }
        let mut joined: Vec<Column> = Vec::with_capacity(MOST_COLUMNS);
        for (index, column) in self.columns.drain(..).enumerate() {
            match joined.last_mut() {
                Some(last) if index % 2 == 1 => last.join(column),
                _ => joined.push(column),
            }
        }
        self.columns = joined;
        self.each *= 2;
    }

    /// Returns the requests of a cell, the slowest first.
    pub(crate) fn rows(&self, cell: Cell, plan: &Plan) -> SlowRows {
        let (from_s, to_s) = cell.seconds;
        let is_within = |column: &&Column| {
            let middle_s = (column.start_ns + column.end_ns) as f64 / 2e9;
            from_s <= middle_s && middle_s < to_s
        };
        let columns: Vec<&Column> = self.columns.iter().filter(is_within).collect();
        let is_selected = |request: &&SlowRequest| {
            let us = request.exchange.response_ns() as f64 / 1e3;
            cell.us.0 <= us && us < cell.us.1
        };
        let requests = columns.iter().flat_map(|column| &column.requests);
        let mut requests: Vec<&SlowRequest> = requests.filter(is_selected).collect();
        requests.sort_by_key(|request| Reverse(request.exchange.response_ns()));
        requests.truncate(MOST_SHOWN);
        let lateness = columns.iter().map(|column| column.lateness_p99_ns);
        SlowRows {
            requests: requests.iter().map(|one| row(one, plan)).collect(),
            lateness_p99_us: lateness.max().map_or(0.0, microseconds),
            cpu: shares(&columns),
        }
    }
}

impl Column {
    fn of(stretch: &Stretch) -> Column {
        let watched = stretch.watched.as_ref();
        let trees = watched.iter().flat_map(|watched| &watched.trees);
        let cpu = trees.filter_map(|tree| Some((tree.name.clone(), tree.usage.cpu_ns?)));
        let mut column = Column {
            start_ns: stretch.snapshot.start_ns,
            end_ns: stretch.snapshot.end_ns,
            requests: stretch.slow.clone(),
            lateness_p99_ns: stretch.snapshot.times.lateness.percentile_ns(99.0),
            cpu_ns: cpu.collect(),
            watched_ns: watched.map_or(0, |watched| watched.length_ns),
        };
        column.keep_slowest();
        column
    }

    fn join(&mut self, next: Column) {
        self.end_ns = next.end_ns;
        self.requests.extend(next.requests);
        self.keep_slowest();
        self.lateness_p99_ns = self.lateness_p99_ns.max(next.lateness_p99_ns);
        self.watched_ns += next.watched_ns;
        for (name, cpu_ns) in next.cpu_ns {
            add(&mut self.cpu_ns, &name, cpu_ns);
        }
    }

    fn keep_slowest(&mut self) {
        let slowest_first = |request: &SlowRequest| Reverse(request.exchange.response_ns());
        self.requests.sort_by_key(slowest_first);
        self.requests.truncate(MOST_KEPT);
    }
}

fn add(sums: &mut Vec<(String, u64)>, name: &str, cpu_ns: u64) {
    match sums.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum_ns)) => *sum_ns += cpu_ns,
        None => sums.push((name.to_owned(), cpu_ns)),
    }
}

/// The CPU of each tree in these columns together.
fn shares(columns: &[&Column]) -> Vec<CpuShare> {
    let mut sums = Vec::new();
    for column in columns {
        for (name, cpu_ns) in &column.cpu_ns {
            add(&mut sums, name, *cpu_ns);
        }
    }
    let watched_ns: u64 = columns.iter().map(|column| column.watched_ns).sum();
    let share = |(name, cpu_ns): (String, u64)| CpuShare {
        name,
        percent: 100.0 * cpu_ns as f64 / watched_ns.max(1) as f64,
    };
    sums.into_iter().map(share).collect()
}

fn row(request: &SlowRequest, plan: &Plan) -> SlowRow {
    let exchange = &request.exchange;
    let (status, error) = match exchange.outcome {
        Outcome::Answered { status } => (Some(status), None),
        Outcome::Failed(kind) => (None, Some(kind.name().to_owned())),
    };
    SlowRow {
        at_s: exchange.end_ns as f64 / 1e9,
        name: request.name.clone().or_else(|| planned(exchange, plan)),
        status,
        error,
        response_us: microseconds(exchange.response_ns()),
        blocked_us: microseconds(exchange.blocked_ns()),
        lateness_us: microseconds(exchange.lateness_ns()),
        dial_us: microseconds(exchange.dial_ns),
        wait_us: microseconds(exchange.wait_ns()),
        rest_us: microseconds(exchange.rest_ns()),
        wakeup_us: microseconds(exchange.wakeup_ns),
        bytes_in: exchange.bytes_in,
        served_before: request.served_before,
        cause: cause(exchange),
    }
}

/// The request of the plan.
fn planned(exchange: &Exchange, plan: &Plan) -> Option<String> {
    let request = plan.requests.get(exchange.request? as usize)?;
    Some(request.series_name().into_owned())
}

/// The part in which more than half of the response time passed; the target's if there is none.
fn cause(exchange: &Exchange) -> Cause {
    let is_most = |part_ns: u64| part_ns * 2 > exchange.response_ns();
    match () {
        () if is_most(exchange.lateness_ns()) => Cause::Generator,
        () if is_most(exchange.blocked_ns()) => Cause::Connections,
        () => Cause::Target,
    }
}

fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests;
