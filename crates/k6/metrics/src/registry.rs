//! The metrics of a run, by name.
//!
//! Scripts register their metrics while they load, and every user registers the same ones again;
//! requests use the index of a metric, since a name would have to be looked up.

use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The index of a metric in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MetricId(u32);

impl MetricId {
    /// Returns the position among the metrics of the registry.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn of_index(index: usize) -> MetricId {
        MetricId(index as u32)
    }
}

/// The type of a metric: the way in which its values are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetricType {
    /// The sum of the values.
    Counter,
    /// The last value.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// The distribution of the values.
    Trend,
}

impl MetricType {
    /// Returns the name of the type in reports.
    pub fn name(self) -> &'static str {
        match self {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Rate => "rate",
            MetricType::Trend => "trend",
        }
    }
}

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contains {
    /// Numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// Returns the name of the unit in reports.
    pub fn name(self) -> &'static str {
        match self {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        }
    }
}

/// Declares the built-in metrics once, in the order of their indices.
macro_rules! builtin {
    ($($name:ident $text:literal $kind:ident $contains:ident $meaning:literal;)*) => {
        /// The metrics that every run has.
        pub mod builtin {
            use super::{Contains, MetricId, MetricType};

            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[allow(unreachable_pub, reason = "only its numbers are used")]
            enum Index { $($name),* }

            $(#[doc = $meaning] pub const $name: MetricId = MetricId(Index::$name as u32);)*

            /// All built-in metrics, in the order of their indices.
            pub(super) const ALL: &[(&str, MetricType, Contains)] =
                &[$(($text, MetricType::$kind, Contains::$contains)),*];
        }
    };
}

builtin! {
    VUS "vus" Gauge Default "Active users.";
    VUS_MAX "vus_max" Gauge Default "Users that are ready to be active.";
    ITERATIONS "iterations" Counter Default "Iterations that came to their end.";
    ITERATION_DURATION "iteration_duration" Trend Time
        "From the call of the function to the end of all that it began, in milliseconds.";
    DROPPED_ITERATIONS "dropped_iterations" Counter Default
        "Iterations that no user was free for.";
    CHECKS "checks" Rate Default "Checks that passed.";
    GROUP_DURATION "group_duration" Trend Time "From the begin to the end of a group.";
    HTTP_REQS "http_reqs" Counter Default "Requests, each hop of a redirect on its own.";
    HTTP_REQ_DURATION "http_req_duration" Trend Time "Sending, waiting and receiving together.";
    HTTP_REQ_BLOCKED "http_req_blocked" Trend Time
        "From asking for a connection to having one, a new one's dial included.";
    HTTP_REQ_CONNECTING "http_req_connecting" Trend Time "TCP's handshake.";
    HTTP_REQ_TLS_HANDSHAKING "http_req_tls_handshaking" Trend Time "TLS's handshake.";
    HTTP_REQ_SENDING "http_req_sending" Trend Time
        "From having a connection to the request's last byte.";
    HTTP_REQ_WAITING "http_req_waiting" Trend Time
        "From the request's last byte to the response's first.";
    HTTP_REQ_RECEIVING "http_req_receiving" Trend Time
        "From the response's first byte to its last.";
    HTTP_REQ_FAILED "http_req_failed" Rate Default
        "Requests whose response the script does not expect.";
    DATA_SENT "data_sent" Counter Data "Bytes that were sent.";
    DATA_RECEIVED "data_received" Counter Data "Bytes that were received.";
    WS_CONNECTING "ws_connecting" Trend Time "The whole dial of a WebSocket.";
    WS_SESSION_DURATION "ws_session_duration" Trend Time "From its open to its close.";
    WS_SESSIONS "ws_sessions" Counter Default "WebSockets that were opened.";
    WS_MSGS_SENT "ws_msgs_sent" Counter Default "Messages that they sent.";
    WS_MSGS_RECEIVED "ws_msgs_received" Counter Default "Messages that they received.";
    WS_PING "ws_ping" Trend Time "From ping to pong.";
    GRPC_REQ_DURATION "grpc_req_duration" Trend Time "From the begin of a call to its end.";
    GRPC_STREAMS "grpc_streams" Counter Default "Streams of gRPC.";
    GRPC_STREAMS_MSGS_SENT "grpc_streams_msgs_sent" Counter Default "Messages sent on them.";
    GRPC_STREAMS_MSGS_RECEIVED "grpc_streams_msgs_received" Counter Default
        "Messages received on them.";
    ITERATION_DELAY "iteration_delay" Trend Time
        "From an iteration's intended start to its start. k6 has no such metric.";
    HTTP_REQ_RESPONSE "http_req_response" Trend Time
        "The response time from the iteration's intended start. k6 has no such metric.";
}

/// The reason why a metric cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// A metric of another type has the name.
    #[error(
        "metric '{name}' already exists but with type {}, instead of {}",
        kind.name(),
        expected.name()
    )]
    OtherType {
        /// The name.
        name: String,
        /// The existing type.
        kind: MetricType,
        /// The requested type.
        expected: MetricType,
    },
    /// A metric with another unit has the name.
    #[error("metric '{name}' already exists but with a value type {}", contains.name())]
    OtherContains {
        /// The name.
        name: String,
        /// The existing unit.
        contains: Contains,
    },
    /// The name is invalid.
    #[error(
        "Invalid metric name: '{0}'. Metric names must only include up to 128 ASCII letters, \
         numbers, or underscores and start with a letter or an underscore."
    )]
    Name(String),
}

