//! The sentences about the target and about the user's actions, with advice.

use super::Shortfall;
use loadline_units as units;
use std::time::Duration;

pub(super) fn aborted(check: &str, of_script: bool, after: Duration) -> String {
    let after = units::elapsed(after);
    let from = match of_script {
        true => "have the script go on (abortOnFail: false)",
        false => "remove the condition from --abort-on",
    };
    format!(
        "The run was ended after {after} because {check} broke. Lower the load, or {from} to see \
         the rest of the run."
    )
}

pub(super) fn few_samples(
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

pub(super) fn interrupted(after: Duration, planned: Option<Duration>) -> String {
    let of = planned.map(|planned| format!(" of {}", units::duration(planned)));
    format!(
        "The run was interrupted after {}{}: the figures cover only that part. Let it run to its \
         end before you compare it.",
        units::elapsed(after),
        of.unwrap_or_default(),
    )
}

pub(super) fn odd_agent(agent: &str, percentile: f64, own_ns: u64, rest_ns: u64) -> String {
    format!(
        "Agent {agent} measured other response times than the other agents: p{percentile} {} \
         instead of {}. Look at its network path and at what else its machine does; labels \
         (--agents KEY=VALUE) leave it out.",
        units::time(own_ns as f64),
        units::time(rest_ns as f64),
    )
}

pub(super) fn script_threw(error: &str, after: Duration) -> String {
    format!(
        "The script raised an error after {}, which ended the run ({error}): the figures cover \
         only that part. Correct the script, and run it again.",
        units::elapsed(after),
    )
}

pub(super) fn many_failed(failed: u64, ended: u64) -> String {
    format!(
        "{} of {} ({}) failed. Look at the errors before you believe the times.",
        units::count(failed),
        units::counted(ended, "request"),
        units::share(failed as f64 / ended as f64),
    )
}

pub(super) fn worker_failed(error: &str, after: Option<Duration>) -> String {
    let Some(after) = after else {
        return format!("The run lacks a part of its load: {error} Run it again.");
    };
    if after.is_zero() {
        return format!("The figures are missing because {error} Run it again.");
    }
    format!(
        "The run ended after {} because {error} The figures cover only that part: run it again.",
        units::elapsed(after),
    )
}

pub(super) fn left_out(addresses: &[String]) -> String {
    let list = addresses.join(", ");
    format!(
        "Nothing was sent to {list}: no connection could be opened at the start, unlike to other \
         addresses of the same name. Start the server there, or expect the other addresses to \
         carry the whole load."
    )
}

pub(super) fn not_delivered(sentence: &str) -> String {
    format!(
        "{sentence} The figures of the run are whole; see that the receiver is reachable and takes \
         what is sent."
    )
}

pub(super) fn not_successful(count: u64, answered: u64, status: u16) -> String {
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
        415 => "Say what the body is, as in -H 'Content-Type: application/json'.",
        429 => "The server limits the rate: lower the load, or lift its limit.",
        500..=599 => "Look in the server's log, or lower the load.",
        _ => "Check the URL, the method and the headers.",
    }
}

pub(super) fn nothing_answered(sent: u64, failed: u64, has_script: bool) -> String {
    let requests = units::counted(sent, "request");
    match (sent, failed) {
        (0, _) if has_script => "The script sent nothing in the measured part. If it should, look \
                                 at its conditions and exceptions, or give the run more time."
            .to_owned(),
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

pub(super) fn rate_below_asked(asked: f64, achieved: f64, shortfall: Shortfall) -> String {
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
        Shortfall::NotDue => {
            "before most of the rest the script paused until after the end, sent no request, or \
             had ended. Run longer, or wait for it (--drain)."
        }
    };
    format!("{achieved} achieved of {asked} asked; {cause}")
}

pub(super) fn extra_bytes(count: u64, answered: u64) -> String {
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

/// The share of reconnects to responses from which the server is taken to close connections after
/// each response: a connection with two responses makes half as many reconnects as responses, and
/// the first connections of a run are no reconnects.
const EACH_ANSWER: f64 = 0.6;

pub(super) fn reconnects(count: u64, answered: u64) -> String {
    let of = of_answers(count, answered);
    if count as f64 >= answered as f64 * EACH_ANSWER {
        return "The server closes connections after one response each or little more: it has no \
                keep-alive, as with HTTP/1.0, was asked to close (Connection: close), or its idle \
                timeout is shorter than connections wait. Nearly every response time includes a \
                new connection. Turn on keep-alive in the server, raise its idle timeout, or give \
                --no-keepalive if that is what you measure."
            .to_owned();
    }
    format!(
        "The server closed {}{of}; the time to replace them is in the response times. Raise its \
         limit of requests per connection (keepalive_requests in nginx) and its idle timeout.",
        units::counted(count, "kept-alive connection"),
    )
}

pub(super) fn resent(count: u64, sent: u64, is_http2: bool) -> String {
    let share = units::share(count as f64 / sent.max(1) as f64);
    let went = match count {
        1 => "1 request went".to_owned(),
        _ => format!("{} requests went", units::count(count)),
    };
    if is_http2 {
        return format!(
            "{went} out again ({share} of those sent): the server refused their streams, or gave \
             up the connection with GOAWAY, and said that it had not looked at them. Raise its \
             limits of streams and of requests per connection."
        );
    }
    format!(
        "{went} out again ({share} of those sent): the server closed their connections without a \
         response. It had read nothing of them, unless k6's or Locust's rules let them be sent \
         again. Raise its idle timeout and its limit of requests per connection, and look in its \
         log for requests that it dropped."
    )
}

pub(super) fn http2_reconnects(count: u64, answered: u64) -> String {
    format!(
        "Loadline replaced {}{}: the server sent GOAWAY, closed them, or did not answer within \
         --timeout. The time to replace them is in the response times. Raise the server's limit of \
         requests per connection (keepalive_requests in nginx) and its idle timeout.",
        units::counted(count, "HTTP/2 connection"),
        of_answers(count, answered),
    )
}

pub(super) fn unanswered(unsent: u64, in_flight: u64, oldest_ns: u64, is_counted: bool) -> String {
    let waited = oldest_unanswered(unsent, in_flight, oldest_ns);
    format!("{waited} {}", counted(is_counted))
}

fn oldest_unanswered(unsent: u64, in_flight: u64, oldest_ns: u64) -> String {
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
        // The record ends before this is known.
        0 => "had waited for some time".to_owned(),
        _ => format!("had waited {}", units::time(oldest_ns as f64)),
    };
    format!("{what} {waited}.")
}

fn counted(counted: bool) -> &'static str {
    match counted {
        true => {
            "Percentiles count each with the time that it had waited, as a lower bound. Run \
             longer, wait for the responses (--drain), or lower the load."
        }
        // The record is of an older version, or incomplete.
        false => {
            "The record does not say how long each of them had waited, so percentiles leave them \
             out: the true ones may be higher. Run longer, or lower the load."
        }
    }
}
