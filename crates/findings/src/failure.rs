//! The reasons of failed requests by kind of error, with advice.

use crate::advice;
use loadline_record::ErrorKind;
use loadline_units as units;
use std::time::Duration;

/// Returns the reason for failures of this kind and the advice, in one or two sentences. `example`
/// is the message of one such failure, `timeout` the time that the plan allows a request.
pub fn failure_advice(kind: ErrorKind, example: &str, timeout: Duration) -> String {
    let text = match kind {
        ErrorKind::Resolve => {
            "The name has no usable address. Check its spelling, or name an address with \
             --connect-to."
        }
        ErrorKind::Descriptors => {
            return advice::shortage(
                "This process had no file descriptor left",
                advice::DESCRIPTORS,
            );
        }
        ErrorKind::Ports => {
            return advice::shortage("This machine had no local port left", advice::PORTS);
        }
        ErrorKind::Connect => {
            "These connections could not be made. Check that the server listens at this address \
             and port, or use fewer connections (-c)."
        }
        ErrorKind::Tls if example.contains("client certificate") => {
            "Give a certificate that the server accepts with --cert, and its key with --key."
        }
        ErrorKind::Tls if example.contains("TLS alert") => {
            "The server aborted the handshake. Look in its log for the reason; it may require a \
             client certificate (--cert and --key)."
        }
        ErrorKind::Tls if example.contains("--insecure") => {
            "The TLS handshake failed. Do what its error says."
        }
        ErrorKind::Tls => {
            "The TLS handshake failed. Give the certificate authority with --cacert, or skip \
             verification with -k."
        }
        ErrorKind::Write => {
            "The connection broke while the request was being sent. Look in the server's log, and \
             check its limit on the size of requests."
        }
        // TLS servers end the connection so when they receive plain text.
        ErrorKind::Read if example.contains("before a response began") => {
            "The connection ended before a response began. If the port speaks TLS, write https://; \
             otherwise look in the server's log for crashes, restarts and limits on connections."
        }
        ErrorKind::Read => {
            "The connection ended before the response was complete. Look in the server's log for \
             crashes, restarts and limits on connections."
        }
        ErrorKind::Protocol => {
            "The data received was not an HTTP response. Check the URL's scheme and port, and \
             proxies on the way to the server."
        }
        ErrorKind::StreamReset => {
            "The server reset these requests' streams. Look in its log for the reason that goes \
             with the code."
        }
        ErrorKind::GoAway => {
            "The server gave up the connection that these requests were on. Look in its log for \
             the reason that goes with the code."
        }
        ErrorKind::Redirect => {
            "The redirects led nowhere, or in a circle. Open the URL in a browser, or raise \
             --follow-redirects."
        }
        ErrorKind::Challenge => {
            "The server asked for a digest in a way that has no answer. Ask with curl --digest -v \
             what it says in WWW-Authenticate."
        }
        ErrorKind::Content => {
            "The body was not what its Content-Encoding says. Look at it with curl --compressed, \
             and at proxies on the way to the server."
        }
        ErrorKind::Timeout => return too_slow(timeout),
        ErrorKind::Aborted if example.contains("cancelled") => {
            "The script cancelled these requests before their responses were complete. If it did \
             so because they took too long, lower the load."
        }
        ErrorKind::Aborted => {
            "These requests were in flight when the run was cut off. Let it end by itself, or \
             interrupt it only once, so that their responses are awaited."
        }
        ErrorKind::Other => {
            "A later version of Loadline made this run and knows why. Report it with that version."
        }
    };
    text.to_owned()
}

fn too_slow(timeout: Duration) -> String {
    let allowed = units::duration(timeout);
    format!("The response was not complete within {allowed}. Lower the load, or raise --timeout.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ends_without_a_byte_may_speak_tls() {
        let advice = |example| failure_advice(ErrorKind::Read, example, Duration::from_secs(1));
        assert!(advice("the connection ended before a response began").contains("https://"));
        assert!(!advice("the connection ended within the response").contains("https://"));
    }

    #[test]
    fn only_a_run_that_was_cut_off_is_told_to_end_by_itself() {
        let advice = |example| failure_advice(ErrorKind::Aborted, example, Duration::ZERO);
        let cancelled = "the request was cancelled before its response was complete";
        assert!(advice(cancelled).starts_with("The script cancelled these requests"));
        assert!(advice("").contains("Let it end by itself"));
    }

    #[test]
    fn who_lacks_a_client_certificate_is_not_sent_for_an_authority() {
        let advice = |example| failure_advice(ErrorKind::Tls, example, Duration::from_secs(1));
        for example in [
            "the server requires a client certificate",
            "the server does not accept the client certificate (TLS alert UnknownCA)",
            "the server aborted with the TLS alert HandshakeFailure",
        ] {
            let advice = advice(example);
            assert!(
                advice.contains("--cert") && advice.contains("--key"),
                "{advice}"
            );
            assert!(!advice.contains("--cacert"), "{advice}");
        }
        assert!(advice("the server's certificate has expired").contains("--cacert"));
        let said = advice("it is an authority's (give it with --cacert, or use --insecure)");
        assert!(!said.contains("--cacert"), "{said}");
    }
}
