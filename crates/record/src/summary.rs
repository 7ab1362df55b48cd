//! The whole run, as reports print it.
//!
//! A summary grows while the run lasts: [`Summary::observe`] adds each interval's snapshot,
//! [`Summary::finish`] sets the end. It stores one set of histograms for the whole run and a small
//! [`Row`] for each interval, so an hour of seconds takes about half a megabyte, and the times of
//! both kinds in at most 64 stretches ([`Blocks`]).

mod ended;
mod row;

pub use ended::Ended;
pub use row::{Quantiles, Row};

use crate::format::FORMAT_VERSION;
use crate::watched::{WatchHistory, Watched};
use crate::{
    AgentBegin, Blocks, Busiest, Censored, DeclaredCheck, Environment, Header, HostCounters,
    LoadChange, LongBody, Model, NameHistory, Note, OddAgent, Pattern, Role, Snapshot, Transient,
    Uncut, Unfinished,
};
use loadline_metrics::{CustomMetrics, SeriesSet};
use loadline_plan::{Arrivals as Spread, Plan, Shape};
use std::time::SystemTime;

/// The whole run, as reports print it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The version of the program that ran it.
    pub version: String,
    /// The version of the format of the file that it was read from; for a new run the current one.
    pub format: u64,
    /// The role of this run in its file, if there are several.
    pub role: Option<Role>,
    /// The number of processes that ran it at the same time, each all of the plan; 1 unless their
    /// files were merged.
    pub parts: u32,
    /// The plan. Long bodies are excluded from it: see `long_bodies`.
    pub plan: Plan,
    /// The request bodies that are too long to store.
    pub long_bodies: Vec<LongBody>,
    /// The machine of the run.
    pub environment: Environment,
    /// The addresses of the target's name that were excluded because they did not respond.
    pub left_out: Vec<String>,
    /// The names of the agents that sent the load, in the order of their parts; empty if this
    /// machine sent it.
    pub agents: Vec<String>,
    /// Those of them whose response times differ from those of the others, the most different one
    /// first.
    pub odd_agents: Vec<OddAgent>,
    /// The agents whose load began off the common instant by more than that matters.
    pub begins_off: Vec<AgentBegin>,
    /// The rule that decided when an exchange started.
    pub model: Model,
    /// The start of the run.
    pub started_at: SystemTime,
    /// The begin of the load by the machine's monotonic clock; `None` if it is not known, or if
    /// there were several machines.
    pub started_monotonic_ns: Option<u64>,
    /// The reason of the end.
    pub ended: Ended,
    /// The length of the measured window, from the end of warm-up to the end of the last interval,
    /// in nanoseconds.
    pub duration_ns: u64,
    /// The time after the window in which unfinished requests were awaited, in nanoseconds.
    pub drained_ns: u64,
    /// The sum of all intervals.
    pub total: Snapshot,
    /// True if the run was recorded to its end; false for a killed run.
    pub complete: bool,
    /// The rows, one per interval.
    pub rows: Vec<Row>,
    /// The response times in stretches of the run.
    pub response_blocks: Blocks,
    /// The service times in stretches of the run.
    pub service_blocks: Blocks,
    /// The stretch of the run in which a worker computed most.
    pub busiest: Busiest,
    /// The course of the busiest names.
    pub names: NameHistory,
    /// The result of the search for a transient, if the plan requests to cut it.
    pub transient: Option<Transient>,
    /// The run with its beginning, if that was cut.
    pub uncut: Option<Box<Uncut>>,
    /// The requests without a response when the run ended. If the record breaks off, the age of the
    /// oldest is not known, and 0.
    pub unfinished: Unfinished,
    /// The counters of the whole machine in all of the measured part, including a transient that
    /// was cut.
    pub host: HostCounters,
    /// The pattern in which the requests of an open load were due and sent.
    pub arrivals: Pattern,
    /// The changes of the load during the run, in order.
    pub changes: Vec<LoadChange>,
    /// The notes that people wrote while it lasted, in the order of writing.
    pub notes: Vec<Note>,
    /// The conditions that the script set and that its tool has judged.
    pub declared: Vec<DeclaredCheck>,
    /// The metrics that the script counted outside of the load, if it counted any; `total` contains
    /// them.
    pub outside: Option<Box<Outside>>,
    /// The usage of watched processes and of the machine; without rows if nothing was watched.
    pub watch: WatchHistory,
}

