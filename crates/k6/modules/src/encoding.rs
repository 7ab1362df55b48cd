//! `k6/encoding`: Base64 in its four alphabets.

use crate::bytes;
use crate::error::go_error;
use crate::native::function;
use base64::Engine;
use base64::alphabet::{self, Alphabet};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, PAD};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Object, Result, Value};

/// Creates the module `k6/encoding`.
pub fn encoding<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("b64encode", function(ctx, b64encode)?)?;
    module.set("b64decode", function(ctx, b64decode)?)?;
    Ok(module)
}

/// Returns the Base64 of bytes, in the standard alphabet.
pub fn base64(bytes: &[u8]) -> String {
    named(None).encode(bytes)
}

fn b64encode<'js>(ctx: Ctx<'js>, input: Opt<Value<'js>>, name: Opt<Value<'js>>) -> Result<String> {
    let bytes = bytes::given(&ctx, input)?;
    Ok(named(bytes::word(name.0)?.as_deref()).encode(bytes))
}

fn b64decode<'js>(
    ctx: Ctx<'js>,
    input: Opt<Value<'js>>,
    name: Opt<Value<'js>>,
    format: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let input = bytes::word(input.0)?.unwrap_or_default();
    let input: String = input
        .chars()
        .filter(|c| !matches!(c, '\r' | '\n'))
        .collect();
    let name = bytes::word(name.0)?;
    let bytes = named(name.as_deref())
        .decode(&input)
        .map_err(|_| go_error(&ctx, illegal(&input, name.as_deref())))?;
    match bytes::word(format.0)?.as_deref() {
        Some("s") => bytes::text(&ctx, &bytes),
        _ => bytes::buffer(&ctx, bytes),
    }
}

/// Returns the encoding of this name; the standard one for any other name.
fn named(name: Option<&str>) -> GeneralPurpose {
    let padding = if is_padded(name) { PAD } else { NO_PAD };
    GeneralPurpose::new(letters(name), loose_bits(padding))
}

fn letters(name: Option<&str>) -> &'static Alphabet {
    match name {
        Some("url" | "rawurl") => &alphabet::URL_SAFE,
        _ => &alphabet::STANDARD,
    }
}

fn is_padded(name: Option<&str>) -> bool {
    !matches!(name, Some("rawstd" | "rawurl"))
}

fn loose_bits(padding: GeneralPurposeConfig) -> GeneralPurposeConfig {
    padding.with_decode_allow_trailing_bits(true)
}

/// Returns the error with the position of the first invalid byte, as Go's library counts it.
fn illegal(input: &str, name: Option<&str>) -> String {
    let letters = letters(name).as_str();
    let at = match input.find(|c| !letters.contains(c)) {
        None => input.len() - input.len() % 4,
        Some(at) if !input[at..].starts_with('=') || !is_padded(name) || at % 4 < 2 => at,
        Some(at) if at % 4 == 3 => at + 1,
        Some(at) if input[at..].starts_with("==") => at + 2,
        Some(at) => at,
    };
    format!("illegal base64 data at input byte {at}")
}
