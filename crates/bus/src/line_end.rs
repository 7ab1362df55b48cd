//! One end of a line over the bus: sends and receives its parcels, in order and once.

use crate::connection::Bus;
use crate::parcel::{Conveyor, Parcel, Received};
use std::io;

/// One end of a line.
pub(crate) struct LineEnd {
    pub(crate) bus: Bus,
    /// The subject of what it sends.
    subject: String,
    conveyor: Conveyor,
}

impl LineEnd {
    /// Creates the end that sends to this subject.
    pub(crate) fn new(bus: &Bus, subject: String) -> Self {
        LineEnd {
            bus: bus.clone(),
            subject,
            conveyor: Conveyor::new(bus.longest()),
        }
    }

    /// Sends a parcel, as soon as there is room for it.
    pub(crate) fn send(&mut self, parcel: Parcel) {
        self.conveyor.pack(parcel);
        self.publish_due();
    }

    /// Sends a sign of life, and again what was not acknowledged.
    pub(crate) fn beat(&mut self) {
        let messages = self.conveyor.beat();
        self.publish(&messages);
    }

    /// Takes a message of the other end; returns a parcel if it is complete.
    ///
    /// # Errors
    /// If it is no message.
    pub(crate) fn take(&mut self, message: &[u8]) -> io::Result<Option<Parcel>> {
        let received = self.conveyor.receive(message)?;
        if let Some(life) = self.conveyor.early_beat() {
            self.publish(&[life]);
        }
        match received {
            Received::Parcel(parcel) => return Ok(Some(parcel)),
            Received::Nothing => {}
            Received::Gap => self.publish(&[self.conveyor.again()]),
            Received::Again => self.publish(&self.conveyor.unacknowledged()),
        }
        self.publish_due();
        Ok(None)
    }

    /// True if the other end has received everything.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.conveyor.is_acknowledged()
    }

    fn publish_due(&mut self) {
        let messages = self.conveyor.due();
        self.publish(&messages);
    }

    fn publish(&self, messages: &[Vec<u8>]) {
        for message in messages {
            // An other end that receives nothing gives the part up.
            let _ = self.bus.publish(&self.subject, message);
        }
    }
}
