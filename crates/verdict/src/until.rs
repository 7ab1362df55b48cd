//! The decision whether a run has gone on for long enough: `--until`.
//!
//! A [`Goal`] looks at the summary after each interval. *Precise* is met when both ends of a
//! percentile's interval, adjusted for dependence, are near enough to it, and still are at the next
//! look, when the run has grown by a quarter: an interval is narrow by chance now and then, and who
//! stops at the first such one prefers those. That takes at least eight seconds, because dependence
//! doesn't show in fewer. *Decided* is met when each check is proven to pass, or one to
//! fail, at 99 %: by early stopping for who looks again and again, on requests that are slow in
//! clusters ([`slo::clustered_proof`]). That takes at least half a minute: what comes every ten
//! seconds must have had its chance to come. A check also passes if the run never came near its
//! bound ([`stays_far_below`]).
//!
//! Only what is a share of the requests can be proven before the end: that a percentile is below a
//! bound (99 % of the requests were faster), or that errors or statuses are below a share. A
//! request that failed counts against *passed*, and not for *failed*, where a check looks at times.
//! So do requests under way, as far as they are more than a target that goes on as it did would
//! have under way.

use crate::Quantity;
use crate::check::{CheckOutcome, Observed, evaluate};
use crate::comparison::CONFIDENCE;
use crate::confidence::{confidence_interval, dependence};
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Plan, Shape, Statistic, Until};
use loadline_record::{Blocks, Distribution, ErrorKind, Snapshot, Summary};
use loadline_stats::clusters::{self, Clusters};
use loadline_stats::dependence::Block;
use loadline_stats::least_samples;
use loadline_stats::slo::{self, Evidence, Proof, Significance};
use std::time::Duration;

/// The confidence with which a check is decided.
const PROVEN: f64 = 0.99;
/// The fewest stretches that show dependence well enough to stop on.
const FEWEST_STRETCHES: usize = 8;
/// The fewest seconds in which checks are decided: shorter runs don't show what comes now and then.
pub(crate) const FEWEST_SECONDS: u64 = 30;
/// From one look to the next the samples grow by this factor.
pub(crate) const GROWTH: f64 = 1.25;
/// So many looks ahead the end of a proof is foreseen: the run is then 33 times as long.
const FORESEEN_LOOKS: u32 = 16;
/// At this many looks one after the other an interval must be narrow enough.
const NARROW_LOOKS: u64 = 2;
/// A run is far below a bound while its longest time, so many times over, is still below it.
const FAR: u64 = 6;
/// Percentiles of the run, and how many clusters of slower answers it must have had: fewer don't
/// show how slow its responses become.
const FEWEST_CLUSTERS: [(f64, f64); 2] = [(75.0, 20.0), (90.0, 10.0)];
/// The percentiles of the run at which it is looked for clusters of slow responses, beside the
/// bound.
pub(crate) const LEVELS: [f64; 4] = [50.0, 75.0, 90.0, 95.0];

/// The reason why a run can't reach its condition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Impossible {
    /// Nothing to decide.
    #[error("--until decided waits for checks; give one, such as --check 'p99<50ms'.")]
    NoCheck,
    /// A check that shows at the end alone.
    #[error(
        "--until decided can't prove {0} before the end: it decides only upper bounds on \
         percentiles of the response or service time, and on errors or statuses as a percentage; \
         leave out this check, or --until."
    )]
    NotAShare(String),
    /// The run ends before there can be a response.
    #[error(
        "--until {until} needs at least {needed} requests, and this run makes {planned}; raise \
         --requests, --duration or --rate."
    )]
    TooFew {
        /// The condition.
        until: Until,
        /// The fewest requests that can answer it.
        needed: u64,
        /// The number of planned requests.
        planned: u64,
    },
    /// The run ends before dependence shows.
    #[error(
        "--until {until} needs at least {seconds} seconds, to estimate how much response times \
         depend on each other; raise --duration."
    )]
    TooShort {
        /// The condition.
        until: Until,
        /// The fewest seconds that can answer it.
        seconds: u64,
    },
}

/// The condition that ends a run, and its state so far.
#[derive(Clone, Debug)]
pub struct Goal {
    until: Until,
    /// The number of looks at the checks.
    looks: u64,
    /// The samples at the last look.
    looked_at: u64,
    /// At how many looks one after the other the interval was narrow enough.
    narrow_looks: u64,
    /// The state of each check.
    checks: Vec<Decided>,
}

