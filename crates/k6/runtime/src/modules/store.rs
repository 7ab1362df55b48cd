//! The files of a script, read once for all users: modules, and files for `open()`.
//!
//! The first initialisation of a script finds all of them. After it no new file is read, so that a
//! run does not depend on later changes of the disk, and a further user needs no reading and no
//! parsing.

use super::factory::{Factory, factory};
use super::lines::{Lines, map_of, read_map};
use super::translate::translate;
use crate::run::{Entry, Level, Log};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use url::Url;

/// The source of a script's files: the disk, the web, an archive.
pub trait Sources: Send + Sync {
    /// Returns the bytes of the file at a URL of the scheme `file` or `https`.
    ///
    /// # Errors
    /// The reason why it can't be read, in a sentence.
    fn read(&self, url: &Url) -> Result<Vec<u8>, String>;
}

/// A module, ready to be compiled.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The code, as JavaScript.
    pub(crate) code: String,
    /// True for CommonJS.
    pub(crate) is_common_js: bool,
    /// The origins of its lines, if its types were stripped or it has a source map.
    pub(crate) lines: Option<Lines>,
    /// The compiled module, once one user has compiled it.
    pub(crate) bytecode: OnceLock<Vec<u8>>,
    /// The module as a function, once users of a shared runtime have requested it.
    factory: OnceLock<Factory>,
}

impl Unit {
    /// Returns the module as a function.
    pub(crate) fn factory(&self) -> &Factory {
        self.factory.get_or_init(|| factory(&self.code))
    }
}

/// All files that were read.
pub(crate) struct Store {
    sources: Box<dyn Sources>,
    log: Arc<dyn Log>,
    units: Mutex<HashMap<String, Arc<Unit>>>,
    /// The modules' original texts.
    sources_of_units: Mutex<BTreeMap<String, Vec<u8>>>,
    files: Mutex<BTreeMap<String, Arc<[u8]>>>,
    is_frozen: AtomicBool,
    /// The specifiers of modules in their first `import`.
    specifiers: Mutex<HashMap<String, String>>,
}

impl Store {
    pub(crate) fn new(sources: Box<dyn Sources>, log: Arc<dyn Log>) -> Self {
        Store {
            sources,
            log,
            units: Mutex::default(),
            sources_of_units: Mutex::default(),
            files: Mutex::default(),
            is_frozen: AtomicBool::new(false),
            specifiers: Mutex::default(),
        }
    }

