//! What the server of a live page answers.

use crate::api::{NewLevel, Problem, Steered};
use crate::document::{self, document};
use crate::openapi::openapi;
use crate::watch::Watched;
use loadline_plan::{Level, Rate};
use loadline_record::LoadChange;
use loadline_report::level_text;
use loadline_runner::{ChangeProblem, Command, Commands, Phase};
use loadline_web::header::{ALLOW, CONTENT_DISPOSITION, HeaderName, HeaderValue};
use loadline_web::{Answer, Method, Refusal, Request, Service, StatusCode};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// The paths of the files of a run that has ended.
pub(crate) const REPORT: &str = "/report.html";
pub(crate) const REPORT_JSON: &str = "/report.json";
pub(crate) const SAVED_RUN: &str = "/saved.run";

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";

/// The service of a live page.
pub(crate) struct Routes {
    pub(crate) commands: Commands,
    pub(crate) watched: Watched,
    /// The file that the run is saved into.
    pub(crate) saved: Option<PathBuf>,
}

impl Service for Routes {
    fn answer(&self, request: &Request) -> Answer {
        document::guarded(self.routed(request))
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        document::guarded(Answer::plain(refusal.status(), &refusal.to_string()))
    }
}

impl Routes {
    fn routed(&self, request: &Request) -> Answer {
        let path = request.path();
        let is_command = matches!(
            path.strip_prefix("/api/v1/"),
            Some("pause" | "resume" | "stop" | "abort" | "level")
        );
        match (&request.method, is_command) {
            (&Method::POST, true) => self.command(path, &request.body),
            (_, true) => not_allowed("POST"),
            (&Method::GET | &Method::HEAD, false) => self.look(request, path),
            (_, false) => not_allowed("GET, HEAD"),
        }
    }

    fn look(&self, request: &Request, path: &str) -> Answer {
        match path {
            "/" => page(),
            "/api/v1/state" => Answer::new(StatusCode::OK, JSON, self.watched.state()),
            "/api/v1/events" => Answer::events(self.watched.events.stream(last_event(request))),
            "/api/v1/openapi.json" => Answer::new(StatusCode::OK, JSON, openapi()),
            REPORT => self.file("report.html", HTML, |files| files.html.clone()),
            REPORT_JSON => self.file("report.json", JSON, |files| Some(files.json.clone())),
            SAVED_RUN => self.saved(),
            _ => problem(
                StatusCode::NOT_FOUND,
                "There is nothing here: open / for the page, or /api/v1/openapi.json for the API.",
            ),
        }
    }

    fn file(
        &self,
        name: &'static str,
        content_type: &'static str,
        of: impl FnOnce(&crate::Finished) -> Option<String>,
    ) -> Answer {
        let Some(files) = self.watched.finished() else {
            return too_early();
        };
        match of(&files) {
            Some(text) => attached(name, Answer::new(StatusCode::OK, content_type, text)),
            None => problem(
                StatusCode::NOT_FOUND,
                &loadline_page::TemplateMissing.to_string(),
            ),
        }
    }

    fn saved(&self) -> Answer {
        let Some(path) = &self.saved else {
            return problem(
                StatusCode::NOT_FOUND,
                "The run is not saved: start it with --save FILE.",
            );
        };
        if self.watched.finished().is_none() {
            return too_early();
        }
        match std::fs::read(path) {
            Ok(bytes) => {
                let answer = Answer::new(StatusCode::OK, "application/octet-stream", bytes);
                attached("saved.run", answer)
            }
            Err(_) => problem(
                StatusCode::NOT_FOUND,
                "The saved run can't be read any more.",
            ),
        }
    }

    fn command(&self, path: &str, body: &[u8]) -> Answer {
        let done = match path.trim_start_matches("/api/v1/") {
            "pause" => self.pause(),
            "resume" => self.resume(),
            "stop" => self.end(Command::Stop),
            "abort" => self.end(Command::Abort),
            _ => self.level(body),
        };
        match done {
            Ok(steered) => written(StatusCode::OK, &steered),
            Err((status, message)) => problem(status, &message),
        }
    }

    fn pause(&self) -> Done {
        steered(self.commands.pause())
    }

    fn resume(&self) -> Done {
        if !self.commands.is_paused() {
            return Err((
                StatusCode::CONFLICT,
                "The load is not paused; there is nothing to resume.".to_owned(),
            ));
        }
        steered(self.commands.resume())
    }

    /// A run that has ended can't be ended; one that has not begun ends before it does.
    fn end(&self, command: Command) -> Done {
        if self.commands.phase() == Phase::Ended {
            return Err(no_load());
        }
        self.commands.send(command);
        let message = match command {
            Command::Stop => "The run stops: it waits for the responses in flight.",
            Command::Abort => "The run ends at once.",
        };
        Ok(Steered {
            message: message.to_owned(),
            from_s: None,
        })
    }

