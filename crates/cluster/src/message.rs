//! The messages of the worker protocol. Reports have an encoding of their own, that of the engine.

use loadline_engine::{Change, Detail, Order, Readiness, TakeOver};
use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::Address;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;

/// The version of the protocol. Both sides must have the same: they are the same program.
pub const PROTOCOL: u32 = 7;

/// The behaviour of a run's users, if they do not send the plan's requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    tool: String,
    terms: Box<RawValue>,
}

impl Job {
    /// Creates the job of this tool's users, with these terms.
    ///
    /// # Errors
    /// If the terms can't be encoded.
    pub fn new(tool: &str, terms: &impl Serialize) -> io::Result<Self> {
        Ok(Job {
            tool: tool.to_owned(),
            terms: to_raw_value(terms)?,
        })
    }

    /// Returns the tool that defines the users.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the terms, as the tool encoded them.
    ///
    /// # Errors
    /// If they are of another type.
    pub fn terms<T: DeserializeOwned>(&self) -> io::Result<T> {
        Ok(serde_json::from_str(self.terms.get())?)
    }
}

/// A message from the coordinator to a child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToChild {
    /// The assignment: the plan, and the child's share of its workers. The bundle comes before it.
    Assign {
        /// The plan without what is in the bundle.
        #[serde(with = "loadline_plan::json")]
        plan: Box<Plan>,
        /// The terms of the job for this child alone, if its tool has any.
        #[serde(default)]
        own: Option<Box<RawValue>>,
        /// The events to report in addition to intervals.
        detail: Detail,
        /// The child's own workers among those of the plan, from 0.
        workers: Range<u32>,
    },
    /// The begin of the load: nanoseconds of the child's `CLOCK_MONOTONIC`.
    StartAt {
        /// The instant; a child that joins begins after it.
        begin_ns: u64,
        /// What happened before, if it joins.
        #[serde(default)]
        before: Before,
    },
    /// A command for the rest of the run.
    Command(Command),
}

/// What happened in a run before a child joined it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Before {
    /// The changes of the load.
    pub changes: Vec<Change>,
    /// The takeovers, up to that with which the child joins.
    pub takeovers: Vec<TakeOver>,
}

/// A command for the rest of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// An order to continue, stop or abort.
    Order(Order),
    /// A change of the load.
    Change(Change),
    /// The takeover of what a lost part would have sent.
    TakeOver(TakeOver),
}

/// A message from a child to the coordinator, beside the reports of its part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromChild {
    /// The first message.
    Hello {
        /// The child's version of the protocol.
        protocol: u32,
    },
    /// A sign of life of a child that has had nothing to report.
    Alive,
    /// The child's kernel timestamps nothing that arrives, though the plan is of its clock: its
    /// exchanges end when they are read.
    Unstamped,
    /// The child's connections are open.
    Ready(Ready),
    /// The child can't begin its part, for this reason.
    Failed {
        /// A sentence without its full stop.
        reason: String,
    },
    /// The load of all its workers has begun.
    Begun {
        /// By how much the last of them was late, in nanoseconds.
        late_ns: u64,
    },
    /// The last message.
    Done,
}

/// The state of a child whose connections are open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    connected: usize,
    error: Option<String>,
    addresses: Vec<AddressText>,
    left_out: Vec<AddressText>,
    http: HttpVersion,
    length_ns: u64,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AddressText {
    Ip(SocketAddr),
    Unix(PathBuf),
}

impl From<&Address> for AddressText {
    fn from(address: &Address) -> Self {
        match address {
            Address::Ip(address) => AddressText::Ip(*address),
            Address::Unix(path) => AddressText::Unix(path.clone()),
        }
    }
}

impl From<AddressText> for Address {
    fn from(place: AddressText) -> Self {
        match place {
            AddressText::Ip(address) => Address::Ip(address),
            AddressText::Unix(path) => Address::Unix(path),
        }
    }
}

impl From<&Readiness> for Ready {
    fn from(ready: &Readiness) -> Self {
        Ready {
            connected: ready.connected,
            error: ready.error.clone(),
            addresses: ready.addresses.iter().map(AddressText::from).collect(),
            left_out: ready.left_out.iter().map(AddressText::from).collect(),
            http: ready.http,
            length_ns: ready.length_ns,
        }
    }
}

impl From<Ready> for Readiness {
    fn from(ready: Ready) -> Self {
        let addresses = |places: Vec<AddressText>| places.into_iter().map(Address::from).collect();
        Readiness {
            connected: ready.connected,
            error: ready.error,
            addresses: addresses(ready.addresses),
            left_out: addresses(ready.left_out),
            http: ready.http,
            length_ns: ready.length_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    #[test]
    fn a_readiness_is_read_as_it_was_written() {
        let readiness = Readiness {
            connected: 3,
            error: Some("refused".to_owned()),
            addresses: vec![
                Address::Ip(SocketAddr::from(([127, 0, 0, 1], 80))),
                Address::Unix("/a".into()),
            ],
            left_out: Vec::new(),
            http: HttpVersion::V2,
            length_ns: u64::MAX,
        };
        let frame = Frame::of(&FromChild::Ready(Ready::from(&readiness))).expect("JSON");
        let Ok(FromChild::Ready(ready)) = frame.message() else {
            panic!("not what was written");
        };
        let back = Readiness::from(ready);
        assert_eq!(back.addresses, readiness.addresses);
        assert_eq!((back.connected, back.length_ns), (3, u64::MAX));
    }
}
