//! Metrics that a script defines and counts by itself, in k6's four kinds.

mod recorder;
mod set;
mod sum;
mod trend;

pub use recorder::{CustomRecorder, MetricId, OtherKind};
pub use set::CustomMetrics;
pub use sum::ExactSum;
pub use trend::{Trend, TrendParts};

/// What is made of the values of a custom metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricKind {
    /// Their distribution.
    Trend,
    /// Their sum.
    Counter,
    /// The share of those that are not zero.
    Rate,
    /// The last of them.
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

    /// Its word in reports, saved runs and scripts.
    pub fn name(self) -> &'static str {
        match self {
            MetricKind::Trend => "trend",
            MetricKind::Counter => "counter",
            MetricKind::Rate => "rate",
            MetricKind::Gauge => "gauge",
        }
    }

    /// The kind of this word.
    pub fn named(name: &str) -> Option<MetricKind> {
        let mut all = MetricKind::ALL.into_iter();
        all.find(|kind| kind.name() == name)
    }
}

/// The most characters of a metric's name.
const LONGEST_METRIC_NAME: usize = 128;

/// Whether a text may be the name of a custom metric: as in k6 letters, digits and `_`, a letter or
/// `_` first, at most 128.
pub fn is_metric_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut chars = text.chars();
    chars.next().is_some_and(is_first)
        && chars.all(|c| is_first(c) || c.is_ascii_digit())
        && text.len() <= LONGEST_METRIC_NAME
}

/// What the values of a custom metric are.
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
    /// Its word in reports, saved runs and scripts; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            MetricUnit::None => "",
            MetricUnit::Milliseconds => "ms",
            MetricUnit::Bytes => "bytes",
        }
    }

    /// The unit of this word.
    pub fn named(name: &str) -> Option<MetricUnit> {
        let all = [
            MetricUnit::None,
            MetricUnit::Milliseconds,
            MetricUnit::Bytes,
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }
}

/// What is known of a custom metric.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomMetric {
    /// What its values are. Where workers define it differently, the greater of both.
    pub unit: MetricUnit,
    /// What was made of them.
    pub values: Values,
}

/// What was made of the values of a custom metric.
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

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// How many values were added.
    pub count: u64,
    /// Their sum.
    pub sum: ExactSum,
    /// The sum of those that were added in the window, and not behind it. The rate per second is
    /// taken of these.
    pub in_window: ExactSum,
}

/// How many values were not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Those that were not zero, or true.
    pub nonzero: u64,
    /// All values.
    pub count: u64,
}

impl Rate {
    /// The share of those that were not zero; `None` without a value.
    pub fn share(&self) -> Option<f64> {
        (self.count > 0).then(|| self.nonzero as f64 / self.count as f64)
    }
}

/// A state that was set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// The value that was set last.
    pub last: f64,
    /// When, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The smallest value that it had.
    pub min: f64,
    /// The largest one.
    pub max: f64,
}

impl CustomMetric {
    /// A metric without a value.
    pub fn new(kind: MetricKind, unit: MetricUnit) -> CustomMetric {
        let values = match kind {
            MetricKind::Trend => Values::Trend(Trend::default()),
            MetricKind::Counter => Values::Counter(Counter::default()),
            MetricKind::Rate => Values::Rate(Rate::default()),
            MetricKind::Gauge => Values::Gauge(None),
        };
        CustomMetric { unit, values }
    }

    /// What is made of its values.
    pub fn kind(&self) -> MetricKind {
        match self.values {
            Values::Trend(_) => MetricKind::Trend,
            Values::Counter(_) => MetricKind::Counter,
            Values::Rate(_) => MetricKind::Rate,
            Values::Gauge(_) => MetricKind::Gauge,
        }
    }

    /// How many values it has; of a gauge 1 if it was set.
    pub fn count(&self) -> u64 {
        match &self.values {
            Values::Trend(trend) => trend.count(),
            Values::Counter(counter) => counter.count,
            Values::Rate(rate) => rate.count,
            Values::Gauge(gauge) => u64::from(gauge.is_some()),
        }
    }

    /// Adds all that the other one holds, without loss. False if it is of another kind, and nothing
    /// was added.
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
    // Of two values of one instant the greater one, so that the order of merging does not count.
    if (other.at_ns, other.last) > (gauge.at_ns, gauge.last) {
        (gauge.at_ns, gauge.last) = (other.at_ns, other.last);
    }
    gauge.min = gauge.min.min(other.min);
    gauge.max = gauge.max.max(other.max);
}
