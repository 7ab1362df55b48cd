//! The per-request log: one CSV line for each exchange, streamed.
//!
//! Times are microseconds with three decimals, so every nanosecond is preserved. Lines are written
//! digit by digit: the standard formatting would cost as much as the exchange itself.

use crate::{Exchange, Outcome};
use loadline_plan::{NamedRequest, Plan};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

/// The log's first line: the names of the columns.
pub const COLUMNS: &str = "intended_us,start_us,response_us,service_us,blocked_us,lateness_us,\
                           dial_us,first_byte_us,status,error,bytes_in,bytes_out,name,url";

/// Writes exchanges as CSV.
///
/// `intended_us` and `start_us` count from the run's start, all others are durations:
/// `first_byte_us` begins at the send (after dialling) and is empty for a failure before any byte.
/// One of `status` and `error` is always empty. `name` and `url` are empty for a request that is
/// not in the plan; they are quoted where CSV requires it (RFC 4180, section 2). Lines end in a
/// single newline.
#[derive(Debug)]
pub struct LogWriter<W: Write> {
    output: BufWriter<W>,
    line: Vec<u8>,
    /// The last two columns of the plan's requests.
    names: Names,
}

impl<W: Write> LogWriter<W> {
    /// Creates a log for the requests of this plan, and writes the names of the columns to the
    /// output.
    pub fn new(output: W, plan: &Plan) -> io::Result<LogWriter<W>> {
        let mut output = BufWriter::with_capacity(64 * 1024, output);
        writeln!(output, "{COLUMNS}")?;
        Ok(LogWriter {
            output,
            line: Vec::with_capacity(256),
            names: Names::of(plan),
        })
    }

    /// Adds one line.
    pub fn record(&mut self, exchange: &Exchange) -> io::Result<()> {
        self.line.clear();
        self.put_times(exchange);
        self.put_outcome(exchange.outcome);
        self.put_integer(exchange.bytes_in);
        self.line.push(b',');
        self.put_integer(exchange.bytes_out);
        self.line.push(b',');
        self.put_name(exchange.request);
        self.line.push(b'\n');
        self.output.write_all(&self.line)
    }

    /// Flushes the buffer and returns the output.
    pub fn finish(self) -> io::Result<W> {
        self.output.into_inner().map_err(|error| error.into_error())
    }

    fn put_times(&mut self, exchange: &Exchange) {
        for time_ns in [
            exchange.intended_ns,
            exchange.start_ns,
            exchange.response_ns(),
            exchange.service_ns(),
            exchange.blocked_ns(),
            exchange.lateness_ns(),
            exchange.dial_ns,
        ] {
            self.put_microseconds(time_ns);
            self.line.push(b',');
        }
        if let Some(first_byte_ns) = exchange.first_byte_after_ns() {
            self.put_microseconds(first_byte_ns);
        }
        self.line.push(b',');
    }

    fn put_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Answered { status } => {
                self.put_integer(u64::from(status));
                self.line.push(b',');
            }
            Outcome::Failed(kind) => {
                self.line.push(b',');
                self.line.extend_from_slice(kind.name().as_bytes());
            }
        }
        self.line.push(b',');
    }

    fn put_name(&mut self, request: Option<u32>) {
        let name = request.and_then(|index| self.names.get(index as usize));
        let name = name.unwrap_or(Cow::Borrowed(","));
        self.line.extend_from_slice(name.as_bytes());
    }

    fn put_microseconds(&mut self, time_ns: u64) {
        self.put_integer(time_ns / 1000);
        let rest = time_ns % 1000;
        let digit = |value: u64| b'0' + (value % 10) as u8;
        self.line
            .extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
    }

    fn put_integer(&mut self, value: u64) {
        self.line
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }
}

/// The last two columns of each request.
#[derive(Debug)]
enum Names {
    /// The texts, written in advance.
    Written(Vec<String>),
    /// The plan of a long list, whose texts are written when they are needed.
    Listed(Box<Plan>),
}

impl Names {
    fn of(plan: &Plan) -> Names {
        match plan.list {
            Some(_) => Names::Listed(Box::new(plan.clone())),
            None => Names::Written(plan.named_requests().map(name_and_url).collect()),
        }
    }

    fn get(&self, index: usize) -> Option<Cow<'_, str>> {
        match self {
            Names::Written(names) => names.get(index).map(|name| Cow::Borrowed(name.as_str())),
            Names::Listed(plan) => plan.named_request(index).map(name_and_url).map(Cow::Owned),
        }
    }
}

