//! `k6/encoding`: Base64 in its four alphabets.

use crate::bytes;
use crate::error::go_error;
use crate::native::function;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, PAD};
use base64::{DecodeError, Engine};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Object, Result, Value};

/// The module `k6/encoding`.
pub fn encoding<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("b64encode", function(ctx, b64encode)?)?;
    module.set("b64decode", function(ctx, b64decode)?)?;
    Ok(module)
}

fn b64encode<'js>(ctx: Ctx<'js>, input: Value<'js>, name: Opt<Value<'js>>) -> Result<String> {
    let bytes = bytes::of(&ctx, &input)?;
    Ok(named(bytes::word(name.0)?.as_deref()).encode(bytes))
}

fn b64decode<'js>(
    ctx: Ctx<'js>,
    input: String,
    name: Opt<Value<'js>>,
    format: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let input: String = input
        .chars()
        .filter(|c| !matches!(c, '\r' | '\n'))
        .collect();
    let engine = named(bytes::word(name.0)?.as_deref());
    let bytes = engine
        .decode(&input)
        .map_err(|error| go_error(&ctx, illegal(&error, input.len())))?;
    match bytes::word(format.0)?.as_deref() {
        Some("s") => bytes::text(&ctx, &bytes),
        _ => bytes::buffer(&ctx, bytes),
    }
}

/// The encoding of a name; the standard one for any other.
fn named(name: Option<&str>) -> GeneralPurpose {
    let (alphabet, padding) = match name {
        Some("rawstd") => (&alphabet::STANDARD, NO_PAD),
        Some("url") => (&alphabet::URL_SAFE, PAD),
        Some("rawurl") => (&alphabet::URL_SAFE, NO_PAD),
        _ => (&alphabet::STANDARD, PAD),
    };
    GeneralPurpose::new(alphabet, loose_bits(padding))
}

fn loose_bits(padding: GeneralPurposeConfig) -> GeneralPurposeConfig {
    padding.with_decode_allow_trailing_bits(true)
}

fn illegal(error: &DecodeError, length: usize) -> String {
    let at = match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => *at,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => length - length % 4,
    };
    format!("illegal base64 data at input byte {at}")
}
