//! Users that send oha's requests and add every result to the tally of their worker.

use super::message::Message;
use super::options::{Bodies, Options, Version};
use super::redirect;
use super::spool::Row;
use super::tally::{Results, Success, Tally};
use super::urls::Urls;
use loadline_engine::{
    Answer, AnyTally, Batch, Behaviour, Iteration, Observer, Part, Requester, Resend, Scenario,
};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::Sink;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The maximum size of the messages that a worker keeps, in bytes, and the estimated size of a
/// head.
const MOST_KEPT_BYTES: usize = 64 << 20;
const HEAD_BYTES: usize = 1024;
/// The pause of a user after a request that could not be sent, in nanoseconds.
const PAUSE_NS: u64 = 1_000_000;

/// Creates the users of one worker.
#[derive(Debug)]
pub(super) struct OhaScenario(Rc<Worker>);

/// The state that the users of a worker share.
#[derive(Debug)]
struct Worker {
    options: Arc<Options>,
    /// True if each success is listed.
    lists: bool,
    /// The results of requests since the last report.
    results: RefCell<Results>,
    /// The end of the last request, in nanoseconds from the command's begin.
    end_ns: Cell<u64>,
    random: RefCell<ChaCha8Rng>,
    /// The messages of a list of URLs, each written when it is first sent.
    written: RefCell<Vec<Option<Rc<Prepared>>>>,
}

/// A message and its destination.
#[derive(Debug)]
struct Prepared {
    url: Url,
    endpoint: usize,
    message: Message,
    /// The index of the body.
    line: usize,
    part: Part,
}

impl OhaScenario {
    /// Creates the users of the worker with this index; they draw from a stream of the seed.
    pub(super) fn new(options: Arc<Options>, lists: bool, seed: u64, index: u32) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::from(index) + 1);
        OhaScenario(Rc::new(Worker {
            results: RefCell::new(no_results(&options)),
            end_ns: Cell::default(),
            random: RefCell::new(random),
            written: RefCell::default(),
            options,
            lists,
        }))
    }
}

impl<H: Host> Scenario<H> for OhaScenario {
    const COMPOSES: bool = true;
    const COUNTS: bool = true;

    type Behaviour = User;

    fn user(&mut self) -> User {
        User(Rc::clone(&self.0))
    }

    fn take_tally(&mut self) -> Option<AnyTally> {
        let results = &mut *self.0.results.borrow_mut();
        let has_any = results.tally.successes() + results.tally.failures() > 0;
        has_any.then(|| AnyTally::new(mem::replace(results, no_results(&self.0.options))))
    }

    /// True for a run with a duration. In a run with a number of requests, a failed connection is a
    /// failed request, and the next one follows at once, since their number is bounded. A run with
    /// a duration need not send a hundred thousand requests per second to a dead server.
    fn backs_off(&self) -> bool {
        self.0.options.arguments.duration.is_some()
    }
}

/// One user.
#[derive(Debug)]
pub(super) struct User(Rc<Worker>);

impl<H: Host> Behaviour<H> for User {
    fn is_prompt(&self) -> bool {
        self.0.is_prompt()
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let worker = &*self.0;
        if worker.is_past_deadline() {
            return iteration.end_worker();
        }
        let requester = iteration.requester();
        let prepared = match worker.next(requester) {
            Ok(prepared) => prepared,
            Err(problem) => {
                worker.results.borrow_mut().tally.failed(&problem, 0);
                return iteration.pause(PAUSE_NS).await;
            }
        };
        if worker.options.arguments.redirect == 0 || prepared.message.http2.is_some() {
            let mut watch = Watch::<false>::default();
            requester.send(prepared.batch(), &mut watch).await;
            if let Some(end) = watch.end() {
                worker.take(end, &prepared.url);
            }
        } else {
            worker.follow(requester, prepared).await;
        }
    }
}

impl Prepared {
    fn batch(&self) -> Batch<'_> {
        Batch {
            endpoint: self.endpoint,
            bytes: &self.message.bytes,
            tail: &self.message.body,
            http2: self.message.http2.as_ref(),
            parts: std::slice::from_ref(&self.part),
            // As in hyper, whose connections oha drives itself.
            resend: Resend::Never,
        }
    }
}

impl Worker {
    /// True if a request has ended after the end of `-z`, so that no more requests begin: only
    /// those in flight are awaited.
    fn is_past_deadline(&self) -> bool {
        let deadline = self.options.arguments.duration;
        deadline.is_some_and(|deadline| self.end_ns.get() >= nanoseconds(deadline))
    }

    /// True if the messages are written before they are needed.
    fn is_prompt(&self) -> bool {
        let is_one = matches!(&self.options.urls, Urls::List(list) if list.len() == 1);
        is_one && self.options.signer.is_none() && matches!(self.options.bodies, Bodies::One(_))
    }

