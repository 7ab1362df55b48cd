//! The text report, equal to ab's line by line.

use super::names;
use super::options::Options;
use super::tally::Tally;
use super::times::{PERCENTAGES, Spread, Spreads, by_total, ms, served_within_us};
use loadline_engine::Agreed;
use std::fmt::{Display, Write};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

/// A report: its options and counts.
pub(super) struct Report<'a> {
    pub(super) options: &'a Options,
    pub(super) tally: &'a Tally,
    /// The duration of the run, in microseconds.
    pub(super) elapsed_us: u64,
}

impl Report<'_> {
    /// Formats the whole report.
    pub(super) fn text(&self) -> String {
        let mut lines = Lines(String::from("\n\n"));
        self.server(&mut lines);
        self.document(&mut lines);
        self.counts(&mut lines);
        self.rates(&mut lines);
        let mut text = lines.0;
        if self.tally.done() > 0 {
            let spreads = Spreads::of(&self.tally.times);
            text.push_str("\nConnection Times (ms)\n");
            text.push_str(&match self.options.confidence {
                true => with_confidence(&spreads),
                false => without_confidence(&spreads),
            });
        }
        if self.options.percentiles && self.tally.done() > 1 {
            text.push_str(&self.percentages());
        }
        text
    }

    fn server(&self, lines: &mut Lines) {
        let target = &self.options.target;
        lines.put("Server Software", &self.tally.server);
        lines.put("Server Hostname", &target.host);
        lines.put("Server Port", target.port);
        if let Some(agreed) = &self.tally.agreed {
            lines.put("SSL/TLS Protocol", protocol(agreed));
            if let Some(group) = names::group(&agreed.group) {
                lines.put("Server Temp Key", group);
            }
        }
        if let Some(name) = self.options.tls_server_name() {
            lines.put("TLS Server Name", name);
        }
        lines.0.push('\n');
    }

    fn document(&self, lines: &mut Lines) {
        lines.put("Document Path", &self.options.target.path);
        lines.put("Document Length", self.document_length());
        lines.0.push('\n');
    }

    /// Formats the length of the document.
    fn document_length(&self) -> String {
        if self.options.variable_length {
            return "Variable".to_owned();
        }
        format!("{} bytes", self.tally.document_bytes.unwrap_or(0))
    }

    fn counts(&self, lines: &mut Lines) {
        let tally = self.tally;
        lines.put("Concurrency Level", self.options.concurrency);
        lines.put(
            "Time taken for tests",
            format!("{:.3} seconds", self.seconds()),
        );
        lines.put("Complete requests", tally.done());
        lines.put("Failed requests", tally.failures.sum());
        if tally.failures.sum() > 0 {
            lines.0.push_str(&self.failures());
        }
        lines.put_unless_zero("Write errors", tally.write_errors);
        lines.put_unless_zero("Non-2xx responses", tally.non_2xx);
        if self.options.keepalive {
            lines.put("Keep-Alive requests", tally.kept);
        }
        lines.put("Total transferred", format!("{} bytes", tally.bytes_in));
        if self.options.body.is_some() {
            lines.put("Total body sent", tally.bytes_out);
        }
        lines.put("HTML transferred", format!("{} bytes", tally.body_bytes));
    }

    fn failures(&self) -> String {
        let failures = &self.tally.failures;
        format!(
            "   (Connect: {}, Receive: {}, Length: {}, Exceptions: {})\n",
            failures.connect, failures.receive, failures.length, failures.exceptions
        )
    }

    fn rates(&self, lines: &mut Lines) {
        let (seconds, done) = (self.seconds(), self.tally.done() as f64);
        if seconds == 0.0 || done == 0.0 {
            return;
        }
        let each_ms = seconds * 1000.0 / done;
        let at_once = f64::from(self.options.concurrency);
        lines.put(
            "Requests per second",
            format!("{:.2} [#/sec] (mean)", done / seconds),
        );
        lines.put(
            "Time per request",
            format!("{:.3} [ms] (mean)", at_once * each_ms),
        );
        lines.put(
            "Time per request",
            format!("{each_ms:.3} [ms] (mean, across all concurrent requests)"),
        );
        let (received, sent) = (self.tally.bytes_in, self.tally.bytes_out);
        lines.put(
            "Transfer rate",
            format!("{:.2} [Kbytes/sec] received", self.kilobytes(received)),
        );
        if self.options.body.is_some() {
            let indent = " ".repeat(COLUMN);
            let total = self.kilobytes(received + sent);
            let sent = self.kilobytes(sent);
            lines.0.push_str(&format!(
                "{indent}{sent:.2} kb/s sent\n{indent}{total:.2} kb/s total\n"
            ));
        }
    }

    /// Returns a number of bytes as a rate, in units of 1024 bytes per second.
    pub(super) fn kilobytes(&self, bytes: u64) -> f64 {
        bytes as f64 / 1024.0 / self.seconds()
    }

    /// Returns the duration of the run in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.elapsed_us as f64 / 1e6
    }

    fn percentages(&self) -> String {
        let sorted = by_total(&self.tally.times);
        let mut text =
            String::from("\nPercentage of the requests served within a certain time (ms)\n");
        for percentage in PERCENTAGES {
            let within_ms = ms(served_within_us(&sorted, percentage));
            text.push_str(&match percentage {
                100 => format!(" 100%  {within_ms:5} (longest request)\n"),
                _ => format!("  {percentage}%  {within_ms:5}\n"),
            });
        }
        text
    }
}

