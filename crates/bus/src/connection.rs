//! The connection to a bus, for any number of users: a thread reads, and another one writes. It
//! replaces a connection that is lost, and subscribes again.

use crate::address::{BusAddress, BusServer};
use crate::error::BusError;
use crate::heartbeats::Heartbeats;
use crate::nats::{self, Info, Op};
use crate::stream::{Incoming, Outgoing, begin_tls, halves};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// The time in which a bus answers to a new connection.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// The time without a message to the bus after which a sign of life is sent and requested.
const IDLE: Duration = Duration::from_secs(5);
/// The time without a byte of the bus after which the connection is lost.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(20);
/// The time between two attempts to replace a lost connection.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(100);
/// The bytes from which on what waits is written apart.
const LONGEST_WRITE: usize = 64 * 1024;
/// The bytes of a message that are not its contents, at most.
const ROOM_BYTES: usize = 4_096;

/// A message that was received.
#[derive(Debug)]
pub(crate) struct Message {
    /// The subject of the answer, if one is requested.
    pub(crate) reply: Option<String>,
    pub(crate) contents: Vec<u8>,
}

/// A connection to a bus, which is replaced when it is lost. It is closed when the last of its
/// clones and subscriptions is dropped.
#[derive(Clone)]
pub struct Bus(Arc<Shared>);

struct Shared {
    /// Sends to the writing thread.
    out: Sender<Vec<u8>>,
    table: Mutex<Table>,
    heartbeats: Heartbeats,
    /// The most bytes of a message's contents.
    longest: usize,
}

/// The parties that wait for something of the bus, and the state of the connection.
#[derive(Default)]
struct Table {
    /// The subscriptions, by their numbers.
    subscriptions: BTreeMap<u64, Subscribed>,
    next: u64,
    /// The requests for signs of life that were not answered, in order.
    pings: VecDeque<Option<Sender<()>>>,
    /// The last error that the bus has sent, or the reason why the connection is lost.
    error: Option<String>,
    /// The first thing that the bus does not permit.
    forbidden: Option<String>,
    /// The number of the connection: that of those before it.
    connection: u64,
    is_lost: bool,
}

/// A subscription, from the bus's view.
struct Subscribed {
    subject: String,
    receiver: Sender<Message>,
    /// Takes a message at once, on the thread that reads, and returns true; false leaves it to the
    /// receiver. It does not wait.
    at_once: Option<AtOnce>,
}

type AtOnce = Box<dyn Fn(&[u8]) -> bool + Send>;

impl Subscribed {
    fn take(&self, message: Message) {
        let at_once = self.at_once.as_ref();
        if !at_once.is_some_and(|take| take(&message.contents)) {
            let _ = self.receiver.send(message);
        }
    }
}

/// The halves of a new connection.
struct Halves {
    from: BufReader<Incoming>,
    to: Outgoing,
}

/// The messages of a subject, until it is dropped.
pub(crate) struct Subscription {
    pub(crate) messages: Receiver<Message>,
    number: u64,
    bus: Bus,
}

impl Subscription {
    /// Returns its number on its bus.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.bus.end(self.number);
    }
}

impl Bus {
    /// Connects to a bus.
    ///
    /// # Errors
    /// If it can't be used, or is open to anyone.
    pub fn connect(address: &BusAddress) -> Result<Self, BusError> {
        let place = address.place()?;
        let (info, halves) = open(&place, address)?;
        let (out, queue) = channel();
        let shared = Arc::new(Shared {
            out,
            table: Mutex::default(),
            heartbeats: Heartbeats::default(),
            longest: info.max_payload.saturating_sub(ROOM_BYTES),
        });
        let keeper = Keeper {
            shared: Arc::downgrade(&shared),
            queue,
            place,
            address: address.clone(),
        };
        let (number, _) = shared.replace();
        spawn("bus writer", move || keeper.keep(number, halves))?;
        Ok(Bus(shared))
    }

    /// Returns what is done at every heartbeat for the lines of this bus.
    pub(crate) fn heartbeats(&self) -> &Heartbeats {
        &self.0.heartbeats
    }