    /// Returns the next message to send.
    fn next<H: Host>(&self, requester: &Requester<H>) -> Result<Rc<Prepared>, String> {
        let mut random = self.random.borrow_mut();
        let (url, index) = self.options.urls.draw(&mut *random)?;
        let (line, is_same) = match &self.options.bodies {
            Bodies::One(body) => (0, self.has_room_for_messages(body.len())),
            Bodies::Lines(lines) => (random.random_range(0..lines.len()), false),
        };
        let Some(index) = index.filter(|_| is_same) else {
            return self.prepare(requester, url, line, false).map(Rc::new);
        };
        let mut written = self.written.borrow_mut();
        if written.len() <= index {
            written.resize(index + 1, None);
        }
        let known = written[index].as_ref();
        if let Some(known) = known.filter(|known| known.message.holds()) {
            return Ok(Rc::clone(known));
        }
        let prepared = Rc::new(self.prepare(requester, url, line, false)?);
        written[index] = Some(Rc::clone(&prepared));
        Ok(prepared)
    }

    /// True if the messages of all URLs, each with a body of this size, are kept once they are
    /// written.
    fn has_room_for_messages(&self, body_bytes: usize) -> bool {
        let Urls::List(list) = &self.options.urls else {
            return false;
        };
        list.len() == 1 || list.len().saturating_mul(HEAD_BYTES + body_bytes) <= MOST_KEPT_BYTES
    }

    fn prepare<H: Host>(
        &self,
        requester: &Requester<H>,
        url: Cow<'_, Url>,
        line: usize,
        is_elsewhere: bool,
    ) -> Result<Prepared, String> {
        let body = self.options.bodies.get(line);
        let message = Message::new(&self.options, &url, body, is_elsewhere)
            .map_err(|problem| problem.to_string())?;
        Ok(Prepared {
            endpoint: requester.endpoint_of(&url),
            url: url.into_owned(),
            line,
            part: Part {
                end: message.size(),
                expect: message.expect,
                series: SeriesId::default(),
                request: None,
            },
            message,
        })
    }

    /// Sends a message, and follows the redirects of its responses. All of them are one result,
    /// with the status and the size of the last response.
    async fn follow<H: Host>(&self, requester: &Requester<H>, first: Rc<Prepared>) {
        let mut prepared = Rc::clone(&first);
        let mut so_far: Option<Success> = None;
        for hop in 0.. {
            let mut watch = Watch::<true>::default();
            let left_ns = self.left_of_timeout(so_far.as_ref());
            let batch = prepared.batch();
            requester.send_within(left_ns, batch, &mut watch).await;
            let location = watch.location.take();
            let Some(mut end) = watch.end() else { return };
            if let (Some(before), Ok(success)) = (&so_far, &mut end.outcome) {
                *success = chained(before, success);
            }
            let (Ok(success), Some(location)) = (&end.outcome, location) else {
                return self.take(end, &prepared.url);
            };
            let next = self.next_hop(requester, hop, &first.url, &prepared, &location);
            so_far = Some(success.clone());
            match next {
                Ok(next) => prepared = Rc::new(next),
                Err(problem) => {
                    end.outcome = Err(Cow::Owned(problem));
                    return self.take(end, &prepared.url);
                }
            }
        }
    }

    /// Returns the timeout for the next request of a chain, in nanoseconds: the whole chain shares
    /// one timeout.
    fn left_of_timeout(&self, so_far: Option<&Success>) -> u64 {
        let Some(timeout) = self.options.arguments.timeout else {
            return u64::MAX;
        };
        let used_ns = so_far.map_or(0, |chain| chain.end_ns.saturating_sub(chain.start_ns));
        nanoseconds(timeout).saturating_sub(used_ns).max(1)
    }

    /// Prepares the request that follows a redirect: the same method and body, whatever the status,
    /// as in oha.
    fn next_hop<H: Host>(
        &self,
        requester: &Requester<H>,
        hop: u32,
        first: &Url,
        from: &Prepared,
        location: &[u8],
    ) -> Result<Prepared, String> {
        if hop >= self.options.arguments.redirect {
            return Err(redirect::LIMIT_REACHED.to_owned());
        }
        let url = redirect::target(&from.url, location).ok_or_else(|| {
            format!(
                "the redirect leads nowhere: {}",
                String::from_utf8_lossy(location)
            )
        })?;
        let is_elsewhere = url.origin() != first.origin();
        self.prepare(requester, Cow::Owned(url), from.line, is_elsewhere)
    }

