//! Listening: sockets are accepted on one thread and distributed to all in turn.

use crate::alarm::Alarm;
use crate::error::StartError;
use crate::inbox::{Inbox, Work};
use crate::socket::Accepted;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, UnixListener};

/// The most connections that wait to be accepted; the system reduces it to its own limit.
const BACKLOG: i32 = 65_535;

/// The pause of accepting after an accept has failed, mostly for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(10);

/// A listening socket of either family.
pub(crate) trait Listener: Send + Sync + 'static {
    /// Waits for a connection, and removes it from this thread's event loop.
    fn take(&self) -> impl Future<Output = io::Result<Accepted>> + Send;
}

impl Listener for TcpListener {
    async fn take(&self) -> io::Result<Accepted> {
        let (stream, _) = self.accept().await?;
        stream.into_std().map(Accepted::Tcp)
    }
}

impl Listener for LocalListener {
    async fn take(&self) -> io::Result<Accepted> {
        let (stream, _) = self.listener.accept().await?;
        stream.into_std().map(Accepted::Unix)
    }
}

/// A Unix socket whose file is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    /// The device and the number of its file, if there is one.
    file: Option<(u64, u64)>,
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        // By now the file may belong to another server.
        if self.file.is_some() && socket_file(&self.path) == self.file {
            // It may have been removed meanwhile, which is fine.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens on `address`; must be called within an event loop.
pub(crate) fn listen_tcp(address: SocketAddr) -> Result<TcpListener, StartError> {
    let listen = || {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        TcpListener::from_std(socket.into())
    };
    listen().map_err(|source| StartError::Listen { address, source })
}

/// Listens on `path`, replacing the socket of a server that has ended; must be called within an
/// event loop.
pub(crate) fn listen_local(path: &Path) -> Result<LocalListener, StartError> {
    let listen = || match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_deserted(path) => {
            fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        outcome => outcome,
    };
    let owned = |listener| LocalListener {
        listener,
        path: path.to_owned(),
        file: socket_file(path),
    };
    listen()
        .map(owned)
        .map_err(|source| StartError::UnixSocket {
            path: path.to_owned(),
            source,
        })
}

/// True if there is a socket without a listener. Any other file also refuses connections, and must
/// not be removed; neither must a link.
fn is_deserted(path: &Path) -> bool {
    let refuses = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
    socket_file(path).is_some() && UnixStream::connect(path).is_err_and(refuses)
}

/// Returns the device and the number of the socket at this path, if there is one.
fn socket_file(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.symlink_metadata().ok()?;
    let is_socket = metadata.file_type().is_socket();
    is_socket.then(|| (metadata.dev(), metadata.ino()))
}

/// Distributes connections to the threads, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Dealer {
    threads: Vec<Inbox>,
    dealt: Arc<AtomicUsize>,
}

impl Dealer {
    pub(crate) fn new(threads: Vec<Inbox>) -> Self {
        Self {
            threads,
            dealt: Arc::default(),
        }
    }

    fn deal(&self, accepted: Accepted) {
        let turn = self.dealt.fetch_add(1, Relaxed) % self.threads.len();
        self.threads[turn].put(Work::Serve(accepted));
    }
}

/// Accepts connections for as long as the thread runs.
pub(crate) async fn accept(
    listener: impl Listener,
    dealer: Dealer,
    alarm: Alarm,
) -> io::Result<()> {
    loop {
        match listener.take().await {
            Ok(accepted) => dealer.deal(accepted),
            Err(_) => alarm.sleep_until(Instant::now() + PAUSE).await,
        }
    }
}