/// The state of a check.
#[derive(Clone, Debug)]
struct Decided {
    proof: Proof,
    /// The length of the run at which the proof is expected, as of the last look.
    expected: Option<Duration>,
    /// The requests of each interval, if the check looks at a share of them.
    shares: Vec<Block>,
}

impl Goal {
    /// The goal of this plan, if it has one.
    ///
    /// # Errors
    /// If it can never be met.
    pub fn of(plan: &Plan) -> Result<Option<Goal>, Impossible> {
        let Some(until) = plan.until else {
            return Ok(None);
        };
        refuse(plan, until)?;
        Ok(Some(Goal::new(until, plan.checks.len())))
    }

    fn new(until: Until, checks: usize) -> Goal {
        let open = Decided {
            proof: Proof::Open,
            expected: None,
            shares: Vec::new(),
        };
        Goal {
            until,
            looks: 0,
            looked_at: 0,
            narrow_looks: 0,
            checks: vec![open; checks],
        }
    }

    /// True if the condition is met now, an interval after the last look.
    pub fn is_met(&mut self, summary: &Summary) -> bool {
        for (decided, check) in self.checks.iter_mut().zip(&summary.plan.checks) {
            decided.observe(check, summary);
        }
        let samples = summary.total.counts.answered + summary.total.counts.failed;
        if (samples as f64) < self.looked_at as f64 * GROWTH || samples == 0 {
            return false;
        }
        let met = match self.until {
            Until::Precise { percentile, within } => {
                let precision = sure_precision(summary, percentile);
                precision.map(|found| self.stays_narrow(found <= within))
            }
            Until::Decided => self.is_decided(summary),
        };
        if met.is_some() {
            self.looked_at = samples;
        }
        met == Some(true)
    }

    fn stays_narrow(&mut self, is_narrow: bool) -> bool {
        self.narrow_looks = if is_narrow { self.narrow_looks + 1 } else { 0 };
        self.narrow_looks >= NARROW_LOOKS
    }

    /// `None` if it is too early to look.
    fn is_decided(&mut self, summary: &Summary) -> Option<bool> {
        if Duration::from_nanos(summary.duration_ns) < Duration::from_secs(FEWEST_SECONDS) {
            return None;
        }
        self.looks += 1;
        let looks = Looks {
            made: self.looks,
            checks: self.checks.len(),
        };
        for (decided, check) in self.checks.iter_mut().zip(&summary.plan.checks) {
            decided.look(check, summary, looks);
        }
        let is = |proof| move |decided: &Decided| decided.proof == proof;
        let all_passed = self.checks.iter().all(is(Proof::Passed));
        Some(all_passed || self.checks.iter().any(is(Proof::Failed)))
    }
}

/// The looks at the checks of a run.
#[derive(Clone, Copy)]
struct Looks {
    /// The number of those that were made, with the present one.
    made: u64,
    /// The number of checks.
    checks: usize,
}

impl Looks {
    /// Returns what the look after so many further ones may spend.
    fn significance(self, further: u32) -> Significance {
        slo::significance_of_look(self.made + u64::from(further), PROVEN, self.checks)
    }
}

/// The proofs of a run's checks while it goes on: as `--until decided` decides them, at 99 % for
/// all of them and all looks together. A check that can't be proven before the end stays
/// open.
#[derive(Clone, Debug)]
pub struct Proofs(Goal);

impl Proofs {
    /// Begins with nothing proven of the checks of this plan.
    pub fn of(plan: &Plan) -> Proofs {
        Proofs(Goal::new(Until::Decided, plan.checks.len()))
    }

    /// Takes the run, an interval longer than at the last call. Returns what each check is proven
    /// to come to, in the order of the plan; `None` while that is open.
    pub fn observe(&mut self, summary: &Summary) -> Vec<Option<CheckOutcome>> {
        self.0.is_met(summary);
        let outcome = |decided: &Decided| match decided.proof {
            Proof::Open => None,
            Proof::Passed => Some(CheckOutcome::Passed),
            Proof::Failed => Some(CheckOutcome::Failed),
        };
        self.0.checks.iter().map(outcome).collect()
    }

    /// Returns the length of the run at which each check is proven if the run goes on as it did up
    /// to the last look. `None` if that is not known: the check is proven, nobody has looked yet,
    /// or it would take very long.
    pub fn expected(&self) -> Vec<Option<Duration>> {
        let checks = self.0.checks.iter();
        checks.map(|decided| decided.expected).collect()
    }
}

