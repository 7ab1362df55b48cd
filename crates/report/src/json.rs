//! The run as JSON, for programs: one object with the plan, the intervals and the summary.
//!
//! The schema is documented in `docs/guide/json.md` and, for validators, in
//! `docs/guide/schema/result.schema.json`. Times are microseconds as decimals down to the
//! nanosecond; what has no sample is `null`.

use crate::closed_loop::{ClosedLoop, Difference};
use crate::confidence::LEVEL;
use crate::{PERCENTILES, Warning, quantity, split, undecided, warnings, watch};
use loadline_findings::statistic_name;
use loadline_plan::{Shape, Statistic};
use loadline_record::watched::WatchHistory;
use loadline_record::{
    Bounded, Censored, Counts, Ended, Failures, Pattern, Quantiles, Row, Snapshot, Summary, Times,
    WINDOW_NS,
};
use loadline_stats::arrivals::Dispersion;
use loadline_units::rounding;
use loadline_verdict::{CheckResult, ConfidenceInterval, Finding, Quantity, RunResult, Validity};
use serde_json::{Map, Value, json};

/// The version of the schema. It rises when a program that reads the older one would be misled;
/// a new key alone does not raise it.
pub const SCHEMA: u64 = 2;

/// The run as one JSON object.
pub fn json(run: &RunResult) -> Value {
    let summary = &run.summary;
    json!({
        "schema": SCHEMA,
        "version": summary.version,
        "started_at": humantime::format_rfc3339_nanos(summary.started_at).to_string(),
        "started_monotonic_ns": summary.started_monotonic_ns,
        "plan": summary.plan,
        "long_bodies": summary.long_bodies,
        "environment": summary.environment,
        "intervals": intervals(summary),
        "summary": whole(run),
    })
}

fn intervals(summary: &Summary) -> Vec<Value> {
    let start_ns = summary.total.start_ns;
    summary
        .rows
        .iter()
        .map(|row| interval(row, &summary.watch, start_ns))
        .collect()
}

fn interval(row: &Row, watch: &WatchHistory, start_ns: u64) -> Value {
    let mut interval = Map::new();
    let from_start = |ns: u64| rounding::seconds(ns.saturating_sub(start_ns)).into();
    interval.insert("start_s".to_owned(), from_start(row.start_ns));
    interval.insert("end_s".to_owned(), from_start(row.end_ns));
    add_counts(
        &mut interval,
        &row.counts,
        row.end_ns.saturating_sub(row.start_ns),
    );
    interval.insert("response_time_us".to_owned(), quantiles(&row.response));
    interval.insert("service_time_us".to_owned(), quantiles(&row.service));
    if let Some(watch) = watch::interval_json(watch, row.end_ns) {
        interval.insert("watch".to_owned(), watch);
    }
    Value::Object(interval)
}

fn whole(run: &RunResult) -> Value {
    let summary = &run.summary;
    let mut whole = Map::new();
    whole.insert(
        "duration_s".to_owned(),
        rounding::seconds(summary.duration_ns).into(),
    );
    whole.insert(
        "drained_s".to_owned(),
        rounding::seconds(summary.drained_ns).into(),
    );
    whole.insert("complete".to_owned(), summary.complete.into());
    whole.insert("parts".to_owned(), summary.parts.into());
    add_ending(&mut whole, &summary.ended);
    if let Some(transient) = summary.transient {
        whole.insert("transient".to_owned(), json!(transient));
    }
    add_counts(&mut whole, &summary.total.counts, summary.rated_ns());
    whole.insert("unfinished".to_owned(), unfinished(summary));
    add_times(&mut whole, summary);
    add_confidence(&mut whole, run);
    if !summary.total.times.undelayed.is_empty() {
        whole.insert("own_delay".to_owned(), own_delay(run));
    }
    if let Some(found) = ClosedLoop::of(summary) {
        whole.insert("closed_loop".to_owned(), closed_loop(&found));
    }
    whole.insert("statuses".to_owned(), statuses(&summary.total));
    whole.insert("errors".to_owned(), errors(&summary.total));
    whole.insert("checks".to_owned(), run.checks.iter().map(check).collect());
    whole.insert("validity".to_owned(), validity_of(&run.validity));
    whole.insert("generator".to_owned(), generator(summary));
    whole.insert("warnings".to_owned(), warning_list(run));
    if let Some(every) = summary.plan.connection.kernel_timestamps {
        let split = kernel_timestamps(every.get(), &summary.total.times);
        whole.insert("kernel_timestamps".to_owned(), split);
    }
    if let Some(watch) = watch::summary_json(&summary.watch, summary.total.start_ns) {
        whole.insert("watch".to_owned(), watch);
    }
    Value::Object(whole)
}

