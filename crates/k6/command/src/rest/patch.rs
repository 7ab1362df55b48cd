//! The body of `PATCH /v1/status`.

use crate::go_words;
use serde_json::Value;

/// The requested changes; `None` leaves a value unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    /// True to pause the test, false to resume it.
    pub(super) is_paused: Option<bool>,
    /// True if the test is to stop.
    pub(super) is_stopped: bool,
    /// The active users.
    pub(super) vus: Option<i64>,
    /// The maximum number of users.
    pub(super) vus_max: Option<i64>,
}

impl Patch {
    /// Reads a document.
    ///
    /// # Errors
    /// The reason why it is invalid, in Go's words.
    pub(super) fn read(body: &[u8]) -> Result<Patch, String> {
        let document: Value =
            serde_json::from_slice(body).map_err(|error| go_words::json(body, &error))?;
        let data = member(&document, "data", "Go value of type v1.StatusJSONAPI")?;
        let data_type = "Go struct field StatusJSONAPI.data of type v1.statusData";
        let attributes = member(data, "attributes", data_type)?;
        let whole = "Go struct field StatusJSONAPI.data.attributes of type v1.Status";
        Ok(Patch {
            is_paused: paused(member(attributes, "paused", whole)?)?,
            is_stopped: stopped(member(attributes, "stopped", whole)?)?,
            vus: number(member(attributes, "vus", whole)?, "vus")?,
            vus_max: number(member(attributes, "vus-max", whole)?, "vus-max")?,
        })
    }
}

/// Returns a member of an object; null if there is none.
fn member<'a>(value: &'a Value, name: &str, whole: &str) -> Result<&'a Value, String> {
    match value {
        Value::Null => Ok(&Value::Null),
        Value::Object(members) => Ok(members.get(name).unwrap_or(&Value::Null)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(mismatch(value, whole))
        }
    }
}

fn paused(value: &Value) -> Result<Option<bool>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(paused) => Ok(Some(*paused)),
        Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Err(mismatch(value, "Go value of type null.Bool"))
        }
    }
}

fn stopped(value: &Value) -> Result<bool, String> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(stopped) => Ok(*stopped),
        Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => Err(mismatch(
            value,
            "Go struct field Status.data.attributes.stopped of type bool",
        )),
    }
}

fn number(value: &Value, name: &str) -> Result<Option<i64>, String> {
    let field = format!("Go struct field Status.data.attributes.{name} of type int64");
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(format!(
                "json: cannot unmarshal number {number} into {field}"
            )),
        },
        Value::String(text) => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            )),
        },
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(mismatch(value, &field)),
    }
}

fn mismatch(value: &Value, expected: &str) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {kind} into {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_or_is_null_stays_as_it_is() {
        for text in [
            "{}",
            "null",
            r#"{"data":{"attributes":{"paused":null,"vus":null}}}"#,
        ] {
            assert_eq!(Patch::read(text.as_bytes()), Ok(Patch::default()), "{text}");
        }
    }

    #[test]
    fn all_that_can_change_is_read() {
        let text = r#"{"data":{"type":"status","id":"default","attributes":
            {"status":0,"paused":true,"vus":3,"vus-max":"7","stopped":true}}}"#;
        let expected = Patch {
            is_paused: Some(true),
            is_stopped: true,
            vus: Some(3),
            vus_max: Some(7),
        };
        assert_eq!(Patch::read(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn what_has_the_wrong_type_is_refused_in_the_words_of_go() {
        let cases = [
            (
                "[]",
                "json: cannot unmarshal array into Go value of type v1.StatusJSONAPI",
            ),
            (
                r#"{"data":3}"#,
                "json: cannot unmarshal number into Go struct field StatusJSONAPI.data of type \
                 v1.statusData",
            ),
            (
                r#"{"data":{"attributes":{"paused":"x"}}}"#,
                "json: cannot unmarshal string into Go value of type null.Bool",
            ),
            (
                r#"{"data":{"attributes":{"vus":1.5}}}"#,
                "json: cannot unmarshal number 1.5 into Go struct field \
                 Status.data.attributes.vus of type int64",
            ),
            (
                r#"{"data":{"attributes":{"vus":"x"}}}"#,
                "strconv.ParseInt: parsing \"x\": invalid syntax",
            ),
            (
                r#"{"data":{"attributes":{"stopped":"x"}}}"#,
                "json: cannot unmarshal string into Go struct field \
                 Status.data.attributes.stopped of type bool",
            ),
        ];
        for (text, said) in cases {
            assert_eq!(Patch::read(text.as_bytes()), Err(said.to_owned()), "{text}");
        }
    }
}
