//! One line of JSON Lines, and its possible mistakes, in the terms of the format.
//!
//! The line is first parsed as any JSON, with the order and the duplicates of names, which matter
//! for header fields; then each key is taken out, and a wrong value is reported in a message of our
//! own.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use std::fmt;

/// A reason why a line that begins like JSON is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// The line ends within the JSON.
    #[error("the JSON breaks off; a request stands whole on one line, from {{ to }}.")]
    BreaksOff,
    /// A line that is not JSON.
    #[error(
        "this is not JSON at column {0}. Write an object such as {{\"url\": \"http://…\", \
         \"method\": \"POST\"}}."
    )]
    Syntax(usize),
    /// A line that is JSON, but not an object.
    #[error("`{line}` is {kind}, and a request is an object such as {{\"url\": \"http://…\"}}.")]
    NoObject {
        /// The line as written.
        line: String,
        /// The kind of its value.
        kind: &'static str,
    },
    /// No key `url`.
    #[error("`url` is missing; it says where the request goes.")]
    NoUrl,
    /// An unknown key.
    #[error("there is no key `{0}`; the keys are url, method, headers, body, weight and name.")]
    UnknownKey(String),
    /// A key that occurs more than once.
    #[error("`{0}` is given twice.")]
    Twice(&'static str),
    /// A value of the wrong kind.
    #[error("`{key}` is {kind}, and has to be {expected}.")]
    Kind {
        /// The key.
        key: &'static str,
        /// The value: a number as written, anything else by its kind.
        kind: String,
        /// The kind of value that the key takes.
        expected: &'static str,
    },
}

/// The contents of a line; each value as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) url: String,
    pub(super) method: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
    pub(super) weight: Option<u32>,
    pub(super) name: Option<String>,
}

/// Refuses a line that is JSON but not an object. A line that only begins like JSON may be a URL,
/// such as `[::1]/`.
pub(super) fn refuse_other_json(line: &str) -> Result<(), JsonProblem> {
    match serde_json::from_str::<Value>(line) {
        Ok(value @ (Value::Array(_) | Value::Text(_))) => Err(JsonProblem::NoObject {
            line: line.to_owned(),
            kind: value.kind(),
        }),
        _ => Ok(()),
    }
}

impl Object {
    pub(super) fn parse(line: &str) -> Result<Self, JsonProblem> {
        let value: Value = serde_json::from_str(line).map_err(|error| match error.classify() {
            Category::Eof => JsonProblem::BreaksOff,
            Category::Io | Category::Syntax | Category::Data => JsonProblem::Syntax(error.column()),
        })?;
        // A line that begins with a brace is an object.
        let Value::Object(mut pairs) = value else {
            return Err(JsonProblem::Syntax(1));
        };
        let object = Object {
            url: text("url", take("url", &mut pairs)?)?.ok_or(JsonProblem::NoUrl)?,
            method: text("method", take("method", &mut pairs)?)?,
            headers: fields(take("headers", &mut pairs)?)?,
            body: text("body", take("body", &mut pairs)?)?,
            weight: weight(take("weight", &mut pairs)?)?,
            name: text("name", take("name", &mut pairs)?)?,
        };
        match pairs.into_iter().next() {
            Some((unknown, _)) => Err(JsonProblem::UnknownKey(unknown)),
            None => Ok(object),
        }
    }
}

/// Takes a key out; a missing key counts as null.
fn take(key: &'static str, pairs: &mut Vec<(String, Value)>) -> Result<Value, JsonProblem> {
    let mut found = pairs.extract_if(.., |(name, _)| name == key);
    let (first, second) = (found.next(), found.next());
    match second {
        Some(_) => Err(JsonProblem::Twice(key)),
        None => Ok(first.map_or(Value::Null, |(_, value)| value)),
    }
}

fn text(key: &'static str, value: Value) -> Result<Option<String>, JsonProblem> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        Value::Bool | Value::Number { .. } | Value::Array(_) | Value::Object(_) => {
            Err(value.refused(key, "a text in quotes"))
        }
    }
}

fn weight(value: Value) -> Result<Option<u32>, JsonProblem> {
    let expected = "a whole number from 1 to 4294967295";
    match value {
        Value::Null => Ok(None),
        Value::Number { whole, .. } if whole > Some(0) => Ok(whole),
        Value::Bool
        | Value::Number { .. }
        | Value::Text(_)
        | Value::Array(_)
        | Value::Object(_) => Err(value.refused("weight", expected)),
    }
}

/// Reads header fields: an object, or an array of pairs.
fn fields(value: Value) -> Result<Vec<(String, String)>, JsonProblem> {
    let expected = "an object such as {\"Accept\": \"text/html\"}, or an array of pairs of texts";
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Object(pairs) => pairs
            .into_iter()
            .map(|(name, value)| {
                let Value::Text(text) = value else {
                    return Err(value.refused_within("headers", expected));
                };
                Ok((name, text))
            })
            .collect(),
        Value::Array(pairs) => pairs
            .into_iter()
            .map(|pair| {
                pair.into_pair().ok_or(JsonProblem::Kind {
                    key: "headers",
                    kind: "an array of something else".to_owned(),
                    expected,
                })
            })
            .collect(),
        Value::Bool | Value::Number { .. } | Value::Text(_) => {
            Err(value.refused("headers", expected))
        }
    }
}

/// Any value of JSON.
enum Value {
    Null,
    Bool,
    Number {
        /// The number as printed.
        text: String,
        /// The number, if it is whole and fits.
        whole: Option<u32>,
    },
    Text(String),
    Array(Vec<Value>),
    /// The pairs in the order of the text, including duplicate names.
    Object(Vec<(String, Value)>),
}

impl Value {
    fn into_pair(self) -> Option<(String, String)> {
        let Value::Array(pair) = self else {
            return None;
        };
        match <[Value; 2]>::try_from(pair) {
            Ok([Value::Text(name), Value::Text(value)]) => Some((name, value)),
            _ => None,
        }
    }

    fn refused(&self, key: &'static str, expected: &'static str) -> JsonProblem {
        let kind = match self {
            Value::Number { text, .. } => text.clone(),
            Value::Null | Value::Bool | Value::Text(_) | Value::Array(_) | Value::Object(_) => {
                self.kind().to_owned()
            }
        };
        JsonProblem::Kind {
            key,
            kind,
            expected,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool => "true or false",
            Value::Number { .. } => "a number",
            Value::Text(_) => "a text",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    fn refused_within(&self, key: &'static str, expected: &'static str) -> JsonProblem {
        JsonProblem::Kind {
            key,
            kind: "an object with a value that is no text".to_owned(),
            expected,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Bool)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number {
            text: number.to_string(),
            whole: u32::try_from(number).ok(),
        })
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number {
            text: number.to_string(),
            whole: None,
        })
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        // The debug form prints the exponent of a very large number, not its three hundred digits.
        Ok(Value::Number {
            text: format!("{number:?}"),
            whole: None,
        })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Value::Object(pairs))
    }
}
