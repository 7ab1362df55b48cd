//! Answers without a run, and the headers that all of them have.

use super::*;
use crate::state::Model;
use loadline_runner::Commands;
use loadline_web::{Content, HeaderMap};
use std::sync::Arc;

fn routes() -> Routes {
    let model = Model::new(Arc::new(Commands::default()), &[]);
    Routes {
        watched: Watched::new(model, None),
        starting: None,
        of_tool: Arc::default(),
    }
}

fn respond_to(method: Method, path: &str, body: &str) -> Answer {
    routes().answer(&Request {
        method,
        uri: path.parse().unwrap(),
        fields: HeaderMap::new(),
        body: body.to_owned().into(),
    })
}

/// The status, and the message of a JSON answer.
fn message_of(method: Method, path: &str, body: &str) -> (u16, String) {
    let answer = respond_to(method, path, body);
    let Content::Whole(bytes) = &answer.content else {
        panic!("no text");
    };
    let value: Value = serde_json::from_slice(bytes).unwrap();
    let message = value["message"].as_str().unwrap_or_default();
    (answer.status.as_u16(), message.to_owned())
}

#[test]
fn commands_without_a_run_are_refused_in_a_sentence() {
    for (path, body) in [
        ("/api/v1/pause", ""),
        ("/api/v1/level", r#"{"percent": 120}"#),
        ("/api/v1/level", r#"{"users": 3}"#),
    ] {
        let (status, message) = message_of(Method::POST, path, body);
        assert_eq!(status, 409, "{path}");
        assert!(message.starts_with("No load is under way"), "{message}");
    }
    let (status, message) = message_of(Method::POST, "/api/v1/resume", "");
    assert_eq!(
        (status, message.contains("not paused")),
        (409, true),
        "{message}"
    );
}

#[test]
fn a_level_that_can_not_be_read_says_how_it_is_written() {
    for body in [
        "",
        "[]",
        "null",
        "{}",
        r#"{"percent": 120, "users": 3}"#,
        r#"{"percent": "many"}"#,
        r#"{"percent": -1}"#,
        r#"{"percent": 1e300}"#,
        r#"{"rate": "fast"}"#,
        r#"{"rate": {}}"#,
        r#"{"users": -3}"#,
        r#"{"users": 99999999999}"#,
        r#"{"level": 3}"#,
        r#"{"scenario": "browse"}"#,
        r#"{"scenario": "browse", "users": 3}"#,
    ] {
        let (status, message) = message_of(Method::POST, "/api/v1/level", body);
        assert_eq!(status, 400, "{body}");
        assert!(message.len() > 20, "{body}: {message}");
    }
}

#[test]
fn changes_are_made_by_post_and_nothing_else_is() {
    for path in ["pause", "resume", "stop", "abort", "level"] {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::HEAD] {
            let answer = respond_to(method, &format!("/api/v1/{path}"), "");
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(answer.fields[ALLOW], "POST");
        }
    }
    let answer = respond_to(Method::POST, "/api/v1/state", "");
    assert_eq!(answer.fields[ALLOW], "GET, HEAD");
    let answer = respond_to(Method::PUT, "/api/v1/baseline", "");
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.fields[ALLOW], "GET, HEAD, POST");
    assert_eq!(message_of(Method::GET, "/nowhere", "").0, 404);
}

#[test]
fn reports_come_with_the_end() {
    assert_eq!(message_of(Method::GET, "/report.json", "").0, 409);
    let (status, message) = message_of(Method::GET, "/saved.run", "");
    assert_eq!(
        (status, message.contains("--save FILE")),
        (404, true),
        "{message}"
    );
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    for path in [
        "/",
        "/api/v1/state",
        "/api/v1/events",
        "/nowhere",
        "/api/v1/openapi.json",
    ] {
        let fields = respond_to(Method::GET, path, "").fields;
        let policy = fields[document::POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self'"), "{policy}");
        assert!(
            !policy.contains("unsafe") && !policy.contains('*'),
            "{policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(fields["x-content-type-options"], "nosniff");
        assert_eq!(fields["cache-control"], "no-store");
    }
}

#[cfg(feature = "html")]
#[test]
fn the_scripts_of_the_page_have_the_nonce_of_its_policy() {
    let answer = respond_to(Method::GET, "/", "");
    let policy = answer.fields[document::POLICY].to_str().unwrap().to_owned();
    let Content::Whole(bytes) = answer.content else {
        panic!("no document");
    };
    let html = String::from_utf8(bytes.to_vec()).unwrap();
    let (_, rest) = policy.split_once("script-src 'nonce-").unwrap();
    let (nonce, _) = rest.split_once('\'').unwrap();
    assert!(html.matches(&format!("nonce=\"{nonce}\"")).count() >= 3);
    assert!(html.contains("{\"kind\":\"live\""));
    assert!(!html.contains("http-equiv=\"Content-Security-Policy\""));
}

#[test]
fn a_note_has_a_text_and_a_run() {
    for body in [
        "",
        "{}",
        r#"{"text": " \n "}"#,
        r#"{"text": 3}"#,
        r#"{"at_s": -1, "text": "deployed"}"#,
        r#"{"at_s": 1e30, "text": "deployed"}"#,
        r#"{"at": 3, "text": "deployed"}"#,
    ] {
        let (status, message) = message_of(Method::POST, "/api/v1/note", body);
        assert_eq!(status, 400, "{body}");
        assert!(message.ends_with('.'), "{body}: {message}");
    }
    let (status, message) = message_of(Method::POST, "/api/v1/note", r#"{"text": "deployed"}"#);
    assert_eq!(status, 409);
    assert!(message.starts_with("There is no run"), "{message}");
}

#[test]
fn what_needs_a_run_or_a_folder_says_so() {
    assert_eq!(message_of(Method::GET, "/api/v1/slow", "").0, 400);
    let cell = "/api/v1/slow?from_s=0&to_s=1&from_us=0&to_us=1e6";
    assert_eq!(message_of(Method::GET, cell, "").0, 409);
    let all_times = "/api/v1/slow?from_s=0&to_s=1";
    assert_eq!(message_of(Method::GET, all_times, "").0, 409);
    for none in ["from_us=slow", "to_us="] {
        let cell = format!("{all_times}&{none}");
        assert_eq!(message_of(Method::GET, &cell, "").0, 400, "{cell}");
    }
    assert_eq!(message_of(Method::GET, "/api/v1/baseline", "").0, 404);
    assert_eq!(message_of(Method::GET, "/report.html", "").0, 409);
    let (status, message) = message_of(Method::POST, "/api/v1/baseline", r#"{"name": "a.run"}"#);
    assert_eq!(
        (status, message.contains("loadline web")),
        (404, true),
        "{message}"
    );
}
