//! An exporter: a thread that takes batches from its outbox, writes and delivers them.
//!
//! A message that is refused for a reason that may pass (no connection, 429, 5xx, half a response)
//! is sent again after a pause that doubles, or that the receiver requested. Meanwhile new batches
//! wait in the outbox. When the run has ended, what is left is delivered within [`TIME_AT_END`].

use crate::channel::{Channel, Refusal};
use crate::{Batch, Delivery, Outbox};
use loadline_reactor::let_workers_run;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time after a run in which the last messages may be delivered.
pub(crate) const TIME_AT_END: Duration = Duration::from_secs(5);
/// How much later an exporter that does not end is left alone.
const GRACE: Duration = Duration::from_secs(1);
/// The longest time for one message, where nothing else is said.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
/// The first pause before a message is sent again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, whatever the receiver requests.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The reason of messages that had no time.
const NO_ANSWER: &str = "it did not answer in time";
/// How many times a message is sent.
const MOST_ATTEMPTS: u32 = 8;

/// Prints a sentence while a run lasts.
pub type PrintLine = Arc<dyn Fn(&str) + Send + Sync>;

/// Writes batches in the format of a receiver.
pub(crate) trait Layout: Send {
    /// Writes batches, the oldest first.
    fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message>;

    /// Writes what follows the last batch of a run.
    fn end(&mut self) -> Vec<Message> {
        Vec::new()
    }

    /// Decides whether to go on without a kind of message that the receiver refuses; returns a
    /// sentence that says so.
    fn go_without(&mut self, _: Kind, _reason: &str) -> Option<&'static str> {
        None
    }

    /// True if there were more series than have room.
    fn has_overflowed(&self) -> bool {
        false
    }
}

/// What is sent at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The bytes.
    pub(crate) body: Vec<u8>,
    /// The contents.
    pub(crate) kind: Kind,
}

/// The contents of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values that every receiver of the format takes.
    Values,
    /// Histograms that only newer receivers take.
    Histograms,
}

impl Message {
    pub(crate) fn of(body: Vec<u8>) -> Message {
        Message {
            body,
            kind: Kind::Values,
        }
    }
}

/// What a layout writes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchContent {
    /// The series.
    Series,
    /// The series, with times in milliseconds where their source has them so.
    SeriesInMs,
    /// The single values.
    Points,
}

/// An exporter that is ready for a run.
pub struct Exporter {
    /// The receiver, without secrets.
    pub(crate) receiver: String,
    /// The time between two messages.
    pub(crate) interval: Duration,
    /// The longest time for one message.
    pub(crate) timeout: Duration,
    /// What its layout writes of a batch.
    pub(crate) content: BatchContent,
    pub(crate) layout: Box<dyn Layout>,
    pub(crate) channel: Box<dyn Channel>,
}

/// An exporter of a run that lasts.
pub(crate) struct Running {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) content: BatchContent,
    delivery: Arc<Mutex<Delivery>>,
    ended: Receiver<()>,
}

impl Exporter {
    /// Starts the exporter's thread.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn start(self, print: PrintLine) -> io::Result<Running> {
        let outbox = Arc::<Outbox>::default();
        let delivery = Arc::new(Mutex::new(Delivery {
            receiver: self.receiver.clone(),
            ..Delivery::default()
        }));
        let (end, ended) = channel();
        let content = self.content;
        let mut turn = Turn {
            exporter: self,
            outbox: Arc::clone(&outbox),
            delivery: Arc::clone(&delivery),
            print,
            has_complained: false,
        };
        let body = move || {
            turn.run();
            // Nobody waits any more if the time is over.
            let _ = end.send(());
        };
        thread::Builder::new()
            .name("export".to_owned())
            .spawn(body)?;
        Ok(Running {
            outbox,
            content,
            delivery,
            ended,
        })
    }
}

impl Running {
    /// Says that no more batches come.
    pub(crate) fn close(&self, until: Instant) {
        self.outbox.close(until);
    }

    /// Waits for the end of the exporter; returns what became of its messages.
    pub(crate) fn join(self, until: Instant) -> Delivery {
        let left = (until + GRACE).saturating_duration_since(Instant::now());
        let has_ended = self.ended.recv_timeout(left).is_ok();
        let mut delivery = locked(&self.delivery).clone();
        if !has_ended {
            delivery.undelivered = delivery.messages.min(delivery.undelivered + 1);
            if delivery.reason.is_empty() {
                delivery.reason = NO_ANSWER.to_owned();
            }
        }
        delivery
    }
}

