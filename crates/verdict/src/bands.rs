//! The percentiles of a run that goes on, each with a band: an interval for whoever watches it.
//!
//! Who looks at a 95 % interval each second sees the true value outside of it sooner or later. So
//! a band is made by few [looks](Looks), when the run has grown by a quarter, and look k may spend
//! only its [share](share_of_look) of the 5 %: of 100 runs at most five have a band that misses the
//! true percentile, at any look. From one look to the next a band stays as it is. Times that follow
//! each other resemble each other; how much, is [taken](worth_of_one) from the worst of several
//! levels, as `--until` does.
//!
//! A target that froze answers nothing, so that nothing slow is recorded. Requests under way beyond
//! those that are [usual](more_under_way) count as the slowest ones then: an upper end that they
//! may exceed is unknown.

use crate::comparison::CONFIDENCE;
use crate::confidence::{confidence_interval, dependence};
use crate::until::{LEVELS, more_under_way};
use crate::{Looks, samples_needed};
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Plan, Statistic};
use loadline_record::{Bounded, Summary};
use loadline_stats::SampleSize;
use loadline_stats::slo::share_of_look;

/// The factor by which dependence is raised: it is an estimate from some tens of blocks, and a low
/// one would make a band that misses. With 1.6 a queue that is busy for 95 % of its time had a band
/// of the p90 that misses in 6 of 100 runs.
const EFFECT_RAISED: f64 = 2.2;

/// The percentiles that are shown whatever the checks are on.
const USUAL: [f64; 3] = [50.0, 90.0, 99.0];

/// A percentile of the response time of a run that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct PercentileSoFar {
    /// The percentile, above 0 and at most 100.
    pub percentile: f64,
    /// Its value in nanoseconds.
    pub value_ns: u64,
    /// Its band; `None` before the first look, and if there are too few samples for a lower end.
    pub band: Option<Band>,
    /// The upper bounds that checks of the plan have on it, in nanoseconds.
    pub bounds_ns: Vec<u64>,
}

/// An interval of a percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// The lower end in nanoseconds.
    pub lower_ns: u64,
    /// The upper end in nanoseconds; `None` if it is unknown.
    pub upper_ns: Option<u64>,
    /// The length of the run at the look that made it.
    pub as_of_ns: u64,
}

/// The bands of a run that goes on.
#[derive(Clone, Debug)]
pub struct Bands {
    looks: Looks,
    tracked: Vec<Tracked>,
}

#[derive(Clone, Debug)]
struct Tracked {
    percentile: f64,
    bounds_ns: Vec<u64>,
    band: Option<Band>,
}

impl Bands {
    /// Begins without a band, for the usual percentiles and those that checks of this plan are on.
    pub fn of(plan: &Plan) -> Bands {
        let bounds: Vec<(f64, u64)> = plan.checks.iter().filter_map(upper_bound).collect();
        let checked = bounds.iter().map(|(percentile, _)| *percentile);
        let mut percentiles: Vec<f64> = USUAL.into_iter().chain(checked).collect();
        percentiles.sort_by(f64::total_cmp);
        percentiles.dedup();
        let tracked = |percentile| Tracked {
            percentile,
            bounds_ns: (bounds.iter())
                .filter(|(of, _)| *of == percentile)
                .map(|(_, ns)| *ns)
                .collect(),
            band: None,
        };
        Bands {
            looks: Looks::default(),
            tracked: percentiles.into_iter().map(tracked).collect(),
        }
    }

    /// Takes the run, an interval longer than at the last call. Returns the percentiles of which
    /// there are enough samples, in rising order.
    pub fn observe(&mut self, summary: &Summary) -> Vec<PercentileSoFar> {
        if let Some(look) = self.looks.due(summary) {
            let confidence = 1.0 - (1.0 - CONFIDENCE) * share_of_look(look);
            for one in &mut self.tracked {
                one.band = band(one.percentile, confidence, summary);
            }
        }
        let waiting = more_under_way(summary);
        let shown = self.tracked.iter().map(|one| {
            let mut so_far = one.so_far(one.band, summary)?;
            if let Some(band) = &mut so_far.band {
                band.upper_ns =
                    (band.upper_ns).filter(|ns| !may_exceed(*ns, one.percentile, waiting, summary));
            }
            Some(so_far)
        });
        shown.flatten().collect()
    }

    /// Returns the percentiles of a run that has ended, with the 95 % intervals that its report
    /// has.
    pub fn at_the_end(&self, summary: &Summary) -> Vec<PercentileSoFar> {
        let shown = self.tracked.iter().map(|one| {
            let interval = interval_of_report(one.percentile, summary);
            one.so_far(interval, summary)
        });
        shown.flatten().collect()
    }
}

