//! A scripted server: tasks of the simulated world that read requests and answer as the script
//! defines.
//!
//! It implements just enough of HTTP to find the end of a request. A script receives each request
//! as it arrives, and determines the response and the further fate of the connection.

use loadline_reactor::{Host, Received, Sim, SimListener, SimSocket, Socket, Task};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::rc::{Rc, Weak};

/// A whole request that the server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The arrival of its last byte, in nanoseconds from the load's begin.
    pub(crate) at_ns: u64,
    /// Its number among all requests.
    pub(crate) number: usize,
    /// The number of the server's address at which it arrived.
    pub(crate) door: usize,
    /// The number of its connection among all accepted ones.
    pub(crate) connection: usize,
    /// Its number among the requests of its connection.
    pub(crate) place: usize,
    /// The number of its stream; 0 with HTTP/1.1.
    pub(crate) stream: u32,
    pub(crate) target: String,
    /// Its text, as far as it was read; empty with HTTP/2.
    pub(crate) text: String,
}

/// The reaction to a request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(super) after_ns: u64,
    pub(super) bytes: Vec<u8>,
    /// The number of bytes to send at a time, and the pause between.
    drip: Option<(usize, u64)>,
    pub(super) then: Then,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    Stay,
    Close { after_ns: u64 },
    Reset { after_ns: u64 },
    Sleep,
}

impl Reply {
    /// Returns a small response without delay, on a connection that stays open.
    pub(crate) fn ok() -> Self {
        Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }

    /// Returns a reply of any bytes.
    pub(crate) fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Reply {
            after_ns: 0,
            bytes: bytes.as_ref().to_vec(),
            drip: None,
            then: Then::Stay,
        }
    }

    /// Returns an empty reply.
    pub(crate) fn nothing() -> Self {
        Reply::raw("")
    }

    /// Delays the reply by this time.
    pub(crate) fn after(self, after_ns: u64) -> Self {
        Reply { after_ns, ..self }
    }

    /// Sends the reply in pieces of this many bytes with pauses between.
    pub(crate) fn drip(self, bytes: usize, pause_ns: u64) -> Self {
        Reply {
            drip: Some((bytes, pause_ns)),
            ..self
        }
    }

    /// Closes the connection after the reply.
    pub(crate) fn close(self) -> Self {
        self.close_after(0)
    }

    pub(crate) fn close_after(self, after_ns: u64) -> Self {
        let then = Then::Close { after_ns };
        Reply { then, ..self }
    }

    /// Resets the connection after the reply.
    pub(crate) fn reset(self) -> Self {
        self.reset_after(0)
    }

    pub(crate) fn reset_after(self, after_ns: u64) -> Self {
        let then = Then::Reset { after_ns };
        Reply { then, ..self }
    }

    /// Leaves the connection open and idle forever after the reply.
    pub(crate) fn sleep(self) -> Self {
        let then = Then::Sleep;
        Reply { then, ..self }
    }
}

/// The function that returns the reaction to each request.
pub(crate) type Script = dyn Fn(&Seen) -> Reply;

/// A server of the simulated world.
pub(crate) struct Server {
    sim: Sim,
    /// The begin of the load.
    pub(super) begin_ns: Rc<Cell<u64>>,
    script: Rc<Script>,
    addresses: Vec<SocketAddr>,
    doors: RefCell<Vec<Rc<SimListener>>>,
    accepting: RefCell<Vec<Task>>,
    serving: RefCell<Vec<Task>>,
    sockets: RefCell<Vec<Weak<SimSocket>>>,
    /// The periods in which it does nothing, not even read, in nanoseconds from the load's begin.
    freezes: RefCell<Vec<Range<u64>>>,
    /// The number of accepted connections from which it neither accepts nor refuses more.
    pub(crate) most_accepted: Cell<usize>,
    /// True if it answers a request when its head has arrived, and reads the body after that.
    pub(crate) hasty: Cell<bool>,
    /// The longest silence of a connection between two requests.
    pub(crate) idle_ns: Cell<Option<u64>>,
    /// True if it uses HTTP/2, and the number of streams that it allows then.
    pub(crate) is_http2: Cell<bool>,
    pub(crate) most_streams: Cell<Option<u32>>,
    seen: RefCell<Vec<Seen>>,
    /// The instants at which connections were seen to end, in nanoseconds from the load's begin.
    ended: RefCell<Vec<u64>>,
    accepted: Cell<usize>,
}

