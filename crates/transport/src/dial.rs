//! Opening connections.

use crate::blocked::Blocked;
use crate::connection::{Connection, Scratch};
use crate::endpoint::Endpoint;
use crate::failure::{TlsFailure, is_no_protocol};
use crate::routes::{Route, Routes};
use crate::session::Session;
use crate::tls::{TlsSetup, server_name};
use loadline_plan::{Clock, Connection as Settings, HttpVersion, Selection, ServerName};
use loadline_reactor::{Address, Connected, Host, Shortage, Socket, SocketOptions};
use rustls::{ClientConfig, ClientConnection};
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::sync::Arc;
use url::Url;

/// How long to wait before a Unix socket whose queue is full is asked again.
const ASK_AGAIN_NS: u64 = 1_000_000;

/// How long a server that asked for a certificate is listened to at least.
const HEED_NS: u64 = 100_000_000;

/// How long a connection took to come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// How long the name took to resolve, where that was not done before the run.
    pub resolve_ns: Option<u64>,
    /// From there to the connection, a proxy's tunnel included.
    pub connect_ns: u64,
    /// From there to the end of the TLS handshake.
    pub tls_ns: Option<u64>,
}

/// How one connection is wished for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// The local address that it leaves from; the plan's if `None`.
    pub local: Option<IpAddr>,
    /// Whether the server may choose HTTP/2 by ALPN, in a plan that
    /// [negotiates](Settings::negotiates_http).
    pub offers_http2: bool,
    /// Whether any certificate is taken, whatever the plan says.
    pub trusts_anyone: bool,
}

impl From<Option<IpAddr>> for Wish {
    fn from(local: Option<IpAddr>) -> Self {
        Wish {
            local,
            ..Wish::default()
        }
    }
}

/// No connection came up.
#[derive(Debug)]
pub struct DialError {
    /// What failed.
    pub phase: DialPhase,
    /// Where it was to go; `None` if the name has no address.
    pub address: Option<Address>,
    /// Why it failed.
    pub error: io::Error,
}

/// A part of dialling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialPhase {
    /// Looking the name up.
    Resolve,
    /// Connecting the socket.
    Connect,
    /// Having a proxy open a tunnel.
    Tunnel,
    /// The TLS handshake.
    Tls,
    /// Beginning HTTP/2: agreeing on it, and waiting for the server's settings.
    Http2,
}

impl DialError {
    /// What ran out on this machine, if that is why.
    pub fn shortage(&self) -> Option<Shortage> {
        Shortage::of(&self.error)
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DialError {
            phase,
            address,
            error,
        } = self;
        let Some(address) = address else {
            return write!(f, "{error}");
        };
        match phase {
            DialPhase::Resolve => write!(f, "resolving {address}: {}", reason(error)),
            DialPhase::Connect => write!(f, "connecting to {address}: {}", reason(error)),
            DialPhase::Tunnel => write!(f, "the proxy {address}: {}", reason(error)),
            DialPhase::Tls => write!(f, "TLS handshake with {address}: {}", reason(error)),
            DialPhase::Http2 => write!(f, "HTTP/2 with {address}: {}", reason(error)),
        }
    }
}

impl std::error::Error for DialError {}

