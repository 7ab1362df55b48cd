//! Flags of other load testers that people type by habit, and what to write here instead.
//!
//! The nearest name of ours would mislead: `--rps` is no `--urls`.

/// Flags of others, and the one of ours that does the same.
const SAME: [(&[&str], &str); 17] = [
    (
        &["rps", "qps", "request-rate", "arrival-rate", "throughput"],
        "--rate (-r)",
    ),
    (
        &[
            "vus",
            "concurrency",
            "clients",
            "virtual-users",
            "num-connections",
            "workers",
        ],
        "--connections (-c)",
    ),
    (
        &[
            "iterations",
            "num-requests",
            "total-requests",
            "count",
            "number",
        ],
        "--requests (-n)",
    ),
    (
        &["time", "run-time", "test-duration", "timelimit"],
        "--duration (-d)",
    ),
    (
        &[
            "data",
            "data-raw",
            "data-binary",
            "payload",
            "post-data",
            "postfile",
            "body-file",
        ],
        "--body",
    ),
    (&["http-method", "request-method", "verb"], "--method (-X)"),
    (&["headers", "add-header", "custom-header"], "--header (-H)"),
    (&["cookie", "cookies"], "-H 'Cookie: name=value'"),
    (&["user-agent", "agent"], "-H 'User-Agent: name'"),
    (&["host", "vhost"], "-H 'Host: name'"),
    (&["auth", "basic-auth", "authentication"], "--user (-u)"),
    (
        &["no-keep-alive", "disable-keepalive", "disable-keep-alive"],
        "--no-keepalive",
    ),
    (
        &["skip-tls-verify", "insecure-skip-tls-verify", "no-verify"],
        "--insecure (-k)",
    ),
    (
        &["threshold", "thresholds", "assert", "sla", "ensure"],
        "--check",
    ),
    (
        &["output-format", "format", "out", "report"],
        "--output (-o)",
    ),
    (&["ramp-up", "rampup", "stage", "ramp"], "--stages"),
    (
        &["no-tui", "no-progress-bar", "silent"],
        "--no-progress, or --quiet (-q)",
    ),
];

/// Flags of others for which there is none here, and what to do.
const OTHERWISE: [(&[&str], &str); 6] = [
    (
        &["json"],
        "to report as JSON take -o json, to send JSON --body and -H 'Content-Type: application/json'.",
    ),
    (
        &[
            "follow",
            "location",
            "redirect",
            "max-redirects",
            "follow-redirects",
        ],
        "redirects are not followed yet; give the URL that they lead to.",
    ),
    (
        &[
            "http2",
            "http2-prior-knowledge",
            "h2",
            "http3",
            "http-version",
        ],
        "HTTP/2 and HTTP/3 are not supported yet; requests are sent with HTTP/1.1.",
    ),
    (
        &["think-time", "sleep", "wait"],
        "there is no think time yet; give a --rate, or a --script whose delay() says how long to wait.",
    ),
    (
        &["latency", "print-latency", "latency-correction"],
        "the report always has all latencies, counted from the intended start of each request.",
    ),
    (&["burst-delay", "burst-rate"], "take --burst SIZE/TIME."),
];

/// What to write instead of this flag, as a sentence without its beginning; `None` if it is no flag
/// that others have.
pub(super) fn instead(flag: &str) -> Option<String> {
    let name = flag.strip_prefix("--")?;
    let among = |names: &[&str]| names.contains(&name);
    let same = SAME.iter().find(|(names, _)| among(names));
    let otherwise = OTHERWISE.iter().find(|(names, _)| among(names));
    same.map(|(_, ours)| format!("take {ours}."))
        .or_else(|| otherwise.map(|(_, text)| (*text).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::command;

    #[test]
    fn no_flag_of_ours_is_called_foreign_and_each_that_is_named_is_ours() {
        let line = command();
        let ours: Vec<&str> = line
            .get_arguments()
            .filter_map(|flag| flag.get_long())
            .collect();
        let foreign = SAME
            .iter()
            .chain(&OTHERWISE)
            .flat_map(|(names, _)| names.iter());
        for name in foreign {
            assert!(!ours.contains(name), "--{name} is a flag of ours");
        }
        let texts = SAME.iter().chain(&OTHERWISE).map(|(_, text)| *text);
        for text in texts {
            let words = text
                .split_whitespace()
                .filter_map(|word| word.strip_prefix("--"));
            for word in words {
                let word = word.trim_end_matches([',', ';', '.', ':']);
                assert!(ours.contains(&word), "--{word} is no flag");
            }
        }
    }

    #[test]
    fn habits_get_the_right_word() {
        assert_eq!(instead("--rps").as_deref(), Some("take --rate (-r)."));
        assert!(instead("--http2").is_some_and(|text| text.contains("not supported yet")));
        assert_eq!(instead("--durtion"), None);
    }
}
