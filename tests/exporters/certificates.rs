//! OpenTelemetry over TLS, to nginx: the certificates that its variables name.

use super::{Receiver, run_with};
use crate::nginx::{binary, certificate};
use crate::rig::{serve, text, url};
use std::path::Path;
use tempfile::TempDir;

/// An nginx that takes everything over TLS, and whose log has the path, the header field `x-scope`
/// and the owner of the client's certificate.
fn nginx(kept: &Path) -> Receiver {
    let kept = kept.display().to_string();
    Receiver::start(text(&binary()), |folder, port| {
        let config = folder.join("nginx.conf");
        let place = folder.display();
        let written = format!(
            "daemon off; master_process off; pid {place}/pid; error_log {place}/error.log;
            events {{ worker_connections 200; }}
            http {{
              log_format tls '$request_uri $http_x_scope $ssl_client_s_dn';
              access_log {kept}/log tls;
              client_body_temp_path {place}/t1; proxy_temp_path {place}/t2;
              fastcgi_temp_path {place}/t3; uwsgi_temp_path {place}/t4; scgi_temp_path {place}/t5;
              server {{
                listen 127.0.0.1:{port} ssl; ssl_verify_client optional_no_ca;
                ssl_certificate {kept}/cert.pem; ssl_certificate_key {kept}/key.pem;
                location / {{ return 200; }}
              }}
            }}"
        );
        std::fs::write(&config, written).unwrap();
        vec!["-c".to_owned(), config.display().to_string()]
    })
}

/// What a run with these variables says, and the lines of the log that it adds.
fn ran(folder: &TempDir, receiver: &Receiver, variables: &[(&str, &str)]) -> (String, Vec<String>) {
    let log = folder.path().join("log");
    std::fs::write(&log, "").unwrap();
    let server = serve();
    let output = format!("otlp=https://127.0.0.1:{}", receiver.port);
    let target = url(&server, "");
    let words = [
        "-n",
        "20",
        "--rate",
        "50/s",
        "-c",
        "1",
        "--no-watch",
        "--allow-invalid",
        "-q",
    ];
    let said = run_with(&[&words[..], &["-o", &output, &target]].concat(), variables);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let read = || std::fs::read_to_string(&log).unwrap();
    // A line may be written after its response.
    receiver.wait_until(|| !said.stderr.is_empty() || !read().is_empty());
    (said.stderr, read().lines().map(str::to_owned).collect())
}

#[test]
fn certificates_and_header_fields_are_those_of_the_variables() {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let receiver = nginx(folder.path());
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let (said, lines) = ran(&folder, &receiver, &[]);
    assert!(
        said.contains("were not delivered") || said.contains("was not delivered"),
        "{said}"
    );
    assert!(said.contains("certificate"), "{said}");
    assert_eq!(lines, Vec::<String>::new());
    let trusted = ("OTEL_EXPORTER_OTLP_CERTIFICATE", text(&cert));
    let fields = [
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-scope=all"),
        ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-scope=shop%207"),
    ];
    let (said, lines) = ran(&folder, &receiver, &[&[trusted][..], &fields].concat());
    assert_eq!(said, "");
    assert!(!lines.is_empty());
    assert!(
        lines.iter().all(|line| line == "/v1/metrics shop 7 -"),
        "{lines:?}"
    );
    let own = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", text(&cert)),
        ("OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY", text(&key)),
    ];
    let (said, lines) = ran(&folder, &receiver, &[&[trusted][..], &own].concat());
    assert_eq!(said, "");
    assert!(!lines.is_empty());
    assert!(
        lines
            .iter()
            .all(|line| line == "/v1/metrics - CN=localhost"),
        "{lines:?}"
    );
    let broken = [("OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such/file")];
    let server = serve();
    let target = url(&server, "");
    let words = [
        "-n",
        "1",
        "-c",
        "1",
        "-o",
        "otlp=https://127.0.0.1:1",
        &target,
    ];
    let refused = run_with(&words, &broken);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("/no/such/file"),
        "{}",
        refused.stderr
    );
    assert_eq!(server.counts().requests, 0, "nothing was sent");
}
