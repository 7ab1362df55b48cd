//! How much does a target carry? The search for its load line, and what it does around it.
//!
//! [`find`] drives anything that can [`Measure`] a level of load for a while: an engine, or a
//! simulated queue. Levels are rates, or numbers of users where the loop is closed. It goes this
//! way:
//!
//! 1. Warm-up at the first level; nothing of it counts.
//! 2. The search of RFC 9971 ([`loadline_stats::search`]) for the highest level at which all checks
//!    hold and the target keeps up. Every trial counts for every check, so at the end it is known
//!    as well which of them broke first.
//! 3. Confirmation: the level that was found is measured in one run of five trial lengths. Where
//!    that breaks, or the checks do on all answers at the level together, the search goes on below,
//!    by long runs alone.
//! 4. The ladder: idle, 10, 50 and 90 % of the load line, then 110 % and at once back to 90 %,
//!    which shows whether the target recovers, and how long that takes.
//!
//! A level at which the generator was at its own end ([`OwnLimit`]) is no capacity of the target:
//! then the answer is [`Conclusion::AtLeast`].
//!
//! Vocabulary: a *level* is a rate or a number of users, a *trial* measures one level once, the
//! *load line* is the highest level that holds. A trial *holds* if all checks do and the target
//! *keeps up*: at its end no more is outstanding than is always under way. In a closed loop whose
//! users wait between their requests it is also asked whether they keep their pace.

mod conclusion;
mod driver;
mod keeping_up;
mod ladder;
mod measure;
mod pace;
mod settings;

pub use conclusion::{Breaking, Conclusion, Inconclusive, LoadLine, Why};
pub use driver::{SearchEnd, SearchOutcome, find};
pub use keeping_up::TooShort;
pub use ladder::{Ladder, Recovery, Rung};
pub use measure::{Descent, Measure, Observation, OwnLimit, Part, Purpose, Trial};
pub use settings::Settings;

#[cfg(test)]
mod simulated;
