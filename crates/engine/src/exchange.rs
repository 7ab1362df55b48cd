//! Exchanges: a batch of requests goes out on one connection, its answers come back.
//!
//! A connection that served before and that the server closed meanwhile is replaced silently (RFC
//! 9112, section 9.3.1: such a close may cross the request): what it left without a byte of an
//! answer is sent once more, its clock running on. Every other failure is the exchange's outcome.

use crate::behaviour::{Answer, Batch, Observer};
use crate::sampling::Instants;
use crate::user::{Activity, Live, Start, User};
use crate::worker::Worker;
use loadline_reactor::{Host, Received, Shortage};
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_transport::{Connection, DialError, DialPhase, is_tls_error};
use loadline_wire::{Malformed, ResponseParser};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

/// From here on bytes that nobody wants are dropped in the kernel; fewer are read with the next.
const WORTH_DISCARDING: u64 = 16 * 1024;
/// The most that is dropped at once.
const DISCARD_AT_ONCE: u64 = 1 << 30;
/// How long we wait for a server to close the connection it promised to close. If we closed first,
/// each connection would hold one of our ports for a minute.
const CLOSE_WAIT_NS: u64 = 5_000_000;

/// Sends a batch and waits for all its answers; returns how the last exchange ended.
pub(crate) async fn send<H: Host, O: Observer>(
    user: &mut User<H>,
    batch: Batch<'_>,
    observer: &mut O,
) -> Outcome {
    let mut flight = Flight::begin(user, &batch);
    loop {
        let broken = match attempt(user, &batch, &mut flight, observer).await {
            Ok(()) => {
                user.backoff.succeeded();
                break;
            }
            Err(broken) => broken,
        };
        match broken {
            Broken::ClosedByServer => user.slot(batch.endpoint).closed_by_server = true,
            Broken::Failed(failure) => {
                flight.fail_rest(user, &batch, observer, failure);
                break;
            }
        }
    }
    user.free_ns = flight.ended_ns;
    user.put_off_starts();
    let backoff_ns = user.backoff.take_ns();
    if backoff_ns > 0 && user.worker.backs_off {
        user.pause(backoff_ns).await;
    }
    flight.last
}

/// Why a batch did not get all its answers in one attempt.
enum Broken {
    /// What is left may be sent once more.
    ClosedByServer,
    /// What is left has failed.
    Failed(Failure),
}

struct Failure {
    kind: ErrorKind,
    text: String,
    /// The system's number for it, if the system told.
    os_error: Option<i32>,
}

impl Failure {
    fn new(kind: ErrorKind, text: impl ToString) -> Self {
        Failure {
            kind,
            text: text.to_string(),
            os_error: None,
        }
    }

    fn dial(error: &DialError) -> Self {
        let kind = match (error.shortage(), error.phase) {
            (Some(Shortage::Descriptors), _) => ErrorKind::Descriptors,
            (Some(Shortage::Ports), _) => ErrorKind::Ports,
            (None, DialPhase::Connect | DialPhase::Tunnel) => ErrorKind::Connect,
            (None, DialPhase::Tls) => ErrorKind::Tls,
        };
        Failure {
            os_error: error.error.raw_os_error(),
            ..Failure::new(kind, error)
        }
    }

    /// A failure of a connection that was up.
    fn io(otherwise: ErrorKind, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::TimedOut {
            return Failure::new(ErrorKind::Timeout, "no whole answer in the time allowed");
        }
        let kind = if is_tls_error(error) {
            ErrorKind::Tls
        } else {
            otherwise
        };
        Failure {
            os_error: error.raw_os_error(),
            ..Failure::new(kind, error)
        }
    }
}

/// Sends what is left of a batch and reads its answers, over the standing connection or a new one.
async fn attempt<H: Host, O: Observer>(
    user: &mut User<H>,
    batch: &Batch<'_>,
    flight: &mut Flight,
    observer: &mut O,
) -> Result<(), Broken> {
    let mut live = match standing(user, batch.endpoint) {
        Some(live) => live,
        // Boxed: dialling is rare, and its state would make every user's task half as large again.
        None => {
            let live = Box::pin(dial(user, batch.endpoint, flight)).await?;
            if O::WANTS_TLS
                && let Some(agreed) = live.connection.agreed()
            {
                observer.secured(&agreed);
            }
            live
        }
    };
    live.connection.set_deadline(flight.deadline_ns);
    flight.is_sampled = user.worker.sampling.picks() && flight.may_be_split(batch);
    if flight.is_sampled {
        live.connection.stamp_next_send();
    }
    let rest = &batch.bytes[flight.offset(batch)..];
    if let Err(error) = live.connection.send_all(rest).await {
        return Err(broken_connection(&live, false, ErrorKind::Write, &error));
    }
    flight.sendings += 1;
    let worker = Rc::clone(&user.worker);
    worker
        .recorder
        .borrow_mut()
        .transmitted(flight.counted_bytes(batch));
    user.parser.begin(flight.part(batch).expect);
    let mut reading = Reading {
        worker: &worker,
        live: &mut live,
        parser: &mut user.parser,
        starts: &mut user.starts,
        flight,
        batch,
        observer,
    };
    let reusable = poll_fn(|cx| reading.poll(cx)).await?;
    put_back(user, batch.endpoint, live, reusable);
    Ok(())
}

