//! Requests in five parts, by the kernel's clock on both ends.

use crate::rig::{count, loadline, serve, summary, url};
use serde_json::Value;

const PARTS: [&str; 5] = [
    "schedule_wait_us",
    "send_us",
    "wire_and_server_us",
    "wakeup_us",
    "parse_us",
];

fn split(flags: &[&str], url: &str) -> Value {
    summary(&[flags, &[url]].concat())["kernel_timestamps"].clone()
}

#[test]
fn one_in_so_many_is_split_in_parts_that_add_up() {
    let server = serve();
    let url = url(&server, "delay=2ms");
    let split = split(
        &["-c", "4", "-t", "1", "-n", "400", "--kernel-timestamps=1/4"],
        &url,
    );
    assert_eq!(count(&split, "every"), 4);
    for part in PARTS {
        assert_eq!(count(&split[part], "count"), 100, "{split:#}");
    }
    let mean = |name: &str| split[name]["mean"].as_f64().expect("a time");
    // The server's delay is its own, and is in no other part.
    assert!(mean("wire_and_server_us") >= 2_000.0, "{split:#}");
    assert!(mean("schedule_wait_us") == 0.0 && mean("send_us") > 0.0);
    let parts: f64 = PARTS[1..].iter().map(|part| mean(part)).sum();
    let whole = mean("user_space_us");
    assert!((parts - whole).abs() <= whole * 0.002, "{parts} {whole}");
    // A hundred are enough for the one percentile and too few for the other in the text, but the
    // numbers are there.
    assert!(split["overstated_us"]["p50"].is_number());
}

#[test]
fn what_cannot_be_split_is_not() {
    let server = serve();
    let url = url(&server, "");
    let every = "--kernel-timestamps=1/1";
    for flags in [
        &["-c", "2", "-n", "40", "--no-keepalive", every][..],
        &["-c", "2", "-n", "40", "--pipeline", "4", every],
    ] {
        let split = split(flags, &url);
        assert_eq!(count(&split["send_us"], "count"), 0, "{split:#}");
        assert!(split["overstated_us"]["p50"].is_null());
    }
    assert!(split(&["-c", "2", "-n", "40"], &url).is_null());
}

#[test]
fn the_text_says_by_how_much_a_clock_in_user_space_is_off() {
    let server = serve();
    let url = url(&server, "");
    let said = loadline(&["-c", "2", "-n", "2000", "--kernel-timestamps=1/2", &url]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for text in ["Kernel's split", "wire, server", "our parsing"] {
        assert!(said.stdout.contains(text), "{text}: {}", said.stdout);
    }
    let unwrapped = said.stdout.replace("\n  ", " ");
    assert!(
        unwrapped.contains("A user-space clock would have shown"),
        "{}",
        said.stdout
    );
    assert!(unwrapped.contains(" and a p99 of "), "{}", said.stdout);
}

#[test]
fn the_users_clock_contradicts_it() {
    let said = loadline(&[
        "--clock",
        "user",
        "--kernel-timestamps",
        "http://127.0.0.1:1/",
    ]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--clock user"), "{}", said.stderr);
    let said = loadline(&["--kernel-timestamps=5", "http://127.0.0.1:1/"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("1/100"), "{}", said.stderr);
}
