//! The thread that takes the news of the run, and sends viewers what changed. What it makes is made
//! once a second, whatever the number of viewers.

use crate::api::{Event, State};
use crate::served::Finished;
use crate::state::Model;
use loadline_page::{Page, RunPage};
use loadline_report::json;
use loadline_runner::{Inbox, News};
use loadline_web::{Broadcast, Whole};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The events that are kept for viewers who were cut off: a minute.
const KEPT_EVENTS: usize = 60;

/// The events for viewers.
#[derive(Clone)]
pub(crate) struct Watched {
    shared: Arc<Mutex<Shared>>,
    pub(crate) events: Broadcast,
}

struct Shared {
    model: Model,
    finished: Option<Arc<Finished>>,
}

impl Watched {
    pub(crate) fn new(model: Model) -> Self {
        let finished = None;
        let shared = Arc::new(Mutex::new(Shared { model, finished }));
        let told = Arc::clone(&shared);
        let events = Broadcast::new(KEPT_EVENTS, move || {
            let state = locked(&told);
            let state = state.model.state();
            Whole {
                number: state.standing.number,
                data: written(state),
            }
        });
        Watched { shared, events }
    }

    /// Takes the news of all runs, on a thread of its own that ends with them.
    pub(crate) fn follow(&self, inbox: Inbox) -> io::Result<JoinHandle<()>> {
        let watched = self.clone();
        thread::Builder::new()
            .name("live page".to_owned())
            .spawn(move || {
                while let Some(news) = inbox.wait() {
                    watched.take(&news);
                }
                watched.end();
            })
    }

    /// Returns the state as JSON.
    pub(crate) fn state(&self) -> String {
        written(locked(&self.shared).model.state())
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

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
