//! A slow request of a second, as evidence of what made it slow.

use crate::Exchange;
use serde::{Deserialize, Serialize};

/// A request that was one of the slowest of its worker in an interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowRequest {
    /// The request and its response.
    pub exchange: Exchange,
    /// The name of the request; `None` if all requests of the run have one.
    pub name: Option<String>,
    /// The number of batches that its connection had served before; `None` if the protocol carries
    /// several at a time.
    pub served_before: Option<u64>,
}
