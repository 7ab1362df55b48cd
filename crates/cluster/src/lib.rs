//! The worker protocol: one run on several processes.
//!
//! A run has workers, each with every n-th of the arrivals. They may be threads of one process or
//! of several: their reports are merged by the same rules, so that the result is the same. The
//! *coordinator* is the process that merges and reports; the others are its children, and have some
//! of the workers each.
//!
//! # The protocol
//!
//! What the two ends of a link send each other are [`Frame`]s, over a child's standard input and
//! output: messages as JSON ([`ToChild`], [`FromChild`]), and reports in the engine's own encoding.
//! A child sends [`Hello`](FromChild::Hello) and receives what all parts have in common, the
//! [`Bundle`], and then its part of the plan
//! ([`Assign`](ToChild::Assign)). It opens its connections, sends [`Ready`](FromChild::Ready) and
//! waits for the instant at which the load begins ([`StartAt`](ToChild::StartAt)), on the clock
//! that all processes of a machine share. From then on it sends one report a second, in which the
//! reports of its workers are joined, and [`Alive`](FromChild::Alive) where it has sent nothing for
//! so long. [`Command`](ToChild::Command)s stop it or change its load. Its last message is
//! [`Done`](FromChild::Done).
//!
//! The coordinator sees a child as a [`Line`]: where to send frames, where to receive them, and how
//! to end the process at the other end. Everything else is the same wherever that process is.
//!
//! # Loss
//!
//! A child that ends without `Done`, sends nothing for [`SILENCE_TIMEOUT`], uses another version or
//! sends an invalid message is *lost*: it is killed if it still runs, the others continue, and the
//! run fails when they have ended. The reports of its workers until then count. Its later arrivals
//! are planned and not sent; those of an open load are taken over by the others
//! ([`OnLoss::Share`]), from an instant on that all of them are told. A child whose coordinator is
//! gone finds its standard input closed, and ends.
//!
//! ## To change
//!
//! - a message: `message.rs`; how it is sent `frame.rs`; what is sent once to all `bundle.rs`, the
//!   bodies of requests in it `bodies.rs`
//! - a child's side: `child.rs`, and where its agent stands still `orphan.rs`; what it reports is
//!   in the crate `engine`
//! - the coordinator's side: all children `processes.rs`, up to the begin of the load `muster.rs`,
//!   their assignment `assignment.rs`, while the run lasts `supervision.rs`; one of them `link.rs`,
//!   its pipes `pipes.rs`; those that join while it lasts `newcomers.rs`
//! - reports that an agent joins before they are here: `group.rs`, its messages `merging.rs`
//! - another way to carry frames: a `Line` as in `line.rs`
//! - processes that somebody else starts, supervises and ends, as Locust's: `parts.rs`; on lines
//!   that carry their messages as well `relay.rs`
//! - when a child is lost: `SILENCE_TIMEOUT` in `watched.rs`; what becomes of its load `loss.rs`,
//!   and when it is back `returns.rs`; what is noted of agents `ledger.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod assignment;
mod bodies;
mod bundle;
mod child;
mod frame;
mod group;
mod ledger;
mod line;
mod link;
mod loss;
mod merging;
mod message;
mod muster;
mod newcomers;
mod orphan;
mod parts;
mod pipes;
mod processes;
mod relay;
mod returns;
mod supervision;
mod watched;

pub use bundle::{Bundle, Hash};
pub use child::{ChildError, send_reports, serve};
pub use frame::{Frame, LONGEST_FRAME};
pub use group::Grouping;
pub use ledger::{Loss, Outsider, Return};
pub use line::{Line, Remote, Sink, Source};
pub use loss::OnLoss;
pub use merging::{MergeOrder, ToAgent, merged};
pub use message::{Before, FromChild, Job, PROTOCOL, Ready, ToChild};
pub use muster::{Machines, Users};
pub use newcomers::{Newcomer, Recruiter};
pub use orphan::{PART_VARIABLE, end_with_stopped_parent};
pub use parts::Parts;
pub use pipes::start as start_child;
pub use processes::Processes;
pub use relay::{Relay, Seat, Sockets, end_orphaned_process};
pub use returns::Scout;
pub use watched::SILENCE_TIMEOUT;
