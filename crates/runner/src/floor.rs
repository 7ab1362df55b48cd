//! The floor: the best results of this machine, measured before a run, or once before several.
//!
//! For a second one connection sends the run's requests one after the other, for another second all
//! connections send as fast as they can, by the run's own protocol and script, to a server that
//! does nothing but respond. The server is a separate process of this program, so that it shares no
//! memory, no lock and no thread with what is measured; it ends with this process, however that
//! ends.

use crate::commands::Commands;
use crate::error::RunError;
use crate::run::{Setup, conduct};
use crate::workload::{Prints, workload};
use loadline_plan::{Body, ConnectTo, Connection, IpVersion, Load, Plan, Request, Shape, Tls};
use loadline_record::{Ended, Floor, Summary};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The duration of each half before a run, and where no run is meant.
const HALF: Duration = Duration::from_secs(1);
const QUICK_HALF: Duration = Duration::from_millis(500);
/// The connections for each core where no run is meant.
const USERS_PER_CORE: u32 = 16;

/// Creates the command that starts a server that does nothing, for this scheme and with this many
/// threads. It serves until its standard input ends, and prints its address as a URL in its first
/// line.
pub type Serve<'a> = &'a dyn Fn(&str, u32) -> io::Result<Command>;

/// The reason why the floor was not measured.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// The server's program can't be found.
    #[error("this program can't be found again")]
    Program(#[source] io::Error),
    /// The server's process can't be started.
    #[error("the server that does nothing can't be started")]
    Start(#[source] io::Error),
    /// The server did not print its address.
    #[error("the server that does nothing did not start")]
    NoAddress,
    /// The server answered no request.
    #[error("the server that does nothing sent no response")]
    NoAnswer,
    /// The requests can't be sent to it.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Measures the floor of this plan; `None` if a command ended it.
///
/// # Errors
/// If the server can't be started, or answers none of these requests.
pub fn measure_floor(
    plan: &Plan,
    commands: &Commands,
    serve: Serve<'_>,
) -> Result<Option<Floor>, FloorError> {
    measure(plan, HALF, commands, serve)
}

/// Measures the floor of this machine for no run in particular: GET requests over HTTP/1.1 by as
/// many threads as it has cores, for a second in all.
///
/// # Errors
/// If the server can't be started, or answers nothing.
pub fn measure_floor_of_machine(cores: u32, serve: Serve<'_>) -> Result<Floor, FloorError> {
    let floor = measure(
        &simplest_plan(cores.max(1)),
        QUICK_HALF,
        &Commands::default(),
        serve,
    );
    floor?.ok_or(FloorError::NoAnswer)
}

/// Returns the plan of GET requests by as many threads as there are cores.
fn simplest_plan(cores: u32) -> Plan {
    let url = "http://127.0.0.1/".parse();
    let request = Request {
        method: "GET".to_owned(),
        url: url.expect("a URL"),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: None,
    };
    Plan {
        requests: vec![request],
        threads: cores,
        load: Load {
            users: cores.saturating_mul(USERS_PER_CORE),
            ..Load::default()
        },
        ..Plan::default()
    }
}

fn measure(
    plan: &Plan,
    length: Duration,
    commands: &Commands,
    serve: Serve<'_>,
) -> Result<Option<Floor>, FloorError> {
    let servers = Servers::start(plan, serve)?;
    let Some(one) = half(&servers.plan(plan, 1, length), commands)? else {
        return Ok(None);
    };
    let users = plan.load.users.max(1);
    let Some(all) = half(&servers.plan(plan, users, length), commands)? else {
        return Ok(None);
    };
    let (response, seconds) = (&one.total.times.response, all.duration_ns as f64 / 1e9);
    if response.is_empty() {
        return Err(FloorError::NoAnswer);
    }
    Ok(Some(Floor {
        min_ns: response.min_ns(),
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        answers_per_s: all.total.counts.answered as f64 / seconds,
        connections: plan.connection.of_users(users),
    }))
}

fn half(plan: &Plan, commands: &Commands) -> Result<Option<Summary>, RunError> {
    let workload = workload(plan, Prints::Stdout)?;
    let conducted = conduct(&Setup::of(plan), workload.as_ref(), commands, &mut [])?;
    let summary = conducted.result.summary;
    Ok((summary.ended != Ended::Interrupted).then_some(summary))
}

/// The servers that do nothing, one per scheme.
struct Servers(Vec<Server>);

struct Server {
    child: Child,
    scheme: String,
    address: SocketAddr,
}

impl Servers {
    fn start(plan: &Plan, serve: Serve<'_>) -> Result<Servers, FloorError> {
        let mut servers = Vec::new();
        let mut schemes: Vec<&str> = plan.requests.iter().map(|one| one.url.scheme()).collect();
        schemes.sort_unstable();
        schemes.dedup();
        for scheme in schemes {
            servers.push(Server::start(scheme, plan.threads, serve)?);
        }
        Ok(Servers(servers))
    }

    /// Returns the plan as a closed loop of this many users for so long, with all requests sent to
    /// the servers.
    fn plan(&self, plan: &Plan, users: u32, length: Duration) -> Plan {
        let connect_to = plan.requests.iter().filter_map(|request| {
            let server = self
                .0
                .iter()
                .find(|one| one.scheme == request.url.scheme())?;
            let host = request.url.host_str()?;
            Some(ConnectTo {
                host: host.trim_matches(['[', ']']).to_owned(),
                port: request.url.port_or_known_default(),
                to_host: server.address.ip().to_string(),
                to_port: Some(server.address.port()),
            })
        });
        Plan {
            load: Load {
                users,
                max_users: users,
                shape: Shape::Closed,
            },
            threads: plan.threads.min(users),
            duration: Some(length),
            request_limit: None,
            think: None,
            warmup: Duration::ZERO,
            connection: Connection {
                connect_to: connect_to.collect(),
                unix_socket: None,
                proxy: None,
                ip_version: IpVersion::Any,
                naming: None,
                local_addresses: Vec::new(),
                tls: Tls {
                    insecure: true,
                    ..plan.connection.tls.clone()
                },
                ..plan.connection.clone()
            },
            checks: Vec::new(),
            abort_on: Vec::new(),
            until: None,
            settle: false,
            ..plan.clone()
        }
    }
}

impl Server {
    fn start(scheme: &str, threads: u32, serve: Serve<'_>) -> Result<Server, FloorError> {
        let mut command = serve(scheme, threads).map_err(FloorError::Program)?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(FloorError::Start)?;
        let address = address(&mut child).ok_or(FloorError::NoAddress)?;
        Ok(Server {
            child,
            scheme: scheme.to_owned(),
            address,
        })
    }
}

/// Reads the server's address: `Serving on http://127.0.0.1:40000/ until Ctrl-C.`
fn address(child: &mut Child) -> Option<SocketAddr> {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut()?)
        .read_line(&mut line)
        .ok()?;
    let (_, after) = line.split_once("://")?;
    after.split_once('/')?.0.parse().ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended already need not be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
