//! Lists of URLs: one a line, or JSON Lines with method, headers, body and weight.
//!
//! ```text
//! # Comments and empty lines are skipped.
//! http://127.0.0.1:8080/
//! {"url": "127.0.0.1:8080/items", "method": "POST", "headers": {"X-A": "1"}, "body": "…", "weight": 3}
//! ```

use crate::{Error, Header, Target, parse_method};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::num::NonZeroU32;

/// What is wrong with a line of a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The line begins like JSON and is none, or has keys that are not known.
    #[error("{0}.")]
    Json(String),
    /// A value that can't be sent.
    #[error(transparent)]
    Value(Box<Error>),
}

impl From<Error> for LineProblem {
    fn from(error: Error) -> Self {
        Self::Value(Box::new(error))
    }
}

/// One request of a list: what it says of itself; the rest comes from
/// [`RequestDefaults`](crate::RequestDefaults).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRequest {
    /// Where it goes.
    pub target: Target,
    /// Its method, if it says so.
    pub method: Option<String>,
    /// Its own header fields, in order.
    pub headers: Vec<Header>,
    /// Its body, if it says so.
    pub body: Option<String>,
    /// How often it is taken in relation to the others, at least 1.
    pub weight: u32,
}

impl ListedRequest {
    /// A request that says nothing but where it goes.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            method: None,
            headers: Vec::new(),
            body: None,
            weight: 1,
        }
    }

    fn of_line(line: &str) -> Result<Self, LineProblem> {
        if line.starts_with('{') {
            let object: Object =
                serde_json::from_str(line).map_err(|error| json_problem(&error))?;
            return Ok(object.into_request()?);
        }
        Ok(Self::new(line.parse()?))
    }
}

/// Reads a list of URLs, given its whole text.
///
/// # Errors
/// [`Error::UrlListLine`] with the number of the first line that can't be read, and
/// [`Error::UrlListEmpty`] if no line has a URL.
pub fn parse_url_list(text: &str) -> Result<Vec<ListedRequest>, Error> {
    let lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .enumerate();
    let told = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let requests: Vec<_> = told
        .map(|(index, line)| {
            let at_line = |problem| Error::UrlListLine {
                line: index + 1,
                problem,
            };
            ListedRequest::of_line(line).map_err(at_line)
        })
        .collect::<Result<_, _>>()?;
    if requests.is_empty() {
        Err(Error::UrlListEmpty)
    } else {
        Ok(requests)
    }
}

/// The parser counts lines too, but it only ever sees one: keep its column alone.
fn json_problem(error: &serde_json::Error) -> LineProblem {
    let text = error.to_string();
    let told = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(told, _)| told);
    LineProblem::Json(format!("{told} at column {}", error.column()))
}

/// One line of JSON Lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    url: String,
    method: Option<String>,
    #[serde(default)]
    headers: Fields,
    body: Option<String>,
    weight: Option<NonZeroU32>,
}

impl Object {
    fn into_request(self) -> Result<ListedRequest, Error> {
        let headers = self
            .headers
            .0
            .iter()
            .map(|(name, value)| Header::new(name, value));
        Ok(ListedRequest {
            target: self.url.parse()?,
            method: self.method.as_deref().map(parse_method).transpose()?,
            headers: headers.collect::<Result<_, _>>()?,
            body: self.body,
            weight: self.weight.map_or(1, NonZeroU32::get),
        })
    }
}

/// Header fields as an object or as an array of pairs; order and duplicates are kept in both.
#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names and values, or an array of [name, value] pairs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = pairs.next_element()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Fields, E> {
        Ok(Fields::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn urls(text: &str) -> Vec<String> {
        let list = parse_url_list(text).unwrap_or_else(|error| panic!("{error}"));
        list.into_iter()
            .map(|request| request.target.url.to_string())
            .collect()
    }

    fn refusal(text: &str) -> String {
        parse_url_list(text).expect_err(text).to_string()
    }

    #[test]
    fn a_line_is_a_url() {
        let text = "\u{feff}# all pages\r\nhttp://a/1\r\n\r\n  a/2#part \n# end";
        assert_eq!(urls(text), ["http://a/1", "http://a/2"]);
    }

    #[test]
    fn a_line_of_json_may_say_more() {
        let text = r#"{"url":"a/1","method":"PUT","headers":{"X-B":"1","X-A":"2","X-B":"3"},"body":"{}","weight":3}"#;
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
        };
        assert_eq!(parse_url_list(text), Ok(vec![expected.clone()]));
        let pairs = text.replace(
            r#"{"X-B":"1","X-A":"2","X-B":"3"}"#,
            r#"[["X-B","1"],["X-A","2"],["X-B","3"]]"#,
        );
        assert_eq!(parse_url_list(&pairs), Ok(vec![expected]));
        let sparse = r#"{"url":"a","method":null,"headers":null,"body":null,"weight":null}"#;
        assert_eq!(
            parse_url_list(sparse),
            Ok(vec![ListedRequest::new("a".parse().expect("a URL"))])
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
                "a\n\n# x\nftp://b",
                "line 4: `ftp://b` is not a URL to load: `ftp` is not spoken here",
            ),
            ("{", "line 1: EOF while parsing an object at column 1."),
            (
                "a\n{\"uri\":\"a\"}",
                "line 2: unknown field `uri`, expected one of `url`, `method`",
            ),
            ("{}", "line 1: missing field `url` at column 2."),
            (
                "{\"url\":\"a\",\"weight\":0}",
                "line 1: invalid value: integer `0`",
            ),
            (
                "{\"url\":\"a\",\"weight\":1.5}",
                "line 1: invalid type: floating point `1.5`",
            ),
            (
                "{\"url\":\"a\",\"body\":{}}",
                "line 1: invalid type: map, expected a string at column",
            ),
            (
                "{\"url\":\"a\",\"headers\":\"X: y\"}",
                "line 1: invalid type: string \"X: y\", expected an object",
            ),
            (
                "{\"url\":\"a\",\"headers\":[[\"X\"]]}",
                "line 1: invalid length 1",
            ),
            (
                "{\"url\":\"a\",\"headers\":{\"X Y\":\"z\"}}",
                "line 1: `X Y: z` is not a header",
            ),
            (
                "{\"url\":\"a\",\"method\":\"G T\"}",
                "line 1: `G T` is not a method",
            ),
            (
                "{\"url\":\"a\"} x",
                "line 1: trailing characters at column 13.",
            ),
        ] {
            let refusal = refusal(text);
            assert!(refusal.starts_with(expected), "{refusal}");
        }
    }

    #[test]
    fn a_list_without_a_url_is_refused() {
        for text in ["", "\n\n", "# nothing"] {
            assert_eq!(parse_url_list(text), Err(Error::UrlListEmpty));
        }
    }

    proptest! {
        #[test]
        fn no_text_upsets_the_parser(text in "(\\PC|\n)*") {
            let _ = parse_url_list(&text);
        }
    }
}
