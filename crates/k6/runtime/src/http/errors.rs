//! Failures of requests, with k6's messages and error codes.

use super::go_url::quoted;
use super::target::Unsendable;
use loadline_engine::{Blocked, ComposeError};
use loadline_record::ErrorKind;
use loadline_wire::InvalidRequest;
use loadline_wire::h2::ErrorCode;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use url::Url;

/// A failure of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestFailure {
    /// The value of `Response.error`, and of the tag `error`.
    pub(crate) short: String,
    /// The value of `Response.error_code`.
    pub(crate) code: u16,
    /// The message that is logged or thrown.
    pub(crate) whole: String,
}

/// Error numbers of the system with messages of their own.
mod errno {
    pub(super) const EPIPE: i32 = 32;
    pub(super) const ECONNRESET: i32 = 104;
    pub(super) const ETIMEDOUT: i32 = 110;
    pub(super) const ECONNREFUSED: i32 = 111;
}

/// A failed exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed<'a> {
    /// The kind of error.
    pub(crate) kind: ErrorKind,
    /// The engine's message.
    pub(crate) reason: &'a str,
    /// The error number of the system.
    pub(crate) os_error: Option<i32>,
    /// The server's error code of HTTP/2.
    pub(crate) code: Option<ErrorCode>,
    /// True if it failed after the head of the response.
    pub(crate) is_begun: bool,
    /// The address that was dialled.
    pub(crate) remote: Option<SocketAddr>,
    /// The rule of the options that blocked the request.
    pub(crate) blocked: Option<&'a Blocked>,
}

/// Returns k6's failure for a failed exchange.
pub(crate) fn of_exchange(failed: Failed<'_>, method: &str, url: &Url) -> RequestFailure {
    let (code, short, go) = words(failed, url);
    RequestFailure {
        short,
        code,
        // Go names the request until it has returned the response, whose body is read after that.
        whole: match failed.is_begun {
            true => go,
            false => of_request(method, url.as_str(), &go),
        },
    }
}

/// Returns k6's failure for a request of which nothing could be sent.
pub(crate) fn of_unsent(problem: &Unsendable, method: &str, url: &str) -> RequestFailure {
    let words = problem.to_string();
    let whole = of_request(method, url, &words);
    let (code, short) = match problem {
        Unsendable::Name(_) => (1101, "lookup: no such host".to_owned()),
        Unsendable::NoHost | Unsendable::Scheme(_) => (1000, words),
    };
    RequestFailure { short, code, whole }
}

/// Returns k6's failure for a request that can't be encoded.
pub(crate) fn of_unwritten(
    problem: &ComposeError,
    (method, url): (&str, &str),
    fields: &[(&str, &str)],
) -> RequestFailure {
    let words = in_gos_words(problem, method, fields).unwrap_or_else(|| problem.to_string());
    let whole = of_request(method, url, &words);
    RequestFailure {
        short: words,
        code: 1000,
        whole,
    }
}

/// Returns Go's message for a request that can't be encoded, if Go has one.
fn in_gos_words(problem: &ComposeError, method: &str, fields: &[(&str, &str)]) -> Option<String> {
    let ComposeError::Request(problem) = problem else {
        return None;
    };
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_of_value = |letter: char| letter == '\t' || !letter.is_ascii_control();
    match problem {
        InvalidRequest::Method(_) => Some(format!("net/http: invalid method {}", quoted(method))),
        InvalidRequest::HeaderName(_) => {
            let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_of_name);
            let (name, _) = fields.iter().find(|(name, _)| !is_name(name))?;
            Some(format!(
                "net/http: invalid header field name {}",
                quoted(name)
            ))
        }
        InvalidRequest::HeaderValue { .. } => {
            let odd = |(_, value): &&(&str, &str)| !value.chars().all(is_of_value);
            let name = quoted(fields.iter().find(odd)?.0);
            Some(format!("net/http: invalid header field value for {name}"))
        }
        InvalidRequest::ContentLength { .. }
        | InvalidRequest::Encoding(_)
        | InvalidRequest::ForbiddenInHttp2(_)
        | InvalidRequest::Host(_)
        | InvalidRequest::LengthAndEncoding
        | InvalidRequest::NoPath(_)
        | InvalidRequest::NoTarget
        | InvalidRequest::NotChunked
        | InvalidRequest::Target(_) => None,
    }
}

