//! The ways to a server: TLS, Unix sockets, other addresses, none at all.

use crate::rig::{count, failures, loadline, serve, serve_with, summary, text, url};
use crate::schemas::assert_fits;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

#[test]
fn tls_with_a_trusted_certificate_or_with_none_asked_for() {
    let server = serve_with(|config| config.tls = true);
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, server.certificate_pem().unwrap()).unwrap();
    let url = format!("https://{}/", server.addr());
    for trust in [&["--cacert", text(&authority)][..], &["--insecure"]] {
        let summary = summary(&[&["-c", "2", "-n", "100", &url], trust].concat());
        assert_eq!(
            (count(&summary, "answered"), count(&summary, "failed")),
            (100, 0)
        );
        assert_eq!(summary["phases"]["tls_us"]["count"], 2, "{summary:#}");
    }
    let resumed = summary(&["-c", "1", "-n", "50", "--no-keepalive", "--insecure", &url]);
    assert_eq!(count(&resumed, "answered"), 50);
    assert!(server.stop().tls_resumed >= 40);
}

#[test]
fn files_for_tls_that_cannot_be_used_are_refused_even_where_no_tls_is() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let no_pem = folder.path().join("no.pem");
    std::fs::write(&no_pem, "no certificate").unwrap();
    for flag in ["--cacert", "--cert"] {
        let said = loadline(&["-n", "10", flag, text(&no_pem), &url(&server, "")]);
        assert_eq!(said.code, Some(2), "{flag}");
        let sentence = "it holds no PEM certificate";
        assert!(said.stderr.contains(sentence), "{}", said.stderr);
    }
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn a_certificate_that_nobody_trusts_ends_the_run_before_it_begins() {
    let server = serve_with(|config| config.tls = true);
    let said = loadline(&["-n", "10", &format!("https://{}/", server.addr())]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("--cacert") && said.stderr.contains("--insecure"),
        "{}",
        said.stderr
    );
    assert!(said.stdout.is_empty());
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn a_unix_socket_stands_for_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let server = serve_with(|config| config.unix_socket = Some(path.clone()));
    let url = "http://a.name.that.nobody.knows.invalid/?size=100000";
    let summary = summary(&["-c", "2", "-n", "100", "--unix-socket", text(&path), url]);
    assert_eq!(count(&summary, "answered"), 100);
    assert!(count(&summary, "bytes_in") > 100 * 100_000);
    assert_eq!(server.stop().requests, 100);
}

#[test]
fn connections_go_where_connect_to_says() {
    let server = serve();
    let rule = format!("shop.invalid:80:127.0.0.1:{}", server.addr().port());
    let flags = [
        "-c",
        "1",
        "-n",
        "10",
        "--connect-to",
        &rule,
        "http://shop.invalid/",
    ];
    assert_eq!(count(&summary(&flags), "answered"), 10);
    assert_eq!(server.stop().requests, 10);
}

#[test]
fn addresses_of_a_name_that_do_not_answer_are_left_out() {
    let server = serve();
    // `localhost` may be ::1 as well, where nobody listens.
    let url = format!("http://localhost:{}/", server.addr().port());
    let summary = summary(&["-c", "4", "-n", "100", &url]);
    assert_eq!(
        (count(&summary, "answered"), count(&summary, "failed")),
        (100, 0)
    );
}

#[test]
fn local_addresses_are_taken_in_turn() {
    let server = serve();
    let url = url(&server, "");
    let flags = [
        "-c",
        "4",
        "-n",
        "40",
        "--local-address",
        "127.0.0.2,127.0.0.3",
        &url,
    ];
    assert_eq!(count(&summary(&flags), "answered"), 40);
}

#[test]
fn nobody_there_is_said_at_once() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let refused = format!("http://127.0.0.1:{port}/");
    for (words, said_is) in [
        (vec![refused.as_str()], "start the server"),
        (vec![refused.as_str(), "--no-keepalive"], "start the server"),
        (vec!["http://nobody.invalid/"], "correct the name"),
        (
            vec!["--unix-socket", "/nowhere/at.all", "http://localhost/"],
            "correct the path",
        ),
    ] {
        let said = loadline(&words);
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.stderr);
        assert!(said.stderr.contains(said_is), "{words:?}: {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{words:?}: {}", said.stderr);
        assert!(said.stdout.is_empty(), "{words:?}: {}", said.stdout);
    }
}

#[test]
fn several_urls_are_taken_in_turn() {
    let server = serve();
    let (found, missing) = (url(&server, "status=200"), url(&server, "status=404"));
    let summary = summary(&["-c", "1", "-n", "100", &found, &missing]);
    assert_eq!(summary["statuses"]["200"], 50);
    assert_eq!(summary["statuses"]["404"], 50);
}

