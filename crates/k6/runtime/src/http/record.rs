//! The metrics of a request.

use super::errors::RequestFailure;
use super::hop::Hop;
use super::script_request::ScriptRequest;
use super::target::Target;
use crate::vu::Vu;
use loadline_k6_metrics::{HttpTimes, builtin};
use loadline_record::{Exchange, Outcome};
use smallvec::SmallVec;

/// The number of tags that need no separate allocation.
const USUAL_TAGS: usize = 12;

/// Records one exchange of a request. With `awaits_challenge`, status 401 is the expected one. An
/// exchange that failed before it began has times of 0. One that was cancelled with its iteration
/// is not recorded, as in k6.
pub(crate) fn hop(
    vu: &Vu,
    script_request: &ScriptRequest,
    target: &Target,
    method: &str,
    hop: &Hop,
    wrong: Option<&RequestFailure>,
    awaits_challenge: bool,
) {
    if hop.exchange.is_none() && wrong.is_none() {
        return;
    }
    // Bytes of TLS connections are counted where they are sent and received.
    if let Some(exchange) = hop.exchange.as_ref().filter(|_| !hop.is_https) {
        let mut activity = vu.activity.borrow_mut();
        activity.bytes.0 += exchange.bytes_out;
        activity.bytes.1 += exchange.bytes_in;
    }
    let status = status(hop, wrong);
    let failed = is_unexpected(script_request, status, awaits_challenge);
    let mut number = itoa::Buffer::new();
    let mut code = itoa::Buffer::new();
    let name = script_request.name.as_deref().unwrap_or(&target.shown);
    let tls = hop.tls.clone().map(tls);
    let has_ip = vu
        .run
        .as_ref()
        .is_some_and(|run| run.options.has_optional_tag("ip"));
    let remote = hop.remote.filter(|_| has_ip);
    let ip = remote.map(|remote| remote.ip().to_string());
    let mut tags: SmallVec<[(&str, &str); USUAL_TAGS]> = SmallVec::new();
    // The tags that scripts judge most often come first.
    tags.push(("name", name));
    tags.push(("status", number.format(status)));
    tags.push(("method", method));
    tags.push(("url", name));
    if wrong.is_none() {
        tags.push(("proto", proto(hop, wrong)));
    }
    if let Some(failed) = failed {
        tags.push(("expected_response", if failed { "false" } else { "true" }));
    }
    if let Some(wrong) = wrong {
        tags.push(("error", &wrong.short));
        tags.push(("error_code", code.format(wrong.code)));
    } else if status >= 400 {
        tags.push(("error_code", code.format(1000 + status)));
    }
    if let Some((version, _)) = &tls {
        tags.push(("tls_version", version));
    }
    tags.extend(ip.as_deref().map(|ip| ("ip", ip)));
    if let Some(run) = &vu.run {
        let unwanted = &run.options.unwanted_tags;
        tags.retain(|(name, _)| !unwanted.iter().any(|one| one == name));
    }
    let own = script_request.tags.iter();
    tags.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
    let timings = hop.timings();
    let times = HttpTimes {
        blocked: timings.blocked,
        connecting: timings.connecting,
        tls: timings.tls_handshaking,
        sending: timings.sending,
        waiting: timings.waiting,
        receiving: timings.receiving,
    };
    let tags = vu.tags(&tags);
    let response_ms = hop.response_ms().filter(|_| has_arrivals(vu));
    vu.worker.record_now(|recorder, at_ns| {
        recorder.http(&times, failed, at_ns, &tags);
        if let Some(response_ms) = response_ms {
            recorder.add(builtin::HTTP_REQ_RESPONSE, response_ms, at_ns, &tags);
        }
    });
}

/// True if the script does not expect a response that was received: its request has failed, in k6's
/// metrics and in the engine's record. One that was not received has failed anyway.
pub(crate) fn is_rejected(
    script_request: &ScriptRequest,
    hop: &Hop,
    wrong: Option<&RequestFailure>,
    awaits_challenge: bool,
) -> bool {
    let is_answered = |exchange: &Exchange| matches!(exchange.outcome, Outcome::Answered { .. });
    let failed = is_unexpected(script_request, status(hop, wrong), awaits_challenge);
    failed == Some(true) && hop.exchange.as_ref().is_some_and(is_answered)
}

/// True if a response of this status is not expected; `None` if nothing is.
fn is_unexpected(
    script_request: &ScriptRequest,
    status: u16,
    awaits_challenge: bool,
) -> Option<bool> {
    let expectation = script_request.expectation.as_ref()?;
    Some(match awaits_challenge {
        true => status != 401,
        false => !expectation.is_met(status),
    })
}

/// The status as k6 sees it: 0 of a response that can't be used.
fn status(hop: &Hop, wrong: Option<&RequestFailure>) -> u16 {
    match wrong {
        Some(_) => 0,
        None => hop.status,
    }
}

/// True if the user's iteration has an intended start.
fn has_arrivals(vu: &Vu) -> bool {
    let stage = &vu.activity.borrow().stage;
    stage.as_ref().is_some_and(|stage| stage.has_arrivals())
}

/// Returns the protocol of a response; empty if the request failed.
pub(crate) fn proto(hop: &Hop, wrong: Option<&RequestFailure>) -> &'static str {
    match (wrong, hop.is_http2) {
        (Some(_), _) => "",
        (None, true) => "HTTP/2.0",
        (None, false) => "HTTP/1.1",
    }
}

/// Returns the version of TLS in k6's form, and its cipher suite.
pub(crate) fn tls((version, suite): (String, String)) -> (&'static str, String) {
    let version = match version.as_str() {
        "TLSv1.2" | "TLSv1_2" => "tls1.2",
        _ => "tls1.3",
    };
    let suite = suite.replacen("TLS13_", "TLS_", 1);
    (version, suite)
}
