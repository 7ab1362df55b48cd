//! Counts in the words of ab and oha, and in ours, of the same responses.
//!
//! Every n-th request to the test server has another status, or a response that breaks off, whoever
//! sends it. So all tools count the same, to the last request. (For wrk and wrk2 `live_page.rs` has
//! this, for k6 `k6/outputs.rs`, for Locust `python/tests/test_locust_agreement.py`.)

use crate::rig::{Said, command, count, failures, loadline, serve, statuses, summary, url};
use serde_json::Value;

/// A load, and what every n-th response of its server is.
struct Load {
    requests: u64,
    connections: u64,
    every: u64,
    is_broken: bool,
    on_processes: bool,
}

impl Load {
    /// The load of this seed.
    fn drawn(seed: u64) -> Load {
        let draw = |salt: u64, below: u64| {
            let mixed = (seed * 31 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 33) % below
        };
        let connections = 2 + draw(1, 7);
        Load {
            requests: connections + 40 + draw(2, 200),
            connections,
            // ab compares with the first body that comes: no broken one is among the first.
            every: connections + 1 + draw(3, 9),
            is_broken: seed % 2 == 1,
            // On processes chance says which body is the first: none is broken.
            on_processes: seed % 4 == 2,
        }
    }

    fn options(&self) -> String {
        let what = match self.is_broken {
            true => "fault=close-in-body",
            false => "status=503",
        };
        format!("{what}&every={}", self.every)
    }

    /// The words of a tool for this load.
    fn words(&self, tool: &[&str], url: &str) -> Vec<String> {
        let (requests, connections) = (self.requests.to_string(), self.connections.to_string());
        let load = ["-n", &requests, "-c", &connections, url];
        let processes: &[&str] = match self.on_processes {
            true => &["--processes", "2"],
            false => &[],
        };
        let words = [processes, tool, &load].concat();
        words.into_iter().map(str::to_owned).collect()
    }

    /// What a tool says of the load, on a server of its own.
    fn said<T>(&self, tool: &[&str], run: impl FnOnce(&[&str]) -> T) -> T {
        let server = serve();
        let words = self.words(tool, &url(&server, &self.options()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = run(&words);
        assert_eq!(server.stop().requests, self.requests, "{words:?}");
        said
    }
}

/// The loads that are tried, with our own counts of each.
fn loads() -> impl Iterator<Item = (Load, Value)> {
    (0..8).map(|seed| {
        let load = Load::drawn(seed);
        let ours = load.said(&[], summary);
        let odd = load.requests / load.every;
        let expected = if load.is_broken { (0, odd) } else { (odd, 0) };
        let counted = (statuses(&ours, "503"), failures(&ours, "read"));
        assert_eq!(counted, expected, "{ours:#}");
        (load, ours)
    })
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

#[test]
fn counts_in_abs_words_and_in_ours_agree_to_the_last_request() {
    for (load, ours) in loads() {
        for tool in [&["ab", "-q"][..], &["ab", "-q", "-k"]] {
            let said: Said = load.said(tool, loadline);
            assert_eq!(said.code, Some(0), "{}", said.stderr);
            let of = |name: &str| number(&said.stdout, name);
            let ended = count(&ours, "answered") + count(&ours, "failed");
            assert_eq!(of("Complete requests"), ended, "{}", said.stdout);
            assert_eq!(
                of("Failed requests"),
                count(&ours, "failed"),
                "{}",
                said.stdout
            );
            assert_eq!(
                of("Non-2xx responses"),
                statuses(&ours, "503"),
                "{}",
                said.stdout
            );
        }
    }
}

#[test]
fn counts_in_ohas_words_and_in_ours_agree_to_the_last_request() {
    for (load, ours) in loads() {
        let tool = ["oha", "--no-tui", "--output-format", "json"];
        let output = load.said(&tool, |words| command(words).output().unwrap());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let theirs: Value = serde_json::from_slice(&output.stdout).expect("a report");
        assert_eq!(
            theirs["statusCodeDistribution"], ours["statuses"],
            "{theirs:#}"
        );
        let errors = theirs["errorDistribution"].as_object().expect("errors");
        let failed: u64 = errors.values().filter_map(Value::as_u64).sum();
        assert_eq!(failed, count(&ours, "failed"), "{theirs:#}");
    }
}
