//! The metrics of a run, sent to other programs while it lasts.
//!
//! What was measured in an interval becomes a [`Batch`]: series by name and labels, whose values
//! merge without loss ([`Measured`]). [`native`] makes it from a snapshot of the engine; k6's runs
//! make it from their samples. Each exporter has a thread of its own, an outbox that its batches
//! wait in, a layout, which writes batches in the receiver's format and knows no network, and a
//! channel, which sends what was written.
//!
//! A receiver that is slow or away delays no load: batches come from a feed of the run, and putting
//! one into an outbox never waits; its oldest batches are merged when it is full. What is sent is
//! tried again within bounds, and what was not delivered is counted and reported in one sentence.
//!
//! ## To change
//!
//! - the formats, and how they are requested: `requested.rs`; settings from variables `settings.rs`
//! - the layout of a format, and its settings: a module here, such as `prometheus.rs`
//! - the series of an interval: `native.rs`; those of k6's samples are in the crate `k6-command`
//! - how values merge, and how many series there are: `measured.rs`, `histogram.rs`,
//!   `buckets.rs`; the traces of single values `exemplar.rs`
//! - how threads here let workers run: `crates/reactor/src/turns.rs`
//! - attempts, and what is reported of them: `exporter.rs`, `delivery.rs`, `outbox.rs`
//! - how bytes are sent: `channel.rs`, `http.rs`, `grpc.rs`, `stream.rs`, `gzip.rs`
//! - the lines of InfluxDB: `influxdb.rs`; the messages of OpenTelemetry `otlp.rs`; the page that
//!   Prometheus scrapes `scrape.rs`; the datagrams of StatsD `statsd.rs`; the report to a webhook
//!   `webhook.rs`
//! - what is measured in an interval: `batch.rs`; all exporters of a run: `running.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod batch;
mod buckets;
mod channel;
mod delivery;
mod exemplar;
mod exporter;
mod grpc;
mod gzip;
mod histogram;
mod http;
mod influxdb;
mod measured;
pub mod native;
mod otlp;
mod outbox;
mod prometheus;
mod requested;
mod running;
mod scrape;
mod settings;
mod statsd;
mod stream;
mod webhook;

pub use batch::{Batch, Point};
pub use delivery::Delivery;
pub use exemplar::Exemplar;
pub use exporter::{BatchContent, Exporter, PrintLine};
pub use histogram::{Histogram, exponential};
pub use measured::{Labels, MOST_SERIES, Measured, SeriesKey, Unit, Value};
pub use otlp::locust;
pub use requested::{Dialect, Format, NoExporter, OpenError, Requested};
pub use running::{RunningExporters, now_ns, ns_of};
pub use settings::SettingsError;
pub use webhook::FinalReport;

use buckets::Buckets;
use outbox::Outbox;
