//! What all agents of a run have in common: it is sent once to each of them, and known by its hash.

use super::overheard::overhear;
use super::{Agent, Bus, assert_sums, end, start, url};
use crate::rig::{command, count, serve, serve_with, text};
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