fn add_ending(whole: &mut Map<String, Value>, ended: &Ended) {
    let (name, check) = match ended {
        Ended::Duration => ("duration", None),
        Ended::Requests => ("requests", None),
        Ended::Stages => ("stages", None),
        Ended::Precise => ("precise", None),
        Ended::Decided => ("decided", None),
        Ended::Interrupted => ("interrupted", None),
        Ended::Aborted(check) => ("aborted", Some(check.as_str())),
        Ended::Threw(_) => ("threw", None),
        Ended::Failed(_) => ("failed", None),
        Ended::Unknown => ("unknown", None),
    };
    whole.insert("ended".to_owned(), name.into());
    whole.insert("aborted_by".to_owned(), check.into());
}

fn add_counts(object: &mut Map<String, Value>, counts: &Counts, length_ns: u64) {
    let whole_numbers = [
        ("planned", counts.planned),
        ("sent", counts.sent),
        ("answered", counts.answered),
        ("completed", counts.completed),
        ("failed", counts.failed),
        ("in_flight", counts.in_flight),
        ("reconnects", counts.reconnects),
        ("surplus", counts.surplus),
        ("connections", counts.connections),
        ("bytes_in", counts.bytes_in),
        ("bytes_out", counts.bytes_out),
    ];
    object.extend(whole_numbers.map(|(name, count)| (name.to_owned(), count.into())));
    let rate = rounding::per_second(counts.completed, length_ns);
    object.insert("rate".to_owned(), rate.into());
}

fn unfinished(summary: &Summary) -> Value {
    let unfinished = &summary.unfinished;
    json!({
        "unsent": unfinished.unsent,
        "by_target": unfinished.by_target,
        "by_plan": unfinished.by_plan,
        "by_loadline": unfinished.by_loadline,
        "in_flight": unfinished.in_flight,
        "oldest_us": rounding::us(unfinished.oldest_ns as f64),
    })
}