/// A registered metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: MetricType,
    /// The unit of the values.
    pub contains: Contains,
}

/// The metrics by name. All users register their metrics, and get the same index for the same name.
#[derive(Debug)]
pub struct Registry(Mutex<Vec<Metric>>);

impl Default for Registry {
    fn default() -> Self {
        Registry::new()
    }
}

impl Registry {
    /// Creates a registry of the built-in metrics.
    pub fn new() -> Self {
        let metric = |(name, kind, contains): &(&str, MetricType, Contains)| Metric {
            name: (*name).to_owned(),
            kind: *kind,
            contains: *contains,
        };
        Registry(Mutex::new(builtin::ALL.iter().map(metric).collect()))
    }

    /// Returns the metric of this name, and registers it if it is new.
    ///
    /// # Errors
    /// If it is registered with another type or unit, or if the name is invalid.
    pub fn register(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, RegisterError> {
        if !is_name(name) {
            return Err(RegisterError::Name(name.to_owned()));
        }
        let mut all = self.lock();
        if let Some(index) = all.iter().position(|known| known.name == name) {
            return same(&all[index], kind, contains).map(|()| MetricId::of_index(index));
        }
        all.push(Metric {
            name: name.to_owned(),
            kind,
            contains,
        });
        Ok(MetricId::of_index(all.len() - 1))
    }

    /// Returns the metric of this name.
    pub fn by_name(&self, name: &str) -> Option<MetricId> {
        let index = self.lock().iter().position(|known| known.name == name)?;
        Some(MetricId::of_index(index))
    }

    /// True if a metric is one that every run has.
    pub fn is_builtin(metric: MetricId) -> bool {
        metric.index() < builtin::ALL.len()
    }

    /// Returns the name of a metric.
    pub fn name(&self, metric: MetricId) -> Option<String> {
        Some(self.lock().get(metric.index())?.name.clone())
    }

    /// Returns all metrics, in the order of their indices.
    pub fn all(&self) -> Vec<Metric> {
        self.lock().clone()
    }

    /// Returns the metrics that scripts registered, in the order of their indices.
    pub fn of_scripts(&self) -> Vec<Metric> {
        self.lock()[builtin::ALL.len()..].to_vec()
    }

    /// Registers the [metrics of scripts](Self::of_scripts) of another registry, whose script ran
    /// in another process; returns their indices here.
    ///
    /// # Errors
    /// If one of them is registered with another type or unit.
    pub fn adopt(&self, theirs: &[Metric]) -> Result<Renumbering, RegisterError> {
        let register = |metric: &Metric| self.register(&metric.name, metric.kind, metric.contains);
        theirs
            .iter()
            .map(register)
            .collect::<Result<_, _>>()
            .map(Renumbering)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Metric>> {
        // The list is consistent even after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The indices of another registry's metrics in this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renumbering(Vec<MetricId>);

impl Renumbering {
    /// True if all metrics have the same index in both registries.
    pub(crate) fn is_identity(&self) -> bool {
        let mut own = (builtin::ALL.len()..).zip(&self.0);
        own.all(|(index, metric)| metric.index() == index)
    }

    /// Returns the index here of a metric of the other registry.
    pub(crate) fn of(&self, metric: MetricId) -> MetricId {
        let own = metric.index().checked_sub(builtin::ALL.len());
        own.and_then(|index| self.0.get(index))
            .copied()
            .unwrap_or(metric)
    }
}

fn same(known: &Metric, kind: MetricType, contains: Contains) -> Result<(), RegisterError> {
    let name = known.name.clone();
    if known.kind != kind {
        return Err(RegisterError::OtherType {
            name,
            kind: known.kind,
            expected: kind,
        });
    }
    if known.contains != contains {
        let contains = known.contains;
        return Err(RegisterError::OtherContains { name, contains });
    }
    Ok(())
}

/// True if k6 accepts this as the name of a metric: 2 to 129 characters.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let starts = bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let goes_on = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    starts && goes_on && (2..=129).contains(&name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_metric() {
        let registry = Registry::default();
        let register = |kind, contains| registry.register("mine", kind, contains);
        let first = register(MetricType::Trend, Contains::Time);
        assert_eq!(register(MetricType::Trend, Contains::Time), first);
        let other = register(MetricType::Rate, Contains::Default).unwrap_err();
        assert_eq!(
            other.to_string(),
            "metric 'mine' already exists but with type trend, instead of rate"
        );
        assert!(register(MetricType::Trend, Contains::Default).is_err());
        assert_eq!(registry.name(first.unwrap()).as_deref(), Some("mine"));
    }

    #[test]
    fn built_in_metrics_have_their_indices() {
        let registry = Registry::default();
        assert_eq!(registry.by_name("vus"), Some(builtin::VUS));
        assert_eq!(registry.by_name("data_sent"), Some(builtin::DATA_SENT));
        assert_eq!(
            registry.by_name("http_req_response"),
            Some(builtin::HTTP_REQ_RESPONSE)
        );
    }

    #[test]
    fn metrics_of_another_registry_are_found_by_their_names() {
        let (ours, theirs) = (Registry::new(), Registry::new());
        let register = |registry: &Registry, name| {
            let registered = registry.register(name, MetricType::Counter, Contains::Default);
            registered.unwrap()
        };
        let [_, b] = ["aa", "bb"].map(|name| register(&ours, name));
        let [their_b, their_c] = ["bb", "cc"].map(|name| register(&theirs, name));
        let renumbering = ours.adopt(&theirs.of_scripts()).unwrap();
        assert_eq!(renumbering.of(their_b), b);
        assert_eq!(Some(renumbering.of(their_c)), ours.by_name("cc"));
        assert_eq!(renumbering.of(builtin::CHECKS), builtin::CHECKS);
        assert!(!renumbering.is_identity());
        assert!(ours.adopt(&ours.of_scripts()).unwrap().is_identity());
        let other = Registry::new();
        other
            .register("aa", MetricType::Trend, Contains::Default)
            .unwrap();
        assert!(ours.adopt(&other.of_scripts()).is_err());
    }

    #[test]
    fn a_name_has_two_characters_at_least() {
        let names = ["ab", "_1", "t", "1a", "a-b", ""].map(is_name);
        assert_eq!(names, [true, true, false, false, false, false]);
    }
}
