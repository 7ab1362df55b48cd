//! What the server of a live page answers.

mod starting;

use crate::api::{NewCheck, NewEnd, NewLevel, NewNote, Problem, Steered};
use crate::baseline::Baseline;
use crate::document::{self, document};
use crate::files::{self, REPORT, REPORT_CSV, REPORT_JSON, SAVED_RUN};
use crate::openapi::openapi;
use crate::seat::Starting;
use crate::slow::Cell;
use crate::watch::Watched;
use loadline_plan::{Check, Level, Rate};
use loadline_record::{LoadChange, Note};
use loadline_report::level_text;
use loadline_runner::{ChangeProblem, Changed, Command, Levels, NoteProblem, Phase, SteerProblem};
use loadline_web::header::{ALLOW, CONTENT_DISPOSITION, HeaderName, HeaderValue};
use loadline_web::{Answer, Broadcast, Method, Refusal, Request, Service, StatusCode};
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// The latest instant that a note may be about: later than any run.
const MOST_SECONDS: f64 = 1e9;

/// Takes a file that was dropped onto the page.
const DROP: &str = "/api/v1/drop";
/// The longest file that can be dropped: it is read into memory.
const MOST_DROPPED_BYTES: usize = 64 << 20;
/// The most characters of its name.
const LONGEST_NAME: usize = 200;

const JSON: &str = "application/json";
const CSV: &str = "text/csv; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// The service of a live page.
pub(crate) struct Routes {
    pub(crate) watched: Watched,
    /// The means to start runs, if that is possible from this page.
    pub(crate) starting: Option<Starting>,
    /// The events of the tool whose run is shown, if it has some.
    pub(crate) of_tool: Arc<OnceLock<Broadcast>>,
}

impl Service for Routes {
    fn answer(&self, request: &Request) -> Answer {
        document::guarded(self.routed(request))
    }

    fn most_body_bytes(&self, path: &str) -> Option<usize> {
        (path == DROP).then_some(MOST_DROPPED_BYTES)
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        document::guarded(Answer::plain(refusal.status(), &refusal.to_string()))
    }
}

impl Routes {
    fn routed(&self, request: &Request) -> Answer {
        let path = request.path();
        let is_command = match path.strip_prefix("/api/v1/") {
            Some(
                "pause" | "resume" | "stop" | "end" | "abort" | "level" | "note" | "check"
                | "compose" | "start" | "drop",
            ) => true,
            Some("baseline") => request.method == Method::POST,
            _ => false,
        };
        match (&request.method, is_command) {
            (&Method::POST, true) => self.command(path, request),
            (&Method::GET | &Method::HEAD, false) => self.look(request, path),
            (_, _) if path == "/api/v1/baseline" => not_allowed("GET, HEAD, POST"),
            (_, true) => not_allowed("POST"),
            (_, false) => not_allowed("GET, HEAD"),
        }
    }

    fn look(&self, request: &Request, path: &str) -> Answer {
        match path {
            "/" => page(),
            "/api/v1/state" => Answer::new(StatusCode::OK, JSON, self.watched.state()),
            "/api/v1/events" => Answer::events(self.watched.events.stream(last_event(request))),
            "/api/v1/span" => self.span(request.uri.query().unwrap_or_default()),
            "/api/v1/name" => self.name(request.uri.query().unwrap_or_default()),
            "/api/v1/slow" => self.slow(request.uri.query().unwrap_or_default()),
            "/api/v1/agents" => Answer::new(StatusCode::OK, JSON, self.watched.agents()),
            "/api/v1/baseline" => self.baseline(),
            "/api/v1/openapi.json" => Answer::new(StatusCode::OK, JSON, openapi()),
            REPORT => self.report(),
            REPORT_JSON => self.json(),
            REPORT_CSV => self.csv(),
            SAVED_RUN => self.saved(),
            "/events" if self.of_tool.get().is_some() => self.events_of_tool(request),
            _ => self.look_further(request).unwrap_or_else(|| {
                problem(
                    StatusCode::NOT_FOUND,
                    "There is nothing here: open / for the page, or /api/v1/openapi.json for the \
                     API.",
                )
            }),
        }
    }

