//! The statuses that a check counts: a class such as `5xx`, or a single one, `status:503`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The statuses that `status:` accepts: all numbers of three digits.
const CODES: std::ops::RangeInclusive<u16> = 100..=999;

/// A selection of response statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statuses {
    /// All statuses that begin with this digit, 1 to 5: `5xx`.
    Class(u8),
    /// One status: `status:503`.
    Code(u16),
}

impl Statuses {
    /// True if the selection includes `status`.
    pub fn includes(self, status: u16) -> bool {
        match self {
            Statuses::Class(class) => status / 100 == u16::from(class),
            Statuses::Code(code) => status == code,
        }
    }

    /// Reads `5xx` and `status:503`; `None` for a text of neither form.
    ///
    /// # Errors
    /// If the text has one of these forms, but there is no such class or status.
    pub(super) fn parse(text: &str) -> Option<Result<Statuses, ()>> {
        if let Some(code) = text.strip_prefix("status:") {
            let code = digits(code).filter(|code| CODES.contains(code));
            return Some(code.map(Statuses::Code).ok_or(()));
        }
        let class = digits(text.strip_suffix("xx")?)?;
        Some(match u8::try_from(class) {
            Ok(class @ 1..=5) => Ok(Statuses::Class(class)),
            _ => Err(()),
        })
    }
}

/// Reads a number that consists of digits only, without a sign or leading zeros.
fn digits(text: &str) -> Option<u16> {
    let number = text.parse::<u16>().ok()?;
    (number.to_string() == text).then_some(number)
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statuses::Class(class) => write!(f, "{class}xx"),
            Statuses::Code(code) => write!(f, "status:{code}"),
        }
    }
}
