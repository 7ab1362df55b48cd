//! How connections are made and used.

use crate::flags::choice::choice;
use clap::{Args, ValueHint};
use loadline_plan::{
    Clock, ConnectTo, Connection, IpVersion, Proxy, Tls, parse_duration, parse_ip_address,
    parse_part, parse_small_count,
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

    /// Requests sent together on a connection before their answers are awaited
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_small_count)]
    pipeline: u32,

    /// The most a request may take
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,

    /// The most that connecting may take, TLS included
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    connect_timeout: Duration,

    /// Take any certificate, whoever signed it
    #[arg(short = 'k', long)]
    insecure: bool,

    /// Trust these authorities (PEM) instead of the system's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cacert: Option<PathBuf>,

    /// The client's certificate (PEM), with its key unless --key has that
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cert: Option<PathBuf>,

    /// The key of --cert (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,

    /// Connect to this Unix socket, whatever the URL's host
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    unix_socket: Option<PathBuf>,

    /// Go through this proxy, in a tunnel where the URL is https
    #[arg(long, value_name = "http://[USER:PASSWORD@]HOST:PORT")]
    proxy: Option<Proxy>,

    /// Connect elsewhere than the URL says (repeatable)
    ///
    /// An empty part means any host or port, or the same. IPv6 addresses stand in brackets.
    #[arg(long, value_name = "HOST:PORT:ADDR:PORT")]
    connect_to: Vec<ConnectTo>,

    /// Use IPv4 addresses only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,

    /// Use IPv6 addresses only
    #[arg(short = '6', long)]
    ipv6: bool,

    /// Connect from these addresses in turn
    #[arg(long, value_name = "IP,…", value_delimiter = ',', value_parser = parse_ip_address)]
    local_address: Vec<IpAddr>,

    /// Whose clock ends a request: the kernel's, when the answer arrived, or ours, when it was read
    #[arg(long, value_name = "CLOCK", default_value = "kernel", value_parser = choice(&[
        ("kernel", Clock::Kernel),
        ("user", Clock::User),
    ]))]
    clock: Clock,

    /// Split some requests by the kernel's clock on both ends: our sending, wire and server, our waking up, our parsing
    ///
    /// One in so many of each worker's, such as 1/20; 1/100 where no part is given. Each costs a
    /// few microseconds, so not all should be.
    #[arg(long, value_name = "1/K", num_args = 0..=1, require_equals = true,
        default_missing_value = "1/100", value_parser = parse_part)]
    kernel_timestamps: Option<NonZeroU32>,
}

impl ConnectionFlags {
    /// What was said of the connections.
    pub(crate) fn options(&self) -> Connection {
        Connection {
            keepalive: !self.no_keepalive,
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
