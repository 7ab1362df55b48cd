//! What a user loads at the moment: a module that is being loaded can't be asked for by
//! `require()`, nor can one that imports it.
//!
//! QuickJS links and runs what `require()` names at once. It takes for granted that no module of
//! that is on its way already, and that nothing of it failed to load before; it ends the process
//! otherwise. So whoever asks it for a module asks here first.

use super::resolve::{Resolved, resolve};
use super::store::Store;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// What is being loaded, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    frames: RefCell<Vec<Frame>>,
    /// Modules that could not be loaded, or whose imports could not be.
    broken: RefCell<BTreeSet<String>>,
}

/// What one `import` or `require()` from outside of modules has led to so far.
#[derive(Debug, Default)]
struct Frame {
    /// Its modules. Those that have run already are among them.
    names: BTreeSet<String>,
    /// The module of it that runs, or the file that one of it imports and that runs for that;
    /// `None` if that is not known.
    at: Option<String>,
    /// The files of CommonJS that run because modules of it that are being loaded import them.
    running: Vec<String>,
}

impl Loading {
    /// Something is asked for from outside of modules, or by `require()`.
    pub(crate) fn begin(&self) {
        self.frames.borrow_mut().push(Frame::default());
    }

    /// The last of them is loaded, or can't be.
    pub(crate) fn end(&self, is_loaded: bool) {
        let frame = self.frames.borrow_mut().pop();
        if let Some(frame) = frame.filter(|_| !is_loaded) {
            self.broken.borrow_mut().extend(frame.names);
        }
    }

    /// A module is loaded.
    pub(crate) fn add(&self, name: &str) {
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.names.insert(name.to_owned());
        }
    }

    /// Runs a file of CommonJS that a module imports.
    pub(crate) fn while_running<T>(&self, name: &str, run: impl FnOnce() -> T) -> T {
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.running.push(name.to_owned());
        }
        let result = run();
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.running.pop();
        }
        result
    }

    /// What is said of a module that can't be asked for now by `require()`; `None` if it can. `by`
    /// is the innermost module that runs.
    pub(crate) fn refusal(&self, store: &Store, by: Option<String>, name: &str) -> Option<String> {
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.at = frame.running.last().cloned().or(by);
        }
        let frames = self.frames.borrow().len();
        self.refusal_within(store, name, frames)
    }

    /// The same of a module that `import()` names, while `require()` loads another one.
    pub(crate) fn refusal_of_import(&self, store: &Store, name: &str) -> Option<String> {
        let below = self.frames.borrow().len().saturating_sub(1);
        if below == 0 && self.broken.borrow().is_empty() {
            return None;
        }
        self.refusal_within(store, name, below)
    }

    fn refusal_within(&self, store: &Store, name: &str, frames: usize) -> Option<String> {
        let broken = self.broken.borrow();
        let frames = &self.frames.borrow()[..frames];
        let is_open = |other: &str| {
            frames.iter().any(|frame| {
                let reaches_it = |at: &String| reaches(store, other, &|name| name == at);
                frame.names.contains(other) && frame.at.as_ref().is_none_or(reaches_it)
            })
        };
        if reaches(store, name, &is_open) {
            return Some(format!(
                "{name} can't be required while it is being loaded, or a module that it imports: \
                 import it, or require it in a function that is called later"
            ));
        }
        let is_broken = |other: &str| broken.contains(other);
        reaches(store, name, &is_broken)
            .then(|| format!("{name} can't be loaded: something that it imports could not be"))
    }
}

/// Whether a module is such a one, or imports one, by however many others. What CommonJS requires
/// is not looked at: it asks by itself.
fn reaches(store: &Store, name: &str, is_such: &dyn Fn(&str) -> bool) -> bool {
    let (mut seen, mut left) = (BTreeSet::new(), vec![name.to_owned()]);
    while let Some(name) = left.pop() {
        if is_such(&name) {
            return true;
        }
        let unit = match resolve(&name, &name) {
            Ok(Resolved::Url(_)) if seen.insert(name.clone()) => store.unit(&name),
            _ => continue,
        };
        // What can't be read is told by who loads it.
        let Ok(unit) = unit else { continue };
        if !unit.is_common_js {
            let requests = unit.factory().requests.iter();
            let resolved = requests.filter_map(|specifier| resolve(&name, specifier).ok());
            left.extend(resolved.map(Resolved::into_name));
        }
    }
    false
}
