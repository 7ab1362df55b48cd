//! The configuration of a server.

use crate::answer::Answer;
use crate::error::StartError;
use crate::limit::Limit;
use crate::values;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The configuration of a server: addresses, responses, measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The address to listen on; port 0 selects a free one. Loopback by default, because this
    /// server obeys any client.
    pub listen: SocketAddr,
    /// A Unix socket to listen on in addition, always without TLS; removed when the server stops.
    pub unix_socket: Option<PathBuf>,
    /// True if `listen` uses TLS, with a certificate that the server creates itself.
    pub tls: bool,
    /// Certificate authorities in PEM, one of which must have signed each client's certificate;
    /// with `None` no certificate is requested of clients. Only with `tls`.
    pub client_ca_pem: Option<String>,
    /// The number of serving threads, at least one; connections are distributed over them in turn.
    pub threads: u32,
    /// The response to a request without options.
    pub defaults: Answer,
    /// True if the options of requests are ignored: each receives `defaults`.
    pub ignore_options: bool,
    /// The capacity of the server; unlimited if `None`.
    pub limit: Option<Limit>,
    /// The times at which the whole server stalls.
    pub freeze: Option<Freeze>,
    /// The seed of random delays and probabilities.
    pub seed: u64,
    /// The even schedule with which arrivals are compared; no comparison if `None`.
    pub arrivals: Option<EvenSchedule>,
    /// The number of requests that are stored as received, from the first one on: see
    /// [`Server::kept`](crate::Server::kept).
    pub keep: u64,
}

impl Default for Config {
    /// Port 8080 of 127.0.0.1, one thread, no TLS, the default response.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            unix_socket: None,
            tls: false,
            client_ca_pem: None,
            threads: 1,
            defaults: Answer::default(),
            ignore_options: false,
            limit: None,
            freeze: None,
            seed: 1,
            arrivals: None,
            keep: 0,
        }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), StartError> {
        if self.threads == 0 {
            return Err(StartError::NoThreads);
        }
        if self.arrivals.is_some_and(|even| !even.is_possible()) {
            return Err(StartError::Rate);
        }
        if self.limit.is_some_and(|limit| !limit.is_possible()) {
            return Err(StartError::Limit);
        }
        match self.freeze {
            Some(freeze) if !freeze.thaws() => Err(StartError::FreezeWithoutThaw),
            _ => Ok(()),
        }
    }
}

/// The schedule with which arrivals are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvenSchedule {
    /// The expected rate, in requests per second.
    pub rate_per_s: f64,
    /// The time from the first arrival that is left out, for clients that start unevenly.
    pub skip: Duration,
}

impl EvenSchedule {
    fn is_possible(&self) -> bool {
        self.rate_per_s.is_finite() && self.rate_per_s > 0.0
    }
}

/// The times at which the whole server stalls: it accepts nothing, reads nothing and writes
/// nothing, as if it had been stopped by a signal, and then continues with the backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// The duration of each freeze.
    pub length: Duration,
    /// The time from the start of one freeze to the start of the next, longer than `length`; with
    /// `None` the server freezes once.
    pub every: Option<Duration>,
    /// The time from the server's first request to the start of the first freeze.
    pub first_at: Duration,
}

impl Freeze {
    fn thaws(&self) -> bool {
        self.every.is_none_or(|every| every > self.length)
    }
}

/// The error for a text that is not a freeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Write LENGTH, LENGTH/EVERY, or either with @FIRST, such as 1s@5s for one second, five seconds \
     after the first request, or 200ms/2s@1s for the same again every two seconds."
)]
pub struct FreezeError;

impl FromStr for Freeze {
    type Err = FreezeError;

    /// Reads `1s`, `1s/10s`, `1s@5s` and `1s/10s@5s`.
    ///
    /// Without `@`, a repeated freeze first begins after one `every`, a single one at once.
    fn from_str(text: &str) -> Result<Self, FreezeError> {
        let time = |text| values::duration(text).ok_or(FreezeError);
        let (shape, first_at) = match text.split_once('@') {
            Some((shape, first_at)) => (shape, Some(time(first_at)?)),
            None => (text, None),
        };
        let (length, every) = match shape.split_once('/') {
            Some((length, every)) => (length, Some(time(every)?)),
            None => (shape, None),
        };
        let first_at = first_at.or(every).unwrap_or_default();
        Ok(Self {
            length: time(length)?,
            every,
            first_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_freeze_is_read_with_and_without_its_parts() {
        for (text, length, every, first_at) in [
            ("1s", s(1), None, s(0)),
            ("1s/10s", s(1), Some(s(10)), s(10)),
            ("1s@5s", s(1), None, s(5)),
            ("1s/10s@5s", s(1), Some(s(10)), s(5)),
        ] {
            assert_eq!(
                text.parse(),
                Ok(Freeze {
                    length,
                    every,
                    first_at
                }),
                "{text}"
            );
        }
        for text in ["", "1s/", "1s@", "@1s", "often", "1s@5s/10s"] {
            assert_eq!(text.parse::<Freeze>(), Err(FreezeError), "{text}");
        }
    }

    #[test]
    fn impossible_configurations_are_refused() {
        assert!(Config::default().check().is_ok());
        let no_threads = Config {
            threads: 0,
            ..Config::default()
        };
        assert!(matches!(no_threads.check(), Err(StartError::NoThreads)));
        let always_frozen = Freeze {
            length: s(1),
            every: Some(s(1)),
            first_at: s(0),
        };
        let frozen = Config {
            freeze: Some(always_frozen),
            ..Config::default()
        };
        assert!(matches!(frozen.check(), Err(StartError::FreezeWithoutThaw)));
        let no_rate = EvenSchedule {
            rate_per_s: 0.0,
            skip: s(0),
        };
        let still = Config {
            arrivals: Some(no_rate),
            ..Config::default()
        };
        assert!(matches!(still.check(), Err(StartError::Rate)));
        let no_counters = Limit {
            rate_per_s: 100.0,
            counters: 0,
        };
        let closed = Config {
            limit: Some(no_counters),
            ..Config::default()
        };
        assert!(matches!(closed.check(), Err(StartError::Limit)));
    }
}
