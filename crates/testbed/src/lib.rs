//! The controllable test server: delays, stalls, faults, TLS.
//!
//! A [`Server`] responds over HTTP/1.1 and HTTP/2 on threads of its own, so that a program that
//! blocks can start one within itself. Options determine its responses: [`Config::defaults`] for
//! all requests, the query or the headers for one request ([`response_options`] lists them). An
//! HTTP library sends ordinary responses; responses that no library would send are raw, written on
//! the bare connection ([`Fault`] names the faults). The server counts exactly, and can measure how
//! far its arrivals deviate from an even schedule.
//!
//! Internally, `listen` accepts sockets and distributes them to the `inbox` of each `worker`; a
//! `connection` is served over its `line`; a request's `request_options` and the shared `state`
//! make a `reply`, which the library sends with a `body`, or `raw_response` sends.
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
//!
//! ## To change
//!
//! - a fault: `Fault` in `fault.rs`; over HTTP/1.1 `raw_response.rs`, `head.rs`; over HTTP/2
//!   `h2_fault.rs`, `h2_frames.rs`, `connection/http2.rs`
//! - a response option: `OPTIONS` in `options.rs`, its field in `answer.rs`, its values `values.rs`
//! - a route of the server, such as `/echo`: `request_options.rs`, `echo.rs`
//! - how connections are served: `listen.rs`, `worker.rs`, `connection.rs`, `line.rs`; TLS `tls.rs`
//! - delays, limits and freezes: `delay.rs`, `limit.rs`, `freezer.rs`
//! - what is counted: `counts.rs`, `arrivals.rs`
//! - a server: its life `server.rs`, configuration `config.rs`, shared state `state.rs`,
//!   `context.rs`, errors `error.rs`; messages to its workers `inbox.rs`, waits `alarm.rs`
//! - a response: decided `reply.rs`, its content `content.rs`, its body as sent `body.rs`; a
//!   socket: `socket.rs`; what clients sent: `capture.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod alarm;
mod answer;
mod arrivals;
mod body;
mod capture;
mod config;
mod connection;
mod content;
mod context;
mod counts;
mod delay;
mod echo;
mod error;
mod fault;
mod freezer;
mod h2_fault;
mod h2_frames;
mod head;
mod inbox;
mod limit;
mod line;
mod listen;
mod options;
mod raw_response;
mod reply;
mod request_options;
mod server;
mod socket;
mod state;
mod tls;
mod values;
mod worker;

pub use answer::{Answer, Drip, DripError, Encoding, Version};
pub use arrivals::{ArrivalReport, MOST_ARRIVALS, Spread};
pub use config::{Config, EvenSchedule, Freeze, FreezeError};
pub use counts::Counts;
pub use delay::{Delay, DelayError};
pub use error::StartError;
pub use fault::{Break, Fault, FaultError, Point};
pub use h2_fault::{H2Fault, H2FaultError};
pub use hyper::StatusCode;
pub use limit::Limit;
pub use options::{OptionError, ResponseOption, response_options};
pub use server::Server;
