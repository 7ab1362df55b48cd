//! The modules that a user is loading: `require()` of a module that is being loaded, or of one that
//! imports such a module, is refused.
//!
//! QuickJS links and runs a module at once for `require()`. It assumes that no module in that graph
//! is already being loaded, and that none has failed to load before; otherwise it ends the process.
//! So every request for a module is checked here first.

use super::resolve::{Resolved, resolve};
use super::store::Store;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The loads in progress, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    frames: RefCell<Vec<Frame>>,
    /// Modules that could not be loaded, or whose imports could not be.
    broken: RefCell<BTreeSet<String>>,
}

/// The modules that one `import` from outside of modules, or one `require()`, has loaded so far.
#[derive(Debug, Default)]
struct Frame {
    /// The names of the modules, including those that have already run.
    names: BTreeSet<String>,
    /// The innermost running module of this load, or the file of CommonJS that runs because a
    /// module of this load imports it; `None` if that is unknown.
    at: Option<String>,
    /// The files of CommonJS that run because modules of this load import them, outermost first.
    running: Vec<String>,
}

impl Loading {
    /// Begins a load from outside of modules, or by `require()`.
    pub(crate) fn begin(&self) {
        self.frames.borrow_mut().push(Frame::default());
    }

    /// Ends the innermost load; its modules are broken if it failed.
    pub(crate) fn end(&self, is_loaded: bool) {
        let frame = self.frames.borrow_mut().pop();
        if let Some(frame) = frame.filter(|_| !is_loaded) {
            self.broken.borrow_mut().extend(frame.names);
        }
    }

    /// Adds a module to the innermost load.
    pub(crate) fn add(&self, name: &str) {
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.names.insert(name.to_owned());
        }
    }

    /// Runs a CommonJS file that a module imports.
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

    /// Returns the error of `require()` for a module that can't be loaded now; `None` if it can.
    /// `by` is the innermost module that runs.
    pub(crate) fn refusal(&self, store: &Store, by: Option<String>, name: &str) -> Option<String> {
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.at = frame.running.last().cloned().or(by);
        }
        let frames = self.frames.borrow().len();
        self.refusal_within(store, name, frames)
    }

    /// Returns the error for a module that is imported while `require()` loads another one; `None`
    /// if it can be loaded.
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

/// True if the condition holds for a module or for any module that it imports, directly or
/// indirectly. Files of CommonJS are not searched: their own `require()` is checked when it is
/// called.
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
        // A file that can't be read is reported when it is loaded.
        let Ok(unit) = unit else { continue };
        if !unit.is_common_js {
            let requests = unit.factory().requests.iter();
            let resolved = requests.filter_map(|specifier| resolve(&name, specifier).ok());
            left.extend(resolved.map(Resolved::into_name));
        }
    }
    false
}
