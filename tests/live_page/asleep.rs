//! A browser that sleeps, as that of a closed laptop: its connection is gone, events pass, and it
//! wakes up.
//!
//! An hour has 3 600 events; what matters is that there are more than the 60 that are kept. Here
//! they come at once: on the page that starts runs each choice of a baseline is one.

use super::*;
use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Mutex};

/// What a line that is cut answers: nothing, as an interface that is down, and as a proxy whose
/// server is gone; then a browser gives up.
const CUT: [&str; 2] = [
    "",
    "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
];

/// Connections from a browser to a server, all of which can be cut.
struct Line {
    port: u16,
    /// What is answered while it is cut.
    cut: Arc<Mutex<Option<&'static str>>>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(port: u16) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = Line {
            port: listener.local_addr().unwrap().port(),
            cut: Arc::default(),
            connections: Arc::default(),
        };
        let (cut, connections) = (Arc::clone(&line.cut), Arc::clone(&line.connections));
        // It ends with the tests.
        thread::spawn(move || {
            for mut from in listener.incoming().map_while(Result::ok) {
                if let Some(answer) = *cut.lock().unwrap() {
                    // A browser may connect ahead, and ask later.
                    thread::spawn(move || {
                        let _ = from.read(&mut [0; 4096]);
                        let _ = from.write_all(answer.as_bytes());
                    });
                    continue;
                }
                let to = TcpStream::connect(("127.0.0.1", port)).unwrap();
                for (mut from, mut to) in [
                    (from.try_clone().unwrap(), to.try_clone().unwrap()),
                    (to.try_clone().unwrap(), from.try_clone().unwrap()),
                ] {
                    thread::spawn(move || {
                        let _ = io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                connections.lock().unwrap().extend([from, to]);
            }
        });
        line
    }

    /// Cuts all connections; further ones get this answer.
    fn cut(&self, answer: &'static str) {
        *self.cut.lock().unwrap() = Some(answer);
        for connection in self.connections.lock().unwrap().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        *self.cut.lock().unwrap() = None;
    }
}

#[test]
fn a_browser_that_slept_long_shows_what_is_true_when_it_wakes() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let new = json!({ "target": url(&server, "delay=2ms"), "rate": "100", "duration": "1s" });
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    page.start(&new);
    let line = Line::to(page.port());
    let Some(mut tab) = Tab::open(&format!("http://127.0.0.1:{}/", line.port)) else {
        page.interrupt();
        return;
    };
    let phase = "(document.querySelector('.phase')?.textContent ?? '')";
    tab.await_that(&format!("{phase}.startsWith('Ended')"));
    // What the page was given before stays if it is not loaded anew.
    tab.value("window.isTheSame = true");
    for answer in CUT {
        line.cut(answer);
        tab.await_that(&format!("{phase}.startsWith('Connection lost')"));
        for _ in 0..40 {
            for name in [json!("run-1.run"), json!(null)] {
                page.command("baseline", &json!({ "name": name }).to_string());
            }
        }
        let state = page.start(&new);
        line.mend();
        tab.await_that(&format!("{phase}.startsWith('Ended')"));
        assert_eq!(state["problem"], Value::Null);
        let earlier = "document.querySelectorAll('table.earlier tbody tr').length";
        let runs = page.request("GET", "/api/v1/runs", "", "").1;
        let runs: Value = serde_json::from_str(&runs).unwrap();
        tab.await_that(&format!("{earlier} === {}", runs.as_array().unwrap().len()));
    }
    // It goes on with what changes from now on.
    page.command("baseline", r#"{"name": "run-2.run"}"#);
    tab.await_that("document.querySelector('[name=baseline]')?.value === 'run-2.run'");
    assert_eq!(
        tab.value("window.isTheSame"),
        json!(true),
        "it was loaded anew"
    );
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn a_viewer_who_slept_longer_than_events_are_kept_gets_the_whole_state_once() {
    let folder = tempfile::tempdir().unwrap();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let awake = page.events(None);
    let awake = thread::spawn(move || awake.take(82).collect::<Vec<Event>>());
    let asleep: Vec<Event> = page.events(None).take(1).collect();
    for _ in 0..81 {
        page.command("baseline", r#"{"name": null}"#);
    }
    let seen: Vec<Event> = awake.join().unwrap();
    let woken: Vec<Event> = page.events(Some(&asleep[0].id)).take(1).collect();
    assert_eq!(woken[0].name, "state");
    assert_eq!(woken[0].id, seen.last().unwrap().id);
    assert_eq!(seen.iter().filter(|event| event.name == "state").count(), 1);
    assert_eq!(page.interrupt().0, Some(0));
}