    fn events_of_tool(&self, request: &Request) -> Answer {
        let stream = self.of_tool.get().map(|of| of.stream(last_event(request)));
        stream.map_or_else(|| Answer::empty(StatusCode::NOT_FOUND), Answer::events)
    }

    fn span(&self, query: &str) -> Answer {
        let second = |name| starting::value_of(query, name).parse::<f64>().ok();
        let is_span = |from: &f64, to: &f64| from.is_finite() && to.is_finite() && from < to;
        let span = second("from_s").zip(second("to_s"));
        let Some((from_s, to_s)) = span.filter(|(from, to)| is_span(from, to)) else {
            return problem(
                StatusCode::BAD_REQUEST,
                "A span has from_s and to_s, in seconds of the measured part, and is not empty.",
            );
        };
        match self.watched.span(from_s, to_s) {
            Some(span) => written(StatusCode::OK, &span),
            None => problem(
                StatusCode::CONFLICT,
                "Nothing is known of that span: nothing was measured in it, or the run has more \
                 than 200 names.",
            ),
        }
    }

    fn name(&self, query: &str) -> Answer {
        match self.watched.name(&starting::value_of(query, "name")) {
            Some(course) => written(StatusCode::OK, &course),
            None => problem(
                StatusCode::CONFLICT,
                "The course of that name is not known: no request has it, or of many names that \
                 of the busiest alone is kept.",
            ),
        }
    }

    fn slow(&self, query: &str) -> Answer {
        let number = |name| starting::value_of(query, name).parse::<f64>().ok();
        // Without a bound it is that of all response times; one that is no number is refused.
        let bound = |name, otherwise| match starting::given(query, name) {
            None => Some(otherwise),
            Some(text) => text.parse::<f64>().ok(),
        };
        let seconds = number("from_s").zip(number("to_s"));
        let us = bound("from_us", 0.0).zip(bound("to_us", f64::INFINITY));
        let Some((seconds, us)) = seconds.zip(us) else {
            return problem(
                StatusCode::BAD_REQUEST,
                "A part of the run has from_s and to_s, in seconds of the measured part, and may \
                 have from_us and to_us, in microseconds of response time.",
            );
        };
        let cell = Cell { seconds, us };
        match self.watched.slow(cell) {
            Some(rows) => written(StatusCode::OK, &rows),
            None => problem(StatusCode::CONFLICT, "No run has begun."),
        }
    }

    /// The report of the baseline, as data.
    fn baseline(&self) -> Answer {
        match self.watched.baseline() {
            Some(baseline) => written(StatusCode::OK, &baseline.page),
            None => problem(StatusCode::NOT_FOUND, "Runs are compared with no baseline."),
        }
    }

    /// The report, of a run that goes on as it stands. The saved run is in it, if there is one.
    fn report(&self) -> Answer {
        match self.watched.report() {
            None => too_early(),
            Some(Ok(html)) => {
                let saved = self.watched.saved();
                let run = saved.and_then(|path| files::within_report(&path));
                let html = html + &run.unwrap_or_default();
                attached("report.html", Answer::new(StatusCode::OK, HTML, html))
            }
            Some(Err(missing)) => problem(StatusCode::NOT_FOUND, &missing.to_string()),
        }
    }

    fn json(&self) -> Answer {
        match self.watched.finished() {
            Some(files) => {
                let answer = Answer::new(StatusCode::OK, JSON, files.json.clone());
                attached("report.json", answer)
            }
            None => too_early(),
        }
    }

    fn csv(&self) -> Answer {
        let Some(files) = self.watched.finished() else {
            return too_early();
        };
        match &files.csv {
            Some(csv) => attached("report.csv", Answer::new(StatusCode::OK, CSV, csv.clone())),
            None => problem(
                StatusCode::NOT_FOUND,
                "A search has no CSV: ask for /report.json.",
            ),
        }
    }

