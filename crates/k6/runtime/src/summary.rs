//! `handleSummary()`: the files that a script makes of its metrics.

use crate::native::{Text, lossy, text_of};
use crate::program::{Failure, SummaryFiles};
use rquickjs::{Ctx, Value};

/// Returns the files that `handleSummary()` returned; `None` if it returned nothing.
///
/// # Errors
/// If its result can't be written.
pub(crate) fn files_of<'js>(
    ctx: &Ctx<'js>,
    given: Value<'js>,
) -> Result<Option<SummaryFiles>, Failure> {
    if given.is_undefined() || given.is_null() {
        return Ok(None);
    }
    let is_map = given.is_object() && !given.is_array() && !given.is_function();
    let no_map = "handleSummary() should return a map with string keys";
    let no_map = || Failure::SummaryFiles(no_map.to_owned());
    let files = given.into_object().filter(|_| is_map).ok_or_else(no_map)?;
    let mut written = Vec::new();
    for file in files.props::<Text, Value<'js>>() {
        let (Text(name), content) = file.map_err(|_| thrown_by_getter(ctx))?;
        written.push((name.clone(), bytes_of(&name, &content)?));
    }
    Ok(Some(written))
}

/// Returns the failure for a property whose getter threw.
fn thrown_by_getter(ctx: &Ctx<'_>) -> Failure {
    let thrown = text_of(&ctx.catch());
    Failure::SummaryFiles(thrown.unwrap_or_else(|_| "an unknown error".to_owned()))
}

fn bytes_of(name: &str, content: &Value<'_>) -> Result<Vec<u8>, Failure> {
    let text = content.as_string().and_then(|text| lossy(text).ok());
    let bytes = text.map(String::into_bytes);
    let bytes = bytes.or_else(|| loadline_k6_modules::bytes_of_buffer(content));
    bytes.ok_or_else(|| {
        let kind = loadline_k6_modules::type_in_go(content);
        Failure::SummaryFiles(format!(
            "error handling summary object {name}: invalid type {kind}, it needs to be a string \
             or ArrayBuffer"
        ))
    })
}