fn locked(delivery: &Mutex<Delivery>) -> MutexGuard<'_, Delivery> {
    delivery.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread of an exporter.
struct Turn {
    exporter: Exporter,
    outbox: Arc<Outbox>,
    delivery: Arc<Mutex<Delivery>>,
    print: PrintLine,
    /// True if a refusal was reported.
    has_complained: bool,
}

impl Turn {
    fn run(&mut self) {
        loop {
            let due = Instant::now() + self.exporter.interval;
            let closed = self.outbox.wait_until(due);
            let batches = self.outbox.take();
            if !batches.is_empty() {
                self.write(&batches);
            }
            if closed.is_some() {
                break;
            }
        }
        for message in self.exporter.layout.end() {
            self.deliver(&message);
        }
        let has_overflowed = self.exporter.layout.has_overflowed();
        locked(&self.delivery).has_overflowed = has_overflowed;
    }

    fn write(&mut self, batches: &[Arc<Batch>]) {
        let left_out: u64 = batches.iter().map(|batch| batch.points_left_out).sum();
        locked(&self.delivery).points_left_out += left_out;
        for message in self.exporter.layout.write(batches) {
            self.deliver(&message);
        }
    }

    fn deliver(&mut self, message: &Message) {
        locked(&self.delivery).messages += 1;
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=MOST_ATTEMPTS {
            if self.is_too_late() {
                break;
            }
            let refusal = match self.send(message) {
                Ok(()) => {
                    locked(&self.delivery).late += u64::from(attempt > 1);
                    return;
                }
                Err(refusal) => refusal,
            };
            let layout = &mut self.exporter.layout;
            if let Some(sentence) = layout.go_without(message.kind, &refusal.reason) {
                locked(&self.delivery).messages -= 1;
                return self.report(sentence);
            }
            self.complain(&refusal);
            locked(&self.delivery).reason.clone_from(&refusal.reason);
            let may_retry = refusal.may_retry && attempt < MOST_ATTEMPTS;
            if !may_retry || !self.pause(pause, refusal.after) {
                break;
            }
            pause *= 2;
        }
        let mut delivery = locked(&self.delivery);
        delivery.undelivered += 1;
        if delivery.reason.is_empty() {
            delivery.reason = NO_ANSWER.to_owned();
        }
    }

    /// True if the time after the run is over.
    fn is_too_late(&self) -> bool {
        let until = self.outbox.closed();
        until.is_some_and(|until| Instant::now() >= until)
    }

    fn send(&mut self, message: &Message) -> Result<(), Refusal> {
        let_workers_run();
        let limit = Instant::now() + self.exporter.timeout;
        let until = self.outbox.closed().map_or(limit, |end| end.min(limit));
        self.exporter.channel.send(&message.body, until)
    }

    /// Waits before a message is sent again, as long as the receiver requested if it did; returns
    /// false if there is no time for that. The end of the run shortens a pause, but not one that
    /// was requested and for which there is time.
    fn pause(&self, pause: Duration, requested: Option<Duration>) -> bool {
        let was_closed = self.outbox.closed().is_some();
        let due = Instant::now() + requested.unwrap_or(pause).min(LONGEST_PAUSE);
        let Some(until) = self.outbox.wait_until(due) else {
            return true;
        };
        let now = Instant::now();
        let left = until.saturating_duration_since(now);
        let rest = due.saturating_duration_since(now);
        if was_closed || (requested.is_some() && rest < left) {
            thread::sleep(rest.min(left));
        }
        left > rest || (!was_closed && !left.is_zero())
    }

    /// Reports the first refusal. After the run one sentence says what is missing.
    fn complain(&mut self, refusal: &Refusal) {
        let is_over = self.outbox.closed().is_some();
        if is_over || std::mem::replace(&mut self.has_complained, true) {
            return;
        }
        let again = match refusal.may_retry {
            true => "; it is tried again, and the run goes on.",
            false => "; the run goes on.",
        };
        self.report(&format!("{}{again}", refusal.reason));
    }

    fn report(&self, sentence: &str) {
        (self.print)(&format!("{}: {sentence}", self.exporter.receiver));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Writes the instant of each batch.
    struct Instants;

    impl Layout for Instants {
        fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message> {
            let message = |batch: &Arc<Batch>| Message {
                body: batch.at_ns.to_string().into_bytes(),
                kind: match batch.at_ns % 2 {
                    0 => Kind::Values,
                    _ => Kind::Histograms,
                },
            };
            batches.iter().map(message).collect()
        }

        fn end(&mut self) -> Vec<Message> {
            vec![Message::of(b"end".to_vec())]
        }

        fn go_without(&mut self, kind: Kind, reason: &str) -> Option<&'static str> {
            let is_old = kind == Kind::Histograms && reason == "no histograms";
            is_old.then_some("it takes no histograms.")
        }
    }