fn add_times(whole: &mut Map<String, Value>, summary: &Summary) {
    let times = &summary.total.times;
    let named: [(&str, Censored<'_>); 10] = [
        ("response_time_us", summary.response()),
        ("service_time_us", summary.service()),
        ("blocked_us", (&times.blocked).into()),
        ("lateness_us", (&times.lateness).into()),
        ("resolve_us", (&times.resolve).into()),
        ("connect_us", (&times.connect).into()),
        ("tls_us", (&times.tls).into()),
        ("first_byte_us", (&times.first_byte).into()),
        ("rest_us", (&times.rest).into()),
        ("wakeup_us", (&times.wakeup).into()),
    ];
    let (of_exchange, rest) = named.split_at(4);
    let (phases, wakeup) = rest.split_at(5);
    let object = |named: &[(&str, Censored<'_>)]| -> Map<String, Value> {
        named
            .iter()
            .map(|(name, times)| ((*name).to_owned(), distribution(*times)))
            .collect()
    };
    whole.extend(object(of_exchange));
    whole.insert("phases".to_owned(), Value::Object(object(phases)));
    whole.extend(object(wakeup));
}

/// The response time without the delay that Loadline added, and the figures that are not the target's
/// alone.
fn own_delay(run: &RunResult) -> Value {
    let percentiles = PERCENTILES.map(Statistic::Percentile);
    let figures = percentiles
        .into_iter()
        .chain([Statistic::Mean, Statistic::Max]);
    let affected = figures.flat_map(|statistic| {
        let found = [
            ("own_delay", run.own_delay(statistic)),
            ("plan", run.plan_wait(statistic)),
        ];
        found.into_iter().filter_map(|(by, effect)| {
            let effect = effect?;
            Some(json!({
                "figure": statistic_name(effect.statistic),
                "by": by,
                "with_us": rounding::us(effect.with_ns),
                "without_us": rounding::us(effect.without_ns),
            }))
        })
    });
    json!({
        "response_time_without_us": distribution(&run.summary.total.times.undelayed),
        "affected": affected.collect::<Value>(),
    })
}

/// What a closed-loop tool would have shown of an open load.
fn closed_loop(found: &ClosedLoop<'_>) -> Value {
    let hides = match found.difference() {
        Difference::None => None,
        Difference::Lateness => Some("lateness"),
        Difference::Plan => Some("plan"),
        Difference::Stall => Some("stall"),
    };
    json!({
        "users": found.users,
        "omitted": found.times.omitted.len(),
        "waited": found.waited(),
        "hides": hides,
        "shown_us": distribution(&found.shown),
    })
}

/// Beside the percentiles of response and service time, their intervals and which of them are bounds.
fn add_confidence(whole: &mut Map<String, Value>, run: &RunResult) {
    let summary = &run.summary;
    let named = [
        (
            "response_time_us",
            summary.response(),
            response_intervals(run),
        ),
        ("service_time_us", summary.service(), service_intervals(run)),
    ];
    for (name, times, intervals) in named {
        let censored = censored(times);
        if let Some(Value::Object(object)) = whole.get_mut(name) {
            object.insert("confidence_intervals".to_owned(), intervals);
            object.extend(censored);
        }
    }
}

fn response_intervals(run: &RunResult) -> Value {
    confidence_intervals(|percentile| run.response_interval(percentile))
}

fn service_intervals(run: &RunResult) -> Value {
    confidence_intervals(|percentile| run.service_interval(percentile))
}

fn confidence_intervals(interval: impl Fn(f64) -> ConfidenceInterval) -> Value {
    let mut list = Map::new();
    list.insert("level".to_owned(), LEVEL.into());
    for percentile in PERCENTILES {
        let found = interval(percentile);
        list.insert("adjusted".to_owned(), found.adjusted.into());
        let end = |end: Option<Bounded>| end.map(|ns| rounding::us(ns.value() as f64));
        let ends = [("lower", found.lower_ns), ("upper", found.upper_ns)];
        let is_at_least = |end: &(_, Option<Bounded>)| end.1.is_some_and(Bounded::is_at_least);
        let at_least = ends.iter().filter(|end| is_at_least(end)).map(|end| end.0);
        let interval = json!({
            "lower": end(found.lower_ns),
            "upper": end(found.upper_ns),
            "at_least": at_least.collect::<Value>(),
            "independent": found.independent,
            "still_needed": found.still_needed,
        });
        list.insert(quantity::percentile(percentile), interval);
    }
    Value::Object(list)
}

/// How many requests had no answer and are counted with their ages, and which figures are lower bounds
/// for that.
fn censored(times: Censored<'_>) -> Map<String, Value> {
    let moments = [
        ("mean", times.mean_ns().is_at_least()),
        ("stdev", times.stdev_ns().is_at_least()),
        ("max", times.max_ns().is_at_least()),
    ];
    let moments = moments.map(|(name, is_bound)| (name.to_owned(), is_bound));
    let percentile = |p| (quantity::percentile(p), times.percentile(p).is_at_least());
    let all = moments.into_iter().chain(PERCENTILES.map(percentile));
    let bounds = all.filter(|(_, is_bound)| *is_bound && !times.times.is_empty());
    let mut object = Map::new();
    object.insert("unfinished".to_owned(), times.ages.len().into());
    let bounds = bounds.map(|(name, _)| name);
    object.insert("at_least".to_owned(), bounds.collect());
    object
}

fn distribution<'a>(times: impl Into<Censored<'a>>) -> Value {
    let all = times.into();
    let times = all.times;
    let us = |ns: f64| {
        if times.is_empty() {
            Value::Null
        } else {
            rounding::us(ns).into()
        }
    };
    let mut object = Map::new();
    object.insert("count".to_owned(), times.len().into());
    let moments = [
        ("mean", all.mean_ns().value()),
        ("stdev", all.stdev_ns().value()),
        ("min", times.min_ns() as f64),
        ("max", all.max_ns().value() as f64),
    ];
    object.extend(moments.map(|(name, ns)| (name.to_owned(), us(ns))));
    let percentile = |p| {
        (
            quantity::percentile(p),
            us(all.percentile(p).value() as f64),
        )
    };
    object.extend(PERCENTILES.map(percentile));
    Value::Object(object)
}

fn quantiles(quantiles: &Quantiles) -> Value {
    let timed = quantiles.max_ns > 0;
    let us = |ns: u64| {
        if timed {
            rounding::us(ns as f64).into()
        } else {
            Value::Null
        }
    };
    json!({
        "p50": us(quantiles.p50_ns),
        "p90": us(quantiles.p90_ns),
        "p99": us(quantiles.p99_ns),
        "max": us(quantiles.max_ns),
    })
}

fn statuses(total: &Snapshot) -> Value {
    total
        .statuses
        .iter()
        .map(|(status, count)| (status.to_string(), Value::from(*count)))
        .collect()
}

fn errors(total: &Snapshot) -> Value {
    let error =
        |failures: &Failures| json!({ "count": failures.count, "example": failures.example });
    total
        .errors
        .iter()
        .map(|(kind, failures)| (kind.name().to_owned(), error(failures)))
        .collect()
}

pub(crate) fn check(check: &CheckResult) -> Value {
    let (bound, unit) = quantity(check.bound);
    json!({
        "text": check.text,
        "outcome": check.outcome.name(),
        "why": undecided(check),
        "actual": check.actual.map(|actual| quantity(actual).0),
        "at_least": check.is_at_least,
        "bound": bound,
        "unit": unit,
        "samples": check.samples,
    })
}

/// The number, and the unit it is in.
fn quantity(quantity: Quantity) -> (Value, &'static str) {
    match quantity {
        Quantity::TimeNs(ns) => (rounding::us(ns).into(), "us"),
        Quantity::Share(share) => (share.into(), "share"),
        Quantity::Count(count) => (count.into(), "count"),
        Quantity::PerSecond(rate) => (rate.into(), "per_second"),
    }
}

/// How a run was judged, for its saved run: `validity`, `checks` and `confidence_intervals`, each as
/// in the JSON of the run.
pub fn judgement_json(run: &RunResult) -> Value {
    json!({
        "validity": validity_of(&run.validity),
        "checks": run.checks.iter().map(check).collect::<Value>(),
        "confidence_intervals": {
            "response_time_us": response_intervals(run),
            "service_time_us": service_intervals(run),
        },
    })
}

/// Whether the run may be believed, and why not.
pub(crate) fn validity_of(validity: &Validity) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "kind": finding.reason.name(),
            "grade": finding.grade.name(),
            "text": finding.reason.sentence(),
        })
    };
    json!({
        "grade": validity.grade().name(),
        "findings": validity.findings.iter().map(finding).collect::<Value>(),
    })
}

