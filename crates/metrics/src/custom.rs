//! Metrics that a script defines and counts by itself, of k6's four kinds.

mod recorder;
mod set;
mod sum;
mod trend;

pub use recorder::{CustomRecorder, MetricId, OtherKind};
pub use set::CustomMetrics;
pub use sum::ExactSum;
pub use trend::{EXACT, Trend, TrendParts};

/// The kind of a custom metric: the figures that are computed from its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// The distribution of the values.
    Trend,
    /// The sum of the values.
    Counter,
    /// The share of the values that are not zero.
    Rate,
    /// The last value.
    Gauge,
}

impl MetricKind {
    /// All kinds.
    pub const ALL: [MetricKind; 4] = [
        MetricKind::Trend,
        MetricKind::Counter,
        MetricKind::Rate,
        MetricKind::Gauge,
    ];

    /// Returns the kind's name in reports, saved runs and scripts.
    pub fn name(self) -> &'static str {
        match self {
            MetricKind::Trend => "trend",
            MetricKind::Counter => "counter",
            MetricKind::Rate => "rate",
            MetricKind::Gauge => "gauge",
        }
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<MetricKind> {
        let mut all = MetricKind::ALL.into_iter();
        all.find(|kind| kind.name() == name)
    }
}

/// The most characters of a metric's name.
const LONGEST_METRIC_NAME: usize = 128;

/// True if a text may be the name of a custom metric: as in k6 letters, digits and `_`, a letter or
/// `_` first, at most 128.
pub fn is_metric_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut chars = text.chars();
    chars.next().is_some_and(is_first)
        && chars.all(|c| is_first(c) || c.is_ascii_digit())
        && text.len() <= LONGEST_METRIC_NAME
}

/// The unit of a custom metric's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricUnit {
    /// Numbers without a unit.
    #[default]
    None,
    /// Times in milliseconds.
    Milliseconds,
    /// Sizes in bytes.
    Bytes,
}

impl MetricUnit {
    /// Returns the unit's name in reports, saved runs and scripts; empty for no unit.
    pub fn name(self) -> &'static str {
        match self {
            MetricUnit::None => "",
            MetricUnit::Milliseconds => "ms",
            MetricUnit::Bytes => "bytes",
        }
    }

    /// Returns the unit with this name.
    pub fn named(name: &str) -> Option<MetricUnit> {
        let all = [
            MetricUnit::None,
            MetricUnit::Milliseconds,
            MetricUnit::Bytes,
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }
}

/// A custom metric: its unit and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomMetric {
    /// The unit of the values. If workers define different units, the greater one.
    pub unit: MetricUnit,
    /// The aggregated values.
    pub values: Values,
}

/// The aggregated values of a custom metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// The distribution of a trend.
    Trend(Trend),
    /// The sum of a counter.
    Counter(Counter),
    /// The share of a rate.
    Rate(Rate),
    /// The last value of a gauge; `None` if none was set.
    Gauge(Option<Gauge>),
}

/// The values of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// The number of values that were added.
    pub count: u64,
    /// The sum of all values.
    pub sum: ExactSum,
    /// The sum of the values that were added in the measured part, not in the drain. The rate per
    /// second is computed from it.
    pub in_window: ExactSum,
}

/// The values of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// The number of values that were not zero, or true.
    pub nonzero: u64,
    /// The number of all values.
    pub count: u64,
}

impl Rate {
    /// Returns the share of values that were not zero; `None` without a value.
    pub fn share(&self) -> Option<f64> {
        (self.count > 0).then(|| self.nonzero as f64 / self.count as f64)
    }
}

/// The values of a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// The last value.
    pub last: f64,
    /// The time of the last value, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl CustomMetric {
    /// Creates a metric without a value.
    pub fn new(kind: MetricKind, unit: MetricUnit) -> CustomMetric {
        let values = match kind {
            MetricKind::Trend => Values::Trend(Trend::default()),
            MetricKind::Counter => Values::Counter(Counter::default()),
            MetricKind::Rate => Values::Rate(Rate::default()),
            MetricKind::Gauge => Values::Gauge(None),
        };
        CustomMetric { unit, values }
    }

    /// Returns the kind of the metric.
    pub fn kind(&self) -> MetricKind {
        match self.values {
            Values::Trend(_) => MetricKind::Trend,
            Values::Counter(_) => MetricKind::Counter,
            Values::Rate(_) => MetricKind::Rate,
            Values::Gauge(_) => MetricKind::Gauge,
        }
    }

    /// Returns the number of values; of a gauge 1 if it was set.
    pub fn count(&self) -> u64 {
        match &self.values {
            Values::Trend(trend) => trend.count(),
            Values::Counter(counter) => counter.count,
            Values::Rate(rate) => rate.count,
            Values::Gauge(gauge) => u64::from(gauge.is_some()),
        }
    }

    /// Adds the values of another metric without loss. Returns false, and adds nothing, if the
    /// other metric is of another kind.
    pub fn merge(&mut self, other: &CustomMetric) -> bool {
        match (&mut self.values, &other.values) {
            (Values::Trend(own), Values::Trend(other)) => own.merge(other),
            (Values::Counter(own), Values::Counter(other)) => own.merge(other),
            (Values::Rate(own), Values::Rate(other)) => own.merge(other),
            (Values::Gauge(own), Values::Gauge(other)) => merge_gauges(own, other),
            _ => return false,
        }
        self.unit = self.unit.max(other.unit);
        true
    }
}

impl Counter {
    fn merge(&mut self, other: &Counter) {
        self.count = self.count.saturating_add(other.count);
        self.sum.merge(other.sum);
        self.in_window.merge(other.in_window);
    }
}

impl Rate {
    fn merge(&mut self, other: &Rate) {
        self.count = self.count.saturating_add(other.count);
        self.nonzero = self.nonzero.saturating_add(other.nonzero);
    }
}

fn merge_gauges(own: &mut Option<Gauge>, other: &Option<Gauge>) {
    let (Some(gauge), Some(other)) = (&mut *own, other) else {
        *own = own.or(*other);
        return;
    };
    // Of two values of the same instant the greater one counts, so that the order of merging has no
    // effect.
    if (other.at_ns, other.last) > (gauge.at_ns, gauge.last) {
        (gauge.at_ns, gauge.last) = (other.at_ns, other.last);
    }
    gauge.min = gauge.min.min(other.min);
    gauge.max = gauge.max.max(other.max);
}
