//! The number of users of a locustfile, which the process that has them changes on request.
//!
//! Both hold an end of a socket, that of the process is its stdin: a line of JSON requests, and one
//! answers. Other lines tell of the test: changes of the number, whoever made them, and the agents
//! that have the users. `locust_runner/steering.py` is the other end.

use loadline_plan::{Level, Shape};
use loadline_record::LoadChange;
use loadline_runner::{ChangeProblem, Spawning, SteerProblem};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time for an answer: a task that computes lets its process do nothing else.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// One end of the socket.
#[derive(Debug)]
pub(crate) struct Lever {
    requests: Mutex<Requests>,
    timeout: Duration,
    reports: Arc<Mutex<Reports>>,
}

/// The line on which a process is asked.
#[derive(Debug)]
struct Requests {
    stream: UnixStream,
    answers: Receiver<Value>,
    /// The number of the last question: what answers an earlier one came too late.
    number: u64,
}

/// The reports of a process that answer no question.
#[derive(Debug, Default)]
struct Reports {
    /// The changes of the number of its users, whoever made them.
    changes: Vec<LoadChange>,
    /// The names of the agents that have its users, in the order of the workers of its run.
    agents: Vec<String>,
}

/// What a process answers.
#[derive(Debug)]
enum Reply {
    Refused(String),
    Changed {
        at_s: f64,
        reached_s: f64,
        spawn_rate: f64,
    },
}

impl Reply {
    fn of(line: &Value) -> Option<Reply> {
        if let Some(problem) = line["problem"].as_str() {
            return Some(Reply::Refused(problem.to_owned()));
        }
        Some(Reply::Changed {
            at_s: line["at_s"].as_f64()?,
            reached_s: line["reached_s"].as_f64()?,
            spawn_rate: line["spawn_rate"].as_f64()?,
        })
    }
}

impl Lever {
    /// Creates one, and the end of the process that has the users.
    ///
    /// # Errors
    /// If the system gives no socket, or no thread.
    pub(crate) fn new() -> io::Result<(Lever, OwnedFd)> {
        Lever::with_timeout(ANSWER_TIMEOUT)
    }

    fn with_timeout(timeout: Duration) -> io::Result<(Lever, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(timeout))?;
        let (sender, answers) = channel();
        let reports = Arc::default();
        let (input, keeper) = (BufReader::new(ours.try_clone()?), Arc::clone(&reports));
        let thread = thread::Builder::new().name("lever".to_owned());
        thread.spawn(move || listen(input, &sender, &keeper))?;
        let requests = Requests {
            stream: ours,
            answers,
            number: 0,
        };
        let lever = Lever {
            requests: Mutex::new(requests),
            timeout,
            reports,
        };
        Ok((lever, OwnedFd::from(theirs)))
    }

    /// Returns all changes of the number of users so far, in order.
    pub(crate) fn changes(&self) -> Vec<LoadChange> {
        locked(&self.reports).changes.clone()
    }

    /// Returns the agents that have the users, each with its workers; none if they are here.
    pub(crate) fn agents(&self) -> Vec<(String, Range<u32>)> {
        let agents = locked(&self.reports).agents.clone();
        agents
            .into_iter()
            .zip(0..)
            .map(|(agent, worker)| (agent, worker..worker + 1))
            .collect()
    }

    /// Sets the number of users, who start and stop at this rate, in users per second; without one
    /// at that of the test. The change is among [all](Self::changes) then.
    ///
    /// # Errors
    /// If that is no number or rate, if there are no users, or their process does not answer.
    pub(crate) fn spawn(
        &self,
        users: u32,
        rate_per_s: Option<f64>,
    ) -> Result<Spawning, SteerProblem> {
        // Without users a test goes on, and starts some again later.
        if users > 0 {
            let level = Level::Users(users).check(&Shape::Closed);
            level.map_err(ChangeProblem::from)?;
        }
        if let Some(rate) = rate_per_s.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            let sentence = format!("{rate} is no spawn rate: send users per second, such as 5.");
            return Err(SteerProblem::Tool(sentence));
        }
        let reply = locked(&self.requests).request(users, rate_per_s, self.timeout);
        match reply.map_err(|error| gone(&error))? {
            Reply::Refused(problem) => Err(SteerProblem::Tool(problem)),
            Reply::Changed {
                at_s,
                reached_s,
                spawn_rate,
            } => Ok(Spawning {
                change: change(at_s, users),
                rate_per_s: spawn_rate,
                reached_s,
            }),
        }
    }
}

impl Requests {
    fn request(
        &mut self,
        users: u32,
        spawn_rate: Option<f64>,
        timeout: Duration,
    ) -> io::Result<Reply> {
        self.number += 1;
        let question = json!({ "number": self.number, "users": users, "spawn_rate": spawn_rate });
        self.stream.write_all(format!("{question}\n").as_bytes())?;
        let until = Instant::now() + timeout;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left);
            let answer = answer.map_err(|error| match error {
                RecvTimeoutError::Timeout => io::ErrorKind::TimedOut,
                RecvTimeoutError::Disconnected => io::ErrorKind::UnexpectedEof,
            })?;
            if answer["number"] == self.number {
                return Reply::of(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
        }
    }
}

