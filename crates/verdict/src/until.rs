//! Whether a run has gone on for long enough: `--until`.
//!
//! A [`Goal`] looks at the summary after each interval. *Precise* is met when both ends of a percentile's
//! interval, adjusted for dependence, are near enough to it; that takes at least eight seconds, because
//! dependence doesn't show in fewer. *Decided* is met when each check is proven to be kept, or one to be
//! broken, at 99 %: by early stopping with bounds for who looks again and again
//! ([`slo::sequential_proof`]), on as many samples as the dependent ones are worth.
//!
//! Only what is a share of the requests can be proven before the end: that a percentile is below a bound
//! (99 % of the requests were faster), or that errors are below a share. A request that failed counts
//! against *kept*, and not for *broken*, where a check looks at times.

use crate::comparison::CONFIDENCE;
use crate::confidence::confidence_interval;
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Plan, Shape, Statistic, Until};
use loadline_record::{Blocks, Distribution, ErrorKind, Row, Summary};
use loadline_stats::dependence::{Block, effective_by_blocks};
use loadline_stats::least_samples;
use loadline_stats::slo::{self, Proof};

/// How sure a check is decided.
const PROVEN: f64 = 0.99;
/// The fewest stretches that show dependence well enough to stop on.
const FEWEST_STRETCHES: usize = 8;
/// From one look at the checks to the next the samples grow by this factor.
const GROWTH: f64 = 1.1;

/// Why a run can't go on until what was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Impossible {
    /// Nothing to decide.
    #[error("--until decided waits for checks; give one, such as --check 'p99<50ms'.")]
    NoCheck,
    /// A check that shows at the end alone.
    #[error(
        "--until decided can't prove {0} before the end: only a percentile of the response or \
         service time below a bound, or errors below a percentage, are a share of the requests; \
         leave it out, or --until."
    )]
    NotAShare(String),
    /// The run ends before there can be an answer.
    #[error(
        "--until {until} needs at least {needed} requests, and this run makes {planned}; raise \
         --requests, --duration or --rate."
    )]
    TooFew {
        /// What was asked.
        until: Until,
        /// The fewest requests that can answer it.
        needed: u64,
        /// How many there are to be.
        planned: u64,
    },
    /// The run ends before dependence shows.
    #[error(
        "--until {0} takes at least {FEWEST_STRETCHES} seconds, to see how much times depend on \
         each other; raise --duration."
    )]
    TooShort(Until),
}

/// What a run goes on until, and what is known of it so far.
#[derive(Clone, Debug)]
pub struct Goal {
    until: Until,
    /// How often the checks were looked at.
    looks: u64,
    /// The samples at the last look.
    looked_at: u64,
    /// What is proven of each check.
    proofs: Vec<Proof>,
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
        Ok(Some(Goal {
            until,
            looks: 0,
            looked_at: 0,
            proofs: vec![Proof::Open; plan.checks.len()],
        }))
    }

    /// Whether it is met now, an interval after the last look.
    pub fn is_met(&mut self, summary: &Summary) -> bool {
        match self.until {
            Until::Precise { percentile, within } => {
                let precise = precision(summary, percentile);
                precise.is_some_and(|found| found <= within)
            }
            Until::Decided => self.is_decided(summary),
        }
    }

    fn is_decided(&mut self, summary: &Summary) -> bool {
        let samples = summary.total.counts.answered + summary.total.counts.failed;
        if (samples as f64) < self.looked_at as f64 * GROWTH || samples == 0 {
            return false;
        }
        (self.looks, self.looked_at) = (self.looks + 1, samples);
        for (proof, check) in self.proofs.iter_mut().zip(&summary.plan.checks) {
            if *proof == Proof::Open {
                *proof = proven(check, summary, self.looks).unwrap_or(Proof::Open);
            }
        }
        let all_kept = self.proofs.iter().all(|proof| *proof == Proof::Kept);
        all_kept || self.proofs.contains(&Proof::Broken)
    }
}