/// The metrics that a script counted outside of the load: before it began, or after it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// These metrics.
    pub metrics: CustomMetrics,
    /// The metrics of the load alone.
    pub(crate) of_load: CustomMetrics,
}

impl Summary {
    /// True if a worker failed before anything was recorded, so that every count is 0 because it is
    /// not known.
    pub fn lacks_figures(&self) -> bool {
        let nothing = self.rows.is_empty() && self.total.counts.sent == 0;
        nothing && matches!(self.ended, Ended::Failed(_))
    }

    /// Returns the time in which what was counted came to its end, in nanoseconds: the measured
    /// part and the drain after it.
    pub fn counted_ns(&self) -> u64 {
        self.duration_ns.saturating_add(self.drained_ns)
    }

    /// True if the measured part is as long as the plan says, with a transient that was cut; false
    /// where the plan says no length.
    pub fn lasted_as_planned(&self) -> bool {
        let last_ns = self.rows.last().map_or(0, |row| row.end_ns);
        let length_ns = match self.uncut {
            Some(_) => u128::from(last_ns),
            None => u128::from(self.duration_ns),
        };
        let planned = self.plan.duration;
        planned.is_some_and(|planned| length_ns >= planned.as_nanos())
    }

    /// True if this condition that ended the run is one of `--abort-on`, and none of the script's.
    pub fn aborts_on(&self, condition: &str) -> bool {
        let mut conditions = self.plan.abort_on.iter();
        conditions.any(|check| check.text == condition)
    }

    /// Creates the summary of a run in which nothing was measured yet.
    pub fn new(header: Header) -> Summary {
        Summary {
            version: header.version,
            format: FORMAT_VERSION,
            role: header.role,
            parts: 1,
            model: Model::of(&header.plan.load.shape),
            plan: header.plan,
            long_bodies: header.long_bodies,
            environment: header.environment,
            left_out: header.left_out,
            agents: header.agents,
            odd_agents: Vec::new(),
            begins_off: Vec::new(),
            started_at: header.started_at,
            started_monotonic_ns: header.started_monotonic_ns,
            ended: Ended::Unknown,
            duration_ns: 0,
            drained_ns: 0,
            total: Snapshot::empty(0),
            complete: false,
            rows: Vec::new(),
            response_blocks: Blocks::default(),
            service_blocks: Blocks::default(),
            busiest: Busiest::default(),
            names: NameHistory::default(),
            transient: None,
            uncut: None,
            unfinished: Unfinished::default(),
            host: HostCounters::default(),
            arrivals: Pattern::default(),
            changes: Vec::new(),
            notes: Vec::new(),
            declared: Vec::new(),
            outside: None,
            watch: WatchHistory::default(),
        }
    }

    /// Adds the next interval of the measured part. Intervals of the warm-up must not be added.
    pub fn observe(&mut self, interval: &Snapshot) {
        if self.rows.is_empty() {
            self.total = Snapshot::empty(interval.start_ns);
            self.total.series = SeriesSet::new(self.plan.max_series);
            self.total.metrics = CustomMetrics::new(self.plan.max_series);
        }
        self.total.append(interval);
        if interval.drain {
            return self.observe_drain(interval);
        }
        self.duration_ns = self.total.length_ns();
        self.arrivals.observe(interval);
        self.unfinished = Unfinished::after(&self.total.counts);
        self.rows.push(Row::of(interval));
        self.response_blocks.observe(&interval.times.response);
        self.service_blocks.observe(&interval.times.service);
        self.busiest.observe(interval);
        self.names.observe(interval, &self.total.series);
    }

