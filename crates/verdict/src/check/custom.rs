//! The decision on a check of a metric that a script counts by itself.

use super::rule::Ruling;
use super::{CheckOutcome, Condition, Observed, WhyUndecided};
use crate::Quantity;
use crate::comparison::CONFIDENCE;
use loadline_metrics::{CustomMetric, Key, Trend, Values};
use loadline_plan::{Check, Comparison, CustomFigure};
use loadline_record::{Bounded, Snapshot};
use loadline_stats::least_samples;
use loadline_stats::slo::{Proof, proof};
use std::time::Duration;

/// The ruling on a figure of a custom metric, and of how many values that is.
pub(super) fn rule(
    check: &Check,
    figure: CustomFigure,
    condition: Condition,
    observed: &Observed<'_>,
) -> (Ruling, u64) {
    let Some(metric) = looked_at(check, observed.total) else {
        return (missing(), 0);
    };
    let samples = metric.count();
    let few = match (&figure, &metric.values) {
        (CustomFigure::Percentile(percentile), Values::Trend(trend)) => {
            rule_on_few(trend, *percentile, condition)
        }
        _ => None,
    };
    let ruling = few.unwrap_or_else(|| match value(&metric, figure, observed.duration) {
        Ok(number) => Ruling::plain(condition, number.map(|number| like(condition, number))),
        Err(NoSuchFigure) => missing(),
    });
    (ruling, samples)
}

/// All metrics of the name and the tags together.
fn looked_at(check: &Check, total: &Snapshot) -> Option<CustomMetric> {
    let is_meant = |key: &Key| {
        let has_tag = |(tag, value): (&String, &String)| key.tags().any(|own| own == (tag, value));
        Some(key.name()) == check.custom.as_deref() && check.tags.iter().all(has_tag)
    };
    let mut meant = total.metrics.iter().filter(|(key, _)| is_meant(key));
    let mut sum = meant.next()?.1.clone();
    for (_, metric) in meant {
        sum.merge(metric);
    }
    Some(sum)
}

fn missing() -> Ruling {
    Ruling {
        outcome: CheckOutcome::Undecided,
        undecided: Some(WhyUndecided::NoMetric),
        actual: None,
    }
}

/// The kind of metric has no such figure.
struct NoSuchFigure;

/// A figure of a metric; nothing where it has no value.
fn value(
    metric: &CustomMetric,
    figure: CustomFigure,
    window: Duration,
) -> Result<Option<f64>, NoSuchFigure> {
    let seconds = window.as_secs_f64();
    Ok(match (figure, &metric.values) {
        (CustomFigure::Count, Values::Trend(_) | Values::Counter(_) | Values::Rate(_)) => {
            Some(metric.count() as f64)
        }
        (CustomFigure::Sum, Values::Counter(counter)) => Some(counter.sum.value()),
        (CustomFigure::Rate, Values::Counter(counter)) => {
            (seconds > 0.0).then(|| counter.in_window.value() / seconds)
        }
        (CustomFigure::Share, Values::Rate(rate)) => rate.share(),
        (CustomFigure::Last, Values::Gauge(gauge)) => gauge.map(|gauge| gauge.last),
        (CustomFigure::Min, Values::Gauge(gauge)) => gauge.map(|gauge| gauge.min),
        (CustomFigure::Max, Values::Gauge(gauge)) => gauge.map(|gauge| gauge.max),
        (CustomFigure::Min, Values::Trend(trend)) => trend.min(),
        (CustomFigure::Max, Values::Trend(trend)) => trend.max(),
        (CustomFigure::Mean, Values::Trend(trend)) => trend.mean(),
        (CustomFigure::Percentile(percentile), Values::Trend(trend)) => {
            trend.percentile(percentile)
        }
        _ => return Err(NoSuchFigure),
    })
}

/// The number in the unit of the bound.
fn like(condition: Condition, number: f64) -> Quantity {
    match condition.bound {
        Quantity::Share(_) => Quantity::Share(number),
        Quantity::TimeNs(_) | Quantity::Count(_) | Quantity::PerSecond(_) | Quantity::Number(_) => {
            Quantity::Number(number)
        }
    }
}

