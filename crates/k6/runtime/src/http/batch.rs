//! `batch()`: several concurrent requests, as many as the options allow.

use super::go_url::quoted;
use super::response::response;
use super::script_request::{INVALID_URL, RefusedRequest, ScriptRequest};
use super::send::{Fetched, fetch};
use super::{deliver, throws, unmade_answer};
use crate::api::k6::cut_off;
use crate::errors::k6_error;
use crate::native::{Call, lossy};
use crate::run::Level;
use crate::vu::Vu;
use loadline_engine::{AtOnce, Requester, run_within};
use loadline_reactor::Kernel;
use rquickjs::{Array, Atom, Ctx, Object, Result, Value};
use std::rc::Rc;

/// The contents of an entry: method, URL, body and params.
type Entry<'js> = (String, Value<'js>, Value<'js>, Value<'js>);

/// Sends all requests of an array or an object, and returns their responses in the same form.
pub(super) fn batch<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    let Some(requester) = vu.requester() else {
        let sentence = "Using batch in the init context is not supported";
        return Err(k6_error(call.ctx, sentence));
    };
    let given = given(&call)?;
    let names: Vec<Atom<'js>> = given.keys().collect::<Result<_>>()?;
    let answers = match given.as_array() {
        Some(_) => Array::new(call.ctx.clone())?.into_object(),
        None => Object::new(call.ctx.clone())?,
    };
    let mut entries = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        match entry(&call, &vu, index, given.get(name.clone())?)? {
            Ok(entry) => entries.push(entry),
            Err(unmade) => return refuse(&call, &unmade, (&names, index), answers),
        }
    }
    let user = Rc::clone(&vu);
    let fetched = vu.wait_below(move || send(user, requester, entries));
    let fetched = fetched.map_err(cut_off(call.ctx))?;
    for (name, fetched) in names.iter().zip(fetched) {
        answers.set(name.clone(), deliver(call.ctx, fetched)?)?;
    }
    Ok(answers.into_value())
}

fn given<'js>(call: &Call<'_, 'js>) -> Result<Object<'js>> {
    let Some(value) = call.given(0) else {
        let sentence = "no argument was provided to http.batch()";
        return Err(k6_error(call.ctx, sentence));
    };
    value.as_object().cloned().ok_or_else(|| {
        let kind = match value.type_name() {
            "int" => "int64",
            "float" => "float64",
            other => other,
        };
        let sentence = format!("invalid http.batch() argument type {kind}");
        k6_error(call.ctx, &sentence)
    })
}

/// Ends a batch before anything is sent, because this entry can't be made. The responses of entries
/// before it are empty, its own has the reason, and entries after it have no response.
fn refuse<'js>(
    call: &Call<'_, 'js>,
    unmade: &RefusedRequest,
    (names, index): (&[Atom<'js>], usize),
    answers: Object<'js>,
) -> Result<Value<'js>> {
    let vu = call.vu();
    if throws(&vu) {
        return Err(k6_error(call.ctx, &unmade.text));
    }
    let fields = [("error", unmade.text.as_str())];
    vu.program
        .log(Level::Warning, "A batch request failed", &fields);
    for name in &names[..index] {
        answers.set(name.clone(), response(call.ctx, Rc::default())?)?;
    }
    let own = response(call.ctx, unmade_answer(unmade))?;
    answers.set(names[index].clone(), own)?;
    if answers.as_array().is_some() {
        for name in &names[index + 1..] {
            answers.set(name.clone(), Value::new_null(call.ctx.clone()))?;
        }
    }
    Ok(answers.into_value())
}

/// Reads an entry.
fn entry<'js>(
    call: &Call<'_, 'js>,
    vu: &Rc<Vu>,
    index: usize,
    value: Value<'js>,
) -> Result<std::result::Result<Box<ScriptRequest>, RefusedRequest>> {
    match entry_of(call.ctx, index, &value)? {
        Ok((method, url, body, params)) => {
            ScriptRequest::read(call, vu, method.into(), (&url, &body, &params))
        }
        Err(unmade) => Ok(Err(unmade)),
    }
}

fn entry_of<'js>(
    ctx: &Ctx<'js>,
    index: usize,
    value: &Value<'js>,
) -> Result<std::result::Result<Entry<'js>, RefusedRequest>> {
    let nothing = || Value::new_undefined(ctx.clone());
    if value.is_string() {
        let url = value.clone();
        return Ok(Ok(("GET".to_owned(), url, nothing(), nothing())));
    }
    if let Some(list) = value.as_array() {
        let at = |index: usize| list.get::<Value<'js>>(index);
        if list.len() < 2 {
            let text = format!("invalid batch request '{}'", in_go(list)?);
            return Ok(Err(RefusedRequest::new(0, text)));
        }
        let Some(method) = at(0)?.as_string().map(lossy) else {
            let text = format!("invalid method type '{}'", part_in_go(&at(0)?)?);
            return Ok(Err(RefusedRequest::new(0, text)));
        };
        return Ok(Ok((method?, at(1)?, at(2)?, at(3)?)));
    }
    let Some(object) = value.as_object() else {
        let text = value
            .as_number()
            .map_or_else(|| "<nil>".to_owned(), |n| n.to_string());
        let text = format!("invalid URL: '#{text}'");
        return Ok(Err(RefusedRequest::new(INVALID_URL, text)));
    };
    let is_template = object.contains_key("clean_url")?;
    if is_template {
        return Ok(Ok(("GET".to_owned(), value.clone(), nothing(), nothing())));
    }
    let url: Value<'js> = object.get("url")?;
    if url.is_undefined() {
        let text = format!("batch request {index} doesn't have a url key");
        return Ok(Err(RefusedRequest::new(0, text)));
    }
    let method: Option<String> = object.get("method")?;
    let method = method.map_or_else(|| "GET".to_owned(), |method| method.to_uppercase());
    Ok(Ok((
        method,
        url,
        object.get("body")?,
        object.get("params")?,
    )))
}

/// Formats a list as Go does (`%#v`).
fn in_go(list: &Array<'_>) -> Result<String> {
    let parts = list.iter::<Value<'_>>();
    let parts: Vec<String> = parts
        .map(|part| part_in_go(&part?))
        .collect::<Result<_>>()?;
    Ok(format!("[]interface {{}}{{{}}}", parts.join(", ")))
}

fn part_in_go(part: &Value<'_>) -> Result<String> {
    Ok(match (part.as_string(), part.as_number(), part.as_bool()) {
        (Some(text), ..) => quoted(&lossy(text)?),
        (_, Some(number), _) => number.to_string(),
        (.., Some(truth)) => truth.to_string(),
        _ if part.is_object() => "map[string]interface {}{...}".to_owned(),
        _ => "interface {}(nil)".to_owned(),
    })
}

/// Sends all requests, and returns their outcomes in order.
#[expect(clippy::vec_box, reason = "each is read into a box, and sent from it")]
async fn send(
    vu: Rc<Vu>,
    requester: Requester<Kernel>,
    entries: Vec<Box<ScriptRequest>>,
) -> Vec<Fetched> {
    let options = vu.run.as_ref().map(|run| run.options.http.batch);
    let bounds = options.map_or_else(AtOnce::default, |(most, per_host)| AtOnce {
        most,
        per_host,
    });
    let requests = entries.into_iter().map(|script_request| {
        let url = script_request.target.url.clone();
        (
            url,
            fetch(Rc::clone(&vu), requester.clone(), script_request),
        )
    });
    run_within(requests, bounds).await
}
