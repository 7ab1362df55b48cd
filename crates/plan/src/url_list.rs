//! Lists of URLs: one a line, or JSON Lines with method, headers, body and weight.
//!
//! ```text
//! # Comments and empty lines are skipped.
//! http://127.0.0.1:8080/
//! {"url": "127.0.0.1:8080/items", "method": "POST", "headers": {"X-A": "1"}, "weight": 3}
//! ```

mod json;

pub use json::JsonProblem;

use crate::target::is_relative;
use crate::{BaseUrl, Error, Header, Target, parse_method};
use json::{Object, refuse_other_json};

/// The most bytes of a name.
const LONGEST_NAME: usize = 2_048;

/// A reason why a line of a list is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// A space within a line, where other tools have a method or a body.
    #[error(
        "there is a space in `{0}`, and a line holds one URL: write %20 in a URL, and a method or \
         body as JSON, such as {{\"url\": \"http://…\", \"method\": \"POST\"}}."
    )]
    Blank(String),
    /// A line that begins like JSON, and is malformed or has an unknown key.
    #[error(transparent)]
    Json(#[from] JsonProblem),
    /// A value that can't be sent.
    #[error(transparent)]
    Value(Box<Error>),
}

impl From<Error> for LineProblem {
    fn from(error: Error) -> Self {
        Self::Value(Box::new(error))
    }
}

/// One request of a list, as written; missing values come from
/// [`RequestDefaults`](crate::RequestDefaults).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRequest {
    /// The URL, with credentials if it has any.
    pub target: Target,
    /// The method, if the line has one.
    pub method: Option<String>,
    /// The request's own header fields, in order.
    pub headers: Vec<Header>,
    /// The body, if the line has one.
    pub body: Option<String>,
    /// The weight relative to the other requests, at least 1.
    pub weight: u32,
    /// The name of the request's rows in reports, if the line has one.
    pub name: Option<String>,
}

impl ListedRequest {
    /// Creates a request that has only a URL.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            method: None,
            headers: Vec::new(),
            body: None,
            weight: 1,
            name: None,
        }
    }

    fn of_line(line: &str, base: Option<&BaseUrl>) -> Result<Self, LineProblem> {
        if line.starts_with('{') {
            return Ok(Object::parse(line)?.into_request(base)?);
        }
        refuse_other_json(line)?;
        if line.contains(char::is_whitespace) {
            return Err(LineProblem::Blank(line.to_owned()));
        }
        Ok(Self::new(target(line, base)?))
    }
}

fn target(url: &str, base: Option<&BaseUrl>) -> Result<Target, Error> {
    match base {
        Some(base) if is_relative(url) => base.join(url),
        None if is_relative(url) => Err(Error::RelativeUrl(url.to_owned())),
        _ => Target::among_words(url),
    }
}

/// Reads a list of URLs from its whole text; `base` is the beginning of its relative URLs.
///
/// # Errors
/// [`Error::UrlListLine`] with the number of the first line that can't be read, and
/// [`Error::UrlListEmpty`] if no line has a URL.
pub fn parse_url_list(text: &str, base: Option<&BaseUrl>) -> Result<Vec<ListedRequest>, Error> {
    let requests: Vec<_> = lines_of(text, base).collect::<Result<_, _>>()?;
    if requests.is_empty() {
        Err(Error::UrlListEmpty)
    } else {
        Ok(requests)
    }
}

/// Returns the requests of a list, parsed one by one.
fn lines_of<'a>(
    text: &'a str,
    base: Option<&'a BaseUrl>,
) -> impl Iterator<Item = Result<ListedRequest, Error>> + 'a {
    listed_lines(text).map(move |line| line.read(base))
}

/// A line of a list that describes a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedLine<'a> {
    /// The line's number in the file, from 0.
    index: usize,
    /// The line without blanks around it.
    pub(crate) text: &'a str,
}

/// Returns the lines of a list that are neither comments nor empty.
pub(crate) fn listed_lines(text: &str) -> impl Iterator<Item = ListedLine<'_>> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let lines = lines.map(|(index, line)| ListedLine {
        index,
        text: line.trim(),
    });
    lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
}

