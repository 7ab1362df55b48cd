//! The browser of somebody who watches for long.

use super::{Running, words};
use crate::browser::Tab;
use crate::rig::{beside_others, serve, text, url};
use serde_json::json;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

const NAMES: usize = 2000;
/// The most memory that the tab may have, in bytes.
const MOST_BYTES: u64 = 200_000_000;
/// The most time that scripts may take, of a second.
const MOST_SCRIPTING: f64 = 0.1;

/// The minutes that the tab is open, by `MINUTES`.
fn minutes() -> u64 {
    let minutes = std::env::var("MINUTES").map_or(Ok(60), |text| text.parse());
    minutes.expect("MINUTES is a number")
}

#[test]
#[ignore = "an hour; make soak runs it"]
#[allow(clippy::print_stderr, reason = "it measures")]
fn a_tab_that_watched_two_thousand_names_for_an_hour_is_small_and_quick() {
    let folder = tempfile::tempdir().unwrap();
    let (list, server) = (folder.path().join("list"), serve());
    let _beside_others = beside_others();
    let line = |number: usize| {
        json!({ "name": format!("name {number}"), "url": url(&server, "delay=2ms") }).to_string()
    };
    let lines: Vec<String> = (0..NAMES).map(line).collect();
    fs::write(&list, lines.join("\n")).unwrap();
    let running = Running::begin(&words(&["-r", "1000", "-d", "3h", "--urls"], text(&list)));
    let Some(mut tab) = Tab::open(&running.url) else {
        running.command("abort", "");
        running.end();
        return;
    };
    running.await_that(|state| {
        let rows = state["page"]["names"].as_array();
        rows.is_some_and(|rows| rows.len() >= NAMES)
    });
    tab.await_that("/of 2.000 names/.test(document.querySelector('.filter')?.textContent)");
    tab.value(
        "[...document.querySelectorAll('.filter button')]\
         .find((button) => button.textContent === 'Show all').click()",
    );
    tab.await_that("document.querySelectorAll('.virtual .named tbody tr').length > 10");
    let mut scripting = Vec::new();
    for minute in 1..=minutes() {
        let (begun, before) = (Instant::now(), tab.metric("ScriptDuration"));
        thread::sleep(Duration::from_secs(60));
        let scripted = tab.metric("ScriptDuration") - before;
        scripting.push(scripted / begun.elapsed().as_secs_f64());
        if minute % 10 == 0 || minute == minutes() {
            tab.collect_garbage();
            let bytes = tab.memory_bytes();
            let objects = tab.metric("JSHeapUsedSize");
            eprintln!(
                "after {minute} min: {} MB, {:.1} of them objects; scripts take {:.0} ms a second",
                bytes / 1_000_000,
                objects / 1e6,
                scripting[scripting.len() - 1] * 1e3
            );
            assert!(bytes <= MOST_BYTES, "{bytes} bytes after {minute} minutes");
        }
    }
    let most = scripting.iter().copied().fold(0.0, f64::max);
    assert!(most <= MOST_SCRIPTING, "scripts take {most} of a second");
    assert_eq!(tab.errors, Vec::<String>::new());
    running.command("abort", "");
    running.end();
}
