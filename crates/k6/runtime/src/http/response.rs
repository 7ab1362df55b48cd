//! `Response`: the object that a script receives for an answer.
//!
//! The answer is kept as it is, and each property is created when the script first reads it: most
//! scripts read one or two.

use super::answer::{Answer, Body, Timings};
use super::fields::canonical;
use super::jar::unquoted;
use super::lazy::{self, Kind, Source};
use crate::errors::k6_error;
use crate::native::{Call, Text, function};
use crate::vu::Vu;
use loadline_k6_modules::{buffer, form_of, gjson_get, link_of, parse_json, selection_of};
use rquickjs::{Array, Ctx, Function, IntoJs, Object, Result, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Makes the prototype, which has the functions of a response.
const PROTOTYPE: &str = "(function (json, page, submit, click) {
    const prototype = {};
    const method = (name, value) => Object.defineProperty(prototype, name, { value });
    method('json', json);
    method('html', function (selector) {
        const whole = page(this);
        return selector === undefined ? whole : whole.find(selector);
    });
    method('submitForm', function (options) { return submit(this.html(), options ?? {}); });
    method('clickLink', function (options) { return click(this.html(), options ?? {}); });
    return prototype;
})";

/// The properties, in k6's order. The functions are own properties of a response too.
const NAMES: [&str; 20] = [
    "remote_ip",
    "remote_port",
    "url",
    "status",
    "status_text",
    "proto",
    "headers",
    "cookies",
    "body",
    "timings",
    "tls_version",
    "tls_cipher_suite",
    "ocsp",
    "error",
    "error_code",
    "request",
    "clickLink",
    "html",
    "json",
    "submitForm",
];

/// The names of a response's times.
const TIMES: [&str; 8] = [
    "duration",
    "blocked",
    "looking_up",
    "connecting",
    "tls_handshaking",
    "sending",
    "waiting",
    "receiving",
];

/// Creates the response of an answer.
pub(crate) fn response<'js>(ctx: &Ctx<'js>, answer: Rc<Answer>) -> Result<Value<'js>> {
    Answer::kind(ctx)?.object(ctx, answer)
}

/// Returns the kind that is kept in `place`, or else creates and keeps it.
fn kept(
    place: &RefCell<Option<Rc<Kind>>>,
    make: impl FnOnce() -> Result<Kind>,
) -> Result<Rc<Kind>> {
    if let Some(known) = &*place.borrow() {
        return Ok(Rc::clone(known));
    }
    let made = Rc::new(make()?);
    place.replace(Some(Rc::clone(&made)));
    Ok(made)
}

/// Creates the prototype of the responses of a realm.
fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let make: Function<'js> = loadline_k6_modules::evaluate(ctx, PROTOTYPE)?;
    make.call((
        function(ctx, "json", json)?,
        function(ctx, "page", page)?,
        function(ctx, "submit", submit)?,
        function(ctx, "click", click)?,
    ))
}

fn answer<'js>(ctx: &Ctx<'js>, response: &Value<'js>) -> Result<Rc<Answer>> {
    let source = lazy::source(response);
    source.ok_or_else(|| k6_error(ctx, "this is no response"))
}

impl Source for Answer {
    const NAMES: &'static [&'static str] = &NAMES;

    fn read<'js>(&self, ctx: &Ctx<'js>, name: &'static str) -> Result<(Value<'js>, bool)> {
        let value = read(ctx, self, name)?;
        let is_kept = value.is_object() && !value.is_function() || name == "body";
        Ok((value, is_kept))
    }

    fn kind<'js>(ctx: &Ctx<'js>) -> Result<Rc<Kind>> {
        let vu = Vu::of(ctx);
        let place = &vu.responses().answers;
        kept(place, || Kind::new::<Answer>(ctx, &prototype(ctx)?))
    }
}

impl Source for Timings {
    const NAMES: &'static [&'static str] = &TIMES;

    fn read<'js>(&self, ctx: &Ctx<'js>, name: &'static str) -> Result<(Value<'js>, bool)> {
        let time_ms = match name {
            "duration" => self.sending + self.waiting + self.receiving,
            "blocked" => self.blocked,
            "connecting" => self.connecting,
            "tls_handshaking" => self.tls_handshaking,
            "sending" => self.sending,
            "waiting" => self.waiting,
            "receiving" => self.receiving,
            // Name resolution is part of the dialling time.
            _ => 0.0,
        };
        Ok((Value::new_number(ctx.clone(), time_ms), false))
    }

    fn kind<'js>(ctx: &Ctx<'js>) -> Result<Rc<Kind>> {
        let vu = Vu::of(ctx);
        kept(&vu.responses().timings, || {
            let of_objects = Object::new(ctx.clone())?.get_prototype();
            let prototype = of_objects.map_or_else(|| Object::new(ctx.clone()), Ok)?;
            Kind::new::<Timings>(ctx, &prototype)
        })
    }
}