/// The exchanges that the kernel's clock split, and what a clock in user space makes of them.
fn kernel_timestamps(every: u32, times: &Times) -> Value {
    let mut object = Map::new();
    object.insert("every".to_owned(), every.into());
    let parts = split::parts(times).map(|(_, name, times)| (name.to_owned(), distribution(times)));
    object.extend(parts);
    object.insert("user_space_us".to_owned(), distribution(&times.split_user));
    let overstated = split::HELD.map(|percentile| {
        let ns = split::overstated_ns(times, percentile);
        let us = (!times.split_wire.is_empty()).then(|| rounding::us(ns as f64));
        (quantity::percentile(percentile), us.into())
    });
    let overstated: Map<String, Value> = overstated.into_iter().collect();
    object.insert("overstated_us".to_owned(), overstated.into());
    Value::Object(object)
}

/// What the generator did meanwhile.
fn generator(summary: &Summary) -> Value {
    let workers = summary.total.workers.iter().map(|(worker, times)| {
        json!({
            "worker": worker,
            "wall_s": rounding::seconds(times.wall_ns),
            "cpu": rounding::share(times.cpu_share()),
            "polled": rounding::share(times.polled_share()),
            "queued": rounding::share(times.queued_share()),
            "stood_still": rounding::share(times.still_share()),
            "turns_us": distribution(&times.turns),
            "answered": times.answered,
            "connections": times.connections,
            "bytes_in": times.bytes_in,
            "bytes_out": times.bytes_out,
            "cores": times.cores,
            "timer_slack_us": times.timer_slack_ns.map(|ns| rounding::us(ns as f64)),
        })
    });
    let mut generator = json!({
        "workers": workers.collect::<Value>(),
        "in_flight": in_flight(summary),
        "host": {
            "steal": rounding::share(summary.host.steal_share()),
            "retransmitted": rounding::share(summary.host.retransmitted_share()),
            "resets": summary.host.resets,
            "listen_overflows": summary.host.listen_overflows,
            "softnet_drops": summary.host.softnet_drops,
            "cpu_pressure": rounding::share(summary.host.cpu_pressure_share()),
        },
    });
    if summary.arrivals.requests > 0 {
        generator["arrivals"] = arrivals(&summary.arrivals, &summary.plan.load.shape);
    }
    generator
}