fn reason(error: &io::Error) -> String {
    match Shortage::of(error) {
        Some(Shortage::Ports) => return "no free local port".to_owned(),
        Some(Shortage::Descriptors) => return "no free file descriptor".to_owned(),
        None => {}
    }
    match error.kind() {
        io::ErrorKind::TimedOut => "no response within the timeout".to_owned(),
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

/// Opens the connections of one worker.
pub struct Dialler<H: Host> {
    host: H,
    routes: Routes,
    settings: Settings,
    timestamps: bool,
    buffer_bytes: Option<u32>,
    local_addresses: Vec<IpAddr>,
    tls: Option<TlsSetup>,
    config: Option<Arc<ClientConfig>>,
    /// The same, offering both versions of HTTP, where composed requests may have either.
    negotiating: Option<Arc<ClientConfig>>,
    /// The settings of `config` that take any certificate, made when they are first wished for.
    trusting: OnceCell<Option<Arc<ClientConfig>>>,
    /// The name that TLS servers are told, where it is not their own.
    told_name: Option<String>,
    /// The worker's buffers.
    pub scratch: Rc<RefCell<Scratch>>,
}

impl<H: Host> Dialler<H> {
    /// A dialler for these endpoints. `first` is the place of this worker's first connection in
    /// every rotation, so that workers do not all begin with the same address.
    pub fn new(
        host: H,
        endpoints: Vec<Endpoint>,
        settings: &Settings,
        tls: Option<&TlsSetup>,
        first: usize,
    ) -> Self {
        Dialler {
            host,
            routes: Routes::new(endpoints, first),
            settings: settings.clone(),
            timestamps: settings.clock == Clock::Kernel,
            buffer_bytes: settings.socket_buffer,
            local_addresses: settings.local_addresses.clone(),
            tls: tls.cloned(),
            config: tls.map(TlsSetup::for_worker),
            negotiating: tls
                .filter(|_| settings.negotiates_http)
                .map(|tls| tls.clone().offering(HttpVersion::Auto).for_worker()),
            trusting: OnceCell::new(),
            told_name: told_name(&settings.tls.server_name),
            scratch: Rc::default(),
        }
    }

    /// Opens a connection to the endpoint's next address; gives up at the deadline or after the
    /// plan's time for connecting. When all addresses have had their turn the next local address
    /// has its, so that each goes with each: every such pair has all ports to itself.
    pub async fn dial(
        &self,
        endpoint: usize,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let wish = Wish::default();
        self.dial_as(wish, endpoint, deadline_ns).await
    }

    /// As [`dial`](Dialler::dial), in the way that is wished for.
    pub async fn dial_as(
        &self,
        wish: Wish,
        endpoint: usize,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let route = self.routes.get(endpoint);
        let (endpoint, resolve_ns) = self.resolved(&route, deadline_ns).await?;
        let (address, round) = self.next_turn(&route, &endpoint)?;
        let local = wish.local.or_else(|| self.local_address(address, round));
        let wish = Wish { local, ..wish };
        let dialled = self
            .dial_address(&endpoint, address, wish, deadline_ns)
            .await;
        dialled.map(|(connection, dial)| (connection, Dial { resolve_ns, ..dial }))
    }

    /// The number of the endpoint of a URL, which may be a new one. Its name is looked up when a
    /// connection to it is first dialled, off the loop.
    pub fn endpoint_of(&self, url: &Url) -> usize {
        self.routes.number_of(url)
    }

    /// How connections are made and used.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A route's endpoint, and how long its name took to resolve if that was not done before.
    async fn resolved(
        &self,
        route: &Rc<Route>,
        deadline_ns: u64,
    ) -> Result<(Rc<Endpoint>, Option<u64>), DialError> {
        if let Some(endpoint) = route.endpoint(|| self.host.now_ns()) {
            return Ok((endpoint, None));
        }
        let start_ns = self.host.now_ns();
        let deadline_ns = deadline_ns.min(self.allowed_until(start_ns));
        let resolved = route.resolve(&self.host, &self.settings, deadline_ns).await;
        let endpoint = resolved.map_err(without_address)?;
        Ok((endpoint, Some(self.host.now_ns() - start_ns)))
    }

    /// The endpoint's next address, if nothing blocks it.
    fn next_turn<'a>(
        &self,
        route: &Route,
        endpoint: &'a Endpoint,
    ) -> Result<(&'a Address, usize), DialError> {
        let Some(naming) = &self.settings.naming else {
            return Ok(route.next_turn(endpoint, Selection::RoundRobin));
        };
        let (address, round) = route.next_turn(endpoint, naming.selection);
        if let Address::Ip(ip) = address {
            let checked = Blocked::check_address(naming, ip.ip());
            checked.map_err(|blocked| without_address(io::Error::other(blocked)))?;
        }
        Ok((address, round))
    }

    /// As [`dial`](Dialler::dial), where nothing is to be sent yet: a server that asked for the
    /// client's certificate is given the time to refuse what it got.
    pub async fn dial_ahead(
        &self,
        endpoint: usize,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let route = self.routes.get(endpoint);
        let (endpoint, _) = self.resolved(&route, u64::MAX).await?;
        let (address, round) = self.next_turn(&route, &endpoint)?;
        self.dial_heeding(&endpoint, address, round).await
    }

    async fn dial_heeding(
        &self,
        endpoint: &Endpoint,
        address: &Address,
        round: usize,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let wish = Wish::from(self.local_address(address, round));
        let dialled = self.dial_address(endpoint, address, wish, u64::MAX).await;
        let (mut connection, dial) = dialled?;
        let heard = self.heed(&mut connection, &dial).await;
        heard.map_err(|error| failed(DialPhase::Tls, address, error))?;
        Ok((connection, dial))
    }

    /// Listens to what a server says of the client's certificate. It is in no hurry to say that it
    /// is content, and some say nothing: so not for long.
    async fn heed(&self, connection: &mut Connection<H::Socket>, dial: &Dial) -> io::Result<()> {
        let asked = self.tls.as_ref().is_some_and(TlsSetup::asked);
        let Some(tls_ns) = dial.tls_ns.filter(|_| asked) else {
            return Ok(());
        };
        let patience_ns = HEED_NS.max(tls_ns.saturating_mul(2));
        connection.set_deadline(self.host.now_ns() + patience_ns);
        let heard = connection.heed(&self.scratch).await;
        connection.set_deadline(u64::MAX);
        heard
    }

    /// Dials every address of an endpoint once and keeps those that answer.
    pub async fn probe(&self, endpoint: &Endpoint) -> Result<Endpoint, DialError> {
        let mut answering = Endpoint {
            addresses: Vec::new(),
            ..endpoint.clone()
        };
        let mut first_error = None;
        for address in &endpoint.addresses {
            match self.dial_heeding(endpoint, address, 0).await {
                Ok(_) => answering.addresses.push(address.clone()),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match first_error {
            Some(error) if answering.addresses.is_empty() => Err(error),
            _ => Ok(answering),
        }
    }

    /// Whether the server at an endpoint's first address chooses HTTP/2, of the versions that it is
    /// offered.
    pub async fn chooses_http2(&self, endpoint: &Endpoint) -> Result<bool, DialError> {
        let address = &endpoint.addresses[0];
        let wish = Wish::from(self.local_address(address, 0));
        let dialled = self.dial_address(endpoint, address, wish, u64::MAX).await;
        dialled.map(|(connection, _)| connection.chose_http2())
    }

    async fn dial_address(
        &self,
        endpoint: &Endpoint,
        address: &Address,
        wish: Wish,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let failed = |phase, error| failed(phase, address, error);
        let start_ns = self.host.now_ns();
        let deadline_ns = deadline_ns.min(self.allowed_until(start_ns));
        let connected = self.connect(address, wish.local, deadline_ns).await;
        let Connected { socket, mut at_ns } =
            connected.map_err(|error| failed(DialPhase::Connect, error))?;
        let socket = match &endpoint.tunnel {
            None => socket,
            Some(tunnel) => {
                socket.set_deadline(Some(deadline_ns));
                let opened = tunnel.open(socket, &self.scratch).await;
                at_ns = self.host.now_ns();
                opened.map_err(|error| failed(DialPhase::Tunnel, error))?
            }
        };
        let mut dial = Dial {
            resolve_ns: None,
            connect_ns: at_ns - start_ns,
            tls_ns: None,
        };
        if !endpoint.tls {
            return Ok((Connection::plain(socket).with_peer(peer(address)), dial));
        }
        let is_2 = self.settings.http == HttpVersion::V2;
        let config = self.config_for(wish);
        let secured = self.secure(endpoint, socket, config, deadline_ns).await;
        let connection = secured.map_err(|error| match is_2 && is_no_protocol(&error) {
            true => failed(DialPhase::Http2, not_offered()),
            false => failed(DialPhase::Tls, error),
        })?;
        if is_2 && !connection.chose_http2() {
            return Err(failed(DialPhase::Http2, not_offered()));
        }
        dial.tls_ns = Some(self.host.now_ns() - at_ns);
        Ok((connection.with_peer(peer(address)), dial))
    }

    /// The settings of TLS for a connection that is wished for so.
    fn config_for(&self, wish: Wish) -> &Option<Arc<ClientConfig>> {
        if wish.trusts_anyone {
            let trusting = || Some(self.tls.as_ref()?.trusting_anyone().for_worker());
            return self.trusting.get_or_init(trusting);
        }
        match wish.offers_http2 {
            true => &self.negotiating,
            false => &self.config,
        }
    }

    /// Until when a dial that began at this instant may take.
    fn allowed_until(&self, start_ns: u64) -> u64 {
        let allowed_ns = u64::try_from(self.settings.connect_timeout.as_nanos());
        start_ns.saturating_add(allowed_ns.unwrap_or(u64::MAX))
    }

    async fn connect(
        &self,
        address: &Address,
        local: Option<IpAddr>,
        deadline_ns: u64,
    ) -> io::Result<Connected<H::Socket>> {
        let options = SocketOptions {
            local,
            timestamps: self.timestamps,
            buffer_bytes: self.buffer_bytes,
        };
        loop {
            let connected = self.host.connect(address, &options, deadline_ns).await;
            match (connected, address) {
                // TCP waits by itself for a place in the server's queue.
                (Err(error), Address::Unix(_)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.await_place(deadline_ns).await?;
                }
                (Err(error), Address::Ip(to)) => return Err(explain(error, *to, options.local)),
                (connected, _) => return connected,
            }
        }
    }

    /// Waits a moment, if the deadline leaves one.
    async fn await_place(&self, deadline_ns: u64) -> io::Result<()> {
        let now_ns = self.host.now_ns();
        if now_ns >= deadline_ns {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let until_ns = deadline_ns.min(now_ns + ASK_AGAIN_NS);
        self.host.timer().until(until_ns).await;
        Ok(())
    }

    async fn secure(
        &self,
        endpoint: &Endpoint,
        socket: H::Socket,
        config: &Option<Arc<ClientConfig>>,
        deadline_ns: u64,
    ) -> io::Result<Connection<H::Socket>> {
        socket.set_deadline(Some(deadline_ns));
        let session = self.session(endpoint, config.clone())?;
        Connection::secured(socket, session, &self.scratch).await
    }

    fn session(
        &self,
        endpoint: &Endpoint,
        config: Option<Arc<ClientConfig>>,
    ) -> io::Result<Box<Session>> {
        let config = config.ok_or_else(|| io::Error::other("TLS is not set up"))?;
        let host = self.told_name.as_deref().unwrap_or(&endpoint.host);
        let name = server_name(host).map_err(io::Error::other)?;
        let tls = ClientConnection::new(config, name).map_err(TlsFailure)?;
        Ok(Session::new(tls))
    }

    /// The local address for a connection to `to`: in each round another one of its IP version.
    fn local_address(&self, to: &Address, round: usize) -> Option<IpAddr> {
        let Address::Ip(to) = to else { return None };
        let all = self.local_addresses.iter().copied();
        let fitting = all.filter(|local| local.is_ipv4() == to.is_ipv4());
        match fitting.clone().count() {
            // The error will name the one that does not fit.
            0 => self.local_addresses.first().copied(),
            count => fitting.clone().nth(round % count),
        }
    }
}

fn failed(phase: DialPhase, address: &Address, error: io::Error) -> DialError {
    DialError {
        phase,
        address: Some(address.clone()),
        error,
    }
}

/// There is no address to dial.
fn without_address(error: io::Error) -> DialError {
    DialError {
        phase: DialPhase::Resolve,
        address: None,
        error,
    }
}

/// The server speaks none of the versions of HTTP that were offered.
fn not_offered() -> io::Error {
    io::Error::other("the server does not offer HTTP/2 (ALPN h2)")
}

fn told_name(name: &ServerName) -> Option<String> {
    match name {
        ServerName::Other(name) => Some(name.clone()),
        ServerName::Host | ServerName::Untold => None,
    }
}

/// The kernel has one error for two causes, no local port and no local address: tells which
/// it was.
fn explain(error: io::Error, to: SocketAddr, local: Option<IpAddr>) -> io::Error {
    if error.kind() != io::ErrorKind::AddrNotAvailable || has_address(to, local) {
        return error;
    }
    let reason = match local {
        Some(local) => format!("{local} is not an address of this machine"),
        None => "this machine has no address from which that can be reached".to_owned(),
    };
    io::Error::new(error.kind(), reason)
}

/// Whether this machine has the local address, or any at all for this target. A datagram socket
/// takes none of TCP's ports, and sends nothing when it is connected.
fn has_address(to: SocketAddr, local: Option<IpAddr>) -> bool {
    let any = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    UdpSocket::bind((local.unwrap_or(any), 0))
        .and_then(|socket| socket.connect(to))
        .is_ok()
}

impl<H: Host> fmt::Debug for Dialler<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialler")
            .field("local_addresses", &self.local_addresses)
            .finish_non_exhaustive()
    }
}

/// The address that a socket of this kind has, if it has one.
fn peer(address: &Address) -> Option<SocketAddr> {
    match address {
        Address::Ip(address) => Some(*address),
        Address::Unix(_) => None,
    }
}
