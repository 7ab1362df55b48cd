//! Figures that are not the target's alone: they are marked, and printed again without the effect.

use crate::percentiles;
use loadline_findings::statistic_name;
use loadline_plan::Statistic;
use loadline_record::Summary;
use loadline_units as units;
use loadline_verdict::{Effect, RunResult};

/// Much of the figure is delay that Loadline added.
const OWN: &str = "*";
/// Much of it is the wait for one of the connections that the plan allows.
const PLAN: &str = "+";

/// Returns the marks after the rows of a table of these percentiles, the mean, the standard
/// deviation, the least and the largest; empty for figures that are the target's.
pub(crate) fn marks(run: &RunResult, percentiles: &[f64]) -> Vec<&'static str> {
    let mark = |statistic: Statistic| match () {
        () if is_missing(&run.summary, statistic) => "",
        () if run.own_delay(statistic).is_some() => OWN,
        () if run.plan_wait(statistic).is_some() => PLAN,
        () => "",
    };
    rows(percentiles).map(mark).collect()
}

fn rows(percentiles: &[f64]) -> impl Iterator<Item = Statistic> + '_ {
    let moments = [
        Statistic::Mean,
        Statistic::Stdev,
        Statistic::Min,
        Statistic::Max,
    ];
    let percentiles = percentiles.iter().copied().map(Statistic::Percentile);
    percentiles.chain(moments)
}

/// Returns the meaning of the marks, with the figures without the effect.
pub(crate) fn notes(run: &RunResult, percentiles: &[f64]) -> Vec<String> {
    let own = effects_text(run, percentiles, RunResult::own_delay);
    let plan = effects_text(run, percentiles, |run, statistic| {
        run.plan_wait(statistic)
            .filter(|_| run.own_delay(statistic).is_none())
    });
    let own = own.map(|text| {
        format!("{OWN} A large part of it is delay added by Loadline: without this delay {text}.")
    });
    let plan = plan.map(|text| {
        format!(
            "{PLAN} A large part of it is the wait for one of the {} that the plan allows: \
             without that {text}.",
            units::counted(run.summary.plan.load.max_users.into(), "connection"),
        )
    });
    own.into_iter().chain(plan).collect()
}

/// Returns the note beside a figure in a table with room for it.
pub(crate) fn without_delay(run: &RunResult, statistic: Statistic) -> Option<String> {
    let own = run.own_delay(statistic).map(|effect| {
        let without = units::time(effect.without_ns);
        format!("{without} without Loadline's own delay")
    });
    own.or_else(|| {
        let without = units::time(run.plan_wait(statistic)?.without_ns);
        Some(format!("{without} without the wait for a connection"))
    })
}

fn effects_text(
    run: &RunResult,
    percentiles: &[f64],
    effect: impl Fn(&RunResult, Statistic) -> Option<Effect>,
) -> Option<String> {
    let shown = rows(percentiles).filter(|statistic| !is_missing(&run.summary, *statistic));
    let effects = shown.filter_map(|statistic| effect(run, statistic));
    let texts: Vec<String> = effects
        .map(|effect| {
            let without = units::time(effect.without_ns);
            format!("{} {without}", statistic_name(effect.statistic))
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// True if there are too few samples to show this figure.
fn is_missing(summary: &Summary, statistic: Statistic) -> bool {
    match statistic {
        Statistic::Percentile(percentile) => {
            percentiles::missing(summary.response(), percentile) > 0
        }
        Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Stdev => false,
    }
}
