//! Request options: the server's response, changed by the query and then by the headers.

use crate::answer::Answer;
use crate::options::OptionError;
use hyper::header::{HeaderMap, HeaderName};
use hyper::http::request::Parts;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The prefix of a header that sets an option.
const HEADER_PREFIX: &str = "x-loadline-";

/// The path whose response is the request itself.
const ECHO_PATH: &str = "/echo";

/// True if the request is for an echo.
pub(crate) fn is_echo(request: &Parts) -> bool {
    request.uri.path() == ECHO_PATH
}

/// Returns the response with the options of `request`; the server's own if there are none.
///
/// The query of `/echo` belongs to the client: unknown names in it are ignored.
pub(crate) fn apply<'a>(
    request: &Parts,
    defaults: &'a Answer,
) -> Result<Cow<'a, Answer>, OptionError> {
    let mut answer = Cow::Borrowed(defaults);
    if let Some(query) = request.uri.query() {
        set_by_query(&mut answer, query, is_echo(request))?;
    }
    set_by_headers(&mut answer, &request.headers)?;
    Ok(answer)
}

fn set_by_query(
    answer: &mut Cow<'_, Answer>,
    query: &str,
    lenient: bool,
) -> Result<(), OptionError> {
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match answer.to_mut().set(&decoded(name), &decoded(value)) {
            Err(OptionError::Unknown(_)) if lenient => (),
            outcome => outcome?,
        }
    }
    Ok(())
}

fn set_by_headers(answer: &mut Cow<'_, Answer>, headers: &HeaderMap) -> Result<(), OptionError> {
    for (name, value) in headers {
        if let Some(option) = option_of(name) {
            answer
                .to_mut()
                .set(option, &String::from_utf8_lossy(value.as_bytes()))?;
        }
    }
    Ok(())
}

fn option_of(name: &HeaderName) -> Option<&str> {
    name.as_str().strip_prefix(HEADER_PREFIX)
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::{Request, StatusCode};

    fn options_of(target: &str, headers: &[(&str, &str)]) -> Result<Answer, OptionError> {
        let mut request = Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (request, ()) = request.body(()).expect("a request").into_parts();
        apply(
            &request,
            &Answer {
                size: 7,
                ..Answer::default()
            },
        )
        .map(Cow::into_owned)
    }

    #[test]
    fn a_request_without_options_gets_the_defaults() {
        let answer = options_of("/any/path", &[("host", "here")]).expect("an answer");
        assert_eq!(
            answer,
            Answer {
                size: 7,
                ..Answer::default()
            }
        );
    }

    #[test]
    fn the_query_sets_options_and_the_headers_override_them() {
        let answer =
            options_of("/?size=1&status=5%303&", &[("X-Loadline-Size", "2")]).expect("an answer");
        assert_eq!(answer.size, 2);
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn unknown_options_are_refused_except_on_echo() {
        let unknown = Err(OptionError::Unknown("id".to_owned()));
        assert_eq!(options_of("/?id=1", &[]), unknown);
        assert_eq!(options_of("/echo", &[("X-Loadline-Id", "1")]), unknown);
        assert_eq!(
            options_of("/echo?id=1&size=3", &[]).map(|answer| answer.size),
            Ok(3)
        );
        assert!(options_of("/echo?size=big", &[]).is_err());
    }
}