    /// Ends reading: from now on no new file is read.
    pub(crate) fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Release);
    }

    fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Acquire)
    }

    /// Returns the module of this name.
    ///
    /// # Errors
    /// If it can't be read, or is not JavaScript.
    pub(crate) fn unit(&self, name: &str) -> Result<Arc<Unit>, String> {
        if let Some(unit) = locked(&self.units).get(name) {
            return Ok(Arc::clone(unit));
        }
        let url = Url::parse(name).map_err(|error| error.to_string())?;
        let bytes = self
            .read(&url)
            .map_err(|problem| self.not_found(&url, problem))?;
        locked(&self.sources_of_units).insert(name.to_owned(), bytes.clone());
        let text = String::from_utf8_lossy(&bytes);
        let translated = translate(name, &text).map_err(|problem| problem.to_string())?;
        let map = map_of(&text).and_then(|place| self.map_at(place, &url));
        Ok(self.keep(
            name,
            Unit {
                code: translated.code,
                is_common_js: translated.is_common_js,
                lines: translated.lines.or(map),
                bytecode: OnceLock::new(),
                factory: OnceLock::new(),
            },
        ))
    }

    /// Reads the source map that a file names. If it can't be read, that is logged.
    fn map_at(&self, place: &str, of: &Url) -> Option<Lines> {
        let read = |map: &Url| {
            self.read(map)
                .map_err(|problem| missing(map, problem, map.as_str()))
        };
        let map = read_map(place, of, read);
        let logged = |problem: &String| {
            self.log.log(&Entry {
                level: Level::Warning,
                message: &format!("Couldn't load source map for {of}"),
                fields: &[("error", problem)],
            });
        };
        map.inspect_err(logged).ok()
    }

    /// Returns the module of this name, if it was read.
    pub(crate) fn code(&self, name: &str) -> Option<Arc<Unit>> {
        locked(&self.units).get(name).cloned()
    }

    /// Notes the specifier by which a script imports the module of this name.
    pub(crate) fn note_specifier(&self, name: &str, specifier: &str) {
        let mut specifiers = locked(&self.specifiers);
        let known = specifiers.entry(name.to_owned());
        known.or_insert_with(|| specifier.to_owned());
    }

    /// Returns the error for a module that can't be read.
    fn not_found(&self, url: &Url, problem: String) -> String {
        let specifier = locked(&self.specifiers).get(url.as_str()).cloned();
        let specifier = specifier.unwrap_or_else(|| url.path().to_owned());
        missing(url, problem, &specifier)
    }

    /// Returns the module of this name. If it is new, `code` generates its text.
    pub(crate) fn made(&self, name: &str, code: impl FnOnce() -> String) -> Arc<Unit> {
        if let Some(unit) = locked(&self.units).get(name) {
            return Arc::clone(unit);
        }
        let unit = Unit {
            code: code(),
            is_common_js: false,
            lines: None,
            bytecode: OnceLock::new(),
            factory: OnceLock::new(),
        };
        self.keep(name, unit)
    }

    fn keep(&self, name: &str, unit: Unit) -> Arc<Unit> {
        let mut units = locked(&self.units);
        let kept = units.entry(name.to_owned());
        Arc::clone(kept.or_insert_with(|| Arc::new(unit)))
    }

    /// Returns the bytes of a file that a script opens.
    ///
    /// # Errors
    /// If it can't be read, or was not opened in the script's first initialisation.
    pub(crate) fn open(&self, url: &Url) -> Result<Arc<[u8]>, String> {
        if let Some(file) = locked(&self.files).get(url.as_str()) {
            return Ok(Arc::clone(file));
        }
        let bytes: Arc<[u8]> = self.read(url)?.into();
        locked(&self.files).insert(url.to_string(), Arc::clone(&bytes));
        Ok(bytes)
    }

    fn read(&self, url: &Url) -> Result<Vec<u8>, String> {
        if self.is_frozen() {
            return Err(format!(
                "open() can't be used with files that weren't previously opened during \
                 initialization (__VU==0), path: \"{}\"",
                url.path()
            ));
        }
        self.sources.read(url)
    }

    /// Returns the origin of a position in a module's code: file, line and column. Without a table,
    /// that is the same position. Lines and columns count from 1.
    pub(crate) fn written(&self, name: &str, (line, column): (u32, u32)) -> (String, u32, u32) {
        let unit = locked(&self.units).get(name).cloned();
        let lines = unit.as_ref().and_then(|unit| unit.lines.as_ref());
        let Some(written) = lines.and_then(|lines| lines.written(line, column)) else {
            return (name.to_owned(), line, column);
        };
        let url = Url::parse(name).ok();
        let file = written.file.and_then(|file| url?.join(file).ok());
        let file = file.map_or_else(|| name.to_owned(), String::from);
        (file, written.line, written.column)
    }

    /// Returns all files by their URLs: original texts of modules, and files that were opened.
    pub(crate) fn all(&self) -> BTreeMap<Url, Vec<u8>> {
        let files = locked(&self.files);
        let files = files
            .iter()
            .map(|(name, bytes)| (name.clone(), bytes.to_vec()));
        let sources = locked(&self.sources_of_units);
        let sources = sources
            .iter()
            .map(|(name, bytes)| (name.clone(), bytes.clone()));
        let named = files.chain(sources);
        named
            .filter_map(|(name, bytes)| Some((Url::parse(&name).ok()?, bytes)))
            .collect()
    }
}

/// Returns the error for a file that can't be read, with the specifier that named it.
fn missing(url: &Url, problem: String, specifier: &str) -> String {
    if url.scheme() != "file" {
        return problem;
    }
    format!(
        "The moduleSpecifier \"{specifier}\" couldn't be found on local disk. Make sure that \
         you've specified the right path to the file. If you're running k6 using the Docker image \
         make sure you have mounted the local directory (-v /local/path/:/inside/docker/path) \
         containing your script and modules so that they're accessible by k6 from inside of the \
         container, see \
         https://grafana.com/docs/k6/latest/using-k6/modules/#use-modules-with-docker."
    )
}

/// Locks a map. It is consistent even if a thread panicked: entries are only added.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
