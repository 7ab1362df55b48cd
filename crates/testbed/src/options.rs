//! Response options: the properties of a response that can be set by name.
//!
//! One table lists them all. [`Answer::set`] sets a server's defaults; a request sets its own
//! options by its query (`/?size=1000&delay=20ms`) and, with precedence, by its headers
//! (`X-Loadline-Size: 1000`): all of these use this module.

use crate::answer::{Answer, Encoding, Version};
use crate::values::{self, optional};
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use std::fmt;
use std::num::NonZeroU64;

/// A property of a response that can be set.
#[derive(Clone, Copy, Debug)]
pub struct ResponseOption {
    /// The option's name: unchanged in the query, in a header as `X-Loadline-<name>`.
    pub name: &'static str,
    /// A phrase that describes the accepted values.
    pub takes: &'static str,
    /// The option's effect, in one sentence.
    pub meaning: &'static str,
    set: fn(&mut Answer, &str) -> Option<()>,
}

/// Returns every option, in the guide's order.
pub fn response_options() -> &'static [ResponseOption] {
    &OPTIONS
}

const SWITCH: &str = "1 or 0";

static OPTIONS: [ResponseOption; 20] = [
    ResponseOption {
        name: "size",
        takes: "a number of bytes up to 1000G, such as 1000, 64k or 1M",
        meaning: "Bytes in the body.",
        set: |answer, text| put(&mut answer.size, body_size(text)),
    },
    ResponseOption {
        name: "json",
        takes: "JSON such as {\"id\":1}, or none",
        meaning: "This body instead, as application/json.",
        set: |answer, text| put(&mut answer.json, optional(text, json)),
    },
    ResponseOption {
        name: "status",
        takes: "a status code from 200 to 999",
        meaning: "The status code.",
        set: |answer, text| put(&mut answer.status, final_status(text)),
    },
    ResponseOption {
        name: "location",
        takes: "a URL such as /other, or none",
        meaning: "Where a redirect leads.",
        set: |answer, text| put(&mut answer.location, optional(text, location)),
    },
    ResponseOption {
        name: "set-cookie",
        takes: "a cookie such as NAME=VALUE, or none",
        meaning: "Set this cookie.",
        set: |answer, text| put(&mut answer.set_cookie, optional(text, cookie)),
    },
    ResponseOption {
        name: "encoding",
        takes: "gzip, deflate or none",
        meaning: "Compress the body.",
        set: |answer, text| put(&mut answer.encoding, optional(text, encoding)),
    },
    ResponseOption {
        name: "version",
        takes: "1.1 or 1.0",
        meaning: "HTTP version of the status line; 1.0 closes unless close=0.",
        set: |answer, text| put(&mut answer.version, version(text)),
    },
    ResponseOption {
        name: "chunked",
        takes: SWITCH,
        meaning: "Send chunks of at most 4096 bytes instead of a length.",
        set: |answer, text| put(&mut answer.chunked, values::switch(text)),
    },
    ResponseOption {
        name: "trailers",
        takes: SWITCH,
        meaning: "Send the body in chunks, then a trailer `X-Trailer: end`.",
        set: |answer, text| put(&mut answer.trailers, values::switch(text)),
    },
    ResponseOption {
        name: "until-close",
        takes: SWITCH,
        meaning: "Send neither length nor chunks: the body ends with the connection.",
        set: |answer, text| put(&mut answer.until_close, values::switch(text)),
    },
    ResponseOption {
        name: "interim",
        takes: "status codes from 100 to 199 but 101, separated by commas, such as 103, or none",
        meaning: "Send these interim responses first.",
        set: |answer, text| put(&mut answer.interim, interims(text)),
    },
    ResponseOption {
        name: "close",
        takes: "1, 0 or none",
        meaning: "1: say `Connection: close` and close. 0: stay open, even with version=1.0.",
        set: |answer, text| put(&mut answer.close, optional(text, values::switch)),
    },
    ResponseOption {
        name: "close-after",
        takes: "a count of responses such as 100, or none",
        meaning: "Say `Connection: close` in the connection's n-th response, and close.",
        set: |answer, text| put(&mut answer.close_after, optional(text, positive_count)),
    },
    ResponseOption {
        name: "delay",
        takes: "a time such as 20ms, exp:MEAN such as exp:20ms, lognormal:MEDIAN,SIGMA such as \
                lognormal:20ms,0.5, or none",
        meaning: "Wait between the whole request and the first byte of the response.",
        set: |answer, text| put(&mut answer.delay, optional(text, |text| text.parse().ok())),
    },
    ResponseOption {
        name: "drip",
        takes: "BYTES/TIME such as 10/5ms, or none",
        meaning: "Send the body in pieces of that many bytes, one each time.",
        set: |answer, text| put(&mut answer.drip, optional(text, |text| text.parse().ok())),
    },
    ResponseOption {
        name: "fault",
        takes: "close, half-close, hang or reset, then -before-head, -in-head, -after-head, \
                -in-body or -after-answer, such as reset-in-body; or never-answer, garbage, \
                short-length, long-length, bad-chunk, huge-head, endless; or none",
        meaning: "Inject a fault into the response, over HTTP/1.1.",
        set: |answer, text| put(&mut answer.fault, optional(text, |text| text.parse().ok())),
    },
    ResponseOption {
        name: "h2-fault",
        takes: "goaway, goaway-in-body, closed-window, wrong-frame, header-flood, ping-flood, \
                settings-flood, silent, reset:CODE or reset-in-body:CODE such as reset:7, or none",
        meaning: "Inject a fault into the response or its connection, over HTTP/2.",
        set: |answer, text| {
            put(
                &mut answer.h2_fault,
                optional(text, |text| text.parse().ok()),
            )
        },
    },
    ResponseOption {
        name: "freeze-now",
        takes: "a time such as 500ms, or none",
        meaning: "Freeze the whole server for that long when the request has arrived.",
        set: |answer, text| put(&mut answer.freeze_now, optional(text, values::duration)),
    },
    ResponseOption {
        name: "every",
        takes: "a count such as 10",
        meaning: "Limit status, faults and freeze-now to each n-th request of the server.",
        set: |answer, text| put(&mut answer.every, positive_count(text)),
    },
    ResponseOption {
        name: "probability",
        takes: "a number from 0 to 1 such as 0.01",
        meaning: "Limit status, faults and freeze-now to this share of requests, by the seed.",
        set: |answer, text| put(&mut answer.probability, values::probability(text)),
    },
];