    /// Adds the result of a request.
    fn take(&self, end: End, url: &Url) {
        let Results { tally, rows } = &mut *self.results.borrow_mut();
        match end.outcome {
            Err(error) => {
                let wait_ns = nanoseconds(self.options.wait());
                tally.failed(&error, wait_ns + end.end_ns);
            }
            Ok(success) => {
                let success = self.timed(success);
                tally.succeeded(&success);
                if self.lists {
                    let target = self.options.target_of(url).to_owned();
                    rows.push(Row { success, target });
                }
            }
        }
        self.end_ns.set(self.end_ns.get().max(tally.end_ns));
    }

    /// Converts the times of a success to times from the command's begin. Over HTTP/2 the time of
    /// opening a connection is excluded; with `--latency-correction` the delay before the send is
    /// included.
    fn timed(&self, mut success: Success) -> Success {
        let wait_ns = nanoseconds(self.options.wait());
        success.start_ns += wait_ns;
        success.intended_ns += wait_ns;
        success.end_ns += wait_ns;
        if self.options.version == Version::Http2 {
            let dial_ns = success.dial_ns.unwrap_or(0);
            success.latency_ns = success.latency_ns.saturating_sub(dial_ns);
            success.first_byte_ns = success.first_byte_ns.map(|ns| ns.saturating_sub(dial_ns));
        }
        if self.options.is_corrected() {
            success.latency_ns = success.end_ns.saturating_sub(success.intended_ns);
        }
        success
    }
}

/// Returns the empty results of a worker.
fn no_results(options: &Options) -> Results {
    Results {
        tally: Tally::new(options.arguments.stats_success_breakdown),
        rows: Vec::new(),
    }
}

/// Returns the result of a response after a redirect, with the start and the first phases of the
/// first request.
fn chained(before: &Success, last: &Success) -> Success {
    Success {
        start_ns: before.start_ns,
        intended_ns: before.intended_ns,
        latency_ns: last.end_ns.saturating_sub(before.start_ns),
        first_byte_ns: before.first_byte_ns,
        dial_ns: before.dial_ns,
        lookup_ns: before.lookup_ns,
        ..last.clone()
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The end of an exchange.
#[derive(Debug)]
struct End {
    outcome: Result<Success, Cow<'static, str>>,
    /// The time from the run's begin, in nanoseconds.
    end_ns: u64,
}

/// Observes one exchange; with `HEAD`, its `Location` too.
#[derive(Debug, Default)]
struct Watch<const HEAD: bool> {
    body_bytes: u64,
    location: Option<Vec<u8>>,
    failure: Option<(String, Option<i32>)>,
    exchange: Option<Exchange>,
}

impl<const HEAD: bool> Watch<HEAD> {
    /// Returns the end of the exchange; `None` if the run was over before it was sent.
    fn end(mut self) -> Option<End> {
        let exchange = self.exchange.take()?;
        Some(End {
            outcome: match exchange.outcome {
                Outcome::Answered { status } => Ok(self.success(&exchange, status)),
                Outcome::Failed(kind) => Err(self.error(kind)),
            },
            end_ns: exchange.end_ns,
        })
    }

    fn success(&self, exchange: &Exchange, status: u16) -> Success {
        let bytes = self.body_bytes;
        let first_byte_ns = exchange.first_byte_ns.saturating_sub(exchange.start_ns);
        Success {
            start_ns: exchange.start_ns,
            intended_ns: exchange.intended_ns,
            end_ns: exchange.end_ns,
            latency_ns: exchange.service_ns(),
            first_byte_ns: (bytes > 0).then_some(first_byte_ns),
            dial_ns: (exchange.dial_ns > 0).then_some(exchange.dial_ns),
            lookup_ns: exchange.resolve_ns,
            status,
            bytes,
        }
    }

    /// Returns oha's text for the error; the system's message if there is an `errno`.
    fn error(&mut self, kind: ErrorKind) -> Cow<'static, str> {
        if kind == ErrorKind::Timeout {
            return Cow::Borrowed("timeout");
        }
        match self.failure.take() {
            Some((_, Some(number))) => io::Error::from_raw_os_error(number).to_string().into(),
            Some((reason, None)) => reason.into(),
            None => Cow::Borrowed(kind.name()),
        }
    }
}

impl<const HEAD: bool> Sink for Watch<HEAD> {
    const NEEDS_HEAD: bool = HEAD;
    const NEEDS_BODY: bool = false;

    fn header(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"location") {
            self.location = Some(value.to_vec());
        }
    }
}

impl<const HEAD: bool> Observer for Watch<HEAD> {
    fn answered(&mut self, answer: &Answer) {
        self.body_bytes = answer.body_bytes;
    }

    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.failure = Some((reason.to_owned(), os_error));
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.exchange = Some(*exchange);
    }
}