    fn level(&self, body: &[u8]) -> Done {
        let unreadable = |why: String| (StatusCode::BAD_REQUEST, why);
        let new: NewLevel = serde_json::from_slice(body).map_err(|error| {
            unreadable(format!(
                "The body is no level ({error}): send {{\"percent\": 120}}, {{\"rate\": 500}} or \
                 {{\"users\": 20}}."
            ))
        })?;
        if let Some(name) = &new.scenario {
            return self.users_of(name, new.users);
        }
        let level = level_of(&new).map_err(unreadable)?;
        steered(self.commands.change(level))
    }

    fn users_of(&self, name: &str, users: Option<u32>) -> Done {
        let Some(users) = users else {
            let message = "Of one scenario only the number of users can be changed: send `users`.";
            return Err((StatusCode::BAD_REQUEST, message.to_owned()));
        };
        let Some(scenario) = self.watched.scenario(name) else {
            let message = format!("There is no scenario {name:?}; the state names them.");
            return Err((StatusCode::BAD_REQUEST, message));
        };
        match self.commands.set_users_of(scenario, users) {
            Ok(None) => Ok(Steered {
                message: "The load is paused; the number of users holds when it is resumed."
                    .to_owned(),
                from_s: None,
            }),
            Ok(Some(change)) => Ok(told(&change)),
            Err(problem) => Err(refused(problem)),
        }
    }
}

/// What a command has done, or why it could not be.
type Done = Result<Steered, (StatusCode, String)>;

fn steered(changed: Result<LoadChange, ChangeProblem>) -> Done {
    changed.map(|change| told(&change)).map_err(refused)
}

/// What holds from when.
fn told(change: &LoadChange) -> Steered {
    Steered {
        message: format!("The load is {}.", level_text(change.level)),
        from_s: Some(change.at_ns as f64 / 1e9),
    }
}

fn refused(problem: ChangeProblem) -> (StatusCode, String) {
    match problem {
        ChangeProblem::NoRun => no_load(),
        problem => (
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("The load stays as it is: {problem}"),
        ),
    }
}

fn no_load() -> (StatusCode, String) {
    let message = "No load is under way that could be changed: this is only possible while a run \
                   lasts.";
    (StatusCode::CONFLICT, message.to_owned())
}

/// Reads a level.
fn level_of(new: &NewLevel) -> Result<Level, String> {
    match (new.percent, &new.rate, new.users) {
        (Some(percent), None, None) => share(percent),
        (None, Some(rate), None) => rate_of(rate).map(Level::Rate),
        (None, None, Some(users)) => Ok(Level::Users(users)),
        _ => Err("Send one of `percent`, `rate` and `users`.".to_owned()),
    }
}

fn share(percent: f64) -> Result<Level, String> {
    let thousandths = (percent * 10.0).round();
    if !(0.0..=f64::from(u32::MAX)).contains(&thousandths) {
        return Err(format!(
            "{percent} is no share of the plan: send percent, such as 120."
        ));
    }
    Ok(Level::Share(thousandths as u32))
}

fn rate_of(rate: &Value) -> Result<Rate, String> {
    let text = match rate {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.parse()
        .map_err(|error| format!("The rate can't be read: {error}"))
}

/// The number of the last event that a viewer has.
fn last_event(request: &Request) -> Option<u64> {
    let name = HeaderName::from_static("last-event-id");
    request.field(name)?.trim().parse().ok()
}

fn page() -> Answer {
    match document() {
        Ok((html, policy)) => {
            let answer = Answer::new(StatusCode::OK, HTML, html);
            answer.with(document::POLICY, policy)
        }
        Err(missing) => problem(StatusCode::NOT_FOUND, &missing.to_string()),
    }
}

fn attached(name: &'static str, answer: Answer) -> Answer {
    let value = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    answer.with(CONTENT_DISPOSITION, value.expect("a name of ours"))
}

fn too_early() -> Answer {
    problem(
        StatusCode::CONFLICT,
        "The run has not ended: its reports are made then.",
    )
}

fn not_allowed(methods: &'static str) -> Answer {
    let message = match methods {
        "POST" => "Commands are sent by POST.",
        _ => "This is only read: ask by GET.",
    };
    let answer = problem(StatusCode::METHOD_NOT_ALLOWED, message);
    answer.with(ALLOW, HeaderValue::from_static(methods))
}

fn problem(status: StatusCode, message: &str) -> Answer {
    let message = message.to_owned();
    written(status, &Problem { message })
}

fn written(status: StatusCode, value: &impl Serialize) -> Answer {
    let text = serde_json::to_string(value).expect("answers are plain data");
    Answer::new(status, JSON, text)
}

#[cfg(test)]
mod tests;