/// Returns Go's message with the request before it.
fn of_request(method: &str, url: &str, words: &str) -> String {
    format!("{} \"{url}\": {words}", titled(method))
}

/// Returns k6's error code, its short message, and Go's message.
fn words(failed: Failed<'_>, url: &Url) -> (u16, String, String) {
    let host = url.host_str().unwrap_or_default();
    let error = |code, short: &str, go: String| (code, short.to_owned(), go);
    let dialled = || {
        let port = url.port_or_known_default().unwrap_or(80);
        let named = || format!("{host}:{port}");
        format!(
            "dial tcp {}",
            failed
                .remote
                .map_or_else(named, |remote| remote.to_string())
        )
    };
    if let Some(blocked) = failed.blocked {
        return of_blocked(blocked);
    }
    match (failed.kind, failed.os_error) {
        (ErrorKind::Timeout, _) => error(1050, "request timeout", "request timeout".to_owned()),
        (ErrorKind::Resolve, _) => error(
            1101,
            "lookup: no such host",
            format!("lookup {host}{}: no such host", dns_server()),
        ),
        (ErrorKind::Connect, Some(errno::ECONNREFUSED)) => error(
            1212,
            "dial: connection refused",
            format!("{}: connect: connection refused", dialled()),
        ),
        (ErrorKind::Connect, None | Some(errno::ETIMEDOUT)) => error(
            1211,
            "dial: i/o timeout",
            format!("{}: i/o timeout", dialled()),
        ),
        (ErrorKind::Connect | ErrorKind::Descriptors | ErrorKind::Ports, number) => {
            let system = number.map(std::io::Error::from_raw_os_error);
            let text = system.map_or_else(|| failed.reason.to_owned(), |error| error.to_string());
            let go = format!("{}: connect: {text}", dialled());
            (
                1213,
                format!("dial: unknown errno `{}` on linux", number.unwrap_or(0)),
                go,
            )
        }
        (ErrorKind::Tls, _) => of_tls(failed.reason),
        (ErrorKind::Write, Some(errno::EPIPE)) => {
            error(1201, "write: broken pipe", "write: broken pipe".to_owned())
        }
        (ErrorKind::Read | ErrorKind::Write, Some(errno::ECONNRESET)) => error(
            1220,
            "read: connection reset by peer",
            "read: connection reset by peer".to_owned(),
        ),
        (ErrorKind::Read, None) if failed.is_begun => {
            error(1000, "unexpected EOF", "unexpected EOF".to_owned())
        }
        (ErrorKind::Read, None) => error(1000, "EOF", "EOF".to_owned()),
        (ErrorKind::StreamReset, _) => of_http2(1630, "stream error with", failed),
        (ErrorKind::GoAway, _) => of_http2(1610, "received GoAway with", failed),
        (ErrorKind::Content, _) => (1701, failed.reason.to_owned(), failed.reason.to_owned()),
        // k6 has no words of its own for what else there is.
        (
            ErrorKind::Read
            | ErrorKind::Write
            | ErrorKind::Protocol
            | ErrorKind::Redirect
            | ErrorKind::Challenge
            | ErrorKind::Aborted
            | ErrorKind::Other,
            _,
        ) => error(1000, failed.reason, failed.reason.to_owned()),
    }
}

