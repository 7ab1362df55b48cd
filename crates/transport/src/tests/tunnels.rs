//! Tunnels through a proxy: the request, and the handling of the response.

use super::authority::{Authority, BOTH};
use super::servers::{Server, echo_bytes, patient, serve, serve_tls};
use super::*;
use crate::{DialError, DialPhase};
use loadline_plan::Proxy;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

/// Creates settings that use the proxy at this address.
fn through(address: SocketAddr, user: &str, tls: Tls) -> Settings {
    let proxy: Proxy = format!("http://{user}{address}").parse().expect("a proxy");
    Settings {
        proxy: Some(proxy),
        ..with_tls(tls)
    }
}

fn endpoint(url: &str, settings: &Settings) -> Endpoint {
    Endpoint::resolve(&url.parse().expect("a URL"), settings).expect("an address")
}

/// Reads the head that a client sends, through its empty line.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("more of a head");
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("text")
}

/// Forwards the data of either side until both have closed.
fn pass_on(client: TcpStream, server: TcpStream) {
    let mut sides = (client, server);
    let mut back = (
        sides.1.try_clone().expect("a socket"),
        sides.0.try_clone().expect("a socket"),
    );
    let other = thread::spawn(move || std::io::copy(&mut back.0, &mut back.1).ok());
    let _ = std::io::copy(&mut sides.0, &mut sides.1);
    let _ = sides.1.shutdown(std::net::Shutdown::Write);
    other.join().expect("a thread that does not panic");
}

/// Runs a proxy that opens one tunnel to `to`, and returns the head of the request.
fn proxy(to: SocketAddr) -> Server<String> {
    serve(1, move |mut client| {
        let head = read_head(&mut client);
        let server = patient(TcpStream::connect(to).expect("the server"));
        let answer = b"HTTP/1.1 200 Connection established\r\nVia: a\r\n\r\n";
        client.write_all(answer).expect("a client");
        pass_on(client, server);
        head
    })
}

/// Returns the error of dialling through a proxy with this response.
fn refusal(answer: &'static [u8]) -> DialError {
    let proxy = serve(1, move |mut client| {
        read_head(&mut client);
        client.write_all(answer).expect("a client");
    });
    let tls = Tls {
        insecure: true,
        ..Tls::default()
    };
    let settings = through(proxy.address, "", tls);
    let endpoint = endpoint("https://shop.example/", &settings);
    let error = on_kernel(async |kernel| {
        let dialler = dialler(&kernel, endpoint, &settings);
        dialler.dial(0, u64::MAX).await.expect_err("no tunnel")
    });
    proxy.found();
    error
}

#[test]
fn tls_goes_through_the_tunnel_that_was_asked_for() {
    let authority = Authority::new();
    let config = authority.server(&authority.issue(&["shop.example"]), &BOTH);
    let server = serve_tls(config, 1, echo_bytes);
    let proxy = proxy(server.address);
    let settings = through(proxy.address, "me:secret@", authority.trusted());
    // Only the proxy needs to resolve the name.
    let endpoint = endpoint("https://shop.example/", &settings);
    on_kernel(async |kernel| {
        let dialler = dialler(&kernel, endpoint, &settings);
        let dialled = dialler.dial(0, u64::MAX).await;
        let (mut connection, dial) = dialled.expect("a connection");
        assert!(dial.tls_ns.is_some());
        connection.send_all(b"?").await.expect("sent");
        let echo = receive(&mut connection, &dialler.scratch).await;
        assert_eq!(echo.expect("an echo"), b"?");
    });
    server.found();
    let asked = "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\
                 Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n";
    assert_eq!(proxy.found(), asked);
}

#[test]
fn plain_requests_need_no_tunnel() {
    let server = serve(1, |mut stream| echo_bytes(&mut stream));
    let settings = through(server.address, "", Tls::default());
    let endpoint = endpoint("http://shop.example/", &settings);
    assert_eq!(
        (endpoint.host.as_str(), endpoint.port),
        ("shop.example", 80)
    );
    assert_eq!(endpoint.addresses, [Address::Ip(server.address)]);
    assert_eq!(endpoint.tunnel, None);
    on_kernel(async |kernel| {
        let dialler = dialler(&kernel, endpoint, &settings);
        dialler.dial(0, u64::MAX).await.expect("a connection");
    });
    server.found();
}

#[test]
fn a_proxy_that_refuses_is_told_with_what_to_do() {
    for (answer, reason) in [
        (
            &b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"[..],
            "it refused a tunnel to shop.example:443 with status 407 (give user and password, as \
             in --proxy http://user:password@host:port)",
        ),
        (
            b"HTTP/1.0 403 Forbidden\r\n\r\n",
            "it refused a tunnel to shop.example:443 with status 403 (it must allow CONNECT to \
             that port)",
        ),
        (
            b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno",
            "it refused a tunnel to shop.example:443 with status 502 (it can't reach that server)",
        ),
        (
            b"",
            "it closed the connection when asked for a tunnel to shop.example:443",
        ),
        (
            b"HTTP/1.1 200 OK\r\n\r\nHello",
            "it sent data after its response to CONNECT",
        ),
    ] {
        let error = refusal(answer);
        assert_eq!(error.phase, DialPhase::Tunnel);
        let text = error.to_string();
        assert_eq!(
            text,
            format!(
                "the proxy {}: {reason}",
                error.address.as_ref().expect("an address")
            )
        );
    }
}

#[test]
fn a_proxy_that_is_none_is_told_too() {
    let error = refusal(b"SSH-2.0-x\r\n").to_string();
    assert!(error.contains("the response is not HTTP/1"), "{error}");
}

#[test]
fn a_secret_is_not_shown() {
    let settings = through(SERVER, "me:secret@", Tls::default());
    let shown = format!("{:?}", endpoint("https://shop.example/", &settings));
    assert!(shown.contains("shop.example:443") && !shown.contains("bWU6c2VjcmV0"));
}

const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);
