//! What a reader must know of the target and of the run before reading its figures.
//!
//! Every text ends in what to do.

use loadline_units as units;
use std::time::Duration;

/// What a reader must know before believing a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// A condition of `--abort-on` broke and ended the run.
    Aborted {
        /// The condition as typed.
        check: String,
        /// The length of the measured part.
        after: Duration,
    },
    /// Fewer samples than percentiles need.
    FewSamples {
        /// The percentiles that need more, rising.
        percentiles: Vec<f64>,
        /// The samples there are.
        samples: u64,
        /// The samples that the highest of them needs.
        needed: u64,
        /// How long a run at this rate takes for that; `None` if it is not known.
        length: Option<Duration>,
    },
    /// The user stopped the run.
    Interrupted {
        /// The length of the measured part.
        after: Duration,
        /// The length that was planned.
        planned: Option<Duration>,
    },
    /// Addresses of the target's name do not answer, and nothing was sent there.
    LeftOut {
        /// These.
        addresses: Vec<String>,
    },
    /// Statuses other than 2xx.
    NotSuccessful {
        /// Answers with such a status.
        count: u64,
        /// All responses.
        answered: u64,
        /// The most frequent of these statuses.
        status: u16,
    },
    /// No response at all.
    NothingAnswered {
        /// Requests sent.
        sent: u64,
        /// Those that failed; the others were still in flight at the end.
        failed: u64,
    },
    /// An open load was answered at less than its rate.
    RateBelowAsked {
        /// Arrivals that fell due, per second.
        asked: f64,
        /// Answers per second.
        achieved: f64,
        /// Where most of the difference is.
        shortfall: Shortfall,
    },
    /// The server closes many kept-alive connections.
    Reconnects {
        /// Connections replaced.
        count: u64,
        /// All responses.
        answered: u64,
    },
    /// The script threw, which ended the run.
    ScriptThrew {
        /// What it threw, and where.
        error: String,
        /// The length of the measured part.
        after: Duration,
    },
    /// The server sends more data than the lengths of its responses say.
    ExtraBytes {
        /// Connections given up for that.
        count: u64,
        /// All responses.
        answered: u64,
    },
    /// Arrivals without a response at the end, older than any response in the figures or many.
    Unanswered {
        /// Arrivals never sent.
        unsent: u64,
        /// Requests sent and not answered.
        in_flight: u64,
        /// How long the oldest had waited, in nanoseconds; 0 if that is not known.
        oldest_ns: u64,
        /// Whether percentiles count them: for how long each had waited is known.
        counted: bool,
    },
    /// A worker was lost, which ended the run.
    WorkerFailed {
        /// Which, and why: a whole sentence.
        error: String,
        /// The length of the measured part.
        after: Duration,
    },
}

/// Where the responses are that an open load is short of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Most of them failed.
    Failed,
    /// Most of them were still in flight at the end.
    InFlight,
    /// Most of them were never sent: no connection came free.
    Unsent,
}

