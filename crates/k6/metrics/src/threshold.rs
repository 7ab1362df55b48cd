//! Thresholds: conditions on the measurements, with k6's grammar and error messages.
//!
//! The form is `<aggregation> <operator> <number>`, such as `p(95)<500`. A threshold is parsed and
//! checked against its metric's type before the run, and may be judged any number of times.

use crate::submetric::split;
use crate::{MetricType, Registry, Sink, SubmetricError, SubmetricSet, Totals, average};

/// A threshold as written in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdSource {
    /// The condition.
    pub expression: String,
    /// True if the run ends when it is crossed.
    pub abort_on_fail: bool,
    /// The time from the run's begin in which it does not end the run, in nanoseconds, if set.
    pub delay_abort_eval_ns: Option<u64>,
}

/// The reason why a threshold is invalid. The command ends with exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The name of the metric is invalid.
    #[error("unable to validate threshold expressions; reason: parsing metric name failed, {0}")]
    Name(#[from] SubmetricError),
    /// The metric does not exist.
    #[error("invalid threshold defined on {0}; reason: no metric name {0:?} found")]
    Unknown(String),
    /// The operator is missing, or one of its sides.
    #[error("failed parsing threshold expression {0:?}; reason: malformed threshold expression")]
    Malformed(String),
    /// The aggregation is unknown.
    #[error(
        "failed parsing threshold expression's {0:?} left hand side; reason: failed parsing \
         method from expression"
    )]
    Aggregation(String),
    /// The number is invalid.
    #[error(
        "failed parsing threshold expresion's {expression:?} right hand side; reason: \
         strconv.ParseFloat: parsing {number:?}: invalid syntax"
    )]
    Number {
        /// The condition.
        expression: String,
        /// The text in place of the number.
        number: String,
    },
    /// The aggregation is not available for metrics of this type.
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

/// The value to compare with the number.
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

/// The operators, longer ones first: `<=` begins with `<`.
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
    /// The text of the aggregation, such as `p(95)`.
    label: String,
    aggregation: Aggregation,
    operator: Operator,
    number: f64,
}

/// The result of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The name of the metric or submetric.
    pub metric: String,
    /// The condition, as written in the script.
    pub expression: String,
    /// The text of the aggregation, such as `p(95)`.
    pub label: String,
    /// The compared value; `None` if there is none.
    pub value: Option<f64>,
    /// The bound that the value was compared with.
    pub bound: f64,
    /// The number of values of the metric.
    pub samples: u64,
    /// True if the condition holds.
    pub is_ok: bool,
    /// True if it ends the run now.
    pub aborts: bool,
}

/// The thresholds of a run, by the name of their metric.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    of_metrics: Vec<OfMetric>,
}

#[derive(Clone, Debug)]
struct OfMetric {
    /// The name as written in the script, without spaces around the tags.
    name: String,
    kind: MetricType,
    thresholds: Vec<Threshold>,
}

impl Thresholds {
    /// Parses the thresholds of a script, by metric.
    ///
    /// # Errors
    /// If a metric does not exist or a condition is invalid.
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

    /// Returns the submetrics that the thresholds name, and the one that always exists.
    ///
    /// # Errors
    /// Never for thresholds that were parsed with this registry.
    pub fn submetrics(&self, registry: &Registry) -> Result<SubmetricSet, SubmetricError> {
        let names = self.of_metrics.iter().map(|metric| metric.name.as_str());
        SubmetricSet::new(names, registry)
    }

    /// Returns the names of the metrics that have thresholds, in their order.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.of_metrics.iter().map(|metric| metric.name.as_str())
    }

    /// Returns the thresholds of the metric with this name, as written in the script.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ThresholdSource> {
        let metrics = self.of_metrics.iter();
        let own = metrics.filter(move |metric| metric.name == name);
        let own = own.flat_map(|metric| &metric.thresholds);
        own.map(|threshold| &threshold.source)
    }

    /// True if there is no threshold.
    pub fn is_empty(&self) -> bool {
        self.of_metrics.is_empty()
    }

    /// Judges the thresholds while the run lasts, this many nanoseconds after its begin; metrics
    /// without a value are skipped.
    pub fn evaluate(&self, totals: &Totals, elapsed_ns: u64) -> Vec<Outcome> {
        self.judge(totals, elapsed_ns, false)
    }

    /// Judges the thresholds at the end of a run that lasted this many nanoseconds.
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

impl Outcome {
    /// Returns the condition with its metric.
    pub fn condition(&self) -> String {
        format!("{}: {}", self.metric, self.expression)
    }
}

/// Returns k6's log message about crossed thresholds; `None` if no threshold was crossed.
pub fn crossed(outcomes: &[Outcome]) -> Option<String> {
    let names = crossed_metrics(outcomes)?;
    Some(format!("thresholds on metrics '{names}' have been crossed"))
}

/// Returns k6's log message about thresholds that end a run; `None` if no threshold does.
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
    /// Returns the value of the aggregation; 0 if the sink's type does not have it, which parsing
    /// refuses.
    pub(crate) fn of(self, sink: &Sink, elapsed_ns: u64) -> f64 {
        match (self, sink) {
            (Aggregation::Count, Sink::Counter(counter)) => counter.count,
            (Aggregation::Rate, Sink::Counter(counter)) => per_second(counter.count, elapsed_ns),
            (Aggregation::Value, Sink::Gauge(gauge)) => gauge.value,
            (Aggregation::Rate, Sink::Rate(rate)) => rate.share(),
            (_, Sink::Trend(trend)) => match self {
                Aggregation::Avg => average(trend),
                Aggregation::Min => trend.min().unwrap_or(0.0),
                Aggregation::Max => trend.max().unwrap_or(0.0),
                Aggregation::Med => trend.interpolated(&[0.5])[0],
                Aggregation::Percentile(of_100) => trend.interpolated(&[of_100 / 100.0])[0],
                Aggregation::Count => trend.count() as f64,
                Aggregation::Rate | Aggregation::Value => 0.0,
            },
            _ => 0.0,
        }
    }

    /// Parses an aggregation such as `p(95)`.
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

/// Returns a count as a rate per second; 0 if no time has passed.
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
    // This also checks the tags.
    SubmetricSet::new([name.as_str()], registry).map_err(|error| match error {
        SubmetricError::Unknown(_) => unknown(),
        SubmetricError::Brace(_) | SubmetricError::Tag(_) => ThresholdError::Name(error),
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

/// Returns the name without spaces around its tags.
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
