//! JSON of responses: the whole document, or a part selected by a path.

use crate::error::go_error;
use rquickjs::{Ctx, Result, Value};
use serde::de::IgnoredAny;

/// The maximum depth of a document to select from, and the maximum number of steps in a path: each
/// needs stack.
const MOST_NESTED: usize = 256;
const MOST_STEPS: usize = 64;

/// Returns the value that a GJSON path selects; `undefined` if there is none, if the text is not
/// JSON, or if the document or the path is nested too deep.
pub fn gjson_get<'js>(ctx: &Ctx<'js>, json: &[u8], path: &str) -> Result<Value<'js>> {
    let is_shallow = nesting(json) <= MOST_NESTED && steps(path) <= MOST_STEPS;
    let selected = match std::str::from_utf8(json) {
        Ok(json) if is_shallow && gjson::valid(json) => Some(gjson::get(json, path)),
        _ => None,
    };
    match selected {
        Some(value) if value.exists() => ctx.json_parse(value.json()),
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns the depth of nested brackets, without those in texts.
fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => depth += 1,
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn steps(path: &str) -> usize {
    let is_step = |byte: &u8| matches!(byte, b'.' | b'|' | b'#' | b'@' | b'(' | b'[' | b'{');
    path.bytes().filter(is_step).count()
}

/// Parses a whole document; throws k6's message if it is not JSON.
pub fn parse_json<'js>(ctx: &Ctx<'js>, json: &[u8]) -> Result<Value<'js>> {
    let parsed: Result<Value<'js>> = ctx.json_parse(json);
    parsed.map_err(|error| {
        let thrown = ctx.catch();
        match serde_json::from_slice::<IgnoredAny>(json) {
            Err(problem) => go_error(ctx, message_of(json, &problem)),
            // The text is JSON, but nested too deep, or too large.
            Ok(_) if error.is_exception() => ctx.throw(thrown),
            Ok(_) => error,
        }
    })
}

fn message_of(json: &[u8], error: &serde_json::Error) -> String {
    let (line, column) = (error.line().max(1), error.column());
    let line_text = json.split(|byte| *byte == b'\n').nth(line - 1);
    let byte = line_text.and_then(|text| text.get(column.saturating_sub(1)));
    let what = match (error.is_eof(), byte) {
        (false, Some(byte)) => format!(
            "invalid character {:?} looking for beginning of value",
            char::from(*byte)
        ),
        _ => "unexpected end of JSON input".to_owned(),
    };
    format!("cannot parse json due to an error at line {line}, character {column} , error: {what}")
}