impl Warning {
    /// The warning's name, as in the JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Warning::Aborted { .. } => "aborted",
            Warning::FewSamples { .. } => "few_samples",
            Warning::Interrupted { .. } => "interrupted",
            Warning::LeftOut { .. } => "left_out",
            Warning::NotSuccessful { .. } => "not_successful",
            Warning::NothingAnswered { .. } => "nothing_answered",
            Warning::RateBelowAsked { .. } => "rate_below_asked",
            Warning::Reconnects { .. } => "reconnects",
            Warning::ScriptThrew { .. } => "script_threw",
            Warning::ExtraBytes { .. } => "surplus",
            Warning::Unanswered { .. } => "unanswered",
            Warning::WorkerFailed { .. } => "worker_failed",
        }
    }

    /// What happened, and what to do about it.
    pub fn sentence(&self) -> String {
        match self {
            Warning::Aborted { check, after } => aborted_text(check, *after),
            Warning::FewSamples {
                percentiles,
                samples,
                needed,
                length,
            } => few_samples_text(percentiles, *samples, *needed, *length),
            Warning::Interrupted { after, planned } => interrupted_text(*after, *planned),
            Warning::LeftOut { addresses } => left_out_text(addresses),
            Warning::NotSuccessful {
                count,
                answered,
                status,
            } => not_successful_text(*count, *answered, *status),
            Warning::NothingAnswered { sent, failed } => nothing_answered_text(*sent, *failed),
            Warning::RateBelowAsked {
                asked,
                achieved,
                shortfall,
            } => rate_text(*asked, *achieved, *shortfall),
            Warning::Reconnects { count, answered } => reconnects_text(*count, *answered),
            Warning::ScriptThrew { error, after } => script_threw_text(error, *after),
            Warning::ExtraBytes { count, answered } => extra_bytes_text(*count, *answered),
            Warning::Unanswered {
                unsent,
                in_flight,
                oldest_ns,
                counted,
            } => {
                let waited = unanswered_text(*unsent, *in_flight, *oldest_ns);
                format!("{waited} {}", counted_text(*counted))
            }
            Warning::WorkerFailed { error, after } => worker_failed_text(error, *after),
        }
    }
}

fn aborted_text(check: &str, after: Duration) -> String {
    let after = units::elapsed(after);
    format!(
        "The run was ended after {after} because {check} broke. Lower the load, or remove the \
         condition from --abort-on to see the rest of the run."
    )
}

fn few_samples_text(
    percentiles: &[f64],
    samples: u64,
    needed: u64,
    length: Option<Duration>,
) -> String {
    let names: Vec<String> = percentiles
        .iter()
        .map(|percentile| format!("p{percentile}"))
        .collect();
    let (verb, it) = if names.len() == 1 {
        ("needs", "it")
    } else {
        ("need", "them")
    };
    let advice = match length {
        Some(length) => format!("Measure for {} at this rate", units::duration(length)),
        None => "Measure for longer".to_owned(),
    };
    format!(
        "{} {verb} more samples than the {} there are. {advice}, or for {} requests (-n {needed}), \
         to see {it}.",
        names.join(", "),
        units::count(samples),
        units::count(needed),
    )
}

fn interrupted_text(after: Duration, planned: Option<Duration>) -> String {
    let of = planned.map(|planned| format!(" of {}", units::duration(planned)));
    format!(
        "The run was interrupted after {}{}: the figures cover only that part. Let it run to its \
         end before you compare it.",
        units::elapsed(after),
        of.unwrap_or_default(),
    )
}

fn script_threw_text(error: &str, after: Duration) -> String {
    format!(
        "The script raised an error after {}, which ended the run ({error}): the figures cover \
         only that part. Correct the script, and run it again.",
        units::elapsed(after),
    )
}

fn worker_failed_text(error: &str, after: Duration) -> String {
    if after.is_zero() {
        return format!("The figures are missing because {error} Run it again.");
    }
    format!(
        "The run ended after {} because {error} The figures cover only that part: run it again.",
        units::elapsed(after),
    )
}

fn left_out_text(addresses: &[String]) -> String {
    let list = addresses.join(", ");
    format!(
        "Nothing was sent to {list}: no connection could be opened at the start, unlike to other \
         addresses of the same name. Start the server there, or expect the other addresses to \
         carry the whole load."
    )
}

fn not_successful_text(count: u64, answered: u64, status: u16) -> String {
    let advice = status_advice(status);
    if count == answered {
        let all = units::counted(answered, "response");
        return format!("No 2xx status in {all}; {status} is the most frequent. {advice}");
    }
    format!(
        "{} of {} ({}) had a status other than 2xx, most often {status}. {advice}",
        units::count(count),
        units::counted(answered, "response"),
        units::share(count as f64 / answered as f64),
    )
}

fn status_advice(status: u16) -> &'static str {
    match status {
        300..=399 => "Redirects are not followed: give the URL that they lead to.",
        401 | 403 | 407 => "Give credentials with -u or -H.",
        404 | 410 => "Check the URL's path.",
        405 => "Check the method (-X).",
        429 => "The server limits the rate: lower the load, or lift its limit.",
        500..=599 => "Look in the server's log, or lower the load.",
        _ => "Check the URL, the method and the headers.",
    }
}

