//! The time that the server waits before a response.
//!
//! Random delays depend on the server's seed and the request's number alone: the n-th request of a
//! server waits the same time whenever the seed is the same, on any thread or connection.

use crate::values;
use rand::Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::str::FromStr;
use std::time::Duration;

/// The upper limit of random delays, whatever their distribution.
const LONGEST: Duration = Duration::from_secs(3_600);

/// A wait between the whole request and the first byte of its response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Exponential with this mean: many short waits and some long ones.
    Exponential(Duration),
    /// The same wait for every request.
    Fixed(Duration),
    /// Log-normal: the logarithm of the wait is normal, as response times of real services often
    /// are.
    LogNormal {
        /// The median: half of the waits are shorter than this.
        median: Duration,
        /// The standard deviation of the wait's natural logarithm.
        sigma: f64,
    },
}

impl Delay {
    /// Draws one wait.
    ///
    /// The exponential is its mean times a standard one; the log-normal its median times
    /// `exp(sigma · z)` with a standard normal `z` (both by definition of the distributions).
    pub(crate) fn draw(self, rng: &mut impl Rng) -> Duration {
        match self {
            Delay::Fixed(wait) => wait,
            Delay::Exponential(mean) => {
                let factor: f64 = Exp1.sample(rng);
                stretched(mean, factor)
            }
            Delay::LogNormal { median, sigma } => {
                let z: f64 = StandardNormal.sample(rng);
                stretched(median, (sigma * z).exp())
            }
        }
    }
}

fn stretched(wait: Duration, factor: f64) -> Duration {
    let seconds = wait.as_secs_f64() * factor;
    Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64()))
}

/// The error for a text that is not a delay; its message lists the accepted forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Write a time such as 20ms, exp:MEAN such as exp:20ms, or lognormal:MEDIAN,SIGMA such as \
     lognormal:20ms,0.5."
)]
pub struct DelayError;

impl FromStr for Delay {
    type Err = DelayError;

    /// Reads `20ms`, `exp:20ms` and `lognormal:20ms,0.5`.
    fn from_str(text: &str) -> Result<Self, DelayError> {
        read(text).ok_or(DelayError)
    }
}

fn read(text: &str) -> Option<Delay> {
    if let Some(mean) = text.strip_prefix("exp:") {
        return Some(Delay::Exponential(values::duration(mean)?));
    }
    if let Some(shape) = text.strip_prefix("lognormal:") {
        let (median, sigma) = shape.split_once(',')?;
        let sigma = values::positive_number(sigma)?;
        return Some(Delay::LogNormal {
            median: values::duration(median)?,
            sigma,
        });
    }
    values::duration(text).map(Delay::Fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const TEN_MS: Duration = Duration::from_millis(10);

    fn sorted_draws(delay: Delay) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut draws: Vec<f64> = (0..100_000)
            .map(|_| delay.draw(&mut rng).as_secs_f64())
            .collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        let off = (value / expected - 1.0).abs();
        assert!(
            off < tolerance,
            "{value} is not within {tolerance} of {expected}"
        );
    }

    #[test]
    fn each_form_is_read() {
        assert_eq!("20ms".parse(), Ok(Delay::Fixed(Duration::from_millis(20))));
        assert_eq!("exp:10ms".parse(), Ok(Delay::Exponential(TEN_MS)));
        assert_eq!(
            "lognormal:10ms,0.5".parse(),
            Ok(Delay::LogNormal {
                median: TEN_MS,
                sigma: 0.5
            })
        );
        for text in [
            "",
            "fast",
            "exp:",
            "exp:fast",
            "lognormal:10ms",
            "lognormal:10ms,0",
            "norm:1s",
        ] {
            assert_eq!(text.parse::<Delay>(), Err(DelayError), "{text}");
        }
    }

    #[test]
    fn an_exponential_delay_has_its_mean_and_its_median() {
        let draws = sorted_draws(Delay::Exponential(TEN_MS));
        assert_near(draws.iter().sum::<f64>() / draws.len() as f64, 0.010, 0.02);
        assert_near(draws[draws.len() / 2], 0.010 * 2f64.ln(), 0.02);
    }

    #[test]
    fn a_log_normal_delay_has_its_median_and_its_spread() {
        let draws = sorted_draws(Delay::LogNormal {
            median: TEN_MS,
            sigma: 0.5,
        });
        assert_near(draws[draws.len() / 2], 0.010, 0.02);
        let one_sigma_up = draws[(draws.len() as f64 * 0.841_344_7) as usize];
        assert_near(one_sigma_up, 0.010 * 0.5f64.exp(), 0.02);
    }

    #[test]
    fn no_draw_is_beyond_an_hour() {
        let wild = Delay::LogNormal {
            median: TEN_MS,
            sigma: 1e6,
        };
        assert_eq!(sorted_draws(wild).last(), Some(&3_600.0));
    }
}
