//! The faults of a stream or a connection of HTTP/2.

use std::fmt;
use std::str::FromStr;

/// A fault of a response over HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum H2Fault {
    /// The request's body is not read and its window never opened again, and no response is sent.
    ClosedWindow,
    /// A GOAWAY frame in place of the response that refuses this stream and later ones; then the
    /// connection is closed.
    GoAway,
    /// The head, half of the body, and a GOAWAY frame that does not refuse this stream; then the
    /// connection is closed.
    GoAwayInBody,
    /// A header block in place of the response that is continued for ever.
    HeaderFlood,
    /// PING frames in place of the response, as fast as the client reads them.
    PingFlood,
    /// A reset of the stream with this code, in place of the response.
    Reset(u32),
    /// The head, half of the body, and a reset of the stream, with this code.
    ResetInBody(u32),
    /// SETTINGS frames in place of the response, as fast as the client reads them.
    SettingsFlood,
    /// The whole connection sends nothing more, and is read until the client closes it.
    Silent,
    /// A DATA frame of stream 0 in place of the response, which is invalid; then the connection is
    /// closed.
    WrongFrame,
}

const NAMED: [(&str, H2Fault); 8] = [
    ("closed-window", H2Fault::ClosedWindow),
    ("goaway", H2Fault::GoAway),
    ("goaway-in-body", H2Fault::GoAwayInBody),
    ("header-flood", H2Fault::HeaderFlood),
    ("ping-flood", H2Fault::PingFlood),
    ("settings-flood", H2Fault::SettingsFlood),
    ("silent", H2Fault::Silent),
    ("wrong-frame", H2Fault::WrongFrame),
];

const RESET: &str = "reset:";
const RESET_IN_BODY: &str = "reset-in-body:";

impl H2Fault {
    /// True if the connection itself has to be taken from the HTTP library for this fault.
    pub(crate) fn is_raw(self) -> bool {
        !matches!(
            self,
            Self::ClosedWindow | Self::Reset(_) | Self::ResetInBody(_)
        )
    }
}

impl fmt::Display for H2Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reset(code) => write!(f, "{RESET}{code}"),
            Self::ResetInBody(code) => write!(f, "{RESET_IN_BODY}{code}"),
            Self::ClosedWindow
            | Self::GoAway
            | Self::GoAwayInBody
            | Self::HeaderFlood
            | Self::PingFlood
            | Self::SettingsFlood
            | Self::Silent
            | Self::WrongFrame => {
                let name = NAMED.iter().find(|(_, fault)| fault == self);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

/// The error for a text that is not a fault of HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Write goaway, goaway-in-body, closed-window, wrong-frame, header-flood, ping-flood, \
     settings-flood or silent, or reset: or reset-in-body: and the number of an error code, such \
     as reset:7."
)]
pub struct H2FaultError;

impl FromStr for H2Fault {
    type Err = H2FaultError;

    /// Reads a fault by its name; a reset includes the number of its code.
    fn from_str(text: &str) -> Result<Self, H2FaultError> {
        let code = |code: &str| code.parse().map_err(|_| H2FaultError);
        if let Some(text) = text.strip_prefix(RESET) {
            return code(text).map(Self::Reset);
        }
        if let Some(text) = text.strip_prefix(RESET_IN_BODY) {
            return code(text).map(Self::ResetInBody);
        }
        let named = NAMED.iter().find(|(name, _)| *name == text);
        named.map(|(_, fault)| *fault).ok_or(H2FaultError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_read_by_the_name_it_prints() {
        let resets = [H2Fault::Reset(7), H2Fault::ResetInBody(u32::MAX)];
        for fault in NAMED.map(|(_, fault)| fault).into_iter().chain(resets) {
            assert_eq!(fault.to_string().parse(), Ok(fault));
        }
        for text in [
            "",
            "reset",
            "reset:",
            "reset:x",
            "reset:4294967296",
            "goaway-",
        ] {
            assert_eq!(text.parse::<H2Fault>(), Err(H2FaultError), "{text}");
        }
    }
}
