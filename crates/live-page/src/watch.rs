//! The thread that takes the news of the run, and sends viewers what changed. What it makes is made
//! once a second, whatever the number of viewers, and in pieces between which workers on the same
//! core run.

use crate::api::{Event, NameCourse, SlowRows, Span};
use crate::baseline::Baseline;
use crate::files::Finished;
use crate::log::PageLog;
use crate::results::Found;
use crate::slow::Cell;
use crate::state::{CheckProblem, Model, span_page};
use loadline_page::{Page, RunPage, SearchPage, TemplateMissing, html_of_data};
use loadline_plan::Check;
use loadline_reactor::InPieces;
use loadline_record::{Note, append_notes};
use loadline_report::{csv, json};
use loadline_runner::{Inbox, News, NoteProblem, Steer};
use loadline_verdict::RunResult;
use loadline_web::{Broadcast, Whole};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The events that are kept for viewers who were cut off: a minute.
const KEPT_EVENTS: usize = 60;

/// The callback for the begin of the load of a run.
pub(crate) type Begun = Box<dyn FnOnce() + Send>;

/// The events for viewers.
#[derive(Clone)]
pub(crate) struct Watched {
    shared: Arc<Mutex<Shared>>,
    /// Held from the making of an event until it is sent: events are sent in the order of their
    /// numbers. Viewers are answered meanwhile.
    order: Arc<Mutex<()>>,
    pub(crate) events: Broadcast,
}

struct Shared {
    model: Model,
    finished: Option<Arc<Finished>>,
}

impl Watched {
    pub(crate) fn new(mut model: Model, saved: Option<PathBuf>) -> Self {
        model.save_into(saved);
        let shared = Arc::new(Mutex::new(Shared {
            model,
            finished: None,
        }));
        let state_of = Arc::clone(&shared);
        let events = Broadcast::new(KEPT_EVENTS, move || {
            let state = locked(&state_of);
            let state = state.model.state();
            Whole {
                number: state.standing.number,
                data: written(state),
            }
        });
        let order = Arc::default();
        Watched {
            shared,
            order,
            events,
        }
    }

    /// Takes the news of all runs, on a thread of its own that ends with them and with the results
    /// of their tool. The page is over then, if they are its last ones. `begun` is called when the
    /// load of the first run begins.
    pub(crate) fn follow(
        &self,
        inbox: Inbox,
        results: Receiver<()>,
        are_last: bool,
        mut begun: Option<Begun>,
    ) -> io::Result<JoinHandle<()>> {
        let watched = self.clone();
        thread::Builder::new()
            .name("live page".to_owned())
            .spawn(move || {
                while let Some(news) = inbox.wait() {
                    // The first news is a begin.
                    if let Some(begun) = begun.take() {
                        begun();
                    }
                    let _in_pieces = InPieces::begin();
                    watched.take(&news);
                }
                // Nothing is sent: it ends.
                let _ = results.recv();
                watched.conclude();
                if are_last {
                    watched.end();
                }
            })
    }

    /// Returns the state as JSON.
    pub(crate) fn state(&self) -> String {
        written(locked(&self.shared).model.state())
    }

    /// Returns a span of the run; `None` if nothing of it is known.
    pub(crate) fn span(&self, from_s: f64, to_s: f64) -> Option<Span> {
        let judged = locked(&self.shared).model.span(from_s, to_s)?;
        Some(span_page(&judged))
    }

    /// Returns the course of a name over the run; `None` if it is not known.
    pub(crate) fn name(&self, name: &str) -> Option<NameCourse> {
        locked(&self.shared).model.name(name)
    }

    /// Returns the slowest requests of a cell of the heatmap; `None` before a run has begun.
    pub(crate) fn slow(&self, cell: Cell) -> Option<SlowRows> {
        locked(&self.shared).model.slow(cell)
    }

    /// Returns all agents of the run, as JSON.
    pub(crate) fn agents(&self) -> String {
        written(&locked(&self.shared).model.agents())
    }

    /// Returns what steers the current run.
    pub(crate) fn steer(&self) -> Arc<dyn Steer> {
        locked(&self.shared).model.steer()
    }

    /// Returns the length of the measured part so far, in seconds.
    pub(crate) fn elapsed_s(&self) -> f64 {
        locked(&self.shared)
            .model
            .state()
            .standing
            .figures
            .elapsed_s
    }

    /// Returns the file that the run is saved into.
    pub(crate) fn saved(&self) -> Option<PathBuf> {
        locked(&self.shared).model.saved().map(Path::to_owned)
    }

    /// True if no run is under way, and the next one may be started.
    pub(crate) fn is_idle(&self) -> bool {
        locked(&self.shared).model.state().standing.can_start
    }

    /// Claims the page for a run; false if one is under way.
    pub(crate) fn claim(&self) -> bool {
        locked(&self.shared).model.claim()
    }

    /// Shows that a run is prepared, which is saved into this file.
    pub(crate) fn expect(&self, steer: Arc<dyn Steer>, files: Vec<String>, saved: Option<PathBuf>) {
        let _order = locked(&self.order);
        let event = {
            let shared = &mut *locked(&self.shared);
            shared.finished = None;
            shared.model.expect(steer, files, saved)
        };
        self.send_event("interval", &event);
    }

    /// Adds a check to the run that is under way; returns the instant, in seconds.
    ///
    /// # Errors
    /// The reason why it is not added.
    pub(crate) fn add_check(&self, check: Check) -> Result<f64, CheckProblem> {
        let _order = locked(&self.order);
        let (event, at_s) = locked(&self.shared).model.add_check(check)?;
        self.send_event("interval", &event);
        Ok(at_s)
    }

