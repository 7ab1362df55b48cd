//! Interoperability with nginx, whose access log is the witness.

use crate::rig::{count, free_port, loadline, summary, text};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// JSON of some 10 KB that compresses well.
fn account() -> String {
    let orders = (0..200).map(|order| format!("{{\"order\": {order}, \"total\": \"12.50 EUR\"}}"));
    format!("[{}]", orders.collect::<Vec<_>>().join(", "))
}

/// An nginx with one worker on free ports, its files in a folder of its own.
struct Nginx {
    process: Child,
    folder: tempfile::TempDir,
    http: u16,
    https: u16,
}

impl Nginx {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (http, https) = (free_port(), free_port());
        std::fs::create_dir(folder.path().join("www")).unwrap();
        std::fs::write(folder.path().join("www/big"), vec![b'x'; 1 << 20]).unwrap();
        std::fs::write(folder.path().join("www/account.json"), account()).unwrap();
        certificate(folder.path());
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, configuration(folder.path(), http, https)).unwrap();
        // nginx drops its rights where it is started as root, and must read its files then.
        allow_all(folder.path());
        let process = Command::new(binary())
            .args(["-c", text(&config)])
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is installed: apt-get install nginx-light");
        let nginx = Nginx {
            process,
            folder,
            http,
            https,
        };
        nginx.wait();
        nginx
    }

    fn wait(&self) {
        let patience = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.https)).is_err() {
            let errors = std::fs::read_to_string(self.folder.path().join("error.log"));
            assert!(
                Instant::now() < patience,
                "nginx does not listen: {errors:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.http)
    }

    /// Ends the server, so that all is logged, and returns the lines of its access log.
    fn log(mut self) -> Vec<String> {
        self.quit();
        let log = std::fs::read_to_string(self.folder.path().join("access.log")).unwrap();
        log.lines().map(str::to_owned).collect()
    }

    fn quit(&mut self) {
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-s", "QUIT", &pid]).status();
        let _ = self.process.wait();
    }
}

impl Drop for Nginx {
    /// Ends the server if it still runs. Asked, it ends its worker too; killed, it would not.
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let pid = self.process.id().to_string();
            let _ = Command::new("kill").args(["-s", "TERM", &pid]).status();
            let _ = self.process.wait();
        }
    }
}

pub(crate) fn binary() -> PathBuf {
    let usual = PathBuf::from("/usr/sbin/nginx");
    if usual.exists() {
        usual
    } else {
        PathBuf::from("nginx")
    }
}

pub(crate) fn certificate(folder: &Path) {
    let (key, cert) = (folder.join("key.pem"), folder.join("cert.pem"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
        ])
        .args(["-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", text(&key), "-out", text(&cert)])
        .stderr(Stdio::null())
        .status()
        .expect("openssl is installed: apt-get install openssl");
    assert!(made.success());
}

pub(crate) fn allow_all(folder: &Path) {
    let status = Command::new("chmod")
        .args(["-R", "a+rX", text(folder)])
        .status();
    assert!(status.expect("chmod is there").success());
}

fn configuration(folder: &Path, http: u16, https: u16) -> String {
    let folder = text(folder);
    format!(
        "worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
        events {{ worker_connections 2000; }}
        http {{
          log_format plain '$status $request_method $request_uri $connection $content_length';
          access_log {folder}/access.log plain;
          client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
          fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
          keepalive_requests 100;
          server {{
            listen 127.0.0.1:{http}; listen 127.0.0.1:{https} ssl; listen unix:{folder}/sock;
            ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
            root {folder}/www;
            location = / {{ return 200 '{body}'; }}
            location = /moved {{ return 301 /; }}
            location = /login {{
              add_header Set-Cookie 'session=open; Path=/; HttpOnly';
              return 303 /account.json;
            }}
            location = /account.json {{
              if ($cookie_session != open) {{ return 403; }}
              gzip on; gzip_min_length 0; gzip_types application/json;
              default_type application/json;
            }}
          }}
        }}",
        body = "x".repeat(60)
    )
}

#[test]
fn every_request_is_in_the_servers_log_exactly_once() {
    let nginx = Nginx::start();
    let url = nginx.url("");
    let summary = summary(&["-c", "10", "-t", "2", "-n", "5000", &url]);
    assert_eq!(
        (count(&summary, "answered"), count(&summary, "failed")),
        (5000, 0)
    );
    // Each connection is closed by the server after a hundred requests, and replaced.
    assert!(count(&summary, "reconnects") >= 40, "{summary:#}");
    assert_eq!(nginx.log().len(), 5000);
}

#[test]
fn a_connection_for_each_request_is_one() {
    let nginx = Nginx::start();
    let url = nginx.url("");
    let summary = summary(&["-c", "5", "-n", "500", "--no-keepalive", &url]);
    assert_eq!(
        (count(&summary, "answered"), count(&summary, "reconnects")),
        (500, 0)
    );
    let log = nginx.log();
    let mut connections: Vec<&str> = log
        .iter()
        .map(|line| line.split(' ').nth(3).unwrap())
        .collect();
    connections.sort_unstable();
    connections.dedup();
    assert_eq!((log.len(), connections.len()), (500, 500));
}

