//! `loadline serve`.

use crate::exit::Exit;
use crate::flags::serve::ServeFlags;
use crate::publish::print;
use anyhow::{Context, Result};
use loadline_reactor::ensure_open_files;
use loadline_testbed::{ArrivalReport, Counts, Server, Spread};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt::Write;
use std::time::Duration;
use std::{io, thread};

/// Runs the test server until it is interrupted, and prints its counts.
pub(crate) fn run(flags: &ServeFlags) -> Result<Exit> {
    flags.refuse_lonely()?;
    let client_ca = flags.client_ca.as_ref().map(|path| {
        std::fs::read_to_string(path)
            .with_context(|| format!("--client-ca {}: it can't be read", path.display()))
    });
    let config = flags.config(client_ca.transpose()?);
    let scheme = if config.tls { "https" } else { "http" };
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("signals can't be watched")?;
    // Each connection is a descriptor. How many will come is for the clients to say.
    ensure_open_files(0)?;
    let server = Server::start(config)?;
    print(&format!(
        "Serving on {scheme}://{}/ until Ctrl-C.\n",
        server.addr()
    ))?;
    if flags.until_eof {
        stop_at_eof().context("stdin can't be watched")?;
    }
    signals.forever().next();
    let arrivals = server.arrivals();
    print(&account(&server.stop(), arrivals.as_ref()))?;
    Ok(Exit::Good)
}

/// Stops this process, as Ctrl-C does, when stdin ends.
fn stop_at_eof() -> io::Result<()> {
    let wait = || {
        // What cannot be read has ended.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = signal_hook::low_level::raise(SIGTERM);
    };
    thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(wait)
        .map(drop)
}

fn account(counts: &Counts, arrivals: Option<&ArrivalReport>) -> String {
    let Counts {
        connections,
        requests,
        answers,
        faults,
        freezes,
        ..
    } = counts;
    let mut text = format!(
        "\n{requests} requests over {connections} connections: {answers} answered, {faults} \
         faults injected, {freezes} freezes\n"
    );
    if let Some(arrivals) = arrivals {
        // Writing to a string does not fail.
        let _ = write!(text, "{}", arrival_account(arrivals));
    }
    text
}

fn arrival_account(arrivals: &ArrivalReport) -> String {
    let ArrivalReport {
        rate_per_s,
        measured,
        skipped,
        unstored,
        deviation,
        gap,
    } = arrivals;
    let mut text =
        format!("{measured} arrivals, compared with an even schedule of {rate_per_s} a second:\n");
    for (name, Spread { p50, p99, max }) in [("strayed by", deviation), ("gaps", gap)] {
        let line = format!(
            "  {name:<11} p50 {}  p99 {}  max {}\n",
            time(*p50),
            time(*p99),
            time(*max)
        );
        text.push_str(&line);
    }
    if *skipped > 0 {
        text.push_str(&format!(
            "  {skipped} arrivals at the beginning are left out\n"
        ));
    }
    if *unstored > 0 {
        text.push_str(&format!(
            "  {unstored} arrivals were not stored: the store was full\n"
        ));
    }
    text
}

fn time(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_the_counts_and_how_arrivals_strayed() {
        let us = Duration::from_micros;
        let arrivals = ArrivalReport {
            rate_per_s: 5000.0,
            measured: 10,
            skipped: 2,
            unstored: 0,
            deviation: Spread {
                p50: us(3),
                p99: us(40),
                max: us(1_234),
            },
            gap: Spread {
                p50: us(200),
                p99: us(260),
                max: us(900),
            },
        };
        let counts = Counts {
            connections: 4,
            requests: 12,
            answers: 11,
            ..Counts::default()
        };
        let expected = "\n12 requests over 4 connections: 11 answered, 0 faults injected, 0 \
                        freezes\n10 arrivals, compared with an even schedule of 5000 a second:\n  \
                        strayed by  p50 3.0 µs  p99 40.0 µs  max 1234.0 µs\n  gaps        p50 \
                        200.0 µs  p99 260.0 µs  max 900.0 µs\n  2 arrivals at the beginning are \
                        left out\n";
        assert_eq!(account(&counts, Some(&arrivals)), expected);
    }
}
