//! A thousand agents in this process: their parts send the reports that one real worker process
//! has recorded, each as that of its own worker. The bus is real, and so is the command that
//! gathers them and receives what they join.

use super::measured::usage;
use super::{Bus, assert_sums};
use crate::rig::{beside_others, command, count, free_port, program, serve, text};
use loadline_bus::{Bus as Connection, BusAddress, Card, Labels};
use loadline_cluster::{Frame, Line, Remote, Source, ToChild, start_child};
use loadline_engine::{ReportReader, ReportWriter};
use loadline_reactor::monotonic_ns;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// The names of the requests, and what each agent sends of each in a second.
const NAMES: usize = 100;
const SECONDS: u64 = 20;
/// The agents that share a connection to the bus.
const BESIDE: usize = 50;

/// The parts of the run, for the thread that drives them.
#[derive(Default)]
struct Parts {
    /// Sends what each part has received: its assignment first.
    received: Option<Sender<(usize, Frame)>>,
    /// Sends what each part sends.
    sending: Vec<Option<Sender<Frame>>>,
}

type Shared = Arc<Mutex<Parts>>;

struct Sent(Receiver<Frame>);

impl Source for Sent {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        Ok(self.0.recv().ok())
    }
}

/// The process of a part, which is none.
struct Nothing(usize, Shared);

impl Remote for Nothing {
    fn kill(&mut self) {
        self.1.lock().unwrap().sending[self.0] = None;
    }

    fn ending(&mut self) -> Option<String> {
        Some("ended with exit code 0".to_owned())
    }
}

/// Starts so many agents, on connections of their own to the bus.
fn start_agents(bus: &Bus, agents: usize) -> (Shared, Receiver<(usize, Frame)>) {
    let (received, frames) = channel();
    let parts = Shared::new(Mutex::new(Parts {
        received: Some(received),
        sending: (0..agents).map(|_| None).collect(),
    }));
    let address = BusAddress {
        url: bus.url(),
        ..BusAddress::default()
    };
    for first in (0..agents).step_by(BESIDE) {
        let connection = Connection::connect(&address).expect("a bus");
        for number in first..agents.min(first + BESIDE) {
            let (connection, parts) = (connection.clone(), Arc::clone(&parts));
            thread::spawn(move || {
                let card = Card::new(format!("agent-{number:04}"), 4, 65_536, Labels::new());
                loadline_bus::serve(&connection, &card, None, |_| Ok(line(number, &parts)))
            });
        }
    }
    (parts, frames)
}

/// The line between an agent and the process of its part.
fn line(number: usize, parts: &Shared) -> Line {
    let (send, sent) = channel();
    let mut all = parts.lock().unwrap();
    all.sending[number] = Some(send);
    let received = all.received.clone().expect("a driver");
    Line::here(
        String::new(),
        Box::new(move |frame| drop(received.send((number, frame)))),
        Box::new(Sent(sent)),
        Box::new(Nothing(number, Arc::clone(parts))),
    )
}

fn message(message: &Value) -> Frame {
    Frame::Message(serde_json::to_vec(message).expect("JSON"))
}

/// What a real worker process sends, given its assignment: that it is ready, the reports of its
/// part from the begin of the load on, and its last message.
struct Recorded {
    ready: Frame,
    reports: Vec<Vec<u8>>,
    done: Frame,
}

fn record(assignment: Vec<Frame>) -> Recorded {
    let mut process = Command::new(program());
    process.arg("worker-process");
    let mut line = start_child("the recorded part".to_owned(), process).expect("a process");
    assignment.into_iter().for_each(|frame| (line.sink)(frame));
    let (mut ready, mut reports) = (None, Vec::new());
    loop {
        let frame = line
            .source
            .next()
            .expect("frames")
            .expect("its last message");
        match frame {
            Frame::Report(report) => reports.push(report),
            frame if frame.is_done() => {
                let ready = ready.expect("connections");
                return Recorded {
                    ready,
                    reports,
                    done: frame,
                };
            }
            Frame::Message(json) if json.starts_with(b"{\"ready\"") => {
                ready = Some(Frame::Message(json));
                let begin_ns = monotonic_ns() + 10_000_000;
                (line.sink)(message(
                    &serde_json::json!({ "start_at": { "begin_ns": begin_ns } }),
                ));
            }
            _ => {}
        }
    }
}

