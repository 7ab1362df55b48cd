//! The channel to InfluxDB over HTTP, which first creates the database.

use crate::channel::{Channel, Refusal};
use crate::http::Http;
use std::time::Instant;

/// Posts lines, after an attempt to create the database.
pub(super) struct Database {
    /// Creates the database, before the first message.
    pub(super) creation: Option<Http>,
    pub(super) lines: Http,
}

impl Channel for Database {
    fn send(&mut self, body: &[u8], until: Instant) -> Result<(), Refusal> {
        if let Some(mut creation) = self.creation.take() {
            // Who may write may not create, and the database is usually there: the write tells.
            let requested = creation.send(b"", until);
            if let Err(refusal) = requested
                && refusal.may_retry
            {
                self.creation = Some(creation);
            }
        }
        self.lines.send(body, until)
    }
}
