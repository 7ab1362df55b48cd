//! The two halves of a connection to a bus, each for a thread of its own: plain, or over TLS.

use loadline_plan::Tls;
use loadline_transport::TlsSetup;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes that are received at once.
const RECEIVE_BYTES: usize = 16 * 1024;

/// The TLS session that both halves use.
type Session = Arc<Mutex<ClientConnection>>;

/// The half that receives.
pub(crate) struct Incoming {
    socket: Arc<TcpStream>,
    session: Option<Session>,
    /// The received bytes of the session, of which so many were taken.
    received: Vec<u8>,
    taken: usize,
}

/// The half that sends.
pub(crate) struct Outgoing {
    socket: Arc<TcpStream>,
    session: Option<Session>,
}

/// Returns the halves of a connection.
pub(crate) fn halves(socket: TcpStream, session: Option<ClientConnection>) -> (Incoming, Outgoing) {
    let socket = Arc::new(socket);
    let session = session.map(|session| Arc::new(Mutex::new(session)));
    let outgoing = Outgoing {
        socket: Arc::clone(&socket),
        session: session.clone(),
    };
    let incoming = Incoming {
        socket,
        session,
        received: Vec::new(),
        taken: 0,
    };
    (incoming, outgoing)
}

/// Begins TLS on a connection to this host; `ca` is a file of trusted authorities, instead of the
/// system's.
///
/// # Errors
/// The reason why there is none.
pub(crate) fn begin_tls(
    mut socket: &TcpStream,
    host: &str,
    ca: Option<&PathBuf>,
) -> Result<ClientConnection, String> {
    let tls = Tls {
        cacert: ca.cloned(),
        ..Tls::default()
    };
    let setup = TlsSetup::read(&tls).map_err(text)?;
    let mut config = ClientConfig::clone(&setup.for_worker());
    // There is no protocol to choose.
    config.alpn_protocols.clear();
    let name = ServerName::try_from(host.to_owned()).map_err(text)?;
    let mut session = ClientConnection::new(Arc::new(config), name).map_err(text)?;
    while session.is_handshaking() {
        session.complete_io(&mut socket).map_err(text)?;
    }
    Ok(session)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn lock(session: &Session) -> MutexGuard<'_, ClientConnection> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends all that a session has to send.
fn send(session: &mut ClientConnection, mut socket: &TcpStream) -> io::Result<()> {
    while session.wants_write() {
        session.write_tls(&mut socket)?;
    }
    Ok(())
}

impl Incoming {
    /// Returns the socket.
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Receives bytes of the session; returns false at the end.
    fn receive(&mut self) -> io::Result<bool> {
        if self.taken == self.received.len() {
            self.received.resize(RECEIVE_BYTES, 0);
            // The other half sends meanwhile: the session is not locked.
            let length = (&*self.socket).read(&mut self.received)?;
            self.received.truncate(length);
            self.taken = 0;
        }
        Ok(!self.received.is_empty())
    }
}

impl Read for Incoming {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(session) = self.session.clone() else {
            return (&*self.socket).read(into);
        };
        loop {
            match lock(&session).reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if !self.receive()? {
                return Ok(0);
            }
            let mut session = lock(&session);
            let mut rest = &self.received[self.taken..];
            self.taken += session.read_tls(&mut rest)?;
            session.process_new_packets().map_err(io::Error::other)?;
            send(&mut session, &self.socket)?;
        }
    }
}

impl Outgoing {
    /// Ends the connection, for both halves.
    pub(crate) fn shut_down(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(session) = &self.session else {
            return (&*self.socket).write(bytes);
        };
        let mut session = lock(session);
        let written = session.writer().write(bytes)?;
        send(&mut session, &self.socket)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