/// The user's connection, unless the server has closed it while it stood idle, or has said
/// something unasked: that is no answer to what is asked next (RFC 9112, section 9.2).
fn standing<H: Host>(user: &mut User<H>, endpoint: usize) -> Option<Live<H>> {
    let mut live = user.slot(endpoint).live.take()?;
    let connection = &mut live.connection;
    let spoke = connection.may_receive() && speaks_unasked(connection, &user.worker);
    if spoke || live.connection.peer_closed() {
        // One that was dialled ahead and never served is no loss that was repaired.
        user.slot(endpoint).closed_by_server = live.served > 0;
        return None;
    }
    Some(live)
}

/// Whether an idle connection has more to read than line ends, which some servers send behind an
/// answer.
#[cold]
fn speaks_unasked<H: Host>(connection: &mut Connection<H::Socket>, worker: &Worker<H>) -> bool {
    connection.set_deadline(u64::MAX);
    let mut scratch = worker.dialler.scratch.borrow_mut();
    let received = connection.poll_recv(&mut Context::from_waker(Waker::noop()), &mut scratch);
    match received {
        Poll::Pending => false,
        Poll::Ready(Err(_)) => true,
        Poll::Ready(Ok(Received { bytes, .. })) => {
            let behind = scratch.received(bytes);
            if is_surplus(behind) {
                worker.surplus();
            }
            bytes == 0 || !are_line_ends(behind)
        }
    }
}

/// Whether bytes behind an answer belong to its body, by which it is longer than it told: they are
/// neither line ends nor an answer to nothing, as some servers send before they close.
fn is_surplus(behind: &[u8]) -> bool {
    !are_line_ends(behind) && !behind.starts_with(b"HTTP/")
}