impl Server {
    pub(crate) fn start(
        sim: &Sim,
        begin_ns: &Rc<Cell<u64>>,
        addresses: Vec<SocketAddr>,
        script: Rc<Script>,
    ) -> Rc<Self> {
        let server = Rc::new(Server {
            sim: sim.clone(),
            begin_ns: Rc::clone(begin_ns),
            script,
            addresses,
            doors: RefCell::default(),
            accepting: RefCell::default(),
            serving: RefCell::default(),
            sockets: RefCell::default(),
            freezes: RefCell::default(),
            most_accepted: Cell::new(usize::MAX),
            hasty: Cell::new(false),
            idle_ns: Cell::new(None),
            is_http2: Cell::new(false),
            most_streams: Cell::new(None),
            seen: RefCell::default(),
            ended: RefCell::default(),
            accepted: Cell::new(0),
        });
        server.up();
        server
    }

    /// Listens at all its addresses.
    pub(crate) fn up(self: &Rc<Self>) {
        for (door, address) in self.addresses.iter().enumerate() {
            let listener = Rc::new(self.sim.listen(*address));
            let accept = Rc::clone(self).accept(Rc::clone(&listener), door);
            self.doors.borrow_mut().push(listener);
            self.accepting.borrow_mut().push(self.sim.spawn(accept));
        }
    }

    /// Stops the server: closes every connection and refuses new ones.
    pub(crate) fn down(&self) {
        self.accepting.borrow_mut().clear();
        self.doors.borrow_mut().clear();
        self.serving.borrow_mut().clear();
    }

    /// Resets every connection.
    pub(crate) fn reset_all(&self) {
        for socket in self.sockets.take() {
            socket.upgrade().inspect(|socket| socket.reset());
        }
        self.serving.borrow_mut().clear();
    }

    /// Sets whether new connections are neither accepted nor refused.
    pub(crate) fn set_silent(&self, silent: bool) {
        for door in &*self.doors.borrow() {
            door.set_silent(silent);
        }
    }

    /// Freezes the server in this period, in nanoseconds from the load's begin.
    pub(crate) fn freeze(&self, time: Range<u64>) {
        self.freezes.borrow_mut().push(time);
    }

    /// Returns the whole requests that were received, in the order in which they were read.
    pub(crate) fn take_seen(&self) -> Vec<Seen> {
        self.seen.take()
    }

    /// Returns the instants at which connections were seen to end while a request was awaited.
    pub(crate) fn take_ended(&self) -> Vec<u64> {
        self.ended.take()
    }