    /// Refuses messages in this order, then takes all.
    struct Refusing {
        refusals: VecDeque<Option<Refusal>>,
        taken: Arc<Mutex<Vec<String>>>,
    }

    impl Channel for Refusing {
        fn send(&mut self, body: &[u8], _: Instant) -> Result<(), Refusal> {
            match self.refusals.pop_front().flatten() {
                Some(refusal) => Err(refusal),
                None => {
                    let text = String::from_utf8_lossy(body).into_owned();
                    self.taken.lock().unwrap().push(text);
                    Ok(())
                }
            }
        }
    }

    fn refusal(reason: &str, may_retry: bool) -> Option<Refusal> {
        Some(Refusal {
            reason: reason.to_owned(),
            may_retry,
            after: Some(Duration::ZERO),
        })
    }

    /// Returns what was taken of two batches, what was said, and what became of it. The run ends
    /// when a refusal was reported, if there is one.
    fn run(batches: [u64; 2], refusals: Vec<Option<Refusal>>) -> (String, String, Delivery) {
        let taken = Arc::default();
        let has_refusals = !refusals.is_empty();
        let exporter = Exporter {
            receiver: "here".to_owned(),
            interval: Duration::from_millis(1),
            timeout: TIMEOUT,
            content: BatchContent::Series,
            layout: Box::new(Instants),
            channel: Box::new(Refusing {
                refusals: refusals.into(),
                taken: Arc::clone(&taken),
            }),
        };
        let reason = Arc::new(Mutex::new(Vec::new()));
        let receive = Arc::clone(&reason);
        let print: PrintLine = Arc::new(move |text| receive.lock().unwrap().push(text.to_owned()));
        let running = exporter.start(print).unwrap();
        for at_ns in batches {
            running.outbox.put(Arc::new(Batch {
                at_ns,
                ..Batch::default()
            }));
        }
        while has_refusals && reason.lock().unwrap().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        let until = Instant::now() + TIME_AT_END;
        running.close(until);
        let delivery = running.join(until);
        let joined = |texts: &Mutex<Vec<String>>| texts.lock().unwrap().join(" ");
        (joined(&taken), joined(&reason), delivery)
    }

    #[test]
    fn the_last_batches_are_delivered_when_a_run_ends() {
        let (taken, reason, delivery) = run([2, 4], Vec::new());
        assert_eq!((taken.as_str(), reason.as_str()), ("2 4 end", ""));
        assert_eq!((delivery.messages, delivery.undelivered), (3, 0));
        assert_eq!(delivery.sentence(), None);
    }

    #[test]
    fn what_may_be_accepted_later_is_sent_again() {
        let refusals = vec![refusal("busy", true), refusal("busy", true)];
        let (taken, reason, delivery) = run([2, 4], refusals);
        assert_eq!(taken, "2 4 end");
        assert_eq!(
            reason,
            "here: busy; it is tried again, and the run goes on."
        );
        assert_eq!((delivery.undelivered, delivery.late), (0, 1));
    }

    #[test]
    fn what_is_never_accepted_is_counted() {
        let (taken, reason, delivery) = run([2, 4], vec![refusal("no such user", false)]);
        assert_eq!(taken, "4 end");
        assert_eq!(reason, "here: no such user; the run goes on.");
        let sentence = "here: 1 of 3 batches were not delivered: no such user.";
        assert_eq!(delivery.sentence().as_deref(), Some(sentence));
    }

    #[test]
    fn a_message_is_given_up_after_some_attempts() {
        let refusals = (0..MOST_ATTEMPTS).map(|_| refusal("full", true)).collect();
        let (taken, _, delivery) = run([2, 4], refusals);
        assert_eq!(taken, "4 end");
        assert_eq!(
            (delivery.undelivered, delivery.reason.as_str()),
            (1, "full")
        );
    }

    #[test]
    fn an_exporter_goes_on_without_what_its_receiver_does_not_know() {
        let (taken, reason, delivery) = run([1, 4], vec![refusal("no histograms", false)]);
        assert_eq!(taken, "4 end");
        assert_eq!(reason, "here: it takes no histograms.");
        assert_eq!((delivery.messages, delivery.undelivered), (2, 0));
    }
}
