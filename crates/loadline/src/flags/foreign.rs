//! Flags of other load testers (wrk, wrk2, ab, hey, oha, k6, Locust, h2load, vegeta) and of curl
//! that people type by habit, and what to write here instead.
//!
//! The nearest name of ours would mislead: `--rps` is no `--urls`.

/// Names of the same flag in other tools, without their dashes, and the flag of ours.
type Same = (&'static [&'static str], &'static str);

/// Flags of the load.
const LOAD: [Same; 9] = [
    (
        &[
            "rps",
            "qps",
            "request-rate",
            "arrival-rate",
            "throughput",
            "R",
            "overall-rate",
            "requests-per-second",
        ],
        "--rate (-r)",
    ),
    (
        &[
            "vus",
            "users",
            "concurrency",
            "clients",
            "virtual-users",
            "num-connections",
            "workers",
            "parallel",
        ],
        "--connections (-c)",
    ),
    (&["max-workers", "max-vus"], "--max-connections"),
    (&["cpus", "num-threads", "cores"], "--threads (-t)"),
    (
        &[
            "iterations",
            "num-requests",
            "total-requests",
            "count",
            "number",
            "amount",
        ],
        "--requests (-n)",
    ),
    (
        &[
            "time",
            "run-time",
            "test-duration",
            "timelimit",
            "z",
            "length",
        ],
        "--duration (-d)",
    ),
    (
        &[
            "ramp-up",
            "rampup",
            "stage",
            "ramp",
            "spawn-rate",
            "hatch-rate",
        ],
        "--stages",
    ),
    (&["warm-up-time", "warm-up", "reset-stats"], "--warmup"),
    (
        &[
            "stop-timeout",
            "graceful-stop",
            "wait-ongoing-requests-after-deadline",
        ],
        "--drain",
    ),
];

/// Flags of requests.
const REQUEST: [Same; 18] = [
    (
        &["bearer", "token", "oauth2-bearer"],
        "-H 'Authorization: Bearer TOKEN'",
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
            "p",
            "D",
        ],
        "--body (-b) TEXT or @FILE",
    ),
    (
        &["http-method", "request-method", "verb", "request", "m"],
        "--method (-X)",
    ),
    (&["head", "i", "I"], "-X HEAD"),
    (&["headers", "add-header", "custom-header"], "--header (-H)"),
    (
        &["cookie", "C"],
        "-H 'Cookie: name=value', or --cookies to keep those that servers set",
    ),
    (&["cookie-jar", "enable-cookies"], "--cookies"),
    (
        &[
            "follow",
            "location",
            "redirect",
            "redirects",
            "max-redirects",
        ],
        "--follow-redirects N",
    ),
    (&["compression", "decompress"], "--compressed"),
    (&["think-time", "sleep", "wait"], "--think"),
    (&["user-agent", "agent"], "-H 'User-Agent: name'"),
    (&["content-type", "T"], "-H 'Content-Type: type'"),
    (&["accept", "A"], "-H 'Accept: type'"),
    (&["referer"], "-H 'Referer: URL'"),
    (&["host", "vhost"], "-H 'Host: name'"),
    (
        &["auth", "basic-auth", "authentication", "a"],
        "--user (-u)",
    ),
    (
        &["urls-from-file", "targets", "input-file", "url-file"],
        "--urls",
    ),
    (
        &["lua", "script-file", "locustfile", "timing-script-file"],
        "--script (-s), with a script in Lua",
    ),
];

/// Flags of connections.
const CONNECTION: [Same; 10] = [
    (
        &[
            "no-keep-alive",
            "disable-keepalive",
            "disable-keep-alive",
            "no-connection-reuse",
            "no-vu-connection-reuse",
        ],
        "--no-keepalive",
    ),
    (
        &[
            "request-timeout",
            "read-timeout",
            "socket-timeout",
            "max-time",
            "connection-inactivity-timeout",
        ],
        "--timeout",
    ),
    (&["connection-timeout", "dial-timeout"], "--connect-timeout"),
    (&["pipelining"], "--pipeline"),
    (&["max-concurrent-streams"], "--streams"),
    (&["x"], "--proxy"),
    (&["resolve"], "--connect-to"),
    (
        &["laddr", "local-ips", "interface", "bind-address"],
        "--local-address",
    ),
    (
        &[
            "skip-tls-verify",
            "insecure-skip-tls-verify",
            "no-verify",
            "no-check-certificate",
        ],
        "--insecure (-k)",
    ),
    (&["root-certs", "ca-cert", "ca"], "--cacert"),
];

/// Flags of the result.
const RESULT: [Same; 9] = [
    (
        &[
            "threshold",
            "thresholds",
            "assert",
            "sla",
            "ensure",
            "exit-code-on-error",
        ],
        "--check",
    ),
    (
        &["output-format", "format", "out", "report", "summary-export"],
        "--output (-o)",
    ),
    (&["html"], "-o html=FILE"),
    (&["csv"], "-o csv=FILE"),
    (&["print"], "--output (-o)"),
    (&["summary-trend-stats"], "--percentiles"),
    (&["log-file", "dump"], "--log"),
    (
        &[
            "no-tui",
            "no-progress-bar",
            "silent",
            "headless",
            "only-summary",
            "no-summary",
        ],
        "--no-progress, or --quiet (-q)",
    ),
    (&["no-color", "disable-color"], "--color never"),
];

