//! What a request asks for: the server's answer, changed by the query and then by the headers.

use crate::answer::Answer;
use crate::knobs::KnobError;
use hyper::header::{HeaderMap, HeaderName};
use hyper::http::request::Parts;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// What a header that turns a knob begins with.
const HEADER_PREFIX: &str = "x-loadline-";

/// The path that answers with what it received.
const ECHO_PATH: &str = "/echo";

/// Whether the request wants to see itself.
pub(crate) fn wants_echo(request: &Parts) -> bool {
    request.uri.path() == ECHO_PATH
}

/// The answer that `request` asks for; the server's own where it asks for nothing.
///
/// The query of `/echo` belongs to the client: what is no knob there is let pass.
pub(crate) fn of<'a>(request: &Parts, defaults: &'a Answer) -> Result<Cow<'a, Answer>, KnobError> {
    let mut answer = Cow::Borrowed(defaults);
    if let Some(query) = request.uri.query() {
        turn_by_query(&mut answer, query, wants_echo(request))?;
    }
    turn_by_headers(&mut answer, &request.headers)?;
    Ok(answer)
}

fn turn_by_query(
    answer: &mut Cow<'_, Answer>,
    query: &str,
    lenient: bool,
) -> Result<(), KnobError> {
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match answer.to_mut().set(&decoded(name), &decoded(value)) {
            Err(KnobError::Unknown(_)) if lenient => (),
            outcome => outcome?,
        }
    }
    Ok(())
}

fn turn_by_headers(answer: &mut Cow<'_, Answer>, headers: &HeaderMap) -> Result<(), KnobError> {
    for (name, value) in headers {
        if let Some(knob) = knob_of(name) {
            answer
                .to_mut()
                .set(knob, &String::from_utf8_lossy(value.as_bytes()))?;
        }
    }
    Ok(())
}

fn knob_of(name: &HeaderName) -> Option<&str> {
    name.as_str().strip_prefix(HEADER_PREFIX)
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::{Request, StatusCode};

    fn asked(target: &str, headers: &[(&str, &str)]) -> Result<Answer, KnobError> {
        let mut request = Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (request, ()) = request.body(()).expect("a request").into_parts();
        of(
            &request,
            &Answer {
                size: 7,
                ..Answer::default()
            },
        )
        .map(Cow::into_owned)
    }

    #[test]
    fn a_request_without_wishes_gets_the_defaults() {
        let answer = asked("/any/path", &[("host", "here")]).expect("an answer");
        assert_eq!(
            answer,
            Answer {
                size: 7,
                ..Answer::default()
            }
        );
    }

    #[test]
    fn the_query_turns_knobs_and_the_headers_turn_them_further() {
        let answer =
            asked("/?size=1&status=5%303&", &[("X-Loadline-Size", "2")]).expect("an answer");
        assert_eq!(answer.size, 2);
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn unknown_knobs_are_refused_except_on_echo() {
        let unknown = Err(KnobError::Unknown("id".to_owned()));
        assert_eq!(asked("/?id=1", &[]), unknown);
        assert_eq!(asked("/echo", &[("X-Loadline-Id", "1")]), unknown);
        assert_eq!(
            asked("/echo?id=1&size=3", &[]).map(|answer| answer.size),
            Ok(3)
        );
        assert!(asked("/echo?size=big", &[]).is_err());
    }
}
