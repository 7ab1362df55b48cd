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

/// What the error of a request is called that was in flight when the run's time was over.
pub(super) const ABORTED: &str = "aborted due to deadline";

/// What a run came to.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) tally: Tally,
    /// Requests in flight when the run's time was over.
    pub(super) aborted: u64,
    /// From the run's begin to its end, in seconds.
    pub(super) total: f64,
    /// The unit of times, if the user chose one.
    pub(super) unit: Option<Unit>,
}

impl Measured {
    /// The share of whole responses among all requests that came to an end; not a number if none
    /// did.
    fn success_rate(&self) -> f64 {
        let successes = self.tally.successes() as f64;
        successes / (successes + self.tally.failures() as f64)
    }

    /// Requests that came to an end, per second.
    fn requests_per_second(&self) -> f64 {
        (self.tally.successes() + self.tally.failures()) as f64 / self.total
    }

    fn bytes_per_second(&self) -> f64 {
        self.tally.bytes as f64 / self.total
    }

    /// Bytes of a response, without the fraction; `None` if there was no response.
    fn bytes_per_request(&self) -> Option<u64> {
        self.tally.bytes.checked_div(self.tally.successes())
    }

    /// The errors with their counts, the most frequent first.
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
