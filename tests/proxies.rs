//! Through a proxy: plain requests are asked of it, TLS goes through a tunnel.

#[cfg(feature = "k6")]
use crate::k6::Scripts;
#[cfg(feature = "k6")]
use crate::rig::{CommandOutput, beside_others, command};
use crate::rig::{count, loadline, serve, serve_with, summary};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that passes everything on to one server, and remembers the heads it was asked with. It
/// ends with the test's process.
struct Proxy {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy for this server, which wants this in every first head.
    fn start(to: SocketAddr, wanted: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&requests);
        thread::spawn(move || {
            for client in listener.incoming() {
                let heard = Arc::clone(&heard);
                thread::spawn(move || serve_client(client.unwrap(), to, wanted, &heard));
            }
        });
        Proxy { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
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
    for head in proxy.requests() {
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
    for head in proxy.requests() {
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
    assert!(proxy.requests()[0].starts_with("GET http://shop.invalid/a HTTP/1.0\r\n"));

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
    assert!(tunnels.requests()[0].starts_with("CONNECT shop.invalid:443 HTTP/1.1\r\n"));
    assert_eq!(secure.stop().requests, 3);
}

/// A script of k6, run with these variables of the environment.
#[cfg(feature = "k6")]
fn run_k6(scripts: &Scripts, variables: &[(&str, String)], words: &[&str]) -> CommandOutput {
    let _beside_others = beside_others();
    let mut k6 = command(&[&["k6", "run", "-q"], words, &["through.js"]].concat());
    k6.current_dir(scripts.path());
    k6.envs(variables.iter().map(|(name, value)| (name, value)));
    k6.output().unwrap().into()
}

#[cfg(feature = "k6")]
const THROUGH: &str = "import http from 'k6/http';
    export const options = { vus: 2, iterations: 2, insecureSkipTLSVerify: true,
      // Without a proxy, nothing is there.
      hosts: { 'direct.test': __ENV.DIRECT, 'shop.invalid': '127.0.0.1:1' } };
    export function setup() { return http.get('http://shop.invalid/setup').status; }
    export default function (setUp) {
      const urls = ['http://shop.invalid/a', 'https://shop.invalid:8443/b',
        `http://${__ENV.DIRECT}/c`, 'http://direct.test/d'];
      const statuses = urls.map((url) => http.get(url).status);
      console.log(`statuses ${setUp} ${statuses.join(' ')}`);
    }";

#[cfg(feature = "k6")]
#[test]
fn scripts_of_k6_use_the_proxies_of_the_environment() {
    let scripts = Scripts::new(&[("through.js", THROUGH)]);
    for words in [&[][..], &["--processes", "2"]] {
        let (plain, secured) = (serve(), serve_with(|config| config.tls = true));
        let wanted = "Proxy-Authorization: Basic bWU6c2VjcmV0";
        let [http, https] = [&plain, &secured].map(|to| Proxy::start(to.addr(), wanted));
        let variables = [
            ("HTTP_PROXY", format!("http://me:secret@{}", http.address)),
            ("https_proxy", format!("me:secret@{}", https.address)),
            ("NO_PROXY", "elsewhere.test, direct.test".to_owned()),
            ("DIRECT", plain.addr().to_string()),
        ];
        let said = run_k6(&scripts, &variables, words);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let line = "statuses 200 200 200 200 200";
        assert_eq!(said.stderr.matches(line).count(), 2, "{}", said.stderr);
        let requests = http.requests();
        for path in ["setup", "a"] {
            let head = format!("GET http://shop.invalid/{path} HTTP/1.1\r\n");
            assert!(
                requests.iter().any(|one| one.starts_with(&head)),
                "{requests:?}"
            );
        }
        let is_of_shop = |head: &String| head.contains("\r\nHost: shop.invalid\r\n");
        assert!(requests.iter().all(is_of_shop), "{requests:?}");
        let tunnels = https.requests();
        let is_tunnel = |head: &String| head.starts_with("CONNECT shop.invalid:8443 HTTP/1.1\r\n");
        assert!(
            !tunnels.is_empty() && tunnels.iter().all(is_tunnel),
            "{tunnels:?}"
        );
        assert_eq!((plain.stop().requests, secured.stop().requests), (7, 2));
    }
}

#[cfg(feature = "k6")]
#[test]
fn a_proxy_that_is_not_there_fails_the_requests_of_a_script() {
    let server = serve();
    let scripts = Scripts::new(&[("through.js", THROUGH)]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let direct = ("DIRECT", server.addr().to_string());
    let gone = ("HTTP_PROXY", free.unwrap().to_string());
    let said = run_k6(&scripts, &[gone, direct.clone()], &[]);
    let line = "statuses 0 0 0 200 0";
    assert_eq!(said.stderr.matches(line).count(), 2, "{}", said.stderr);
    let unusable = ("HTTPS_PROXY", "socks5://me:secret@127.0.0.1:1".to_owned());
    let said = run_k6(&scripts, &[unusable, direct], &[]);
    assert_eq!(said.code, Some(255), "{}", said.stderr);
    let sentence = "HTTPS_PROXY names no usable proxy: `socks5` is not supported";
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
    assert!(!said.stderr.contains("secret"), "{}", said.stderr);
    server.stop();
}
