//! Workers that are lost, on the kernel's own loop: a panic has to unwind through it.

use super::*;
use crate::simulated::plans::{SECOND, closed, get};
use crate::{Batch, Behaviour, Detail, EndReason, Event, Iteration, Part, Resend, Run, Scenario};
use loadline_metrics::SeriesId;
use loadline_plan::Plan;
use loadline_reactor::Kernel;
use loadline_record::Snapshot;
use loadline_wire::Expect;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn who_says_a_word_is_there_and_who_does_not_is_missed() {
    let handle = Handle::of_workers(2);
    let mut attendance = Attendance::new(0..2);
    let wait = SILENCE_TIMEOUT / 4;
    for _ in 0..3 {
        handle.beat(1);
        assert!(attendance.missing(&handle, wait).is_empty());
    }
    handle.beat(1);
    assert_eq!(attendance.missing(&handle, wait), [0]);
    attendance.excuse();
    assert!(attendance.missing(&handle, wait).is_empty());
}

#[test]
fn what_nobody_lived_to_send_is_not_said_to_be_sent() {
    let lost = WorkerFailure::Gone {
        part: "agent web-1".to_owned(),
        reason: "said nothing for 3 s and was ended".to_owned(),
        until_s: "2.0".to_owned(),
        share: "50%".to_owned(),
        taken_from_ns: Some(6_350_000_001),
    };
    let said = |end_ns| lost.clone().as_of_end(end_ns).to_string();
    let begin = "agent web-1 said nothing for 3 s and was ended: the last that it told is the \
                 interval up to 2.0 s, and 50% of the load is lost from there";
    let taken = format!("{begin} to 6.4 s, from when on the others send it.");
    assert_eq!(said(7_000_000_000), taken);
    assert_eq!(said(6_000_000_000), format!("{begin} on."));
    assert_eq!(lost.to_string(), taken);
}

#[test]
fn a_panic_is_told_by_its_message_whatever_it_threw() {
    for (panic, told) in [
        (Box::new("a") as Box<dyn Any + Send>, "a"),
        (Box::new("b".to_owned()), "b"),
        (Box::new(7), "without a message"),
    ] {
        let failure = WorkerFailure::of(3, Err(panic)).expect("a failure");
        let message = told.to_owned();
        assert_eq!(failure, WorkerFailure::Panicked { worker: 3, message });
    }
    assert_eq!(WorkerFailure::of(3, Ok(Ok(()))), None);
}

/// The action of a user after enough responses.
#[derive(Clone)]
enum Misdeed {
    Panic,
    /// Does not return until this is set.
    Loop(Arc<AtomicBool>),
}

/// Users of the second worker do the deed after this many responses; those of the first continue.
#[derive(Clone)]
struct Deviant {
    worker: u32,
    answers: u32,
    misdeed: Misdeed,
}

impl Scenario<Kernel> for Deviant {
    type Behaviour = Deviant;

    fn user(&mut self) -> Deviant {
        self.clone()
    }
}

impl Behaviour<Kernel> for Deviant {
    async fn iterate(&mut self, iteration: Iteration<'_, Kernel>) {
        let part = Part {
            end: REQUEST.len(),
            expect: Expect::for_method("GET"),
            series: SeriesId::default(),
            request: None,
        };
        let batch = Batch {
            endpoint: 0,
            bytes: REQUEST,
            tail: &[],
            http2: None,
            parts: &[part],
            resend: Resend::default(),
        };
        iteration.requester().send(batch, &mut ()).await;
        iteration.pause(1_000_000).await;
        self.answers = self.answers.saturating_sub(1);
        if self.worker == 0 || self.answers > 0 {
            return;
        }
        match &self.misdeed {
            Misdeed::Panic => panic!("on purpose"),
            Misdeed::Loop(is_over) => {
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            }
        }
    }
}

/// Starts a server that answers everything it receives; returns its port.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(64) {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut head = [0; REQUEST.len()];
                while stream.read_exact(&mut head).is_ok() && stream.write_all(ANSWER).is_ok() {}
            });
        }
    });
    port
}

fn plan(seconds: u64) -> Plan {
    let mut plan = closed(4, seconds * SECOND);
    plan.requests = vec![get(&format!("http://127.0.0.1:{}/", serve()))];
    plan.threads = 2;
    plan
}

/// Runs the plan with deviants; returns the sum of its intervals, the reason of its end, and the
/// lost worker.
fn run(seconds: u64, misdeed: Misdeed) -> (Snapshot, EndReason, WorkerFailure) {
    let deviant = move |worker| Deviant {
        worker,
        answers: 50,
        misdeed: misdeed.clone(),
    };
    let mut run = Run::start_scenario(plan(seconds), Detail::default(), deviant).unwrap();
    let mut total = Snapshot::empty(0);
    loop {
        match run.next_event(Duration::from_millis(50)) {
            Some(Event::Interval(interval)) => total.append(&interval),
            Some(Event::Ended { reason, unfinished }) => {
                assert_eq!(unfinished.in_flight, total.counts.in_flight);
                let [failure] = run.failures() else {
                    panic!("one worker is lost, not {:?}", run.failures());
                };
                let failure = failure.clone();
                return (total, reason, failure);
            }
            _ => {}
        }
    }
}

#[test]
fn a_worker_that_panics_ends_the_run_with_what_the_others_recorded() {
    let (total, reason, failure) = run(600, Misdeed::Panic);
    assert_eq!(reason, EndReason::Failed);
    let message = "on purpose".to_owned();
    assert_eq!(failure, WorkerFailure::Panicked { worker: 1, message });
    assert!(total.counts.answered > 0, "{:?}", total.counts);
    assert!(total.balanced(0), "{:?}", total.counts);
}

#[test]
fn a_worker_that_does_not_return_is_given_up_at_the_end() {
    let is_over = Arc::new(AtomicBool::new(false));
    let (total, reason, failure) = run(1, Misdeed::Loop(Arc::clone(&is_over)));
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(reason, EndReason::Failed);
    assert_eq!(failure, WorkerFailure::Stuck { worker: 1 });
    assert!(total.counts.answered > 0, "{:?}", total.counts);
    assert!(total.balanced(0), "{:?}", total.counts);
}