/// Reads the length of a body in bytes. More than a terabyte is refused as a mistake: no client
/// waits for it, and beyond 64 bits a length can't be represented.
fn body_size(text: &str) -> Option<u64> {
    const MOST: u64 = 1_000_000_000_000;
    values::count(text).filter(|&size| size <= MOST)
}

fn json(text: &str) -> Option<Bytes> {
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    is_json.then(|| Bytes::copy_from_slice(text.as_bytes()))
}

fn final_status(text: &str) -> Option<StatusCode> {
    StatusCode::from_bytes(text.as_bytes())
        .ok()
        .filter(|status| !status.is_informational())
}

fn version(text: &str) -> Option<Version> {
    match text {
        "1.0" => Some(Version::Http10),
        "1.1" => Some(Version::Http11),
        _ => None,
    }
}

fn location(text: &str) -> Option<HeaderValue> {
    let text = Some(text).filter(|text| text.contains('/'));
    HeaderValue::from_str(text?).ok()
}

fn cookie(text: &str) -> Option<HeaderValue> {
    let text = Some(text).filter(|text| text.contains('='));
    HeaderValue::from_str(text?).ok()
}

fn encoding(text: &str) -> Option<Encoding> {
    let mut known = [Encoding::Gzip, Encoding::Deflate].into_iter();
    known.find(|encoding| encoding.name() == text)
}

fn interims(text: &str) -> Option<Vec<StatusCode>> {
    let all = optional(text, |text| text.split(',').map(interim).collect())?;
    Some(all.unwrap_or_default())
}

/// Reads one interim status; not 101, after which the connection would no longer use HTTP.
fn interim(code: &str) -> Option<StatusCode> {
    let status = StatusCode::from_bytes(code.as_bytes()).ok()?;
    let fits = status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS;
    fits.then_some(status)
}

fn positive_count(text: &str) -> Option<NonZeroU64> {
    values::count(text).and_then(NonZeroU64::new)
}

fn put<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

impl Answer {
    /// Sets the option `name` to `value`.
    ///
    /// # Errors
    /// [`OptionError`] if there is no such option or it doesn't accept that value; the response is
    /// then unchanged.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let option = OPTIONS
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name));
        let option = option.ok_or_else(|| OptionError::Unknown(name.to_owned()))?;
        (option.set)(self, value).ok_or_else(|| OptionError::Refused {
            name: option.name,
            value: value.to_owned(),
            takes: option.takes,
        })
    }
}