/// The ruling on a percentile of fewer values than it takes; `None` if there are enough.
fn rule_on_few(trend: &Trend, percentile: f64, condition: Condition) -> Option<Ruling> {
    let (Quantity::Number(bound) | Quantity::Share(bound)) = condition.bound else {
        return None;
    };
    let quantile = percentile / 100.0;
    let needed = least_samples(quantile, CONFIDENCE);
    if percentile >= 100.0 || trend.count() >= needed {
        return None;
    }
    let actual = Bounded::Exactly(like(condition, trend.percentile(percentile)?));
    let beyond = trend.beyond(bound);
    let is_upper = matches!(
        condition.comparison,
        Comparison::Less | Comparison::LessOrEqual
    );
    let (outcome, undecided) = match proof(beyond, trend.count(), quantile, CONFIDENCE) {
        Proof::Open => (
            CheckOutcome::Undecided,
            Some(WhyUndecided::FewSamples(needed)),
        ),
        Proof::Passed if is_upper => (CheckOutcome::Passed, None),
        Proof::Failed if !is_upper => (CheckOutcome::Passed, None),
        Proof::Passed | Proof::Failed => (CheckOutcome::Failed, None),
    };
    Some(Ruling {
        outcome,
        undecided,
        actual: Some(actual),
    })
}

#[cfg(test)]
mod tests {
    use crate::{CheckOutcome, CheckResult, Observed, WhyUndecided, evaluate};
    use loadline_metrics::{CustomRecorder, Key, MetricKind, MetricUnit};
    use loadline_record::Snapshot;
    use std::time::Duration;

    /// A run of 10 s with a metric of each kind, the trend of so many values.
    fn evaluated(check: &str, values: u32) -> CheckResult {
        let mut recorder = CustomRecorder::new(10);
        let mut of = |name: &str, size: &str, kind| {
            let tags = [("size".to_owned(), size.to_owned())].into();
            let key = Key::tagged(name, tags).unwrap();
            recorder.define(&key, kind, MetricUnit::None).unwrap()
        };
        let (hits, misses) = ("hits", "logins");
        let small = of(hits, "small", MetricKind::Rate);
        let big = of(hits, "big", MetricKind::Rate);
        let logins = of(misses, "any", MetricKind::Counter);
        let queue = of("queue", "any", MetricKind::Gauge);
        let payload = of("payload", "any", MetricKind::Trend);
        for value in [1.0, 1.0, 1.0, 0.0] {
            recorder.add(small, value, 1);
        }
        recorder.add(big, 0.0, 1);
        recorder.add(logins, 50.0, 1);
        recorder.add(queue, 9.0, 1);
        recorder.add(queue, 4.0, 2);
        for value in 1..=values {
            recorder.add(payload, f64::from(value), 1);
        }
        let mut total = Snapshot::empty(0);
        total.metrics.merge(&recorder.take());
        let observed = Observed::of_part(&total, Duration::from_secs(10));
        evaluate(&check.parse().unwrap(), &observed)
    }

    #[test]
    fn each_kind_has_its_figures() {
        for passing in [
            "metric:hits.share>=60%",
            "metric:hits.share{size:small}>=75%",
            "metric:hits.share<0.61",
            "metric:logins.sum>=50",
            "metric:logins.rate<=5",
            "metric:logins.count<2",
            "metric:queue.last<=4",
            "metric:queue.max>=9",
            "metric:payload.p50<=505",
            "metric:payload.mean<=500.5",
            "metric:payload.min<2",
        ] {
            assert!(evaluated(passing, 1_000).passed(), "{passing}");
        }
        for failing in ["metric:hits.share>60%", "metric:payload.p50>505"] {
            assert!(evaluated(failing, 1_000).failed(), "{failing}");
        }
    }

    #[test]
    fn what_no_script_counts_is_not_known() {
        for check in [
            "metric:unknown.sum<1",
            "metric:queue.p99<1",
            "metric:hits.share{size:none}<1",
        ] {
            let found = evaluated(check, 10);
            assert_eq!(found.undecided, Some(WhyUndecided::NoMetric), "{check}");
        }
    }

    #[test]
    fn silence_is_no_success() {
        let found = evaluated("metric:payload.p99<50", 0);
        assert_eq!((found.outcome, found.actual), (CheckOutcome::Failed, None));
    }

    #[test]
    fn few_values_prove_no_percentile_but_may_break_it() {
        let few = evaluated("metric:payload.p99<50", 20);
        assert!(matches!(few.undecided, Some(WhyUndecided::FewSamples(_))));
        assert!(evaluated("metric:payload.p99<5", 20).failed());
        assert!(evaluated("metric:payload.p99<5000", 1_000).passed());
    }
}
