//! `batch()`: several requests at once, as many as the options allow.

use super::answer::Answer;
use super::response::response;
use super::send::{Fetched, fetch};
use super::wanted::Wanted;
use super::{INVALID_URL, deliver, unmade_answer};
use crate::api::k6::cut_off;
use crate::api::k6_error;
use crate::native::{Call, lossy};
use crate::run::Level;
use crate::vu::Vu;
use loadline_engine::{AtOnce, Requester, run_within};
use loadline_reactor::Kernel;
use rquickjs::{Atom, Ctx, Object, Result, Value};
use std::rc::Rc;

/// An entry of a batch: a request, or what is said of one that can't be made.
type Entry = std::result::Result<Box<Wanted>, Fetched>;

/// What an entry says: method, URL, body and params.
type Said<'js> = (String, Value<'js>, Value<'js>, Value<'js>);

/// Sends all requests of an array or an object; their responses in the same form.
pub(super) fn batch<'js>(call: Call<'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    let Some(requester) = vu.requester() else {
        let sentence = "Using batch in the init context is not supported";
        return Err(k6_error(&call.ctx, sentence));
    };
    let given = given(&call)?;
    let names: Vec<Atom<'js>> = given.keys().collect::<Result<_>>()?;
    let answers = match given.as_array() {
        Some(_) => rquickjs::Array::new(call.ctx.clone())?.into_object(),
        None => Object::new(call.ctx.clone())?,
    };
    let mut entries = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        match entry(&call, &vu, index, given.get(name.clone())?)? {
            Ok(entry) => entries.push(entry),
            Err(problem) => return refuse(&call, &problem, (&names, index), answers),
        }
    }
    let user = Rc::clone(&vu);
    let fetched = vu.wait_below(move || send(user, requester, entries));
    let fetched = fetched.map_err(cut_off(&call.ctx))?;
    for (name, fetched) in names.iter().zip(fetched) {
        answers.set(name.clone(), deliver(&call.ctx, fetched)?)?;
    }
    Ok(answers.into_value())
}

fn given<'js>(call: &Call<'js>) -> Result<Object<'js>> {
    let Some(value) = call.args.first() else {
        let sentence = "no argument was provided to http.batch()";
        return Err(k6_error(&call.ctx, sentence));
    };
    value.as_object().cloned().ok_or_else(|| {
        let kind = match value.type_name() {
            "int" => "int64",
            "float" => "float64",
            other => other,
        };
        let sentence = format!("invalid http.batch() argument type {kind}");
        k6_error(&call.ctx, &sentence)
    })
}

/// An entry that is none ends the batch before anything is sent: the responses of those before it
/// are empty, its own says why, and of those behind it there are none.
fn refuse<'js>(
    call: &Call<'js>,
    problem: &str,
    (names, index): (&[Atom<'js>], usize),
    answers: Object<'js>,
) -> Result<Value<'js>> {
    let fields = [("error", problem)];
    let program = &call.vu().program;
    program.log(Level::Warning, "A batch request failed", &fields);
    for name in &names[..index] {
        answers.set(name.clone(), response(&call.ctx, Rc::default())?)?;
    }
    let own = Answer {
        error: (problem.to_owned(), INVALID_URL),
        ..Answer::default()
    };
    answers.set(names[index].clone(), response(&call.ctx, Rc::new(own))?)?;
    if answers.as_array().is_some() {
        for name in &names[index + 1..] {
            answers.set(name.clone(), Value::new_null(call.ctx.clone()))?;
        }
    }
    Ok(answers.into_value())
}

/// Reads an entry.
///
/// # Errors
/// What is said of one that is none.
fn entry<'js>(
    call: &Call<'js>,
    vu: &Rc<Vu>,
    index: usize,
    value: Value<'js>,
) -> Result<std::result::Result<Entry, String>> {
    let (method, url, body, params) = match said(&call.ctx, index, &value)? {
        Ok(said) => said,
        Err(problem) => return Ok(Err(problem)),
    };
    let wanted = Wanted::read(call, vu, method.into(), (&url, &body, &params))?;
    Ok(Ok(wanted.map_err(|problem| unmade_answer(vu, &problem))))
}

fn said<'js>(
    ctx: &Ctx<'js>,
    index: usize,
    value: &Value<'js>,
) -> Result<std::result::Result<Said<'js>, String>> {
    let nothing = || Value::new_undefined(ctx.clone());
    if value.is_string() {
        let url = value.clone();
        return Ok(Ok(("GET".to_owned(), url, nothing(), nothing())));
    }
    if let Some(list) = value.as_array() {
        let at = |index: usize| list.get::<Value<'js>>(index);
        let method = at(0)?.as_string().map(lossy);
        let Some(method) = method.filter(|_| list.len() >= 2) else {
            return Ok(Err(
                "invalid batch request: it needs a method and a URL".to_owned()
            ));
        };
        return Ok(Ok((method?, at(1)?, at(2)?, at(3)?)));
    }
    let Some(object) = value.as_object() else {
        let text = value
            .as_number()
            .map_or_else(|| "<nil>".to_owned(), |n| n.to_string());
        return Ok(Err(format!("invalid URL: '#{text}'")));
    };
    let is_template = object.contains_key("clean_url")?;
    if is_template {
        return Ok(Ok(("GET".to_owned(), value.clone(), nothing(), nothing())));
    }
    let url: Value<'js> = object.get("url")?;
    if url.is_undefined() {
        return Ok(Err(format!("batch request {index} doesn't have a url key")));
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

/// Sends what can be sent; what came of each entry, in their order.
async fn send(vu: Rc<Vu>, requester: Requester<Kernel>, entries: Vec<Entry>) -> Vec<Fetched> {
    let options = vu.run.as_ref().map(|run| run.options.http.batch);
    let bounds = options.map_or_else(AtOnce::default, |(most, per_host)| AtOnce {
        most,
        per_host,
    });
    let mut fetched: Vec<Option<Fetched>> = Vec::with_capacity(entries.len());
    let (mut places, mut requests) = (Vec::new(), Vec::new());
    for (index, entry) in entries.into_iter().enumerate() {
        match entry {
            Err(refused) => fetched.push(Some(refused)),
            Ok(wanted) => {
                fetched.push(None);
                places.push(index);
                let url = wanted.target.url.clone();
                requests.push((url, fetch(Rc::clone(&vu), requester.clone(), wanted)));
            }
        }
    }
    let ended = run_within(requests.into_iter(), bounds).await;
    for (index, one) in places.into_iter().zip(ended) {
        fetched[index] = Some(one);
    }
    fetched.into_iter().flatten().collect()
}