impl Decided {
    /// Takes the last interval, if the check looks at a share of the requests.
    fn observe(&mut self, check: &Check, summary: &Summary) {
        let counted = match (check.metric, check.is_of_part()) {
            (Metric::Time(..), true) => slower(check, &summary.total.of_check(check)),
            _ => share(check, summary),
        };
        let Some((over, all)) = counted else {
            return;
        };
        let sum = |of: fn(&Block) -> u64| -> u64 { self.shares.iter().map(of).sum() };
        let samples = all.saturating_sub(sum(|block| block.samples));
        let within = (all - over).saturating_sub(sum(|block| block.within));
        self.shares.push(Block {
            samples,
            within: within.min(samples),
        });
    }

    fn look(&mut self, check: &Check, summary: &Summary, looks: Looks) {
        self.expected = None;
        if self.proof != Proof::Open {
            return;
        }
        let found = match (check.metric, check.is_of_part()) {
            (Metric::Time(clocked, _), false) => times(check, clocked, summary),
            (Metric::Time(..), true) => times_of_part(check, summary, &self.shares),
            _ => share(check, summary).and_then(|counted| shares(counted, &self.shares)),
        };
        if let (Some(found), Some(quantile)) = (found, promised(check)) {
            self.proof = found.proof(quantile, looks.significance(0));
            let growth = (self.proof == Proof::Open).then(|| found.growth(quantile, looks));
            let length =
                |growth| Duration::from_nanos((summary.duration_ns as f64 * growth) as u64);
            self.expected = growth.flatten().map(length);
        }
    }
}

/// The evidence of the run so far about a check.
struct Found {
    evidence: Evidence,
    /// The pattern of requests beyond the bound.
    clusters: Clusters,
    /// True if the run [stays far below](stays_far_below) the bound.
    is_far_below: bool,
}

impl Found {
    /// Returns by which factor the run has to grow, by looks, until there is a proof; `None` if it
    /// is not foreseen. What speaks for a proof grows with the run.
    fn growth(&self, quantile: f64, looks: Looks) -> Option<f64> {
        let growth = |further: u32| GROWTH.powi(further as i32);
        let is_open = |further: u32| {
            let evidence = grown(self.evidence, growth(further));
            let found = Found { evidence, ..*self };
            found.proof(quantile, looks.significance(further)) == Proof::Open
        };
        let (mut open, mut proven) = (0, FORESEEN_LOOKS);
        if is_open(proven) {
            return None;
        }
        while proven - open > 1 {
            let middle = open.midpoint(proven);
            match is_open(middle) {
                true => open = middle,
                false => proven = middle,
            }
        }
        Some(growth(proven))
    }

    fn proof(&self, quantile: f64, significance: Significance) -> Proof {
        let of = |clusters| slo::clustered_proof(self.evidence, quantile, significance, clusters);
        match of(self.clusters) {
            // Independent requests would have to prove it too: there are enough of them.
            Proof::Open if self.is_far_below => of(Clusters::INDEPENDENT),
            proof @ (Proof::Open | Proof::Passed | Proof::Failed) => proof,
        }
    }
}

/// The evidence of a run that is longer by this factor, and else the same.
fn grown(evidence: Evidence, growth: f64) -> Evidence {
    let grown = |count: u64| (count as f64 * growth).round() as u64;
    Evidence {
        over: grown(evidence.over),
        against: grown(evidence.against),
        timed: grown(evidence.timed),
        ended: grown(evidence.ended),
    }
}

/// True if the longest of all times is so far below a bound that a target whose percentile is at
/// the bound would have shown a longer one.
///
/// No law of the tail is assumed, but that it is of one piece: answers as slow as the bound are the
/// longest of those that are slow in the run, and come in the same clusters. A queue whose p99 is
/// the bound has nearly half of its responses beyond a sixth of it (0.01^(1/6) = 0.46 of an
/// exponential tail), so only one long calm stretch can show none. The number of clusters says that
/// the run had many stretches. The margin and the numbers are chosen by simulation:
/// docs/design/016.
fn stays_far_below(bound_ns: u64, times: &Distribution, blocks: &Blocks) -> bool {
    let is_far = times.max_ns().saturating_mul(FAR) < bound_ns;
    let has_clusters = |(percentile, fewest): (f64, f64)| {
        let slower = counted(blocks, times.percentile_ns(percentile));
        clusters::count(&slower).is_some_and(|count| count >= fewest)
    };
    is_far && FEWEST_CLUSTERS.into_iter().all(has_clusters)
}

