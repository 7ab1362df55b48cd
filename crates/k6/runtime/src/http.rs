//! The module `k6/http`.
//!
//! A request passes three stages: `ScriptRequest` reads the arguments of the script, `send` sends
//! the request and follows its redirects without access to JavaScript, and `response` presents the
//! `answer` to the script.

mod answer;
mod batch;
mod body;
mod brotli;
mod debug;
mod errors;
mod expectation;
pub(crate) mod fields;
mod go_url;
mod held;
mod hop;
mod jar;
pub(crate) mod lazy;
mod multipart;
pub(crate) mod rate;
mod record;
mod response;
mod script_request;
mod send;
pub(crate) mod state;
mod status_text;
pub(crate) mod target;

use crate::api::k6::cut_off;
use crate::errors::k6_error;
use crate::native::{Call, set};
use crate::operations::Completion;
use crate::run::Level;
use crate::vu::Vu;
use answer::Answer;
use errors::unmade;
use rquickjs::{Ctx, Function, Object, Persistent, Result, Value};
use script_request::{RefusedRequest, ScriptRequest};
use send::{Fetched, fetch};
use std::borrow::Cow;
use std::rc::Rc;

/// The methods with a function of their own: name, method, and true if it takes a body.
const VERBS: [(&str, &str, bool); 7] = [
    ("get", "GET", false),
    ("head", "HEAD", false),
    ("post", "POST", true),
    ("put", "PUT", true),
    ("patch", "PATCH", true),
    ("del", "DELETE", true),
    ("options", "OPTIONS", true),
];

/// Named constants for scripts.
const CONSTANTS: [(&str, &str); 18] = [
    ("TLS_1_0", "tls1.0"),
    ("TLS_1_1", "tls1.1"),
    ("TLS_1_2", "tls1.2"),
    ("TLS_1_3", "tls1.3"),
    ("OCSP_STATUS_GOOD", "good"),
    ("OCSP_STATUS_REVOKED", "revoked"),
    ("OCSP_STATUS_SERVER_FAILED", "server_failed"),
    ("OCSP_STATUS_UNKNOWN", "unknown"),
    ("OCSP_REASON_UNSPECIFIED", "unspecified"),
    ("OCSP_REASON_KEY_COMPROMISE", "key_compromise"),
    ("OCSP_REASON_CA_COMPROMISE", "ca_compromise"),
    ("OCSP_REASON_AFFILIATION_CHANGED", "affiliation_changed"),
    ("OCSP_REASON_SUPERSEDED", "superseded"),
    (
        "OCSP_REASON_CESSATION_OF_OPERATION",
        "cessation_of_operation",
    ),
    ("OCSP_REASON_CERTIFICATE_HOLD", "certificate_hold"),
    ("OCSP_REASON_REMOVE_FROM_CRL", "remove_from_crl"),
    ("OCSP_REASON_PRIVILEGE_WITHDRAWN", "privilege_withdrawn"),
    ("OCSP_REASON_AA_COMPROMISE", "aa_compromise"),
];

/// The tagged template `http.url`: the name has `${}` in place of each value.
const URL_TEMPLATE: &str = "(function (parts, ...values) {
    let url = parts[0];
    values.forEach((value, index) => { url += value + parts[index + 1]; });
    return { url, name: parts.join('${}'), clean_url: url };
})";

pub(crate) fn module<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, method, has_body) in VERBS {
        set(&module, name, move |call| verb(&call, method, has_body))?;
    }
    set(&module, "request", |call| {
        let method = call.text(&call.arg(0))?;
        send_one(
            &call,
            method.into(),
            (call.arg(1), call.arg(2), call.arg(3)),
        )
    })?;
    set(&module, "asyncRequest", begin)?;
    set(&module, "batch", batch::batch)?;
    set(&module, "file", multipart::file)?;
    set(&module, "expectedStatuses", expectation::expected_statuses)?;
    set(
        &module,
        "setResponseCallback",
        expectation::set_response_callback,
    )?;
    for (name, value) in CONSTANTS {
        module.set(name, value)?;
    }
    module.set(
        "url",
        loadline_k6_modules::evaluate::<Function<'js>>(ctx, URL_TEMPLATE)?,
    )?;
    let jars = jar::class(ctx)?;
    module.set("CookieJar", jars.clone())?;
    // A native function must hold no value of the runtime: the garbage collector would not see it.
    Vu::of(ctx).common(ctx)?.set("cookieJar", jars)?;
    set(&module, "cookieJar", |call| {
        let class = Vu::of(call.ctx).common(call.ctx)?.get("cookieJar")?;
        jar::of_user(&call, &class)
    })?;
    Ok(module)
}

