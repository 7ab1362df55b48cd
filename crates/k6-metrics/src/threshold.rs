//! Thresholds: conditions on what was measured, in k6's grammar, with k6's words for what is wrong.
//!
//! `<aggregation> <operator> <number>`, as `p(95)<500`. A threshold is read and checked against its
//! metric's type before the run, and judged as often as the caller likes.

use crate::submetric::split;
use crate::{MetricType, Registry, Sink, SubmetricError, SubmetricSet, Totals};

/// A threshold as a script states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdSource {
    /// The condition.
    pub expression: String,
    /// Whether the run ends when it is crossed.
    pub abort_on_fail: bool,
    /// For so many nanoseconds from the run's begin it ends nothing, if that is said.
    pub delay_abort_eval_ns: Option<u64>,
}

/// Why a threshold is none. The command ends with exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The name of the metric cannot be read.
    #[error("unable to validate threshold expressions; reason: parsing metric name failed, {0}")]
    Name(#[from] SubmetricError),
    /// There is no such metric.
    #[error("invalid threshold defined on {0}; reason: no metric name {0:?} found")]
    Unknown(String),
    /// There is no operator, or nothing beside it.
    #[error("failed parsing threshold expression {0:?}; reason: malformed threshold expression")]
    Malformed(String),
    /// The aggregation is none.
    #[error(
        "failed parsing threshold expression's {0:?} left hand side; reason: failed parsing \
         method from expression"
    )]
    Aggregation(String),
    /// The number is none.
    #[error(
        "failed parsing threshold expresion's {expression:?} right hand side; reason: \
         strconv.ParseFloat: parsing {number:?}: invalid syntax"
    )]
    Number {
        /// The condition.
        expression: String,
        /// What stands where the number should.
        number: String,
    },
    /// Metrics of that type have no such aggregation.
    #[error(
        "invalid threshold {expression:?} applied on metric {metric}; reason: unsupported \
         aggregation method {method} on metric of type {}. supported aggregation methods for this \
         metric are: {}", kind.name(), supported(*kind)
    )]
    Unsupported {
        /// The condition.
        expression: String,
        /// The metric's name.
        metric: String,
        /// The aggregation.
        method: String,
        /// The metric's type.
        kind: MetricType,
    },
}

fn supported(kind: MetricType) -> &'static str {
    match kind {
        MetricType::Counter => "count, rate",
        MetricType::Gauge => "value",
        MetricType::Rate => "rate",
        MetricType::Trend => "avg, min, max, med, p",
    }
}

/// What is compared with the number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aggregation {
    Count,
    Rate,
    Value,
    Avg,
    Min,
    Med,
    Max,
    /// A percentile, from 0 to 100.
    Percentile(f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// Longer ones first: `<=` begins with `<`.
const OPERATORS: [(&str, Operator); 7] = [
    ("===", Operator::Equal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

#[derive(Clone, Debug)]
struct Threshold {
    source: ThresholdSource,
    /// The aggregation's text, as `p(95)`.
    label: String,
    aggregation: Aggregation,
    operator: Operator,
    number: f64,
}

/// What became of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The name of the metric or submetric.
    pub metric: String,
    /// The condition, as the script states it.
    pub expression: String,
    /// The aggregation's text, as `p(95)`.
    pub label: String,
    /// The value that was compared; `None` where there is none.
    pub value: Option<f64>,
    /// What it was compared with.
    pub bound: f64,
    /// How many values its metric has.
    pub samples: u64,
    /// Whether the condition holds.
    pub is_ok: bool,
    /// Whether the run is to end for it now.
    pub aborts: bool,
}

/// The thresholds of a run, by the name of their metric.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    of_metrics: Vec<OfMetric>,
}

#[derive(Clone, Debug)]
struct OfMetric {
    /// As the script has it, with spaces around the tags left out.
    name: String,
    kind: MetricType,
    thresholds: Vec<Threshold>,
}

impl Thresholds {
    /// Reads the thresholds of a script, by metric.
    ///
    /// # Errors
    /// If a metric is not there or a condition is none.
    pub fn new(
        sources: impl IntoIterator<Item = (String, Vec<ThresholdSource>)>,
        registry: &Registry,
    ) -> Result<Thresholds, ThresholdError> {
        let read = |(name, sources)| of_metric(name, sources, registry);
        let mut of_metrics: Vec<OfMetric> =
            sources.into_iter().map(read).collect::<Result<_, _>>()?;
        of_metrics.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Thresholds { of_metrics })
    }

    /// The submetrics that they name, and the one that is always there.
    ///
    /// # Errors
    /// None for thresholds that were read against this registry.
    pub fn submetrics(&self, registry: &Registry) -> Result<SubmetricSet, SubmetricError> {
        let names = self.of_metrics.iter().map(|metric| metric.name.as_str());
        SubmetricSet::new(names, registry)
    }

    /// The names of the metrics that have thresholds, in their order.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.of_metrics.iter().map(|metric| metric.name.as_str())
    }

    /// Those on the metric of this name, as the script states them.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ThresholdSource> {
        let metrics = self.of_metrics.iter();
        let own = metrics.filter(move |metric| metric.name == name);
        let own = own.flat_map(|metric| &metric.thresholds);
        own.map(|threshold| &threshold.source)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of_metrics.is_empty()
    }

    /// Judges them while the run lasts, so many nanoseconds after its begin: metrics without a
    /// value are left out.
    pub fn evaluate(&self, totals: &Totals, elapsed_ns: u64) -> Vec<Outcome> {
        self.judge(totals, elapsed_ns, false)
    }

    /// Judges them at the end of a run that lasted so many nanoseconds.
    pub fn conclude(&self, totals: &Totals, elapsed_ns: u64) -> Vec<Outcome> {
        self.judge(totals, elapsed_ns, true)
    }

    fn judge(&self, totals: &Totals, elapsed_ns: u64, is_end: bool) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for metric in &self.of_metrics {
            let found = totals.by_name(&metric.name);
            if found.is_none() && !is_end {
                continue;
            }
            let empty = Sink::new(metric.kind);
            let sink = found.unwrap_or(&empty);
            let judged = metric.thresholds.iter();
            outcomes.extend(judged.map(|threshold| Outcome {
                metric: metric.name.clone(),
                ..threshold.judge(sink, elapsed_ns)
            }));
        }
        outcomes
    }
}