    /// Stops the run that is under way as soon as it is decided, or no longer; false if there is
    /// none, or nothing to decide.
    pub(crate) fn stop_when_decided(&self, is_on: bool) -> bool {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.stop_when_decided(is_on);
        if let Some(event) = &event {
            self.send_event("interval", event);
        }
        event.is_some()
    }

    /// Shows that the run under way is told to end, which may take it a while.
    pub(crate) fn show_ending(&self) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.show_ending();
        if let Some(event) = &event {
            self.send_event("interval", event);
        }
    }

    /// Returns the baseline that runs are compared with.
    pub(crate) fn baseline(&self) -> Option<Arc<Baseline>> {
        locked(&self.shared).model.baseline()
    }

    /// Compares runs with another baseline, or with none.
    pub(crate) fn compare_with(&self, baseline: Option<Arc<Baseline>>) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.compare_with(baseline);
        self.send_event("interval", &event);
    }

    /// Offers the page for the next run.
    pub(crate) fn release(&self, problem: Option<String>) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.release(problem);
        self.send_event("interval", &event);
    }

    /// Returns the index of a scenario of the current run.
    pub(crate) fn scenario(&self, name: &str) -> Option<usize> {
        let shared = locked(&self.shared);
        let names = &shared.model.state().standing.load.scenarios;
        names.iter().position(|one| one == name)
    }

    /// Returns the report of the run as it stands; `None` before there is anything to report.
    pub(crate) fn report(&self) -> Option<Result<String, TemplateMissing>> {
        let page = {
            let shared = locked(&self.shared);
            let ended = shared.finished.as_ref();
            if let Some(finished) = ended.filter(|_| !shared.model.is_under_way()) {
                return Some(finished.html.clone().ok_or(TemplateMissing));
            }
            shared.model.report()?
        };
        Some(html_of_data(&page))
    }

    /// Returns the files of the last run that has ended.
    pub(crate) fn finished(&self) -> Option<Arc<Finished>> {
        locked(&self.shared).finished.clone()
    }

    fn take(&self, news: &News) {
        let _order = locked(&self.order);
        let (event, page) = locked(&self.shared).model.take(news);
        // Of a search its own report is offered, not that of a trial.
        let is_search = locked(&self.shared).model.is_search();
        if let (News::Ended(end), Some(page), false) = (news, page, is_search) {
            let finished = finished(page, &end.result);
            locked(&self.shared).finished = Some(Arc::new(finished));
        }
        self.send_event("interval", &event);
    }

    /// Shows what the tool of the run that has ended found of it last, if that is not shown yet.
    fn conclude(&self) {
        let _order = locked(&self.order);
        let event = {
            let shared = &mut *locked(&self.shared);
            let Some((event, page, result)) = shared.model.conclude() else {
                return;
            };
            shared.finished = Some(Arc::new(finished(page, result)));
            event
        };
        self.send_event("interval", &event);
    }

    /// Returns the place of what the tool of a run finds of it.
    pub(crate) fn found(&self) -> Found {
        locked(&self.shared).model.found()
    }

    /// Writes a note on the run that has ended: on the page, in its reports and in its saved run.
    ///
    /// # Errors
    /// The reason why it is not kept.
    pub(crate) fn note_late(&self, note: Note) -> Result<(), String> {
        let _order = locked(&self.order);
        let (event, saved) = {
            let shared = &mut *locked(&self.shared);
            if !shared.model.takes_late_notes() {
                return Err(NoteProblem::NoRun.to_string());
            }
            let saved = shared.model.saved().map(Path::to_owned);
            let (event, page, result) =
                (shared.model.note(note.clone())).map_err(|problem| problem.to_string())?;
            shared.finished = Some(Arc::new(finished(page, result)));
            (event, saved)
        };
        self.send_event("interval", &event);
        match saved.map(|path| append_notes(&path, &[note])) {
            Some(Err(error)) => Err(format!("The note is on this page alone: {error}")),
            Some(Ok(())) | None => Ok(()),
        }
    }

    /// Returns what writes into the log of the run.
    pub(crate) fn log(&self) -> PageLog {
        PageLog::new(locked(&self.shared).model.log())
    }

    /// Shows a search so far.
    pub(crate) fn show_search(&self, page: &SearchPage) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.show_search(page);
        self.send_event("interval", &event);
    }

    /// True while a search goes on, whose trials begin and end.
    pub(crate) fn is_searching(&self) -> bool {
        let shared = locked(&self.shared);
        shared.model.is_search() && shared.finished.is_none()
    }

    /// Offers the reports of a search that has ended.
    pub(crate) fn finish_search(&self, page: SearchPage, json: String) {
        let finished = Finished {
            html: loadline_page::html(&Page::Search(Box::new(page))).ok(),
            json,
            csv: None,
        };
        locked(&self.shared).finished = Some(Arc::new(finished));
    }

    fn end(&self) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.over();
        self.send_event("over", &event);
        self.events.end();
    }

    fn send_event(&self, name: &str, event: &Event) {
        let data = written(event);
        self.events.send(event.standing.number, name, &data);
    }
}

/// The reports of a run.
fn finished(page: RunPage, result: &RunResult) -> Finished {
    Finished {
        html: html(page),
        json: format!("{:#}\n", json(result)),
        csv: Some(csv(result)),
    }
}

/// The report of a run; `None` in a program that was built without it.
fn html(page: RunPage) -> Option<String> {
    loadline_page::html(&Page::Run(Box::new(page))).ok()
}

/// Returns a state or an event as JSON.
fn written(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("it is plain data with text as keys")
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