    /// Returns the number of accepted connections.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.get()
    }

    async fn accept(self: Rc<Self>, listener: Rc<SimListener>, door: usize) {
        loop {
            let socket = listener.accept().await;
            let connection = self.accepted.replace(self.accepted.get() + 1);
            if self.accepted.get() >= self.most_accepted.get() {
                self.set_silent(true);
            }
            let socket = Rc::new(socket);
            self.sockets.borrow_mut().push(Rc::downgrade(&socket));
            let server = Rc::clone(&self);
            if self.is_http2.get() {
                self.keep(server.serve_http2(socket, door, connection));
            } else {
                self.keep(server.serve(socket, door, connection));
            }
        }
    }

    /// Runs a task until the server stops.
    pub(super) fn keep(&self, future: impl Future<Output = ()> + 'static) {
        let task = self.sim.spawn(future);
        self.serving.borrow_mut().push(task);
    }

    /// Returns the number of requests received.
    pub(super) fn count_seen(&self) -> usize {
        self.seen.borrow().len()
    }

    /// Returns the reaction to a request, and records the request.
    pub(super) fn reply(&self, seen: Seen) -> Reply {
        let reply = (self.script)(&seen);
        self.seen.borrow_mut().push(seen);
        reply
    }

    /// Records the end of a connection.
    pub(super) fn saw_end(&self) {
        let at_ns = self.sim.now_ns() - self.begin_ns.get();
        self.ended.borrow_mut().push(at_ns);
    }

    async fn serve(self: Rc<Self>, socket: Rc<SimSocket>, door: usize, connection: usize) {
        let mut requests = Requests::default();
        for place in 0.. {
            socket.set_deadline(self.idle_ns.get().map(|ns| self.sim.now_ns() + ns));
            let Some((text, at_ns)) = requests.next(&self, &socket).await else {
                return self.saw_end();
            };
            socket.set_deadline(None);
            let seen = Seen {
                at_ns: at_ns - self.begin_ns.get(),
                number: self.count_seen(),
                door,
                connection,
                place,
                stream: 0,
                target: text.split(' ').nth(1).unwrap().to_owned(),
                text,
            };
            let reply = self.reply(seen);
            if self.answer(&socket, &reply).await.is_err() {
                return;
            }
            match reply.then {
                Then::Stay => {}
                Then::Close { after_ns } => return self.pause(after_ns).await,
                Then::Reset { after_ns } => {
                    self.pause(after_ns).await;
                    return socket.reset();
                }
                Then::Sleep => std::future::pending().await,
            }
        }
    }

    async fn answer(&self, socket: &SimSocket, reply: &Reply) -> io::Result<()> {
        self.thaw().await;
        self.pause(reply.after_ns).await;
        self.thaw().await;
        let (piece, pause_ns) = reply.drip.unwrap_or((usize::MAX, 0));
        for (index, bytes) in reply.bytes.chunks(piece).enumerate() {
            if index > 0 {
                self.pause(pause_ns).await;
            }
            send_all(socket, bytes).await?;
        }
        Ok(())
    }

    pub(super) async fn pause(&self, ns: u64) {
        self.sim.timer().until(self.sim.now_ns() + ns).await;
    }

    /// Waits while it is frozen.
    pub(super) async fn thaw(&self) {
        // Before the load's begin this is beyond all freezes.
        let now_ns = self.sim.now_ns().wrapping_sub(self.begin_ns.get());
        if let Some(until_ns) = self.frozen_until_ns(now_ns) {
            self.pause(until_ns - now_ns).await;
        }
    }

    fn frozen_until_ns(&self, now_ns: u64) -> Option<u64> {
        let freezes = self.freezes.borrow();
        let frozen = freezes.iter().find(|time| time.contains(&now_ns));
        frozen.map(|time| time.end)
    }
}

/// The requests of one connection.
#[derive(Default)]
struct Requests {
    /// Bytes that were received and not yet returned.
    rest: Vec<u8>,
    /// The number of bytes still to arrive of a body whose request was answered already.
    answered: usize,
    at_ns: u64,
}

impl Requests {
    /// Returns the next whole request and the arrival of its last byte; `None` at the end.
    async fn next(&mut self, server: &Server, socket: &SimSocket) -> Option<(String, u64)> {
        loop {
            let answered = self.answered.min(self.rest.len());
            self.rest.drain(..answered);
            self.answered -= answered;
            if let Some(end) = self.end(server.hasty.get()) {
                let request: Vec<u8> = self.rest.drain(..end).collect();
                return Some((String::from_utf8(request).unwrap(), self.at_ns));
            }
            let mut buffer = [0; 16_384];
            server.thaw().await;
            let received = receive(socket, &mut buffer).await.ok()?;
            if received.bytes == 0 {
                return None;
            }
            self.rest.extend_from_slice(&buffer[..received.bytes]);
            self.at_ns = received.at_ns.expect("the simulated network stamps");
        }
    }
}

impl Requests {
    /// Returns the end of the first request to answer, if it has arrived.
    fn end(&mut self, hasty: bool) -> Option<usize> {
        let (head, body) = request_sizes(&self.rest)?;
        if hasty {
            self.answered = body;
            return Some(head);
        }
        (self.rest.len() >= head + body).then_some(head + body)
    }
}

/// Returns the sizes of the first request's head, if that is complete, and of its body.
fn request_sizes(bytes: &[u8]) -> Option<(usize, usize)> {
    let head_end = bytes.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..head_end]).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().unwrap());
    Some((head_end, length))
}

async fn receive(socket: &SimSocket, buffer: &mut [u8]) -> io::Result<Received> {
    poll_fn(|cx| socket.poll_recv(cx, buffer)).await
}

async fn send_all(socket: &SimSocket, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let sent = poll_fn(|cx| socket.poll_send(cx, bytes)).await?;
        bytes = &bytes[sent..];
    }
    Ok(())
}
