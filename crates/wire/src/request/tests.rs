use super::*;

const GET: RequestHead<'_> = RequestHead {
    method: "GET",
    target: "/",
    host: "example.org",
    headers: &[],
    body: None,
    keepalive: true,
    version: Version::Http11,
};

fn written(head: &RequestHead<'_>) -> String {
    let mut out = Vec::new();
    write_request(head, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn refused(head: &RequestHead<'_>) -> InvalidRequest {
    let mut out = b"before".to_vec();
    let invalid = write_request(head, &mut out).unwrap_err();
    assert_eq!(out, b"before");
    invalid
}

#[test]
fn the_least_request_has_a_host_alone() {
    assert_eq!(written(&GET), "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
}

#[test]
fn requests_are_appended() {
    let mut out = Vec::new();
    write_request(&GET, &mut out).unwrap();
    write_request(&GET, &mut out).unwrap();
    assert_eq!(out, written(&GET).repeat(2).as_bytes());
}

#[test]
fn the_version_stands_in_the_request_line() {
    let head = RequestHead {
        version: Version::Http10,
        ..GET
    };
    assert_eq!(
        written(&head),
        "GET / HTTP/1.0\r\nHost: example.org\r\n\r\n"
    );
}

#[test]
fn absolute_targets_and_authorities_are_written_as_they_are() {
    let proxied = RequestHead {
        target: "http://example.org/a?b=c",
        ..GET
    };
    assert!(written(&proxied).starts_with("GET http://example.org/a?b=c HTTP/1.1\r\n"));
    let tunnel = RequestHead {
        method: "CONNECT",
        target: "example.org:443",
        ..GET
    };
    assert!(written(&tunnel).starts_with("CONNECT example.org:443 HTTP/1.1\r\n"));
}

#[test]
fn fields_keep_their_order_and_duplicates() {
    let headers = [("B", "1"), ("a", "2"), ("B", "1"), ("Empty", "")];
    let head = RequestHead {
        headers: &headers,
        ..GET
    };
    assert_eq!(
        written(&head),
        "GET / HTTP/1.1\r\nHost: example.org\r\nB: 1\r\na: 2\r\nB: 1\r\nEmpty: \r\n\r\n"
    );
}

#[test]
fn a_given_host_stays_in_its_place() {
    let headers = [("A", "1"), ("hOST", "other"), ("B", "2")];
    let head = RequestHead {
        headers: &headers,
        ..GET
    };
    assert_eq!(
        written(&head),
        "GET / HTTP/1.1\r\nA: 1\r\nhOST: other\r\nB: 2\r\n\r\n"
    );
}

#[test]
fn an_empty_host_is_written_empty() {
    assert_eq!(
        written(&RequestHead { host: "", ..GET }),
        "GET / HTTP/1.1\r\nHost: \r\n\r\n"
    );
}

#[test]
fn a_body_brings_its_length() {
    let head = RequestHead {
        method: "POST",
        body: Some(b"a\0\r\n"),
        headers: &[("A", "1")],
        ..GET
    };
    assert_eq!(
        written(&head),
        "POST / HTTP/1.1\r\nHost: example.org\r\nA: 1\r\nContent-Length: 4\r\n\r\na\0\r\n"
    );
    let empty = RequestHead {
        body: Some(b""),
        ..head
    };
    assert!(written(&empty).ends_with("A: 1\r\nContent-Length: 0\r\n\r\n"));
}

#[test]
fn close_is_said_last_unless_a_connection_field_is_given() {
    let head = RequestHead {
        keepalive: false,
        body: Some(b"x"),
        ..GET
    };
    assert!(written(&head).ends_with("Content-Length: 1\r\nConnection: close\r\n\r\nx"));
    let given = RequestHead {
        headers: &[("connection", "Keep-Alive")],
        ..head
    };
    assert_eq!(written(&given).matches("onnection").count(), 1);
}

#[test]
fn bytes_beyond_ascii_pass_in_target_and_value() {
    let head = RequestHead {
        target: "/ä",
        headers: &[("A", "ö\t€")],
        ..GET
    };
    assert_eq!(
        written(&head),
        "GET /ä HTTP/1.1\r\nHost: example.org\r\nA: ö\t€\r\n\r\n"
    );
}

#[test]
fn no_part_may_have_line_ends_or_nul() {
    for bad in ["a\rb", "a\nb", "a\r\nb", "a\0b"] {
        let shown = Excerpt::of(bad.as_bytes());
        let head = RequestHead { method: bad, ..GET };
        assert_eq!(refused(&head), InvalidRequest::Method(shown.clone()));
        let head = RequestHead { target: bad, ..GET };
        assert_eq!(refused(&head), InvalidRequest::Target(shown.clone()));
        let head = RequestHead { host: bad, ..GET };
        assert_eq!(refused(&head), InvalidRequest::Host(shown.clone()));
        let head = RequestHead {
            headers: &[("A", "1"), (bad, "x")],
            ..GET
        };
        assert_eq!(refused(&head), InvalidRequest::HeaderName(shown.clone()));
        let head = RequestHead {
            headers: &[("A", "1"), ("B", bad)],
            ..GET
        };
        let name = Excerpt::of(b"B");
        assert_eq!(
            refused(&head),
            InvalidRequest::HeaderValue { name, value: shown }
        );
    }
}

#[test]
fn names_and_methods_are_tokens() {
    for bad in ["", "a b", "a:", "(a)", "a\"", "ä", "a/b", "a\x7f"] {
        assert!(matches!(
            refused(&RequestHead { method: bad, ..GET }),
            InvalidRequest::Method(_)
        ));
        let head = RequestHead {
            headers: &[(bad, "x")],
            ..GET
        };
        assert!(matches!(refused(&head), InvalidRequest::HeaderName(_)));
    }
    for good in ["a", "M-SEARCH", "X_1.~|!#$%&'*+^`"] {
        let head = RequestHead {
            method: good,
            headers: &[(good, "x")],
            ..GET
        };
        assert!(written(&head).contains(&format!("\r\n{good}: x\r\n")));
    }
}

#[test]
fn targets_and_hosts_have_no_blanks() {
    assert_eq!(
        refused(&RequestHead { target: "", ..GET }),
        InvalidRequest::NoTarget
    );
    for bad in ["/a b", " /", "/\t", "/\x7f"] {
        assert!(matches!(
            refused(&RequestHead { target: bad, ..GET }),
            InvalidRequest::Target(_)
        ));
        assert!(matches!(
            refused(&RequestHead { host: bad, ..GET }),
            InvalidRequest::Host(_)
        ));
    }
}

#[test]
fn refusals_are_sentences_that_say_what_to_do() {
    let head = RequestHead {
        target: "/a b",
        ..GET
    };
    assert_eq!(
        refused(&head).to_string(),
        "The target “/a b” has a space or a control character: percent-encode it, a space as %20."
    );
    let head = RequestHead {
        headers: &[("Cookie", "a\r\nb")],
        ..GET
    };
    assert_eq!(
        refused(&head).to_string(),
        r"The value of header “Cookie” has a control character, which must be taken out: “a\r\nb”"
    );
}

#[test]
fn methods_that_have_bodies_say_when_they_have_none() {
    for (method, length) in [
        ("POST", "Content-Length: 0\r\n"),
        ("PUT", "Content-Length: 0\r\n"),
        ("PATCH", "Content-Length: 0\r\n"),
        ("DELETE", ""),
        ("OPTIONS", ""),
        ("post", ""),
    ] {
        let head = RequestHead { method, ..GET };
        let expected = format!("{method} / HTTP/1.1\r\nHost: example.org\r\n{length}\r\n");
        assert_eq!(written(&head), expected);
    }
}

const CHUNKS: &[u8] = b"3\r\nabc\r\n0\r\n\r\n";

#[test]
fn framing_that_is_right_is_written_as_given() {
    for (field, body) in [
        (("content-length", "3"), &b"abc"[..]),
        (("Content-Length", " 03 "), b"abc"),
        (("Content-Length", "0"), b""),
        (("Transfer-Encoding", "chunked"), CHUNKS),
        (("transfer-encoding", "gzip, Chunked"), CHUNKS),
        (("Transfer-Encoding", "chunked"), b"0\r\nTrailer: 1\r\n\r\n"),
    ] {
        let head = RequestHead {
            method: "POST",
            headers: &[field],
            body: Some(body),
            ..GET
        };
        let text = written(&head).to_ascii_lowercase();
        assert_eq!(
            text.matches("content-length").count(),
            usize::from(field.0.len() == 14)
        );
        assert!(text.contains(&format!("{}: {}\r\n", field.0, field.1).to_ascii_lowercase()));
    }
}

#[test]
fn framing_that_is_wrong_is_refused() {
    let (length, coding) = ("Content-Length", "Transfer-Encoding");
    let of_length = |given: &str, length| InvalidRequest::ContentLength {
        given: Excerpt::of(given.as_bytes()),
        length,
    };
    for (fields, body, expected) in [
        (vec![(length, "4")], Some(&b"abc"[..]), of_length("4", 3)),
        (vec![(length, "+3")], Some(b"abc"), of_length("+3", 3)),
        (vec![(length, "")], Some(b""), of_length("", 0)),
        (vec![(length, "3")], None, of_length("3", 0)),
        (
            vec![(length, "3"), ("content-length", "5")],
            Some(b"abc"),
            of_length("5", 3),
        ),
        (
            vec![(length, "3"), (coding, "chunked")],
            Some(b"abc"),
            InvalidRequest::LengthAndEncoding,
        ),
        (
            vec![(coding, "gzip")],
            Some(b"abc"),
            InvalidRequest::Encoding(Excerpt::of(b"gzip")),
        ),
        (
            vec![(coding, "chunked")],
            Some(b"abc"),
            InvalidRequest::NotChunked,
        ),
        (vec![(coding, "chunked")], None, InvalidRequest::NotChunked),
        (
            vec![(coding, "chunked")],
            Some(b"0\r\n\r\nx"),
            InvalidRequest::NotChunked,
        ),
    ] {
        let head = RequestHead {
            headers: &fields,
            body,
            ..GET
        };
        assert_eq!(refused(&head), expected);
    }
}