/// Implements `get(url, params)`, `post(url, body, params)` and the other methods' functions.
fn verb<'js>(call: &Call<'_, 'js>, method: &'static str, has_body: bool) -> Result<Value<'js>> {
    let nothing = Value::new_undefined(call.ctx.clone());
    let count = call.len();
    if !has_body && count > 2 {
        let name = method.to_ascii_lowercase();
        let sentence = format!(
            "http.{name} only accepts a url and a params argument (2 arguments), but {count} were \
             given"
        );
        call.vu().program.log(Level::Warning, &sentence, &[]);
    }
    let given = match has_body {
        true => (call.arg(0), call.arg(1), call.arg(2)),
        false => (call.arg(0), nothing, call.arg(1)),
    };
    send_one(call, method.into(), given)
}

/// Sends a request and waits for its response.
fn send_one<'js>(
    call: &Call<'_, 'js>,
    method: Cow<'static, str>,
    (url, body, params): (Value<'js>, Value<'js>, Value<'js>),
) -> Result<Value<'js>> {
    let vu = call.vu();
    let Some(requester) = vu.requester() else {
        let sentence = "Making http requests in the init context is not supported";
        return Err(k6_error(call.ctx, sentence));
    };
    let script_request = match ScriptRequest::read(call, &vu, method, (&url, &body, &params))? {
        Ok(script_request) => script_request,
        Err(unmade) => return refuse(call.ctx, &unmade),
    };
    let user = Rc::clone(&vu);
    let fetched = vu.wait_below(move || fetch(user, requester, script_request));
    let fetched = fetched.map_err(cut_off(call.ctx))?;
    deliver(call.ctx, fetched)
}

/// Returns the result for a request that could not be made.
fn refuse<'js>(ctx: &Ctx<'js>, problem: &RefusedRequest) -> Result<Value<'js>> {
    let fetched = Fetched {
        answer: unmade_answer(problem),
        wrong: Some(unmade(problem.code, &problem.text)),
        throws: throws(&Vu::of(ctx)),
    };
    deliver(ctx, fetched)
}

/// True if the options make failures throw. The params of a request that can't be made have no
/// effect on that.
fn throws(vu: &Vu) -> bool {
    vu.run.as_ref().is_some_and(|run| run.options.http.throws)
}

/// Returns the response of a request that could not be made.
fn unmade_answer(problem: &RefusedRequest) -> Rc<Answer> {
    Rc::new(Answer {
        error: (problem.text.clone(), problem.code),
        ..Answer::default()
    })
}

/// Returns the response to the script, or throws its failure.
fn deliver<'js>(ctx: &Ctx<'js>, fetched: Fetched) -> Result<Value<'js>> {
    let Fetched {
        answer,
        wrong,
        throws,
    } = fetched;
    if let Some(wrong) = wrong {
        if throws {
            return Err(k6_error(ctx, &wrong.whole));
        }
        let vu = Vu::of(ctx);
        let fields = [("error", wrong.whole.as_str())];
        vu.program.log(Level::Warning, "Request Failed", &fields);
    }
    response::response(ctx, answer)
}

/// Implements `asyncRequest`: returns a promise of the response.
fn begin<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let vu = call.vu();
    let Some(requester) = vu.requester() else {
        let sentence = "Making http requests in the init context is not supported";
        return Err(k6_error(call.ctx, sentence));
    };
    let method = call.text(&call.arg(0))?.into();
    let given = (&call.arg(1), &call.arg(2), &call.arg(3));
    let script_request = ScriptRequest::read(&call, &vu, method, given)?;
    let (promise, resolve, reject) = call.ctx.promise()?;
    let script_request = match script_request {
        Ok(script_request) => script_request,
        Err(problem) => {
            settle(call.ctx, refuse(call.ctx, &problem), &resolve, &reject)?;
            return Ok(promise.into_value());
        }
    };
    let resolve = Persistent::save(call.ctx, resolve);
    let reject = Persistent::save(call.ctx, reject);
    let fetching = fetch(vu.clone(), requester, script_request);
    vu.operations.begin(async move {
        let fetched = fetching.await;
        Box::new(move |ctx: &Ctx<'_>| {
            let (resolve, reject) = (resolve.restore(ctx)?, reject.restore(ctx)?);
            settle(ctx, deliver(ctx, fetched), &resolve, &reject)
        }) as Completion
    });
    Ok(promise.into_value())
}

/// Resolves a promise, or rejects it with the exception.
fn settle<'js>(
    ctx: &Ctx<'js>,
    result: Result<Value<'js>>,
    resolve: &Function<'js>,
    reject: &Function<'js>,
) -> Result<()> {
    match result {
        Ok(value) => resolve.call((value,)),
        Err(rquickjs::Error::Exception) => reject.call((ctx.catch(),)),
        Err(error) => Err(error),
    }
}
