//! Globals that scripts expect: those of the language, `GoError`, `crypto`, and those of browsers
//! that k6 lacks.
//!
//! Each virtual user needs memory for each global. So those that most scripts never use, such as
//! typed arrays, are created when a script first accesses them.

use crate::native::function;
use crate::text::Text;
use crate::{bytes, crypto, error, source};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rquickjs::context::{Intrinsic, intrinsic};
use rquickjs::function::Opt;
use rquickjs::object::Property;
use rquickjs::{
    Context, Ctx, Error, Exception, Function, JsLifetime, Object, Result, Runtime, Value, qjs,
};
use std::time::Instant;
use url::Url;

/// Globals that scripts may replace.
const NAMES: [&str; 9] = [
    "URL",
    "URLSearchParams",
    "TextEncoder",
    "TextDecoder",
    "atob",
    "btoa",
    "structuredClone",
    "crypto",
    "performance",
];

/// Buffers and typed arrays, which QuickJS creates all at once.
const TYPED_ARRAYS: [&str; 16] = [
    "ArrayBuffer",
    "SharedArrayBuffer",
    "DataView",
    "Atomics",
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "BigInt64Array",
    "BigUint64Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
];

/// The parts of the language without typed arrays.
type Usual = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::Promise,
    intrinsic::WeakRef,
    intrinsic::Performance,
);

/// Creates a realm without k6's globals, and without typed arrays until [`install_globals`].
///
/// # Errors
/// If there is no memory for it.
#[expect(unsafe_code, reason = "the library has no name for these two")]
pub fn realm(runtime: &Runtime) -> Result<Context> {
    let context = Context::custom::<Usual>(runtime)?;
    // SAFETY: no other code has the context yet.
    match unsafe { qjs::JS_AddIntrinsicAToB(context.as_raw().as_ptr()) } {
        0 => Ok(context),
        _ => Err(rquickjs::Error::Allocation),
    }
}

/// Throws the error for a feature that is not supported; the text describes it.
pub type Missing = fn(&Ctx<'_>, &str) -> Error;

/// The function of a realm that throws such errors.
struct OfRealm(Missing);

#[expect(
    unsafe_code,
    reason = "a derived one would ask it of the function as well"
)]
// SAFETY: a function holds no value of a realm.
unsafe impl JsLifetime<'_> for OfRealm {
    type Changed<'to> = OfRealm;
}

/// Installs the globals of a realm.
///
/// # Errors
/// If there is no memory for them.
pub fn install_globals(ctx: &Ctx<'_>, missing: Missing) -> Result<()> {
    // An existing value is the same function.
    let _ = ctx.store_userdata(OfRealm(missing));
    let natives = Object::new(ctx.clone())?;
    natives.set("load", function(ctx, load)?)?;
    let fixed: Vec<&str> = TYPED_ARRAYS.into_iter().chain(["GoError"]).collect();
    let install: Function<'_> = source::evaluate(ctx, include_str!("js/globals.js"))?;
    install.call((natives, NAMES.to_vec(), fixed))
}

/// Returns the global of this name, and defines it permanently.
fn load<'js>(ctx: Ctx<'js>, Text(name): Text) -> Result<Value<'js>> {
    if TYPED_ARRAYS.contains(&name.as_str()) {
        return typed_array(&ctx, &name);
    }
    if name == "GoError" {
        return error::define(&ctx);
    }
    let made = made(&ctx, &name)?;
    let property = Property::from(made.clone()).writable().configurable();
    ctx.globals().prop(name, property)?;
    Ok(made)
}

fn typed_array<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    // A script may keep the getter that leads here, and call it again.
    source::once(ctx, "typedArrays", || {
        // QuickJS ends the process if one exists already; a global that can't be removed throws.
        let globals = ctx.globals();
        TYPED_ARRAYS
            .into_iter()
            .try_for_each(|name| globals.remove(name))?;
        add_typed_arrays(ctx);
        Ok(Value::new_bool(ctx.clone(), true))
    })?;
    ctx.globals().get(name)
}

#[expect(unsafe_code, reason = "the library adds them to new contexts alone")]
fn add_typed_arrays(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive, and has no typed arrays.
    unsafe { intrinsic::TypedArrays::add_intrinsic(ctx.as_raw()) };
}

