//! JSON of responses: whole, or what a path selects.

use crate::error::go_error;
use rquickjs::{Ctx, Result, Value};
use serde_json::error::Category;

/// What a GJSON path selects; `undefined` if nothing, or if the text is not JSON.
pub fn gjson_get<'js>(ctx: &Ctx<'js>, json: &[u8], path: &str) -> Result<Value<'js>> {
    let selected = match std::str::from_utf8(json) {
        Ok(json) if gjson::valid(json) => Some(gjson::get(json, path)),
        _ => None,
    };
    match selected {
        Some(value) if value.exists() => ctx.json_parse(value.json()),
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// A whole document; throws k6's sentence if it is not JSON.
pub fn parse_json<'js>(ctx: &Ctx<'js>, json: &[u8]) -> Result<Value<'js>> {
    match serde_json::from_slice::<serde_json::Value>(json) {
        Err(error) if error.classify() != Category::Data => Err(go_error(ctx, told(json, &error))),
        _ => ctx.json_parse(json),
    }
}

fn told(json: &[u8], error: &serde_json::Error) -> String {
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