fn are_line_ends(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

async fn dial<H: Host>(
    user: &mut User<H>,
    endpoint: usize,
    flight: &mut Flight,
) -> Result<Live<H>, Broken> {
    let worker = Rc::clone(&user.worker);
    let start_ns = worker.host.now_ns();
    let dialled = worker.dialler.dial(endpoint, flight.deadline_ns).await;
    flight.dial_ns += worker.host.now_ns() - start_ns;
    if dialled.is_err() {
        user.backoff.failed();
        // A dial may fail without waiting for anything: then everybody else comes first, or a user
        // that dials again and again would be all that the worker does.
        let_others_run().await;
    }
    let (connection, dial) = dialled.map_err(|error| Broken::Failed(Failure::dial(&error)))?;
    user.backoff.succeeded();
    let reconnected = std::mem::take(&mut user.slot(endpoint).closed_by_server);
    if flight.is_counted() {
        worker.dialled(&dial);
        if reconnected {
            worker.recorder.borrow_mut().reconnected();
        }
    }
    Ok(Live {
        connection,
        served: 0,
    })
}

/// Goes to the end of the loop's queue, behind what the kernel has to tell.
async fn let_others_run() {
    let mut went = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut went, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Keeps a connection for the next exchange, or lets the server close it while the user goes on.
fn put_back<H: Host>(user: &mut User<H>, endpoint: usize, live: Live<H>, reusable: bool) {
    let keepalive = user.worker.keepalive;
    if reusable && keepalive {
        user.slot(endpoint).live = Some(live);
        return;
    }
    user.slot(endpoint).closed_by_server = keepalive;
    if !live.connection.peer_closed() {
        let host = &user.worker.host;
        live.connection.set_deadline(host.now_ns() + CLOSE_WAIT_NS);
        host.spawn(async move { live.connection.closed_by_peer().await })
            .detach();
    }
}

/// What a failed operation means for what is left of a batch.
fn broken_connection<H: Host>(
    live: &Live<H>,
    answering: bool,
    otherwise: ErrorKind,
    error: &io::Error,
) -> Broken {
    let closed = matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    );
    if closed && live.served > 0 && !answering {
        return Broken::ClosedByServer;
    }
    Broken::Failed(Failure::io(otherwise, error))
}

/// A batch on its way. Nanoseconds on the host's clock.
struct Flight {
    activity: Rc<Activity>,
    begun_ns: u64,
    deadline_ns: u64,
    dial_ns: u64,
    /// The first request that belongs to the measured part of the run.
    first_counted: usize,
    /// The first request without a whole answer.
    next: usize,
    /// The start of that request.
    start: Start,
    /// When the first byte of its answer came.
    first_byte_ns: Option<u64>,
    /// Bytes of its answer so far.
    bytes_in: u64,
    /// How often what is left of the batch went out.
    sendings: u64,
    /// Whether it is split by the kernel's clock.
    is_sampled: bool,
    /// How the exchange before it ended, and when.
    last: Outcome,
    ended_ns: u64,
}

impl Flight {
    fn begin<H: Host>(user: &mut User<H>, batch: &Batch<'_>) -> Self {
        let worker = Rc::clone(&user.worker);
        let begun_ns = match user.starts.last() {
            // In a closed load the start is the moment at which it was taken.
            Some(start) if !worker.pacer.is_open() => start.intended_ns,
            _ => worker.host.now_ns(),
        };
        let start = user.next_start(begun_ns);
        let first_counted = first_counted(&worker, start, &user.starts, batch.parts.len());
        let mut recorder = worker.recorder.borrow_mut();
        let counted = batch.parts.len() - first_counted;
        (0..counted).for_each(|_| recorder.begin());
        if worker.pacer.is_open() && counted > 0 {
            let zero_ns = worker.zero_ns.get();
            let ready_ns = start.ready_ns.clamp(start.intended_ns, begun_ns);
            let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
            recorder.arrived(since_zero(ready_ns), since_zero(begun_ns), counted as u64);
        }
        user.activity.since_ns.set(Some(start.intended_ns));
        Flight {
            activity: Rc::clone(&user.activity),
            begun_ns,
            deadline_ns: begun_ns.saturating_add(worker.timeout_ns),
            dial_ns: 0,
            first_counted,
            next: 0,
            start,
            first_byte_ns: None,
            bytes_in: 0,
            sendings: 0,
            is_sampled: false,
            last: Outcome::Failed(ErrorKind::Aborted),
            ended_ns: begun_ns,
        }
    }

    fn part<'a>(&self, batch: &Batch<'a>) -> &'a crate::Part {
        &batch.parts[self.next]
    }

    /// Whether the next request belongs to the measured part of the run.
    fn is_counted(&self) -> bool {
        self.next >= self.first_counted
    }

    /// Whether it is one exchange of the measured part on a standing connection, so that what lies
    /// between its begin and the kernel's stamps is sending and waiting for the answer.
    fn may_be_split(&self, batch: &Batch<'_>) -> bool {
        let is_one = batch.parts.len() == 1 && self.sendings == 0;
        is_one && self.is_counted() && self.dial_ns == 0
    }

    /// Where the next request begins among the batch's bytes.
    fn offset(&self, batch: &Batch<'_>) -> usize {
        offset(batch, self.next)
    }

    /// The bytes of the measured part that go out with the rest of the batch.
    fn counted_bytes(&self, batch: &Batch<'_>) -> u64 {
        (batch.bytes.len() - offset(batch, self.next.max(self.first_counted))) as u64
    }

    /// Ends the next exchange and goes on to the one behind it.
    fn end<H: Host, O: Observer>(
        &mut self,
        worker: &Worker<H>,
        batch: &Batch<'_>,
        starts: &mut Vec<Start>,
        observer: &mut O,
        ending: Ending,
    ) {
        let bytes_out = (self.part(batch).end - self.offset(batch)) as u64 * self.sendings;
        let zero_ns = worker.zero_ns.get();
        let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
        let exchange = Exchange {
            intended_ns: since_zero(self.start.intended_ns),
            ready_ns: since_zero(
                self.start
                    .ready_ns
                    .clamp(self.start.intended_ns, self.begun_ns),
            ),
            start_ns: since_zero(self.begun_ns),
            dial_ns: self.dial_ns,
            first_byte_ns: since_zero(self.first_byte_ns.unwrap_or(ending.end_ns)),
            end_ns: since_zero(ending.end_ns),
            wakeup_ns: ending.wakeup_ns,
            bytes_in: self.bytes_in,
            bytes_out,
            outcome: ending.outcome,
        };
        if self.is_counted() {
            worker.record(&exchange);
        }
        observer.ended(&exchange);
        self.last = ending.outcome;
        self.ended_ns = ending.end_ns;
        self.next += 1;
        self.first_byte_ns = None;
        self.bytes_in = 0;
        if self.next < batch.parts.len() {
            let begun_ns = self.begun_ns;
            self.start = starts.pop().unwrap_or(Start {
                intended_ns: begun_ns,
                ready_ns: begun_ns,
            });
            self.activity.since_ns.set(Some(self.start.intended_ns));
        } else {
            let left = starts.last();
            self.activity
                .since_ns
                .set(left.map(|start| start.intended_ns));
        }
    }

    fn fail_rest<H: Host, O: Observer>(
        &mut self,
        user: &mut User<H>,
        batch: &Batch<'_>,
        observer: &mut O,
        failure: Failure,
    ) {
        let worker = Rc::clone(&user.worker);
        let outcome = Outcome::Failed(failure.kind);
        let ending = Ending {
            end_ns: worker.host.now_ns(),
            wakeup_ns: 0,
            outcome,
        };
        if self.first_counted < batch.parts.len() {
            let mut recorder = worker.recorder.borrow_mut();
            recorder.failure_example(failure.kind, || failure.text.clone());
        }
        while self.next < batch.parts.len() {
            observer.failed(&failure.text, failure.os_error);
            self.end(&worker, batch, &mut user.starts, observer, ending);
        }
    }
}