    /// Returns the most bytes of a message's contents.
    pub(crate) fn longest(&self) -> usize {
        self.0.longest
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the connection is over.
    pub(crate) fn publish(&self, subject: &str, contents: &[u8]) -> Result<(), BusError> {
        self.send(nats::publish(subject, None, contents))
    }

    /// Sends a question, whose answers come to a subscription.
    ///
    /// # Errors
    /// If the connection is over.
    pub(crate) fn request_many(
        &self,
        subject: &str,
        contents: &[u8],
    ) -> Result<Subscription, BusError> {
        let inbox = format!("_INBOX.{}", random_word());
        let answers = self.subscribe(&inbox)?;
        self.send(nats::publish(subject, Some(&inbox), contents))?;
        Ok(answers)
    }

    /// Returns the answer to a question; `None` if there is none in time.
    ///
    /// # Errors
    /// If the connection is over.
    pub(crate) fn request(
        &self,
        subject: &str,
        contents: &[u8],
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, BusError> {
        let answers = self.request_many(subject, contents)?;
        match answers.messages.recv_timeout(timeout) {
            Ok(answer) => Ok(Some(answer.contents)),
            Err(RecvTimeoutError::Timeout) => self.permitted().map(|()| None),
            Err(RecvTimeoutError::Disconnected) => Err(self.broken()),
        }
    }

    /// Subscribes to a subject. What this connection sends later finds the subscription there.
    ///
    /// # Errors
    /// If the connection is over.
    pub(crate) fn subscribe(&self, subject: &str) -> Result<Subscription, BusError> {
        let (send, messages) = channel();
        let number = {
            let mut table = self.table();
            table.next += 1;
            let number = table.next;
            let subscribed = Subscribed {
                subject: subject.to_owned(),
                receiver: send,
                at_once: None,
            };
            table.subscriptions.insert(number, subscribed);
            number
        };
        self.send(nats::subscribe(subject, number))?;
        Ok(Subscription {
            messages,
            number,
            bus: self.clone(),
        })
    }

    /// Has messages of the subscription of this number taken at once, on the thread that reads,
    /// where `take` returns true. It must not wait.
    pub(crate) fn take_at_once(&self, number: u64, take: impl Fn(&[u8]) -> bool + Send + 'static) {
        if let Some(subscribed) = self.table().subscriptions.get_mut(&number) {
            subscribed.at_once = Some(Box::new(take));
        }
    }

    /// Ends the subscription of this number: it receives nothing after what has arrived.
    pub(crate) fn end(&self, number: u64) {
        let ended = self.table().subscriptions.remove(&number);
        if ended.is_some() {
            let _ = self.send(nats::unsubscribe(number));
        }
    }

    /// Ends all subscriptions, so that nobody waits for a message any more. The connection is
    /// closed once it is used no longer: what was sent before is received.
    pub fn leave(&self) {
        let ended = std::mem::take(&mut self.table().subscriptions);
        drop(ended);
    }

    /// Waits until the bus has received all that was sent before, at most this long.
    pub(crate) fn flush(&self, timeout: Duration) {
        let (send, answer) = channel();
        if self.0.ping(Some(send)) {
            let _ = answer.recv_timeout(timeout);
        }
    }

    /// Checks that nothing was forbidden so far, as far as the bus has said that.
    ///
    /// # Errors
    /// If something was.
    pub(crate) fn permitted(&self) -> Result<(), BusError> {
        let forbidden = self.table().forbidden.clone();
        forbidden.map_or(Ok(()), |text| Err(BusError::Forbidden(text)))
    }

    /// Returns the error of a bus that is lost at present, if it is.
    pub fn loss(&self) -> Option<BusError> {
        let is_lost = self.table().is_lost;
        is_lost.then(|| self.broken())
    }

    /// Returns the reason why the connection is lost, or the last error that the bus has sent.
    pub(crate) fn broken(&self) -> BusError {
        let error = self.table().error.clone();
        BusError::Broken(error.unwrap_or_else(|| "the connection was closed".to_owned()))
    }

    fn send(&self, bytes: Vec<u8>) -> Result<(), BusError> {
        self.0.out.send(bytes).map_err(|_| self.broken())
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table()
    }
}

impl std::fmt::Debug for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bus").finish_non_exhaustive()
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a sign of life, which is reported to `waiting`. Returns false if the connection is
    /// lost.
    fn ping(&self, waiting: Option<Sender<()>>) -> bool {
        // Under the lock: the answers come in the order of the requests.
        let mut table = self.table();
        if table.is_lost {
            return false;
        }
        table.pings.push_back(waiting);
        self.out.send(nats::PING.to_vec()).is_ok()
    }

    /// Handles a line of the bus.
    fn take(&self, op: Op) {
        match op {
            Op::Message {
                number,
                reply,
                contents,
            } => {
                // A subscription that has just ended receives nothing.
                if let Some(subscribed) = self.table().subscriptions.get(&number) {
                    subscribed.take(Message { reply, contents });
                }
            }
            Op::Ping => {
                let _ = self.out.send(nats::PONG.to_vec());
            }
            Op::Pong => {
                let waiting = self.table().pings.pop_front().flatten();
                if let Some(waiting) = waiting {
                    let _ = waiting.send(());
                }
            }
            Op::Error(text) => {
                let mut table = self.table();
                if text.to_ascii_lowercase().starts_with("permissions") {
                    table.forbidden.get_or_insert_with(|| text.clone());
                }
                table.error = Some(text);
            }
            Op::Info(_) | Op::Ok => {}
        }
    }

    /// Marks a connection as lost, if it was not replaced yet. The thread that writes replaces it.
    fn lose(&self, connection: u64, reason: String) {
        let mut table = self.table();
        if table.connection == connection && !table.is_lost {
            table.is_lost = true;
            table.error = Some(reason);
            table.pings.clear();
            // It may be waiting.
            let _ = self.out.send(Vec::new());
        }
    }

    /// Begins the next connection. Returns its number, and the lines that subscribe again.
    fn replace(&self) -> (u64, Vec<u8>) {
        let mut table = self.table();
        table.is_lost = false;
        table.connection += 1;
        table.pings.clear();
        let subscriptions = table.subscriptions.iter();
        let lines = subscriptions.map(|(number, one)| nats::subscribe(&one.subject, *number));
        (table.connection, lines.flatten().collect())
    }
}

/// Keeps the connection, on the thread that writes.
struct Keeper {
    shared: Weak<Shared>,
    queue: Receiver<Vec<u8>>,
    place: BusServer,
    address: BusAddress,
}

impl Keeper {
    /// Writes what is sent, over one connection after the other, until the bus is no longer used.
    /// The first one has this number.
    fn keep(&self, mut number: u64, first: Halves) {
        let (mut halves, mut lines) = (first, Vec::new());
        loop {
            let Halves { from, mut to } = halves;
            let shared = Weak::clone(&self.shared);
            let is_read = spawn("bus reader", move || read_all(&shared, number, from));
            let is_begun = is_read.is_ok() && to.write_all(&lines).is_ok();
            let is_used = !is_begun || self.write_all(&mut to);
            to.shut_down();
            if !is_used {
                return;
            }
            let Some(next) = self.reopen(number) else {
                return;
            };
            let Some(shared) = self.shared.upgrade() else {
                return next.to.shut_down();
            };
            (number, lines) = shared.replace();
            halves = next;
        }
    }