/// The column in which values begin.
const COLUMN: usize = 24;

/// Lines with a name and a value.
struct Lines(String);

impl Lines {
    fn put(&mut self, name: &str, value: impl Display) {
        let name = format!("{name}:");
        writeln!(self.0, "{name:<COLUMN$}{value}").expect("writing to memory can't fail");
    }

    fn put_unless_zero(&mut self, name: &str, value: u64) {
        if value > 0 {
            self.put(name, value);
        }
    }
}

/// Formats the version, the cipher, and the key lengths of the server and of the cipher in bits.
fn protocol(agreed: &Agreed) -> String {
    let suite = names::suite_of(&agreed.suite);
    let (cipher, bits) = suite.map_or((agreed.suite.as_str(), 0), |suite| {
        (suite.openssl, suite.bits)
    });
    let version = names::version(&agreed.version);
    let key_bits = key_bits(&agreed.certificate);
    format!("{version},{cipher},{key_bits},{bits}")
}

/// Returns the key length of a certificate (DER) in bits; 0 if it is unknown.
fn key_bits(certificate: &[u8]) -> usize {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
        return 0;
    };
    match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => key.key_size(),
        Ok(PublicKey::EC(point)) => point.key_size(),
        _ => 0,
    }
}

fn with_confidence(spreads: &Spreads) -> String {
    let mut text = String::from("              min  mean[+/-sd] median   max\n");
    for (name, spread) in rows(spreads) {
        text.push_str(&format!(
            "{name:<12}{:5} {:4} {:5.1} {:6} {:7}\n",
            ms(spread.min_us),
            ms(spread.mean_us),
            spread.deviation_us / 1000.0,
            ms(spread.median_us),
            ms(spread.max_us),
        ));
    }
    for (what, spread) in [
        ("the initial connection time", &spreads.connect),
        ("the processing time", &spreads.processing),
        ("the waiting time", &spreads.waiting),
        ("the total time", &spreads.total),
    ] {
        text.push_str(&doubt(what, spread));
    }
    text
}

fn without_confidence(spreads: &Spreads) -> String {
    let mut text = String::from("              min   avg   max\n");
    for (name, spread) in rows(spreads) {
        text.push_str(&format!(
            "{name:<12}{:5} {:5}{:5}\n",
            ms(spread.min_us),
            ms(spread.mean_us),
            ms(spread.max_us),
        ));
    }
    text
}

fn rows(spreads: &Spreads) -> [(&'static str, &Spread); 4] {
    [
        ("Connect:", &spreads.connect),
        ("Processing:", &spreads.processing),
        ("Waiting:", &spreads.waiting),
        ("Total:", &spreads.total),
    ]
}

/// Returns ab's warning if mean and median are far apart.
fn doubt(what: &str, spread: &Spread) -> String {
    let apart = ms(spread.mean_us).abs_diff(ms(spread.median_us)) as f64;
    let deviation = spread.deviation_us / 1000.0;
    if apart > 2.0 * deviation {
        return format!(
            "ERROR: The median and mean for {what} are more than twice the standard\n       \
             deviation apart. These results are NOT reliable.\n"
        );
    }
    if apart > deviation {
        return format!(
            "WARNING: The median and mean for {what} are not within a normal deviation\n        \
             These results are probably not that reliable.\n"
        );
    }
    String::new()
}

#[cfg(test)]
mod tests;