/// How far the ends of a percentile's interval are from it, as a share of it; `None` as long as that is
/// not known well.
pub fn precision(summary: &Summary, percentile: f64) -> Option<f64> {
    let (times, blocks) = (&summary.total.times.response, &summary.response_blocks);
    let filled = blocks.up_to_ns(0).filter(|(samples, _)| *samples > 0);
    if filled.count() < FEWEST_STRETCHES {
        return None;
    }
    let interval = confidence_interval(times, blocks, percentile);
    interval.half_width(times.percentile_ns(percentile))
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
    let seconds = plan.duration.map(|duration| duration.as_secs());
    match until {
        Until::Precise { .. } if seconds.is_some_and(|s| s < FEWEST_STRETCHES as u64) => {
            Err(Impossible::TooShort(until))
        }
        _ => Ok(()),
    }
}

/// The fewest requests that can prove every check at the first look.
fn needed_to_decide(plan: &Plan) -> Result<u64, Impossible> {
    let needed = plan.checks.iter().map(|check| match promised(check) {
        // The first look may spend half of the doubt.
        Some(share) => Ok(slo::samples_to_prove(0, share, 1.0 - (1.0 - PROVEN) / 2.0)),
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
        _ => f64::INFINITY,
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
        (Metric::Errors, Bound::Share(share)) => Some(1.0 - share),
        _ => None,
    };
    share.filter(|share| is_below && 0.0 < *share && *share < 1.0)
}

/// What the run so far proves of a check; `None` if it can't be told yet.
fn proven(check: &Check, summary: &Summary, look: u64) -> Option<Proof> {
    let quantile = promised(check)?;
    let Evidence {
        over,
        failed,
        ended,
        worth,
    } = match check.metric {
        Metric::Time(clocked, _) => times(check, clocked, summary)?,
        _ => errors(summary)?,
    };
    // What the samples are worth is rounded against what is to be proven.
    let effective = (ended as f64 * worth) as u64;
    let against = ((over + failed) as f64 * worth).ceil() as u64;
    let kept = slo::sequential_proof(against, effective, quantile, PROVEN, look);
    if kept == Proof::Kept {
        return Some(Proof::Kept);
    }
    let timed = ((ended - failed) as f64 * worth) as u64;
    let surely = (over as f64 * worth) as u64;
    let broken = slo::sequential_proof(surely, timed, quantile, PROVEN, look);
    (broken == Proof::Broken).then_some(Proof::Broken)
}

/// What a check is decided on.
struct Evidence {
    /// Requests beyond the bound.
    over: u64,
    /// Requests without a time.
    failed: u64,
    /// All that ended.
    ended: u64,
    /// The share of them that is independent.
    worth: f64,
}

fn times(check: &Check, clocked: Clocked, summary: &Summary) -> Option<Evidence> {
    let Bound::TimeNs(bound_ns) = check.bound else {
        return None;
    };
    // Strictly below a bound is at most a nanosecond less.
    let most_ns = match check.comparison {
        Comparison::Less => bound_ns.saturating_sub(1),
        _ => bound_ns,
    };
    let (times, blocks): (&Distribution, &Blocks) = match clocked {
        Clocked::Service => (&summary.total.times.service, &summary.service_blocks),
        _ => (&summary.total.times.response, &summary.response_blocks),
    };
    let timeouts = summary.total.errors.get(&ErrorKind::Timeout);
    let failed = summary.total.counts.failed - timeouts.map_or(0, |timeouts| timeouts.count);
    Some(Evidence {
        over: times.len() - times.count_up_to_ns(most_ns),
        failed,
        ended: times.len() + failed,
        worth: worth(
            blocks
                .up_to_ns(most_ns)
                .map(|(samples, within)| Block { samples, within }),
        )?,
    })
}

fn errors(summary: &Summary) -> Option<Evidence> {
    let counts = &summary.total.counts;
    let block = |row: &Row| Block {
        samples: row.counts.answered + row.counts.failed,
        within: row.counts.answered,
    };
    Some(Evidence {
        over: counts.failed,
        failed: 0,
        ended: counts.answered + counts.failed,
        worth: worth(summary.rows.iter().map(block))?,
    })
}

/// The share of the samples that is independent.
fn worth(blocks: impl Iterator<Item = Block>) -> Option<f64> {
    let size = effective_by_blocks(&blocks.collect::<Vec<_>>())?;
    Some(size.effective() as f64 / size.samples() as f64)
}

#[cfg(test)]
mod tests;
