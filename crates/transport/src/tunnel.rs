//! Tunnels: a CONNECT request asks a proxy to forward all further bytes (RFC 9110, section 9.3.6).

use crate::connection::{Connection, Scratch};
use loadline_plan::Proxy;
use loadline_reactor::Socket;
use loadline_wire::{Expect, RequestHead, ResponseParser, Version, write_request};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use url::{Position, Url};

/// The request for a tunnel, sent to a proxy before TLS begins.
#[derive(Clone, PartialEq, Eq)]
pub struct Tunnel {
    /// The destination of the tunnel: `host:port`.
    to: String,
    request: Vec<u8>,
}

impl Tunnel {
    /// Creates the request for a tunnel to the URL's host and this port.
    pub(crate) fn to(url: &Url, port: u16, proxy: &Proxy) -> Self {
        let host = &url[Position::BeforeHost..Position::AfterHost];
        let to = format!("{host}:{port}");
        let credentials = proxy.authorization.as_deref();
        let credentials = credentials.map(|value| ("Proxy-Authorization", value));
        let others = proxy.tunnel_headers.iter();
        let others = others.map(|header| (header.name.as_str(), header.value.as_str()));
        let headers: Vec<_> = credentials.into_iter().chain(others).collect();
        let head = RequestHead {
            method: "CONNECT",
            target: &to,
            host: &to,
            headers: &headers,
            body: None,
            keepalive: true,
            version: Version::Http11,
        };
        let mut request = Vec::new();
        write_request(&head, &mut request)
            .expect("a URL's host and base64 have no control characters, and fields are checked");
        Tunnel { to, request }
    }

    /// Requests the tunnel and waits until it is open.
    pub(crate) async fn open<S: Socket>(
        &self,
        socket: S,
        scratch: &RefCell<Scratch>,
    ) -> io::Result<S> {
        let mut connection = Connection::plain(socket);
        connection.send_all(&self.request).await?;
        let mut parser = ResponseParser::new();
        parser.begin(Expect::Connect);
        while parser.status() == 0 {
            self.take_answer(&mut connection, &mut parser, scratch)
                .await?;
        }
        match parser.status() {
            200..300 => Ok(connection.into_socket()),
            status => Err(self.refused(status)),
        }
    }

    async fn take_answer<S: Socket>(
        &self,
        connection: &mut Connection<S>,
        parser: &mut ResponseParser,
        scratch: &RefCell<Scratch>,
    ) -> io::Result<()> {
        let receive = poll_fn(|cx| connection.poll_recv(cx, &mut scratch.borrow_mut()));
        let received = receive.await?;
        if received.bytes == 0 {
            return Err(io::Error::other(format!(
                "it closed the connection when asked for a tunnel to {}",
                self.to
            )));
        }
        let scratch = scratch.borrow();
        let input = scratch.received(received.bytes);
        let fed = parser.feed(input, &mut ()).map_err(io::Error::other)?;
        if fed.done && parser.status() < 300 && fed.used < input.len() {
            // A TLS server sends nothing before the client's first message.
            return Err(io::Error::other(
                "it sent data after its response to CONNECT",
            ));
        }
        Ok(())
    }

    fn refused(&self, status: u16) -> io::Error {
        let advice = match status {
            407 => "give user and password, as in --proxy http://user:password@host:port",
            403 | 405 | 501 => "it must allow CONNECT to that port",
            502..=504 => "it can't reach that server",
            _ => "check that it is a proxy",
        };
        let to = &self.to;
        io::Error::other(format!(
            "it refused a tunnel to {to} with status {status} ({advice})"
        ))
    }
}

impl std::fmt::Debug for Tunnel {
    /// Hides the request, which may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tunnel")
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}
