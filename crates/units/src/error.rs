//! Errors of values as typed: each error has the text and explains what is accepted instead.

/// A text that can't be parsed as a value of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A text that is not a whole number.
    #[error(
        "`{0}` is not a count. Write a whole number, optionally with k, M or G: 500, 10k, 2.5M."
    )]
    Count(String),
    /// A count above `u32::MAX`.
    #[error("`{0}` is too many. The most is 4294967295.")]
    CountTooHigh(String),
    /// A text that is not a duration.
    #[error(
        "`{0}` is not a duration. Write numbers with h, m, s, ms, us or ns, such as 10s, 1m30s or \
         500ms; a number alone is seconds."
    )]
    Duration(String),
    /// A percentile out of range.
    #[error("`{0}` is not a percentile. Write a number above 0 and at most 100, such as 99.9.")]
    Percentile(String),
    /// A text that is not a rate.
    #[error(
        "`{0}` is not a rate. Write a number per second, optionally with k, M or G, or per another \
         time: 500, 2.5k, 90/m, 10/h, 0.2/s."
    )]
    Rate(String),
    /// A rate that is too high for any schedule.
    #[error("`{0}` is too high a rate. The most is 1G, one every nanosecond.")]
    RateTooHigh(String),
}
