//! Connections that block, for an exporter's own thread: sockets of the standard library, TLS by
//! the engine's settings.

use loadline_plan::{HttpVersion, Tls};
use loadline_transport::{TlsSetup, TlsSetupError};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// The destination of connections to a receiver, with or without TLS.
pub(crate) struct Address {
    host: String,
    port: u16,
    /// Host and port, as a request writes them.
    pub(crate) authority: String,
    tls: Option<Arc<ClientConfig>>,
}

/// A connection, with or without TLS.
pub(crate) enum Stream {
    /// Without TLS.
    Plain(TcpStream),
    /// With TLS.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Address {
    /// Creates the address of a URL, whose receiver speaks this version of HTTP.
    ///
    /// # Errors
    /// If files of the TLS settings can't be used.
    pub(crate) fn of(url: &Url, tls: &Tls, http: HttpVersion) -> Result<Address, TlsSetupError> {
        let setup = match url.scheme() {
            "https" => Some(TlsSetup::read(tls)?.offering(http)),
            _ => None,
        };
        let host = url.host_str().unwrap_or_default();
        Ok(Address {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            authority: match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            },
            tls: setup.map(|setup| setup.for_worker()),
        })
    }

    /// Returns the scheme of requests to this address.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Opens a connection, until this instant at the latest.
    pub(crate) fn connect(&self, until: Instant) -> io::Result<Stream> {
        let addresses = loadline_reactor::look_up(&self.host, self.port)?;
        let tcp = first_reachable(addresses, until)?;
        tcp.set_nodelay(true)?;
        let Some(tls) = &self.tls else {
            return Ok(Stream::Plain(tcp));
        };
        let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::clone(tls), name).map_err(io::Error::other)?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(session, tcp))))
    }
}

fn first_reachable(
    addresses: impl IntoIterator<Item = SocketAddr>,
    until: Instant,
) -> io::Result<TcpStream> {
    let mut problem = io::Error::other("its name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, left(until)?) {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

/// Returns the time that is left until an instant.
///
/// # Errors
/// If none is left.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

impl Stream {
    /// Limits the waits of reads and writes.
    ///
    /// # Errors
    /// If the instant has passed.
    pub(crate) fn limit(&self, until: Instant) -> io::Result<()> {
        let tcp = match self {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(stream) => stream.get_ref(),
        };
        let left = left(until)?;
        tcp.set_read_timeout(Some(left))?;
        tcp.set_write_timeout(Some(left))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(tcp) => tcp.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