#[test]
fn big_bodies_are_counted_to_the_byte_though_nobody_reads_them() {
    let nginx = Nginx::start();
    let url = nginx.url("big");
    for clock in ["kernel", "user"] {
        let summary = summary(&["-c", "3", "-n", "60", "--clock", clock, &url]);
        assert_eq!(count(&summary, "answered"), 60);
        let bytes = count(&summary, "bytes_in");
        let bodies = 60 * (1 << 20);
        assert!((bodies..bodies + 60 * 400).contains(&bytes), "{bytes}");
    }
}

#[test]
fn pipelines_rates_heads_and_posts_arrive_as_they_were_sent() {
    let nginx = Nginx::start();
    let url = nginx.url("");
    let pipelined = summary(&["-c", "4", "-n", "1000", "--pipeline", "8", &url]);
    assert_eq!(
        (count(&pipelined, "answered"), count(&pipelined, "failed")),
        (1000, 0)
    );
    let paced = summary(&["-r", "500", "-d", "2s", &url]);
    assert_eq!(
        (count(&paced, "planned"), count(&paced, "failed")),
        (1000, 0)
    );
    let heads = summary(&["-X", "HEAD", "-n", "100", "-c", "1", &nginx.url("big")]);
    assert_eq!(count(&heads, "answered"), 100);
    let posts = summary(&["-b", "hello", "-n", "50", "-c", "2", &url]);
    assert_eq!(count(&posts, "answered"), 50);
    let (sent, in_flight) = (count(&paced, "sent"), count(&paced, "in_flight"));
    let log = nginx.log();
    let of = |start: &str| log.iter().filter(|line| line.contains(start)).count() as u64;
    assert_eq!((of(" HEAD /big "), of(" POST / ")), (100, 50));
    let lengths = log.iter().filter(|line| line.ends_with(" 5")).count();
    assert_eq!(lengths, 50, "Content-Length of the posts");
    let gets = of(" GET / ");
    assert!(
        (1000 + sent - in_flight..=1000 + sent).contains(&gets),
        "{gets}"
    );
}

#[test]
fn tls_and_unix_sockets_work_as_well() {
    let nginx = Nginx::start();
    let authority = nginx.folder.path().join("cert.pem");
    let https = format!("https://127.0.0.1:{}/", nginx.https);
    let secured = summary(&[
        "-c",
        "4",
        "-n",
        "1000",
        "--cacert",
        text(&authority),
        &https,
    ]);
    assert_eq!(
        (count(&secured, "answered"), count(&secured, "failed")),
        (1000, 0)
    );
    let socket = nginx.folder.path().join("sock");
    let local = summary(&[
        "-c",
        "4",
        "-n",
        "1000",
        "--unix-socket",
        text(&socket),
        "http://localhost/",
    ]);
    assert_eq!(
        (count(&local, "answered"), count(&local, "failed")),
        (1000, 0)
    );
    assert_eq!(nginx.log().len(), 2000);
}

#[test]
fn statuses_that_are_no_success_are_shown_and_followed_by_nothing() {
    let nginx = Nginx::start();
    let said = loadline(&["-n", "10", "-c", "1", "--no-progress", &nginx.url("moved")]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("301"), "{}", said.stdout);
    assert_eq!(nginx.log().len(), 10, "a redirect is not followed");
}

#[test]
fn a_list_logs_in_is_redirected_and_reads_compressed_json() {
    let nginx = Nginx::start();
    let list = nginx.folder.path().join("list");
    std::fs::write(&list, "/login\n/account.json\n").unwrap();
    let base = nginx.url("");
    // Of several users, some may end in the middle of the list.
    let words = [
        "-c",
        "1",
        "-n",
        "30",
        "--base-url",
        &base,
        "--urls",
        text(&list),
    ];
    let session = ["--cookies", "--follow-redirects", "5", "--compressed"];
    let found = summary(&[&words[..], &session].concat());
    // Fifteen logins are redirected to the account, and fifteen accounts are asked for.
    assert_eq!(found["statuses"], serde_json::json!({"200": 30, "303": 15}));
    assert_eq!(
        (count(&found, "answered"), count(&found, "failed")),
        (45, 0)
    );
    let bodies = 30 * account().len() as u64;
    assert!(count(&found, "bytes_in") < bodies / 2, "{found:#}");
    let without = summary(&words);
    assert_eq!(
        without["statuses"],
        serde_json::json!({"303": 15, "403": 15})
    );
    let log = nginx.log();
    let accounts = log
        .iter()
        .filter(|line| line.starts_with("200 GET /account.json "));
    assert_eq!((log.len(), accounts.count()), (75, 30));
}
