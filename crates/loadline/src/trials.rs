//! Trials by the engine: each is a run of its own, at the level that the search asks for.
//!
//! Trials differ in their load and their seed alone. Each begins with a moment that is driven and not
//! measured, so that its connections are up and the queues of the target as long as they get.

mod limits;

use crate::conduct::{Conducted, Keep, Save, conduct_one};
use crate::interrupt::Interrupts;
use crate::live::Live;
use crate::resolve::Search;
use crate::scripting;
use anyhow::Result;
use limits::{cores_of, disturbance, own_limit};
use loadline_capacity::{Descent, Measure, OwnLimit, Part, Purpose, Seen, Trial};
use loadline_plan::{Arrivals, Load, Plan, Rate, Shape, Stage};
use loadline_record::watched::GENERATOR;
use loadline_record::{Ended, Floor, Model, Role, RoleKind, Snapshot, Summary};
use loadline_verdict::evaluate_all;
use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

/// An answer that takes less than so many times as long as at the lowest load is as fast as ever.
const AS_EVER: u64 = 2;

/// A user who interrupts a rest does not notice that it lasts so much longer.
const GLANCE: Duration = Duration::from_millis(50);

/// The trials of a search.
pub(crate) struct Trials<'a> {
    search: &'a Search,
    interrupts: &'a Interrupts,
    floor: Option<Floor>,
    made: u32,
    /// The shortest median of the service time, in nanoseconds.
    service_at_ease_ns: u64,
    /// The shortest response time of all trials, in nanoseconds.
    fastest_ns: u64,
    /// Why a trial could not be kept.
    pub(crate) trouble: Option<anyhow::Error>,
    /// Tells of each trial that has ended.
    tell: &'a dyn Fn(&Trial),
}

impl<'a> Trials<'a> {
    /// None are made yet.
    pub(crate) fn new(
        search: &'a Search,
        interrupts: &'a Interrupts,
        floor: Option<Floor>,
        tell: &'a dyn Fn(&Trial),
    ) -> Self {
        Trials {
            search,
            interrupts,
            floor,
            made: 0,
            service_at_ease_ns: u64::MAX,
            fastest_ns: u64::MAX,
            trouble: None,
            tell,
        }
    }

    /// Runs this plan; `None` if the user interrupted it.
    fn run(
        &mut self,
        plan: &Plan,
        purpose: Purpose,
        snapshots: Option<&RefCell<Vec<Snapshot>>>,
    ) -> Result<Option<Summary>> {
        if self.interrupts.happened() {
            return Ok(None);
        }
        self.made += 1;
        let invocation = &self.search.run;
        let save = invocation.save.as_deref();
        let keep = Keep {
            save: save.map(if self.made == 1 {
                Save::Over
            } else {
                Save::Behind
            }),
            role: Some(Role {
                kind: RoleKind::Trial,
                number: self.made,
                of: None,
                name: Some(purpose.name().to_owned()),
            }),
            watch: Some(&invocation.watch),
            floor: self.floor,
            snapshots,
            ..Keep::default()
        };
        let live = Live::titled(invocation.progress, format!("trial {}: ", self.made));
        let script = scripting::load(plan, &invocation.outputs)?;
        let Conducted {
            summary, trouble, ..
        } = conduct_one(self.interrupts, plan, script.as_ref(), keep, live)?;
        if let Some(error) = script.and_then(|script| script.failure()) {
            return Err(error.into());
        }
        if let Some(trouble) = trouble {
            self.trouble.get_or_insert(trouble);
        }
        Ok((summary.ended != Ended::Interrupted).then_some(summary))
    }

    /// The plan of a trial with this load, which lasts so long.
    fn plan(&self, load: Load, seconds: f64) -> Plan {
        let plan = &self.search.run.plan;
        Plan {
            threads: plan.threads.min(load.connections.max(1)),
            load,
            duration: Some(Duration::from_secs_f64(seconds)),
            warmup: self.search.settling,
            seed: plan.seed.wrapping_add(self.made.into()),
            ..plan.clone()
        }
    }

