//! The controllable test server: delays, stalls, faults, TLS.
//!
//! A [`Server`] answers HTTP/1.1 on threads of its own, so that a program that blocks can start
//! one beside itself. What it answers is set knob by knob: for all requests by
//! [`Config::defaults`], for one request by its query or its headers ([`knobs`] names them all).
//! Ordinary answers come from an HTTP library; those that no library would send are written by
//! hand ([`Fault`] names what can go wrong). The server counts what it did, exactly, and can
//! measure how far its arrivals strayed from an even schedule.
//!
//! Inside, data goes this way: `listen` accepts and deals sockets out to each `worker`; a `visit`
//! serves one connection over its `line`; a request's `wishes` and the shared `state` make a
//! `reply`, which goes out as a `body` of the library or `by_hand`.
//!
//! ```
//! use loadline_testbed::{Config, Server};
//! use std::io::{Read, Write};
//! use std::net::{SocketAddr, TcpStream};
//!
//! let listen = SocketAddr::from(([127, 0, 0, 1], 0));
//! let server = Server::start(Config { listen, ..Config::default() })?;
//! let mut client = TcpStream::connect(server.addr())?;
//! client.write_all(b"GET /?status=503&size=3&close=1 HTTP/1.1\r\nHost: here\r\n\r\n")?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
//! assert!(answer.ends_with("\r\n\r\nxxx"));
//! assert_eq!(server.stop().answers, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alarm;
mod answer;
mod arrivals;
mod body;
mod by_hand;
mod config;
mod content;
mod counts;
mod delay;
mod echo;
mod error;
mod fault;
mod freezer;
mod head;
mod heard;
mod knobs;
mod limit;
mod line;
mod listen;
mod reply;
mod server;
mod socket;
mod state;
mod tls;
mod values;
mod visit;
mod wishes;
mod worker;

pub use answer::{Answer, Drip, DripError, Version};
pub use arrivals::{ArrivalReport, MOST_ARRIVALS, Spread};
pub use config::{Config, EvenSchedule, Freeze, FreezeError};
pub use counts::Counts;
pub use delay::{Delay, DelayError};
pub use error::StartError;
pub use fault::{Break, Fault, FaultError, Point};
pub use hyper::StatusCode;
pub use knobs::{Knob, KnobError, knobs};
pub use limit::Limit;
pub use server::Server;
