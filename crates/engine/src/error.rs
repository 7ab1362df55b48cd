//! Errors at the start of a run.

use crate::lost::WorkerFailure;
use loadline_findings::advice;
use loadline_metrics::InvalidName;
use loadline_reactor::{OpenFilesError, Shortage};
use loadline_transport::{Complaint, DialError, DialPhase, ResolveError, TlsSetupError, complaint};
use loadline_wire::InvalidRequest;
use std::io;

/// The reason why a run could not start; nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A name has no usable address.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The TLS settings cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
    /// More open files would be needed than the limit allows.
    #[error(transparent)]
    OpenFiles(#[from] OpenFilesError),
    /// A request cannot be written.
    #[error("the request for {url} cannot be sent: {problem}")]
    Request {
        /// The request's URL.
        url: String,
        /// The defect of the request.
        problem: InvalidRequest,
    },
    /// A request's name cannot be used in reports.
    #[error("a request has no usable name: {problem}")]
    Name {
        /// The defect of the name.
        problem: InvalidName,
    },
    /// No connection could be opened.
    #[error("{}", unreachable(error))]
    Unreachable {
        /// The first failure.
        error: DialError,
    },
    /// Another process could not begin its part, for this reason.
    #[error("{0}")]
    Remote(String),
    /// A worker was lost before the load began.
    #[error(transparent)]
    Worker(#[from] WorkerFailure),
    /// The event loop or a thread could not be set up.
    #[error("the system refused a resource that a worker needs: {0}")]
    System(#[from] io::Error),
}

/// The explanation for a resource of this machine that is exhausted.
const OURS: &str = "this machine has too few of them, not the target.";

/// Returns the error of a connection that could not be opened, with advice unless the error
/// contains it.
pub(crate) fn unreachable(error: &DialError) -> String {
    let text = error.to_string();
    match text.contains("--insecure") {
        true => text,
        false => format!("{text}: {}", hint(error)),
    }
}

/// Returns advice for a connection that could not be opened.
fn hint(error: &DialError) -> String {
    match complaint(&error.error) {
        Some(Complaint::Certificate) => {
            return "give one that it accepts with --cert, and its key with --key".to_owned();
        }
        Some(Complaint::Other) => {
            return "look in the server's log for the reason; it may require a client certificate \
                    (--cert and --key)"
                .to_owned();
        }
        None => {}
    }
    match error.shortage() {
        Some(Shortage::Ports) => return format!("{OURS} {}", advice::PORTS),
        Some(Shortage::Descriptors) => return format!("{OURS} {}", advice::DESCRIPTORS),
        None => {}
    }
    let hint = match (error.phase, error.error.kind()) {
        (
            DialPhase::Tls,
            io::ErrorKind::TimedOut | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData,
        ) => "check that the port speaks TLS, or use http://",
        (DialPhase::Tunnel, _) => "see --proxy",
        (DialPhase::Http2, _) => "use --http 1.1",
        (DialPhase::Tls, _) => {
            "check the certificate, give its authority with --cacert, or accept any with --insecure"
        }
        (_, io::ErrorKind::ConnectionRefused) => "start the server or correct the address",
        (_, io::ErrorKind::TimedOut) => {
            "check the address and firewalls, or allow more with --connect-timeout"
        }
        (_, io::ErrorKind::NotFound) => "correct the path of the socket or start the server",
        (_, io::ErrorKind::PermissionDenied) => "allow this user to use the socket or address",
        (_, io::ErrorKind::AddrNotAvailable) => "see --local-address",
        (_, io::ErrorKind::InvalidInput) => {
            "give a --local-address of the version that the server has"
        }
        _ => "check that the server can be reached from here",
    };
    hint.to_owned()
}
