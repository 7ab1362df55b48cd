//! The names that a script gives to its requests, by `wrk.name`.

use loadline_engine::Requester;
use loadline_metrics::{Key, SeriesId};
use loadline_reactor::Host;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const TOO_LATE: &str = "wrk.name is set for the first time while the load runs, so that earlier \
                        requests have none; set it in init() as well";

/// Records whether a script names its requests: in any of its states, before the load begins.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    is_used: AtomicBool,
    has_begun: AtomicBool,
}

impl Naming {
    /// True if a request was named.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// Settles that requests are named, as another process found before the load.
    pub(crate) fn settle(&self) {
        self.is_used.store(true, Ordering::Relaxed);
    }

    /// Notes the beginning of the load: from now on it is settled whether requests have names.
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }
}

/// The name of the next requests of one state.
#[derive(Debug)]
pub(crate) struct RequestName {
    naming: Arc<Naming>,
    name: Mutex<Option<Box<str>>>,
    /// The number of times that the name changed.
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

    /// Sets the name of the next requests; with `None` they are named as those of a plan. Returns
    /// the reason if the name is invalid or too late.
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
    /// The number of changes of the name at the last lookup, and its result.
    last: Cell<(u64, SeriesId)>,
}

impl NamedSeries {
    /// Returns the series of requests with this name. The lookup is repeated only after a change of
    /// the name.
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
        // Invalid names were refused when they were set.
        let id = requester.series(name).unwrap_or(SeriesId::OVERFLOW);
        if id != SeriesId::OVERFLOW {
            self.ids.borrow_mut().insert(name.into(), id);
        }
        id
    }
}
