//! The messages about connections that can't be opened.

use crate::failure::TlsFailure;
use crate::{DialError, DialPhase};
use loadline_reactor::Address;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

fn failures(phase: DialPhase, errors: impl IntoIterator<Item = io::Error>) -> String {
    let texts = errors.into_iter().map(|error| {
        let address = Address::Ip(([192, 0, 2, 1], 443).into());
        let error = DialError {
            phase,
            address: Some(address),
            error,
        };
        error.to_string()
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn connects() {
    let os = io::Error::from_raw_os_error;
    let errors = [
        ErrorKind::TimedOut.into(),
        os(libc::ETIMEDOUT),
        os(libc::ECONNREFUSED),
        os(libc::EADDRNOTAVAIL),
        io::Error::new(
            ErrorKind::AddrNotAvailable,
            "192.0.2.9 is not an address of this machine",
        ),
        os(libc::ENETUNREACH),
        os(libc::EMFILE),
        os(libc::EACCES),
    ];
    insta::assert_snapshot!(failures(DialPhase::Connect, errors), @r"
    connecting to 192.0.2.1:443: no response within the timeout
    connecting to 192.0.2.1:443: no response within the timeout
    connecting to 192.0.2.1:443: Connection refused (os error 111)
    connecting to 192.0.2.1:443: no free local port
    connecting to 192.0.2.1:443: 192.0.2.9 is not an address of this machine
    connecting to 192.0.2.1:443: Network is unreachable (os error 101)
    connecting to 192.0.2.1:443: no free file descriptor
    connecting to 192.0.2.1:443: Permission denied (os error 13)
    ");
}

#[test]
fn a_unix_socket() {
    let error = DialError {
        phase: DialPhase::Connect,
        address: Some(Address::Unix(PathBuf::from("/run/server.sock"))),
        error: io::Error::from_raw_os_error(libc::ENOENT),
    };
    insta::assert_snapshot!(error, @"connecting to /run/server.sock: No such file or directory \
                                     (os error 2)");
}

#[test]
fn handshakes() {
    let errors = [
        Error::InvalidMessage(InvalidMessage::InvalidContentType),
        Error::InvalidMessage(InvalidMessage::MessageTooLarge),
        Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
        Error::NoApplicationProtocol,
        Error::AlertReceived(AlertDescription::NoApplicationProtocol),
        Error::AlertReceived(AlertDescription::ProtocolVersion),
        Error::AlertReceived(AlertDescription::CertificateRequired),
        Error::AlertReceived(AlertDescription::UnknownCA),
        Error::AlertReceived(AlertDescription::HandshakeFailure),
        Error::InvalidCertificate(CertificateError::UnknownIssuer),
        Error::InvalidCertificate(CertificateError::Expired),
        Error::InvalidCertificate(CertificateError::NotValidYet),
        Error::InvalidCertificate(CertificateError::NotValidForName),
        Error::InvalidCertificate(CertificateError::Revoked),
    ]
    .map(|error| TlsFailure(error).into());
    let sockets = [
        ErrorKind::TimedOut.into(),
        ErrorKind::UnexpectedEof.into(),
        io::Error::from_raw_os_error(libc::ECONNRESET),
    ];
    let all = errors.into_iter().chain(sockets);
    insta::assert_snapshot!(failures(DialPhase::Tls, all), @r"
    TLS handshake with 192.0.2.1:443: the server's response is not TLS
    TLS handshake with 192.0.2.1:443: the server's response is not TLS (MessageTooLarge)
    TLS handshake with 192.0.2.1:443: the server speaks neither TLS 1.2 nor 1.3
    TLS handshake with 192.0.2.1:443: the server supports none of the offered versions of HTTP
    TLS handshake with 192.0.2.1:443: the server supports none of the offered versions of HTTP
    TLS handshake with 192.0.2.1:443: the server speaks neither TLS 1.2 nor 1.3
    TLS handshake with 192.0.2.1:443: the server requires a client certificate
    TLS handshake with 192.0.2.1:443: the server does not accept the client certificate (TLS alert UnknownCA)
    TLS handshake with 192.0.2.1:443: the server aborted with the TLS alert HandshakeFailure
    TLS handshake with 192.0.2.1:443: no trusted authority signed the server's certificate
    TLS handshake with 192.0.2.1:443: the server's certificate has expired
    TLS handshake with 192.0.2.1:443: the server's certificate is not valid yet by this machine's clock
    TLS handshake with 192.0.2.1:443: the server's certificate is not accepted: NotValidForName
    TLS handshake with 192.0.2.1:443: the server's certificate is not accepted: Revoked
    TLS handshake with 192.0.2.1:443: no response within the timeout
    TLS handshake with 192.0.2.1:443: the server closed the connection
    TLS handshake with 192.0.2.1:443: Connection reset by peer (os error 104)
    ");
}