    /// Writes what is sent until the connection is lost; returns false if it is no longer used.
    fn write_all(&self, to: &mut Outgoing) -> bool {
        loop {
            let written = match self.queue.recv_timeout(IDLE) {
                // Nothing is sent to wake this thread.
                Ok(bytes) if bytes.is_empty() => !self.is_lost(),
                Ok(bytes) => to.write_all(&self.with_others(bytes)).is_ok(),
                Err(RecvTimeoutError::Timeout) => {
                    let shared = self.shared.upgrade();
                    shared.is_some_and(|shared| shared.ping(None))
                }
                Err(RecvTimeoutError::Disconnected) => return false,
            };
            if !written {
                return true;
            }
        }
    }

    /// Returns what is sent with all that waits, up to a length.
    fn with_others(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        while bytes.len() < LONGEST_WRITE {
            let Ok(next) = self.queue.try_recv() else {
                break;
            };
            bytes.extend_from_slice(&next);
        }
        bytes
    }

    fn is_lost(&self) -> bool {
        let shared = self.shared.upgrade();
        shared.is_none_or(|shared| shared.table().is_lost)
    }

    /// Opens a connection in place of the lost one with this number; `None` if the bus is no longer
    /// used.
    fn reopen(&self, lost: u64) -> Option<Halves> {
        loop {
            let shared = self.shared.upgrade()?;
            shared.lose(lost, "the connection to it is lost".to_owned());
            drop(shared);
            thread::sleep(RECONNECT_INTERVAL);
            if let Ok((_, halves)) = open(&self.place, &self.address) {
                return Some(halves);
            }
        }
    }
}

/// Returns a word of sixteen characters that was never used before.
pub(crate) fn random_word() -> String {
    format!("{:016x}", random())
}

/// Returns a time up to this one.
pub(crate) fn random_part_of(longest: Duration) -> Duration {
    longest.mul_f64(random() as f64 / u64::MAX as f64)
}

fn random() -> u64 {
    // The keys of this hasher are the standard library's source of chance.
    RandomState::new().build_hasher().finish()
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map(drop)
}

fn dial(place: &BusServer) -> Result<TcpStream, BusError> {
    let mut reason = "its name has no address".to_owned();
    let addresses = loadline_reactor::look_up(&place.host, place.port);
    let addresses = addresses.map_err(|error| unreachable(place, error.to_string()))?;
    for address in addresses {
        match TcpStream::connect_timeout(&address, GREETING_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
                return Ok(stream);
            }
            Err(error) => reason = error.to_string(),
        }
    }
    Err(unreachable(place, reason))
}

