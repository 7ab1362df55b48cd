//! What all agents of a run have in common: it is sent once to each of them, and known by its hash.

use super::overheard::{Stranger, overhear};
use super::slow_link::narrow;
use super::{Agent, Bus, assert_sums, end, start, url};
use crate::rig::{command, count, loadline, serve, serve_with, text};
use loadline_bus::Card;
use loadline_cluster::Hash;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of a body that is longer than all else that a run sends to an agent.
const BODY_BYTES: usize = 3_000_000;

/// Counts the bytes that coordinators send to agents.
fn sent_to_agents(bus: &Bus) -> Arc<AtomicUsize> {
    let sum = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sum);
    overhear(bus, &["loadline.run.*.*.down"], move |_, contents| {
        counted.fetch_add(contents.len(), Ordering::Relaxed);
        None
    });
    sum
}

#[test]
fn an_agent_that_has_a_bundle_is_not_sent_it_again() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &[]));
    let folder = tempfile::tempdir().unwrap();
    let (body, other) = (folder.path().join("body"), folder.path().join("other"));
    // Nothing that the bus or a pipe could compress.
    let bytes: Vec<u8> = (0..BODY_BYTES as u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    fs::write(&body, &bytes).unwrap();
    fs::write(&other, &bytes[1..]).unwrap();
    let sum = sent_to_agents(&bus);
    let url = url(&server);
    let sent_for = |body: &Path, load: &[&str]| {
        let before = sum.load(Ordering::Relaxed);
        let body = format!("@{}", text(body));
        let words = [load, &["-t", "2", "-n", "4", "-b", &body, &url]].concat();
        let (found, stderr, code) = end(start(&bus, "2", &words));
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(assert_sums(&found), 0);
        assert_eq!(count(&found, "answered"), 4, "{stderr}");
        bus.await_free(2);
        sum.load(Ordering::Relaxed) - before
    };
    let first = sent_for(&body, &["-c", "2"]);
    assert!(first > 2 * BODY_BYTES, "{first}");
    // Another load of the same requests.
    let again = sent_for(&body, &["-r", "100", "-c", "4"]);
    assert!(again < 100_000, "{again}");
    let another = sent_for(&other, &["-c", "2"]);
    assert!(another > 2 * BODY_BYTES, "{another}");
    let back = sent_for(&body, &["-c", "2"]);
    assert!(back < 100_000, "{back}");
    assert_eq!(server.stop().answers, 16);
}