    fn level(&self, level: f64) -> Load {
        let plan = &self.search.run.plan;
        if self.search.users {
            return users(level, Shape::Closed);
        }
        let rate = Rate::each_second(level as u64);
        let arrivals = arrivals(plan);
        Load {
            shape: Shape::Rate { rate, arrivals },
            ..plan.load.clone()
        }
    }

    /// At `over` for so many seconds, and then at `back`.
    fn steps(&self, over: (f64, Duration), back: (f64, Duration)) -> Load {
        let plan = &self.search.run.plan;
        if self.search.users {
            let stages = stages(over, back, |level| level as u32);
            let start = over.0 as u32;
            return users(over.0, Shape::ClosedStages { start, stages });
        }
        let rate = |level| Rate::each_second(level as u64);
        let shape = Shape::RateStages {
            start: rate(over.0),
            stages: stages(over, back, rate),
            arrivals: arrivals(plan),
        };
        Load {
            shape,
            ..plan.load.clone()
        }
    }

    fn seen(&mut self, summary: &Summary, level: f64) -> Seen {
        let seen = seen(&Stretch::whole(summary), summary, level);
        let response = &summary.total.times.response;
        if !response.is_empty() {
            self.fastest_ns = self.fastest_ns.min(response.min_ns());
        }
        let own_limit = own_limit(summary, self.fastest_ns).or_else(|| self.connections(summary));
        let disturbance = disturbance(summary, self.fastest_ns);
        let service_ns = summary.total.times.service.percentile_ns(50.0);
        if service_ns > 0 {
            self.service_at_ease_ns = self.service_at_ease_ns.min(service_ns);
        }
        Seen {
            own_limit,
            disturbance,
            ..seen
        }
    }

    /// Arrivals wait for connections that are in use, and each answer comes as fast as at the lowest
    /// load: with more connections there would be more. At one instant, the last of the trial, some
    /// connections may just have had their answer.
    fn connections(&self, summary: &Summary) -> Option<OwnLimit> {
        let most = summary.plan.load.max_connections;
        let all_in_use = summary.model == Model::Open
            && summary.unfinished.unsent > 0
            && 2 * summary.total.counts.in_flight >= u64::from(most);
        let service_ns = summary.total.times.service.percentile_ns(50.0);
        let as_ever = service_ns < self.service_at_ease_ns.saturating_mul(AS_EVER);
        (all_in_use && as_ever && self.service_at_ease_ns < u64::MAX)
            .then_some(OwnLimit::Connections { most })
    }
}

impl Measure for Trials<'_> {
    type Error = anyhow::Error;

    fn trial(&mut self, purpose: Purpose, level: f64, seconds: f64) -> Result<Option<Seen>> {
        let plan = self.plan(self.level(level), seconds);
        let summary = self.run(&plan, purpose, None)?;
        Ok(summary.map(|summary| self.seen(&summary, level)))
    }

    fn descend(&mut self, over: (f64, f64), back: (f64, f64)) -> Result<Option<Descent>> {
        // Intervals are seconds: one that held both levels would tell of neither.
        let whole = |(level, seconds): (f64, f64)| (level, Duration::from_secs_f64(seconds.ceil()));
        let (over, back) = (whole(over), whole(back));
        let load = self.steps(over, back);
        let plan = self.plan(load, (over.1 + back.1).as_secs_f64());
        let snapshots = RefCell::default();
        let purpose = Purpose::Ladder(Part::Over);
        let summary = self.run(&plan, purpose, Some(&snapshots))?;
        let Some(summary) = summary else {
            return Ok(None);
        };
        let snapshots = snapshots.into_inner();
        let split = (over.1.as_secs() as usize).min(snapshots.len());
        let (above, below) = snapshots.split_at(split);
        Ok(Some(Descent {
            over: seen(&Stretch::of(&[], above), &summary, over.0),
            back: seen(&Stretch::of(above, below), &summary, back.0),
            intervals: intervals(&summary, below),
        }))
    }

    fn rest(&mut self, seconds: f64) {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while !self.interrupts.happened() && Instant::now() < end {
            thread::sleep(GLANCE.min(end.saturating_duration_since(Instant::now())));
        }
    }

    fn ended(&mut self, trial: &Trial) {
        (self.tell)(trial);
    }
}

