//! The names that a script gives its requests, by `wrk.name`.

use loadline_engine::Requester;
use loadline_metrics::{Key, SeriesId};
use loadline_reactor::Host;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const TOO_LATE: &str = "wrk.name is set for the first time while the load runs, so that earlier \
                        requests have none; set it in init() as well";

/// Whether a script names its requests: in any of its states, before the load begins.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    is_used: AtomicBool,
    has_begun: AtomicBool,
}

impl Naming {
    /// Whether a request was named.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// The load begins: from here on it is known whether there are names.
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }
}

/// What the next requests of one state are called.
#[derive(Debug)]
pub(crate) struct RequestName {
    naming: Arc<Naming>,
    name: Mutex<Option<Box<str>>>,
    /// How often it was set to another one.
    changes: AtomicU64,
}

impl RequestName {
    pub(crate) fn new(naming: &Arc<Naming>) -> RequestName {
        RequestName {
            naming: Arc::clone(naming),
            name: Mutex::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// Calls the next requests so; without a name as those of a plan are called. Returns what is
    /// wrong with it, if something is.
    pub(crate) fn set(&self, name: Option<&str>) -> Option<String> {
        if self.naming.has_begun.load(Ordering::Relaxed) && !self.naming.is_used() {
            return Some(TOO_LATE.to_owned());
        }
        let mut current = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_deref() == name {
            return None;
        }
        if let Some(problem) = name.and_then(|name| Key::new(name).err()) {
            return Some(problem.to_string());
        }
        self.naming.is_used.store(true, Ordering::Relaxed);
        *current = name.map(Box::from);
        self.changes.fetch_add(1, Ordering::Relaxed);
        None
    }

    fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    fn with<R>(&self, act: impl FnOnce(Option<&str>) -> R) -> R {
        act(self
            .name
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_deref())
    }
}

/// The series of a worker's requests by their names.
#[derive(Debug, Default)]
pub(crate) struct NamedSeries {
    ids: RefCell<HashMap<Box<str>, SeriesId>>,
    /// After how many changes of the name it was looked up, and what it was then.
    last: Cell<(u64, SeriesId)>,
}

impl NamedSeries {
    /// The series of the requests that are called so. A name is looked up once, as long as it does
    /// not change.
    pub(crate) fn of<H: Host>(&self, name: &RequestName, requester: &Requester<H>) -> SeriesId {
        let (changes, id) = self.last.get();
        if changes == name.changes() {
            return id;
        }
        let id = name.with(|name| match name {
            None => SeriesId::default(),
            Some(name) => self.look_up(name, requester),
        });
        self.last.set((name.changes(), id));
        id
    }

    fn look_up<H: Host>(&self, name: &str, requester: &Requester<H>) -> SeriesId {
        if let Some(id) = self.ids.borrow().get(name) {
            return *id;
        }
        // A name that can't be one was refused when it was set.
        let id = requester.series(name).unwrap_or(SeriesId::OVERFLOW);
        if id != SeriesId::OVERFLOW {
            self.ids.borrow_mut().insert(name.into(), id);
        }
        id
    }
}
