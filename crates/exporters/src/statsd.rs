//! StatsD, and DogStatsD with its tags and distributions.
//!
//! What was measured since the last message goes out in datagrams of some lines each:
//! `loadline.requests.sent:3|c`. A distribution is one line for each of its buckets, whose sample
//! rate says how many values it stands for: `…:0.25|d|@0.125`; times are in milliseconds. Plain
//! StatsD has no tags, so that the values of labels are parts of the name.
//!
//! In k6's runs names and types are those of k6: no label is part of a name, every trend is a
//! timer, and a rate counts the values that are not zero, checks by their result.
//!
//! The formats: <https://github.com/statsd/statsd/blob/master/docs/metric_types.md> and
//! <https://docs.datadoghq.com/extend/dogstatsd/datagram_shell/>.

mod setup;
mod texts;

pub(crate) use setup::open;

use crate::exporter::{Layout, Message};
use crate::{Batch, Histogram, SeriesKey, Unit, Value, exponential};
use std::fmt::{Arguments, Write as _};
use std::sync::Arc;
use texts::Texts;

/// The most bytes of a datagram: what an Ethernet frame carries of UDP, and some room.
const MOST_BYTES: usize = 1_432;
/// The finest buckets of a distribution, 2.2 % wide.
const SCHEMA: i32 = 5;
/// The most buckets of a distribution, from the first with a value to the last.
const MOST_BUCKETS: u32 = 160;

/// The layout of datagrams.
struct Datagram {
    /// What all names begin with.
    prefix: String,
    /// True if labels are tags, as in DogStatsD.
    has_tags: bool,
    names: Names,
    texts: Texts,
    has_overflowed: bool,
}

/// The program whose names and types metrics have.
enum Names {
    /// Loadline's own.
    Native,
    /// k6's; these labels are no tags.
    K6 { blocked: Vec<String> },
}

impl Layout for Datagram {
    fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message> {
        let mut lines = Packer::default();
        for batch in batches {
            self.has_overflowed |= batch.measured.has_overflowed();
            for (key, value) in batch.measured.iter() {
                self.add(key, value, &mut lines);
            }
        }
        lines.end()
    }

    fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }
}

impl Datagram {
    fn add(&mut self, key: &SeriesKey, value: &Value, lines: &mut Packer) {
        let (name, tags) = (self.name(key), self.tags(key));
        match value {
            Value::Counter(sum) if *sum == 0.0 => {}
            Value::Counter(sum) => lines.add(format_args!("{name}:{sum}|c{tags}")),
            Value::Gauge(last, _) => {
                // A sign would change the last value instead of replacing it.
                if *last < 0.0 {
                    lines.add(format_args!("{name}:0|g{tags}"));
                }
                lines.add(format_args!("{name}:{last}|g{tags}"));
            }
            Value::Rate(_, 0) => {}
            Value::Rate(nonzero, all) if matches!(self.names, Names::K6 { .. }) => {
                for (name, count) in self.counts(key, *nonzero, *all) {
                    lines.add(format_args!("{name}:{count}|c{tags}"));
                }
            }
            Value::Rate(nonzero, all) => {
                let share = *nonzero as f64 / *all as f64;
                lines.add(format_args!("{name}:{share}|g{tags}"));
            }
            Value::Histogram(histogram) => {
                let kind = match self.has_tags && matches!(self.names, Names::Native) {
                    true => "d",
                    false => "ms",
                };
                let factor = if key.unit == Unit::Seconds { 1e3 } else { 1.0 };
                for (value, count) in buckets(histogram) {
                    let (value, rate) = self.texts.of(value * factor, count);
                    lines.add(format_args!("{name}:{value}|{kind}{rate}{tags}"));
                }
            }
        }
    }

    fn name(&self, key: &SeriesKey) -> String {
        let mut name = format!("{}{}", self.prefix, part(&key.metric));
        if !self.has_tags && matches!(self.names, Names::Native) {
            for (_, value) in key.labels.iter().filter(|(_, value)| !value.is_empty()) {
                name.push('.');
                name.push_str(&part(value));
            }
        }
        name
    }

