//! The failures of a run in wrk's groups.

use crate::{ErrorKind, Snapshot};

/// The failed exchanges in wrk's four groups, and other events that wrk counts in them. Exchanges
/// that users cancelled, which wrk does not have, are in no group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketErrors {
    /// The failures to open a connection, TLS included.
    pub connect: u64,
    /// The responses that broke off or were not HTTP, and the connections that were closed because
    /// of bytes beyond the lengths of their responses.
    pub read: u64,
    /// The requests that could not be sent completely.
    pub write: u64,
    /// The responses that were not complete before the timeout; those that arrived later are
    /// counted here and as answered.
    pub timeout: u64,
}

impl SocketErrors {
    /// Returns the groups of a whole run, or of a part of it.
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