/// Flags of others without a counterpart, and what to do.
const OTHERWISE: [Same; 15] = [
    (
        &["L"],
        "use --follow-redirects N for curl's -L; wrk2's is left out, as the report always has all \
         latencies.",
    ),
    (
        &["junit", "junit-xml", "xml"],
        "use -o junit=FILE, which has each --check as a case.",
    ),
    (
        &[
            "prometheus",
            "prometheus-rw",
            "influxdb",
            "statsd",
            "otel",
            "opentelemetry",
            "grafana",
        ],
        "use -o prometheus-rw=URL, -o influxdb=URL, -o otlp=URL or -o statsd=HOST:PORT, which send \
         metrics while a run lasts.",
    ),
    (
        &[
            "tls-min",
            "tls-max",
            "tls-version",
            "tls-min-version",
            "tlsv1.2",
            "tlsv1.3",
        ],
        "TLS 1.2 and 1.3 are both offered, and the server chooses; leave it out.",
    ),
    (
        &["feed", "feeder", "data-file", "csv-data", "dataset"],
        "rows of data are written as requests: --urls reads JSON Lines, each with its url, headers \
         and body. A k6 script or a locustfile reads files by itself.",
    ),
    (
        &["rand-regex-url"],
        "URLs by a pattern are among oha's words, `loadline oha …`; a list of URLs is read with \
         --urls.",
    ),
    (
        &["json", "j"],
        "write -o json to report as JSON, or --body and -H 'Content-Type: application/json' to \
         send JSON.",
    ),
    (
        &[
            "http2",
            "http2-prior-knowledge",
            "h2",
            "h2c",
            "http-version",
            "2",
        ],
        "use --http 2, and --streams for several requests at once on a connection.",
    ),
    (
        &["http3", "quic"],
        "HTTP/3 is not supported; requests are sent with HTTP/1.1, or with HTTP/2 (--http 2).",
    ),
    (
        &["h1", "http1.1", "keepalive", "keep-alive"],
        "requests are sent with HTTP/1.1 and keep-alive anyway; leave it out.",
    ),
    (
        &[
            "latency",
            "latencies",
            "print-latency",
            "latency-correction",
            "u_latency",
            "U",
        ],
        "the report always has all latencies, counted from the intended start of each request; \
         leave it out.",
    ),
    (&["burst-delay", "burst-rate"], "use --burst N/TIME."),
    (
        &["disable-compression", "disable-redirects"],
        "nothing is decompressed and no redirect followed unless asked; leave it out.",
    ),
    (
        &["master", "worker", "expect-workers", "execution-segment"],
        "start `loadline agent --nats URL` on the other machines, and give --nats URL and \
         --agents N here.",
    ),
    (&["url"], "write the URL by itself."),
];

/// Returns the replacement of this flag, as a sentence without its beginning; `None` if no other
/// tool has such a flag.
pub(super) fn instead(flag: &str) -> Option<String> {
    // A letter has one dash and a word has two.
    let long = flag.strip_prefix("--").filter(|name| name.len() > 1);
    let short = flag.strip_prefix('-').filter(|name| name.len() == 1);
    let name = long.or(short)?;
    let find = |(names, _): &&Same| names.contains(&name);
    let otherwise = || Some(OTHERWISE.iter().find(find)?.1.to_owned());
    let same = same().find(find).map(|(_, ours)| format!("use {ours}."));
    same.or_else(otherwise)
}

/// All flags that have a counterpart.
fn same() -> impl Iterator<Item = &'static Same> {
    let groups: [&[Same]; 4] = [&LOAD, &REQUEST, &CONNECTION, &RESULT];
    groups.into_iter().flatten()
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
        let short: Vec<String> = line
            .get_arguments()
            .filter_map(|flag| flag.get_short().map(String::from))
            .collect();
        let mut names: Vec<_> = same()
            .chain(&OTHERWISE)
            .flat_map(|(names, _)| *names)
            .collect();
        for name in &names {
            let is_ours = ours.contains(name) || short.iter().any(|short| short == *name);
            assert!(!is_ours, "{name} is a flag of ours");
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "a name has two counterparts");
        let texts = same().chain(&OTHERWISE).map(|(_, text)| *text);
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
        for (foreign, ours) in [
            ("--rps", "use --rate (-r)."),
            ("-R", "use --rate (-r)."),
            ("--vus", "use --connections (-c)."),
            ("--users", "use --connections (-c)."),
            ("-z", "use --duration (-d)."),
            ("--data", "use --body (-b) TEXT or @FILE."),
            ("--cookie-jar", "use --cookies."),
            ("--redirect", "use --follow-redirects N."),
            ("--think-time", "use --think."),
            ("--max-time", "use --timeout."),
            ("-m", "use --method (-X)."),
        ] {
            assert_eq!(instead(foreign).as_deref(), Some(ours), "{foreign}");
        }
        assert!(instead("--http2").is_some_and(|text| text.starts_with("use --http 2")));
        assert!(instead("--http3").is_some_and(|text| text.contains("not supported")));
        assert!(instead("--json").is_some_and(|text| text.contains("-o json")));
        for (foreign, part) in [
            ("-L", "--follow-redirects N"),
            ("-2", "--http 2"),
            ("--junit", "-o junit=FILE"),
            ("--prometheus", "-o prometheus-rw=URL"),
            ("--tls-min", "TLS 1.2 and 1.3"),
            ("--feed", "--urls"),
            ("--data-file", "JSON Lines"),
            ("--bearer", "Authorization: Bearer"),
            ("--rand-regex-url", "loadline oha"),
        ] {
            let said = instead(foreign).expect(foreign);
            assert!(said.contains(part), "{foreign}: {said}");
        }
        for unknown in ["--durtion", "-R2", "--z", "-rps", "z"] {
            assert_eq!(instead(unknown), None, "{unknown}");
        }
    }
}
