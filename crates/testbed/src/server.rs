//! A server from its start to its end.

use crate::alarm::Alarm;
use crate::arrivals::ArrivalReport;
use crate::config::Config;
use crate::context::Context;
use crate::counts::Counts;
use crate::error::StartError;
use crate::inbox::{Inbox, Work};
use crate::listen::{Dealer, listen_local, listen_tcp};
use crate::state::State;
use crate::tls::OwnTls;
use crate::worker::{self, Chores};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::UnboundedReceiver;

/// A running test server. It serves on threads of its own until [`Server::stop`] or until it is
/// dropped.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    certificate_pem: Option<String>,
    state: Arc<State>,
    inboxes: Vec<Inbox>,
    /// The threads, which are joined when the server stops; empty from then on.
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a server; when this returns, the server accepts connections.
    ///
    /// # Errors
    /// [`StartError`] with the reason.
    pub fn start(config: Config) -> Result<Self, StartError> {
        config.check()?;
        let tls = own_tls(&config)?;
        let posts: Vec<Post> = (0..config.threads)
            .map(|_| Post::new())
            .collect::<Result<_, _>>()?;
        let inboxes: Vec<Inbox> = posts.iter().map(|post| post.inbox.clone()).collect();
        let (chores, addr) = chores(&config, &posts[0], Dealer::new(inboxes.clone()))?;
        let mut server = Self {
            addr,
            certificate_pem: tls.as_ref().map(|tls| tls.certificate_pem.clone()),
            state: Arc::new(State::new(&config, inboxes.clone())),
            inboxes,
            threads: Vec::new(),
        };
        server.man(posts, tls, chores)?;
        Ok(server)
    }

    /// Starts a thread at each post; the first one gets the chores.
    fn man(
        &mut self,
        posts: Vec<Post>,
        tls: Option<OwnTls>,
        chores: Chores,
    ) -> Result<(), StartError> {
        let mut chores = Some(chores);
        for (index, post) in posts.into_iter().enumerate() {
            let context = Context {
                state: self.state.clone(),
                alarm: post.alarm,
                tls: tls.as_ref().map(|tls| tls.acceptor.clone()),
            };
            let work = worker::work(post.receiver, context, chores.take());
            let thread = start_thread(index, post.runtime, work).map_err(StartError::Thread)?;
            self.threads.push(thread);
        }
        Ok(())
    }

    /// Returns the address on which the server listens, with the port that was free.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the server's own certificate, for localhost, 127.0.0.1 and ::1, in PEM; `None`
    /// without TLS.
    pub fn certificate_pem(&self) -> Option<String> {
        self.certificate_pem.clone()
    }

    /// Returns the counts so far. A response is counted just after the kernel has accepted it, so a
    /// client may have read one more than is counted.
    pub fn counts(&self) -> Counts {
        self.state.tally.counts()
    }

    /// Returns the requests to be stored by [`Config::keep`] that have arrived completely, in the
    /// order in which their heads arrived: each as received, head and body, without the framing of
    /// chunks.
    pub fn kept(&self) -> Vec<Vec<u8>> {
        self.state.kept()
    }

    /// Returns the deviations of the arrivals so far from an even schedule; `None` unless the
    /// configuration requests them. They are computed by this call, from every arrival.
    pub fn arrivals(&self) -> Option<ArrivalReport> {
        self.state.arrivals()
    }

    /// Stops the server at once, even a frozen one: connections are dropped, threads joined.
    pub fn stop(mut self) -> Counts {
        self.end();
        self.counts()
    }

    fn end(&mut self) {
        self.state.freezer.release();
        for inbox in &self.inboxes {
            inbox.put(Work::Stop);
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has already reported it.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// All objects that a thread needs, before it runs.
struct Post {
    runtime: Runtime,
    alarm: Alarm,
    inbox: Inbox,
    receiver: UnboundedReceiver<Work>,
}

impl Post {
    fn new() -> Result<Self, StartError> {
        let runtime = Builder::new_current_thread().enable_io().build();
        let (inbox, receiver) = Inbox::new();
        Ok(Self {
            runtime: runtime.map_err(StartError::Thread)?,
            alarm: Alarm::new().map_err(StartError::Thread)?,
            inbox,
            receiver,
        })
    }
}

/// Returns the additional tasks of the thread at `first`, and the address on which it listens.
fn chores(
    config: &Config,
    first: &Post,
    dealer: Dealer,
) -> Result<(Chores, SocketAddr), StartError> {
    let _within_its_event_loop = first.runtime.enter();
    let tcp = listen_tcp(config.listen)?;
    let addr = tcp.local_addr().map_err(StartError::Thread)?;
    let local = config
        .unix_socket
        .as_deref()
        .map(listen_local)
        .transpose()?;
    Ok((
        Chores {
            tcp,
            local,
            dealer,
            freeze: config.freeze,
        },
        addr,
    ))
}

fn own_tls(config: &Config) -> Result<Option<OwnTls>, StartError> {
    match (config.tls, &config.client_ca_pem) {
        (true, client_ca_pem) => OwnTls::new(client_ca_pem.as_deref()).map(Some),
        (false, Some(_)) => Err(StartError::ClientAuthorities(
            "without TLS no client shows a certificate".into(),
        )),
        (false, None) => Ok(None),
    }
}

fn start_thread(
    index: usize,
    runtime: Runtime,
    work: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let name = format!("testbed-{index}");
    thread::Builder::new()
        .name(name)
        .spawn(move || runtime.block_on(work))
}
