//! The report that is posted when a run has ended.

use super::bodies::Bodies;
use super::{Receiver, run_with};
use crate::rig::{serve, url};
use crate::schemas::assert_fits;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn the_report_of_a_run_is_posted_once() {
    let (server, receiver) = (serve(), Bodies::listen());
    let output = format!("webhook=http://{}/done?token=hidden", receiver.address);
    let target = url(&server, "");
    let words = [
        "-c",
        "1",
        "-n",
        "50",
        "--no-watch",
        "--allow-invalid",
        "-q",
        "-o",
        &output,
    ];
    let variables = [("LOADLINE_WEBHOOK_BEARER_TOKEN", "secret")];
    let said = run_with(&[&words[..], &[&target]].concat(), &variables);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let taken = receiver.taken();
    let [(head, body)] = taken.as_slice() else {
        panic!("{} messages", taken.len());
    };
    assert!(
        head.starts_with("POST /done?token=hidden HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\nAuthorization: Bearer secret\r\n"),
        "{head}"
    );
    let text = String::from_utf8(body.clone()).unwrap();
    assert_fits(&text);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["summary"]["answered"], 50);
    assert!(!text.contains("secret") && !text.contains("hidden"));
}

/// A receiver of webhooks that writes what it was sent into a folder.
fn hooks(folder: &Path) -> Receiver {
    let script = folder.join("keep");
    std::fs::write(
        &script,
        "#!/bin/sh\nprintf '%s' \"$2\" >body\necho \"$1\" >count\n",
    )
    .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = json!([{
        "id": "done",
        "execute-command": script,
        "command-working-directory": folder,
        "pass-arguments-to-command": [
            {"source": "payload", "name": "summary.answered"},
            {"source": "entire-payload"},
        ],
        "trigger-rule": {"match": {
            "type": "value",
            "value": "Bearer secret",
            "parameter": {"source": "header", "name": "Authorization"},
        }},
        "trigger-rule-mismatch-http-response-code": 403,
    }]);
    let file = folder.join("hooks.json");
    std::fs::write(&file, hooks.to_string()).unwrap();
    Receiver::start("webhook", |_, port| {
        let words = [
            "-hooks",
            file.to_str().unwrap(),
            "-ip",
            "127.0.0.1",
            "-port",
        ];
        let words = words.iter().map(|word| (*word).to_owned());
        words.chain([port.to_string()]).collect()
    })
}

#[test]
fn a_webhook_server_acts_on_the_report_of_whoever_has_the_token() {
    let (server, folder) = (serve(), tempfile::tempdir().unwrap());
    let receiver = hooks(folder.path());
    let output = format!("webhook={}", receiver.url("/hooks/done"));
    let target = url(&server, "");
    let words = [
        "-c",
        "1",
        "-n",
        "50",
        "--no-watch",
        "--allow-invalid",
        "-q",
        "-o",
    ];
    let words = [&words[..], &[&output, &target]].concat();
    let wrong = run_with(&words, &[("LOADLINE_WEBHOOK_BEARER_TOKEN", "wrong")]);
    assert_eq!(wrong.code, Some(0));
    let sentence = "it answered 403";
    assert!(wrong.stderr.contains(sentence), "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("wrong"), "{}", wrong.stderr);
    let right = run_with(&words, &[("LOADLINE_WEBHOOK_BEARER_TOKEN", "secret")]);
    assert_eq!((right.code, right.stderr.as_str()), (Some(0), ""));
    let patience = Instant::now() + Duration::from_secs(60);
    let count = folder.path().join("count");
    while std::fs::read_to_string(&count).unwrap_or_default() != "50\n" {
        assert!(Instant::now() < patience, "nothing is done");
        std::thread::sleep(Duration::from_millis(50));
    }
    let body = std::fs::read(folder.path().join("body")).unwrap();
    let report: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(report["summary"]["answered"], 50);
}
