//! The channel to InfluxDB over HTTP, which first asks for the database.

use crate::channel::{Channel, Refusal};
use crate::http::Http;
use std::time::Instant;

/// Posts lines, once the database was asked for.
pub(super) struct Database {
    /// Asks for the database, before the first message.
    pub(super) creation: Option<Http>,
    pub(super) lines: Http,
}

impl Channel for Database {
    fn send(&mut self, body: &[u8], until: Instant) -> Result<(), Refusal> {
        if let Some(mut creation) = self.creation.take() {
            // Who may write may not create, and the database is usually there: the write tells.
            let asked = creation.send(b"", until);
            if let Err(refusal) = asked
                && refusal.may_retry
            {
                self.creation = Some(creation);
            }
        }
        self.lines.send(body, until)
    }
}