    /// Returns the counters of a rate in k6's runs, without those that are zero.
    fn counts(&self, key: &SeriesKey, nonzero: u64, all: u64) -> Vec<(String, u64)> {
        let check = key.labels.iter().find(|(name, _)| name == "check");
        let counts = match check {
            None => vec![(self.name(key), nonzero)],
            Some((_, check)) => {
                let name = format!("{}check.{}", self.prefix, of_check(check));
                let failed = all.saturating_sub(nonzero);
                vec![
                    (format!("{name}.pass"), nonzero),
                    (format!("{name}.fail"), failed),
                ]
            }
        };
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn tags(&self, key: &SeriesKey) -> String {
        let is_tag = |(name, value): &&(String, String)| match &self.names {
            Names::Native => true,
            Names::K6 { blocked } => !value.is_empty() && !blocked.contains(name),
        };
        let tag = |(name, value): &(String, String)| format!("{}:{}", tag(name), tag(value));
        let tags: Vec<String> = key.labels.iter().filter(is_tag).map(tag).collect();
        match self.has_tags && !tags.is_empty() {
            true => format!("|#{}", tags.join(",")),
            false => String::new(),
        }
    }
}

/// Returns the upper bound of each bucket with its count; of the last one the largest value.
fn buckets(histogram: &Histogram) -> Vec<(f64, u64)> {
    let written = histogram.to_schema(SCHEMA, MOST_BUCKETS);
    let schema = written.schema;
    let (min, max) = (histogram.min(), histogram.max());
    let within = |value: f64| value.clamp(min.unwrap_or(value), max.unwrap_or(value));
    let below = written.negative.iter().rev();
    let below = below.map(|(bucket, count)| (-exponential(schema, bucket - 1), count));
    let zero = (written.zero > 0).then_some((0.0, written.zero));
    let above = written.positive.iter();
    let above = above.map(|(bucket, count)| (exponential(schema, bucket), count));
    let all = below.chain(zero).chain(above);
    all.map(|(bound, count)| (within(bound), count)).collect()
}

/// Returns a part of a name, without letters that have a meaning in one.
fn part(text: &str) -> String {
    let valid = |letter: char| match letter {
        _ if letter.is_ascii_alphanumeric() => letter,
        '_' | '-' => letter,
        _ => '_',
    };
    text.chars().map(valid).collect()
}

/// Returns the name of a check as a part of a name; as in k6 it keeps its spaces.
fn of_check(text: &str) -> String {
    let is_end = |letter: char| matches!(letter, ':' | '|' | '@' | '#') || letter.is_control();
    text.chars()
        .map(|letter| if is_end(letter) { '_' } else { letter })
        .collect()
}

/// Returns a tag's name or value, without letters that end one.
fn tag(text: &str) -> String {
    let is_end = |letter: char| matches!(letter, ',' | '|' | '#') || letter.is_control();
    text.chars()
        .map(|letter| if is_end(letter) { '_' } else { letter })
        .collect()
}

/// Packs lines into datagrams. A line that is too long alone is left out: no receiver would read
/// half of it.
#[derive(Default)]
struct Packer {
    full: Vec<Message>,
    /// The datagram that has room.
    body: String,
}

impl Packer {
    fn add(&mut self, line: Arguments<'_>) {
        let end = self.body.len();
        if end > 0 {
            self.body.push('\n');
        }
        let begin = self.body.len();
        // Writing to a text can't fail.
        let _ = self.body.write_fmt(line);
        if self.body.len() <= MOST_BYTES {
            return;
        }
        let line = self.body.split_off(begin);
        self.body.truncate(end);
        if line.len() <= MOST_BYTES {
            self.close();
            self.body = line;
        }
    }

    /// Closes the datagram that has room.
    fn close(&mut self) {
        if !self.body.is_empty() {
            let body = std::mem::take(&mut self.body);
            self.full.push(Message::of(body.into_bytes()));
        }
    }

