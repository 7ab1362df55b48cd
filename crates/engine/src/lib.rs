//! Workers, users, pacing, timeouts, shutdown: runs a plan and reports snapshots.
//!
//! [`Run::start`] resolves the targets, starts a thread per worker and provides [`Event`]s: a
//! merged snapshot per interval, the log if it is requested, the end. A *worker* is one event loop
//! whose *users* all run the same loop: take the next start from the schedule, run one iteration of
//! the *behaviour*, record. The [`Behaviour`] determines what a user sends; requests from a plan
//! are one ([`Replay`]), scripts are others.
//!
//! # The path of a request
//!
//! 1. A user takes its next start from the worker's pacer. In a closed load that is the current
//!    time. In an open load it is the next arrival of the worker's stripe that no user has taken;
//!    the user waits for it. If an arrival falls due and no user is free, the supervisor adds one,
//!    up to the plan's limit of connections.
//! 2. The user's behaviour runs an [`Iteration`]. It picks a request that was written before the
//!    run, or composes one ([`Composed`]), and sends it through the user's [`Requester`].
//! 3. `exchange` begins the request in the user's account, which reads the clock (the *start*) and
//!    counts it as sent; takes an idle connection or opens one; and sends.
//! 4. The response is read into the worker's one buffer and parsed. Payload that no observer needs
//!    is discarded in the kernel if the transport allows it.
//! 5. The exchange's instants go to the worker's recorder and, if there is one, to the log. No lock
//!    is taken and no message is sent for a request.
//! 6. The connection is kept for the user's next exchange. A connection that is released is held
//!    for up to 5 ms, so that the server closes first: the side that closes first keeps the port.
//!
//! # Several requests at a time
//!
//! A requester may send several requests of a user at a time, each on a connection of its own, with
//! its own timeout. The first request of an iteration takes the schedule's start and its delay; the
//! others start when they are sent, have no delay, and count as planned when they are sent.
//! Dropping the future of a request cancels it: the exchange fails as `aborted` and its connection
//! is closed. Users have connections of their own, or share those of their worker; then a request
//! first waits for a connection, and is blocked meanwhile.
//!
//! A failure is not an `Err`: it ends the exchange with an error kind, and one example of its text
//! is kept per kind and interval. `Err` is for Loadline's own errors.
//!
//! # What threads share
//!
//! While a run lasts, workers share the prepared run, which is read only, the handle that stops it,
//! and the channel to the main thread. Each supervisor checks the handle at least every 100 ms. A
//! worker sends one snapshot per interval with its scenario's tally, the log in batches, and a
//! final report. Tickets to resume TLS sessions are kept per worker.
//!
//! ## To change
//!
//! - pacing, warm-up, the limit of requests: `pacer.rs`, the schedules of open loads
//!   `pacer/open_load.rs`; an iteration's use of its starts `iteration.rs`, `user.rs`
//! - what users send: a `Behaviour` and a `Scenario` as in `behaviour.rs`; `replay.rs` is the
//!   example; what is sent together `batch.rs`, who receives responses `observer.rs`
//! - the traces that requests carry: `tracer.rs`; as a behaviour `traced_replay.rs`
//! - requests that are composed, sent several at a time, or cancelled: `requester.rs`,
//!   `composed.rs`, `at_once.rs`; idle connections `pool.rs`
//! - cookies, redirects and other handling of responses: `sessions.rs`, `sessions/`; the rules are
//!   in the crate `client`
//! - a protocol: what all share `exchange.rs`, `exchange/in_flight.rs`; HTTP/1.1
//!   `exchange/http1.rs`; HTTP/2 `exchange/http2.rs`, its connections `http2/connection.rs`,
//!   `http2/pool.rs`; the choice by ALPN `exchange/negotiated.rs`, `http2/negotiation.rs`
//! - what protocols send with: of a worker `network.rs`, of a user `connections.rs`; what they
//!   report `account.rs`, counted for a user in `user/account.rs`
//! - a protocol that is no request with one response (a WebSocket, a stream): a [`Protocol`] where
//!   its behaviour is, which talks through `exchange/conversation.rs`; the example is
//!   `simulated/conversations.rs`
//! - an error kind, where it arises: `failure.rs`, `exchange/in_flight.rs`,
//!   `exchange/http1/`, `exchange/http2.rs`, `sessions/session_observer.rs`
//! - a change of the load while it lasts: `control.rs`, `worker/supervisor.rs`,
//!   `worker/user_pool.rs`; what is planned after it `pacer/planned.rs`, `received_changes.rs`
//! - the takeover of what lost workers would have sent: `shares.rs`, `control.rs`, `pacer.rs`; what
//!   is left of a number of starts `quotas.rs`
//! - what happens before a run: `prepare.rs`, its errors `error.rs`; a worker's connections
//!   `worker/ready.rs`
//! - the end of a run, unfinished requests, lost workers: `run.rs`, `worker/unfinished.rs`,
//!   `worker/backlog.rs`, `lost.rs`
//! - what workers report: `report.rs`; how it is merged `joined.rs`, `merger.rs`; a process with
//!   some of the workers `run_part.rs`, its reports `part_reports.rs`, how they are sent
//!   `conveyed.rs`, joined with those of others on the way `grouped.rs`, kept until they are
//!   counted `kept_reports.rs`; what leaves a run `event.rs`; what a scenario counts by itself
//!   `tally.rs`; the slowest requests `slowest.rs`; bodies of error responses `error_bodies.rs`
//! - a worker: `worker.rs`, those of this process `local_workers.rs`, one that another loop drives
//!   `driven.rs`; how it creates its users `launch.rs`; what it inspects of each `activity.rs`;
//!   pauses and iterations without a request `not_due.rs`
//! - connections: shared by users `shared_pool.rs`, of HTTP/2 `http2.rs`, their wait after a failed
//!   dial `backoff.rs`, their end `lingering.rs`
//! - the bytes of a request: `written_request.rs`, of a long list `written_list.rs`, composed
//!   `written_composed.rs`
//! - when a worker wakes up to receive: `gathering.rs`, `coalescing.rs`
//! - what a worker measures of itself: `interval_times.rs`, `ticker.rs`, `costs.rs`, `counted.rs`;
//!   the exchanges whose times are split `sampling.rs`; why requests were not sent
//!   `best_service.rs`
//! - the starts of users who pace themselves: `own_starts.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod account;
mod activity;
mod at_once;
mod backoff;
mod batch;
mod behaviour;
mod best_service;
mod coalescing;
mod composed;
mod connections;
mod control;
mod conveyed;
mod counted;
mod driven;
mod error;
mod error_bodies;
mod event;
mod exchange;
mod failure;
mod gathering;
mod grouped;
mod http2;
mod interval_times;
mod iteration;
mod joined;
mod kept_reports;
mod launch;
mod lingering;
mod local_workers;
mod lost;
mod merger;
mod network;
mod not_due;
mod observer;
mod own_starts;
mod pacer;
mod part_reports;
mod pool;
mod prepare;
mod quotas;
mod received_changes;
mod replay;
mod report;
mod requester;
mod run;
mod run_part;
mod sampling;
mod sessions;
mod shared_pool;
mod shares;
mod slowest;
mod tally;
mod ticker;
mod traced_replay;
mod tracer;
mod user;
mod worker;
mod written_composed;
mod written_list;
mod written_request;

