//! Any words as the arguments of ab, wrk or wrk2: either they are refused in the tool's manner, or
//! what is sent is one request that says what was asked for.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use loadline_tool_ab as ab;
use loadline_tool_wrk::{Arguments, Tool};
use std::ffi::OsString;

#[derive(Arbitrary, Debug)]
enum Called {
    Ab,
    Wrk,
    Wrk2,
}

fuzz_target!(|line: (Called, Vec<String>)| {
    let (called, words) = line;
    match called {
        Called::Ab => ab_takes(&words),
        Called::Wrk => wrk_takes(Tool::Wrk, &words),
        Called::Wrk2 => wrk_takes(Tool::Wrk2, &words),
    }
});

fn ab_takes(words: &[String]) {
    let body = b"body";
    match ab::request(words, |_| Ok(body.to_vec())) {
        Ok(bytes) => assert_ab_sends(words, &bytes, body),
        Err(code) => assert!(matches!(code, 0 | 1 | 22), "{code}"),
    }
}

/// The head is one, unless a word brings lines of its own, which ab sends as they are.
fn assert_ab_sends(words: &[String], bytes: &[u8], body: &[u8]) {
    let head = bytes.strip_suffix(body).unwrap_or(bytes);
    assert!(head.ends_with(b"\r\n\r\n") && head.len() < 8192);
    if words.iter().all(|word| !word.contains(['\r', '\n'])) {
        let text = String::from_utf8_lossy(head);
        let first = text.split("\r\n").next().expect("a first line");
        assert!(first.ends_with(" HTTP/1.0"), "{first}");
    }
}

fn wrk_takes(tool: Tool, words: &[String]) {
    let words = words.iter().map(OsString::from);
    match Arguments::parse(tool, words) {
        Ok(arguments) => {
            assert!(arguments.threads > 0 && arguments.connections >= arguments.threads);
            assert_eq!(arguments.rate.is_some(), tool == Tool::Wrk2);
            if let Ok(plan) = arguments.plan() {
                let url = &plan.requests[0].url;
                assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
            }
            // Fields that say where a body ends can't be sent without one, which is told.
            let _ = arguments.repetition();
        }
        Err(refusal) => assert!(refusal.stdout.contains("Usage: wrk <options> <url>")),
    }
}
