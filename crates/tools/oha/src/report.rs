//! A run in oha's reports.

mod csv;
mod json;
mod scale;
mod text;

pub(super) use self::csv::csv;
pub(super) use self::json::json;
pub(super) use self::text::text;

use super::arguments::Unit;
use super::tally::Tally;

/// The error of requests that were in flight when the run's time was over.
pub(super) const ABORTED: &str = "aborted due to deadline";

/// The figures of a run.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) tally: Tally,
    /// The requests in flight when the run's time was over.
    pub(super) aborted: u64,
    /// The time from the run's begin to its end, in seconds.
    pub(super) total: f64,
    /// The unit of times, if the user chose one.
    pub(super) unit: Option<Unit>,
}

impl Measured {
    /// Returns the share of whole responses among all requests that ended; NaN if no request ended.
    fn success_rate(&self) -> f64 {
        let successes = self.tally.successes() as f64;
        successes / (successes + self.tally.failures() as f64)
    }

    /// Returns the requests that ended, per second.
    fn requests_per_second(&self) -> f64 {
        (self.tally.successes() + self.tally.failures()) as f64 / self.total
    }

    fn bytes_per_second(&self) -> f64 {
        self.tally.bytes as f64 / self.total
    }

    /// Returns the mean bytes per response, without the fraction; `None` if there was no response.
    fn bytes_per_request(&self) -> Option<u64> {
        self.tally.bytes.checked_div(self.tally.successes())
    }

    /// Returns the errors with their counts, the most frequent first.
    fn errors(&self) -> Vec<(String, u64)> {
        let mut errors: Vec<(String, u64)> = self.tally.errors.clone().into_iter().collect();
        if self.aborted > 0 {
            errors.push((ABORTED.to_owned(), self.aborted));
        }
        errors.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
        errors
    }
}

#[cfg(test)]
mod tests;
