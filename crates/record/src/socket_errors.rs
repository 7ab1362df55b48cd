//! The failures of a run as wrk groups them.

use crate::{ErrorKind, Snapshot};

/// Failed exchanges in wrk's four groups, and what else wrk counts among them. Exchanges that were
/// given up by their users, which wrk does not know, are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketErrors {
    /// No connection could be made, TLS included.
    pub connect: u64,
    /// Responses that broke off or were no HTTP, and connections that were closed because more came
    /// than their responses' lengths.
    pub read: u64,
    /// Requests that could not be sent whole.
    pub write: u64,
    /// Responses that were not whole in time; those that came late all the same are counted here
    /// and as answered.
    pub timeout: u64,
}

impl SocketErrors {
    /// Those of a whole run, or of a part of it.
    pub fn of(total: &Snapshot) -> Self {
        let mut errors = SocketErrors {
            read: total.counts.closed_for_extra_bytes,
            timeout: total.counts.late,
            ..SocketErrors::default()
        };
        for (kind, failures) in &total.errors {
            if let Some(group) = errors.group(*kind) {
                *group += failures.count;
            }
        }
        errors
    }

    fn group(&mut self, kind: ErrorKind) -> Option<&mut u64> {
        match kind {
            ErrorKind::Resolve
            | ErrorKind::Descriptors
            | ErrorKind::Ports
            | ErrorKind::Connect
            | ErrorKind::Tls => Some(&mut self.connect),
            ErrorKind::Read
            | ErrorKind::Protocol
            | ErrorKind::StreamReset
            | ErrorKind::GoAway
            | ErrorKind::Redirect
            | ErrorKind::Challenge
            | ErrorKind::Content
            | ErrorKind::Other => Some(&mut self.read),
            ErrorKind::Write => Some(&mut self.write),
            ErrorKind::Timeout => Some(&mut self.timeout),
            ErrorKind::Aborted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failures;

    #[test]
    fn every_kind_but_a_users_own_end_is_in_one_group() {
        let mut total = Snapshot::default();
        for kind in ErrorKind::ALL {
            let failures = Failures {
                count: 1,
                ..Failures::default()
            };
            total.errors.insert(kind, failures);
        }
        (total.counts.closed_for_extra_bytes, total.counts.late) = (10, 100);
        let errors = SocketErrors {
            connect: 5,
            read: 18,
            write: 1,
            timeout: 101,
        };
        assert_eq!(SocketErrors::of(&total), errors);
    }
}
