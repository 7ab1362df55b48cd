//! `loadline demo`: a server that stalls once, and what a run makes of it.

use crate::exit::{Exit, exit_of_run};
use crate::flags::demo::DemoFlags;
use crate::flags::run::judgement::Trust;
use crate::output::{Color, Sink};
use crate::publish::{Style, options, print};
use crate::session::{Needs, Session};
use anyhow::{Context, Result, ensure};
use loadline_plan::{Arrivals, Body, Load, Plan, Request, Shape};
use loadline_report::{Extent, PERCENTILES};
use loadline_runner::Prints;
use loadline_testbed::{Config, Freeze, Server};
use std::net::{Ipv4Addr, SocketAddr};

const CONNECTIONS: u32 = 50;

/// Serves and runs in one process, and shows the result with what it would have hidden.
pub(crate) fn run(flags: &DemoFlags) -> Result<Exit> {
    let DemoFlags {
        duration,
        rate,
        stall,
    } = *flags;
    ensure!(stall < duration, "--stall must be shorter than --duration.");
    let freeze = Freeze {
        length: stall,
        every: None,
        first_at: (duration - stall) / 2,
    };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(Config {
        listen,
        freeze: Some(freeze),
        ..Config::default()
    })?;
    print(&format!(
        "A server on {} freezes for {stall:?}, once, in a run of {duration:?} at {rate}.\n\n",
        server.addr(),
    ))?;
    let plan = plan(flags, server.addr())?;
    let session = Session {
        progress: true,
        ..Session::default()
    };
    let needs = Needs {
        prints: Prints::Stdout,
        heat_maps: false,
    };
    let ran = session.run(&plan, needs)?;
    let result = ran.conducted.result;
    server.stop();
    let style = Style {
        color: Color::Auto,
        percentiles: PERCENTILES.to_vec(),
        extent: Extent::First,
        saved: None,
    };
    let options = options(&style, &Sink::Stdout);
    print(&loadline_report::demonstration(&result, &options))?;
    // It is shown for what it tells, on whatever machine.
    let trust = Trust {
        allow_invalid: true,
        ..Trust::default()
    };
    Ok(exit_of_run(&result, &result.checks, trust))
}

fn plan(flags: &DemoFlags, server: SocketAddr) -> Result<Plan> {
    let url = format!("http://{server}/")
        .parse()
        .context("the server has no usable address")?;
    let request = Request {
        method: "GET".to_owned(),
        url,
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: None,
    };
    Ok(Plan {
        requests: vec![request],
        load: Load {
            users: CONNECTIONS,
            max_users: CONNECTIONS,
            shape: Shape::Rate {
                rate: flags.rate,
                arrivals: Arrivals::Constant,
            },
        },
        duration: Some(flags.duration),
        ..Plan::default()
    })
}
