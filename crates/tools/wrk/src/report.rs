//! The reports, line by line as wrk and wrk2 print them.

use super::rates::Rates;
use super::scaling::{binary, cell, duration_s, metric, number, time_us};
use super::spectrum::Micros;
use super::{Arguments, Tool};
use loadline_record::{Distribution, Snapshot, SocketErrors, Summary};

/// Returns the text that is printed when the run has begun.
pub fn banner(arguments: &Arguments) -> String {
    let Arguments {
        threads,
        connections,
        url,
        ..
    } = arguments;
    let duration = duration_s(arguments.duration_s);
    format!("Running {duration} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// Returns the text that is printed when the run has ended.
///
/// wrk's latency is the service time of its closed loop; wrk2's latency is the response time, from
/// the intended start, and its uncorrected latency is the service time.
pub fn report(arguments: &Arguments, summary: &Summary, rates: &Rates) -> String {
    let (stats, block) = match arguments.tool {
        Tool::Wrk => of_wrk(arguments, &summary.total, rates),
        Tool::Wrk2 => of_wrk2(arguments, &summary.total, rates),
    };
    let title = format!(
        "  Thread Stats{:>6}{:>11}{:>8}{:>12}\n",
        "Avg", "Stdev", "Max", "+/- Stdev"
    );
    title + &stats + &block + &totals(summary)
}

/// Returns the two rows of statistics, and the percentiles if they are requested.
fn of_wrk(arguments: &Arguments, total: &Snapshot, rates: &Rates) -> (String, String) {
    let latency = &total.times.service;
    let stats = Stats::of_times(latency).row("Latency", time_us)
        + &Stats::of_rates(rates).row("Req/Sec", metric);
    let block = match arguments.latency {
        true => percentiles(latency),
        false => String::new(),
    };
    (stats, block)
}

fn of_wrk2(arguments: &Arguments, total: &Snapshot, rates: &Rates) -> (String, String) {
    const UNCORRECTED: &str =
        "Uncorrected Latency (measured without taking delayed starts into account)";
    let latency = Micros::of(&total.times.response);
    let stats = Stats::of_micros(&latency).row("Latency", time_us)
        + &Stats::of_rates(rates)
            .without_samples(rates.samples().is_empty())
            .row("Req/Sec", metric);
    let mut block = String::new();
    if arguments.latency {
        block.push_str(&detailed("Recorded Latency", &latency));
    }
    if arguments.uncorrected {
        block.push('\n');
        block.push_str(&detailed(UNCORRECTED, &Micros::of(&total.times.service)));
    }
    (stats, block)
}

/// One row of the table.
struct Stats {
    mean: f64,
    stdev: f64,
    max: f64,
    within_percent: f64,
}

impl Stats {
    /// Returns the statistics of times, in microseconds; the standard deviation is the one of a
    /// sample.
    fn of_times(times: &Distribution) -> Self {
        let count = times.len() as f64;
        let of_sample = match times.len() {
            0 | 1 => 0.0,
            _ => (count / (count - 1.0)).sqrt(),
        };
        let (mean_ns, stdev_ns) = (times.mean_ns(), times.stdev_ns() * of_sample);
        // Values have three significant digits, so equal values may differ slightly from their
        // mean.
        let reach_ns = stdev_ns.max(mean_ns / 1e3);
        let near = (mean_ns - reach_ns)..=(mean_ns + reach_ns);
        let steps = times.steps();
        let within: u64 = steps
            .filter(|(value_ns, _)| near.contains(&(*value_ns as f64)))
            .map(|(_, count)| count)
            .sum();
        Stats {
            mean: mean_ns / 1e3,
            stdev: stdev_ns / 1e3,
            max: times.max_ns() as f64 / 1e3,
            within_percent: within as f64 / count * 100.0,
        }
    }

    fn of_micros(times: &Micros) -> Self {
        Stats {
            mean: times.mean(),
            stdev: times.stdev(),
            max: times.max() as f64,
            within_percent: times.within_percent(),
        }
    }

    fn of_rates(rates: &Rates) -> Self {
        Stats {
            mean: rates.mean(),
            stdev: rates.stdev(),
            max: rates.max() as f64,
            within_percent: rates.within_percent(),
        }
    }

    /// Replaces the statistics if there are no samples: wrk2 prints other values than wrk then.
    fn without_samples(self, has_none: bool) -> Self {
        match has_none {
            false => self,
            true => Stats {
                mean: f64::NAN,
                stdev: f64::NAN,
                max: 0.0,
                within_percent: 0.0,
            },
        }
    }

    fn row(&self, name: &str, unit: fn(f64) -> String) -> String {
        let mean = cell(&unit(self.mean), 8);
        let stdev = cell(&unit(self.stdev), 10);
        let max = cell(&unit(self.max), 9);
        let within = number(self.within_percent, 2);
        format!("    {name:<10}{mean}{stdev}{max}{within:>8}%\n")
    }
}

/// Formats wrk's four percentiles.
fn percentiles(times: &Distribution) -> String {
    let mut text = "  Latency Distribution\n".to_owned();
    for percent in [50.0, 75.0, 90.0, 99.0] {
        let value_us = times.percentile_ns(percent) as f64 / 1e3;
        text.push_str(&format!(
            "{percent:>7.0}%{}\n",
            cell(&time_us(value_us), 10)
        ));
    }
    text
}

/// Formats wrk2's eight percentiles and its spectrum.
fn detailed(name: &str, times: &Micros) -> String {
    let mut text = format!("  Latency Distribution (HdrHistogram - {name})\n");
    for percent in [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0] {
        let value = cell(&time_us(times.percentile(percent) as f64), 10);
        text.push_str(&format!("{percent:>7.3}%{value}\n"));
    }
    text.push_str("\n  Detailed Percentile spectrum:\n");
    text.push_str(&times.spectrum());
    text.push_str(&"-".repeat(58));
    text.push('\n');
    text
}

fn totals(summary: &Summary) -> String {
    let counts = &summary.total.counts;
    let length_s = summary.counted_ns() as f64 / 1e9;
    let (answered, bytes) = (counts.answered as f64, counts.bytes_in as f64);
    let ran = time_us(summary.counted_ns() as f64 / 1e3);
    let mut text = format!(
        "  {} requests in {ran}, {}B read\n",
        counts.answered,
        binary(bytes)
    );
    text.push_str(&failures(&summary.total));
    text.push_str(&format!(
        "Requests/sec: {:>9}\nTransfer/sec: {:>10}B\n",
        number(answered / length_s, 2),
        binary(bytes / length_s)
    ));
    text
}

/// Formats the failures, if there are any. They do not include requests cut off at the end of the
/// run.
fn failures(total: &Snapshot) -> String {
    let SocketErrors {
        connect,
        read,
        write,
        timeout,
    } = SocketErrors::of(total);
    let mut text = String::new();
    if connect + read + write + timeout > 0 {
        text.push_str(&format!(
            "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n"
        ));
    }
    let bad: u64 = total.statuses.range(400..).map(|(_, count)| count).sum();
    if bad > 0 {
        text.push_str(&format!("  Non-2xx or 3xx responses: {bad}\n"));
    }
    text
}

#[cfg(test)]
mod tests;