/// The reports of all parts.
struct Reports {
    /// The instant at which each of a part is sent, in nanoseconds from the begin of the load.
    due_ns: Vec<u64>,
    /// The bytes of each, by part.
    of_parts: Vec<Vec<Vec<u8>>>,
}

impl Recorded {
    /// The reports of each part, as they are sent.
    fn of_all(&self, parts: usize) -> Reports {
        let mut reader = ReportReader::new(0..1, 1, None);
        let reports = self.reports.iter();
        let reports: Vec<_> = reports
            .map(|report| reader.read(report).expect("a report"))
            .collect();
        let of = |part: usize| {
            let mut writer = ReportWriter::default();
            let own = reports
                .iter()
                .map(|report| report.clone().of_worker(part as u32));
            own.map(|report| writer.write(&report).expect("bytes"))
                .collect()
        };
        // What belongs to no interval is sent before the next one.
        let mut end_ns = u64::MAX;
        let ends = reports.iter().rev().map(|report| {
            end_ns = report.interval_end_ns().unwrap_or(end_ns);
            end_ns.min(SECONDS * 1_000_000_000)
        });
        let mut due_ns: Vec<u64> = ends.collect();
        due_ns.reverse();
        Reports {
            due_ns,
            of_parts: (0..parts).map(of).collect(),
        }
    }
}

/// Drives all parts through a run. Returns the begin of its load, on the monotonic clock.
fn drive(parts: &Shared, frames: &Receiver<(usize, Frame)>, agents: usize) -> u64 {
    let say_all = |frame: &Frame| {
        for send in parts.lock().unwrap().sending.iter().flatten() {
            let _ = send.send(frame.clone());
        }
    };
    // What all parts have in common comes first.
    let (mut assignment, mut assigned) = (Vec::new(), vec![false; agents]);
    while assigned.iter().any(|assigned| !assigned) {
        match frames.recv_timeout(Duration::from_secs(1)) {
            Ok((number, frame)) => {
                assigned[number] |= matches!(frame, Frame::Message(_));
                if number == 0 {
                    assignment.push(frame);
                }
            }
            Err(_) => say_all(&Frame::alive()),
        }
    }
    let recording = thread::spawn(move || {
        let recorded = record(assignment);
        let reports = recorded.of_all(agents);
        (recorded, reports)
    });
    while !recording.is_finished() {
        say_all(&Frame::alive());
        sleep(Duration::from_secs(1));
    }
    let (recorded, reports) = recording.join().expect("a recording");
    say_all(&recorded.ready);
    let begin_ns = loop {
        let (_, frame) = frames
            .recv_timeout(Duration::from_secs(60))
            .expect("a begin");
        let Frame::Message(json) = frame else {
            continue;
        };
        if let Ok(ToChild::StartAt { begin_ns, .. }) = serde_json::from_slice(&json) {
            break begin_ns;
        }
    };
    for (index, due_ns) in reports.due_ns.iter().enumerate() {
        sleep(Duration::from_nanos(
            (begin_ns + due_ns).saturating_sub(monotonic_ns()),
        ));
        for (number, own) in reports.of_parts.iter().enumerate() {
            let sending = parts.lock().unwrap();
            if let Some(send) = &sending.sending[number] {
                let _ = send.send(Frame::Report(own[index].clone()));
            }
        }
    }
    say_all(&recorded.done);
    parts.lock().unwrap().sending.fill_with(|| None);
    begin_ns
}

/// Reads the events of the page of a run. Returns the instants of those with intervals.
fn watch(port: u16) -> thread::JoinHandle<Vec<u64>> {
    thread::spawn(move || {
        let mut seen = Vec::new();
        let stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(_) => sleep(Duration::from_millis(50)),
            }
        };
        let head = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        (&stream).write_all(head.as_bytes()).unwrap();
        for line in BufReader::new(stream).lines() {
            match line {
                Ok(line) if line.starts_with("id:") => seen.push(monotonic_ns()),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        seen
    })
}

