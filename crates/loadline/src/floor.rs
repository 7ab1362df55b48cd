//! The floor: what this machine does at best, measured before a run, or once before several.
//!
//! For a second one connection sends the run's requests one after the other, for another second all
//! connections send as fast as they can, by the run's own protocol and script, to a server that does
//! nothing but answer. The server is a process of its own, this program again, so that it shares no
//! memory, no lock and no thread with what is measured; it ends with us, whatever becomes of us.

use crate::conduct::{Keep, conduct_one};
use crate::interrupt::{Interrupts, Manner};
use crate::invocation::Invocation;
use crate::live::{Live, say_line};
use crate::scripting;
use anyhow::{Context, Result, ensure};
use loadline_plan::{ConnectTo, Connection, IpVersion, Load, Plan, Shape, Tls};
use loadline_record::{Ended, Floor, Summary};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long each half takes.
const HALF: Duration = Duration::from_secs(1);

/// The floor of a run that asks for it, or of several. An interrupt meanwhile ends the command: nothing of
/// the run is measured yet.
///
/// # Errors
/// If signals can't be watched meanwhile.
pub(crate) fn of_run(invocation: &Invocation) -> Result<Option<Floor>> {
    if !invocation.floor {
        return Ok(None);
    }
    let interrupts = Interrupts::watch(Manner::AtOnce).context("signals can't be watched")?;
    let floor = measured(&invocation.plan, &interrupts);
    interrupts.end_before_load();
    Ok(floor)
}

/// The floor of this plan. What is in its way is told, and is in no other's way.
pub(crate) fn measured(plan: &Plan, interrupts: &Interrupts) -> Option<Floor> {
    measure(plan, interrupts).unwrap_or_else(|error| {
        say_line(&format!(
            "The floor of this machine was not measured: {error:#}."
        ));
        None
    })
}

/// Measures the floor of this plan; `None` if the user interrupted it.
///
/// # Errors
/// If the server can't be started, or answers nothing to these requests.
fn measure(plan: &Plan, interrupts: &Interrupts) -> Result<Option<Floor>> {
    let servers = Servers::start(plan)?;
    let Some(one) = half(&servers.plan(plan, 1), interrupts)? else {
        return Ok(None);
    };
    let connections = plan.load.connections.max(1);
    let Some(all) = half(&servers.plan(plan, connections), interrupts)? else {
        return Ok(None);
    };
    let (response, seconds) = (&one.total.times.response, all.duration_ns as f64 / 1e9);
    ensure!(
        !response.is_empty(),
        "the server that does nothing gave no answer"
    );
    Ok(Some(Floor {
        min_ns: response.min_ns(),
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        answers_per_s: all.total.counts.answered as f64 / seconds,
        connections,
    }))
}

fn half(plan: &Plan, interrupts: &Interrupts) -> Result<Option<Summary>> {
    let script = scripting::load(plan, &[])?;
    let live = Live::new(false);
    let conducted = conduct_one(interrupts, plan, script.as_ref(), Keep::default(), live)?;
    let summary = conducted.result.summary;
    Ok((summary.ended != Ended::Interrupted).then_some(summary))
}

/// The servers that do nothing, as many as there are schemes.
struct Servers(Vec<Server>);

struct Server {
    child: Child,
    scheme: String,
    address: SocketAddr,
}

impl Servers {
    fn start(plan: &Plan) -> Result<Servers> {
        let mut servers = Vec::new();
        let mut schemes: Vec<&str> = plan.requests.iter().map(|one| one.url.scheme()).collect();
        schemes.sort_unstable();
        schemes.dedup();
        for scheme in schemes {
            servers.push(Server::start(scheme, plan.threads)?);
        }
        Ok(Servers(servers))
    }

    /// The plan in a closed loop of so many connections, all of which lead here.
    fn plan(&self, plan: &Plan, connections: u32) -> Plan {
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
                connections,
                max_connections: connections,
                shape: Shape::Closed,
            },
            threads: plan.threads.min(connections),
            duration: Some(HALF),
            request_limit: None,
            warmup: Duration::ZERO,
            connection: Connection {
                connect_to: connect_to.collect(),
                unix_socket: None,
                proxy: None,
                ip_version: IpVersion::Any,
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
    fn start(scheme: &str, threads: u32) -> Result<Server> {
        let program = std::env::current_exe().context("this program can't be found again")?;
        let threads = threads.to_string();
        let mut command = Command::new(program);
        command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--ignore-options",
                "--until-eof",
            ])
            .args(["--threads", &threads]);
        if scheme == "https" {
            command.arg("--tls");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the server that does nothing can't be started")?;
        let address = address(&mut child).context("the server that does nothing did not start")?;
        Ok(Server {
            child,
            scheme: scheme.to_owned(),
            address,
        })
    }
}

/// Reads where it serves: `Serving on http://127.0.0.1:40000/ until Ctrl-C.`
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
        // One that has ended already needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