/// Requests in flight on average: until their answers were read, and as rate times service time
/// tell (J. D. C. Little, "A proof for the queuing formula L = λW", *Operations Research* 9 (1961)).
fn in_flight(summary: &Summary) -> Value {
    let service = &summary.total.times.service;
    let total_ns = service.mean_ns() * service.len() as f64;
    let mean = |total_ns: f64| total_ns / summary.duration_ns.max(1) as f64;
    let rounded = |number: f64| (number * 1e3).round() / 1e3;
    json!({
        "counted": rounded(mean(summary.total.counts.flight_ns as f64)),
        "by_littles_law": rounded(mean(total_ns)),
    })
}

/// In which pattern the requests of an open load were due and sent.
fn arrivals(pattern: &Pattern, shape: &Shape) -> Value {
    let found = |squares: f64| Dispersion::of_sums(pattern.windows, pattern.requests, squares);
    let rounded = |number: f64| (number * 1e3).round() / 1e3;
    let dispersion = |squares: f64| found(squares).map(|found| rounded(found.index));
    // Along stages the rate moves, and the arrivals vary with it.
    let is_poisson = matches!(shape, Shape::Rate { .. }) && shape.is_random();
    let of_poisson = found(pattern.sent_squares)
        .filter(|_| is_poisson)
        .map(|found| {
            let (lower, upper) = found.of_poisson(LEVEL);
            json!({ "lower": rounded(lower), "upper": rounded(upper), "level": LEVEL })
        });
    json!({
        "window_s": rounding::seconds(WINDOW_NS),
        "displaced": rounding::share(pattern.displaced_share()),
        "dispersion_due": dispersion(pattern.due_squares),
        "dispersion_sent": dispersion(pattern.sent_squares),
        "dispersion_of_poisson": of_poisson,
    })
}

fn warning_list(run: &RunResult) -> Value {
    let warning =
        |warning: &Warning| json!({ "kind": warning.name(), "text": warning.to_string() });
    warnings(run, &PERCENTILES).iter().map(warning).collect()
}

#[cfg(test)]
mod documents;
#[cfg(test)]
mod tests;
