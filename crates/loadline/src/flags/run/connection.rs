//! The flags of connections.

use crate::flags::choice::choice;
use clap::{Args, ValueHint};
use loadline_plan::{
    Clock, ConnectTo, Connection, HttpVersion, IpVersion, Proxy, Tls, Windows, parse_duration,
    parse_ip_address, parse_part, parse_small_count,
};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// How connections are made and used.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionFlags {
    /// Open a new connection for every request
    #[arg(long)]
    no_keepalive: bool,

    /// HTTP version; auto takes 2 where the server agrees on it in TLS
    ///
    /// HTTP/2 is agreed on by ALPN over TLS; in clear text the server must know it before (prior
    /// knowledge).
    #[arg(long, value_name = "VERSION", default_value = "1.1", value_parser = choice(&[
        ("1.1", HttpVersion::V1_1), ("2", HttpVersion::V2), ("auto", HttpVersion::Auto)]))]
    http: HttpVersion,

    /// Requests in flight at once on each connection of HTTP/2
    ///
    /// Each connection has this many users, so -c 10 --streams 10 is a load of 100 users.
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_small_count)]
    streams: u32,

    /// Let all users share this many connections, in place of one each
    ///
    /// With -c 100 --shared-connections 10 there are 100 users on 10 connections. A request waits
    /// until one of them is free, and is blocked meanwhile. Each worker has its part of them. For
    /// HTTP/1.1; over HTTP/2 users share connections by --streams. Each scenario has as many.
    #[arg(long, value_name = "N", value_parser = parse_some)]
    shared_connections: Option<NonZeroU32>,

    /// Bytes that the server may send on an HTTP/2 stream before it waits (default: 1 GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_small_count)]
    stream_window: Option<u32>,

    /// Bytes that the server may send on an HTTP/2 connection before it waits (default: 1 GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_small_count)]
    connection_window: Option<u32>,

    /// Requests in flight at once on each connection (HTTP pipelining)
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_small_count)]
    pipeline: u32,

    /// Fail a request that takes longer than this
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,

    /// Fail a connection that takes longer than this to open, TLS included
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    connect_timeout: Duration,

    /// Do not verify the server's certificate
    #[arg(short = 'k', long, help_heading = "TLS")]
    insecure: bool,

    /// Trust these certificate authorities (PEM) instead of the system's
    #[arg(long, help_heading = "TLS", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cacert: Option<PathBuf>,

    /// The client's certificate (PEM), with its key unless --key gives it
    #[arg(long, help_heading = "TLS", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cert: Option<PathBuf>,

    /// The private key of --cert (PEM)
    #[arg(long, help_heading = "TLS", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,

    /// Connect to this Unix socket, whatever the URL's host
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    unix_socket: Option<PathBuf>,

    #[arg(
        long,
        value_name = "URL",
        help = "Use this proxy, http://[USER:PASSWORD@]HOST:PORT; https URLs go through a tunnel"
    )]
    proxy: Option<Proxy>,

    /// Connect to another address than the URL's: HOST:PORT:ADDR:PORT (repeatable)
    ///
    /// An empty HOST or PORT before ADDR matches any; an empty ADDR or PORT keeps the URL's. Write
    /// IPv6 addresses in brackets.
    #[arg(long, value_name = "FROM:TO")]
    connect_to: Vec<ConnectTo>,

    /// Use IPv4 addresses only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,

    /// Use IPv6 addresses only
    #[arg(short = '6', long)]
    ipv6: bool,

    /// Connect from these local addresses, in turn
    #[arg(long, value_name = "IP,…", value_delimiter = ',', value_parser = parse_ip_address)]
    local_address: Vec<IpAddr>,

    /// Completion timestamp: kernel (when the response arrived) or user (when it was read)
    #[arg(long, help_heading = "Watching", value_name = "CLOCK", default_value = "kernel",
        value_parser = choice(&[("kernel", Clock::Kernel), ("user", Clock::User)]))]
    clock: Clock,

    /// Sample 1 in K requests (100 by default) with kernel timestamps and show the client overhead
    ///
    /// The kernel stamps when such a request was sent and when its response arrived. That splits
    /// its service time into sending, wire and server, wake-up, and parsing. Each sample costs a
    /// few microseconds.
    #[arg(long, help_heading = "Watching", value_name = "1/K", num_args = 0..=1,
        require_equals = true, default_missing_value = "1/100", value_parser = parse_part)]
    kernel_timestamps: Option<NonZeroU32>,
}

/// Reads how many connections all users share.
fn parse_some(text: &str) -> Result<NonZeroU32, String> {
    let count = parse_small_count(text).map_err(|error| error.to_string())?;
    NonZeroU32::new(count).ok_or_else(|| "0 connections carry nothing; give at least 1.".to_owned())
}

impl ConnectionFlags {
    /// The options of the connections.
    pub(crate) fn options(&self) -> Connection {
        Connection {
            keepalive: !self.no_keepalive,
            http: self.http,
            streams: self.streams,
            shared: self.shared_connections,
            windows: Windows {
                stream: self.stream_window,
                connection: self.connection_window,
            },
            pipeline: self.pipeline,
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            tls: self.tls(),
            unix_socket: self.unix_socket.clone(),
            proxy: self.proxy.clone(),
            connect_to: self.connect_to.clone(),
            ip_version: self.ip_version(),
            local_addresses: self.local_address.clone(),
            clock: self.clock,
            kernel_timestamps: self.kernel_timestamps,
            ..Connection::default()
        }
    }

    fn tls(&self) -> Tls {
        Tls {
            insecure: self.insecure,
            cacert: self.cacert.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
            ..Tls::default()
        }
    }

    fn ip_version(&self) -> IpVersion {
        match (self.ipv4, self.ipv6) {
            (true, _) => IpVersion::V4,
            (_, true) => IpVersion::V6,
            _ => IpVersion::Any,
        }
    }
}
