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

/// The time before another attempt to connect to a Unix socket whose queue is full.
const CONNECT_RETRY_NS: u64 = 1_000_000;

/// The shortest time for which a server that requested a certificate may still refuse it.
const HEED_NS: u64 = 100_000_000;

/// The times of opening a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// The time to resolve the name, if that was not done before the run.
    pub resolve_ns: Option<u64>,
    /// The time from then to the connection, including a proxy's tunnel.
    pub connect_ns: u64,
    /// The time from then to the end of the TLS handshake.
    pub tls_ns: Option<u64>,
}

/// The options of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct DialOptions {
    /// The local address to bind; the plan's if `None`.
    pub local: Option<IpAddr>,
    /// True if the server may select HTTP/2 by ALPN, in a plan that
    /// [negotiates](Settings::negotiates_http).
    pub offers_http2: bool,
    /// True if any certificate is accepted, whatever the plan requires.
    pub trusts_anyone: bool,
}

impl From<Option<IpAddr>> for DialOptions {
    fn from(local: Option<IpAddr>) -> Self {
        DialOptions {
            local,
            ..DialOptions::default()
        }
    }
}

/// A connection that could not be opened.
#[derive(Debug)]
pub struct DialError {
    /// The step that failed.
    pub phase: DialPhase,
    /// The address that was dialled; `None` if the name has no address.
    pub address: Option<Address>,
    /// The reason.
    pub error: io::Error,
}

/// A step of dialling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialPhase {
    /// Resolving the name.
    Resolve,
    /// Connecting the socket.
    Connect,
    /// Opening a tunnel through a proxy.
    Tunnel,
    /// The TLS handshake.
    Tls,
    /// Beginning HTTP/2: negotiating it, and waiting for the server's settings.
    Http2,
}

impl DialError {
    /// Returns the resource that ran out on this machine, if that is the reason.
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

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
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
    /// Like `config`, but offering both versions of HTTP, for composed requests.
    negotiating: Option<Arc<ClientConfig>>,
    /// Like `config`, but accepting any certificate; created when first needed.
    trusting: OnceCell<Option<Arc<ClientConfig>>>,
    /// The server name that is sent in TLS, if it differs from the host's.
    configured_name: Option<String>,
    /// The worker's buffers.
    pub scratch: Rc<RefCell<Scratch>>,
}

