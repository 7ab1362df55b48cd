//! Users that look at responses, against the test server.

use crate::rig::{count, loadline, serve, summary, text};
use serde_json::json;

#[test]
fn a_cookie_is_sent_back_and_a_redirect_followed() {
    let server = serve();
    let address = server.addr();
    let url = format!("http://{address}/?status=302&location=/echo&set-cookie=a%3Db%3B%20Path%3D/");
    let words = [
        "-c",
        "2",
        "-n",
        "20",
        "--cookies",
        "--follow-redirects",
        "1",
    ];
    let found = summary(&[&words[..], &[&url]].concat());
    assert_eq!(found["statuses"], json!({"200": 20, "302": 20}));
    let sent = server.stop();
    assert_eq!((sent.requests, sent.answers), (40, 40));
}

#[test]
fn bodies_are_decoded_and_asked_for() {
    let server = serve();
    let address = server.addr();
    for encoding in ["gzip", "deflate"] {
        let url = format!("http://{address}/?encoding={encoding}&size=100000&drip=50/1ms");
        let found = summary(&["-c", "2", "-n", "20", "--compressed", &url]);
        assert_eq!(
            (count(&found, "answered"), count(&found, "failed")),
            (20, 0)
        );
    }
    // It decompresses to more than is taken.
    let bomb = format!("http://{address}/?encoding=gzip&size=300M");
    let said = loadline(&["-c", "1", "-n", "1", "--compressed", "--no-progress", &bomb]);
    let reason = "the body of gzip decompresses to more than 268435456 bytes";
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stderr.contains(reason), "{}", said.stderr);
}

#[test]
fn what_follows_on_a_redirect_is_in_the_saved_run_and_its_plan_too() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    let url = format!("http://{}/?status=302&location=/", server.addr());
    let words = ["-c", "1", "-n", "5", "--follow-redirects", "3"];
    let found = summary(&[&words[..], &["--save", text(&saved), &url]].concat());
    let again = loadline(&["report", text(&saved), "-o", "json"]);
    let again: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (count(&found, "answered"), count(&found, "failed")),
        (10, 0)
    );
    assert_eq!(again["summary"]["answered"], found["answered"]);
    assert_eq!(again["summary"]["statuses"], json!({"200": 5, "302": 5}));
}

#[test]
fn a_loop_of_redirects_is_told_as_such() {
    let server = serve();
    let url = format!(
        "http://{}/?status=307&location=%3Fstatus%3D307%26location%3D/x",
        server.addr()
    );
    let said = loadline(&[
        "-c",
        "1",
        "-n",
        "3",
        "--follow-redirects",
        "1",
        "--no-progress",
        "--full",
        &url,
    ]);
    assert!(said.stdout.contains("redirect"), "{}", said.stdout);
    assert!(
        said.stdout.contains("more than 1 redirects in a row"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("raise --follow-redirects"),
        "{}",
        said.stdout
    );
}

#[test]
fn what_goes_together_with_nothing_is_refused_in_a_sentence() {
    for (words, start) in [
        (
            &["--cookies", "--pipeline", "4"][..],
            "--cookies looks at each response",
        ),
        (
            &["--compressed", "--http", "2"],
            "--compressed is for HTTP/1.1",
        ),
        (
            &["--follow-redirects", "3", "--script", "none.lua"],
            "--follow-redirects is for",
        ),
        (
            &["--digest"],
            "--digest answers the server's challenge with a password",
        ),
    ] {
        let said = loadline(&[words, &["http://127.0.0.1:9/"]].concat());
        assert_eq!(said.code, Some(2), "{words:?}");
        assert!(said.stderr.contains(start), "{words:?}: {}", said.stderr);
    }
}
