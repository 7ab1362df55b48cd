//! Settings that the plain calls of many clients have in common, and the requests encoded for them.

use crate::engine::Engine;
use crate::flavour::Flavour;
use crate::plain_url::plain_url;
use crate::stats::{Found, Stats};
use crate::template::{Fields, Template};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use url::Position;

/// The maximum number of paths that a style keeps, and of strings that it recognises by their
/// address: of a style that users share, and of one that a single user has, such as with a token of
/// its own.
const MOST_SHARED: usize = 2_000;
const MOST_OWN: usize = 4;

/// All styles in use. Users of one class share one.
static STYLES: Mutex<Option<HashMap<Key, Weak<Style>>>> = Mutex::new(None);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    base: String,
    flavour: Flavour,
    fields: Arc<Fields>,
}

/// The settings of plain calls.
pub(crate) struct Style {
    pub(crate) base: String,
    pub(crate) flavour: Flavour,
    pub(crate) fields: Arc<Fields>,
    known: Mutex<Known>,
}

/// A plain call that was made before.
pub(crate) struct PlainCall {
    pub(crate) template: Arc<Template>,
    /// The name under which it is counted if the call has no name of its own.
    pub(crate) name: Py<PyString>,
    found: Mutex<Option<Found>>,
    /// The address of its path when it was last found by its text.
    last_place: AtomicUsize,
}

#[derive(Default)]
struct Known {
    /// Calls by method and by the address of the path. The path is held so that no other can have
    /// its address.
    by_place: HashMap<(usize, usize), (Py<PyString>, Arc<PlainCall>)>,
    by_text: HashMap<(usize, String), Arc<PlainCall>>,
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Style {
    /// Returns the style with these settings, shared by all that have the same.
    pub(crate) fn of(base: &str, flavour: Flavour, fields: Fields) -> Arc<Style> {
        let key = Key {
            base: base.to_owned(),
            flavour,
            fields: Arc::new(fields),
        };
        let mut styles = lock(&STYLES);
        let styles = styles.get_or_insert_default();
        if let Some(known) = styles.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        if styles.len() == styles.capacity() {
            styles.retain(|_, style| style.strong_count() > 0);
        }
        let style = Arc::new(Style {
            base: key.base.clone(),
            flavour,
            fields: Arc::clone(&key.fields),
            known: Mutex::default(),
        });
        styles.insert(key, Arc::downgrade(&style));
        style
    }

    /// Returns the plain call of a path; `None` if Python has to compose the request.
    pub(crate) fn find(
        self: &Arc<Self>,
        engine: &Engine,
        method: (usize, &str),
        path: &Bound<'_, PyString>,
    ) -> Option<Arc<PlainCall>> {
        let place = (method.0, path.as_ptr() as usize);
        let is_current = |known: &&Arc<PlainCall>| known.template.engine == engine.serial;
        let most = self.most_known();
        let mut known = lock(&self.known);
        if let Some((_, here)) = known.by_place.get(&place)
            && is_current(&here)
        {
            return Some(Arc::clone(here));
        }
        let text = path.to_str().ok()?;
        let by_text = (method.0, text.to_owned());
        if let Some(same) = known.by_text.get(&by_text)
            && is_current(&same)
        {
            let same = Arc::clone(same);
            // A text that was built for this call has another address the next time.
            if same.last_place.swap(place.1, Ordering::Relaxed) == place.1 {
                known.remember(place, path, &same, most);
            }
            return Some(same);
        }
        let made = Arc::new(self.make(engine, method.1, path.py(), text)?);
        if known.by_text.len() >= most {
            known.by_text.clear();
        }
        known.by_text.insert(by_text, Arc::clone(&made));
        Some(made)
    }

    /// Returns the maximum number of calls to keep. A call in progress holds a reference to the
    /// style, as its client does.
    fn most_known(self: &Arc<Self>) -> usize {
        match Arc::strong_count(self) {
            0..=2 => MOST_OWN,
            _ => MOST_SHARED,
        }
    }

    fn make(&self, engine: &Engine, method: &str, py: Python<'_>, path: &str) -> Option<PlainCall> {
        let url = plain_url(&self.base, path)?;
        let name = match self.flavour {
            Flavour::Requests => &url[Position::BeforePath..Position::AfterQuery],
            Flavour::Fast => path,
        };
        let name = PyString::new(py, name).unbind();
        let body = self.flavour.has_empty_body(method).then(Vec::new);
        let fields = Arc::clone(&self.fields);
        let template = Template::write(engine, method, url, fields, body).ok()?;
        Some(PlainCall {
            template: Arc::new(template),
            name,
            found: Mutex::default(),
            last_place: AtomicUsize::new(0),
        })
    }
}

impl Known {
    fn remember(
        &mut self,
        place: (usize, usize),
        path: &Bound<'_, PyString>,
        known: &Arc<PlainCall>,
        most: usize,
    ) {
        if self.by_place.len() >= most {
            self.by_place.clear();
        }
        let held = path.clone().unbind();
        self.by_place.insert(place, (held, Arc::clone(known)));
    }
}

impl PlainCall {
    /// Returns the row that counts the call in a store.
    pub(crate) fn find_in(&self, stats: &Stats, name: &str) -> Found {
        let mut found = lock(&self.found);
        if let Some(found) = &*found
            && found.edition == stats.edition()
        {
            return found.clone();
        }
        let new = stats.find(&self.template.method, name);
        *found = Some(new.clone());
        new
    }
}
