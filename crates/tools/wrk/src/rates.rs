//! The figures that wrk calls Req/Sec: the responses per second of each thread, sampled ten times a
//! second.

use super::Tool;
use loadline_engine::{Tally, Tick};
use loadline_script_lua::ScriptError;
use serde::{Deserialize, Serialize};
use std::mem;

/// Samples of the threads' rates, in whole responses per second.
///
/// wrk takes no sample in a tick without a response: the next sample covers it as well. wrk2 takes
/// a sample of 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    samples: Vec<u64>,
    /// The error that a script raised in another process, which ends the run.
    pub(super) raised: Option<ScriptError>,
}

impl Tally for Rates {
    fn merge(&mut self, other: Self) {
        self.samples.extend(other.samples);
        self.raised = self.raised.take().or(other.raised);
    }
}

/// Samples the rate of one thread.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    skips_idle: bool,
    /// The time since the last sample, in nanoseconds.
    idle_ns: u64,
    rates: Rates,
}

impl Sampler {
    /// Creates the sampler of a thread that has had no tick yet.
    pub(super) fn new(tool: Tool) -> Self {
        Sampler {
            skips_idle: tool == Tool::Wrk,
            idle_ns: 0,
            rates: Rates::default(),
        }
    }

    /// Adds the responses of the thread in a tick.
    pub(super) fn add(&mut self, tick: Tick) {
        const SECOND_NS: u128 = 1_000_000_000;
        self.idle_ns = self.idle_ns.saturating_add(tick.length_ns);
        if tick.answered == 0 && self.skips_idle {
            return;
        }
        let length_ns = u128::from(mem::take(&mut self.idle_ns));
        if let Some(rate) = (u128::from(tick.answered) * SECOND_NS).checked_div(length_ns) {
            let rate = u64::try_from(rate).unwrap_or(u64::MAX);
            self.rates.samples.push(rate);
        }
    }

    /// Returns the samples since the last call, if there are any.
    pub(super) fn take(&mut self) -> Option<Rates> {
        let rates = mem::take(&mut self.rates);
        (!rates.samples.is_empty()).then_some(rates)
    }
}

impl Rates {
    /// Creates the tally of an error that a script has raised.
    pub(super) fn raising(error: ScriptError) -> Self {
        Rates {
            samples: Vec::new(),
            raised: Some(error),
        }
    }

    /// Returns all samples, in the order in which they were added.
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// Returns the arithmetic mean; 0 without samples.
    pub(super) fn mean(&self) -> f64 {
        if self.samples.is_empty() {
            return 0.0;
        }
        let sum: f64 = self.samples.iter().map(|&sample| sample as f64).sum();
        sum / self.samples.len() as f64
    }

    /// Returns the standard deviation of a sample; 0 for less than two values.
    pub(super) fn stdev(&self) -> f64 {
        if self.samples.len() < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let squares = self
            .samples
            .iter()
            .map(|&sample| (sample as f64 - mean).powi(2));
        (squares.sum::<f64>() / (self.samples.len() - 1) as f64).sqrt()
    }

    pub(super) fn max(&self) -> u64 {
        self.samples.iter().copied().max().unwrap_or(0)
    }

    /// Returns the percentage of samples within one standard deviation of the mean, bounds
    /// included; NaN without samples.
    pub(super) fn within_percent(&self) -> f64 {
        let (mean, stdev) = (self.mean(), self.stdev());
        let near = (mean - stdev)..=(mean + stdev);
        let within = self
            .samples
            .iter()
            .filter(|&&sample| near.contains(&(sample as f64)));
        within.count() as f64 / self.samples.len() as f64 * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::{AnyTally, TallyCodec};

    const TICK_NS: u64 = 100_000_000;

    /// Returns the rates of threads, each given by its ticks: the number of responses and the
    /// length.
    fn of(tool: Tool, threads: &[&[(u64, u64)]]) -> Rates {
        let mut rates = Rates::default();
        for ticks in threads {
            let mut sampler = Sampler::new(tool);
            for &(answered, length_ns) in *ticks {
                sampler.add(Tick {
                    answered,
                    length_ns,
                });
            }
            rates.merge(sampler.take().unwrap_or_default());
        }
        rates
    }

    #[test]
    fn a_sample_is_the_whole_part_of_answers_a_second() {
        let threads: [&[_]; 2] = [&[(10, TICK_NS), (5, 0)], &[(10, 101_000_000)]];
        assert_eq!(of(Tool::Wrk, &threads).samples(), [100, 99]);
    }

    #[test]
    fn ticks_without_an_answer_are_joined_to_the_next_by_wrk_alone() {
        let idle = [(0, TICK_NS), (0, TICK_NS), (9, TICK_NS)];
        let threads: [&[_]; 2] = [&idle, &[(10, TICK_NS)]];
        assert_eq!(of(Tool::Wrk, &threads).samples(), [30, 100]);
        assert_eq!(of(Tool::Wrk2, &threads).samples(), [0, 0, 90, 100]);
    }

    #[test]
    fn statistics_are_those_of_a_sample() {
        let second = 1_000_000_000;
        let ticks = [2, 4, 4, 4, 5, 5, 7, 9].map(|answered| (answered, second));
        let rates = of(Tool::Wrk, &[&ticks]);
        assert_eq!((rates.mean(), rates.max()), (5.0, 9));
        assert!((rates.stdev() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(rates.within_percent(), 75.0);
    }

    #[test]
    fn rates_come_back_from_another_process_as_they_were() {
        let rates = of(Tool::Wrk, &[&[(7, 1_000_000_000), (300, 1_000_000_000)]]);
        let sent = AnyTally::new(rates.clone()).encode().expect("bytes");
        let came = TallyCodec::of::<Rates>().decode(&sent).expect("rates");
        assert_eq!(came.get(), Some(&rates));
    }

    #[test]
    fn rates_that_a_merger_joins_are_those_of_one_process() {
        let second = 1_000_000_000;
        let threads: [&[_]; 3] = [
            &[(7, second), (300, second)],
            &[(1, second)],
            &[(300, second)],
        ];
        let whole = of(Tool::Wrk, &threads);
        let tallies = (0..3).rev().map(|part| {
            let own = of(Tool::Wrk, &threads[part..=part]);
            (part, AnyTally::new(own))
        });
        let names = ["a", "b", "c"].map(str::to_owned);
        let codec = TallyCodec::of::<Rates>();
        let came = codec.through_merger(&tallies.collect::<Vec<_>>(), &names);
        let came = came.expect("rates");
        let came = came.get::<Rates>().expect("its type");
        let sorted = |rates: &Rates| {
            let mut samples = rates.samples().to_vec();
            samples.sort_unstable();
            samples
        };
        assert_eq!(sorted(came), sorted(&whole));
        assert_eq!((came.mean(), came.stdev()), (whole.mean(), whole.stdev()));
    }

    #[test]
    fn nothing_has_no_share() {
        let nothing = Rates::default();
        assert_eq!(
            (nothing.mean(), nothing.stdev(), nothing.max()),
            (0.0, 0.0, 0)
        );
        assert!(nothing.within_percent().is_nan());
        let one = of(Tool::Wrk, &[&[(7, 1_000_000_000)]]);
        assert_eq!((one.stdev(), one.within_percent()), (0.0, 100.0));
    }
}