impl Tracked {
    /// `None` if there are too few samples.
    fn so_far(&self, band: Option<Band>, summary: &Summary) -> Option<PercentileSoFar> {
        let times = summary.response();
        let is_known = times.len() >= samples_needed(self.percentile);
        is_known.then(|| PercentileSoFar {
            percentile: self.percentile,
            value_ns: times.percentile(self.percentile).value(),
            band,
            bounds_ns: self.bounds_ns.clone(),
        })
    }
}

/// True if a percentile may lie beyond this end of a band, because so many requests are waiting.
fn may_exceed(end_ns: u64, percentile: f64, waiting: u64, summary: &Summary) -> bool {
    let times = &summary.total.times.response;
    let rank = (percentile / 100.0 * (times.len() + waiting) as f64).ceil() as u64;
    waiting > 0 && (rank > times.len() || times.rank_ns(rank.max(1)).1 > end_ns)
}

/// Returns the band of a look of this confidence. Who waits may be quick in the end, so the lower
/// end is that without them; for the upper one they are slower than all responses.
fn band(percentile: f64, confidence: f64, summary: &Summary) -> Option<Band> {
    let times = &summary.total.times.response;
    let worth = worth_of_one(percentile, summary)?;
    let ranks = |samples: u64| {
        let size = SampleSize::dependent(samples, samples as f64 * worth);
        size.ranks(percentile / 100.0, confidence)
    };
    let lower = ranks(times.len()).lower?;
    let upper = ranks(times.len() + more_under_way(summary)).upper;
    Some(Band {
        lower_ns: times.rank_ns(lower).0,
        upper_ns: (upper.filter(|rank| *rank <= times.len())).map(|rank| times.rank_ns(rank).1),
        as_of_ns: summary.duration_ns,
    })
}

/// Returns the number of independent samples that one response is worth, at the percentile or at
/// the worst of the run's own levels: a run that happened to meet no queue yet shows little of it
/// at the percentile itself. `None` of a run that is too short to show it.
fn worth_of_one(percentile: f64, summary: &Summary) -> Option<f64> {
    let (times, blocks) = (&summary.total.times.response, &summary.response_blocks);
    let at = LEVELS.into_iter().chain([percentile]);
    let sizes = at.filter_map(|level| dependence(times.into(), blocks, level));
    let worth = sizes.map(|size| size.effective() as f64 / size.samples() as f64);
    worth.reduce(f64::min).map(|worst| worst / EFFECT_RAISED)
}

/// The 95 % interval of a run that has ended, with the ages of requests without a response.
fn interval_of_report(percentile: f64, summary: &Summary) -> Option<Band> {
    let blocks = &summary.response_blocks;
    let found = confidence_interval(summary.response(), blocks, percentile);
    let upper_ns = match found.upper_ns {
        Some(Bounded::Exactly(ns)) => Some(ns),
        Some(Bounded::AtLeast(_)) | None => None,
    };
    Some(Band {
        lower_ns: found.lower_ns?.value(),
        upper_ns,
        as_of_ns: summary.duration_ns,
    })
}