/// The file with the requests, each with a name of its own.
fn requests(url: &str) -> String {
    (0..NAMES).fold(String::new(), |mut text, number| {
        let _ = writeln!(
            text,
            "{{\"url\": \"{url}?delay=exp:5ms\", \"name\": \"name {number}\"}}"
        );
        text
    })
}

/// Makes a run of so many agents, and prints and returns the cores and the megabytes that the
/// command needed, and how late it had the intervals, in seconds.
#[expect(clippy::print_stdout, reason = "it shows what was measured")]
fn follow(agents: usize) -> (f64, f64, f64) {
    let (bus, server) = (Bus::start(&[]), serve());
    let (parts, frames) = start_agents(&bus, agents);
    bus.await_free(agents);
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("requests.jsonl");
    fs::write(&list, requests(&crate::rig::url(&server, ""))).unwrap();
    let (number, port) = (agents.to_string(), free_port());
    let rate = (agents * NAMES).to_string();
    let (nats, length, web) = (bus.url(), format!("{SECONDS}s"), format!("--web={port}"));
    let words = [
        "--nats",
        &nats,
        "--agents",
        &number,
        "-t",
        &number,
        "-c",
        &number,
        "-r",
        &rate,
        "-d",
        &length,
        "--urls",
        text(&list),
        &web,
        "--allow-invalid",
        "-o",
        "json",
    ];
    let _beside_others = beside_others();
    let coordinator = command(&words)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let process = coordinator.id();
    let watching = watch(port);
    let driving = thread::spawn(move || drive(&parts, &frames, agents));
    let usage_of_load = measure(process, &driving);
    let begin_ns = driving.join().expect("a run");
    let (report, stderr, code) = super::report(coordinator);
    let found: &Value = &report["summary"];
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(found), 0);
    let planned = agents as u64 * NAMES as u64 * SECONDS;
    assert_eq!(count(found, "planned"), planned, "{stderr}");
    assert_eq!(found["names"].as_array().map(Vec::len), Some(NAMES));
    let (cores, peak_mb) = usage_of_load;
    let behind_s = behind(&watching.join().expect("events"), begin_ns);
    println!(
        "{agents} agents, {NAMES} names: {cores:.3} of a core, {peak_mb:.0} MB at most, \
         {behind_s:.2} s behind at most"
    );
    (cores, peak_mb, behind_s)
}

/// The mean of the cores, and the most megabytes, of a process while the load lasts.
fn measure<T>(process: u32, driving: &thread::JoinHandle<T>) -> (f64, f64) {
    let mut seen: Vec<(Instant, f64, f64)> = Vec::new();
    while !driving.is_finished() {
        if let Some((cpu_s, peak_mb)) = usage(process) {
            seen.push((Instant::now(), cpu_s, peak_mb));
        }
        sleep(Duration::from_millis(500));
    }
    let last = seen.last().expect("a process");
    let length = Duration::from_secs(SECONDS - 4);
    let from = seen.iter().rev().find(|one| last.0 - one.0 >= length);
    let from = from.expect("a load");
    let cores = (last.1 - from.1) / (last.0 - from.0).as_secs_f64();
    (cores, last.2)
}

/// How late the latest event was behind the end of its interval, in seconds.
#[expect(clippy::print_stdout, reason = "it shows what was measured")]
fn behind(events: &[u64], begin_ns: u64) -> f64 {
    let since_begin = |at: &u64| at.checked_sub(begin_ns).map(|ns| ns as f64 / 1e9);
    let late: Vec<f64> = events.iter().filter_map(since_begin).collect();
    println!("events after {late:.1?} s");
    let ends = (1..SECONDS).map(|second| second as f64);
    let first = late.iter().position(|at| *at >= 1.0).unwrap_or(0);
    let pairs = late[first..].iter().zip(ends);
    pairs.map(|(at, end)| at - end).fold(0.0, f64::max)
}

#[test]
#[ignore = "soak: a thousand agents in one process need the machine alone"]
fn a_command_follows_a_thousand_agents() {
    let agents = std::env::var("AGENTS").map_or(1_000, |text| text.parse().expect("a number"));
    let (cores, peak_mb, behind_s) = follow(agents);
    assert!(cores <= 0.25, "{cores} cores");
    assert!(peak_mb <= 300.0, "{peak_mb} MB");
    assert!(behind_s <= 2.0, "{behind_s} s");
}
