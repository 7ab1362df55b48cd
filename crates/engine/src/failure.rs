//! The reasons why an attempt to exchange a batch failed, and the consequences for its remaining
//! requests.

use crate::observer::Refusal;
use crate::pool::OpenConnection;
use loadline_reactor::{Host, Shortage};
use loadline_record::ErrorKind;
use loadline_transport::{Blocked, DialError, DialPhase, is_tls_error};
use loadline_wire::Malformed;
use loadline_wire::h2::ErrorCode;
use std::io;

/// The reason why a batch did not get all its responses in one attempt.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The connection, which had served before, ended without a byte of the next response. The
    /// caller has to determine whether the remaining requests may be sent again; if not, they fail
    /// with this failure.
    Ended(Failure),
    /// The server has closed the connection and read nothing of the remaining requests, or
    /// announced that it processes none of them; they are sent again.
    ClosedByServer,
    /// The server reported the remaining requests as unprocessed; they may be sent again.
    Unprocessed,
    /// The remaining requests have failed.
    Failed(Failure),
}

#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
    /// The system's error number, if there is one.
    pub(crate) os_error: Option<i32>,
    /// The server's error code of HTTP/2, if there is one.
    pub(crate) code: Option<ErrorCode>,
    /// The rule of the plan that blocks the exchange, if that is the reason.
    pub(crate) blocked: Option<Box<Blocked>>,
}

impl Failure {
    pub(crate) fn new(kind: ErrorKind, text: impl ToString) -> Self {
        Failure {
            kind,
            text: text.to_string(),
            os_error: None,
            code: None,
            blocked: None,
        }
    }

    /// Creates the failure of a stream, or connection, that the server ended with this code of
    /// HTTP/2.
    pub(crate) fn given_up(kind: ErrorKind, text: String, code: ErrorCode) -> Self {
        Failure {
            code: Some(code),
            ..Failure::new(kind, text)
        }
    }

    /// Creates the failure of a response that its observer refused.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Failure::new(refusal.kind, refusal.reason)
    }

    /// Creates the failure of a response that was not complete in time.
    pub(crate) fn timeout() -> Self {
        let text = "no complete response within the timeout";
        Failure::new(ErrorKind::Timeout, text)
    }

    pub(crate) fn dial(error: &DialError) -> Self {
        let kind = match (error.shortage(), error.phase) {
            (Some(Shortage::Descriptors), _) => ErrorKind::Descriptors,
            (Some(Shortage::Ports), _) => ErrorKind::Ports,
            (None, DialPhase::Resolve) => ErrorKind::Resolve,
            (None, DialPhase::Connect | DialPhase::Tunnel) => ErrorKind::Connect,
            (None, DialPhase::Tls) => ErrorKind::Tls,
            (None, DialPhase::Http2) => ErrorKind::Protocol,
        };
        Failure {
            os_error: error.error.raw_os_error(),
            blocked: Blocked::of(&error.error).cloned().map(Box::new),
            ..Failure::new(kind, error)
        }
    }

    /// Creates the failure of an established connection.
    pub(crate) fn io(otherwise: ErrorKind, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut {
            return Failure::timeout();
        }
        let kind = if is_tls_error(error) {
            ErrorKind::Tls
        } else {
            otherwise
        };
        Failure {
            os_error: error.raw_os_error(),
            ..Failure::new(kind, error)
        }
    }
}

/// Classifies a failed operation: its consequence for the remaining requests of a batch.
pub(crate) fn broken_connection<H: Host>(
    open: &OpenConnection<H>,
    answering: bool,
    otherwise: ErrorKind,
    error: &io::Error,
) -> Broken {
    let closed = matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    );
    if closed && open.served > 0 && !answering {
        return Broken::Ended(Failure::io(otherwise, error));
    }
    Broken::Failed(Failure::io(otherwise, error))
}

pub(crate) fn protocol(malformed: Malformed) -> Broken {
    Broken::Failed(Failure::new(ErrorKind::Protocol, malformed))
}
