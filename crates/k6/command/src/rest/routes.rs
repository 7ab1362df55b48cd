//! The routes of the REST API: the response to each request.

use super::control::{Control, Scale, ScaleError};
use super::documents;
use super::patch::Patch;
use crate::go_words;
use loadline_web::Method;
use percent_encoding::percent_decode_str;

const STATUS_JSON: &str = "application/json; charset=utf-8";
const SETUP_JSON: &str = "application/json";
/// The content type that k6 sends for its other JSON.
const TEXT: &str = "text/plain; charset=utf-8";

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    /// The type of the body, if there is one.
    pub(super) content_type: Option<&'static str>,
    /// The body.
    pub(super) body: String,
}

impl Answer {
    fn ok(content_type: &'static str, body: String) -> Self {
        Answer {
            status: 200,
            content_type: Some(content_type),
            body,
        }
    }

    fn problem(status: u16, content_type: &'static str, title: &str, detail: &str) -> Self {
        Answer {
            status,
            content_type: Some(content_type),
            body: documents::error(status, title, detail),
        }
    }

    fn plain(status: u16, text: &str) -> Self {
        Answer {
            status,
            content_type: Some(TEXT),
            body: text.to_owned(),
        }
    }

    fn empty(status: u16) -> Self {
        Answer {
            status,
            content_type: None,
            body: String::new(),
        }
    }

    /// Creates the response to a request whose body was cut off or is too long.
    pub(super) fn too_long() -> Self {
        let detail = "the body is cut off, or longer than 64 MiB";
        Answer::problem(400, TEXT, "Error reading request body", detail)
    }

    /// Creates the response to a request over loopback with a host name that is not this machine's.
    pub(super) fn misdirected() -> Self {
        Answer::plain(
            403,
            "the Host field names another machine: ask localhost, or the address that --address \
             names\n",
        )
    }

    /// Creates the response to a request that caused a panic.
    pub(super) fn broken() -> Self {
        let detail = "the request could not be carried out; the test goes on";
        Answer::problem(500, TEXT, "Internal error", detail)
    }
}

/// Returns the response to a request.
pub(super) fn answer(control: &dyn Control, method: &Method, path: &str, body: &[u8]) -> Answer {
    match path.strip_prefix("/v1/") {
        Some(rest) => version_1(control, method, rest, body),
        None => outside(path),
    }
}

/// Returns the response to other paths. k6 responds `ok` to all that it does not know, including
/// `/ping`.
fn outside(path: &str) -> Answer {
    match path {
        "/metrics" => Answer::plain(404, "Loadline has no metrics of its own process here.\n"),
        _ if path.starts_with("/debug/pprof") => Answer::plain(
            404,
            "Loadline has no profiles here; measure its process with perf.\n",
        ),
        _ => Answer::plain(200, "ok"),
    }
}

fn version_1(control: &dyn Control, method: &Method, rest: &str, body: &[u8]) -> Answer {
    let (room, id) = match rest.split_once('/') {
        Some((room, id)) => (room, Some(percent_decode_str(id).decode_utf8_lossy())),
        None => (rest, None),
    };
    // The server omits the body of the response.
    let method = if method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    match (room, id.as_deref(), method) {
        ("status", None, "GET") => status(control),
        ("status", None, "PATCH") => change(control, body),
        ("metrics", None, "GET") => Answer::ok(TEXT, documents::metrics(&control.metrics())),
        ("metrics", Some(id), "GET") => metric(control, id),
        ("groups", None, "GET") => Answer::ok(TEXT, documents::groups(&control.groups())),
        ("groups", Some(id), "GET") => group(control, id),
        ("setup", None, "GET") => setup(control),
        ("setup", None, "PUT") => keep_setup_data(control, body),
        ("setup", None, "POST") => run_setup(control),
        ("teardown", None, "POST") => run_teardown(control),
        ("status" | "setup" | "teardown", None, _) | ("metrics" | "groups", _, _) => {
            Answer::empty(405)
        }
        _ => Answer::plain(404, "404 page not found\n"),
    }
}

fn status(control: &dyn Control) -> Answer {
    Answer::ok(STATUS_JSON, documents::status(&control.status()))
}

fn change(control: &dyn Control, body: &[u8]) -> Answer {
    let patch = match Patch::read(body) {
        Ok(patch) => patch,
        Err(problem) => return Answer::problem(400, STATUS_JSON, "Invalid data", &problem),
    };
    match carry_out(control, patch) {
        Ok(()) => status(control),
        Err((title, detail)) => Answer::problem(500, STATUS_JSON, title, &detail),
    }
}

fn carry_out(control: &dyn Control, patch: Patch) -> Result<(), (&'static str, String)> {
    if patch.is_stopped {
        control.stop();
        return Ok(());
    }
    if let Some(is_paused) = patch.is_paused {
        let paused = control.pause(is_paused);
        paused.map_err(|problem| ("Pause error", problem))?;
    }
    if patch.vus.is_none() && patch.vus_max.is_none() {
        return Ok(());
    }
    let scale = Scale {
        vus: patch.vus,
        vus_max: patch.vus_max,
    };
    control.scale(scale).map_err(|error| match error {
        ScaleError::NoExecutor => ("Execution config error", error.to_string()),
        ScaleError::Invalid(problem) => ("Config update error", problem),
    })
}

fn metric(control: &dyn Control, id: &str) -> Answer {
    match control.metrics().iter().find(|metric| metric.name == id) {
        Some(metric) => Answer::ok(TEXT, documents::metric(metric)),
        None => Answer::problem(404, TEXT, "Not Found", "No metric with that ID was found"),
    }
}

fn group(control: &dyn Control, id: &str) -> Answer {
    match documents::group(&control.groups(), id) {
        Some(document) => Answer::ok(TEXT, document),
        None => Answer::problem(404, TEXT, "Not Found", "No group with that ID was found"),
    }
}

fn setup(control: &dyn Control) -> Answer {
    let data = control.setup_data();
    Answer::ok(SETUP_JSON, documents::setup(data.as_ref()))
}

fn keep_setup_data(control: &dyn Control, body: &[u8]) -> Answer {
    let data = match body {
        [] => Ok(None),
        _ => serde_json::from_slice(body).map(Some),
    };
    match data {
        Ok(data) => {
            control.keep_setup_data(data);
            setup(control)
        }
        Err(error) => {
            let detail = go_words::json(body, &error);
            Answer::problem(400, TEXT, "Error parsing request body", &detail)
        }
    }
}

fn run_setup(control: &dyn Control) -> Answer {
    match control.run_setup() {
        Ok(()) => setup(control),
        Err(problem) => Answer::problem(500, TEXT, "Error executing setup", &problem),
    }
}

fn run_teardown(control: &dyn Control) -> Answer {
    match control.run_teardown() {
        Ok(()) => Answer::empty(200),
        Err(problem) => Answer::problem(500, TEXT, "Error executing teardown", &problem),
    }
}