    /// Adds the drain: its responses are in the times, and in no row.
    fn observe_drain(&mut self, drain: &Snapshot) {
        self.drained_ns = drain.length_ns();
        self.unfinished = Unfinished::after(&self.total.counts);
        self.response_blocks.observe(&drain.times.response);
        self.service_blocks.observe(&drain.times.service);
    }

    /// Adds metrics that the script counted outside of the load. No interval may be added after it.
    pub fn add_outside(&mut self, metrics: &CustomMetrics) {
        if metrics.is_empty() {
            return;
        }
        let outside = self.outside.get_or_insert_with(|| {
            Box::new(Outside {
                metrics: CustomMetrics::default(),
                of_load: self.total.metrics.clone(),
            })
        });
        outside.metrics.merge(metrics);
        self.total.metrics.merge(metrics);
    }

    /// Returns the metrics that were counted in the load: the sum of all intervals.
    pub(crate) fn metrics_of_load(&self) -> &CustomMetrics {
        let outside = self.outside.as_ref();
        outside.map_or(&self.total.metrics, |outside| &outside.of_load)
    }

    /// Adds the watched usage in the interval that was added last.
    pub fn observe_watched(&mut self, watched: &Watched) {
        let end_ns = self.rows.last().map_or(0, |row| row.end_ns);
        self.watch.observe(watched, end_ns);
    }

    /// Returns the time over which rates are computed, in nanoseconds: the time in which all
    /// responses would have ended at the rate of the window. The window is the measured part. If
    /// the last request ended an open load of even arrivals, the window is as long as its arrivals
    /// occupy, from the first response on, so that neither the last gap nor a long last response
    /// changes a rate that was kept. The last of n arrivals at r per second falls due after n − 1
    /// gaps, and n gaps are n / r seconds.
    pub fn rated_ns(&self) -> u64 {
        let Some(occupied_ns) = self.occupied_ns() else {
            return self.duration_ns;
        };
        let (_, first_ns) = self.total.times.response.rank_ns(1);
        let window_ns = occupied_ns.saturating_add(first_ns);
        if self.duration_ns <= window_ns {
            return occupied_ns;
        }
        let all = self.total.counts.completed as f64;
        let within = self.completed_until_ns(window_ns);
        if within <= 0.0 {
            return self.duration_ns;
        }
        let rated_ns = occupied_ns as f64 * all / within;
        // The rate over the whole measured part is the lower limit.
        rated_ns.clamp(occupied_ns as f64, self.duration_ns as f64) as u64
    }

    /// Returns the responses per second: those that ended in the window, whenever begun, over its
    /// length.
    pub fn answers_per_s(&self) -> f64 {
        match self.rated_ns() {
            0 => 0.0,
            rated_ns => self.total.counts.completed as f64 * 1e9 / rated_ns as f64,
        }
    }

    /// Returns the rate of arrivals that an open load asked for: its rate if it has one, otherwise
    /// the mean over the time that its arrivals occupy, since the mean of a changing load depends
    /// on how far the run came.
    pub fn asked_per_s(&self) -> f64 {
        match self.plan.load.shape {
            Shape::Rate { rate, .. } => rate.per_second() * f64::from(self.parts),
            Shape::Closed
            | Shape::ClosedStages { .. }
            | Shape::RateStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => match self.occupied_ns().unwrap_or(self.duration_ns) {
                0 => 0.0,
                over_ns => self.total.counts.planned as f64 * 1e9 / over_ns as f64,
            },
        }
    }

    /// Returns the time that the arrivals of an open load occupy, including the last gap, in
    /// nanoseconds; `None` if the last request did not end the run, or the load has neither even
    /// arrivals of one rate nor bursts.
    pub fn occupied_ns(&self) -> Option<u64> {
        if self.ended != Ended::Requests {
            return None;
        }
        let planned = u128::from(self.total.counts.planned) / u128::from(self.parts.max(1));
        let occupied_ns = match self.plan.load.shape {
            Shape::Rate {
                rate,
                arrivals: Spread::Constant,
            } if rate.count > 0 => planned * u128::from(rate.per_ns) / u128::from(rate.count),
            Shape::Burst { size, every } if size > 0 => {
                planned * every.as_nanos() / u128::from(size)
            }
            Shape::Closed
            | Shape::ClosedStages { .. }
            | Shape::Rate { .. }
            | Shape::RateStages { .. }
            | Shape::Burst { .. }
            | Shape::Paced
            | Shape::Scenarios { .. } => return None,
        };
        Some(u64::try_from(occupied_ns).unwrap_or(u64::MAX))
    }