/// Returns the failure for an error code of HTTP/2. k6's codes follow the order of HTTP/2's;
/// `unknown` is the one for unknown codes, before the first.
fn of_http2(unknown: u16, words: &str, failed: Failed<'_>) -> (u16, String, String) {
    let reason = failed.reason.to_owned();
    let Some(code) = failed.code else {
        return (unknown, reason.clone(), reason);
    };
    let named = ErrorCode::all().position(|known| known == code);
    let (number, name) = match (named, code.name()) {
        (Some(index), Some(name)) => (unknown + 1 + index as u16, name.to_owned()),
        _ => (unknown, format!("unknown error code {:#x}", code.0)),
    };
    (
        number,
        format!("http2: {words} http2 ErrCode {name}"),
        reason,
    )
}

/// Returns the DNS server in Go's wording: the first one of the system, or nothing if there is
/// none.
fn dns_server() -> &'static str {
    static SERVER: OnceLock<String> = OnceLock::new();
    SERVER.get_or_init(|| {
        let lines = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let server = lines.lines().find_map(|line| {
            let address = line.strip_prefix("nameserver")?.trim();
            address.parse::<IpAddr>().ok()
        });
        server.map_or_else(String::new, |server| {
            format!(" on {}", SocketAddr::new(server, 53))
        })
    })
}

fn of_blocked(blocked: &Blocked) -> (u16, String, String) {
    match blocked {
        Blocked::Host { host, pattern } => (
            1111,
            "hostname is blocked".to_owned(),
            format!("hostname ({host}) is in a blocked pattern ({pattern})"),
        ),
        Blocked::Address { address, range } => (
            1110,
            "ip is blacklisted".to_owned(),
            format!("IP ({address}) is in a blacklisted range ({range})"),
        ),
    }
}

/// Returns the failure for the message of a TLS failure.
fn of_tls(reason: &str) -> (u16, String, String) {
    let has_one_of = |texts: &[&str]| texts.iter().any(|text| reason.contains(text));
    if has_one_of(&[
        "no trusted authority signed the server's certificate",
        "this system has no trusted certificates",
    ]) {
        let go = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
        return (1310, "x509: unknown authority".to_owned(), go.to_owned());
    }
    if let Some(names) = names_of_certificate(reason) {
        return (
            1311,
            "x509: certificate doesn't match hostname".to_owned(),
            format!("tls: failed to verify certificate: x509: {names}"),
        );
    }
    let reason = in_k6s_options(reason);
    (1300, format!("tls: {reason}"), format!("tls: {reason}"))
}

/// Returns Go's words for a certificate of another name, if the message is about one.
fn names_of_certificate(reason: &str) -> Option<String> {
    if let Some((_, names)) = reason.split_once("the server's certificate is for ") {
        let (names, host) = names.rsplit_once(", not for ")?;
        return Some(format!("certificate is valid for {names}, not {host}"));
    }
    let (_, host) = reason.split_once("has no subjectAltName, so it is not for ")?;
    Some(format!(
        "certificate is not valid for any names, but wanted to match {host}"
    ))
}

/// Replaces Loadline's options in the advice of a message by k6's.
fn in_k6s_options(reason: &str) -> String {
    reason
        .replace(
            "give this one with --cacert",
            "name this one in SSL_CERT_FILE",
        )
        .replace("--insecure", "--insecure-skip-tls-verify")
}

/// Returns `Get` for `GET`, as Go writes methods.
fn titled(method: &str) -> String {
    let lower = method.to_ascii_lowercase();
    let mut letters = lower.chars();
    match letters.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + letters.as_str(),
        None => "Get".to_owned(),
    }
}