#[test]
fn many_hosts_need_no_more_descriptors_than_there_are() {
    let server = serve_with(|config| config.listen = ([0, 0, 0, 0], 0).into());
    let folder = tempfile::tempdir().unwrap();
    let (list, port) = (folder.path().join("urls"), server.addr().port());
    let urls: String = (1..=30)
        .map(|host| format!("http://127.0.0.{host}:{port}/\n"))
        .collect();
    std::fs::write(&list, urls).unwrap();
    let words = "-c 20 -t 1 -n 3000 --no-progress --allow-invalid -o json --urls";
    let line = format!("ulimit -n 100; exec \"$0\" {words} \"$1\"");
    let said = std::process::Command::new("sh")
        .args(["-c", &line, text(&crate::rig::program()), text(&list)])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    let stdout = String::from_utf8_lossy(&said.stdout);
    assert_fits(&stdout);
    let report: Value = serde_json::from_str(&stdout).expect(&errors);
    assert_eq!(failures(&report["summary"], "descriptors"), 0);
    assert_eq!(count(&report["summary"], "answered"), 3_000, "{report:#}");
}

#[test]
fn connections_that_a_server_never_closes_need_no_more_descriptors_than_there_are() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // Answers, and leaves the close to its client whatever that asks for.
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 4_096];
                while client.read(&mut buffer).is_ok_and(|read| read > 0) {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                    if client.write_all(answer).is_err() {
                        break;
                    }
                }
            });
        }
    });
    let words = "-c 40 -t 1 -n 2000 --no-keepalive --no-progress --allow-invalid -o json";
    let line = format!("ulimit -n 64; exec \"$0\" {words} \"$1\"");
    let said = std::process::Command::new("sh")
        .args(["-c", &line, text(&crate::rig::program()), &url])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    let report: Value = serde_json::from_slice(&said.stdout).expect(&errors);
    assert_eq!(failures(&report["summary"], "descriptors"), 0);
    assert_eq!(count(&report["summary"], "answered"), 2_000, "{report:#}");
}

#[test]
fn an_answer_whose_end_nobody_vouches_for_is_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = serve_with(|config| config.tls = true);
    let (front, back) = (listener.local_addr().unwrap(), server.addr());
    let url = format!("https://{front}/?until-close=1&size=100");
    // Passes everything on, but for the last record of the server: its word that it ends here.
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let server = TcpStream::connect(back).unwrap();
            pass_on_without_last_record(client.unwrap(), server);
        }
    });
    let words = [
        "-c",
        "1",
        "-n",
        "3",
        "--insecure",
        "--no-progress",
        "-o",
        "json",
        &url,
    ];
    let said = loadline(&words);
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(failures(&report["summary"], "protocol"), 3, "{report:#}");
    let direct = format!("https://{back}/?until-close=1&size=100");
    let summary = summary(&["-c", "1", "-n", "3", "--insecure", &direct]);
    assert_eq!(count(&summary, "answered"), 3);
}

/// Passes bytes both ways; of what the server sends before it closes, the last record is kept back.
fn pass_on_without_last_record(mut client: TcpStream, mut server: TcpStream) {
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
    let mut record = Vec::new();
    loop {
        let mut head = [0; 5];
        if server.read_exact(&mut head).is_err() {
            break;
        }
        if client.write_all(&record).is_err() {
            break;
        }
        let length = u16::from_be_bytes([head[3], head[4]]);
        record = vec![0; usize::from(length)];
        server.read_exact(&mut record).unwrap();
        record.splice(0..0, head);
        // Only the farewell is so short: an alert.
        if length > 24 {
            client.write_all(&record).unwrap();
            record.clear();
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

#[test]
fn users_share_as_many_connections_as_they_are_given() {
    let server = serve();
    let target = url(&server, "delay=2ms");
    let words = [
        "-c",
        "20",
        "--shared-connections",
        "2",
        "-t",
        "1",
        "-n",
        "60",
    ];
    let found = summary(&[&words[..], &[&target]].concat());
    assert_eq!(count(&found, "answered"), 60);
    let said = loadline(&[&words[..], &["--allow-invalid", &target]].concat());
    let users = "closed loop: 20 users on 2 shared connections";
    assert!(
        said.stdout.contains(users),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert_eq!(server.stop().connections, 4);
    for (more, refused) in [
        (["--http", "2"], "give --streams."),
        (["--threads", "3"], "--threads 3 needs as many connections"),
    ] {
        let own = ["-c", "20", "--shared-connections", "2", &target];
        let said = loadline(&[&more[..], &own].concat());
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains(refused), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    }
    let none = loadline(&["--shared-connections", "0", &target]);
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    assert!(none.stderr.contains("give at least 1"), "{}", none.stderr);
}
