//! A small HTTP server beside a run, for a live page and for REST APIs.
//!
//! A [`Server`] has a thread of its own with one event loop, so that it responds while workers are
//! busy, and it shares nothing with them. Responses come from a [`Service`], which is called on a
//! pool of few threads: several requests are answered at once, and never so many that workers wait
//! for a core. [`Broadcast`] sends events to any number of viewers; each event is made once.
//!
//! Access is decided before the service receives a request, by [`Rules`]:
//!
//! - the `Host` must be a name of this server ([`Hosts`]): a page in a browser can send requests to
//!   this machine under a name of its own (DNS rebinding), and reads the responses then;
//! - the `Origin`, if a browser sends one, must be the server itself: no other page can change
//!   anything;
//! - beyond loopback a request needs a token or a password ([`Access`]).
//!
//! With a [`Certificate`] all of it is TLS; requests in the clear are led there.
//!
//! What one client can hold is bounded: connections, bytes of a body, and the time in which it
//! sends a request and takes a response.
//!
//! ## To change
//!
//! - who has access: `access.rs`, `hosts.rs`; TLS: `tls.rs`, `secured.rs`
//! - the bounds of connections, bodies and times: `server.rs`, `patient.rs`
//! - what a service receives and returns: `service.rs`
//! - events, and viewers that are slow: `broadcast.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod access;
mod broadcast;
mod hosts;
mod patient;
mod secured;
mod server;
mod service;
mod tls;

pub use access::Access;
pub use broadcast::{Broadcast, Stream, Whole};
pub use hosts::Hosts;
pub use server::{MOST_CONNECTIONS, Rules, Server};
pub use service::{Answer, Content, Refusal, Request, Service};
pub use tls::{Certificate, CertificateError};

/// The types of HTTP that requests and answers are made of.
pub use hyper::{HeaderMap, Method, StatusCode, header};
