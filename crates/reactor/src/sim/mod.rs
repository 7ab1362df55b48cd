//! The simulated loop: a virtual clock and a virtual network.
//!
//! The clock does not move while tasks run, and jumps to the next timer when no task can go on, so
//! a run takes only the time that its tasks compute, and is the same each time. Servers are tasks
//! of the same loop that [`Sim::listen`].

mod net;

pub use net::{SimListener, SimSocket};

use crate::tasks::{Task, Tasks, WakeFlag};
use crate::timers::{Timer, Timers};
use crate::{Address, Coalescing, Connected, Host, SocketOptions, ThreadTimes};
use net::Network;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The instant at which a simulation starts: not zero, so that a forgotten offset is noticed.
const START_NS: u64 = 1_000_000_000;

/// A simulated world: clock, tasks and network. Clones are handles to the same one.
#[derive(Clone)]
pub struct Sim(Rc<World>);

struct World {
    tasks: Tasks,
    timers: Timers,
    now_ns: Rc<Cell<u64>>,
    clock: Rc<dyn Fn() -> u64>,
    network: Network,
    /// The addresses of names, and the time that the resolver takes for each, in nanoseconds.
    names: RefCell<HashMap<String, (Vec<IpAddr>, u64)>>,
}

impl Sim {
    /// Creates a world whose network takes `latency_ns` one way. The seed determines how reads and
    /// writes are cut up after [`Sim::cut_up`].
    pub fn new(seed: u64, latency_ns: u64) -> Self {
        let now_ns = Rc::new(Cell::new(START_NS));
        let clock = Rc::clone(&now_ns);
        Sim(Rc::new(World {
            tasks: Tasks::default(),
            timers: Timers::default(),
            now_ns,
            clock: Rc::new(move || clock.get()),
            network: Network::new(seed, latency_ns),
            names: RefCell::default(),
        }))
    }

    /// Makes each further operation move a random number of bytes, at most `most`.
    pub fn cut_up(&self, most: usize) {
        self.0.network.cut_up(most);
    }

    /// Limits the bytes that are in flight to one end of a connection or unread there, from now on;
    /// a sender waits for room.
    pub fn set_window(&self, bytes: usize) {
        self.0.network.set_window(bytes);
    }

    /// Adds a name to the resolver, which takes `takes_ns` to resolve it. A name without addresses
    /// is not found.
    pub fn set_name(&self, name: &str, addresses: &[IpAddr], takes_ns: u64) {
        let known = (addresses.to_vec(), takes_ns);
        self.0.names.borrow_mut().insert(name.to_owned(), known);
    }

    /// Accepts connections at `address`, until the listener is dropped.
    pub fn listen(&self, address: SocketAddr) -> SimListener {
        net::listen(self, address)
    }

    /// Runs until `future` is done, in virtual time.
    ///
    /// # Panics
    /// If no task can ever go on again: the future waits for an event that will not occur.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let flag = WakeFlag::set();
        let waker = Arc::clone(&flag).into();
        loop {
            if flag.take()
                && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                return value;
            }
            let more = self.0.tasks.run_ready(|| {});
            if !more && !flag.is_set() {
                self.jump();
            } else {
                // The tasks may have spent time computing.
                self.0.timers.fire(self.0.now_ns.get());
            }
        }
    }

    /// Spends `duration_ns` of virtual time on computing: the clock moves, nothing else does.
    pub fn stall(&self, duration_ns: u64) {
        self.0.now_ns.set(self.0.now_ns.get() + duration_ns);
    }

    fn jump(&self) {
        let next_ns = self
            .0
            .timers
            .next_ns()
            .expect("every task waits for what will not come");
        self.0.now_ns.set(next_ns.max(self.0.now_ns.get()));
        self.0.timers.fire(self.0.now_ns.get());
    }
}

impl Host for Sim {
    type Socket = SimSocket;

    fn now_ns(&self) -> u64 {
        self.0.now_ns.get()
    }

    fn timer(&self) -> Timer {
        self.0.timers.timer(Rc::clone(&self.0.clock))
    }

    fn spawn(&self, future: impl Future<Output = ()> + 'static) -> Task {
        self.0.tasks.spawn(future)
    }

    fn thread_times(&self) -> Option<ThreadTimes> {
        None
    }

    fn take_loop_iterations(&self, _each: &mut dyn FnMut(u64, u64)) {}

    /// Has no effect: waiting costs nothing here.
    fn set_coalescing(&self, _coalescing: Coalescing) {}

    async fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = name.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let known = self.0.names.borrow().get(name).cloned();
        let (addresses, takes_ns) = known.unwrap_or_default();
        self.timer().until(self.now_ns() + takes_ns).await;
        if addresses.is_empty() {
            return Err(io::Error::other("the name is not known"));
        }
        let with_port = |address: &IpAddr| SocketAddr::new(*address, port);
        Ok(addresses.iter().map(with_port).collect())
    }

    async fn connect(
        &self,
        to: &Address,
        options: &SocketOptions,
        deadline_ns: u64,
    ) -> io::Result<Connected<SimSocket>> {
        let Address::Ip(address) = to else {
            let message = "the simulated network has IP addresses only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        };
        let socket = net::connect(self, *address, options.timestamps, deadline_ns).await?;
        Ok(Connected {
            socket,
            at_ns: self.now_ns(),
        })
    }
}

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sim")
            .field("now_ns", &self.0.now_ns.get())
            .finish_non_exhaustive()
    }
}
