//! InfluxDB's line protocol: what was measured since the last message, or single values.
//!
//! In Loadline's own runs each interval makes one point of each series, with the metric as the
//! measurement and the labels as tags. Distributions have the fields `count`, `sum`, `mean`, `min`,
//! `p50`, `p90`, `p95`, `p99` and `max`, times in seconds. In k6's runs each value makes one point,
//! as in k6; of more than some thousands a second only a share is sent, whose field `weight` says
//! how many values each stands for.
//!
//! The format: <https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/>.

mod channel;
mod instants;
mod setup;

pub(crate) use setup::open;

use crate::exporter::{Layout, Message};
use crate::{Batch, Histogram, Point, SeriesKey, Value};
use instants::Instants;
use std::fmt::Write as _;
use std::sync::Arc;

/// The most bytes of one message over HTTP.
const MOST_BYTES: usize = 1 << 20;

/// A tag that is written as a field.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    tag: String,
    kind: FieldKind,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Text,
    Integer,
    Float,
    Truth,
}

/// The layout of lines.
struct Lines {
    /// Tags of single values that are fields.
    fields: Vec<Field>,
    /// The nanoseconds of the unit of instants.
    precision_ns: u64,
    /// What the measurements of series begin with.
    prefix: String,
    most_bytes: usize,
    instants: Instants,
    has_overflowed: bool,
}

impl Layout for Lines {
    fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message> {
        self.instants.next_message();
        let mut packer = Packer::new(self.most_bytes);
        for batch in batches {
            self.has_overflowed |= batch.measured.has_overflowed();
            let instant = batch.at_ns / self.precision_ns;
            for (key, value) in batch.measured.iter() {
                if let Some(fields) = fields(value) {
                    packer.add(&self.series(key, &fields, instant));
                }
            }
            for point in &batch.points {
                packer.add(&self.point(point));
            }
        }
        packer.end()
    }

    fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }
}

impl Lines {
    fn series(&self, key: &SeriesKey, fields: &str, instant: u64) -> String {
        let mut line = escaped(&format!("{}{}", self.prefix, key.metric), &[',', ' ']);
        for (name, value) in key.labels.iter() {
            add_tag(&mut line, name, value);
        }
        line + &format!(" {fields} {instant}\n")
    }

    fn point(&mut self, point: &Point) -> String {
        let mut line = escaped(&point.metric, &[',', ' ']);
        let mut fields = String::new();
        for (name, value) in point.labels.iter() {
            match self.fields.iter().find(|field| field.tag == *name) {
                None => add_tag(&mut line, name, value),
                Some(field) => {
                    let value = field.kind.written(value);
                    // Writing to a text can't fail.
                    let _ = write!(fields, "{}={value},", escaped(name, &[',', '=', ' ']));
                }
            }
        }
        if point.weight != 1.0 {
            let _ = write!(fields, "weight={},", point.weight);
        }
        let unit_ns = self.precision_ns;
        let instant = self.instants.free(&line, point.at_ns / unit_ns, unit_ns);
        line + &format!(" {fields}value={} {instant}\n", point.value)
    }
}

impl FieldKind {
    /// Writes a tag's value; one that is not of this kind stays a text.
    fn written(self, value: &str) -> String {
        let written = match self {
            FieldKind::Text => None,
            FieldKind::Integer => value.parse::<i64>().ok().map(|number| format!("{number}i")),
            FieldKind::Float => value.parse::<f64>().ok().map(|number| number.to_string()),
            FieldKind::Truth => value.parse::<bool>().ok().map(|truth| truth.to_string()),
        };
        written.unwrap_or_else(|| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{value}\"")
        })
    }
}

/// Returns the fields of a value; `None` if it has none.
fn fields(value: &Value) -> Option<String> {
    match value {
        Value::Counter(sum) => Some(format!("value={sum}")),
        Value::Gauge(last, _) => Some(format!("value={last}")),
        Value::Rate(nonzero, all) if *all > 0 => {
            let share = *nonzero as f64 / *all as f64;
            Some(format!("value={share},count={all}i"))
        }
        Value::Rate(..) => None,
        Value::Histogram(histogram) => of_histogram(histogram),
    }
}

fn of_histogram(histogram: &Histogram) -> Option<String> {
    let mut fields = format!("count={}i,sum={}", histogram.count(), histogram.sum());
    for (name, figure) in [
        ("mean", histogram.mean()),
        ("min", histogram.min()),
        ("p50", histogram.percentile(50.0)),
        ("p90", histogram.percentile(90.0)),
        ("p95", histogram.percentile(95.0)),
        ("p99", histogram.percentile(99.0)),
        ("max", histogram.max()),
    ] {
        // Writing to a text can't fail.
        let _ = write!(fields, ",{name}={}", figure?);
    }
    Some(fields)
}

/// Adds a tag; the format has none without a value.
fn add_tag(line: &mut String, name: &str, value: &str) {
    let special = [',', '=', ' '];
    let (name, value) = (escaped(name, &special), escaped(value, &special));
    if !name.is_empty() && !value.is_empty() {
        // Writing to a text can't fail.
        let _ = write!(line, ",{name}={value}");
    }
}

/// Returns a text with these letters escaped, on one line. A backslash at its end would escape what
/// follows, and has no escape itself.
fn escaped(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.trim_end_matches('\\').chars() {
        match letter {
            _ if special.contains(&letter) => escaped.extend(['\\', letter]),
            _ if letter.is_control() => escaped.extend(special.contains(&' ').then_some('_')),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Packs lines into messages.
struct Packer {
    most_bytes: usize,
    messages: Vec<Message>,
    body: String,
}

impl Packer {
    fn new(most_bytes: usize) -> Packer {
        Packer {
            most_bytes,
            messages: Vec::new(),
            body: String::new(),
        }
    }

    fn add(&mut self, line: &str) {
        if !self.body.is_empty() && self.body.len() + line.len() > self.most_bytes {
            self.flush();
        }
        self.body.push_str(line);
    }

    fn flush(&mut self) {
        let body = std::mem::take(&mut self.body).into_bytes();
        self.messages.push(Message::of(body));
    }

    fn end(mut self) -> Vec<Message> {
        if !self.body.is_empty() {
            self.flush();
        }
        self.messages
    }
}

#[cfg(test)]
mod tests;