/// Where a request begins among the batch's bytes.
fn offset(batch: &Batch<'_>, index: usize) -> usize {
    let last = index.checked_sub(1);
    last.map_or(0, |last| batch.parts[last].end)
}

/// The first of `count` requests whose start lies in the measured part of the run: a batch may span
/// the end of the warm-up. `next` is the first one's start, `later` are those behind it, the
/// earliest last; requests beyond them start now.
fn first_counted<H: Host>(worker: &Worker<H>, next: Start, later: &[Start], count: usize) -> usize {
    let zero_ns = worker.zero_ns.get();
    if next.intended_ns >= zero_ns {
        return 0;
    }
    let is_warmup = |start: &&Start| start.intended_ns < zero_ns;
    let uncounted = 1 + later.iter().rev().take_while(is_warmup).count();
    if uncounted > later.len() && worker.host.now_ns() < zero_ns {
        return count;
    }
    uncounted.min(count)
}

/// How and when an exchange ended.
#[derive(Clone, Copy)]
struct Ending {
    end_ns: u64,
    wakeup_ns: u64,
    outcome: Outcome,
}

/// Reads the answers of a batch.
struct Reading<'a, H: Host, O> {
    worker: &'a Worker<H>,
    live: &'a mut Live<H>,
    parser: &'a mut ResponseParser,
    starts: &'a mut Vec<Start>,
    flight: &'a mut Flight,
    batch: &'a Batch<'a>,
    observer: &'a mut O,
}

/// When bytes came, by the kernel's clock if it told and by ours.
#[derive(Clone, Copy)]
struct Arrival {
    at_ns: u64,
    wakeup_ns: u64,
}

