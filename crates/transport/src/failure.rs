//! Messages for failures of TLS; each suggests what to do.

use rustls::{
    AlertDescription, CertificateError, InconsistentKeys, InvalidMessage, PeerIncompatible,
};
use std::fmt;
use std::io;

/// A failure of TLS itself, as opposed to one of the socket below it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TlsFailure(pub(crate) rustls::Error);

impl TlsFailure {
    /// Unwraps a TLS failure that the TLS writer has wrapped in an I/O error.
    pub(crate) fn within(error: io::Error) -> io::Error {
        match error.downcast::<rustls::Error>() {
            Ok(inner) => TlsFailure(inner).into(),
            Err(error) => error,
        }
    }
}

impl From<TlsFailure> for io::Error {
    /// Uses [`io::ErrorKind::InvalidData`] if the received data is not TLS.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library's errors, and it may add more"
    )]
    fn from(failure: TlsFailure) -> Self {
        let kind = match failure.0 {
            rustls::Error::InvalidMessage(_) => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, failure)
    }
}

impl std::error::Error for TlsFailure {}

impl fmt::Display for TlsFailure {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library's errors, and it may add more"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use rustls::Error as E;
        match &self.0 {
            E::InvalidCertificate(error) => write_certificate(error, f),
            E::AlertReceived(alert) => write_alert(*alert, f),
            E::InvalidMessage(InvalidMessage::InvalidContentType) => {
                f.write_str("the server's response is not TLS")
            }
            E::InvalidMessage(what) => write!(f, "the server's response is not TLS ({what:?})"),
            E::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
                f.write_str("the server speaks neither TLS 1.2 nor 1.3")
            }
            E::NoApplicationProtocol => {
                f.write_str("the server supports none of the offered versions of HTTP")
            }
            E::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                f.write_str("the key belongs to another certificate")
            }
            E::General(text) => f.write_str(text),
            other => other.fmt(f),
        }
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's errors, and it may add more"
)]
fn write_certificate(error: &CertificateError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use CertificateError as E;
    match error {
        E::UnknownIssuer | E::BadSignature => {
            f.write_str("no trusted authority signed the server's certificate")
        }
        E::Expired | E::ExpiredContext { .. } => {
            f.write_str("the server's certificate has expired")
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            f.write_str("the server's certificate is not valid yet by this machine's clock")
        }
        E::NotValidForNameContext {
            expected,
            presented,
        } => write_names(&expected.to_str(), presented, f),
        error if is_authoritys(error) => f.write_str(
            "the server's certificate is that of an authority, not of a server (make one with \
             CA:FALSE, give this one with --cacert, or use --insecure)",
        ),
        error if is_of_old_version(error) => f.write_str(
            "the server's certificate is of X.509 version 1, which names no host (make one with a \
             subjectAltName, or use --insecure)",
        ),
        other => write!(f, "the server's certificate is not accepted: {other}"),
    }
}

fn write_names(expected: &str, presented: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if presented.is_empty() {
        return write!(
            f,
            "the server's certificate has no subjectAltName, so it is not for {expected}"
        );
    }
    let names: Vec<_> = presented.iter().map(|name| bare(name)).collect();
    let names = names.join(", ");
    write!(
        f,
        "the server's certificate is for {names}, not for {expected}"
    )
}

/// Returns `shop.example` for `DnsName("shop.example")`, the form in which the library prints the
/// names of a certificate.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"')
}

/// True if the server supports none of the versions of HTTP that were offered by ALPN.
pub(crate) fn is_no_protocol(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(
        inner,
        Some(TlsFailure(
            rustls::Error::NoApplicationProtocol
                | rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)
        ))
    )
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's alerts, and it may add more"
)]
fn write_alert(alert: AlertDescription, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match alert {
        AlertDescription::CertificateRequired => {
            f.write_str("the server requires a client certificate")
        }
        refusal if refuses_certificate(refusal) => write!(
            f,
            "the server does not accept the client certificate (TLS alert {refusal:?})"
        ),
        AlertDescription::NoApplicationProtocol => {
            f.write_str("the server supports none of the offered versions of HTTP")
        }
        AlertDescription::ProtocolVersion => {
            f.write_str("the server speaks neither TLS 1.2 nor 1.3")
        }
        other => write!(f, "the server aborted with the TLS alert {other:?}"),
    }
}

/// True if a certificate was refused because it is an authority's.
pub(crate) fn is_authority_as_server(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(error) if is_authoritys(error))
}

fn is_authoritys(error: &CertificateError) -> bool {
    is_other(error, "CaUsedAsEndEntity")
}

fn is_of_old_version(error: &CertificateError) -> bool {
    is_other(error, "UnsupportedCertVersion")
}

/// True if the error has this text, for errors that the library has no variant for.
fn is_other(error: &CertificateError, text: &str) -> bool {
    matches!(error, CertificateError::Other(reason) if reason.to_string() == text)
}

/// True if a server's alert is about the client's certificate, or its absence (RFC 8446, section
/// 6.2).
fn refuses_certificate(alert: AlertDescription) -> bool {
    use AlertDescription as A;
    matches!(
        alert,
        A::AccessDenied
            | A::BadCertificate
            | A::CertificateExpired
            | A::CertificateRequired
            | A::CertificateRevoked
            | A::CertificateUnknown
            | A::UnknownCA
            | A::UnsupportedCertificate
    )
}

/// The subject of a server's complaint about the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The client's certificate, or its absence.
    Certificate,
    /// Anything else; the alert describes it in a word at most.
    Other,
}

/// Returns the subject of the server's complaint, if an operation failed because of one.
pub fn complaint(error: &io::Error) -> Option<Complaint> {
    match error.get_ref()?.downcast_ref()? {
        TlsFailure(rustls::Error::AlertReceived(alert)) if refuses_certificate(*alert) => {
            Some(Complaint::Certificate)
        }
        TlsFailure(rustls::Error::AlertReceived(_)) => Some(Complaint::Other),
        _ => None,
    }
}

/// True if an operation failed in TLS rather than in the socket below it.
pub fn is_tls_error(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<TlsFailure>())
}
