//! From options to a plan: the number of requests, their rate, the connections.

use super::options::{Options, Pace, Version};
use super::outcome::Output;
use super::urls::Urls;
use loadline_plan::{
    Arrivals, Body, Connection, HttpVersion, IpVersion, Load, Plan, Proxy, Request, Shape, Tls,
};
use loadline_tool_host::processes;
use loadline_tool_host::threads;
use std::net::SocketAddr;
use std::time::Duration;
use url::Url;

/// The limit where no time is set: longer than any run.
const UNLIMITED: Duration = Duration::from_secs(30 * 24 * 3600);
/// Replaces a timeout of zero, with which every request fails.
const SHORTEST: Duration = Duration::from_nanos(1);

/// Returns the plan of a command line, on this many cores and processes; `sample` is one of its
/// URLs.
pub(super) fn plan(
    options: &Options,
    sample: &Url,
    cores: u32,
    processes: u32,
) -> Result<Plan, Output> {
    let arguments = &options.arguments;
    let connections = connections(options);
    if let Some(sentence) = processes::too_many(processes, connections, "-c") {
        return Err(Output::refusal(sentence));
    }
    let users = connections.saturating_mul(streams(options));
    let plan = Plan {
        requests: vec![request(options, sample)],
        load: Load {
            users,
            max_users: users,
            shape: shape(options.pace),
        },
        threads: match arguments.worker_threads {
            Some(threads) => threads.min(connections),
            None => threads(connections, cores),
        }
        .max(processes),
        processes,
        duration: options.duration(),
        request_limit: arguments.duration.is_none().then_some(arguments.requests),
        connection: connection(options, sample)?,
        ..Plan::default()
    };
    plan.validate().map_err(Output::refusal)?;
    Ok(plan)
}

/// Returns the number of connections, which is limited by the number of requests.
fn connections(options: &Options) -> u32 {
    let arguments = &options.arguments;
    if arguments.duration.is_some() {
        return arguments.connections;
    }
    let most = arguments.requests.div_ceil(u64::from(arguments.streams));
    u32::try_from(most).map_or(arguments.connections, |most| {
        most.min(arguments.connections)
    })
}

fn streams(options: &Options) -> u32 {
    match options.version {
        Version::Http2 => options.arguments.streams,
        Version::Http10 | Version::Http11 => 1,
    }
}

fn shape(pace: Pace) -> Shape {
    match pace {
        Pace::Unlimited => Shape::Closed,
        Pace::Rate(rate) => Shape::Rate {
            rate,
            arrivals: Arrivals::Constant,
        },
        Pace::Bursts { size, every } => Shape::Burst { size, every },
    }
}

/// Returns the request that gives the first connection its destination: other servers of the run
/// are resolved when a request needs them. The messages themselves are written as oha writes them.
fn request(options: &Options, sample: &Url) -> Request {
    Request {
        method: options.method.clone(),
        url: sample.clone(),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: Some("requests".to_owned()),
    }
}

fn connection(options: &Options, sample: &Url) -> Result<Connection, Output> {
    let arguments = &options.arguments;
    let places = arguments.connect_to.iter().map(|text| text.parse());
    let is_http2 = options.version == Version::Http2;
    Ok(Connection {
        keepalive: !arguments.disable_keepalive || is_http2,
        http: match is_http2 {
            true => HttpVersion::V2,
            false => HttpVersion::V1_1,
        },
        streams: streams(options),
        timeout: arguments.timeout.unwrap_or(UNLIMITED).max(SHORTEST),
        drain: if arguments.waits {
            UNLIMITED
        } else {
            Duration::ZERO
        },
        connect_timeout: arguments.connect_timeout.max(SHORTEST),
        tls: Tls {
            insecure: arguments.insecure,
            cacert: arguments.cacert.clone(),
            cert: arguments.cert.clone(),
            key: arguments.key.clone(),
            ..Tls::default()
        },
        unix_socket: arguments.unix_socket.clone(),
        proxy: arguments.proxy.clone().map(|url| Proxy {
            url,
            authorization: None,
            tunnel_headers: options.tunnel_headers(),
        }),
        connect_to: places.collect::<Result<_, _>>().map_err(Output::refusal)?,
        ip_version: ip_version(options, sample)?,
        ahead: false,
        ..Connection::default()
    })
}

/// Returns the version of IP to use: IPv4 if the only host name has such an address, since oha
/// tries IPv4 first. A literal address allows any version.
fn ip_version(options: &Options, sample: &Url) -> Result<IpVersion, Output> {
    let arguments = &options.arguments;
    let is_name = sample.domain().is_some();
    match (arguments.ipv4, arguments.ipv6) {
        _ if !is_name => return Ok(IpVersion::Any),
        (true, true) => return Ok(IpVersion::Any),
        (true, false) => return Ok(IpVersion::V4),
        (false, true) => return Ok(IpVersion::V6),
        (false, false) => {}
    }
    let is_one = matches!(&options.urls, Urls::List(list) if list.len() == 1);
    let resolves_here = is_one
        && arguments.unix_socket.is_none()
        && arguments.proxy.is_none()
        && arguments.connect_to.is_empty();
    if !resolves_here || arguments.no_pre_lookup {
        return Ok(IpVersion::Any);
    }
    let addresses = sample.socket_addrs(|| None).map_err(Output::error)?;
    Ok(match addresses.iter().any(SocketAddr::is_ipv4) {
        true => IpVersion::V4,
        false => IpVersion::Any,
    })
}