fn nothing_answered_text(sent: u64, failed: u64) -> String {
    let requests = units::counted(sent, "request");
    match (sent, failed) {
        (0, _) => "Nothing was sent in the measured part: it was too short. Give the run more \
                   time, or let it run to its end."
            .to_owned(),
        (_, 0) => format!(
            "No response to {requests}, and no failure: the server is silent. Try one request by \
             hand (curl -v), and give a --timeout shorter than the run."
        ),
        _ => format!(
            "No response to {requests}. Look at the errors, and try one request by hand (curl -v)."
        ),
    }
}

fn rate_text(asked: f64, achieved: f64, shortfall: Shortfall) -> String {
    let (asked, achieved) = (units::rate(asked), units::rate(achieved));
    let cause = match shortfall {
        Shortfall::Failed => {
            "most of the rest failed. Look at the errors before you believe the times."
        }
        Shortfall::InFlight => {
            "most of the rest was in flight at the end. Run longer, or lower the rate (-r)."
        }
        Shortfall::Unsent => {
            "most of the rest found no free connection. Lower the rate (-r), or allow more \
             connections (--max-connections)."
        }
    };
    format!("{achieved} achieved of {asked} asked; {cause}")
}

fn extra_bytes_text(count: u64, answered: u64) -> String {
    format!(
        "The server sent more data than Content-Length says, on {}{}: Loadline counted only the \
         announced length, and had to replace each such connection. Correct the length in the \
         server.",
        units::counted(count, "connection"),
        of_answers(count, answered),
    )
}

fn of_answers(count: u64, answered: u64) -> String {
    if answered == 0 {
        return String::new();
    }
    let share = units::share(count as f64 / answered as f64);
    format!(" ({share} of the responses)")
}

/// From this share of the responses on, connections end with each of them: a connection that served
/// two makes half as many reconnects as responses, and the first connections of a run are no
/// reconnects.
const EACH_ANSWER: f64 = 0.6;

fn reconnects_text(count: u64, answered: u64) -> String {
    let of = of_answers(count, answered);
    if count as f64 >= answered as f64 * EACH_ANSWER {
        return "The server closes the connection after each response: it has no keep-alive, as \
                with HTTP/1.0, or was asked to close (Connection: close). Nearly every response \
                time includes a new connection. Turn on keep-alive in the server, or give \
                --no-keepalive if that is what you measure."
            .to_owned();
    }
    format!(
        "The server closed {}{of}; the time to replace them is in the response times. Raise its \
         limit of requests per connection (keepalive_requests in nginx) and its idle timeout.",
        units::counted(count, "kept-alive connection"),
    )
}

fn unanswered_text(unsent: u64, in_flight: u64, oldest_ns: u64) -> String {
    let what = match (unsent, in_flight) {
        (0, 1) => "1 request was in flight at the end, and".to_owned(),
        (0, _) => {
            let in_flight = units::count(in_flight);
            format!("{in_flight} requests were in flight at the end; the oldest of them")
        }
        _ => format!(
            "{} had no response at the end ({} in flight, {} never sent); the oldest of them",
            units::counted(unsent + in_flight, "arrival"),
            units::count(in_flight),
            units::count(unsent),
        ),
    };
    let waited = match oldest_ns {
        // The record breaks off before it says.
        0 => "had waited for some time".to_owned(),
        _ => format!("had waited {}", units::time(oldest_ns as f64)),
    };
    format!("{what} {waited}.")
}

fn counted_text(counted: bool) -> &'static str {
    match counted {
        true => {
            "Percentiles count each with the time that it had waited, as a lower bound. Run \
             longer, wait for the responses (--drain), or lower the load."
        }
        // The record is of an older version, or breaks off.
        false => {
            "The record does not say how long each of them had waited, so percentiles leave them \
             out: the true ones may be higher. Run longer, or lower the load."
        }
    }
}

#[cfg(test)]
mod tests;
