//! Against the TLS server of OpenSSL, with certificates as it makes them.

use crate::rig::{count, free_port, loadline, summary, text};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server with a certificate that it signed itself, and that says of itself to be an authority's.
struct Server {
    process: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Server {
    fn start(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (key, cert) = (
            folder.path().join("key.pem"),
            folder.path().join("cert.pem"),
        );
        make_certificate(text(&key), text(&cert));
        let port = free_port();
        let process = Command::new("openssl")
            .args([
                "s_server",
                "-www",
                "-quiet",
                "-accept",
                &format!("127.0.0.1:{port}"),
            ])
            .args([
                "-key",
                text(&key),
                "-cert",
                text(&cert),
                "-CAfile",
                text(&cert),
            ])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl is installed: apt-get install openssl");
        let patience = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < patience, "openssl does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Server {
            process,
            folder,
            port,
        }
    }

    fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/", self.port)
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn make_certificate(key: &str, cert: &str) {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-nodes",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ])
        .args(["-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-keyout", key, "-out", cert])
        .stderr(Stdio::null())
        .status()
        .expect("openssl is installed: apt-get install openssl");
    assert!(made.success());
}

#[test]
fn a_certificate_that_was_made_in_a_hurry_is_trusted_if_it_is_named() {
    let server = Server::start(&[]);
    let (url, certificate) = (server.url("127.0.0.1"), server.certificate());
    let trusting = ["--cacert", text(&certificate), "-c", "1", "-n", "5"];
    let summary = summary(&[&trusting[..], &[&url]].concat());
    assert_eq!(count(&summary, "answered"), 5);
    for (words, reason) in [
        (vec!["-n", "5", &url], "give this one with --cacert"),
        (
            [&trusting[..], &[&server.url("localhost"), "-4"]].concat(),
            "is for 127.0.0.1, not for localhost",
        ),
    ] {
        let said = loadline(&words);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains(reason), "{}", said.stderr);
    }
}

#[test]
fn a_missing_client_certificate_ends_the_run_before_it_begins() {
    for (version, reason) in [
        (
            "-tls1_3",
            "the server requires a client certificate: give one that it accepts",
        ),
        ("-tls1_2", "it may require a client certificate"),
    ] {
        let server = Server::start(&["-Verify", "1", version]);
        let (url, certificate) = (server.url("127.0.0.1"), server.certificate());
        for keepalive in [&[][..], &["--no-keepalive"]] {
            let words = ["--cacert", text(&certificate), "-c", "2", "-d", "20s", &url];
            let said = loadline(&[&words, keepalive].concat());
            assert_eq!(said.code, Some(2), "{version}: {}", said.stdout);
            assert_eq!(said.stdout, "");
            assert!(said.stderr.contains(reason), "{}", said.stderr);
            assert!(said.stderr.contains("--cert") && said.stderr.contains("--key"));
            assert!(!said.stderr.contains("--cacert"), "{}", said.stderr);
        }
        let key = server.folder.path().join("key.pem");
        let identity = ["--cert", text(&certificate), "--key", text(&key)];
        let words = ["--cacert", text(&certificate), "-c", "1", "-n", "5", &url];
        let summary = summary(&[&words, &identity[..]].concat());
        assert_eq!(count(&summary, "answered"), 5, "{version}");
    }
}

/// As `openssl x509 -req` makes one where it is told of no extensions.
fn make_old_certificate(server: &Server) -> [PathBuf; 2] {
    let at = |name: &str| server.folder.path().join(name);
    let (key, request, cert) = (at("old.key"), at("old.csr"), at("old.pem"));
    let openssl = |arguments: &[&str]| {
        let made = Command::new("openssl")
            .args(arguments)
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("openssl is installed").success());
    };
    let new = [
        "req",
        "-new",
        "-nodes",
        "-newkey",
        "rsa:2048",
        "-subj",
        "/CN=client",
    ];
    openssl(&[&new[..], &["-keyout", text(&key), "-out", text(&request)]].concat());
    let (authority, its_key) = (server.certificate(), at("key.pem"));
    let sign = [
        "x509",
        "-req",
        "-days",
        "2",
        "-set_serial",
        "7",
        "-in",
        text(&request),
    ];
    let by = [
        "-CA",
        text(&authority),
        "-CAkey",
        text(&its_key),
        "-out",
        text(&cert),
    ];
    openssl(&[&sign[..], &by].concat());
    [cert, key]
}

#[test]
fn a_client_certificate_of_version_1_is_for_the_server_to_judge() {
    let server = Server::start(&["-Verify", "1"]);
    let [cert, key] = make_old_certificate(&server);
    let (url, authority) = (server.url("127.0.0.1"), server.certificate());
    let trusting = ["--cacert", text(&authority), "-c", "1", "-n", "5", &url];
    let identity = ["--cert", text(&cert), "--key", text(&key)];
    let summary = summary(&[&trusting[..], &identity].concat());
    assert_eq!(count(&summary, "answered"), 5);
}
