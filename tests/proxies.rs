//! Through a proxy: plain requests are asked of it, TLS goes through a tunnel.

use crate::rig::{count, loadline, serve, serve_with, summary};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that passes everything on to one server, and remembers the heads it was asked with. It
/// ends with the test's process.
struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy for this server, which wants this in every first head.
    fn start(to: SocketAddr, wanted: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming() {
                let heard = Arc::clone(&heard);
                thread::spawn(move || serve_client(client.unwrap(), to, wanted, &heard));
            }
        });
        Proxy { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve_client(mut client: TcpStream, to: SocketAddr, wanted: &str, heard: &Mutex<Vec<String>>) {
    let Some(head) = read_head(&mut client) else {
        return;
    };
    heard.lock().unwrap().push(head.clone());
    if !head.contains(wanted) {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
        let _ = client.write_all(refusal);
        return;
    }
    let mut server = TcpStream::connect(to).unwrap();
    let first = if head.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 Here you are\r\n\r\n")
    } else {
        server.write_all(head.as_bytes())
    };
    if first.is_ok() {
        pass_on(client, server);
    }
}

fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

fn pass_on(mut client: TcpStream, mut server: TcpStream) {
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let back = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let _ = std::io::copy(&mut client, &mut server);
    let _ = server.shutdown(Shutdown::Both);
    back.join().unwrap();
}

#[test]
fn a_proxy_is_asked_for_plain_requests_by_their_whole_url() {
    let server = serve();
    let proxy = Proxy::start(server.addr(), "Proxy-Authorization: Basic bWU6c2VjcmV0");
    let through = format!("http://me:secret@{}", proxy.address);
    let place = "http://shop.invalid/a?size=10";
    let summary = summary(&["-c", "2", "-n", "20", "--proxy", &through, place]);
    assert_eq!(
        (count(&summary, "answered"), count(&summary, "failed")),
        (20, 0)
    );
    assert_eq!(summary["statuses"]["200"], 20);
    assert_eq!(server.stop().requests, 20);
    for head in proxy.asked() {
        assert!(
            head.starts_with("GET http://shop.invalid/a?size=10 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(head.contains("\r\nHost: shop.invalid\r\n"), "{head}");
    }
}

#[test]
fn tls_goes_through_a_tunnel() {
    let server = serve_with(|config| config.tls = true);
    let proxy = Proxy::start(server.addr(), "Proxy-Authorization: Basic bWU6c2VjcmV0");
    let through = format!("http://me:secret@{}", proxy.address);
    let place = "https://shop.invalid:8443/";
    let flags = [
        "-c",
        "2",
        "-n",
        "20",
        "--insecure",
        "--proxy",
        &through,
        place,
    ];
    let summary = summary(&flags);
    assert_eq!(
        (count(&summary, "answered"), count(&summary, "failed")),
        (20, 0)
    );
    assert_eq!(summary["phases"]["tls_us"]["count"], 2, "{summary:#}");
    for head in proxy.asked() {
        assert!(
            head.starts_with("CONNECT shop.invalid:8443 HTTP/1.1\r\n"),
            "{head}"
        );
    }
}

#[test]
fn a_tunnel_that_is_refused_ends_the_run_with_what_to_do() {
    let server = serve_with(|config| config.tls = true);
    let proxy = Proxy::start(server.addr(), "Proxy-Authorization: Basic bWU6c2VjcmV0");
    let through = proxy.address.to_string();
    let said = loadline(&[
        "-n",
        "2",
        "-k",
        "--proxy",
        &through,
        "https://shop.invalid/",
    ]);
    assert_eq!(said.code, Some(2));
    let reason = "it refused a tunnel to shop.invalid:443 with status 407 (give user and password";
    assert!(said.stderr.contains(reason), "{}", said.stderr);
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn ab_goes_through_proxies_too() {
    let server = serve();
    let proxy = Proxy::start(server.addr(), "Proxy-Authorization: Basic bWU6c2VjcmV0");
    let through = proxy.address.to_string();
    let flags = ["ab", "-n", "3", "-X", &through, "-P", "me:secret"];
    let plain = loadline(&[&flags[..], &["http://shop.invalid/a"]].concat());
    assert!(
        plain.stdout.contains("Complete requests:      3\n"),
        "{}",
        plain.stderr
    );
    assert!(
        plain
            .stdout
            .contains(&format!("shop.invalid [through {through}] (be patient)"))
    );
    assert!(proxy.asked()[0].starts_with("GET http://shop.invalid/a HTTP/1.0\r\n"));

    let secure = serve_with(|config| config.tls = true);
    let tunnels = Proxy::start(secure.addr(), "Proxy-Authorization: Basic bWU6c2VjcmV0");
    let through = tunnels.address.to_string();
    let flags = ["ab", "-n", "3", "-X", &through, "-P", "me:secret"];
    let said = loadline(&[&flags[..], &["https://shop.invalid/a"]].concat());
    assert!(
        said.stdout.contains("Failed requests:        0\n"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert!(tunnels.asked()[0].starts_with("CONNECT shop.invalid:443 HTTP/1.1\r\n"));
    assert_eq!(secure.stop().requests, 3);
}