/// A reason why an option was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// The option doesn't accept this value.
    #[error("`{name}` does not take `{value}`. It takes {takes}.")]
    Refused {
        /// The option.
        name: &'static str,
        /// The value as received.
        value: String,
        /// A phrase that describes the accepted values.
        takes: &'static str,
    },
    /// There is no such option.
    #[error("There is no option `{0}`. There are {OptionNames}.")]
    Unknown(String),
}

/// Prints every option's name.
struct OptionNames;

impl fmt::Display for OptionNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, option) in OPTIONS.iter().enumerate() {
            let before = ["", ", "][usize::from(index > 0)];
            write!(f, "{before}{}", option.name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> Answer {
        let mut answer = Answer::default();
        answer
            .set(name, value)
            .expect("an option that takes the value");
        answer
    }

    #[test]
    fn each_option_sets_its_own_field() {
        for (name, value, back) in [
            ("size", "1k", "60"),
            ("status", "503", "200"),
            ("location", "/other", "none"),
            ("json", r#"{"id":[1,"é"]}"#, "none"),
            ("set-cookie", "k=v; Path=/", "none"),
            ("encoding", "deflate", "none"),
            ("version", "1.0", "1.1"),
            ("chunked", "1", "0"),
            ("trailers", "1", "0"),
            ("until-close", "1", "0"),
            ("interim", "100,103", "none"),
            ("close", "0", "none"),
            ("close-after", "3", "none"),
            ("delay", "exp:5ms", "none"),
            ("drip", "10/5ms", "none"),
            ("fault", "garbage", "none"),
            ("h2-fault", "goaway", "none"),
            ("freeze-now", "1s", "none"),
            ("every", "10", "1"),
            ("probability", "0.5", "1"),
        ] {
            let mut answer = set(name, value);
            assert_ne!(answer, Answer::default(), "{name}");
            answer
                .set(name, back)
                .expect("an option that can be set back");
            assert_eq!(answer, Answer::default(), "{name}");
        }
        assert_eq!(OPTIONS.len(), 20, "each option is set above");
    }

    #[test]
    fn values_are_read_into_their_fields() {
        assert_eq!(set("size", "64k").size, 64_000);
        assert_eq!(set("size", "1000G").size, 1_000_000_000_000);
        assert_eq!(set("STATUS", "204").status, StatusCode::NO_CONTENT);
        assert_eq!(set("interim", "100,103").interim, [100, 103].map(status));
        assert_eq!(set("close", "1").close, Some(true));
        assert_eq!(set("close-after", "2").close_after, NonZeroU64::new(2));
    }

    fn status(code: u16) -> StatusCode {
        StatusCode::from_u16(code).expect("a status code")
    }

    #[test]
    fn a_refused_value_is_answered_with_what_the_option_takes() {
        let mut answer = Answer::default();
        let refusal = answer.set("chunked", "yes").expect_err("a refusal");
        assert_eq!(
            refusal.to_string(),
            "`chunked` does not take `yes`. It takes 1 or 0."
        );
        for (name, value) in [
            ("size", "big"),
            ("size", "1001G"),
            ("size", "18446744073709551615"),
            ("status", "100"),
            ("status", "99"),
            ("interim", "101"),
            ("interim", "200"),
            ("interim", ""),
            ("close-after", "0"),
            ("every", "0"),
            ("probability", "2"),
            ("drip", "0/1ms"),
            ("version", "2"),
        ] {
            assert!(answer.set(name, value).is_err(), "{name}={value}");
        }
        assert_eq!(answer, Answer::default());
    }

    #[test]
    fn an_unknown_option_is_answered_with_those_there_are() {
        let refusal = Answer::default()
            .set("seize", "1")
            .expect_err("a refusal")
            .to_string();
        assert!(refusal.starts_with("There is no option `seize`. There are size, json, status, "));
        assert!(refusal.ends_with(", every, probability."));
    }

    #[test]
    fn the_guide_tells_of_every_option_in_order() {
        let guide = include_str!("../../../docs/guide/test-server.md");
        let table = guide
            .split("| option | takes |")
            .nth(1)
            .expect("the table of options");
        let rows = table
            .lines()
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        let told: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        let names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        assert_eq!(told, names);
    }
}
