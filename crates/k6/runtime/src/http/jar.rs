//! Cookies: `http.cookieJar()`, `new http.CookieJar()`.

use super::held;
use super::state::Jar;
use crate::errors::k6_error;
use crate::native::{Call, Text, function};
use loadline_client::CookieJar;
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::borrow::Cow;
use std::rc::Rc;
use url::Url;

/// Makes the class and the prototype of jars. `act` receives the jar and the number of the method.
const CLASS: &str = "(function (make, act) {
    class CookieJar {
        constructor() { return make(CookieJar.prototype); }
        cookiesForURL(url) { return act(this, 0, url); }
        set(url, name, value, options) { return act(this, 1, url, name, value, options); }
        clear(url) { return act(this, 2, url); }
        delete(url, name) { return act(this, 3, url, name); }
    }
    return CookieJar;
})";

/// Creates the class `CookieJar`.
pub(crate) fn class<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let make = function(ctx, "make", |call: Call<'_, 'js>| {
        let prototype = call.arg(0).into_object();
        let prototype = prototype.ok_or(rquickjs::Error::Unknown)?;
        held::hold(Rc::new(Jar::default()), prototype)
    })?;
    let make_class: Function<'js> = loadline_k6_modules::evaluate(ctx, CLASS)?;
    make_class.call((make, function(ctx, "act", act)?))
}

/// Returns the jar of the user, as an object of this class.
pub(crate) fn of_user<'js>(call: &Call<'_, 'js>, class: &Function<'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    if vu.is_init() {
        let sentence = "Making cookie jars in the init context is not supported";
        return Err(k6_error(call.ctx, sentence));
    }
    let object: &Object<'js> = class
        .as_value()
        .as_object()
        .ok_or(rquickjs::Error::Unknown)?;
    held::hold(Rc::clone(&vu.http.jar), object.get("prototype")?)
}

fn act<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let undefined = Value::new_undefined(call.ctx.clone());
    let Some(jar) = held::held::<Jar>(&call.arg(0)) else {
        return Ok(undefined);
    };
    let url = call.text(&call.arg(2))?;
    let url = Url::parse(&url).map_err(|error| k6_error(call.ctx, &error.to_string()))?;
    let mut jar = jar.borrow_mut();
    match call.number(1)? as u8 {
        0 => return cookies(call.ctx, &mut jar, &url),
        1 => return set(&call, &mut jar, &url),
        2 => {
            for (name, _) in pairs(&mut jar, &url) {
                remove(&mut jar, &url, &name);
            }
        }
        _ => remove(&mut jar, &url, &call.text(&call.arg(3))?),
    }
    Ok(undefined)
}

/// Returns the cookies of a URL: lists of values by name.
fn cookies<'js>(ctx: &Ctx<'js>, jar: &mut CookieJar, url: &Url) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in pairs(jar, url) {
        let known: Option<Vec<String>> = object.get(name.as_str())?;
        let mut values = known.unwrap_or_default();
        values.push(value);
        object.set(name, values)?;
    }
    Ok(object.into_value())
}

/// Returns the cookies that are sent to a URL.
pub(crate) fn pairs(jar: &mut CookieJar, url: &Url) -> Vec<(String, String)> {
    let header = jar.header(url).unwrap_or_default();
    let pairs = header.split("; ").filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), unquoted(value).to_owned()))
        .collect()
}

/// Returns the value of a cookie for scripts: without quotes around it, as Go reads it.
pub(crate) fn unquoted(value: &str) -> &str {
    let inside = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or(value)
}

/// Returns the value of a cookie as it is sent: in quotes if Go writes them around it.
pub(crate) fn quoted(value: &str) -> Cow<'_, str> {
    match value.contains([' ', ',']) && unquoted(value) == value {
        true => Cow::Owned(format!("\"{value}\"")),
        false => Cow::Borrowed(value),
    }
}

/// Quotes the values of a whole field `Cookie` in the same way.
pub(crate) fn all_quoted(field: &str) -> String {
    let pairs = field.split("; ").map(|pair| match pair.split_once('=') {
        Some((name, value)) => Cow::Owned(format!("{name}={}", quoted(value))),
        None => Cow::Borrowed(pair),
    });
    pairs.collect::<Vec<_>>().join("; ")
}

/// True if a field `Cookie` has values that need quotes.
pub(crate) fn needs_quotes(field: &str) -> bool {
    field.contains(',') || field.split("; ").any(|pair| pair.contains(' '))
}

fn set<'js>(call: &Call<'_, 'js>, jar: &mut CookieJar, url: &Url) -> Result<Value<'js>> {
    let (name, value) = (call.text(&call.arg(3))?, call.text(&call.arg(4))?);
    let mut line = format!("{name}={value}");
    if let Some(options) = call.arg(5).as_object() {
        for (key, attribute) in [
            ("domain", "Domain"),
            ("path", "Path"),
            ("expires", "Expires"),
        ] {
            if let Some(Text(text)) = options.get::<_, Option<Text>>(key)? {
                line += &format!("; {attribute}={text}");
            }
        }
        if let Some(age) = options.get::<_, Option<f64>>("max_age")? {
            line += &format!("; Max-Age={age}");
        }
        for (key, attribute) in [("secure", "Secure"), ("http_only", "HttpOnly")] {
            if options.get::<_, Option<bool>>(key)? == Some(true) {
                line += &format!("; {attribute}");
            }
        }
    }
    jar.store(url, line.as_bytes());
    Ok(Value::new_bool(call.ctx.clone(), true))
}

/// Removes a cookie, whether its path is the URL's own or the root.
fn remove(jar: &mut CookieJar, url: &Url, name: &str) {
    for path in ["", "; Path=/"] {
        jar.store(url, format!("{name}=; Max-Age=0{path}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_gos() {
        for (value, sent, seen) in [
            ("a", "a", "a"),
            ("x y", "\"x y\"", "x y"),
            ("q,s", "\"q,s\"", "q,s"),
            ("\"x y\"", "\"x y\"", "x y"),
            ("\"", "\"", "\""),
            ("", "", ""),
        ] {
            assert_eq!((&*quoted(value), unquoted(value)), (sent, seen), "{value}");
        }
        assert_eq!(all_quoted("a=b; c=d e; f"), "a=b; c=\"d e\"; f");
        assert!(!needs_quotes("a=b; c=d") && needs_quotes("a=b; c=d e"));
    }
}
