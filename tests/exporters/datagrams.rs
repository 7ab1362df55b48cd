//! StatsD and DogStatsD, read from a socket.

use super::{list, listed, run_with};
use crate::rig::{serve, url};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::Duration;

/// All lines that arrive while a run of two seconds sends to this format.
fn lines(format: &str) -> Vec<String> {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let urls = list(&folder, &[("one", url(&server, "delay=5ms"))]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let output = format!("{format}={}", socket.local_addr().unwrap());
    let said = run_with(&listed(&urls, "2s", &output), &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let mut lines = Vec::new();
    let mut buffer = [0; 65_536];
    while let Ok(length) = socket.recv(&mut buffer) {
        assert!(length <= 1_432, "a datagram of {length} bytes");
        let text = std::str::from_utf8(&buffer[..length]).unwrap();
        lines.extend(text.lines().map(str::to_owned));
    }
    lines
}

/// Splits a line into its name, its value and the parts behind it.
fn parsed(line: &str) -> (String, f64, Vec<String>) {
    let (name, rest) = line.split_once(':').unwrap();
    let mut parts = rest.split('|');
    let value = parts.next().unwrap().parse().unwrap();
    (name.to_owned(), value, parts.map(str::to_owned).collect())
}

#[test]
fn statsd_counts_every_request() {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for line in lines("statsd") {
        let (name, value, parts) = parsed(&line);
        assert!(["c", "g", "ms"].contains(&parts[0].as_str()), "{line}");
        let rate = parts.get(1).and_then(|part| part.strip_prefix('@'));
        let weight = rate.map_or(1.0, |rate| 1.0 / rate.parse::<f64>().unwrap());
        let added = match parts[0].as_str() {
            "c" => value,
            _ => weight,
        };
        *sums.entry(name).or_default() += added;
    }
    let answered = sums["loadline.requests.answered"];
    assert!(answered >= 190.0, "{sums:?}");
    assert_eq!(sums["loadline.responses.one.200"], answered);
    assert!(
        (sums["loadline.response.one"] - answered).abs() < 1e-6,
        "{sums:?}"
    );
}

#[test]
fn dogstatsd_has_tags_and_distributions() {
    let lines = lines("dogstatsd");
    let of_response = lines
        .iter()
        .filter(|line| line.starts_with("loadline.response:"));
    let mut count = 0.0;
    for line in of_response {
        let (_, value, parts) = parsed(line);
        assert_eq!(parts[0], "d");
        assert!(value >= 5.0, "milliseconds: {line}");
        assert_eq!(parts.last().unwrap(), "#name:one");
        let rate = parts[1].strip_prefix('@');
        count += rate.map_or(1.0, |rate| 1.0 / rate.parse::<f64>().unwrap());
    }
    assert!(count >= 190.0, "{count}: {lines:?}");
    let tagged = "loadline.responses:";
    let end = "|c|#name:one,status:200";
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with(tagged) && line.ends_with(end))
    );
}
