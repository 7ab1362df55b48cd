//! The flags of `loadline serve`.
//!
//! The test server itself declares the options of its responses: each is a flag here, and a key of
//! a request's query there.

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use loadline_plan::{Rate, parse_count, parse_duration, parse_small_count};
use loadline_testbed::{
    Answer, Config, EvenSchedule, Freeze, Limit, ResponseOption, response_options,
};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where the test server listens, and how it behaves unless a request says otherwise.
#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080",
        value_parser = parse_listen)]
    listen: SocketAddr,

    /// Listen on this Unix socket too
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    unix_socket: Option<PathBuf>,

    /// Worker threads
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = parse_small_count)]
    threads: u32,

    /// Serve TLS, with a new self-signed certificate
    #[arg(long)]
    tls: bool,

    /// Require a client certificate signed by one of these authorities (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) client_ca: Option<PathBuf>,

    /// The seed of random delays and faults
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_count)]
    seed: u64,

    /// Freeze the whole server, once (1s@5s) or repeatedly (1s/10s)
    #[arg(long, value_name = "TIME[/EVERY][@FIRST]")]
    freeze: Option<Freeze>,

    /// Cap throughput; requests queue FIFO for one of N parallel servers (--counters)
    #[arg(long, value_name = "RATE")]
    limit: Option<Rate>,

    /// Parallel servers of --limit; each takes N / RATE per request [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_small_count)]
    counters: Option<u32>,

    /// Ignore per-request options; send every client the same response
    #[arg(long)]
    ignore_options: bool,

    /// Also stop when stdin ends, such as when the parent process exits
    #[arg(long)]
    pub(crate) until_eof: bool,

    /// At the end, report how far the arrivals deviated from this constant rate
    #[arg(long, value_name = "RATE")]
    arrivals: Option<Rate>,

    /// Leave out the arrivals of this first part
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    arrivals_skip: Duration,

    #[command(flatten)]
    answer: AnswerFlags,
}

/// The default number of requests that a limit serves at the same time.
const USUAL_COUNTERS: u32 = 4;

/// A flag that means nothing without another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lonely {
    /// `--client-ca` without `--tls`.
    #[error("--client-ca asks clients for a certificate, which only TLS carries; add --tls.")]
    ClientCa,
    /// `--counters` without `--limit`.
    #[error("--counters says how many requests --limit serves at a time; add a --limit.")]
    Counters,
}

impl ServeFlags {
    /// Refuses flags that would do nothing as they stand.
    ///
    /// # Errors
    /// The first [`Lonely`] flag.
    pub(crate) fn refuse_lonely(&self) -> Result<(), Lonely> {
        if self.client_ca.is_some() && !self.tls {
            return Err(Lonely::ClientCa);
        }
        if self.counters.is_some() && self.limit.is_none() {
            return Err(Lonely::Counters);
        }
        Ok(())
    }

    /// Returns the configuration of the server, given the contents of the file of `--client-ca`.
    pub(crate) fn config(&self, client_ca_pem: Option<String>) -> Config {
        Config {
            listen: self.listen,
            unix_socket: self.unix_socket.clone(),
            tls: self.tls,
            client_ca_pem,
            threads: self.threads,
            defaults: self.answer.0.clone(),
            ignore_options: self.ignore_options,
            limit: self.limit.map(|rate| Limit {
                rate_per_s: rate.per_second(),
                counters: self.counters.unwrap_or(USUAL_COUNTERS),
            }),
            freeze: self.freeze,
            seed: self.seed,
            arrivals: self.arrivals.map(|rate| EvenSchedule {
                rate_per_s: rate.per_second(),
                skip: self.arrivals_skip,
            }),
            keep: 0,
        }
    }
}

/// Not an address.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an address to listen on. Write one such as 127.0.0.1:8080 or [::1]:0.")]
struct NoListen(String);

fn parse_listen(text: &str) -> Result<SocketAddr, NoListen> {
    text.parse().map_err(|_| NoListen(text.to_owned()))
}

/// The default response.
#[derive(Debug)]
struct AnswerFlags(Answer);

impl Args for AnswerFlags {
    fn augment_args(command: Command) -> Command {
        command.args(response_options().iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AnswerFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self(Answer::default());
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for ResponseOption { name, .. } in response_options() {
            if let Some(value) = matches.get_one::<String>(name) {
                let turned = self.0.set(name, value);
                turned.map_err(|error| Error::raw(ErrorKind::ValueValidation, error))?;
            }
        }
        Ok(())
    }
}

/// The flag of a response option. Its values are tried on a response that is never sent.
fn flag(option: &'static ResponseOption) -> Arg {
    let meaning = option.meaning.trim_end_matches('.');
    let read = |text: &str| {
        Answer::default()
            .set(option.name, text)
            .map(|()| text.to_owned())
    };
    Arg::new(option.name)
        .long(option.name)
        .value_name("VALUE")
        .value_parser(ValueParser::new(read))
        .help(format!("{meaning} ({})", option.takes))
        .help_heading(heading(option.name))
}

/// The group of a response option in the help.
fn heading(name: &str) -> &'static str {
    match name {
        "fault" | "h2-fault" | "freeze-now" | "every" | "probability" => "Faults",
        _ => "Response",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags;
    use loadline_testbed::StatusCode;

    fn serve_flags(line: &str) -> ServeFlags {
        let words = ["loadline", "serve"]
            .into_iter()
            .chain(line.split_whitespace());
        match flags::parse(words.map(Into::into)) {
            Ok(flags::Command::Serve(flags)) => *flags,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn defaults_are_the_servers() {
        assert_eq!(serve_flags("").config(None), Config::default());
    }

    #[test]
    fn every_option_is_a_flag() {
        let line = "--size 1k --status 503 --delay 5ms --chunked 1 --fault reset-in-body";
        let answer = serve_flags(line).config(None).defaults;
        assert_eq!(
            (answer.size, answer.status),
            (1_000, StatusCode::SERVICE_UNAVAILABLE)
        );
        assert!(answer.chunked && answer.delay.is_some() && answer.fault.is_some());
    }

    #[test]
    fn a_flag_without_the_one_it_is_about_is_refused() {
        let refusal = |line| serve_flags(line).refuse_lonely();
        assert_eq!(refusal("--client-ca a.pem"), Err(Lonely::ClientCa));
        assert_eq!(refusal("--counters 2"), Err(Lonely::Counters));
        let whole = "--client-ca a.pem --tls --counters 2 --limit 5";
        assert_eq!(refusal(whole), Ok(()));
    }

    #[test]
    fn the_server_is_set_up_as_told() {
        let line = "--listen [::1]:0 -t 2 --tls --seed 7 --freeze 1s/10s --arrivals 90/m \
                    --arrivals-skip 2s --unix-socket /run/a --limit 5k --counters 2 \
                    --ignore-options";
        let config = serve_flags(line).config(Some("pem".into()));
        assert_eq!(
            (config.listen.to_string().as_str(), config.threads),
            ("[::1]:0", 2)
        );
        assert_eq!((config.tls, config.seed), (true, 7));
        assert_eq!(config.client_ca_pem.as_deref(), Some("pem"));
        assert!(config.freeze.is_some() && config.unix_socket.is_some());
        let schedule = EvenSchedule {
            rate_per_s: 1.5,
            skip: Duration::from_secs(2),
        };
        assert_eq!(config.arrivals, Some(schedule));
        let limit = Limit {
            rate_per_s: 5_000.0,
            counters: 2,
        };
        assert_eq!((config.limit, config.ignore_options), (Some(limit), true));
    }
}
