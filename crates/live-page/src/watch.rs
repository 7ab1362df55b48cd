//! The thread that takes the news of the run, and sends viewers what changed. What it makes is made
//! once a second, whatever the number of viewers.

use crate::api::{Event, Span, State};
use crate::files::Finished;
use crate::state::{Model, span_page};
use loadline_page::{Page, RunPage};
use loadline_reactor::let_workers_go_first;
use loadline_report::json;
use loadline_runner::{Inbox, News, Steer};
use loadline_web::{Broadcast, Whole};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The events that are kept for viewers who were cut off: a minute.
const KEPT_EVENTS: usize = 60;

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
    /// The file that the run is saved into.
    saved: Option<PathBuf>,
}

impl Watched {
    pub(crate) fn new(model: Model, saved: Option<PathBuf>) -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            model,
            finished: None,
            saved,
        }));
        let told = Arc::clone(&shared);
        let events = Broadcast::new(KEPT_EVENTS, move || {
            let state = locked(&told);
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

    /// Takes the news of all runs, on a thread of its own that ends with them. The page is over
    /// then, if they are its last ones.
    pub(crate) fn follow(&self, inbox: Inbox, are_last: bool) -> io::Result<JoinHandle<()>> {
        let watched = self.clone();
        thread::Builder::new()
            .name("live page".to_owned())
            .spawn(move || {
                let_workers_go_first();
                while let Some(news) = inbox.wait() {
                    watched.take(&news);
                }
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

    /// Returns what steers the current run.
    pub(crate) fn steer(&self) -> Arc<dyn Steer> {
        locked(&self.shared).model.steer()
    }

    /// Returns the file that the run is saved into.
    pub(crate) fn saved(&self) -> Option<PathBuf> {
        locked(&self.shared).saved.clone()
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
            (shared.finished, shared.saved) = (None, saved);
            shared.model.expect(steer, files)
        };
        self.tell("interval", &event);
    }

    /// Offers the page for the next run.
    pub(crate) fn release(&self, problem: Option<String>) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.release(problem);
        self.tell("interval", &event);
    }

    /// Returns the index of a scenario of the current run.
    pub(crate) fn scenario(&self, name: &str) -> Option<usize> {
        let shared = locked(&self.shared);
        let names = &shared.model.state().standing.load.scenarios;
        names.iter().position(|one| one == name)
    }

    /// Returns the files of the last run that has ended.
    pub(crate) fn finished(&self) -> Option<Arc<Finished>> {
        locked(&self.shared).finished.clone()
    }

    fn take(&self, news: &News) {
        let _order = locked(&self.order);
        let (event, page) = locked(&self.shared).model.take(news);
        if let (News::Ended(end), Some(page)) = (news, page) {
            let finished = Finished {
                html: html(page),
                json: format!("{:#}\n", json(&end.result)),
            };
            locked(&self.shared).finished = Some(Arc::new(finished));
        }
        self.tell("interval", &event);
    }

    fn end(&self) {
        let _order = locked(&self.order);
        let event = locked(&self.shared).model.over();
        self.tell("over", &event);
        self.events.end();
    }

    fn tell(&self, name: &str, event: &Event) {
        let data = serde_json::to_string(event).expect("an event is plain data");
        self.events.send(event.standing.number, name, &data);
    }
}

/// The report of a run; `None` in a program that was built without it.
fn html(page: RunPage) -> Option<String> {
    loadline_page::html(&Page::Run(Box::new(page))).ok()
}

fn written(state: &State) -> String {
    serde_json::to_string(state).expect("a state is plain data")
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
