//! Opening connections.

use crate::connection::{Connection, Scratch};
use crate::endpoint::Endpoint;
use crate::failure::TlsFailure;
use crate::session::Session;
use crate::tls::{TlsSetup, server_name};
use loadline_plan::{Clock, Connection as Settings};
use loadline_reactor::{Address, Host, Socket, SocketOptions};
use rustls::{ClientConfig, ClientConnection};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How long a connection took to come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// From the start to the connection.
    pub connect_ns: u64,
    /// From there to the end of the TLS handshake.
    pub tls_ns: Option<u64>,
}

/// No connection came up.
#[derive(Debug)]
pub struct DialError {
    /// What failed.
    pub phase: DialPhase,
    /// Where it was to go.
    pub address: Address,
    /// Why it failed.
    pub error: io::Error,
}

/// A part of dialling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialPhase {
    /// Connecting the socket.
    Connect,
    /// The TLS handshake.
    Tls,
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DialError {
            phase,
            address,
            error,
        } = self;
        match phase {
            DialPhase::Connect => write!(f, "connecting to {address}: {}", reason(error)),
            DialPhase::Tls => write!(f, "TLS handshake with {address}: {}", reason(error)),
        }
    }
}

impl std::error::Error for DialError {}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => "no answer in the time allowed".to_owned(),
        io::ErrorKind::AddrNotAvailable => "no free local port (use keep-alive or fewer \
            connections, widen net.ipv4.ip_local_port_range, or spread over --local-address)"
            .to_owned(),
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

/// Opens the connections of one worker.
pub struct Dialler<H: Host> {
    host: H,
    endpoints: Vec<Route>,
    options: SocketOptions,
    local_addresses: Vec<IpAddr>,
    next_local: Cell<usize>,
    connect_timeout: Duration,
    config: Option<Arc<ClientConfig>>,
    /// The worker's buffers.
    pub scratch: Rc<RefCell<Scratch>>,
}

struct Route {
    endpoint: Endpoint,
    next: Cell<usize>,
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
        let route = |endpoint| Route {
            endpoint,
            next: Cell::new(first),
        };
        let timestamps = settings.clock == Clock::Kernel;
        Dialler {
            host,
            endpoints: endpoints.into_iter().map(route).collect(),
            options: SocketOptions {
                local: None,
                timestamps,
            },
            local_addresses: settings.local_addresses.clone(),
            next_local: Cell::new(first),
            connect_timeout: settings.connect_timeout,
            config: tls.map(TlsSetup::for_worker),
            scratch: Rc::default(),
        }
    }

    /// Opens a connection to the endpoint's next address; gives up at the deadline or after the
    /// plan's time for connecting.
    pub async fn dial(
        &self,
        endpoint: usize,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let route = &self.endpoints[endpoint];
        let address = take_turn(&route.endpoint.addresses, &route.next).clone();
        self.dial_address(&route.endpoint, address, deadline_ns)
            .await
    }

    /// Dials every address of an endpoint once and keeps those that answer.
    pub async fn probe(&self, endpoint: &Endpoint) -> Result<Endpoint, DialError> {
        let mut answering = Endpoint {
            addresses: Vec::new(),
            ..endpoint.clone()
        };
        let mut first_error = None;
        for address in &endpoint.addresses {
            match self.dial_address(endpoint, address.clone(), u64::MAX).await {
                Ok(_) => answering.addresses.push(address.clone()),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match first_error {
            Some(error) if answering.addresses.is_empty() => Err(error),
            _ => Ok(answering),
        }
    }

    async fn dial_address(
        &self,
        endpoint: &Endpoint,
        address: Address,
        deadline_ns: u64,
    ) -> Result<(Connection<H::Socket>, Dial), DialError> {
        let start_ns = self.host.now_ns();
        let deadline_ns = deadline_ns.min(start_ns + self.connect_timeout.as_nanos() as u64);
        let options = SocketOptions {
            local: self.local_address(),
            ..self.options
        };
        let connected = self.host.connect(&address, &options, deadline_ns).await;
        let failed = |phase, error| DialError {
            phase,
            address: address.clone(),
            error,
        };
        let connected = connected.map_err(|error| failed(DialPhase::Connect, error))?;
        let connect_ns = connected.at_ns - start_ns;
        if !endpoint.tls {
            let connection = Connection::plain(connected.socket);
            return Ok((
                connection,
                Dial {
                    connect_ns,
                    tls_ns: None,
                },
            ));
        }
        let secured = self.secure(endpoint, connected.socket, deadline_ns).await;
        let connection = secured.map_err(|error| failed(DialPhase::Tls, error))?;
        let tls_ns = Some(self.host.now_ns() - connected.at_ns);
        Ok((connection, Dial { connect_ns, tls_ns }))
    }

    async fn secure(
        &self,
        endpoint: &Endpoint,
        socket: H::Socket,
        deadline_ns: u64,
    ) -> io::Result<Connection<H::Socket>> {
        socket.set_deadline(Some(deadline_ns));
        let session = self.session(endpoint)?;
        Connection::secured(socket, session, &self.scratch).await
    }

    fn session(&self, endpoint: &Endpoint) -> io::Result<Box<Session>> {
        let config = self
            .config
            .clone()
            .ok_or_else(|| io::Error::other("TLS is not set up"))?;
        let name = server_name(&endpoint.host).map_err(io::Error::other)?;
        let tls = ClientConnection::new(config, name).map_err(TlsFailure)?;
        Ok(Session::new(tls))
    }

    fn local_address(&self) -> Option<IpAddr> {
        if self.local_addresses.is_empty() {
            return None;
        }
        Some(*take_turn(&self.local_addresses, &self.next_local))
    }
}

/// The next of `all`, round and round; `all` is not empty.
fn take_turn<'a, T>(all: &'a [T], next: &Cell<usize>) -> &'a T {
    let index = next.get();
    next.set(index.wrapping_add(1));
    &all[index % all.len()]
}

impl<H: Host> fmt::Debug for Dialler<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialler")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