fn read<'js>(ctx: &Ctx<'js>, answer: &Answer, name: &str) -> Result<Value<'js>> {
    match name {
        "status" => answer.status.into_js(ctx),
        "body" => body(ctx, answer),
        "headers" => headers(ctx, answer),
        "cookies" => cookies(ctx, answer),
        "timings" => Timings::kind(ctx)?.object(ctx, Rc::new(answer.timings)),
        "request" => request(ctx, answer),
        "ocsp" => ocsp(ctx, answer),
        "remote_ip" => {
            let ip = answer.remote.map(|remote| remote.ip().to_string());
            ip.unwrap_or_default().into_js(ctx)
        }
        "remote_port" => answer.remote.map_or(0, |remote| remote.port()).into_js(ctx),
        "url" => answer.url().into_js(ctx),
        "status_text" => answer.status_text().into_js(ctx),
        "proto" => answer.proto.into_js(ctx),
        "tls_version" => answer.tls.0.into_js(ctx),
        "tls_cipher_suite" => answer.tls.1.as_str().into_js(ctx),
        "error" => answer.error.0.as_str().into_js(ctx),
        "error_code" => answer.error.1.into_js(ctx),
        "clickLink" | "html" | "json" | "submitForm" => {
            Answer::kind(ctx)?.prototype(ctx)?.get(name)
        }
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn body<'js>(ctx: &Ctx<'js>, answer: &Answer) -> Result<Value<'js>> {
    match &answer.body {
        Body::None => Ok(Value::new_null(ctx.clone())),
        Body::Empty => Array::new(ctx.clone()).map(Array::into_value),
        Body::Text(bytes) => String::from_utf8_lossy(bytes).as_ref().into_js(ctx),
        Body::Binary(bytes) => buffer(ctx, bytes.clone()),
    }
}

/// Returns the fields of the response: names in Go's form, values of one name joined by commas.
fn headers<'js>(ctx: &Ctx<'js>, answer: &Answer) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in answer.lines() {
        let name = canonical(name);
        let value = String::from_utf8_lossy(value);
        let known: Option<String> = object.get(name.as_str())?;
        match known {
            Some(known) => object.set(name, format!("{known}, {value}"))?,
            None => object.set(name, value.as_ref())?,
        }
    }
    Ok(object.into_value())
}

/// Returns the cookies that the response sets: lists by name.
fn cookies<'js>(ctx: &Ctx<'js>, answer: &Answer) -> Result<Value<'js>> {
    let by_name = Object::new(ctx.clone())?;
    let lines = answer.lines();
    for (_, value) in lines.filter(|(name, _)| name.eq_ignore_ascii_case(b"set-cookie")) {
        let text = String::from_utf8_lossy(value).into_owned();
        let Some((name, cookie)) = cookie(ctx, &text)? else {
            continue;
        };
        let known: Option<Vec<Value<'js>>> = by_name.get(name)?;
        let mut list = known.unwrap_or_default();
        list.push(cookie.into_value());
        by_name.set(name, list)?;
    }
    Ok(by_name.into_value())
}

fn cookie<'a, 'js>(ctx: &Ctx<'js>, text: &'a str) -> Result<Option<(&'a str, Object<'js>)>> {
    let mut parts = text.split(';').map(str::trim);
    let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
        return Ok(None);
    };
    let cookie = Object::new(ctx.clone())?;
    for (key, empty) in [
        ("name", name),
        ("value", unquoted(value)),
        ("domain", ""),
        ("path", ""),
    ] {
        cookie.set(key, empty)?;
    }
    for key in ["http_only", "secure"] {
        cookie.set(key, false)?;
    }
    for key in ["max_age", "expires"] {
        cookie.set(key, 0)?;
    }
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.to_ascii_lowercase().as_str() {
            "domain" => cookie.set("domain", value)?,
            "path" => cookie.set("path", value)?,
            "httponly" => cookie.set("http_only", true)?,
            "secure" => cookie.set("secure", true)?,
            "max-age" => cookie.set("max_age", value.parse::<i32>().unwrap_or(0))?,
            "expires" => cookie.set("expires", milliseconds(ctx, value)?)?,
            _ => {}
        }
    }
    Ok(Some((name, cookie)))
}

/// Converts a date of HTTP to milliseconds since 1970, as JavaScript parses it.
fn milliseconds(ctx: &Ctx<'_>, date: &str) -> Result<f64> {
    let date_class: Object<'_> = ctx.globals().get("Date")?;
    let parse: Function<'_> = date_class.get("parse")?;
    let parsed: f64 = parse.call((date.replace('-', " "),))?;
    Ok(if parsed.is_finite() { parsed } else { 0.0 })
}