/// Formats the name of a request in reports and its whole URL, as two columns.
fn name_and_url(request: NamedRequest<'_>) -> String {
    format!("{},{}", quoted(&request.name), quoted(&request.url))
}

/// Formats a text as a field of CSV.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\r', '\n']) {
        return Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    Cow::Borrowed(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::samples::{any_exchange, exchange, failure, plan};
    use loadline_plan::Request;
    use proptest::prelude::*;

    fn lines(exchanges: &[Exchange]) -> Vec<String> {
        let mut log = LogWriter::new(Vec::new(), &plan()).unwrap();
        exchanges
            .iter()
            .for_each(|exchange| log.record(exchange).unwrap());
        let text = String::from_utf8(log.finish().unwrap()).unwrap();
        assert!(text.ends_with('\n'));
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn begins_with_the_columns() {
        assert_eq!(lines(&[]), [COLUMNS]);
        assert_eq!(COLUMNS.split(',').count(), 14);
    }

    #[test]
    fn an_answer_has_a_status_and_every_nanosecond() {
        let answer = Exchange {
            intended_ns: 1_000_001,
            ready_ns: 1_000_031,
            start_ns: 1_000_101,
            dial_ns: 2_050,
            first_byte_ns: 1_003_151,
            end_ns: 1_005_100,
            ..exchange(0, 0)
        };
        let expected = "1000.001,1000.101,5.099,4.999,0.030,0.070,2.050,1.000,200,,60,40,,";
        assert_eq!(lines(&[answer])[1], expected);
    }

    #[test]
    fn a_failure_has_a_kind_and_perhaps_a_first_byte() {
        let silent = failure(ErrorKind::Timeout, 30_000);
        let cut = Exchange {
            first_byte_ns: 11_000,
            outcome: Outcome::Failed(ErrorKind::Read),
            ..silent
        };
        let lines = lines(&[silent, cut]);
        assert_eq!(
            lines[1],
            "1.000,1.000,30.000,30.000,0.000,0.000,0.000,,,timeout,60,40,,"
        );
        assert_eq!(
            lines[2],
            "1.000,1.000,30.000,30.000,0.000,0.000,0.000,10.000,,read,60,40,,"
        );
    }

    #[test]
    fn a_request_of_the_plan_has_its_name_and_url() {
        let mut plan = plan();
        plan.requests.push(Request {
            name: Some("the \"search\", slow".to_owned()),
            url: "http://127.0.0.1/a,b".parse().unwrap(),
            ..plan.requests[0].clone()
        });
        let mut log = LogWriter::new(Vec::new(), &plan).unwrap();
        for request in [Some(0), Some(1), None] {
            let exchange = Exchange {
                request,
                ..exchange(0, 0)
            };
            log.record(&exchange).unwrap();
        }
        let text = String::from_utf8(log.finish().unwrap()).unwrap();
        let url = "http://127.0.0.1:8080/a?b=%C3%BC";
        let ends = [
            format!(",60,40,{url},{url}"),
            ",60,40,\"the \"\"search\"\", slow\",\"http://127.0.0.1/a,b\"".to_owned(),
            ",60,40,,".to_owned(),
        ];
        for (line, end) in text.lines().skip(1).zip(ends) {
            assert!(line.ends_with(&end), "{line}");
        }
    }

    /// Returns the column's nanoseconds, parsed without floating point.
    fn nanoseconds(line: &str, column: usize) -> u64 {
        let field = line.split(',').nth(column).unwrap();
        let (micros, rest) = field.split_once('.').unwrap();
        assert_eq!(rest.len(), 3);
        micros.parse::<u64>().unwrap() * 1000 + rest.parse::<u64>().unwrap()
    }

    proptest! {
        #[test]
        fn columns_are_exact(exchange in any_exchange()) {
            let line = &lines(&[exchange])[1];
            prop_assert_eq!(nanoseconds(line, 0), exchange.intended_ns);
            prop_assert_eq!(nanoseconds(line, 1), exchange.start_ns);
            prop_assert_eq!(nanoseconds(line, 2), exchange.response_ns());
            let parts: u64 = (3..6).map(|column| nanoseconds(line, column)).sum();
            prop_assert_eq!(nanoseconds(line, 2), parts);
            prop_assert_eq!(line.split(',').count(), 14);
        }
    }
}
