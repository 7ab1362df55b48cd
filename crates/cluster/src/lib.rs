//! The worker protocol: one run on several processes.
//!
//! A run has workers, each with every n-th of the arrivals. They may be threads of one process or
//! of several: what they tell is merged by the same rules, so that the result is the same. The
//! *coordinator* is the process that merges and reports; the others are its children, and have some
//! of the workers each.
//!
//! # The protocol
//!
//! Messages are lines of JSON ([`ToChild`], [`FromChild`]) over a child's standard input and
//! output. A child says [`Hello`](FromChild::Hello) and gets its part of the plan
//! ([`Assign`](ToChild::Assign)). It brings its connections up, says [`Ready`](FromChild::Ready)
//! and waits for the instant at which the load begins ([`StartAt`](ToChild::StartAt)), on the clock
//! that all processes of a machine share. From there on it sends what its workers tell
//! ([`Report`](FromChild::Report)), and from its first moment ten times a second a
//! [`Heartbeat`](FromChild::Heartbeat). [`Command`](ToChild::Command)s stop it or change its load.
//! Its last word is [`Done`](FromChild::Done).
//!
//! # Loss
//!
//! A child that ends without its last word, says nothing for [`MOST_SILENCE`], speaks another
//! version or sends what is no message is *lost*: it is ended if it still runs, the others go on,
//! and the run fails when they have ended. What its workers told until then counts. Its arrivals
//! behind that are planned and not sent. A child whose coordinator is gone finds its standard input
//! closed, and ends.

mod bodies;
mod child;
mod link;
mod message;
mod processes;

pub use bodies::Bodies;
pub use child::{ChildError, serve};
pub use link::MOST_SILENCE;
pub use message::{FromChild, Job, PROTOCOL, Ready, ToChild};
pub use processes::{Processes, Users};