fn unreachable(place: &BusServer, reason: String) -> BusError {
    BusError::Unreachable {
        host: place.name(),
        reason,
    }
}

/// Opens a connection, over TLS if the address or the server requires that, and introduces this
/// client. Returns the server's description of itself, too.
fn open(place: &BusServer, address: &BusAddress) -> Result<(Info, Halves), BusError> {
    let socket = dial(place)?;
    // Behind this line the server waits for the client, so that nothing else is in the buffer.
    let Op::Info(info) = next(place, &mut BufReader::new(&socket))? else {
        return Err(unreachable(place, "it is no NATS server".to_owned()));
    };
    let is_secure = info.tls_required || place.requires_tls;
    let session = is_secure.then(|| begin_tls(&socket, &place.host, address.ca.as_ref()));
    let session = session.transpose().map_err(|reason| BusError::Tls {
        host: place.name(),
        reason,
    })?;
    let (incoming, mut to) = halves(socket, session);
    let mut from = BufReader::new(incoming);
    let introduction = nats::connect(&place.credentials, &info.nonce);
    to.write_all(&introduction.map_err(|reason| unreachable(place, reason))?)?;
    to.write_all(nats::PING)?;
    loop {
        match next(place, &mut from)? {
            Op::Pong => break,
            Op::Error(text) if text.to_ascii_lowercase().contains("authorization") => {
                return Err(BusError::Refused(place.name()));
            }
            Op::Error(text) => return Err(unreachable(place, text)),
            Op::Info(_) | Op::Message { .. } | Op::Ping | Op::Ok => {}
        }
    }
    let socket = from.get_ref().socket();
    socket.set_read_timeout(Some(SILENCE_TIMEOUT))?;
    Ok((info, Halves { from, to }))
}

/// Reads the next line of a server that was just dialled.
fn next(place: &BusServer, from: &mut impl BufRead) -> Result<Op, BusError> {
    match nats::read(from) {
        Ok(Some(op)) => Ok(op),
        Ok(None) => Err(unreachable(place, "it closes the connection".to_owned())),
        Err(error) if is_timeout(&error) => {
            let reason = format!("it says nothing for {} s", GREETING_TIMEOUT.as_secs());
            Err(unreachable(place, reason))
        }
        Err(error) => Err(unreachable(place, error.to_string())),
    }
}