fn made<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let natives = Object::new(ctx.clone())?;
    let source = match name {
        "URL" => {
            natives.set("parse", function(ctx, parse_url)?)?;
            natives.set("change", function(ctx, change_url)?)?;
            include_str!("js/url.js")
        }
        "URLSearchParams" => include_str!("js/url_search_params.js"),
        "structuredClone" => include_str!("js/structured_clone.js"),
        "crypto" => {
            natives.set("randomBytes", function(ctx, random_bytes)?)?;
            natives.set("missing", function(ctx, missing)?)?;
            include_str!("js/web_crypto.js")
        }
        "performance" => {
            let start = Instant::now();
            let now = move || start.elapsed().as_secs_f64() * 1e3;
            natives.set("now", function(ctx, now)?)?;
            "(native) => ({ now: () => native.now(), timeOrigin: Date.now() })"
        }
        _ => {
            natives.set("encode", function(ctx, encode_text)?)?;
            natives.set("decode", function(ctx, decode_text)?)?;
            natives.set("btoa", function(ctx, btoa)?)?;
            natives.set("atob", function(ctx, atob)?)?;
            let all = source::run(ctx, include_str!("js/text.js"), natives)?;
            return all.get::<Object<'js>>()?.get(name);
        }
    };
    source::run(ctx, source, natives)
}

fn missing(ctx: Ctx<'_>, Text(sentence): Text) -> Result<()> {
    let throw = ctx.userdata::<OfRealm>().map(|of_realm| of_realm.0);
    let throw = throw.unwrap_or(|ctx, text| error::go_error(ctx, text));
    Err(throw(&ctx, &sentence))
}

fn random_bytes<'js>(ctx: Ctx<'js>, size: usize) -> Result<Value<'js>> {
    let bytes = crypto::random(&ctx, size)?;
    bytes::buffer(&ctx, bytes)
}

/// Returns the parts of a URL; `null` if the text is not a URL.
fn parse_url<'js>(
    ctx: Ctx<'js>,
    Text(href): Text,
    base: Opt<Value<'js>>,
) -> Result<Option<Object<'js>>> {
    let base = bytes::word(base.0)?;
    let parsed = match base.as_deref().map(Url::parse) {
        Some(Ok(base)) => base.join(&href),
        Some(Err(error)) => Err(error),
        None => Url::parse(&href),
    };
    parsed.ok().map(|url| parts(&ctx, &url)).transpose()
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("href", url.as_str())?;
    object.set("origin", url.origin().ascii_serialization())?;
    object.set("protocol", url::quirks::protocol(url))?;
    object.set("username", url::quirks::username(url))?;
    object.set("password", url::quirks::password(url))?;
    object.set("host", url::quirks::host(url))?;
    object.set("hostname", url::quirks::hostname(url))?;
    object.set("port", url::quirks::port(url))?;
    object.set("pathname", url::quirks::pathname(url))?;
    object.set("search", url::quirks::search(url))?;
    object.set("hash", url::quirks::hash(url))?;
    Ok(object)
}

/// Returns the parts of a URL after setting one of them; an invalid value changes nothing.
fn change_url(
    ctx: Ctx<'_>,
    Text(href): Text,
    Text(part): Text,
    Text(value): Text,
) -> Result<Object<'_>> {
    let Ok(mut url) = Url::parse(&href) else {
        return Err(Exception::throw_type(&ctx, "Invalid URL"));
    };
    let _: std::result::Result<(), ()> = match part.as_str() {
        "protocol" => url::quirks::set_protocol(&mut url, &value),
        "username" => url::quirks::set_username(&mut url, &value),
        "password" => url::quirks::set_password(&mut url, &value),
        "host" => url::quirks::set_host(&mut url, &value),
        "hostname" => url::quirks::set_hostname(&mut url, &value),
        "port" => url::quirks::set_port(&mut url, &value),
        "pathname" => {
            url::quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            url::quirks::set_search(&mut url, &value);
            Ok(())
        }
        _ => {
            url::quirks::set_hash(&mut url, &value);
            Ok(())
        }
    };
    parts(&ctx, &url)
}

fn encode_text<'js>(ctx: Ctx<'js>, Text(text): Text) -> Result<Value<'js>> {
    bytes::buffer(&ctx, text.into_bytes())
}

fn decode_text<'js>(ctx: Ctx<'js>, data: Value<'js>, is_fatal: bool) -> Result<Value<'js>> {
    let data = bytes::of(&ctx, &data)?;
    match is_fatal && std::str::from_utf8(&data).is_err() {
        true => Err(Exception::throw_type(
            &ctx,
            "The encoded data was not valid utf-8",
        )),
        false => bytes::text(&ctx, &data),
    }
}

fn btoa(ctx: Ctx<'_>, Text(text): Text) -> Result<String> {
    let bytes: std::result::Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    match bytes {
        Ok(bytes) => Ok(STANDARD.encode(bytes)),
        Err(_) => Err(error::go_error(
            &ctx,
            "btoa takes characters up to U+00FF only",
        )),
    }
}

fn atob(ctx: Ctx<'_>, Text(text): Text) -> Result<String> {
    let mut text: String = text.split_ascii_whitespace().collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    match STANDARD.decode(text) {
        Ok(bytes) => Ok(bytes.into_iter().map(char::from).collect()),
        Err(_) => Err(error::go_error(&ctx, "atob takes a Base64 text only")),
    }
}
