//! What agents receive about the reports of a group of parts, which one of them joins.

use crate::frame::Frame;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use loadline_engine::{ConveyError, GroupCounted, GroupReports, WorkerFailure};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;

/// A message for the agent that passes on the frames of a part.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAgent {
    /// Send the reports of the part to a merger, instead of to the coordinator.
    SendTo {
        /// The number of the merger in the run: it has the reports of no other group, and none
        /// before it had this number.
        merger: u32,
        /// The number of the part in the run.
        part: u32,
        /// The number of the first report that may not be counted; `None` if there is none.
        counted_before: Option<u32>,
    },
    /// Forget reports: the run has counted them.
    Counted {
        /// The number of the first report that may not be counted; `None` if there is none.
        before: Option<u32>,
    },
    /// Join the reports of a group.
    Merge(MergeOrder),
    /// A part of the group that is joined is lost.
    Lose {
        /// The number of the part in the group.
        part: usize,
        /// The reason.
        failure: WorkerFailure,
    },
}

/// The order to join the reports of a group.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeOrder {
    /// The number of the merger in the run.
    pub merger: u32,
    /// The parts of the group: their numbers in the run, and their workers.
    pub parts: Vec<(u32, Range<u32>)>,
    /// The account of their reports that are counted, in base64.
    counted: String,
    /// The parts that are lost.
    lost: Vec<(usize, WorkerFailure)>,
}

impl MergeOrder {
    /// Creates the order to go on from this account.
    ///
    /// # Errors
    /// If the account has no encoding.
    pub(crate) fn new(
        merger: u32,
        parts: Vec<(u32, Range<u32>)>,
        counted: &GroupCounted,
        lost: &[(usize, WorkerFailure)],
    ) -> Result<Self, ConveyError> {
        Ok(MergeOrder {
            merger,
            parts,
            counted: BASE64_STANDARD.encode(counted.encode()?),
            lost: lost.to_vec(),
        })
    }

    /// Returns the reports of the group, of which those that are not counted follow.
    ///
    /// # Errors
    /// If the account is none of this group.
    pub fn reports(&self) -> io::Result<GroupReports> {
        let bytes = BASE64_STANDARD.decode(&self.counted);
        let counted = GroupCounted::decode(&bytes.map_err(io::Error::other)?);
        let workers: Vec<Range<u32>> = self.parts.iter().map(|(_, own)| own.clone()).collect();
        let reports = counted.and_then(|counted| GroupReports::new(&workers, counted));
        let mut reports = reports.map_err(io::Error::other)?;
        for (part, failure) in &self.lost {
            reports.lose(*part, failure);
        }
        Ok(reports)
    }
}

impl ToAgent {
    /// Reads the message of a frame for an agent.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(json: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(json)?)
    }

    /// Returns the frame with the message.
    ///
    /// # Errors
    /// If it has no JSON.
    pub(crate) fn frame(&self) -> io::Result<Frame> {
        Ok(Frame::Agent(serde_json::to_vec(self)?))
    }
}

/// Returns the frame with the message of the merger of this number.
pub fn merged(merger: u32, message: &[u8]) -> Frame {
    Frame::Merged([&merger.to_be_bytes()[..], message].concat())
}

/// Returns the number of the merger that has sent this, and its message.
///
/// # Errors
/// If there is no number.
pub(crate) fn of_merger(contents: &[u8]) -> io::Result<(u32, &[u8])> {
    let (number, message) = contents
        .split_first_chunk()
        .ok_or_else(|| io::Error::other("joined reports of no merger"))?;
    Ok((u32::from_be_bytes(*number), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let failure = WorkerFailure::Stuck { worker: 3 };
        let counted = GroupCounted::new(2, 1);
        let order = MergeOrder::new(7, vec![(0, 0..2), (1, 2..4)], &counted, &[(1, failure)]);
        let message = ToAgent::Merge(order.expect("an order"));
        let Ok(Frame::Agent(json)) = message.frame() else {
            panic!("no frame for an agent");
        };
        let read = ToAgent::read(&json).expect("a message");
        assert_eq!(read, message);
        let ToAgent::Merge(order) = read else {
            panic!("no order");
        };
        assert!(!order.reports().expect("reports").is_over());
        assert!(ToAgent::read(b"{}").is_err());
    }

    #[test]
    fn what_is_joined_has_the_number_of_its_merger() {
        let Frame::Merged(contents) = merged(258, b"news") else {
            panic!("another frame");
        };
        assert_eq!(of_merger(&contents).expect("a number"), (258, &b"news"[..]));
        assert!(of_merger(&contents[..3]).is_err());
    }
}