    /// Returns the approximate number of responses that ended in the first `length_ns` of the
    /// window; an interval that ends later counts in proportion.
    fn completed_until_ns(&self, length_ns: u64) -> f64 {
        let until_ns = self.total.start_ns.saturating_add(length_ns);
        let part = |row: &Row| {
            let row_ns = row.end_ns.saturating_sub(row.start_ns).max(1) as f64;
            let within_ns = until_ns.min(row.end_ns).saturating_sub(row.start_ns) as f64;
            row.counts.completed as f64 * within_ns / row_ns
        };
        self.rows.iter().map(part).sum()
    }

    /// Returns the response times, with the ages of unfinished requests.
    pub fn response(&self) -> Censored<'_> {
        self.unfinished.beside_response(&self.total.times.response)
    }

    /// Returns the service times, with the ages of unfinished requests.
    pub fn service(&self) -> Censored<'_> {
        self.unfinished.beside_service(&self.total.times.service)
    }

    /// Ends the run, with the requests that have no response.
    pub fn finish(&mut self, ended: Ended, unfinished: Unfinished) {
        self.ended = ended;
        self.plan_lost(&unfinished);
        self.unfinished = unfinished;
        self.complete = true;
    }

    /// Counts as planned what fell due after the last interval of a lost worker, which no interval
    /// reports.
    pub(crate) fn plan_lost(&mut self, unfinished: &Unfinished) {
        if unfinished.lost > 0 {
            self.total.counts.plan_at_least(unfinished.unsent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{header, second};
    use loadline_plan::{Arrivals, Rate};
    use std::time::Duration;

    #[test]
    fn starts_with_what_is_known_before() {
        let summary = Summary::new(header());
        assert_eq!(summary.model, Model::Open);
        assert_eq!(summary.ended, Ended::Unknown);
        assert!(!summary.complete && summary.rows.is_empty());
        assert_eq!(summary.plan, header().plan);
    }

    #[test]
    fn the_window_is_that_of_the_intervals_shown() {
        let mut summary = Summary::new(header());
        summary.observe(&second(3));
        summary.observe(&second(4));
        assert_eq!(summary.total.start_ns, 3_000_000_000);
        assert_eq!(summary.duration_ns, 2_000_000_000);
        assert_eq!(summary.total.counts.sent, 8);
        assert_eq!(summary.total.times.response.len(), 6);
    }

    #[test]
    fn a_row_has_the_figures_of_its_interval() {
        let mut summary = Summary::new(header());
        let interval = second(0);
        summary.observe(&interval);
        let row = summary.rows[0];
        assert_eq!((row.start_ns, row.end_ns), (0, 1_000_000_000));
        assert_eq!(row.counts, interval.counts);
        assert_eq!(interval.failures(), 1);
        assert_eq!(
            row.response_p95_ns,
            interval.times.response.percentile_ns(95.0)
        );
        assert_eq!(
            row.response.p50_ns,
            interval.times.response.percentile_ns(50.0)
        );
        assert_eq!(row.service.max_ns, interval.times.service.max_ns());
        assert!(row.service.p50_ns <= row.service.p90_ns && row.service.p99_ns > 0);
    }

    #[test]
    fn a_rate_is_taken_over_the_last_gap_too() {
        let mut summary = Summary::new(header());
        let rate = |count, per_ns| Shape::Rate {
            rate: Rate { count, per_ns },
            arrivals: Arrivals::Constant,
        };
        let burst = Shape::Burst {
            size: 20,
            every: Duration::from_millis(500),
        };
        summary.total.counts.planned = 50;
        for (shape, duration_ns, rated_ns) in [
            (rate(100, 1_000_000_000), 490_000_000, 500_000_000),
            (rate(100, 1_000_000_000), 510_000_000, 510_000_000),
            (rate(3, 1_000_000_000), 16_400_000_000, 16_666_666_666),
            (burst, 1_000_100_000, 1_250_000_000),
            (Shape::Closed, 7, 7),
        ] {
            (summary.plan.load.shape, summary.duration_ns) = (shape, duration_ns);
            summary.ended = Ended::Requests;
            assert_eq!(summary.rated_ns(), rated_ns, "{:?}", summary.plan.load);
            summary.ended = Ended::Duration;
            assert_eq!(summary.rated_ns(), duration_ns);
        }
    }

    const HALF_NS: u64 = 500_000_000;

    /// Returns a run that its last request ended, with the responses of each second.
    fn completed(seconds: &[u64], last_ns: u64, first_ns: u64) -> Summary {
        let mut summary = Summary::new(header());
        for (index, completed) in seconds.iter().enumerate() {
            let mut interval = second(index as u64);
            interval.times = crate::Times::default();
            if index + 1 == seconds.len() {
                interval.end_ns = interval.start_ns + last_ns;
            }
            interval.counts.completed = *completed;
            interval.counts.planned = *completed;
            summary.observe(&interval);
        }
        summary.total.times.response.record_ns(first_ns);
        summary.plan.load.shape = Shape::Rate {
            rate: Rate::each_second(500),
            arrivals: Arrivals::Constant,
        };
        summary.ended = Ended::Requests;
        summary
    }

    #[test]
    fn a_last_answer_that_takes_long_does_not_lower_the_rate_that_was_kept() {
        let kept = completed(&[250, 500, 500, 500, 500, 500, 250], HALF_NS, HALF_NS);
        assert_eq!(kept.answers_per_s(), 500.0);
        let one_is_late = completed(&[500, 500, 500, 500, 500, 499, 0, 0, 1], HALF_NS, 0);
        assert!((one_is_late.answers_per_s() - 2_999.0 / 6.0).abs() < 0.01);
    }

    #[test]
    fn a_rate_that_was_not_kept_is_that_of_the_answers() {
        let slow = completed(&[100; 30], 2 * HALF_NS, 0);
        assert!((slow.answers_per_s() - 100.0).abs() < 0.01);
        let poisson = {
            let mut summary = completed(&[520; 6], 2 * HALF_NS, 0);
            let arrivals = Arrivals::Poisson;
            let rate = Rate::each_second(500);
            summary.plan.load.shape = Shape::Rate { rate, arrivals };
            summary.total.counts.planned = 3_200;
            summary
        };
        assert_eq!(poisson.answers_per_s(), 520.0, "not pulled to 500");
    }

    #[test]
    fn a_row_is_small() {
        // A day in rows of a second is 24 MB.
        assert!(size_of::<Row>() <= 272, "{}", size_of::<Row>());
    }

    #[test]
    fn what_was_lost_behind_the_last_interval_was_planned() {
        let mut summary = Summary::new(header());
        let mut interval = Snapshot::empty(0);
        (interval.counts.planned, interval.counts.sent) = (10, 8);
        summary.observe(&interval);
        let unfinished = Unfinished {
            unsent: 32,
            lost: 31,
            ..Unfinished::default()
        };
        summary.finish(Ended::Failed("gone.".to_owned()), unfinished);
        assert_eq!(summary.total.counts.planned, 40);
    }

    #[test]
    fn finishing_completes_it() {
        let unfinished = Unfinished {
            unsent: 3,
            in_flight: 2,
            oldest_ns: 70,
            ..Unfinished::default()
        };
        let mut summary = Summary::new(header());
        summary.finish(Ended::Requests, unfinished.clone());
        assert!(summary.complete);
        assert_eq!(summary.ended, Ended::Requests);
        assert_eq!(summary.unfinished, unfinished);
    }
}
