//! One accepted socket, plain, encrypted or local.

use socket2::SockRef;
use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::HandshakeKind;
use tokio_rustls::server::TlsStream;

/// A non-blocking socket as the listener passes it to the thread that will serve it.
#[derive(Debug)]
pub(crate) enum Accepted {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

/// A socket that is being served.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    /// Boxed, because it is many times as large as the others.
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

impl Socket {
    /// Registers a socket with the calling thread's event loop; TCP makes a handshake if there is a
    /// `tls`.
    pub(crate) async fn open(accepted: Accepted, tls: Option<&TlsAcceptor>) -> io::Result<Self> {
        let tcp = match accepted {
            Accepted::Unix(stream) => return Ok(Self::Unix(UnixStream::from_std(stream)?)),
            Accepted::Tcp(stream) => TcpStream::from_std(stream)?,
        };
        tcp.set_nodelay(true)?;
        match tls {
            Some(tls) => Ok(Self::Tls(Box::new(tls.accept(tcp).await?))),
            None => Ok(Self::Tcp(tcp)),
        }
    }

    /// True if this is a TLS session that was resumed.
    pub(crate) fn is_resumed(&self) -> bool {
        match self {
            Self::Tls(stream) => {
                stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed)
            }
            Self::Tcp(_) | Self::Unix(_) => false,
        }
    }

    /// True if client and server agreed on HTTP/2 in their TLS handshake.
    pub(crate) fn agreed_on_http2(&self) -> bool {
        match self {
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
            Self::Tcp(_) | Self::Unix(_) => false,
        }
    }

    /// Makes the close a reset. A Unix socket has no reset and is just closed.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        let at_once = Some(Duration::ZERO);
        match self {
            Self::Tcp(stream) => SockRef::from(stream).set_linger(at_once),
            Self::Tls(stream) => SockRef::from(stream.get_ref().0).set_linger(at_once),
            Self::Unix(_) => Ok(()),
        }
    }
}

/// Makes the same call on whichever stream there is.
macro_rules! on_stream {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => {
                let $stream = Pin::new($stream);
                $call
            }
            Socket::Tls($stream) => {
                let $stream = Pin::new($stream.as_mut());
                $call
            }
            Socket::Unix($stream) => {
                let $stream = Pin::new($stream);
                $call
            }
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        on_stream!(self.get_mut(), stream => stream.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        on_stream!(self.get_mut(), stream => stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        on_stream!(self.get_mut(), stream => stream.poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_stream!(self.get_mut(), stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_stream!(self.get_mut(), stream => stream.poll_shutdown(cx))
    }
}