#[test]
fn a_long_bundle_gets_to_all_agents_over_a_narrow_link() {
    let (bus, server) = (Bus::start(&[]), serve());
    let names = ["one", "two", "three", "four"];
    let _agents = names.map(|name| Agent::start(&bus.url(), name, &[]));
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    fs::write(&body, vec![b'x'; BODY_BYTES / 2]).unwrap();
    // Each agent's own bundle takes a second and more of the coordinator's link.
    let narrow = narrow(bus.port, 1e6);
    let nats = format!("nats://127.0.0.1:{narrow}");
    let (body, url) = (format!("@{}", text(&body)), url(&server));
    let front = ["--nats", &nats, "--agents", "4", "--allow-invalid"];
    let load = ["-t", "4", "-c", "4", "-n", "8", "-b", &body, &url];
    let said = loadline(&[&front[..], &load].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(server.stop().answers, 8);
    bus.await_free(4);
}

#[test]
fn certificates_go_to_the_agents_and_leave_no_file_there() {
    let bus = Bus::start(&[]);
    let server = serve_with(|config| config.tls = true);
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pem = server.certificate_pem().unwrap();
    fs::write(here.path().join("authority.pem"), pem).unwrap();
    let _agents = ["one", "two"].map(|name| Agent::start_in(there.path(), &bus, name));
    let words = ["--nats", &bus.url(), "--agents", "2", "--allow-invalid"];
    let tls = ["--cacert", "authority.pem", "-c", "4", "-n", "40"];
    let url = format!("https://{}/", server.addr());
    let run = command(&[&words[..], &tls, &[&url]].concat())
        .current_dir(here.path())
        .output()
        .expect("the command");
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert_eq!(server.stop().answers, 40);
    let left: Vec<_> = fs::read_dir(there.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A part of a run that an agent has for a coordinator which is none of ours.
struct Part<'a> {
    stranger: Stranger,
    card: &'a Card,
    run: String,
    next: u32,
}

impl<'a> Part<'a> {
    /// Has an agent begin a part of a run, as a coordinator does.
    fn begin(bus: &Bus, card: &'a Card, run: &str) -> Part<'a> {
        let up = format!("loadline.run.{run}.{}.up", card.id);
        let mut stranger = Stranger::on(bus, &[&up, "answers"]);
        let offer = json!({ "run": run, "versions": card.versions, "tool": null });
        let offers = format!("loadline.agent.{}.offer", card.id);
        stranger.send(&offers, Some("answers"), offer.to_string().as_bytes());
        stranger.receive(|answer| (answer == b"\"Accepted\"").then_some(()));
        Part {
            stranger,
            card,
            run: run.to_owned(),
            next: 0,
        }
    }

    fn send(&mut self, kind: u8, contents: &[u8]) {
        let message = [&self.next.to_be_bytes()[..], &[kind], contents].concat();
        self.next += 1;
        let down = format!("loadline.run.{}.{}.down", self.run, self.card.id);
        self.stranger.send(&down, None, &message);
    }

    /// Names a bundle: its hash and its length.
    fn name(&mut self, hash: Hash, length: u64) {
        self.send(b'b', &[hash.bytes(), &length.to_be_bytes()[..]].concat());
    }

    /// Waits until the agent requests the bundle.
    fn await_request(&mut self) {
        let is_request = |message: &[u8]| (message.get(4) == Some(&b'q')).then_some(());
        self.stranger.receive(is_request);
    }

    /// The sentence with which the agent ends the part.
    fn end(mut self) -> String {
        self.stranger.receive(|message| {
            let is_end = message.get(4) == Some(&b'e');
            is_end.then(|| String::from_utf8_lossy(&message[5..]).into_owned())
        })
    }
}

/// What such a coordinator does.
type Deed<'a> = &'a dyn Fn(&mut Part<'_>);

#[test]
fn bundles_that_no_coordinator_sends_end_the_part_with_a_sentence_and_leave_nothing() {
    let bus = Bus::start(&[]);
    let there = tempfile::tempdir().unwrap();
    let _agent = Agent::start_in(there.path(), &bus, "one");
    bus.await_free(1);
    let cards = loadline_bus::agents(&bus.connect()).expect("a bus");
    let bundle = b"{}";
    let hash = Hash::of(bundle);
    let deeds: [(&str, Deed); 4] = [
        (
            "was sent a bundle with another hash than was named, and has ended it; begin",
            &|part| {
                part.name(hash, bundle.len() as u64);
                part.await_request();
                part.send(b'f', b"b{ }");
            },
        ),
        (
            "was sent a bundle with another hash than was named, and has ended it; begin",
            &|part| {
                part.name(hash, 1);
                part.await_request();
                part.send(b'f', &[b"b", &bundle[..]].concat());
            },
        ),
        (
            "was named a bundle of more than 256 MiB, and has ended it; send shorter",
            &|part| {
                part.name(hash, (256 << 20) + 1);
            },
        ),
        (
            "was sent what it has not requested, and has ended it; begin",
            &|part| {
                part.send(b'f', &[b"b", &bundle[..]].concat());
            },
        ),
    ];
    for (number, (sentence, deed)) in deeds.into_iter().enumerate() {
        let mut part = Part::begin(&bus, &cards[0], &format!("run{number}"));
        deed(&mut part);
        let said = part.end();
        assert!(said.starts_with(sentence), "{number}: {said}");
        bus.await_free(1);
        let left: Vec<_> = fs::read_dir(there.path()).unwrap().collect();
        assert!(left.is_empty(), "{number}: {left:?}");
    }
    // It is there for the next run.
    let server = serve();
    let run = start(&bus, "1", &["-c", "2", "-n", "4", &url(&server)]);
    let (found, stderr, code) = end(run);
    assert_eq!((code, count(&found, "answered")), (Some(0), 4), "{stderr}");
}
