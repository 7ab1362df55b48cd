//! What options say of requests: where they go, how many, from where.

use crate::k6::Scripts;
use crate::rig::{beside_others, command, serve, serve_with};
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
    let said = scripts.run(&[
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
        let said = scripts.run(&words);
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
    let said = scripts.run(&["run", "-q", "-e", &port, "--local-ips", local, "from.js"]);
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
        scripts.run(&words).stderr
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

#[test]
fn bytes_are_those_on_sockets_and_statuses_have_words_over_http2() {
    let server = serve_with(|config| config.tls = true);
    let script = "import http from 'k6/http';
        export const options = { insecureSkipTLSVerify: true };
        export default function () {
          const r = http.get(`https://${__ENV.HOST}/?size=10000`);
          console.log(r.proto, r.status_text, r.ocsp.status);
          console.log(http.get(`https://${__ENV.HOST}/?status=404`).status_text);
        }
        export function handleSummary(data) {
          const of = (name) => data.metrics[name].values.count;
          const [sent, received] = [of('data_sent'), of('data_received')];
          console.log(sent > 400 && sent < 5000, received > 10500 && received < 20000);
          return {};
        }";
    let scripts = Scripts::new(&[("tls.js", script)]);
    let host = format!("HOST={}", server.addr());
    let words = [
        "k6",
        "run",
        "-q",
        "--log-format",
        "raw",
        "-e",
        &host,
        "tls.js",
    ];
    for (variable, proto) in [("", "HTTP/2.0"), ("a=1,http2client=0", "HTTP/1.1")] {
        let _beside_others = beside_others();
        let output = command(&words)
            .current_dir(scripts.path())
            .env("GODEBUG", variable)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let expected = format!("{proto} 200 OK unknown\n404 Not Found\n");
        assert!(stderr.starts_with(&expected), "{stderr}");
        assert!(stderr.contains("true true"), "{stderr}");
    }
}

#[test]
fn certificates_that_are_not_accepted_have_k6s_codes() {
    let plain = serve();
    let server = serve_with(|config| config.tls = true);
    let script = "import http from 'k6/http';
        export const options = { hosts: { 'other.test': __ENV.TLS } };
        export default function () {
          for (const url of [__ENV.BASE, `https://${__ENV.TLS}/`, 'https://other.test/']) {
            const res = http.get(url);
            console.log(res.status, res.error_code);
          }
        }";
    let authority = server.certificate_pem().unwrap();
    let scripts = Scripts::new(&[
        ("tls.js", script),
        ("authority.pem", &authority),
        ("none.pem", ""),
    ]);
    // In a file without a certificate, a system's own are missing: only what needs them fails.
    for (trusted, codes) in [
        ("authority.pem", ["200 0", "200 0", "0 1311"]),
        ("none.pem", ["200 0", "0 1310", "0 1310"]),
    ] {
        let _beside_others = beside_others();
        let mut command = command(&["k6", "run", "-q", "--log-format", "raw"]);
        let output = command
            .args(["-e", &format!("TLS={}", server.addr())])
            .args(["-e", &format!("BASE=http://{}/", plain.addr()), "tls.js"])
            .current_dir(scripts.path())
            .env("SSL_CERT_FILE", trusted)
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_code = |line: &&str| line.starts_with(['0', '2']);
        let logged: Vec<_> = stderr.lines().filter(is_code).collect();
        assert_eq!(logged, codes, "{trusted}: {stderr}");
    }
}

#[test]
fn a_401_is_what_digest_authentication_expects_first() {
    let server = serve();
    let script = "import http from 'k6/http';
        const url = `http://${__ENV.HOST}/?status=401`;
        export const options = { thresholds: {
          http_req_failed: ['rate==0'], [`http_reqs{name:${url},url:${url}}`]: ['count==1'],
        } };
        export default function () {
          const r = http.get(url.replace('://', '://u:p@'), { auth: 'digest' });
          console.log(r.status, r.url === url, r.request.url.includes('u:p@'));
        }";
    let scripts = Scripts::new(&[("digest.js", script)]);
    let host = format!("HOST={}", server.addr());
    let said = scripts.run(&["run", "-q", "--log-format", "raw", "-e", &host, "digest.js"]);
    assert!(said.stderr.contains("401 true true"), "{}", said.stderr);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn half_of_a_pair_of_surrogates_goes_anywhere() {
    let server = serve();
    let script = "import http from 'k6/http';
        import { group, check } from 'k6';
        import { Counter } from 'k6/metrics';
        const half = 'Hello 😀 world'.slice(0, 7), whole = 'Hello \\ufffd';
        const seen = new Counter('seen');
        export default function () {
          seen.add(1, { tag: half, [half]: 'x' });
          group(half, () => check(half, { [half]: () => true }));
          const params = { headers: { 'X-Half': half }, tags: { name: half }, cookies: { half } };
          const r = http.post(`http://${__ENV.HOST}/echo?${half}`, half, params);
          console.log(r.status, r.body.endsWith(whole));
          console.log(http.post(`http://${__ENV.HOST}/echo`, { [half]: half }).status);
          console.log(Object.keys(http.batch({ [half]: `http://${__ENV.HOST}/` })).length);
        }
        export function handleSummary() { return { 'a\\0b.txt': 'x', 'b.txt': half }; }";
    let scripts = Scripts::new(&[("half.js", script)]);
    let host = format!("HOST={}", server.addr());
    let said = scripts.run(&["run", "-q", "--log-format", "raw", "-e", &host, "half.js"]);
    assert!(
        said.stderr.contains("200 true\n200\n1\n"),
        "{}",
        said.stderr
    );
    let written = std::fs::read_to_string(scripts.path().join("b.txt")).unwrap();
    assert_eq!(written, "Hello \u{FFFD}");
    // What names no file is told by its whole name.
    assert!(!said.stderr.contains("invalid type"), "{}", said.stderr);
}