    fn end(mut self) -> Vec<Message> {
        self.close();
        self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::labels;
    use crate::{Measured, Unit};

    fn written(has_tags: bool, series: &[(&str, Value)]) -> Vec<String> {
        written_by(Names::Native, has_tags, series)
    }

    fn written_by(names: Names, has_tags: bool, series: &[(&str, Value)]) -> Vec<String> {
        let mut measured = Measured::default();
        for (metric, value) in series {
            let key = SeriesKey {
                metric: (*metric).into(),
                unit: Unit::Seconds,
                labels: labels([("name", "GET /a,b"), ("status", "200")]),
            };
            measured.add(key, value.clone());
        }
        let mut layout = Datagram {
            prefix: "loadline.".to_owned(),
            has_tags,
            names,
            texts: Texts::default(),
            has_overflowed: false,
        };
        let messages = layout.write(&[Arc::new(Batch {
            measured,
            ..Batch::default()
        })]);
        assert!(
            messages
                .iter()
                .all(|message| message.body.len() <= MOST_BYTES)
        );
        let bodies = messages
            .into_iter()
            .map(|message| String::from_utf8(message.body).unwrap());
        bodies
            .flat_map(|body| body.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn labels_are_tags_or_parts_of_the_name() {
        let series = [("responses", Value::Counter(3.0))];
        let tagged = ["loadline.responses:3|c|#name:GET /a_b,status:200"];
        assert_eq!(written(true, &series), tagged);
        let plain = ["loadline.responses.GET__a_b.200:3|c"];
        assert_eq!(written(false, &series), plain);
    }

    #[test]
    fn each_bucket_of_a_distribution_says_how_many_values_it_stands_for() {
        let mut histogram = Histogram::default();
        for value in [0.25, 0.25, 0.25, 0.25, 1.0] {
            histogram.add(value, 1);
        }
        let series = [("response", Value::Histogram(Box::new(histogram)))];
        let end = "|#name:GET /a_b,status:200";
        assert_eq!(
            written(true, &series),
            [
                format!("loadline.response:250|d|@0.25{end}"),
                format!("loadline.response:1000|d{end}"),
            ]
        );
        assert!(written(false, &series)[0].ends_with(":250|ms|@0.25"));
    }

    #[test]
    fn a_run_of_k6_has_its_names_and_types() {
        let mut histogram = Histogram::default();
        histogram.add(0.25, 1);
        let series = [
            ("http_req_duration", Value::Histogram(Box::new(histogram))),
            ("http_req_failed", Value::Rate(1, 3)),
        ];
        let blocked = vec!["name".to_owned()];
        let lines = written_by(Names::K6 { blocked }, true, &series);
        assert_eq!(
            lines,
            [
                "loadline.http_req_duration:250|ms|#status:200",
                "loadline.http_req_failed:1|c|#status:200",
            ]
        );
        let bare = written_by(
            Names::K6 {
                blocked: Vec::new(),
            },
            false,
            &series,
        );
        assert_eq!(bare[0], "loadline.http_req_duration:250|ms");
    }

    #[test]
    fn checks_of_k6_are_counted_by_their_result() {
        let mut layout = Datagram {
            prefix: "k6.".to_owned(),
            has_tags: false,
            names: Names::K6 {
                blocked: Vec::new(),
            },
            texts: Texts::default(),
            has_overflowed: false,
        };
        let key = SeriesKey {
            metric: "checks".into(),
            unit: Unit::None,
            labels: labels([("check", "status is 200|ok")]),
        };
        let mut lines = Packer::default();
        layout.add(&key, &Value::Rate(3, 4), &mut lines);
        assert_eq!(
            lines.body,
            "k6.check.status is 200_ok.pass:3|c\n\
             k6.check.status is 200_ok.fail:1|c"
        );
    }

    #[test]
    fn a_gauge_below_zero_is_set_from_zero() {
        let series = [("temperature", Value::Gauge(-2.0, 1))];
        let lines = written(false, &series);
        assert!(
            lines[0].ends_with(":0|g") && lines[1].ends_with(":-2|g"),
            "{lines:?}"
        );
    }

    #[test]
    fn a_line_that_no_datagram_carries_is_left_out() {
        let long = "m".repeat(MOST_BYTES);
        let series = [
            ("first", Value::Counter(1.0)),
            (&long, Value::Counter(1.0)),
            ("second", Value::Counter(1.0)),
        ];
        assert_eq!(written(false, &series).len(), 2);
    }

    #[test]
    fn datagrams_are_no_longer_than_a_frame() {
        let names: Vec<String> = (0..200).map(|index| format!("metric_{index}")).collect();
        let series: Vec<(&str, Value)> = names
            .iter()
            .map(|name| (name.as_str(), Value::Counter(1.0)))
            .collect();
        assert_eq!(written(true, &series).len(), 200);
    }
}
