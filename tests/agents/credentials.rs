//! Each kind of credentials against a real bus, and that they are nowhere afterwards.

use super::{Agent, Bus, url};
use crate::openssl::make_certificate;
use crate::rig::{CommandOutput, beside_others, command, loadline, serve, text};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// A word that is nowhere but in credentials.
const SECRET: &str = "hunter2-of-the-bus";

#[test]
fn a_bus_may_require_a_token() {
    let bus = Bus::start(&["--auth", SECRET]);
    let port = bus.port;
    let said = loadline(&["agents", "--nats", &bus.url()]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("refuses its user"), "{}", said.stderr);
    let wrong = format!("nats://{SECRET}x@127.0.0.1:{port}");
    let said = loadline(&["agents", "--nats", &wrong]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("refuses its user"), "{}", said.stderr);
    assert!(!said.stderr.contains(SECRET), "{}", said.stderr);
    let right = format!("nats://{SECRET}@127.0.0.1:{port}");
    let _agent = Agent::start(&right, "allowed", &[]);
    let said = loadline(&["agents", "--nats", &right]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("allowed"), "{}", said.stdout);
}

#[test]
fn a_bus_may_know_its_users_by_tokens_that_an_account_has_issued() {
    // As `nsc` writes them: an operator, an account and a user, for this test alone.
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/operator");
    let (config, creds) = (files.join("config"), files.join("creds"));
    let bus = Bus::start(&["-c", text(&config)]);
    let nats = bus.url();
    let said = loadline(&["agents", "--nats", &nats]);
    assert!(said.stderr.contains("refuses its user"), "{}", said.stderr);
    let creds = ["--nats-creds", text(&creds)];
    let _agents = ["one", "two"].map(|name| Agent::start(&nats, name, &creds));
    let server = serve();
    let front = ["--nats", &nats, "--agents", "2"];
    let load = ["-c", "2", "-n", "20", "--allow-invalid", &url(&server)];
    let said = loadline(&[&front[..], &creds, &load].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(server.stop().answers, 20);
}

#[test]
fn what_a_bus_does_not_permit_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let users = [
        "{ user: deaf, password: p, permissions: { subscribe: [\"other\"] } }",
        "{ user: mute, password: p, permissions: { publish: [\"other\"] } }",
    ];
    let users = format!("authorization {{ users: [ {} ] }}\n", users.join(", "));
    fs::write(&config, users).unwrap();
    let bus = Bus::start(&["-c", text(&config)]);
    let of = |user: &str| format!("nats://{user}:p@127.0.0.1:{}", bus.port);
    let run = ["--agents", "1", "http://127.0.0.1:9/"];
    for (words, user) in [
        (&["agent"][..], "deaf"),
        (&["agents"], "deaf"),
        (&["agents"], "mute"),
        (&run, "mute"),
    ] {
        let said = loadline(&[words, &["--nats", &of(user)]].concat());
        assert_eq!(said.code, Some(2), "{user}: {words:?}");
        for part in [
            "does not permit its user what Loadline does there",
            "loadline.>",
        ] {
            assert!(said.stderr.contains(part), "{user}: {}", said.stderr);
        }
    }
}

/// Runs a load that is saved, with these flags of the bus. Returns what it has said.
fn run_saved(folder: &Path, front: &[&str], server: &str) -> CommandOutput {
    let saved = folder.join("a.run");
    let json = format!("json={}", folder.join("report.json").display());
    let html = format!("csv={}", folder.join("report.csv").display());
    let outputs = [
        "--save",
        text(&saved),
        "-o",
        &json,
        "-o",
        &html,
        "-o",
        "text",
    ];
    let load = [
        "-r",
        "100",
        "-d",
        "2s",
        "-c",
        "4",
        "--allow-invalid",
        server,
    ];
    let said = loadline(&[front, &outputs, &load].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    said
}

/// Asserts that no file of a folder has the secret, and none of these texts.
fn assert_nowhere(folder: &Path, texts: &[&str]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET), "{}", path.display());
    }
    for text in texts {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn credentials_are_in_no_output_no_saved_run_and_no_log() {
    let bus = Bus::start(&["--user", "anna", "--pass", SECRET]);
    let server = serve();
    let (out, keys) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let password = keys.path().join("password");
    fs::write(&password, format!("{SECRET}\n")).unwrap();
    let in_url = format!("nats://anna:{SECRET}@127.0.0.1:{}", bus.port);
    let log = out.path().join("agent.log");
    let _beside_others = beside_others();
    let mut agent = command(&["agent", "--nats", &in_url, "--name", "one"])
        .stdout(Stdio::from(fs::File::create(&log).unwrap()))
        .stderr(Stdio::from(
            fs::File::options().append(true).open(&log).unwrap(),
        ))
        .spawn()
        .expect("the command");
    let nats = bus.url();
    let in_file = [
        "--nats-user",
        "anna",
        "--nats-password-file",
        text(&password),
    ];
    let by_file = [&["--nats", &*nats, "--agents", "1"][..], &in_file].concat();
    let by_url = ["--nats", &in_url, "--agents", "1"];
    for front in [&by_file[..], &by_url] {
        let said = run_saved(out.path(), front, &url(&server));
        let saved = out.path().join("a.run");
        let shown = loadline(&["report", text(&saved), "-o", "json"]);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        assert!(shown.stdout.contains("one"), "the agent is named");
        let texts = [&*said.stdout, &said.stderr, &shown.stdout];
        assert_nowhere(out.path(), &texts);
    }
    agent.kill().unwrap();
    agent.wait().unwrap();
    // A bus that is gone, and one that refuses, are named without the credentials.
    drop(bus);
    let said = loadline(&["agents", "--nats", &in_url]);
    assert_eq!(said.code, Some(2));
    assert_nowhere(out.path(), &[&said.stderr, &said.stdout]);
}

#[test]
fn a_bus_beyond_this_machine_is_refused_without_credentials_and_used_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let (key, certificate) = (folder.path().join("key"), folder.path().join("certificate"));
    make_certificate(text(&key), text(&certificate));
    let files = ["--tlscert", text(&certificate), "--tlskey", text(&key)];
    let bus = Bus::start(&[&["--tls", "--auth", SECRET], &files[..]].concat());
    // TLS alone is no credential; the name is one that nobody serves.
    for command in ["agent", "agents"] {
        let said = loadline(&[command, "--nats", "tls://bus.invalid:4222"]);
        assert_eq!(said.code, Some(2));
        assert!(said.stderr.contains("--insecure-bus"), "{}", said.stderr);
    }
    let ca = ["--nats-ca", text(&certificate)];
    let right = format!("tls://{SECRET}@127.0.0.1:{}", bus.port);
    let _agent = Agent::start(&right, "allowed", &ca);
    let said = loadline(&[&["agents", "--nats", &right], &ca[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("allowed"), "{}", said.stdout);
}