fn request<'js>(ctx: &Ctx<'js>, answer: &Answer) -> Result<Value<'js>> {
    let Some(sent) = &answer.request else {
        return Ok(Value::new_null(ctx.clone()));
    };
    let object = Object::new(ctx.clone())?;
    object.set("method", &*sent.method)?;
    object.set("url", sent.url())?;
    let headers = Object::new(ctx.clone())?;
    let cookies = Object::new(ctx.clone())?;
    for (name, value) in sent.headers.iter() {
        headers.set(name.as_str(), vec![value.as_str()])?;
        if name.eq_ignore_ascii_case("cookie") {
            for (name, value) in value.split("; ").filter_map(|pair| pair.split_once('=')) {
                let cookie = Object::new(ctx.clone())?;
                cookie.set("name", name)?;
                cookie.set("value", unquoted(value))?;
                cookie.set("replace", false)?;
                cookies.set(name, vec![cookie])?;
            }
        }
    }
    object.set("headers", headers)?;
    object.set("body", String::from_utf8_lossy(&sent.body).as_ref())?;
    object.set("cookies", cookies)?;
    Ok(object.into_value())
}

/// Returns the object for OCSP. The status of certificates is never requested.
fn ocsp<'js>(ctx: &Ctx<'js>, answer: &Answer) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set(name, 0)?;
    }
    object.set("revocation_reason", "")?;
    let is_encrypted = !answer.tls.0.is_empty();
    object.set("status", if is_encrypted { "unknown" } else { "" })?;
    Ok(object.into_value())
}

fn json<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let answer = answer(call.ctx, &call.this())?;
    let Some(bytes) = answer.body.bytes() else {
        let sentence = "the body is null so we can't transform it to JSON - this likely was \
                        because of a request error getting the response";
        return Err(k6_error(call.ctx, sentence));
    };
    let selector = call.arg(0);
    match selector.is_undefined() {
        true => lazy::aside::<Answer>(&call.this(), || parse_json(call.ctx, bytes)),
        false => gjson_get(call.ctx, bytes, &call.text(&selector)?),
    }
}

fn page<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let answer = answer(call.ctx, &call.arg(0))?;
    let Some(bytes) = answer.body.bytes() else {
        let sentence = "the body is null so we can't transform it to HTML - this likely was \
                        because of a request error getting the response";
        return Err(k6_error(call.ctx, sentence));
    };
    let text = String::from_utf8_lossy(bytes);
    selection_of(call.ctx, &text, Some(answer.url()))
}

/// Returns an option of `submitForm` or `clickLink`, or else `default`.
fn option<'js>(options: &Object<'js>, name: &str, default: &str) -> Result<String> {
    let given: Option<String> = options.get(name)?;
    Ok(given.unwrap_or_else(|| default.to_owned()))
}

fn page_and_options<'js>(call: &Call<'_, 'js>) -> Result<(Object<'js>, Object<'js>)> {
    let object = |index: usize| {
        let object = call.arg(index).into_object();
        object.ok_or_else(|| k6_error(call.ctx, "an object is needed"))
    };
    Ok((object(0)?, object(1)?))
}

fn submit<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let (page, options) = page_and_options(&call)?;
    let form = option(&options, "formSelector", "form")?;
    let button = option(&options, "submitSelector", "[type=\"submit\"]")?;
    let mut given = Vec::new();
    if let Some(fields) = options.get::<_, Option<Object<'js>>>("fields")? {
        for entry in fields.props::<Text, Value<'js>>() {
            let (Text(name), value) = entry?;
            given.push((name, call.text(&value)?));
        }
    }
    let form = form_of(call.ctx, &page, (&form, &button), &given)?;
    let ctx = call.ctx;
    let params: Value<'js> = options.get("params")?;
    let fields = loadline_k6_modules::urlencoded(&form.fields);
    let (url, body) = if form.method == "GET" {
        let mut url = form.url.clone();
        url += if url.contains('?') { "&" } else { "?" };
        (url + &fields, Value::new_undefined(ctx.clone()))
    } else {
        let body = Object::new(ctx.clone())?;
        for (name, value) in &form.fields {
            body.set(name.as_str(), value.as_str())?;
        }
        (form.url.clone(), body.into_value())
    };
    super::send_one(
        &call,
        form.method.clone().into(),
        (url.into_js(ctx)?, body, params),
    )
}

fn click<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let (page, options) = page_and_options(&call)?;
    let selector = option(&options, "selector", "a[href]")?;
    let url = link_of(call.ctx, &page, &selector)?;
    let params: Value<'js> = options.get("params")?;
    let nothing = Value::new_undefined(call.ctx.clone());
    let url = url.into_js(call.ctx)?;
    super::send_one(&call, "GET".into(), (url, nothing, params))
}