impl<H: Host, O: Observer> Reading<'_, H, O> {
    /// Ready when all answers are whole; says whether the connection can serve another batch.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        loop {
            let discardable = self.discardable();
            let received = if discardable > 0 {
                ready!(self.live.connection.poll_discard(cx, discardable as usize))
            } else {
                let mut scratch = self.worker.dialler.scratch.borrow_mut();
                ready!(self.live.connection.poll_recv(cx, &mut scratch))
            };
            let received = match received {
                Ok(received) => received,
                Err(error) => {
                    let answering = self.parser.started();
                    let broken = broken_connection(self.live, answering, ErrorKind::Read, &error);
                    return Poll::Ready(Err(broken));
                }
            };
            if let Some(ended) = self.take(received, discardable > 0).transpose() {
                return Poll::Ready(ended);
            }
        }
    }

    /// How many bytes are to be dropped in the kernel.
    fn discardable(&self) -> u64 {
        if O::WANTS_BODY || !self.live.connection.can_discard() {
            return 0;
        }
        match self.parser.discardable() {
            bytes if bytes >= WORTH_DISCARDING => bytes.min(DISCARD_AT_ONCE),
            _ => 0,
        }
    }

    /// Takes what one receive brought; `None` if more must come.
    fn take(&mut self, received: Received, discarded: bool) -> Result<Option<bool>, Broken> {
        let arrival = self.arrival(received);
        if received.bytes == 0 {
            return self.closed(arrival).map(Some);
        }
        if self.flight.is_counted() {
            self.worker
                .recorder
                .borrow_mut()
                .received(received.bytes as u64);
        }
        if discarded {
            self.flight.bytes_in += received.bytes as u64;
            let done = self.parser.discarded(received.bytes as u64);
            return if done {
                self.answered(arrival)
            } else {
                Ok(None)
            };
        }
        self.feed(received.bytes, arrival)
    }

    /// When the bytes came. The kernel's stamp is of another clock, so it is held between our
    /// begin and our read.
    fn arrival(&self, received: Received) -> Arrival {
        let now_ns = self.worker.host.now_ns();
        let at_ns = received
            .at_ns
            .unwrap_or(now_ns)
            .clamp(self.flight.begun_ns, now_ns);
        Arrival {
            at_ns,
            wakeup_ns: now_ns - at_ns,
        }
    }

    /// Splits an exchange whose answer is whole, if the kernel has told when its request left.
    #[cold]
    fn split(&self, arrival: Arrival) {
        let host = &self.worker.host;
        let parsed_ns = host.now_ns();
        let Some(sent_ns) = self.live.connection.sent_at_ns() else {
            return;
        };
        let instants = Instants {
            intended_ns: self.flight.start.intended_ns,
            begun_ns: self.flight.begun_ns,
            sent_ns,
            received_ns: arrival.at_ns,
            read_ns: arrival.at_ns + arrival.wakeup_ns,
            parsed_ns,
        };
        self.worker.recorder.borrow_mut().split(&instants.split());
    }

    fn feed(&mut self, bytes: usize, arrival: Arrival) -> Result<Option<bool>, Broken> {
        let worker = self.worker;
        let scratch = worker.dialler.scratch.borrow();
        let mut input = scratch.received(bytes);
        while !input.is_empty() {
            let memo = &mut *worker.heads.borrow_mut();
            let fed = self.parser.feed_knowing(memo, input, self.observer);
            let fed = fed.map_err(|malformed| {
                // It is not told how much of it could be read.
                self.flight.bytes_in += input.len() as u64;
                self.flight.first_byte_ns.get_or_insert(arrival.at_ns);
                protocol(malformed)
            })?;
            input = &input[fed.used..];
            self.flight.bytes_in += fed.used as u64;
            if self.flight.first_byte_ns.is_none() && self.parser.started() {
                self.flight.first_byte_ns = Some(arrival.at_ns);
            }
            if !fed.done {
                continue;
            }
            if let Some(reusable) = self.answered(arrival)? {
                if reusable && is_surplus(input) {
                    worker.surplus();
                }
                // More behind the last answer than a line end makes what follows it doubtful.
                return Ok(Some(reusable && are_line_ends(input)));
            }
        }
        Ok(None)
    }

    /// An answer is whole. `Some` if it was the last: whether the connection can be used again.
    fn answered(&mut self, arrival: Arrival) -> Result<Option<bool>, Broken> {
        let Arrival {
            at_ns: end_ns,
            wakeup_ns,
        } = arrival;
        let reusable = self.parser.reusable();
        let outcome = Outcome::Answered {
            status: self.parser.status(),
        };
        let ending = Ending {
            end_ns,
            wakeup_ns,
            outcome,
        };
        self.live.served += 1;
        if self.flight.is_sampled {
            self.split(arrival);
        }
        self.observer.answered(&Answer {
            head_bytes: self.parser.head_len(),
            body_bytes: self.parser.body_len(),
            keeps_connection: reusable,
        });
        self.flight
            .end(self.worker, self.batch, self.starts, self.observer, ending);
        let Some(part) = self.batch.parts.get(self.flight.next) else {
            return Ok(Some(reusable));
        };
        if !reusable {
            return Err(Broken::ClosedByServer);
        }
        self.parser.begin(part.expect);
        Ok(None)
    }

    /// The server has closed its side: the end of an answer whose length it did not tell, or of a
    /// connection that we thought would go on.
    fn closed(&mut self, arrival: Arrival) -> Result<bool, Broken> {
        match self.parser.close() {
            Ok(()) => self.answered(arrival).map(|_| false),
            Err(Malformed::NoAnswer) if self.live.served > 0 => Err(Broken::ClosedByServer),
            Err(malformed) => Err(Broken::Failed(Failure::new(ErrorKind::Read, malformed))),
        }
    }
}

fn protocol(malformed: Malformed) -> Broken {
    Broken::Failed(Failure::new(ErrorKind::Protocol, malformed))
}