impl ListedLine<'_> {
    /// Parses the line's request.
    pub(crate) fn read(self, base: Option<&BaseUrl>) -> Result<ListedRequest, Error> {
        let at_line = |problem| Error::UrlListLine {
            line: self.index + 1,
            problem,
        };
        ListedRequest::of_line(self.text, base).map_err(at_line)
    }
}

/// Checks a name: not empty, not too long, without control characters, which break reports.
fn parse_name(name: String) -> Result<String, Error> {
    let is_fit = !name.is_empty() && !name.chars().any(char::is_control);
    if is_fit && name.len() <= LONGEST_NAME {
        Ok(name)
    } else {
        Err(Error::Name { name })
    }
}

impl Object {
    fn into_request(self, base: Option<&BaseUrl>) -> Result<ListedRequest, Error> {
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| Header::new(name, value));
        Ok(ListedRequest {
            target: target(&self.url, base)?,
            method: self.method.as_deref().map(parse_method).transpose()?,
            headers: headers.collect::<Result<_, _>>()?,
            body: self.body,
            weight: self.weight.unwrap_or(1),
            name: self.name.map(parse_name).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn urls(text: &str) -> Vec<String> {
        let list = parse_url_list(text, None).unwrap_or_else(|error| panic!("{error}"));
        list.into_iter()
            .map(|request| request.target.url.to_string())
            .collect()
    }

    fn assert_refused(text: &str, beginning: &str) {
        let refusal = parse_url_list(text, None).expect_err(text).to_string();
        assert!(refusal.starts_with(beginning), "{refusal}");
    }

    #[test]
    fn relative_urls_have_a_base_or_are_refused() {
        let base: BaseUrl = "http://a/api".parse().expect("a base");
        let text = "/x\n?y\n{\"url\": \"/z\"}\nhttp://b/\n";
        let list = parse_url_list(text, Some(&base)).expect("a list");
        let urls: Vec<_> = list.iter().map(|one| one.target.url.as_str()).collect();
        assert_eq!(
            urls,
            [
                "http://a/api/x",
                "http://a/api?y",
                "http://a/api/z",
                "http://b/"
            ]
        );
        let said = parse_url_list(text, None).expect_err("no base").to_string();
        assert!(
            said.contains("line 1") && said.contains("--base-url"),
            "{said}"
        );
    }

    #[test]
    fn a_line_is_a_url() {
        let text = "\u{feff}# all pages\r\nhttp://a/1\r\n\r\n  a/2#part \n[::1]:8080/3\n# end";
        assert_eq!(
            urls(text),
            ["http://a/1", "http://a/2", "http://[::1]:8080/3"]
        );
    }

    #[test]
    fn a_line_of_json_may_say_more() {
        let text = concat!(
            r#"{"url":"a/1","method":"PUT","headers":{"X-B":"1","X-A":"2","X-B":"3"},"#,
            r#""body":"{}","weight":3,"name":"pages"}"#,
        );
        let header = |name: &str, value: &str| Header {
            name: name.into(),
            value: value.into(),
        };
        let expected = ListedRequest {
            target: "http://a/1".parse().expect("a URL"),
            method: Some("PUT".into()),
            headers: vec![header("X-B", "1"), header("X-A", "2"), header("X-B", "3")],
            body: Some("{}".into()),
            weight: 3,
            name: Some("pages".into()),
        };
        assert_eq!(parse_url_list(text, None), Ok(vec![expected.clone()]));
        let pairs = text.replace(
            r#"{"X-B":"1","X-A":"2","X-B":"3"}"#,
            r#"[["X-B","1"],["X-A","2"],["X-B","3"]]"#,
        );
        assert_eq!(parse_url_list(&pairs, None), Ok(vec![expected]));
        let sparse =
            r#"{"url":"a/","method":null,"headers":null,"body":null,"weight":null,"name":null}"#;
        assert_eq!(
            parse_url_list(sparse, None),
            Ok(vec![ListedRequest::new("a/".parse().expect("a URL"))])
        );
    }

    #[test]
    fn both_kinds_of_lines_mix() {
        assert_eq!(
            urls("a/1\n{\"url\":\"a/2\"}\na/3"),
            ["http://a/1", "http://a/2", "http://a/3"]
        );
    }

    #[test]
    fn refusals_carry_the_line() {
        for (text, expected) in [
            (
                "a/\n\n# x\nftp://b",
                "line 4: `ftp://b` is not a URL to load: `ftp` is not supported",
            ),
            ("{", "line 1: the JSON breaks off; a request stands whole"),
            (
                "{\"url\":\"a/\"} x",
                "line 1: this is not JSON at column 14. Write an object",
            ),
            ("{url:1}", "line 1: this is not JSON at column 2."),
            ("{}", "line 1: `url` is missing; it says"),
            (
                "a/\n{\"url\":\"a/\",\"verb\":\"a\"}",
                "line 2: there is no key `verb`; the keys are url, method,",
            ),
            (
                "{\"url\":\"a/\",\"url\":\"b/\"}",
                "line 1: `url` is given twice.",
            ),
        ] {
            assert_refused(text, expected);
        }
    }

    #[test]
    fn values_of_the_wrong_kind_are_refused() {
        for (text, expected) in [
            (
                "{\"url\":5}",
                "line 1: `url` is 5, and has to be a text in quotes.",
            ),
            (
                "{\"url\":\"a/\",\"weight\":0}",
                "line 1: `weight` is 0, and has to be a whole number from 1",
            ),
            (
                "{\"url\":\"a/\",\"weight\":1.5}",
                "line 1: `weight` is 1.5, and has to be a whole number from 1",
            ),
            (
                "a/\n{\"url\":\"a/\",\"weight\":5000000000}",
                "line 2: `weight` is 5000000000, and has to be a whole number from 1 to \
                 4294967295.",
            ),
            (
                "{\"url\":\"a/\",\"weight\":-3}",
                "line 1: `weight` is -3, and has to be",
            ),
            (
                "{\"url\":\"a/\",\"weight\":1e300}",
                "line 1: `weight` is 1e300, and has to be",
            ),
            (
                "a/\n[\"x\", \"y\"]",
                "line 2: `[\"x\", \"y\"]` is an array, and a request is an object such as",
            ),
            (
                "\"http://a/\"",
                "line 1: `\"http://a/\"` is a text, and a request is an object such as",
            ),
            (
                "{\"url\":\"a/\",\"body\":{}}",
                "line 1: `body` is an object, and has to be a text in quotes.",
            ),
            (
                "{\"url\":\"a/\",\"headers\":\"X: y\"}",
                "line 1: `headers` is a text, and has to be an object such as",
            ),
            (
                "{\"url\":\"a/\",\"headers\":[[\"X\"]]}",
                "line 1: `headers` is an array of something else, and has to be",
            ),
            (
                "{\"url\":\"a/\",\"headers\":{\"X\":true}}",
                "line 1: `headers` is an object with a value that is no text, and",
            ),
        ] {
            assert_refused(text, expected);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for (text, expected) in [
            (
                "a/\nhttp://b/ POST",
                "line 2: there is a space in `http://b/ POST`, and a line holds one URL",
            ),
            (
                "http://b/a\tb",
                "line 1: there is a space in `http://b/a\tb`, and",
            ),
            (
                "{\"url\":\"a/\",\"headers\":{\"X Y\":\"z\"}}",
                "line 1: `X Y: z` is not a header",
            ),
            (
                "{\"url\":\"a/\",\"name\":\"x\\u001b[2J\"}",
                "line 1: `\"x\\u{1b}[2J\"` is not a name",
            ),
            (
                "a/\n{\"url\":\"a/\",\"name\":\"\"}",
                "line 2: `\"\"` is not a name; write 1 to 2048 bytes",
            ),
            (
                "{\"url\":\"a/\",\"method\":\"G T\"}",
                "line 1: `G T` is not a method",
            ),
        ] {
            assert_refused(text, expected);
        }
    }

    #[test]
    fn a_list_without_a_url_is_refused() {
        for text in ["", "\n\n", "# nothing"] {
            assert_eq!(parse_url_list(text, None), Err(Error::UrlListEmpty));
        }
    }

    proptest! {
        #[test]
        fn no_text_upsets_the_parser(text in "(\\PC|\n)*") {
            let _ = parse_url_list(&text, None);
        }
    }
}
