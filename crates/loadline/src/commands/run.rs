//! `loadline run`, and `loadline` alone.

use crate::against::Prepared;
use crate::closing::{end_of_run, end_of_series, print_failures, print_trouble_before};
use crate::commands::compare::Sides;
use crate::exit::{Exit, exit_of_series};
use crate::flags::compare::FailOn;
use crate::flags::run::judgement::Trust;
use crate::invocation::Invocation;
use crate::publish::Reports;
use crate::session::{EndedRun, RanSeries, Session};
use crate::terminal::print_line;
use crate::web::keep_open;
use anyhow::Result;
use loadline_plan::{Body, Plan};
use loadline_report::ComparedFiles;
use loadline_runner::{Conducted, repeats};

/// Runs a plan, once or several times, and reports its result.
pub(crate) fn run(invocation: Invocation) -> Result<Exit> {
    let Invocation {
        plan,
        repeat,
        mut session,
        reports,
        regressions,
        trust,
    } = invocation;
    let runs = repeat.unwrap_or(1);
    let prepared = Prepared::new(&regressions, &plan, runs, &mut session)?;
    reports.prepare()?;
    if session.progress {
        prepared.print_detectable_changes(&plan, runs);
    }
    if session.progress && has_untold_json(&plan) {
        print_line(
            "The body looks like JSON, and no Content-Type says so: add -H 'Content-Type: \
             application/json' if the server needs it.",
        );
    }
    match repeat {
        None | Some(1) => run_once(&plan, &session, &reports, prepared, trust),
        Some(count) => run_repeatedly(&plan, count, &session, &reports, prepared, trust),
    }
}

fn run_once(
    plan: &Plan,
    session: &Session,
    reports: &Reports,
    prepared: Prepared,
    trust: Trust,
) -> Result<Exit> {
    let EndedRun {
        conducted: Conducted { result, trouble },
        workload,
        heat,
        page,
    } = session.run(plan, reports.needs())?;
    let sides = prepared.sides();
    let compared = compared(&sides, prepared.rules());
    let published = reports.publish(&result, &heat, compared.as_ref());
    let concluded = published.and_then(|()| Ok(workload.conclude(&result.summary)?));
    let trouble = print_trouble_before(concluded, trouble)?;
    let of_run = end_of_run(&result, trouble, trust)?;
    let exit = worse(of_run, prepared.end(&sides));
    prepared.keep(std::slice::from_ref(&result), exit)?;
    if exit == Exit::Good && !reports.uses_stdout() {
        print_failures(&result);
    }
    keep_open(page);
    Ok(exit)
}

/// Returns the sides in the form for reports.
fn compared<'a>(sides: &'a Result<Option<Sides>>, rules: &[FailOn]) -> Option<ComparedFiles<'a>> {
    let sides = sides.as_ref().ok()?.as_ref()?;
    Some(sides.compared(rules))
}

fn worse(one: Exit, other: Exit) -> Exit {
    match other.severity() > one.severity() {
        true => other,
        false => one,
    }
}

/// True if a request has JSON for its body, and no header that declares the type.
fn has_untold_json(plan: &Plan) -> bool {
    plan.requests.iter().any(|request| match &request.body {
        Body::Bytes(bytes) => {
            bytes.starts_with(b"{") && !request.headers.iter().any(|one| one.is("Content-Type"))
        }
        Body::None => false,
    })
}

fn run_repeatedly(
    plan: &Plan,
    count: u32,
    session: &Session,
    reports: &Reports,
    prepared: Prepared,
    trust: Trust,
) -> Result<Exit> {
    let RanSeries {
        mut series,
        heats,
        page,
    } = session.run_series(plan, repeats(plan, count), reports.needs())?;
    let sides = prepared.sides();
    let compared = compared(&sides, prepared.rules());
    let published = reports.publish_series(&series.runs, &heats, compared.as_ref());
    series.trouble = print_trouble_before(published, series.trouble.take())?;
    let of_runs = exit_of_series(&series.runs, trust);
    let results = series.runs.clone();
    let of_runs = end_of_series(series, of_runs, trust)?;
    let exit = worse(of_runs, prepared.end(&sides));
    prepared.keep(&results, exit)?;
    keep_open(page);
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{ListedRequest, RequestDefaults};

    #[test]
    fn json_without_a_content_type_is_noticed() {
        let plan = |body: &str, headers: &[&str]| {
            let headers = headers.iter().map(|line| line.parse().expect("a header"));
            let defaults = RequestDefaults {
                headers: headers.collect(),
                body: Body::Bytes(body.to_owned().into()),
                ..RequestDefaults::default()
            };
            let listed = ListedRequest::new("http://a/".parse().expect("a URL"));
            Plan {
                requests: vec![defaults.complete(listed)],
                ..Plan::default()
            }
        };
        assert!(has_untold_json(&plan("{\"a\":1}", &["Accept: a/b"])));
        assert!(!has_untold_json(&plan(
            "{}",
            &["content-type: application/json"]
        )));
        assert!(!has_untold_json(&plan("a=1", &[])));
    }
}