/// The percentile of the response time of the whole run that a check is on, and its upper bound.
fn upper_bound(check: &Check) -> Option<(f64, u64)> {
    let is_upper = matches!(check.comparison, Comparison::Less | Comparison::LessOrEqual);
    match (check.metric, check.bound) {
        (Metric::Time(Clocked::Response, Statistic::Percentile(percentile)), Bound::TimeNs(ns))
            if is_upper && !check.is_of_part() =>
        {
            Some((percentile, ns))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{SECOND, Target, begun, repetitions};

    fn plan() -> Plan {
        Plan {
            checks: [
                "p99.9<1s",
                "p99<5ms",
                "p99<8ms",
                "service.p99<1ms",
                "errors<1%",
            ]
            .map(|text| text.parse().unwrap())
            .into(),
            ..Plan::default()
        }
    }

    /// Returns the percentiles that are shown after each of so many seconds.
    fn watched(target: Target, seconds: u64, seed: u64) -> Vec<Vec<PercentileSoFar>> {
        let (mut bands, mut summary) = (Bands::of(&plan()), begun(&plan()));
        let all = target.seconds(seconds, seed);
        let shown = all.iter().map(|second| {
            summary.observe(second);
            bands.observe(&summary)
        });
        shown.collect()
    }

    /// The number of runs of a percentile of which a band misses the true value, at any second.
    fn misses(target: Target, percentile: f64, runs: u64) -> u64 {
        let truth_ns = target.exceeded_by(1.0 - percentile / 100.0);
        let missed = (0..runs).filter(|seed| {
            let shown = watched(target, 120, *seed);
            let bands = shown
                .iter()
                .flatten()
                .filter(|one| one.percentile == percentile);
            let mut bands = bands.filter_map(|one| one.band);
            bands.any(|band| {
                truth_ns < band.lower_ns || band.upper_ns.is_some_and(|upper| upper < truth_ns)
            })
        });
        let missed = missed.count() as u64;
        println!("{target:?} p{percentile}: {missed} of {runs}");
        missed
    }

    #[test]
    fn percentiles_are_the_usual_ones_and_those_of_checks() {
        let tracked = Bands::of(&plan()).tracked;
        let found: Vec<(f64, usize)> = (tracked.iter())
            .map(|one| (one.percentile, one.bounds_ns.len()))
            .collect();
        assert_eq!(found, [(50.0, 0), (90.0, 0), (99.0, 2), (99.9, 1)]);
    }

    #[test]
    fn a_band_is_made_by_few_looks_and_wider_than_that_of_one() {
        let shown = watched(Target::Independent, 120, 1);
        assert!(shown[0].iter().all(|one| one.band.is_none()));
        assert_eq!(shown[0].len(), 3, "500 responses are too few for a p99.9");
        assert_eq!(shown[29].len(), 4);
        let of_p99 = |second: &Vec<PercentileSoFar>| second[2].band;
        assert_eq!(of_p99(&shown[28]), None);
        let mut made: Vec<u64> = shown
            .iter()
            .filter_map(of_p99)
            .map(|b| b.as_of_ns)
            .collect();
        made.dedup();
        assert_eq!(made[0], 30 * SECOND);
        assert!((5..=8).contains(&made.len()), "{made:?}");
        let mut summary = begun(&plan());
        for second in Target::Independent.seconds(120, 1) {
            summary.observe(&second);
        }
        let ended = Bands::of(&plan()).at_the_end(&summary)[2].clone();
        let (one, watched) = (ended.band.unwrap(), of_p99(&shown[119]).unwrap());
        assert!(watched.lower_ns < one.lower_ns && one.upper_ns < watched.upper_ns);
        assert_eq!(ended.bounds_ns, [5_000_000, 8_000_000]);
    }

    /// Of 500 requests a second that fall due in a freeze all wait: after half a second they are
    /// enough to be a hundredth of the run.
    #[test]
    fn a_freeze_leaves_no_upper_end_before_its_responses_come() {
        let shown = watched(Target::Frozen(60.0, 20.0), 79, 1);
        let upper = |second: usize, of: usize| shown[second][of].band.unwrap().upper_ns;
        assert!(upper(59, 2).is_some());
        for second in 62..79 {
            assert_eq!(upper(second, 2), None, "{second}");
        }
        let lower = |second: usize| shown[second][2].band.unwrap().lower_ns;
        assert!(lower(78) < 10_000_000, "who waits may be quick in the end");
    }

    #[test]
    fn nothing_recorded_has_no_percentile() {
        let mut bands = Bands::of(&plan());
        assert_eq!(bands.observe(&begun(&plan())), []);
        assert_eq!(bands.at_the_end(&begun(&plan())), []);
    }

    #[test]
    fn bands_hold_the_truth_whoever_watches() {
        let runs = repetitions(false);
        let slow = [Target::Queue(0.9), Target::Carried(0.999)];
        for target in [Target::Independent, Target::Queue(0.8)]
            .into_iter()
            .chain(slow)
        {
            for percentile in [50.0, 90.0, 99.0] {
                assert!(misses(target, percentile, runs) <= 1, "{target:?}");
            }
        }
    }

    #[test]
    #[ignore = "two hundred runs of each row take minutes; make soak runs it"]
    fn of_two_hundred_runs_few_have_a_band_that_misses_the_truth() {
        let runs = repetitions(true);
        for target in [
            Target::Independent,
            Target::Queue(0.5),
            Target::Queue(0.8),
            Target::Queue(0.9),
            Target::Queue(0.95),
            Target::Carried(0.5),
            Target::Carried(0.99),
            Target::Carried(0.999),
        ] {
            for percentile in [50.0, 90.0, 99.0] {
                let missed = misses(target, percentile, runs);
                assert!(missed * 20 <= runs, "{target:?} p{percentile}: {missed}");
            }
        }
    }
}
