//! `k6/crypto`: hashes, HMAC and random bytes.

mod hash;

use crate::bytes;
use crate::error::go_error;
use crate::native::function;
use crate::source;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Object, Result, Value};

/// Creates the module `k6/crypto`.
pub fn crypto<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("digest", function(ctx, digest)?)?;
    natives.set("mac", function(ctx, mac)?)?;
    natives.set("check", function(ctx, check)?)?;
    natives.set("copy", function(ctx, copy)?)?;
    natives.set("randomBytes", function(ctx, random_bytes)?)?;
    natives.set("hexEncode", function(ctx, hex_encode)?)?;
    source::run(ctx, include_str!("js/crypto.js"), natives)?.get()
}

/// Returns the hash of the parts, one after another.
fn digest<'js>(
    ctx: Ctx<'js>,
    name: Value<'js>,
    output: Opt<Value<'js>>,
    parts: Rest<Value<'js>>,
) -> Result<Value<'js>> {
    let name = algorithm(&ctx, name)?;
    let data = joined(&ctx, parts)?;
    let hash = hash::digest(&name, &data).ok_or_else(|| unknown(&ctx, &name))?;
    encoded(&ctx, hash, output.0)
}

fn mac<'js>(
    ctx: Ctx<'js>,
    name: Value<'js>,
    key: Value<'js>,
    output: Opt<Value<'js>>,
    parts: Rest<Value<'js>>,
) -> Result<Value<'js>> {
    let name = algorithm(&ctx, name)?;
    let key = bytes::of(&ctx, &key)?;
    let data = joined(&ctx, parts)?;
    let code = hash::mac(&name, &key, &data).ok_or_else(|| unknown(&ctx, &name))?;
    encoded(&ctx, code, output.0)
}

fn joined<'js>(ctx: &Ctx<'js>, parts: Rest<Value<'js>>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for part in parts.0 {
        all.extend(bytes::of(ctx, &part)?);
    }
    Ok(all)
}

/// Throws for the name of an unknown algorithm.
fn check<'js>(ctx: Ctx<'js>, name: Value<'js>) -> Result<()> {
    algorithm(&ctx, name).map(|_| ())
}

fn algorithm<'js>(ctx: &Ctx<'js>, name: Value<'js>) -> Result<String> {
    let name = bytes::word(Some(name))?.unwrap_or_default();
    match hash::digest(&name, &[]) {
        Some(_) => Ok(name),
        None => Err(unknown(ctx, &name)),
    }
}

/// Copies the current bytes of some data.
fn copy<'js>(ctx: Ctx<'js>, data: Value<'js>) -> Result<Value<'js>> {
    let bytes = bytes::of(&ctx, &data)?;
    bytes::buffer(&ctx, bytes)
}

fn unknown(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    go_error(ctx, format!("invalid algorithm: {name}"))
}

fn encoded<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>, output: Option<Value<'js>>) -> Result<Value<'js>> {
    let output = bytes::word(output)?.unwrap_or_default();
    let text = match output.as_str() {
        "hex" => hash::hex(&bytes),
        "base64" => STANDARD.encode(&bytes),
        "base64url" => URL_SAFE.encode(&bytes),
        "base64rawurl" => URL_SAFE_NO_PAD.encode(&bytes),
        "binary" => return bytes::buffer(ctx, bytes),
        other => return Err(go_error(ctx, format!("invalid output encoding: {other}"))),
    };
    bytes::text(ctx, text.as_bytes())
}

fn random_bytes<'js>(ctx: Ctx<'js>, size: Opt<Coerced<f64>>) -> Result<Value<'js>> {
    let size = size.0.map_or(0.0, |size| size.0);
    if !(1.0..=2_147_483_647.0).contains(&size) {
        return Err(go_error(&ctx, "invalid size"));
    }
    let bytes = random(&ctx, size as usize)?;
    bytes::buffer(&ctx, bytes)
}

/// Returns random bytes of the operating system.
pub(crate) fn random(ctx: &Ctx<'_>, size: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(go_error(ctx, error.to_string())),
    }
}

fn hex_encode<'js>(ctx: Ctx<'js>, data: Opt<Value<'js>>) -> Result<String> {
    Ok(hash::hex(&bytes::given(&ctx, data)?))
}
