//! `loadline run`, and `loadline` alone.

use crate::closing::{end_of_run, end_of_series, tell_trouble_before};
use crate::exit::{Exit, exit_of_series};
use crate::flags::run::judgement::Trust;
use crate::invocation::Invocation;
use crate::publish::Reports;
use crate::session::{Ran, Session};
use anyhow::Result;
use loadline_plan::Plan;
use loadline_runner::{Conducted, repeats};

/// Runs a plan, once or several times, and reports its result.
pub(crate) fn run(invocation: Invocation) -> Result<Exit> {
    let Invocation {
        plan,
        repeat,
        session,
        reports,
        trust,
    } = invocation;
    reports.prepare()?;
    match repeat {
        None | Some(1) => run_once(&plan, &session, &reports, trust),
        Some(count) => run_repeatedly(&plan, count, &session, &reports, trust),
    }
}

fn run_once(plan: &Plan, session: &Session, reports: &Reports, trust: Trust) -> Result<Exit> {
    let Ran {
        conducted: Conducted { result, trouble },
        workload,
        heat,
    } = session.run(plan, reports.needs())?;
    let published = reports.publish(&result, &heat);
    let concluded = published.and_then(|()| Ok(workload.conclude(&result.summary)?));
    let trouble = tell_trouble_before(concluded, trouble)?;
    end_of_run(&result, trouble, trust)
}

fn run_repeatedly(
    plan: &Plan,
    count: u32,
    session: &Session,
    reports: &Reports,
    trust: Trust,
) -> Result<Exit> {
    let (mut series, heats) = session.run_series(plan, repeats(plan, count), reports.needs())?;
    let published = reports.publish_series(&series.runs, &heats);
    series.trouble = tell_trouble_before(published, series.trouble.take())?;
    let exit = exit_of_series(&series.runs, trust);
    end_of_series(series, exit, trust)
}
