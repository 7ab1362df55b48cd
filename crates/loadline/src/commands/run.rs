//! `loadline run`, and `loadline` alone.

use crate::conduct::{Keep, conduct};
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::live::Live;
use crate::publish::{Style, publish};
use anyhow::Result;
use loadline_record::{Ended, Summary};
use loadline_verdict::{CheckResult, evaluate_all};
use std::time::Duration;

/// Runs a plan and reports what came of it.
pub(crate) fn run(invocation: Invocation) -> Result<Exit> {
    let keep = Keep {
        save: invocation.save.as_deref(),
        log: invocation.log.as_deref(),
    };
    let summary = conduct(&invocation.plan, keep, Live::new(invocation.progress))?;
    let checks = judge(&summary);
    let style = Style {
        color: invocation.color,
        percentiles: &invocation.percentiles,
    };
    publish(&invocation.outputs, &style, &summary, &checks)?;
    Ok(exit(&summary, &checks))
}

/// Holds the plan's checks against what was measured.
pub(crate) fn judge(summary: &Summary) -> Vec<CheckResult> {
    let duration = Duration::from_nanos(summary.duration_ns);
    evaluate_all(&summary.plan.checks, &summary.total, duration)
}

/// How a run ends the command.
pub(crate) fn exit(summary: &Summary, checks: &[CheckResult]) -> Exit {
    match summary.ended {
        Ended::Interrupted => Exit::Interrupted,
        Ended::Aborted(_) => Exit::CheckFailed,
        _ if checks.iter().all(|check| check.passed) => Exit::Good,
        _ => Exit::CheckFailed,
    }
}