pub use at_once::{AtOnce, run_within};
pub use batch::{Batch, Part, Resend};
pub use behaviour::{Behaviour, Scenario};
pub use composed::{ComposeError, Composed};
pub use control::{CHANGE_LEAD_NS, Change, Handle, Order, TakeOver};
pub use conveyed::{ConveyError, REPORT_FORMAT, ReportReader, ReportWriter};
pub use driven::DrivenWorker;
pub use error::StartError;
pub use event::{Detail, EndReason, Event, PartRecord, Tick};
pub use exchange::{Conversation, Ending, Interruption, Opening, Protocol};
pub use grouped::{GroupCounted, GroupNews, GroupReader, GroupReports, PartInterval};
pub use iteration::Iteration;
pub use kept_reports::KeptReports;
pub use launch::Launch;
pub use loadline_transport::{Agreed, Blocked, Traffic};
pub use local_workers::Readiness;
pub use lost::WorkerFailure;
pub use observer::{Answer, Carrier, ExchangeEvent, Observer, Refusal};
pub use own_starts::Wait;
pub use part_reports::PartReport;
pub use prepare::{OTHER_FILES, open_files_at};
pub use quotas::Allotments;
pub use replay::Replay;
pub use requester::Requester;
pub use run::{Inlet, Run};
pub use run_part::{NextReport, RunPart};
pub use sessions::{Session, SessionEnd};
pub use tally::{AnyTally, Tally, TallyCodec, TallyError};
pub use written_composed::WrittenComposed;

#[cfg(test)]
mod costs;
#[cfg(test)]
mod simulated;
