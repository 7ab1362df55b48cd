//! Requests, their ends, and the errors of texts that are not requests.

use super::*;
use proptest::prelude::*;

fn ends(text: &str) -> Vec<usize> {
    let mut parts = Vec::new();
    check(text.as_bytes(), &mut parts).unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
    parts.iter().map(|part| part.end).collect()
}

fn refused(text: &str) -> String {
    let mut parts = Vec::new();
    let problem = check(text.as_bytes(), &mut parts).expect_err("no request");
    problem.to_string()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn a_text_is_cut_into_its_requests() {
    assert_eq!(ends(GET), [GET.len()]);
    assert_eq!(
        ends(&GET.repeat(3)),
        [GET.len(), 2 * GET.len(), 3 * GET.len()]
    );
    assert_eq!(ends("PURGE /x HTTP/1.0\n\n"), [19]);
}

#[test]
fn a_body_belongs_to_its_request() {
    let post = "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc";
    assert_eq!(
        ends(&format!("{post}{GET}")),
        [post.len(), post.len() + GET.len()]
    );
    let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    assert_eq!(
        ends(&format!("{chunked}{GET}")),
        [chunked.len(), chunked.len() + GET.len()]
    );
}

#[test]
fn empty_lines_between_requests_are_no_requests() {
    let text = format!("\r\n{GET}\r\n{GET}\n");
    assert_eq!(ends(&text), [GET.len() + 4, text.len()]);
}

#[test]
fn the_method_says_what_answer_to_expect() {
    let mut parts = Vec::new();
    check(b"HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", &mut parts).unwrap();
    assert_eq!(parts[0].expect, Expect::for_method("HEAD"));
    assert_eq!(parts[1].expect, Expect::for_method("GET"));
    assert_ne!(parts[0].expect, parts[1].expect);
}

#[test]
fn what_is_no_request_is_told_with_its_place() {
    for (text, problem) in [
        ("", "incomplete request at 1:1"),
        ("GET / HTTP/1.1\r\nHost: a\r\n", "incomplete request at 3:1"),
        (
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\na",
            "incomplete request at 4:2",
        ),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na",
            "incomplete request at 5:2",
        ),
        ("G(T / HTTP/1.1\r\n\r\n", "invalid HTTP method at 1:2"),
        ("GET\r\n\r\n", "invalid HTTP method at 1:4"),
        ("GET  HTTP/1.1\r\n\r\n", "invalid URL at 1:5"),
        ("GET /\r\n\r\n", "invalid URL at 1:6"),
        (
            "GET /a b HTTP/1.1\r\n\r\n",
            "invalid constant string at 1:8",
        ),
        (
            "GET / HTTPS/1.1\r\n\r\n",
            "strict mode assertion failed at 1:11",
        ),
        ("GET / HTTP/x\r\n\r\n", "invalid HTTP version at 1:12"),
        ("GET noslash HTTP/1.1\r\n\r\n", "invalid URL at 1:12"),
        ("GET x HTTP/1.1\r\n\r\n", "invalid URL at 1:6"),
        ("GET http:/h/ HTTP/1.1\r\n\r\n", "invalid URL at 1:11"),
        ("nonsense", "invalid HTTP method at 1:1"),
        ("GETTING", "invalid HTTP method at 1:4"),
        ("PRO", "incomplete request at 1:4"),
        ("GET / HTTP/1", "incomplete request at 1:13"),
        (
            "GET / HTTP/1.1\r\nA: \u{1}",
            "invalid character in header at 2:4",
        ),
        (
            "GET / HTTP/1.1\r\n A: 1\r\n\r\n",
            "invalid character in header at 2:1",
        ),
        (
            "POST / HTTP/1.1\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nabc",
            "unexpected content-length header at 3:17",
        ),
        (
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "unexpected content-length header at 4:2",
        ),
        (
            "GET / HTTP/1.1\r\nHo st: a\r\n\r\n",
            "invalid character in header at 2:3",
        ),
        (
            "GET / HTTP/1.1\r\nA: 1\r\nB: \u{1}\r\n\r\n",
            "invalid character in header at 3:4",
        ),
        (
            "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            "invalid character in content-length header at 2:17",
        ),
    ] {
        assert_eq!(refused(text), problem, "{text:?}");
    }
    assert_eq!(refused(&format!("{GET}GET /")), "incomplete request at 4:6");
}

#[test]
fn whole_urls_hosts_and_folded_fields_are_requests() {
    for text in [
        "GET http://h:80/p HTTP/1.1\r\n\r\n",
        "GET http://h HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\n\r\n",
        "CONNECT h:443 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nA: 1\r\n and 2\r\n\t3\r\n\r\n",
    ] {
        assert_eq!(ends(text), [text.len()], "{text:?}");
    }
}

#[test]
fn a_later_text_goes_out_as_it_is() {
    let mut parts = Vec::new();
    cut(b"nonsense", &mut parts);
    assert_eq!(parts.iter().map(|part| part.end).collect::<Vec<_>>(), [8]);
    let text = format!("{GET}GET /");
    cut(text.as_bytes(), &mut parts);
    let ends: Vec<usize> = parts.iter().map(|part| part.end).collect();
    assert_eq!(ends, [GET.len(), text.len()]);
}

proptest! {
    #[test]
    fn parts_cover_any_text(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut parts = Vec::new();
        cut(&text, &mut parts);
        prop_assert_eq!(parts.last().map(|part| part.end), Some(text.len()));
        prop_assert!(parts.windows(2).all(|pair| pair[0].end < pair[1].end));
    }

    #[test]
    fn requests_with_bodies_are_found_again(bodies in proptest::collection::vec("[^\r\n\
                                                                                 ]{1,20}", 1..5)) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for body in bodies {
            let length = body.len();
            text += &format!("PUT / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}");
            expected.push(text.len());
        }
        prop_assert_eq!(ends(&text), expected);
    }
}