/// Returns the failure of a request that could not be made at all, with its code.
pub(crate) fn unmade(code: u16, text: &str) -> RequestFailure {
    RequestFailure {
        short: text.to_owned(),
        code,
        whole: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(kind: ErrorKind, os_error: Option<i32>) -> RequestFailure {
        let failed = Failed {
            kind,
            reason: "why",
            os_error,
            code: None,
            is_begun: false,
            remote: "127.0.0.1:1".parse().ok(),
            blocked: None,
        };
        let url = Url::parse("http://127.0.0.1:1/").expect("a URL");
        of_exchange(failed, "GET", &url)
    }

    #[test]
    fn advice_about_certificates_names_what_k6_has() {
        let (code, short, _) =
            of_tls("not a server's (give this one with --cacert, or use --insecure)");
        assert_eq!(code, 1300);
        assert!(
            short.contains("SSL_CERT_FILE, or use --insecure-skip-tls-verify)"),
            "{short}"
        );
        assert!(!short.contains("--cacert"), "{short}");
    }

    #[test]
    fn a_certificate_of_another_name_is_refused_in_gos_words() {
        let begin = "TLS handshake with 127.0.0.1:1: the server's certificate";
        let (code, _, whole) = of_tls(&format!("{begin} is for a.test, ::1, not for b.test"));
        let words = "tls: failed to verify certificate: x509: certificate is valid for a.test, \
                     ::1, not b.test";
        assert_eq!((code, whole.as_str()), (1311, words));
        let unnamed = format!("{begin} has no subjectAltName, so it is not for b.test");
        let (code, _, whole) = of_tls(&unnamed);
        assert_eq!(code, 1311);
        assert!(whole.ends_with("but wanted to match b.test"), "{whole}");
    }

    // The messages of k6 1.8.1.
    #[test]
    fn failures_have_k6s_words_and_numbers() {
        let refused = wrong(ErrorKind::Connect, Some(111));
        assert_eq!(
            (refused.code, refused.short.as_str()),
            (1212, "dial: connection refused")
        );
        assert_eq!(
            refused.whole,
            "Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused"
        );
        for (kind, os_error, code, short) in [
            (ErrorKind::Timeout, None, 1050, "request timeout"),
            (ErrorKind::Resolve, None, 1101, "lookup: no such host"),
            (ErrorKind::Connect, None, 1211, "dial: i/o timeout"),
            (
                ErrorKind::Read,
                Some(104),
                1220,
                "read: connection reset by peer",
            ),
            (ErrorKind::Write, Some(32), 1201, "write: broken pipe"),
            (ErrorKind::Read, None, 1000, "EOF"),
            (ErrorKind::Protocol, None, 1000, "why"),
        ] {
            let wrong = wrong(kind, os_error);
            assert_eq!(
                (wrong.code, wrong.short.as_str()),
                (code, short),
                "{kind:?}"
            );
        }
    }

    // The messages of k6 1.8.1.
    #[test]
    fn codes_of_http2_have_k6s_numbers() {
        let error = |kind, code| {
            let failed = Failed {
                kind,
                reason: "why",
                os_error: None,
                code: Some(ErrorCode(code)),
                is_begun: true,
                remote: None,
                blocked: None,
            };
            let url = Url::parse("https://127.0.0.1:1/").expect("a URL");
            let wrong = of_exchange(failed, "GET", &url);
            (wrong.code, wrong.short)
        };
        for (kind, code, number, words) in [
            (
                ErrorKind::StreamReset,
                0,
                1631,
                "stream error with http2 ErrCode NO_ERROR",
            ),
            (
                ErrorKind::StreamReset,
                2,
                1633,
                "stream error with http2 ErrCode INTERNAL_ERROR",
            ),
            (
                ErrorKind::StreamReset,
                7,
                1638,
                "stream error with http2 ErrCode REFUSED_STREAM",
            ),
            (
                ErrorKind::StreamReset,
                8,
                1639,
                "stream error with http2 ErrCode CANCEL",
            ),
            (
                ErrorKind::GoAway,
                0,
                1611,
                "received GoAway with http2 ErrCode NO_ERROR",
            ),
        ] {
            assert_eq!(error(kind, code), (number, format!("http2: {words}")));
        }
        assert_eq!(error(ErrorKind::StreamReset, 0xdead_beef).0, 1630);
    }
}
