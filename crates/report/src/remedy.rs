//! What to do about failures of a kind.

use loadline_plan::Plan;
use loadline_record::ErrorKind;
use loadline_units as units;

/// One or two sentences: what it means that exchanges failed in this way, of which this is an
/// example, and what to do.
pub(crate) fn of(kind: ErrorKind, example: &str, plan: &Plan) -> String {
    let text = match kind {
        ErrorKind::Resolve => {
            "The name has no usable address. Check its spelling, or name an address with \
             --connect-to."
        }
        ErrorKind::Descriptors => {
            "This process had no file descriptor left, which says nothing of the target. Use fewer \
             connections (-c, --max-connections), or raise the limit of open files (ulimit -n)."
        }
        ErrorKind::Ports => {
            "This machine had no local port left, which says nothing of the target. Use keep-alive \
             or fewer connections (-c), widen net.ipv4.ip_local_port_range, or spread the \
             connections over more addresses (--local-address)."
        }
        ErrorKind::Connect => {
            "These connections could not be made. Check that the server listens at this address and \
             port, or use fewer connections (-c)."
        }
        ErrorKind::Tls if example.contains("client certificate") => {
            "Name a certificate that the server takes with --cert, and its key with --key."
        }
        ErrorKind::Tls if example.contains("TLS alert") => {
            "The server broke the handshake off. Look for the reason in its log; it may want a \
             client certificate (--cert and --key)."
        }
        ErrorKind::Tls => {
            "The TLS handshake failed. Name the authority to trust with --cacert, or take any \
             certificate with -k."
        }
        ErrorKind::Write => {
            "The connection broke while the request was being sent. Look in the server's log for \
             the largest request it takes."
        }
        ErrorKind::Read => {
            "The connection ended before the answer was whole. Look in the server's log for \
             crashes, restarts and limits on connections."
        }
        ErrorKind::Protocol => {
            "What came was not an HTTP/1.1 answer. Check the URL's scheme and port, and what \
             stands between here and the server."
        }
        ErrorKind::Timeout => return timeout(plan),
        ErrorKind::Aborted => {
            "These were in flight when the run was stopped at once. Let it end by itself, or \
             interrupt it only once, to have them answered."
        }
    };
    text.to_owned()
}

fn timeout(plan: &Plan) -> String {
    let allowed = units::duration(plan.connection.timeout);
    format!("The answer was not whole within {allowed}. Lower the load, or raise --timeout.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn who_lacks_a_client_certificate_is_not_sent_for_an_authority() {
        let plan = samples::steady().plan;
        let of = |example| of(ErrorKind::Tls, example, &plan);
        for example in [
            "the server wants a client certificate",
            "the server does not accept the client certificate (TLS alert UnknownCA)",
            "the server broke off with the TLS alert HandshakeFailure",
        ] {
            let remedy = of(example);
            assert!(
                remedy.contains("--cert") && remedy.contains("--key"),
                "{remedy}"
            );
            assert!(!remedy.contains("--cacert"), "{remedy}");
        }
        assert!(of("the server's certificate has expired").contains("--cacert"));
    }
}
