//! Counts in the words of ab and oha, and in ours, of the same responses.
//!
//! Every n-th request to the test server has another status, or a response that breaks off, whoever
//! sends it. So all tools count the same, to the last request. The loads are drawn anew each time.
//! (For wrk and wrk2 `live_page.rs` has this, for k6 `k6/outputs.rs`, for Locust
//! `python/tests/test_locust_agreement.py`.)

use crate::rig::{
    CommandOutput, command, count, failures, loadline, serve, statuses, summary, url,
};
use proptest::prelude::*;
use serde_json::Value;

/// The loads that are drawn for a tool, and the most that are tried to find a smaller one that
/// fails: each of them runs the command several times.
pub(crate) fn few(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        max_shrink_iters: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What every n-th response is.
#[derive(Clone, Copy, Debug)]
enum Odd {
    /// One with the status 503, in one process or in two.
    Status { on_processes: bool },
    /// One that breaks off. On processes chance says which body is the first, with which ab
    /// compares: none is broken there.
    Broken,
}

/// A load, and what every n-th response of its server is.
#[derive(Clone, Debug)]
struct Load {
    requests: u64,
    connections: u64,
    every: u64,
    odd: Odd,
}

/// Draws a load.
fn any_load() -> impl Strategy<Value = Load> {
    let odd = prop_oneof![
        any::<bool>().prop_map(|on_processes| Odd::Status { on_processes }),
        Just(Odd::Broken),
    ];
    (2..9_u64, 40..240_u64, 1..10_u64, odd).prop_map(|(connections, more, after, odd)| Load {
        requests: connections + more,
        connections,
        // ab compares with the first body that comes: no broken one is among the first.
        every: connections + after,
        odd,
    })
}

impl Load {
    fn options(&self) -> String {
        let what = match self.odd {
            Odd::Broken => "fault=close-in-body",
            Odd::Status { .. } => "status=503",
        };
        format!("{what}&every={}", self.every)
    }

    /// The words of a tool for this load.
    fn words(&self, tool: &[&str], url: &str) -> Vec<String> {
        let (requests, connections) = (self.requests.to_string(), self.connections.to_string());
        let load = ["-n", &requests, "-c", &connections, url];
        let processes: &[&str] = match self.odd {
            Odd::Status { on_processes: true } => &["--processes", "2"],
            Odd::Status { .. } | Odd::Broken => &[],
        };
        let words = [processes, tool, &load].concat();
        words.into_iter().map(str::to_owned).collect()
    }

    /// What a tool says of the load, on a server of its own.
    fn output_of<T>(&self, tool: &[&str], run: impl FnOnce(&[&str]) -> T) -> T {
        let server = serve();
        let words = self.words(tool, &url(&server, &self.options()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = run(&words);
        assert_eq!(server.stop().requests, self.requests, "{words:?}");
        said
    }
}

/// Our own counts of a load.
fn ours(load: &Load) -> Value {
    let ours = load.output_of(&[], summary);
    let odd = load.requests / load.every;
    let expected = match load.odd {
        Odd::Broken => (0, odd),
        Odd::Status { .. } => (odd, 0),
    };
    let counted = (statuses(&ours, "503"), failures(&ours, "read"));
    assert_eq!(counted, expected, "{ours:#}");
    ours
}

/// The number on the line of ab's report that begins so; 0 if there is none.
fn number(report: &str, name: &str) -> u64 {
    let mut lines = report.lines();
    let line = lines.find_map(|line| line.strip_prefix(name));
    let number = line.map(|rest| rest.trim_start_matches(':').trim().parse());
    number.map_or(0, |number| {
        number.unwrap_or_else(|_| panic!("{name} in {report}"))
    })
}

fn assert_abs_words_agree(load: &Load, tool: &[&str], ours: &Value) {
    let said: CommandOutput = load.output_of(tool, loadline);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let ended = count(ours, "answered") + count(ours, "failed");
    // All bodies have to be as long as the first, also where that ended early.
    let is_first_whole = said.stdout.contains("Document Length:        60 bytes");
    let failed = match (&load.odd, is_first_whole) {
        (Odd::Broken, false) => count(ours, "answered"),
        (Odd::Broken, true) | (Odd::Status { .. }, _) => count(ours, "failed"),
    };
    for (name, expected) in [
        ("Complete requests", ended),
        ("Failed requests", failed),
        ("Non-2xx responses", statuses(ours, "503")),
    ] {
        let found = number(&said.stdout, name);
        assert_eq!(found, expected, "{name} in {}", said.stdout);
    }
}

fn assert_ohas_words_agree(load: &Load, ours: &Value) {
    let tool = ["oha", "--no-tui", "--output-format", "json"];
    let output = load.output_of(&tool, |words| command(words).output().unwrap());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let theirs: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(
        theirs["statusCodeDistribution"], ours["statuses"],
        "{theirs:#}"
    );
    let errors = theirs["errorDistribution"].as_object().expect("errors");
    let failed: u64 = errors.values().filter_map(Value::as_u64).sum();
    assert_eq!(failed, count(ours, "failed"), "{theirs:#}");
}

proptest! {
    #![proptest_config(few(6))]

    #[test]
    fn counts_in_abs_words_and_in_ours_agree_to_the_last_request(load in any_load()) {
        let ours = ours(&load);
        assert_abs_words_agree(&load, &["ab", "-q"], &ours);
        assert_abs_words_agree(&load, &["ab", "-q", "-k"], &ours);
    }

    #[test]
    fn counts_in_ohas_words_and_in_ours_agree_to_the_last_request(load in any_load()) {
        assert_ohas_words_agree(&load, &ours(&load));
    }
}