/// What k6 logs when thresholds were crossed; `None` if none was.
pub fn crossed(outcomes: &[Outcome]) -> Option<String> {
    let names = crossed_metrics(outcomes)?;
    Some(format!("thresholds on metrics '{names}' have been crossed"))
}

/// What k6 logs when thresholds end a run; `None` if none does.
pub fn aborting(outcomes: &[Outcome]) -> Option<String> {
    outcomes.iter().find(|outcome| outcome.aborts)?;
    let names = crossed_metrics(outcomes)?;
    Some(format!(
        "thresholds on metrics '{names}' were crossed; at least one has abortOnFail enabled, \
         stopping test prematurely"
    ))
}

fn crossed_metrics(outcomes: &[Outcome]) -> Option<String> {
    let failed = outcomes.iter().filter(|outcome| !outcome.is_ok);
    let mut names: Vec<&str> = failed.map(|outcome| outcome.metric.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

impl Threshold {
    fn judge(&self, sink: &Sink, elapsed_ns: u64) -> Outcome {
        let value = self.aggregation.of(sink, elapsed_ns);
        let is_empty_rate = matches!(sink, Sink::Rate(rate) if rate.total == 0);
        let is_ok = is_empty_rate || self.operator.holds(value, self.number);
        let is_due = elapsed_ns >= self.source.delay_abort_eval_ns.unwrap_or_default();
        Outcome {
            metric: String::new(),
            expression: self.source.expression.clone(),
            label: self.label.clone(),
            value: Some(value),
            bound: self.number,
            samples: sink.values(),
            is_ok,
            aborts: !is_ok && self.source.abort_on_fail && is_due,
        }
    }
}

impl Aggregation {
    /// Its value; 0 where the sink's type has no such one, which reading refuses.
    pub(crate) fn of(self, sink: &Sink, elapsed_ns: u64) -> f64 {
        match (self, sink) {
            (Aggregation::Count, Sink::Counter(counter)) => counter.count,
            (Aggregation::Rate, Sink::Counter(counter)) => per_second(counter.count, elapsed_ns),
            (Aggregation::Value, Sink::Gauge(gauge)) => gauge.value,
            (Aggregation::Rate, Sink::Rate(rate)) => rate.share(),
            (_, Sink::Trend(trend)) => match self {
                Aggregation::Avg => trend.mean(),
                Aggregation::Min => trend.min(),
                Aggregation::Max => trend.max(),
                Aggregation::Med => trend.percentiles(&[0.5])[0],
                Aggregation::Percentile(of_100) => trend.percentiles(&[of_100 / 100.0])[0],
                Aggregation::Count => trend.count() as f64,
                Aggregation::Rate | Aggregation::Value => 0.0,
            },
            _ => 0.0,
        }
    }

    /// The aggregation that a text like `p(95)` names.
    pub(crate) fn parse(text: &str) -> Option<Aggregation> {
        Some(match text {
            "count" => Aggregation::Count,
            "rate" => Aggregation::Rate,
            "value" => Aggregation::Value,
            "avg" => Aggregation::Avg,
            "min" => Aggregation::Min,
            "med" => Aggregation::Med,
            "max" => Aggregation::Max,
            _ => {
                let number = text.strip_prefix("p(")?.strip_suffix(')')?;
                Aggregation::Percentile(number.trim().parse().ok()?)
            }
        })
    }

    fn is_of(self, kind: MetricType) -> bool {
        use Aggregation::{Avg, Count, Max, Med, Min, Percentile, Rate, Value};
        match kind {
            MetricType::Counter => matches!(self, Count | Rate),
            MetricType::Gauge => self == Value,
            MetricType::Rate => self == Rate,
            MetricType::Trend => matches!(self, Avg | Min | Med | Max | Percentile(_)),
        }
    }
}

/// So many in this time, as a rate; 0 in no time.
pub(crate) fn per_second(count: f64, elapsed_ns: u64) -> f64 {
    match elapsed_ns {
        0 => 0.0,
        _ => count / (elapsed_ns as f64 / 1e9),
    }
}

impl Operator {
    fn holds(self, value: f64, number: f64) -> bool {
        match self {
            Operator::Less => value < number,
            Operator::LessOrEqual => value <= number,
            Operator::Greater => value > number,
            Operator::GreaterOrEqual => value >= number,
            Operator::Equal => value == number,
            Operator::NotEqual => value != number,
        }
    }
}

fn of_metric(
    name: String,
    sources: Vec<ThresholdSource>,
    registry: &Registry,
) -> Result<OfMetric, ThresholdError> {
    let parsed: Vec<_> = sources.into_iter().map(parse).collect::<Result<_, _>>()?;
    let (metric, _) = split(&name)?;
    let unknown = || ThresholdError::Unknown(name.clone());
    // Reads the tags as well.
    SubmetricSet::new([name.as_str()], registry).map_err(|error| match error {
        SubmetricError::Unknown(_) => unknown(),
        other => ThresholdError::Name(other),
    })?;
    let known = registry
        .all()
        .into_iter()
        .find(|known| known.name == metric);
    let kind = known.ok_or_else(unknown)?.kind;
    for threshold in &parsed {
        check_kind(threshold, &name, kind)?;
    }
    Ok(OfMetric {
        name: trimmed(&name)?,
        kind,
        thresholds: parsed,
    })
}

/// The name without spaces around its tags.
fn trimmed(name: &str) -> Result<String, SubmetricError> {
    Ok(match split(name)? {
        (metric, Some(suffix)) => format!("{metric}{{{}}}", suffix.trim()),
        (metric, None) => metric.to_owned(),
    })
}

fn check_kind(threshold: &Threshold, name: &str, kind: MetricType) -> Result<(), ThresholdError> {
    if threshold.aggregation.is_of(kind) {
        return Ok(());
    }
    let method = threshold.label.split('(').next().unwrap_or_default();
    Err(ThresholdError::Unsupported {
        expression: threshold.source.expression.clone(),
        metric: name.to_owned(),
        method: method.to_owned(),
        kind,
    })
}

fn parse(source: ThresholdSource) -> Result<Threshold, ThresholdError> {
    let expression = source.expression.clone();
    let malformed = || ThresholdError::Malformed(expression.clone());
    let at = expression
        .find(['<', '>', '=', '!'])
        .ok_or_else(malformed)?;
    let (label, rest) = (expression[..at].trim(), &expression[at..]);
    let operators = OPERATORS.iter();
    let found = operators.filter_map(|(text, it)| Some((*it, rest.strip_prefix(text)?)));
    let (operator, number) = found.into_iter().next().ok_or_else(malformed)?;
    let number = number.trim();
    if label.is_empty() || number.is_empty() {
        return Err(malformed());
    }
    let no_aggregation = || ThresholdError::Aggregation(expression.clone());
    let aggregation = Aggregation::parse(label).ok_or_else(no_aggregation)?;
    let no_number = |_| ThresholdError::Number {
        expression: expression.clone(),
        number: number.to_owned(),
    };
    Ok(Threshold {
        label: label.to_owned(),
        aggregation,
        operator,
        number: number.parse().map_err(no_number)?,
        source,
    })
}

#[cfg(test)]
mod tests;