/// A part of a run, or all of it.
struct Stretch {
    snapshot: Snapshot,
    duration: Duration,
    /// What had fallen due and not ended at its end.
    waiting: u64,
}

impl Stretch {
    fn whole(summary: &Summary) -> Stretch {
        Stretch {
            snapshot: summary.total.clone(),
            duration: Duration::from_nanos(summary.rated_ns()),
            waiting: summary.unfinished.unsent + summary.unfinished.in_flight,
        }
    }

    /// These intervals, with those of the same run before them.
    fn of(before: &[Snapshot], intervals: &[Snapshot]) -> Stretch {
        let start_ns = intervals.first().map_or(0, |interval| interval.start_ns);
        let mut snapshot = Snapshot::empty(start_ns);
        for interval in intervals {
            snapshot.append(interval);
        }
        let all = || {
            before
                .iter()
                .chain(intervals)
                .map(|interval| interval.counts)
        };
        let planned: u64 = all().map(|counts| counts.planned).sum();
        let sent: u64 = all().map(|counts| counts.sent).sum();
        Stretch {
            duration: Duration::from_nanos(snapshot.length_ns()),
            waiting: planned.saturating_sub(sent) + snapshot.counts.in_flight,
            snapshot,
        }
    }
}

/// What was seen in this part of a run.
fn seen(stretch: &Stretch, summary: &Summary, level: f64) -> Seen {
    let (counts, response) = (&stretch.snapshot.counts, &stretch.snapshot.times.response);
    let ended = counts.answered + counts.failed;
    let checks = evaluate_all(&summary.plan.checks, &stretch.snapshot, stretch.duration);
    Seen {
        checks: checks.iter().map(|check| check.passed).collect(),
        answers_per_s: counts.answered as f64 / stretch.duration.as_secs_f64().max(1e-9),
        failed_share: counts.failed as f64 / ended.max(1) as f64,
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        mean_s: response.mean_ns() / 1e9,
        outstanding_s: match summary.model {
            Model::Open => stretch.waiting as f64 / level,
            Model::Closed => 0.0,
        },
        target_cores: target_cores(summary),
        own_limit: None,
        disturbance: None,
    }
}

/// The end of each interval, in seconds after the first begins, and whether all checks hold in it.
fn intervals(summary: &Summary, intervals: &[Snapshot]) -> Vec<(f64, bool)> {
    let start_ns = intervals.first().map_or(0, |interval| interval.start_ns);
    let held = |interval: &Snapshot| {
        let length = Duration::from_nanos(interval.length_ns());
        let checks = evaluate_all(&summary.plan.checks, interval, length);
        checks.iter().all(|check| check.passed)
    };
    let end_s = |interval: &Snapshot| (interval.end_ns - start_ns) as f64 / 1e9;
    intervals
        .iter()
        .map(|interval| (end_s(interval), held(interval)))
        .collect()
}

/// The cores that all watched processes but the generator used; `None` if there were none.
fn target_cores(summary: &Summary) -> Option<f64> {
    let trees = summary.watch.trees.iter().enumerate();
    let targets = trees.filter(|(_, tree)| tree.name != GENERATOR);
    let cores = targets.filter_map(|(index, _)| cores_of(summary, index));
    cores.reduce(|sum, cores| sum + cores)
}

/// So many users, each with a connection.
fn users(level: f64, shape: Shape) -> Load {
    Load {
        connections: level as u32,
        max_connections: level as u32,
        shape,
    }
}

/// At a level for so long, then at once at another.
fn stages<T>(
    over: (f64, Duration),
    back: (f64, Duration),
    target: impl Fn(f64) -> T,
) -> Vec<Stage<T>> {
    let stage = |duration, level| Stage {
        duration,
        target: target(level),
    };
    vec![
        stage(over.1, over.0),
        stage(Duration::ZERO, back.0),
        stage(back.1, back.0),
    ]
}

/// How the arrivals of an open load are spread; evenly where none was said.
fn arrivals(plan: &Plan) -> Arrivals {
    match plan.load.shape {
        Shape::Rate { arrivals, .. } => arrivals,
        _ => Arrivals::default(),
    }
}
