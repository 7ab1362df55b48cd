//! StatsD and DogStatsD, to the exporter of Prometheus, which counts what it is sent.

use super::{Receiver, list, listed, run_with};
use crate::rig::{free_port, serve, url};
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;

/// A receiver of datagrams at a port of its own.
pub(super) struct StatsdExporter {
    receiver: Receiver,
    pub(super) datagrams: u16,
}

impl StatsdExporter {
    pub(super) fn start() -> StatsdExporter {
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        let datagrams = free.local_addr().unwrap().port();
        drop(free);
        let receiver = Receiver::start(&program(), |_, port| {
            vec![
                format!("--web.listen-address=127.0.0.1:{port}"),
                format!("--statsd.listen-udp=127.0.0.1:{datagrams}"),
                format!("--statsd.listen-tcp=127.0.0.1:{}", free_port()),
            ]
        });
        StatsdExporter {
            receiver,
            datagrams,
        }
    }

    /// The value of this series, once what was sent is counted.
    pub(super) fn value(&self, series: &str) -> f64 {
        let text = self.text();
        let line = text.lines().find(|line| {
            let rest = line.strip_prefix(series);
            rest.is_some_and(|rest| rest.starts_with(' '))
        });
        let line = line.unwrap_or_else(|| panic!("{series} is not in\n{text}"));
        line.rsplit_once(' ').unwrap().1.parse().unwrap()
    }

    /// All series but those about the receiver itself, when nothing changes any more.
    fn text(&self) -> String {
        let mut before = String::new();
        loop {
            let said = Command::new("curl")
                .args(["-sSf", &self.receiver.url("/metrics")])
                .output()
                .unwrap();
            let all = String::from_utf8(said.stdout).unwrap();
            let of_runs = |line: &&str| line.starts_with("loadline_") || line.starts_with("mine_");
            let text: Vec<&str> = all.lines().filter(of_runs).collect();
            let text = text.join("\n");
            let refused = all.lines().find(|line| {
                line.starts_with("statsd_exporter_sample_errors_total") && !line.ends_with(" 0")
            });
            assert_eq!(refused, None, "{text}");
            if !text.is_empty() && text == before {
                return text;
            }
            before = text;
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
    }
}

/// The program that `make test` installs beside the tests, or that of the system.
fn program() -> String {
    let name = "statsd_exporter";
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/receivers");
    let place = std::env::var_os("LOADLINE_RECEIVERS").map_or(own, Into::into);
    let path = place.join(name);
    match path.is_file() {
        true => path.display().to_string(),
        false => name.to_owned(),
    }
}

fn run(format: &str) -> StatsdExporter {
    let (server, receiver) = (serve(), StatsdExporter::start());
    let folder = tempfile::tempdir().unwrap();
    let urls = list(&folder, &[("one", url(&server, "delay=20ms"))]);
    let output = format!("{format}=127.0.0.1:{}", receiver.datagrams);
    let said = run_with(&listed(&urls, "3s", &output), &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    receiver
}

#[test]
fn plain_statsd_counts_and_times_every_request() {
    let receiver = run("statsd");
    let answered = receiver.value("loadline_requests_answered");
    assert!(answered > 200.0, "{answered}");
    assert_eq!(receiver.value("loadline_responses_one_200"), answered);
    assert_eq!(receiver.value("loadline_response_one_count"), answered);
    let mean = receiver.value("loadline_response_one_sum") / answered;
    assert!((0.02..0.2).contains(&mean), "{mean}");
}

#[test]
fn dogstatsd_has_labels_as_tags() {
    let receiver = run("dogstatsd");
    let answered = receiver.value("loadline_requests{outcome=\"answered\"}");
    assert!(answered > 200.0, "{answered}");
    let responses = "loadline_responses{name=\"one\",status=\"200\"}";
    assert_eq!(receiver.value(responses), answered);
    assert_eq!(
        receiver.value("loadline_response_count{name=\"one\"}"),
        answered
    );
    let mean_ms = receiver.value("loadline_response_sum{name=\"one\"}") / answered;
    assert!((20.0..200.0).contains(&mean_ms), "{mean_ms}");
}