    fn saved(&self) -> Answer {
        let Some(path) = self.watched.saved() else {
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

    fn command(&self, path: &str, request: &Request) -> Answer {
        let body = &request.body[..];
        let done = match path.trim_start_matches("/api/v1/") {
            "pause" => self.set_paused(true),
            "resume" => self.resume(),
            "stop" => self.end(Command::Stop),
            "abort" => self.end(Command::Abort),
            "end" => self.end_when_decided(body),
            "note" => self.note(body),
            "check" => self.check(body),
            "baseline" => self.choose_baseline(body),
            "drop" => self.take_dropped(request),
            "compose" => return self.compose(body),
            "start" => self.start(body),
            _ => self.level(body),
        };
        match done {
            Ok(steered) => written(StatusCode::OK, &steered),
            Err((status, message)) => problem(status, &message),
        }
    }

    fn set_paused(&self, is_paused: bool) -> Done {
        let words = match is_paused {
            true => "The load is paused.",
            false => "The load is resumed.",
        };
        steered(self.watched.steer().set_paused(is_paused), words)
    }

    fn resume(&self) -> Done {
        if !self.watched.steer().is_paused() {
            return Err((
                StatusCode::CONFLICT,
                "The load is not paused; there is nothing to resume.".to_owned(),
            ));
        }
        self.set_paused(false)
    }

    /// A run that has ended can't be ended; one that has not begun ends before it does.
    fn end(&self, command: Command) -> Done {
        let steer = self.watched.steer();
        // Between two trials, or two runs of a series, no run lasts, and the whole does.
        let goes_on = self.watched.is_searching() || steer.has_more();
        let has_ended = steer.phase() == Phase::Ended && !goes_on;
        if self.watched.is_idle() || has_ended {
            return Err(no_load());
        }
        let has_users = steer.means().levels == Levels::Spawned;
        steer.end(command);
        self.watched.show_ending();
        let message = match command {
            Command::Stop if has_users => {
                "The test stops: its users are ended at once, or after its stop timeout."
            }
            Command::Stop => "The run stops: it begins no request any more.",
            Command::Abort => "The run ends at once.",
        };
        Ok(Steered {
            message: message.to_owned(),
            from_s: None,
        })
    }

    /// Ends the run as soon as what it has to decide is decided, or no longer.
    fn end_when_decided(&self, body: &[u8]) -> Done {
        let new: NewEnd = serde_json::from_slice(body).map_err(|error| {
            let message =
                format!("The body says no end ({error}): send {{\"when_decided\": true}}.");
            (StatusCode::BAD_REQUEST, message)
        })?;
        if !self.watched.stop_when_decided(new.when_decided) {
            let message = "No run is under way that has something to decide: start one with \
                           checks, or beside a baseline.";
            return Err((StatusCode::CONFLICT, message.to_owned()));
        }
        let message = match new.when_decided {
            true => "The run stops as soon as it is decided.",
            false => "The run goes on when it is decided.",
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
        let spawns = self.watched.steer().means().levels == Levels::Spawned;
        if new.spawn_rate.is_some() && !(spawns && new.users.is_some()) {
            return Err(unreadable(
                "A spawn rate is one of users who are spawned, those of a locustfile: send it \
                 with `users`."
                    .to_owned(),
            ));
        }
        if let Some(name) = &new.scenario {
            return self.users_of(name, new.users);
        }
        if let (true, Some(users)) = (spawns, new.users) {
            return self.spawn(users, new.spawn_rate);
        }
        let level = level_of(&new).map_err(unreadable)?;
        let words = format!("The load is {}.", level_text(level));
        steered(self.watched.steer().change(level), &words)
    }

    fn spawn(&self, users: u32, rate_per_s: Option<f64>) -> Done {
        match self.watched.steer().spawn(users, rate_per_s) {
            Ok(spawning) => Ok(Steered {
                message: format!(
                    "The load goes to {}, {} each second.",
                    level_text(spawning.change.level),
                    spawning.rate_per_s
                ),
                from_s: Some(spawning.reached_s),
            }),
            Err(problem) => Err(refused(&problem)),
        }
    }

    fn note(&self, body: &[u8]) -> Done {
        let unreadable = |why: String| (StatusCode::BAD_REQUEST, why);
        let new: NewNote = serde_json::from_slice(body).map_err(|error| {
            unreadable(format!(
                "The body is no note ({error}): send {{\"at_s\": 12.5, \"text\": \"deployed\"}} or \
                 {{\"text\": \"deployed\"}}."
            ))
        })?;
        let at_s = new.at_s.unwrap_or_else(|| self.watched.elapsed_s());
        if !(0.0..=MOST_SECONDS).contains(&at_s) {
            return Err(unreadable(format!(
                "{at_s} is no instant of the measured part: send seconds from its begin."
            )));
        }
        let Some(note) = Note::new((at_s * 1e9) as u64, &new.text) else {
            return Err(unreadable("A note has a text.".to_owned()));
        };
        let kept = match self.watched.steer().note(note.clone()) {
            // What has ended takes no notes by itself.
            Err(NoteProblem::NoRun) => self.watched.note_late(note),
            kept => kept.map_err(|problem| problem.to_string()),
        };
        match kept {
            Ok(()) => Ok(Steered {
                message: "The note is kept with the run.".to_owned(),
                from_s: None,
            }),
            Err(sentence) => Err((StatusCode::CONFLICT, sentence)),
        }
    }

    fn check(&self, body: &[u8]) -> Done {
        let new: NewCheck = serde_json::from_slice(body).map_err(|error| {
            let why = format!("The body is no check ({error}): send {{\"check\": \"p99<300ms\"}}.");
            (StatusCode::BAD_REQUEST, why)
        })?;
        let check = new.check.trim().parse::<Check>();
        let check = check.map_err(|error| (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()))?;
        let message = format!("{} is judged on this page from now on.", check.text);
        let added = self.watched.add_check(check);
        added.map_err(|problem| (StatusCode::CONFLICT, problem.to_string()))?;
        Ok(Steered {
            message,
            from_s: None,
        })
    }

    /// Compares runs with a file that was dropped onto the page: it is read, and kept nowhere.
    fn take_dropped(&self, request: &Request) -> Done {
        let name = starting::value_of(request.uri.query().unwrap_or_default(), "name");
        let name = name_of(&name);
        let read = Baseline::dropped(&name, request.body.clone());
        let baseline = read.map_err(|error| {
            let message = format!("{error} Drop a saved run, or a report of a saved run.");
            (StatusCode::UNPROCESSABLE_ENTITY, message)
        })?;
        self.watched.compare_with(Some(Arc::new(baseline)));
        Ok(Steered {
            message: format!("Runs are compared with {name}."),
            from_s: None,
        })
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
        let words = "The load is paused; the number of users holds when it is resumed.";
        steered(self.watched.steer().set_users_of(scenario, users), words)
    }
}

/// The name of a file without its folder, as one short line.
fn name_of(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = last.chars().filter(|letter| !letter.is_control());
    let name: String = plain.take(LONGEST_NAME).collect();
    match name.is_empty() {
        true => "the dropped file".to_owned(),
        false => name,
    }
}

/// The effect of a command, or the reason why it has none.
type Done = Result<Steered, (StatusCode, String)>;

/// `words` is what holds, where it is not known from when.
fn steered(changed: Changed, words: &str) -> Done {
    match changed {
        Ok(Some(change)) => Ok(changed_load(&change)),
        Ok(None) => Ok(Steered {
            message: words.to_owned(),
            from_s: None,
        }),
        Err(problem) => Err(refused(&problem)),
    }
}

/// The change, with its instant.
fn changed_load(change: &LoadChange) -> Steered {
    Steered {
        message: format!("The load is {}.", level_text(change.level)),
        from_s: Some(change.at_ns as f64 / 1e9),
    }
}

fn refused(problem: &SteerProblem) -> (StatusCode, String) {
    match problem {
        SteerProblem::Run(ChangeProblem::NoRun) => no_load(),
        SteerProblem::Run(
            ChangeProblem::Level(_)
            | ChangeProblem::OpenFiles { .. }
            | ChangeProblem::FixedIterations,
        )
        | SteerProblem::Tool(_)
        | SteerProblem::OnlyEnded => (
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
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => rate.to_string(),
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
        "GET, HEAD, POST" => "This is read by GET, and chosen by POST.",
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
