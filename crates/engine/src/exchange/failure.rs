//! Why an attempt to exchange a batch broke off, and what that means for what is left of it.

use crate::behaviour::Refusal;
use crate::pool::OpenConnection;
use loadline_reactor::{Host, Shortage};
use loadline_record::ErrorKind;
use loadline_transport::{Blocked, DialError, DialPhase, is_tls_error};
use loadline_wire::Malformed;
use loadline_wire::h2::ErrorCode;
use std::io;

/// Why a batch did not get all its responses in one attempt.
pub(super) enum Broken {
    /// The connection, which had served before, ended without a byte of the next response. Whether
    /// what is left may be sent once more has to be found out; if not, it has failed so.
    Ended(Failure),
    /// The server has closed the connection and read nothing of what is left, or said that it
    /// processes nothing of it, which is sent once more.
    ClosedByServer,
    /// The server says that it did not look at what is left, which may be sent once more.
    Unprocessed,
    /// What is left has failed.
    Failed(Failure),
}

#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(super) kind: ErrorKind,
    pub(super) text: String,
    /// The system's number for it, if the system told.
    pub(super) os_error: Option<i32>,
    /// The server's number for it over HTTP/2, if the server told.
    pub(super) code: Option<ErrorCode>,
    /// What the plan blocks, if it failed for that.
    pub(super) blocked: Option<Box<Blocked>>,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, text: impl ToString) -> Self {
        Failure {
            kind,
            text: text.to_string(),
            os_error: None,
            code: None,
            blocked: None,
        }
    }

    /// The server gave up its stream, or its connection, with this code of HTTP/2.
    pub(super) fn given_up(kind: ErrorKind, text: String, code: ErrorCode) -> Self {
        Failure {
            code: Some(code),
            ..Failure::new(kind, text)
        }
    }

    /// Its observer does not take the response.
    pub(super) fn refused(refusal: Refusal) -> Self {
        Failure::new(refusal.kind, refusal.reason)
    }

    /// The response was not whole in time.
    pub(super) fn timeout() -> Self {
        let text = "no complete response within the timeout";
        Failure::new(ErrorKind::Timeout, text)
    }

    pub(super) fn dial(error: &DialError) -> Self {
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

    /// A failure of a connection that was up.
    pub(super) fn io(otherwise: ErrorKind, error: &io::Error) -> Self {
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

/// What a failed operation means for what is left of a batch.
pub(super) fn broken_connection<H: Host>(
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

pub(super) fn protocol(malformed: Malformed) -> Broken {
    Broken::Failed(Failure::new(ErrorKind::Protocol, malformed))
}