/// Takes the lines of a process until its end: answers are handed on, the rest is kept.
fn listen(input: impl BufRead, answers: &Sender<Value>, reports: &Mutex<Reports>) {
    for line in input.lines().map_while(Result::ok) {
        let line: Value = serde_json::from_str(&line).unwrap_or_default();
        if !line["number"].is_null() {
            // Nobody asks any more once the lever is gone.
            let _ = answers.send(line);
            continue;
        }
        let users = line["users"].as_u64().and_then(|one| one.try_into().ok());
        if let (Some(at_s), Some(users)) = (line["at_s"].as_f64(), users) {
            locked(reports).changes.push(change(at_s, users));
        }
        if let Some(agents) = line["agents"].as_array() {
            let names = agents.iter().filter_map(Value::as_str);
            locked(reports).agents = names.map(str::to_owned).collect();
        }
    }
}

fn change(at_s: f64, users: u32) -> LoadChange {
    LoadChange {
        at_ns: (at_s * 1e9) as i64,
        level: Level::Users(users),
        scenario: None,
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What keeps a process from answering.
fn gone(error: &io::Error) -> SteerProblem {
    use io::ErrorKind::{TimedOut, WouldBlock};
    if matches!(error.kind(), WouldBlock | TimedOut) {
        return SteerProblem::Tool(
            "its process does not answer: it still loads the locustfile, or a task of it computes. \
             Look at the number of users before you change it again."
                .to_owned(),
        );
    }
    SteerProblem::Run(ChangeProblem::NoRun)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that answers each question with these lines.
    fn answering(lines: &'static str) -> Lever {
        let (lever, end) = Lever::new().expect("a socket");
        let mut stream = UnixStream::from(end);
        thread::spawn(move || {
            let input = BufReader::new(stream.try_clone().expect("a descriptor"));
            for _ in input.lines().map_while(Result::ok) {
                stream.write_all(lines.as_bytes()).expect("it is read");
            }
        });
        lever
    }

    #[test]
    fn the_answer_to_the_question_says_what_holds_from_when() {
        let lever = answering(
            "{\"number\": 0, \"problem\": \"too late\"}\n\
             {\"number\": 1, \"at_s\": 1.5, \"reached_s\": 4.5, \"spawn_rate\": 2.0}\n",
        );
        let spawning = lever.spawn(7, Some(2.0)).expect("it is changed");
        assert_eq!(spawning.change.level, Level::Users(7));
        assert_eq!(spawning.change.at_ns, 1_500_000_000);
        assert_eq!((spawning.rate_per_s, spawning.reached_s), (2.0, 4.5));
    }

    #[test]
    fn what_no_test_can_have_is_not_asked_for() {
        let (lever, _end) = Lever::new().expect("a socket");
        for (users, rate) in [
            (u32::MAX, None),
            (1, Some(0.0)),
            (1, Some(f64::NAN)),
            (1, Some(-1.0)),
        ] {
            assert!(lever.spawn(users, rate).is_err(), "{users} {rate:?}");
        }
    }

    #[test]
    fn an_answer_whose_rest_comes_too_late_is_no_end_of_the_run() {
        let timeout = Duration::from_millis(10);
        let (lever, end) = Lever::with_timeout(timeout).expect("a socket");
        let mut process = UnixStream::from(end);
        let mut say = |text: &str| process.write_all(text.as_bytes()).expect("it is taken");
        say("{\"number\": 1, \"at_s\": 1.5, \"rea");
        let late = lever.spawn(7, None);
        assert!(matches!(late, Err(SteerProblem::Tool(_))), "{late:?}");
        say("ched_s\": 2.5, \"spawn_rate\": 1.0}\n");
        say("{\"number\": 2, \"at_s\": 8.0, \"reached_s\": 9.0, \"spawn_rate\": 1.0}\n");
        let spawning = lever.spawn(8, None).expect("it is changed");
        assert_eq!(spawning.change.level, Level::Users(8));
        assert_eq!(spawning.reached_s, 9.0);
    }

    #[test]
    fn a_refusal_and_an_end_are_said() {
        let lever = answering("{\"number\": 1, \"problem\": \"not now.\"}\n");
        let refused = lever.spawn(1, None);
        assert_eq!(refused, Err(SteerProblem::Tool("not now.".to_owned())));
        let (lever, end) = Lever::new().expect("a socket");
        drop(end);
        let ended = lever.spawn(1, None);
        assert_eq!(ended, Err(SteerProblem::Run(ChangeProblem::NoRun)));
    }

    #[test]
    fn what_a_process_tells_by_itself_is_kept_and_answers_nothing() {
        let lever = answering(
            "{\"agents\": [\"north\", \"south\"]}\n\
             {\"at_s\": 0.5, \"users\": 3}\nno JSON\n{\"at_s\": 1.5, \"users\": 7}\n\
             {\"number\": 1, \"at_s\": 1.5, \"reached_s\": 4.5, \"spawn_rate\": 2.0}\n",
        );
        assert!(lever.changes().is_empty() && lever.agents().is_empty());
        let spawning = lever.spawn(7, None).expect("it is changed");
        assert_eq!(lever.changes(), [change(0.5, 3), spawning.change]);
        let agents = [("north".to_owned(), 0..1), ("south".to_owned(), 1..2)];
        assert_eq!(lever.agents(), agents);
    }
}