/// Returns the distance of the ends of a percentile's interval from it, as a share of it; `None` as
/// long as that is not known well.
pub fn precision(summary: &Summary, percentile: f64) -> Option<f64> {
    let (times, blocks) = (&summary.total.times.response, &summary.response_blocks);
    let filled = blocks.up_to_ns(0).filter(|(samples, _)| *samples > 0);
    if filled.count() < FEWEST_STRETCHES {
        return None;
    }
    let interval = confidence_interval(times, blocks, percentile);
    interval.half_width(times.percentile_ns(percentile))
}

/// As [`precision`], with the dependence of the worst of the run's own levels: a run that happened
/// to meet no queue yet shows little of it at the percentile itself. A run ends by this one.
pub fn sure_precision(summary: &Summary, percentile: f64) -> Option<f64> {
    let (times, blocks) = (&summary.total.times.response, &summary.response_blocks);
    let found = precision(summary, percentile)?;
    let sizes = LEVELS.map(|level| dependence(times.into(), blocks, level));
    let worst = sizes
        .into_iter()
        .flatten()
        .min_by_key(|size| size.effective())?;
    let ranks = worst.ranks(percentile / 100.0, CONFIDENCE);
    let (lower_ns, upper_ns) = (times.rank_ns(ranks.lower?).0, times.rank_ns(ranks.upper?).1);
    let at_ns = times.percentile_ns(percentile);
    let further_ns = upper_ns
        .saturating_sub(at_ns)
        .max(at_ns.saturating_sub(lower_ns));
    Some(found.max(further_ns as f64 / at_ns.max(1) as f64))
}

fn refuse(plan: &Plan, until: Until) -> Result<(), Impossible> {
    let needed = match until {
        Until::Precise { percentile, .. } => least_samples(percentile / 100.0, CONFIDENCE),
        Until::Decided => needed_to_decide(plan)?,
    };
    let planned = planned(plan);
    if planned < needed {
        return Err(Impossible::TooFew {
            until,
            needed,
            planned,
        });
    }
    let seconds = match until {
        Until::Precise { .. } => FEWEST_STRETCHES as u64,
        Until::Decided => FEWEST_SECONDS,
    };
    match plan.duration {
        Some(duration) if duration.as_secs() < seconds => {
            Err(Impossible::TooShort { until, seconds })
        }
        _ => Ok(()),
    }
}

/// The fewest requests that can prove every check at the first look.
fn needed_to_decide(plan: &Plan) -> Result<u64, Impossible> {
    let at_first = slo::significance_of_look(1, PROVEN, plan.checks.len());
    let needed = plan.checks.iter().map(|check| match promised(check) {
        Some(share) => Ok(slo::samples_to_prove(0, share, 1.0 - at_first.of_passed)),
        None => Err(Impossible::NotAShare(check.text.clone())),
    });
    let needed: Vec<u64> = needed.collect::<Result<_, _>>()?;
    needed.into_iter().max().ok_or(Impossible::NoCheck)
}