/// True if nothing came in the time that a socket has for it.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// Reads what the bus sends over the connection with this number, until that is lost or no longer
/// used.
fn read_all(shared: &Weak<Shared>, connection: u64, mut from: BufReader<Incoming>) {
    let reason = loop {
        match nats::read(&mut from) {
            Ok(Some(op)) => match shared.upgrade() {
                Some(shared) => shared.take(op),
                None => return,
            },
            Ok(None) => break "the bus has closed the connection".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    if let Some(shared) = shared.upgrade() {
        shared.lose(connection, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    /// Serves one connection as a bus that says this after its client's first lines.
    fn bus_with_greeting(greeting: &'static str, then: &'static str) -> BusAddress {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            stream.write_all(greeting.as_bytes()).expect("a client");
            let mut from = BufReader::new(stream.try_clone().expect("a stream"));
            let mut line = String::new();
            while !line.ends_with("PING\r\n") {
                if !from.read_line(&mut line).is_ok_and(|length| length > 0) {
                    return;
                }
            }
            stream.write_all(then.as_bytes()).expect("a client");
            let _ = from.read_to_end(&mut Vec::new());
        });
        BusAddress {
            url: format!("nats://127.0.0.1:{port}"),
            ..BusAddress::default()
        }
    }

    const INFO: &str = "INFO {\"max_payload\":10000}\r\n";

    #[test]
    fn a_server_that_is_no_bus_is_named() {
        for (greeting, then, reason) in [
            ("220 mail\r\n", "", "it is no NATS server"),
            ("PING\r\n", "", "it is no NATS server"),
            (
                INFO,
                "-ERR 'Authorization Violation'\r\n",
                "refuses its user",
            ),
            (
                INFO,
                "-ERR 'maximum connections exceeded'\r\n",
                "maximum connections",
            ),
            (
                "INFO {\"max_payload\":1,\"tls_required\":true}\r\n",
                "",
                "can't be used over TLS",
            ),
        ] {
            let error = Bus::connect(&bus_with_greeting(greeting, then)).expect_err("no bus");
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn a_server_that_says_nothing_is_named_with_how_long() {
        struct Silent;
        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
        let place = bus_with_greeting("", "").place().expect("a URL");
        let error = next(&place, &mut BufReader::new(Silent)).expect_err("no bus");
        assert!(
            error.to_string().contains("it says nothing for 5 s;"),
            "{error}"
        );
    }

    #[test]
    fn subscriptions_receive_and_are_made_again() {
        // The messages are in the same bytes as the answer to the first request.
        let bus = Bus::connect(&bus_with_greeting(INFO, "PONG\r\n")).expect("a bus");
        assert_eq!(bus.longest(), 10_000 - ROOM_BYTES);
        let subscription = bus.subscribe("a").expect("a bus");
        bus.0.take(Op::Message {
            number: subscription.number,
            reply: Some("b".to_owned()),
            contents: b"x".to_vec(),
        });
        let message = subscription.messages.recv().expect("a message");
        assert_eq!(
            (message.reply.as_deref(), &message.contents[..]),
            (Some("b"), &b"x"[..])
        );
        assert!(bus.permitted().is_ok());
        let forbidden = "Permissions Violation for Publish to \"loadline.agents\"".to_owned();
        bus.0.take(Op::Error(forbidden.clone()));
        let error = bus.permitted().expect_err("a refusal").to_string();
        assert!(error.contains(&forbidden), "{error}");
        assert!(bus.loss().is_none());
        bus.0.lose(1, "it is gone".to_owned());
        let error = bus.loss().expect("a loss").to_string();
        assert!(error.contains("it is gone"), "{error}");
        let (number, lines) = bus.0.replace();
        assert_eq!((number, &lines[..]), (2, &b"SUB a 1\r\n"[..]));
        bus.0.lose(1, "it was replaced".to_owned());
        assert!(bus.loss().is_none());
    }

    #[test]
    fn who_leaves_receives_nothing_more_and_closes_the_connection() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let serving = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            stream.write_all(INFO.as_bytes()).expect("a client");
            let mut from = BufReader::new(stream.try_clone().expect("a stream"));
            let mut all = String::new();
            while !all.ends_with("PING\r\n") {
                from.read_line(&mut all).expect("a client");
            }
            stream.write_all(b"PONG\r\n").expect("a client");
            from.read_to_string(&mut all).expect("an end");
            all
        });
        let bus = Bus::connect(&BusAddress {
            url: format!("nats://127.0.0.1:{port}"),
            ..BusAddress::default()
        });
        let bus = bus.expect("a bus");
        let subscription = bus.subscribe("a").expect("a bus");
        let waiting = thread::spawn(move || subscription.messages.recv().is_err());
        bus.publish("b", b"last").expect("a bus");
        bus.leave();
        assert!(waiting.join().expect("a wait"));
        drop(bus);
        let reason = serving.join().expect("a server");
        assert!(reason.ends_with("PUB b 4\r\nlast\r\n"), "{reason}");
    }
}
