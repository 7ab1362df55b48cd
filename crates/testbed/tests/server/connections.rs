//! Keep-alive, closing, pipelines, uploads, and all their counts.

use crate::client::{Client, End, plain, wait_until};
use loadline_testbed::Counts;
use std::net::Shutdown;
use std::time::Duration;

#[test]
fn counts_are_exact() {
    let server = plain();
    for _ in 0..3 {
        let mut client = Client::connect(&server);
        for _ in 0..50 {
            client.get("/?status=500");
        }
    }
    let expected = Counts {
        connections: 3,
        requests: 150,
        answers: 150,
        ..Counts::default()
    };
    assert_eq!(server.stop(), expected);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = plain();
    let mut client = Client::connect(&server);
    let requests: String = (0..500)
        .map(|size| format!("GET /?size={size} HTTP/1.1\r\nHost: here\r\n\r\n"))
        .collect();
    client.send(requests);
    let sizes: Vec<usize> = (0..500).map(|_| client.answer().body.len()).collect();
    assert_eq!(sizes, (0..500).collect::<Vec<_>>());
    assert_eq!(server.stop().answers, 500);
}

#[test]
fn pipelined_large_answers_come_whole_though_nobody_reads_for_a_while() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send("GET /?size=2000000 HTTP/1.1\r\nHost: here\r\n\r\n".repeat(8));
    wait_until(|| server.counts().requests > 0);
    let sizes = [(); 8].map(|()| client.answer().body.len());
    assert_eq!(sizes, [2_000_000; 8]);
    assert_eq!(server.stop().answers, 8);
}

#[test]
fn earlier_answers_of_a_pipeline_do_not_wait_for_a_slow_one() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get("/?size=1");
    client.send_get("/?size=2&delay=10s");
    client.send_get("/?size=3");
    assert_eq!(client.answer().body.len(), 1);
    let patience = Duration::from_millis(50);
    assert_eq!(client.read_to_end_within(patience), (vec![], End::Silence));
}

#[test]
fn earlier_answers_of_a_pipeline_come_before_a_fault() {
    let server = plain();
    let mut client = Client::connect(&server);
    let mut requests = "GET /?size=300000 HTTP/1.1\r\nHost: here\r\n\r\n".repeat(5);
    requests.push_str("GET /?fault=close-before-head HTTP/1.1\r\nHost: here\r\n\r\n");
    client.send(requests);
    assert_eq!([(); 5].map(|()| client.answer().body.len()), [300_000; 5]);
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
    let counts = server.stop();
    assert_eq!((counts.requests, counts.answers, counts.faults), (6, 5, 1));
}

#[test]
fn requests_behind_an_answer_by_hand_are_answered_too() {
    let server = plain();
    let mut client = Client::connect(&server);
    let pair = "GET /?trailers=1&size=5 HTTP/1.1\r\nHost: here\r\n\r\n\
                GET /?size=6 HTTP/1.1\r\nHost: here\r\n\r\n";
    client.send(pair.repeat(20));
    for _ in 0..20 {
        assert_eq!(
            [client.answer().body.len(), client.answer().body.len()],
            [5, 6]
        );
    }
    assert_eq!(server.stop().answers, 40);
}

#[test]
fn a_client_that_says_close_is_closed() {
    let server = plain();
    for target in ["/", "/?trailers=1"] {
        let mut client = Client::connect(&server);
        client.send_get_with(target, "Connection: close\r\n");
        assert_eq!(client.answer().header("connection"), Some("close"));
        assert_eq!(client.read_to_end(), (vec![], End::Eof));
    }
}

#[test]
fn a_client_of_http_1_0_is_closed_unless_it_asks_to_stay() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status_line, "HTTP/1.0 200 OK");
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
    let mut client = Client::connect(&server);
    for _ in 0..2 {
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(client.answer().header("connection"), Some("keep-alive"));
    }
}

#[test]
fn head_has_the_head_of_get_and_no_body() {
    let server = plain();
    let mut client = Client::connect(&server);
    for (target, length) in [
        ("/?size=1000", Some("1000")),
        ("/?chunked=1", None),
        ("/?interim=103", None),
    ] {
        client.send(format!("HEAD {target} HTTP/1.1\r\nHost: here\r\n\r\n"));
        assert_eq!(
            client.answer_to("HEAD").header("content-length"),
            length,
            "{target}"
        );
    }
    assert_eq!(
        client.answer_to("HEAD").header("content-length"),
        Some("60")
    );
    assert_eq!(client.get("/").status(), 200);
    assert_eq!(server.stop().answers, 4);
}

#[test]
fn uploads_of_any_size_are_read_and_counted() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send("POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 5000000\r\n\r\n");
    client.send(vec![b'u'; 5_000_000]);
    assert_eq!(client.answer().status(), 200);
    client.send("POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send("5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n");
    assert_eq!(client.answer().status(), 200);
    let counts = server.stop();
    assert_eq!((counts.requests, counts.body_bytes), (2, 5_000_008));
}

#[test]
fn who_expects_a_100_gets_it() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send(
        "POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(client.answer().status_line, "HTTP/1.1 100 Continue");
    client.send("hi");
    assert!(client.answer().text().ends_with("\r\n\r\nhi"));
}

#[test]
fn a_request_that_is_cut_is_neither_whole_nor_answered() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send("POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\nhalf");
    client.stream.shutdown(Shutdown::Write).expect("a shutdown");
    client.read_to_end();
    let counts = server.stop();
    assert_eq!((counts.requests, counts.answers), (0, 0));
}

#[test]
fn a_client_that_leaves_during_the_delay_is_not_answered() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get("/?delay=20s");
    wait_until(|| server.counts().requests > 0);
    client.stream.shutdown(Shutdown::Write).expect("a shutdown");
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
    assert_eq!(server.stop().answers, 0);
}

#[test]
fn what_is_no_http_is_counted_as_malformed() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send("this is not HTTP\r\n\r\n");
    assert_eq!(client.answer().status(), 400);
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
    let counts = server.stop();
    assert_eq!(
        (counts.malformed, counts.requests, counts.answers),
        (1, 0, 0)
    );
}