/// The requests that the plan makes at most; a closed load may make any number.
fn planned(plan: &Plan) -> u64 {
    let limit = plan.request_limit.unwrap_or(u64::MAX);
    let seconds = plan
        .duration
        .map_or(f64::INFINITY, |duration| duration.as_secs_f64());
    let by_rate = match plan.load.shape {
        Shape::Rate { rate, .. } => rate.per_second() * seconds,
        Shape::Burst { size, every } => size as f64 * (seconds / every.as_secs_f64()).ceil(),
        Shape::Closed
        | Shape::ClosedStages { .. }
        | Shape::RateStages { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => f64::INFINITY,
    };
    limit.min(by_rate as u64)
}

/// The share of requests that a check promises, if it promises one: strictly between 0 and 1.
fn promised(check: &Check) -> Option<f64> {
    let is_below = matches!(check.comparison, Comparison::Less | Comparison::LessOrEqual);
    let share = match (check.metric, check.bound) {
        (Metric::Time(clocked, Statistic::Percentile(percentile)), Bound::TimeNs(_)) => {
            let is_known = matches!(clocked, Clocked::Response | Clocked::Service);
            is_known.then_some(percentile / 100.0)
        }
        (Metric::Custom(_), _) => None,
        (_, Bound::Share(share)) => Some(1.0 - share),
        _ => None,
    };
    share.filter(|share| is_below && 0.0 < *share && *share < 1.0)
}

/// Returns the evidence of the run so far about a check on times; `None` as long as it can't be
/// known.
fn times(check: &Check, clocked: Clocked, summary: &Summary) -> Option<Found> {
    let most_ns = most_ns(check)?;
    let (times, blocks): (&Distribution, &Blocks) = match clocked {
        Clocked::Service => (&summary.total.times.service, &summary.service_blocks),
        Clocked::Response | Clocked::Blocked | Clocked::Lateness => {
            (&summary.total.times.response, &summary.response_blocks)
        }
    };
    let timeouts = summary.total.errors.get(&ErrorKind::Timeout);
    let failed = summary.total.counts.failed - timeouts.map_or(0, |timeouts| timeouts.count);
    let untimed = failed + more_under_way(summary);
    let over = times.len() - times.count_up_to_ns(most_ns);
    let evidence = Evidence {
        over,
        against: over + untimed,
        timed: times.len(),
        ended: times.len() + untimed,
    };
    let levels = LEVELS.map(|percentile| counted(blocks, times.percentile_ns(percentile)));
    Some(Found {
        evidence,
        clusters: Clusters::of(&counted(blocks, most_ns), &levels)?,
        is_far_below: untimed == 0 && stays_far_below(most_ns, times, blocks),
    })
}

/// The longest time within the bound of a check that looks at times.
fn most_ns(check: &Check) -> Option<u64> {
    let Bound::TimeNs(bound_ns) = check.bound else {
        return None;
    };
    Some(match check.comparison {
        // Strictly below a bound is at most a nanosecond less.
        Comparison::Less => bound_ns.saturating_sub(1),
        Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => bound_ns,
    })
}

/// Returns the number of response times beyond the bound of a check, and the number of all.
fn slower(check: &Check, total: &Snapshot) -> Option<(u64, u64)> {
    let times = &total.times.response;
    let within = times.count_up_to_ns(most_ns(check)?);
    Some((times.len() - within, times.len()))
}

/// As [`times`], of some of the requests, whose intervals are these. Of requests under way the
/// names are not known, so that all may be of this one.
fn times_of_part(check: &Check, summary: &Summary, intervals: &[Block]) -> Option<Found> {
    let total = summary.total.of_check(check);
    let (over, timed) = slower(check, &total)?;
    let ended = total.counts.answered + total.counts.failed;
    let untimed = ended.saturating_sub(timed) + more_under_way(summary);
    Some(Found {
        evidence: Evidence {
            over,
            against: over + untimed,
            timed,
            ended: timed + untimed,
        },
        clusters: Clusters::of(intervals, &[])?,
        is_far_below: false,
    })
}

fn counted(blocks: &Blocks, up_to_ns: u64) -> Vec<Block> {
    let counts = blocks.up_to_ns(up_to_ns);
    counts
        .map(|(samples, within)| Block { samples, within })
        .collect()
}

/// By how many requests more are under way, or due and not sent, than Little's law has it of a
/// target that goes on as it did: their number, and three deviations of a Poisson variate. In a
/// stall nothing ends, so that it is seen in these alone.
pub(crate) fn more_under_way(summary: &Summary) -> u64 {
    let under_way = summary.unfinished.in_flight + summary.unfinished.unsent;
    let times = &summary.total.times.response;
    let ended_per_ns = times.len() as f64 / summary.duration_ns.max(1) as f64;
    let usual = ended_per_ns * times.mean_ns();
    under_way.saturating_sub((usual + 3.0 * usual.sqrt()).ceil() as u64)
}

/// Returns the evidence of the run so far about a check on a share of the requests.
fn shares((over, all): (u64, u64), blocks: &[Block]) -> Option<Found> {
    let evidence = Evidence {
        over,
        against: over,
        timed: all,
        ended: all,
    };
    Some(Found {
        evidence,
        clusters: Clusters::of(blocks, &[])?,
        is_far_below: false,
    })
}

/// Of a check that looks at a share of the requests: how many are of that kind, and of how many.
fn share(check: &Check, summary: &Summary) -> Option<(u64, u64)> {
    let Bound::Share(_) = check.bound else {
        return None;
    };
    let duration = Duration::from_nanos(summary.duration_ns);
    let found = evaluate(check, &Observed::of_part(&summary.total, duration));
    let Some(Quantity::Share(share)) = found.actual else {
        return Some((0, 0));
    };
    Some(((share * found.samples as f64).round() as u64, found.samples))
}

#[cfg(test)]
mod simulations;
#[cfg(test)]
mod tests;
