//! The report that is posted when a run has ended.

use super::bodies::Bodies;
use super::run_with;
use crate::rig::{serve, url};
use crate::schemas::assert_fits;
use serde_json::Value;

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
