//! What options say of requests: where they go, how many, from where.

use crate::k6::Scripts;
use crate::rig::serve;
use std::thread;

#[test]
fn options_name_hosts_and_block_them() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = {
          hosts: { '*.shop.test': __ENV.HOST, 'low.test': '127.0.0.2' },
          blockHostnames: ['*.ads.test'], blacklistIPs: ['127.0.0.2/32'],
        };
        export default function () {
          for (const host of ['a.shop.test', 'b.ads.test', 'low.test']) {
            const res = http.get(`http://${host}/`);
            console.log(res.status, res.error_code);
          }
        }";
    let scripts = Scripts::new(&[("hosts.js", script)]);
    let host = format!("HOST={}", server.addr());
    let said = scripts.say(&[
        "run",
        "-q",
        "--summary-mode",
        "disabled",
        "-e",
        &host,
        "hosts.js",
    ]);
    for line in [
        "msg=\"200 0\"",
        "msg=\"0 1111\"",
        "hostname (b.ads.test) is in a blocked pattern (*.ads.test)",
        "msg=\"0 1110\"",
        "IP (127.0.0.2) is in a blacklisted range (127.0.0.2/32)",
    ] {
        assert!(said.stderr.contains(line), "{line}: {}", said.stderr);
    }
}

#[test]
fn a_rate_and_connections_of_users_hold() {
    let script = "import http from 'k6/http';
        export const options = { vus: 2, iterations: 6 };
        export default function () { http.get(__ENV.BASE); http.get(__ENV.BASE); }";
    let scripts = Scripts::new(&[("gets.js", script)]);
    let run = |words: &[&str]| {
        let server = serve();
        let base = format!("BASE=http://{}", server.addr());
        let words = [&["run", "-q", "-e", &base][..], words, &["gets.js"]].concat();
        let said = scripts.say(&words);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        (server.stop(), said)
    };
    // Twelve requests, one each tenth of a second: eleven tenths at least.
    let (counts, said) = run(&["--rps", "10"]);
    assert_eq!(counts.requests, 12);
    let rate = said.stdout.lines().find(|line| line.contains("http_reqs"));
    let rate = rate
        .and_then(|line| line.split_whitespace().last())
        .unwrap();
    let rate: f64 = rate.trim_end_matches("/s").parse().unwrap();
    assert!(rate <= 12.0 / 1.1, "{rate}");
    assert_eq!(run(&["--no-vu-connection-reuse"]).0.connections, 6);
    assert!(run(&[]).0.connections <= 2);
}

#[test]
fn users_leave_from_their_own_addresses() {
    let script = "import http from 'k6/http';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3 } } };
        export default function () { http.get(`http://127.0.0.1:${__ENV.PORT}/${__VU}`); }";
    let scripts = Scripts::new(&[("from.js", script)]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("PORT={}", listener.local_addr().unwrap().port());
    let peers = thread::spawn(move || {
        let three = listener.incoming().take(3).map(|stream| {
            use std::io::{Read, Write};
            let mut stream = stream.unwrap();
            let mut head = [0; 1024];
            let length = stream.read(&mut head).unwrap();
            let line = String::from_utf8_lossy(&head[..length]);
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            (path, stream.peer_addr().unwrap().ip().to_string())
        });
        let mut peers: Vec<(String, String)> = three.collect();
        peers.sort();
        peers
    });
    let local = "127.0.0.5-127.0.0.6";
    let said = scripts.say(&["run", "-q", "-e", &port, "--local-ips", local, "from.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let own = |path: &str, ip: &str| (path.to_owned(), ip.to_owned());
    let expected = [
        own("/1", "127.0.0.5"),
        own("/2", "127.0.0.6"),
        own("/3", "127.0.0.5"),
    ];
    assert_eq!(peers.join().unwrap(), expected);
}

#[test]
fn exchanges_are_logged_with_their_bodies() {
    let server = serve();
    let script = "import http from 'k6/http';
        export default function () { http.post(__ENV.BASE, 'sent', { headers: { 'X-A': 'b' } }); }";
    let scripts = Scripts::new(&[("post.js", script)]);
    let base = format!("BASE=http://{}/?size=3", server.addr());
    let said = |flag: &str| {
        let words = [
            "run",
            "-q",
            "--log-format",
            "raw",
            flag,
            "-e",
            &base,
            "post.js",
        ];
        scripts.say(&words).stderr
    };
    let heads = said("--http-debug");
    assert!(
        heads.contains("Request:\nPOST /?size=3 HTTP/1.1\nHost: 127.0.0.1:"),
        "{heads}"
    );
    assert!(
        heads.contains("\nContent-Length: 4\nX-A: b\n\n\n"),
        "{heads}"
    );
    assert!(heads.contains("Response:\nHTTP/1.1 200 OK\n"), "{heads}");
    let whole = said("--http-debug=full");
    let sent = "\nContent-Length: 4\nX-A: b\n\nsent\n";
    assert!(whole.contains(sent), "{whole}");
}