impl<H: Host> Dialler<H> {
    /// Creates a dialler for these endpoints. `first` is the position of this worker's first
    /// connection in every rotation, so that workers do not all begin with the same address.
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
            configured_name: configured_name(&settings.tls.server_name),
            scratch: Rc::default(),
        }
    }

    /// Opens a connection to the endpoint's next address; gives up at the deadline or after the
    /// plan's time for connecting. Each time all addresses have been used, the next local address
    /// follows, so that every combination occurs: each of them has a whole range of ports.
    pub async fn dial(
        &self,
        endpoint: usize,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let wish = DialOptions::default();
        self.dial_as(wish, endpoint, deadline_ns).await
    }

    /// Opens a connection like [`dial`](Dialler::dial), with these options.
    pub async fn dial_as(
        &self,
        wish: DialOptions,
        endpoint: usize,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let route = self.routes.get(endpoint);
        let (endpoint, resolve_ns) = self.resolved(&route, deadline_ns).await?;
        let (address, round) = self.next_turn(&route, &endpoint)?;
        let local = wish.local.or_else(|| self.local_address(address, round));
        let wish = DialOptions { local, ..wish };
        let dialled = self
            .dial_address(&endpoint, address, wish, deadline_ns)
            .await;
        dialled.map(|(connection, dial)| (connection, Dial { resolve_ns, ..dial }))
    }

    /// Returns the number of the endpoint of a URL, which may be a new one. Its name is resolved
    /// when a connection to it is first dialled, without blocking the loop.
    pub fn endpoint_of(&self, url: &Url) -> usize {
        self.routes.number_of(url)
    }

    /// Returns the settings of connections.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns a route's endpoint, and the time that its name took to resolve if that was not done
    /// before.
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

    /// Returns the endpoint's next address and the number of completed rotations, unless the
    /// address is blocked.
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

    /// Opens a connection like [`dial`](Dialler::dial), before any request is to be sent: a server
    /// that requested the client's certificate is given time to refuse it.
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
        let wish = DialOptions::from(self.local_address(address, round));
        let dialled = self.dial_address(endpoint, address, wish, u64::MAX).await;
        let (mut connection, dial) = dialled?;
        let accepted = self.heed(&mut connection, &dial).await;
        accepted.map_err(|error| failed(DialPhase::Tls, address, error))?;
        Ok((connection, dial))
    }

    /// Waits for a server's verdict on the client's certificate. Servers are slow to accept one,
    /// and some report nothing, so the wait is short.
    async fn heed(&self, connection: &mut Connection<H::Socket>, dial: &Dial) -> io::Result<()> {
        let is_requested = self.tls.as_ref().is_some_and(TlsSetup::is_requested);
        let Some(tls_ns) = dial.tls_ns.filter(|_| is_requested) else {
            return Ok(());
        };
        let wait_ns = HEED_NS.max(tls_ns.saturating_mul(2));
        connection.set_deadline(self.host.now_ns() + wait_ns);
        let accepted = connection.heed(&self.scratch).await;
        connection.set_deadline(u64::MAX);
        accepted
    }

    /// Dials every address of an endpoint once, and returns the endpoint with those that succeed.
    ///
    /// Fails with the first error if no address does.
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

    /// True if the server at an endpoint's first address selects HTTP/2, of the versions that it is
    /// offered.
    pub async fn chooses_http2(&self, endpoint: &Endpoint) -> Result<bool, DialError> {
        let address = &endpoint.addresses[0];
        let wish = DialOptions::from(self.local_address(address, 0));
        let dialled = self.dial_address(endpoint, address, wish, u64::MAX).await;
        dialled.map(|(connection, _)| connection.chose_http2())
    }

    async fn dial_address(
        &self,
        endpoint: &Endpoint,
        address: &Address,
        wish: DialOptions,
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

    /// Returns the settings of TLS for a connection with these options.
    fn config_for(&self, wish: DialOptions) -> &Option<Arc<ClientConfig>> {
        if wish.trusts_anyone {
            let trusting = || Some(self.tls.as_ref()?.trusting_anyone().for_worker());
            return self.trusting.get_or_init(trusting);
        }
        match wish.offers_http2 {
            true => &self.negotiating,
            false => &self.config,
        }
    }

    /// Returns the deadline of a dial that began at this instant.
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
                // Unlike for a Unix socket, the kernel itself waits for a place in a TCP server's
                // queue.
                (Err(error), Address::Unix(_)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.await_place(deadline_ns).await?;
                }
                (Err(error), Address::Ip(to)) => return Err(explain(error, *to, options.local)),
                (connected, _) => return connected,
            }
        }
    }

    /// Waits before another attempt, if the deadline allows it.
    async fn await_place(&self, deadline_ns: u64) -> io::Result<()> {
        let now_ns = self.host.now_ns();
        if now_ns >= deadline_ns {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let until_ns = deadline_ns.min(now_ns + CONNECT_RETRY_NS);
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
        let host = self.configured_name.as_deref().unwrap_or(&endpoint.host);
        let name = server_name(host).map_err(io::Error::other)?;
        let tls = ClientConnection::new(config, name).map_err(TlsFailure)?;
        Ok(Session::new(tls))
    }

    /// Returns the local address for a connection to `to`: a different one of its IP version in
    /// each round.
    fn local_address(&self, to: &Address, round: usize) -> Option<IpAddr> {
        let Address::Ip(to) = to else { return None };
        let all = self.local_addresses.iter().copied();
        let fitting = all.filter(|local| local.is_ipv4() == to.is_ipv4());
        match fitting.clone().count() {
            // The error will name the address that does not fit.
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

/// Returns the error for an endpoint without an address to dial.
fn without_address(error: io::Error) -> DialError {
    DialError {
        phase: DialPhase::Resolve,
        address: None,
        error,
    }
}

/// Returns the error for a server that supports none of the offered versions of HTTP.
fn not_offered() -> io::Error {
    io::Error::other("the server does not offer HTTP/2 (ALPN h2)")
}

fn configured_name(name: &ServerName) -> Option<String> {
    match name {
        ServerName::Other(name) => Some(name.clone()),
        ServerName::Host | ServerName::Untold => None,
    }
}

/// Distinguishes the two causes of one kernel error: no free local port, or no such local address.
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

/// True if this machine has the local address, or any at all for this target. A datagram socket
/// uses no TCP ports, and connecting it sends nothing.
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

/// Returns the IP address to which such a socket connects, if it has one.
fn peer(address: &Address) -> Option<SocketAddr> {
    match address {
        Address::Ip(address) => Some(*address),
        Address::Unix(_) => None,
    }
}
