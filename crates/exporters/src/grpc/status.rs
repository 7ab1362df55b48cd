//! The statuses of gRPC: which of them may pass, and after which pause.

use crate::channel::{Refusal, first_line};
use prost::Message;
use std::time::Duration;

/// The names of the codes, in their order:
/// <https://github.com/grpc/grpc/blob/master/doc/statuscodes.md>.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The codes with which OpenTelemetry's protocol requests the same message again:
/// <https://opentelemetry.io/docs/specs/otlp/#failures>.
const PASSING: [&str; 6] = [
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNAVAILABLE",
    "DATA_LOSS",
];

/// The rest of a status: `google.rpc.Status`.
#[derive(Clone, PartialEq, prost::Message)]
struct Status {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// The pause before a further attempt: `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, prost::Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    delay: Option<Delay>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Delay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

/// Returns the refusal of a status that is not OK, with its message and details.
pub(super) fn refusal(code: &str, message: &str, details: &[u8]) -> Refusal {
    let index = code
        .parse()
        .ok()
        .filter(|index: &usize| *index < NAMES.len());
    let name = index.map_or(code, |index| NAMES[index]);
    let after = pause(details);
    let meaning = match name {
        "PERMISSION_DENIED" | "UNAUTHENTICATED" => ", which is about the user or the token",
        "UNIMPLEMENTED" => ", so it takes no metrics over gRPC",
        _ => "",
    };
    let reason = first_line(message);
    Refusal {
        reason: match reason.is_empty() {
            true => format!("it answered {name}{meaning}"),
            false => format!("it answered {name} ({reason}){meaning}"),
        },
        may_retry: PASSING.contains(&name) || (name == "RESOURCE_EXHAUSTED" && after.is_some()),
        after,
    }
}

/// Returns the pause that the details of a status request.
fn pause(details: &[u8]) -> Option<Duration> {
    let status = Status::decode(details).ok()?;
    let mut all = status.details.iter();
    let info = all.find(|any| any.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = RetryInfo::decode(&info.value[..]).ok()?.delay?;
    let seconds = u64::try_from(delay.seconds).ok()?;
    Some(Duration::new(seconds, u32::try_from(delay.nanos).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details() -> Vec<u8> {
        let info = RetryInfo {
            delay: Some(Delay {
                seconds: 2,
                nanos: 500_000_000,
            }),
        };
        let any = Any {
            type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
            value: info.encode_to_vec(),
        };
        Status { details: vec![any] }.encode_to_vec()
    }

    #[test]
    fn a_status_says_whether_to_try_again_and_when() {
        let full = refusal("8", "", &[]);
        assert_eq!(
            (full.reason.as_str(), full.may_retry),
            ("it answered RESOURCE_EXHAUSTED", false)
        );
        let later = refusal("8", "", &details());
        assert!(later.may_retry);
        assert_eq!(later.after, Some(Duration::from_millis(2_500)));
        assert!(refusal("14", "", &[]).may_retry);
        let unknown = refusal("16", "no token\nat all", &[]);
        let reason = "it answered UNAUTHENTICATED (no token), which is about the user or the token";
        assert_eq!(
            (unknown.reason.as_str(), unknown.may_retry),
            (reason, false)
        );
        assert_eq!(refusal("99", "", b"junk").reason, "it answered 99");
    }
}
