//! The responses of `/echo`, and the stored requests.

use crate::client::{Client, plain, start};
use loadline_testbed::Config;

#[test]
fn the_request_comes_back_byte_for_byte() {
    let server = plain();
    let mut client = Client::connect(&server);
    let request = "POST /echo?a=1&b=%20&size=9 HTTP/1.1\r\nHost: here\r\nX-One: 1\r\nx-two:  two \
                   \r\nX-One: 3\r\nContent-Length: 11\r\n\r\nbody\r\n\r\n\0\x01!";
    client.send(request);
    assert_eq!(client.answer().text(), request);
}

#[test]
fn pieces_of_a_request_come_back_as_one() {
    let server = plain();
    let mut client = Client::connect(&server);
    for (count, piece) in [
        "GET /ec",
        "ho HTTP/1.1\r\nHo",
        "st: here\r\nA: b\r\n\r",
        "\n",
    ]
    .into_iter()
    .enumerate()
    {
        client.send(piece);
        // Data sent before is read first: other connections are served after it.
        Client::connect(&server).get("/");
        assert_eq!(
            server.counts().requests,
            count as u64 + 1 + u64::from(count == 3)
        );
    }
    assert_eq!(
        client.answer().text(),
        "GET /echo HTTP/1.1\r\nHost: here\r\nA: b\r\n\r\n"
    );
}

#[test]
fn pipelined_echoes_come_back_each_for_itself() {
    let server = plain();
    let mut client = Client::connect(&server);
    let requests: Vec<String> = (0..20)
        .map(|n| format!("PUT /echo HTTP/1.1\r\nN: {n}\r\nContent-Length: 2\r\n\r\n{n:02}"))
        .collect();
    let mixed = requests.join("GET /?trailers=1 HTTP/1.1\r\nHost: here\r\n\r\n");
    client.send(mixed);
    for (n, request) in requests.iter().enumerate() {
        assert_eq!(&client.answer().text(), request);
        if n < 19 {
            assert_eq!(client.answer().body.len(), 60);
        }
    }
}

#[test]
fn a_chunked_body_comes_back_as_its_bytes() {
    let server = plain();
    let mut client = Client::connect(&server);
    let head = "POST /echo HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.send(format!("{head}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"));
    assert_eq!(client.answer().text(), format!("{head}abc"));
}

#[test]
fn options_work_on_echoes_too() {
    let server = plain();
    let mut client = Client::connect(&server);
    let answer = client.get("/echo?status=404&chunked=1");
    assert_eq!(answer.status(), 404);
    assert_eq!(
        answer.text(),
        "GET /echo?status=404&chunked=1 HTTP/1.1\r\nHost: here\r\n\r\n"
    );
    assert_eq!(answer.chunks.len(), 1);
    client.send_get_with("/echo", "X-Loadline-Fault: reset-after-answer\r\n");
    let text = "GET /echo HTTP/1.1\r\nHost: here\r\nX-Loadline-Fault: reset-after-answer\r\n\r\n";
    assert_eq!(client.answer().text(), text);
}

#[test]
fn the_first_requests_are_kept_as_they_came() {
    let server = start(Config {
        keep: 2,
        ..Config::default()
    });
    let mut client = Client::connect(&server);
    let requests = [
        "POST /?size=1 HTTP/1.1\r\nhost: here\r\nContent-Length: 2\r\n\r\nab",
        "GET /echo HTTP/1.1\r\nHost: here\r\nX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    ];
    client.send(requests.concat());
    let bodies: Vec<String> = requests.iter().map(|_| client.answer().text()).collect();
    assert_eq!(bodies[1], requests[1]);
    let kept: Vec<String> = server
        .kept()
        .into_iter()
        .map(|request| String::from_utf8(request).expect("text"))
        .collect();
    assert_eq!(kept, requests[..2]);
}
