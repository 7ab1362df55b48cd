//! Arrivals and active users as pure functions of time: no clock, no I/O, no global state.
//!
//! A [`Schedule`] defines when each iteration of an open load is meant to start, [`Users`] when
//! each user of a closed load is active, and [`ThinkTimes`] how long a user waits between two
//! iterations. All of them are created once from plain numbers; afterwards any number of workers,
//! processes or machines can query them with equal results, because each takes its [`Stripe`] of
//! the arrivals and all stripes together are exactly the whole.
//!
//! # Words
//!
//! - *Arrival*: one intended start, with its index (0-based, in order of time) and its instant in
//!   nanoseconds from the run's start.
//! - *Rate*: arrivals over time, an exact fraction. N(t) is the rate's integral from 0 to t: the
//!   arrivals that are due in that time on average.
//! - *Law*: the way in which arrivals are spread around their rate, evenly or as a Poisson process.
//! - *Stage*: a linear change of the rate, or of the number of users, over a duration; a duration
//!   of zero is a jump.
//! - *Segment*: the part of a schedule from a change of the load to the next one.
//! - *Stripe*: every `of`-th arrival from `index` on.
//! - *Share*: the arrivals of one worker: a stripe, or several once others were handed on to it.
//!
//! # Definitions
//!
//! Under the even law arrival k happens when N passes k, that is at inf { t : N(t) > k }; its
//! `at_ns` is that instant rounded down to a whole nanosecond. Hence the first arrival is at the
//! first instant with a rate above zero, a rate of zero has no arrivals, `d` nanoseconds at a rate
//! that makes `N` a whole number contain exactly `N` arrivals, and the number of arrivals with
//! `at_ns < t` is exactly ⌈N(t)⌉.
//!
//! Under the Poisson law k is replaced by the k-th point of a random process of rate 1 (see
//! [`Law::Poisson`]).
//!
//! All computations use whole numbers: nothing drifts, however long a run lasts.
//!
//! ## To change
//!
//! - a law of arrivals: `Law` and `Course` in `schedule.rs`, with a file beside `poisson.rs`,
//!   `constant.rs` and `burst.rs`
//! - a course of the rate: `stage.rs`, `curve.rs`, `piece.rs`
//! - users over time: `users.rs`; think time `think.rs`
//! - a change of the load: `segment.rs`, `level.rs`
//! - the share of a worker: `stripe.rs`; how it is divided and handed on `stripes.rs`, its
//!   arrivals then `shared.rs`
//! - exact arithmetic: `grid.rs`, `rate.rs`, `point.rs`
//! - an arrival: `arrival.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod arrival;
mod burst;
mod constant;
mod curve;
mod grid;
mod level;
mod piece;
mod point;
mod poisson;
mod rate;
mod schedule;
mod segment;
mod shared;
mod stage;
mod stripe;
mod stripes;
mod think;
mod users;

pub use arrival::Arrival;
pub use level::{Level, Share};
pub use loadline_units::Rate;
pub use schedule::{Arrivals, Law, Schedule};
pub use stage::Stage;
pub use stripe::Stripe;
pub use stripes::Stripes;
pub use think::ThinkTimes;
pub use users::{Users, Window};
