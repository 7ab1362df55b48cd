//! The description of the agents that another process is to gather.

use crate::address::BusAddress;
use crate::error::BusError;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The variable with the agents of a locustfile, as JSON: its process gathers them.
pub const AGENTS_VARIABLE: &str = "LOADLINE_AGENTS";

/// The agents of a test, and their bus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hire {
    /// The bus.
    pub bus: BusAddress,
    /// The agents, as [`Selector`](crate::Selector) reads them.
    #[serde(default)]
    pub agents: String,
    /// The longest time for which they are awaited.
    #[serde(default)]
    pub timeout: Duration,
    /// True if the users of a lost agent are not started anew on the others.
    #[serde(default)]
    pub keeps_losses: bool,
    /// True if agents that come while the test lasts take part in it.
    #[serde(default)]
    pub is_elastic: bool,
}

impl Hire {
    /// Parses such a description.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn parse(text: &str) -> Result<Self, BusError> {
        serde_json::from_str(text).map_err(|error| BusError::Broken(error.to_string()))
    }

    /// Returns the text that [`parse`](Self::parse) reads.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("plain data has JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let hire = Hire {
            bus: BusAddress {
                url: "nats://h".to_owned(),
                is_open: true,
                ..BusAddress::default()
            },
            agents: "2,region=eu".to_owned(),
            timeout: Duration::from_millis(1_500),
            keeps_losses: true,
            is_elastic: true,
        };
        let read = Hire::parse(&hire.text()).expect("a hire");
        assert_eq!(format!("{read:?}"), format!("{hire:?}"));
        let few = Hire::parse("{\"bus\":{\"url\":\"nats://h\"}}").expect("a hire");
        assert_eq!((few.agents.as_str(), few.keeps_losses), ("", false));
        assert!(Hire::parse("{").is_err());
    }
}
