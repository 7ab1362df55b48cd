//! A script from its file to `done`: the main state, the threads' states, and the order of calls.

use crate::cell::ThreadCell;
use crate::error::{During, Error, ScriptError};
use crate::error_tally::ErrorTally;
use crate::failure::Failure;
use crate::files::Files;
use crate::names::Naming;
use crate::options::{Broken, Flavour, Options};
use crate::packed::{Packed, Settled};
use crate::request;
use crate::samples::Figures;
use crate::scenario::{Callbacks, Scripted, ThreadContext};
use crate::state::State;
use crate::url_text::UrlText;
use loadline_script::{OnError, WithTally};
use mlua::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A script that is ready to run: loaded once for itself and once for each thread, set up,
/// initialised, and with a checked first request.
pub struct Script {
    path: PathBuf,
    options: Options,
    files: Arc<Files>,
    main: State,
    threads: Arc<Vec<Thread>>,
    callbacks: Callbacks,
    failure: Arc<Failure>,
    complaints: Vec<Error>,
    naming: Arc<Naming>,
}

/// The state of a worker's thread.
pub(crate) struct Thread {
    pub(crate) state: State,
    pub(crate) cell: Arc<ThreadCell>,
}

impl Script {
    /// Runs a script up to its first request, in the order and as often as wrk does: the file and
    /// `wrk.resolve` in the main state, then for each thread the file, `setup` in the main state
    /// and `init`; `request` once, in the first thread's state.
    ///
    /// Blocks: names are resolved, addresses tried, and the script may block, too.
    ///
    /// # Errors
    /// If the file can't be loaded (unless that is tolerated), if the script raises an error, if no
    /// address responds, or if the first request is malformed.
    pub fn load(path: &Path, options: &Options) -> Result<Script, Error> {
        let files = match options.is_elsewhere {
            true => Files::noted(),
            false => Files::Here,
        };
        let loader = Loader::new(path, options, files)?;
        let script = loader.load(0..options.threads.max(1), None)?;
        if options.is_elsewhere {
            script.threads.iter().for_each(|thread| thread.cell.leave());
        }
        Ok(script)
    }

    /// Loads a script for these workers of a run, after another process has loaded it for all of
    /// them. The other threads are set up, too, as `setup` may count them, and not initialised.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub(crate) fn load_part(
        path: &Path,
        options: &Options,
        files: Files,
        workers: Range<u32>,
        settled: Settled,
    ) -> Result<Script, Error> {
        Loader::new(path, options, files)?.load(workers, Some(settled))
    }

    /// Returns the script as a text from which another process [creates](crate::unpack) the same
    /// users, if it was loaded for [other processes](Options::is_elsewhere).
    ///
    /// # Errors
    /// The sentence about files that are too large.
    pub fn pack(&self) -> Result<String, String> {
        let settled = Settled {
            depth: self.callbacks.depth,
            names_requests: self.names_requests(),
        };
        let (path, options) = (self.path.clone(), self.options.clone());
        let packed = Packed::new(path, options, &self.files, settled)?;
        serde_json::to_string(&packed).map_err(|error| error.to_string())
    }

    /// Takes an error that the script raised in another process.
    pub fn raise(&self, error: ScriptError) {
        self.failure.report(error);
    }

    /// Returns the function that returns the script's error once, if it raised one during the run:
    /// for a process that has to report it to another one.
    pub fn raised(
        &self,
    ) -> impl Fn() -> Option<ScriptError> + Clone + Send + Sync + use<> + 'static {
        let failure = Arc::clone(&self.failure);
        move || failure.take_raised()
    }

    /// Returns the function that creates the scenario of each worker, whose tally is the error that
    /// the script raised.
    pub(crate) fn raising_scenarios(
        &self,
    ) -> impl Fn(u32) -> WithTally<Scripted, ErrorTally> + Send + Sync + use<> + 'static {
        let (users, failure) = (self.scenarios(), Arc::clone(&self.failure));
        move |worker| WithTally {
            users: users(worker),
            counts: ErrorTally(Arc::clone(&failure)),
        }
    }

    /// Returns the errors that [`Broken::Tolerated`] ignored: one for each state, in order.
    pub fn complaints(&self) -> &[Error] {
        &self.complaints
    }

    /// Returns the number of requests in the first text: the depth of the pipeline.
    pub fn depth(&self) -> u32 {
        self.callbacks.depth
    }

    /// True if no function of the script is called during the run.
    #[cfg(test)]
    pub(crate) fn is_static(&self) -> bool {
        !self.callbacks.request && !self.callbacks.response && !self.callbacks.delay
    }

    /// True if the script names its requests, by `wrk.name`.
    pub fn names_requests(&self) -> bool {
        self.naming.is_used()
    }

    /// Returns the function that creates the scenario of each worker, for
    /// [`Run::start_scenario`](loadline_engine::Run::start_scenario).
    pub fn scenarios(&self) -> impl Fn(u32) -> Scripted + Send + Sync + use<> + 'static {
        let (threads, failure) = (Arc::clone(&self.threads), Arc::clone(&self.failure));
        let (callbacks, names_requests) = (self.callbacks, self.names_requests());
        move |worker| {
            Scripted::new(ThreadContext {
                threads: Arc::clone(&threads),
                index: worker as usize % threads.len(),
                failure: Arc::clone(&failure),
                callbacks,
                names_requests,
            })
        }
    }

    /// Sets the function to call with the first error that the script raises during the run. It is
    /// called at once if there was an error already.
    pub fn on_error(&self, act: OnError) {
        self.failure.on_error(act);
    }

    /// Returns the first error that the script raised during the run, if there was one.
    pub fn failure(&self) -> Option<ScriptError> {
        self.failure.error()
    }

    /// Flushes the script's prints so far; to be called before other output to the same place.
    pub fn flush(&self) {
        self.main.flush();
    }

    /// Calls `done`, if the script has one, in the main state.
    ///
    /// # Errors
    /// If the script raises an error.
    pub fn done(&self, figures: &Figures) -> Result<(), Error> {
        let done = self.main.done(figures, self.options.flavour);
        self.main.flush();
        done
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script")
            .field("threads", &self.threads.len())
            .field("callbacks", &self.callbacks)
            .finish_non_exhaustive()
    }
}

struct Loader<'a> {
    path: &'a Path,
    options: &'a Options,
    files: Arc<Files>,
    url: UrlText,
    complaints: Vec<Error>,
    naming: Arc<Naming>,
}

impl<'a> Loader<'a> {
    fn new(path: &'a Path, options: &'a Options, files: Files) -> Result<Self, Error> {
        let url = UrlText::parse(&options.url).ok_or_else(|| Error::Url(options.url.clone()))?;
        Ok(Loader {
            path,
            options,
            files: Arc::new(files),
            url,
            complaints: Vec::new(),
            naming: Arc::default(),
        })
    }

    /// Loads the script for its own ones of all threads, which are more than those of the options
    /// if they join. `settled` is what another process has found that loaded it before.
    fn load(mut self, own: Range<u32>, settled: Option<Settled>) -> Result<Script, Error> {
        let main = self.state()?;
        self.resolve(&main)?;
        if settled.is_some_and(|settled| settled.names_requests) {
            self.naming.settle();
        }
        let mut threads: Vec<Thread> = Vec::new();
        let mut callbacks = None;
        for number in 0..self.options.threads.max(own.end).max(1) {
            let is_own = own.contains(&number);
            let thread = self.thread(&main, is_own)?;
            if is_own && callbacks.is_none() {
                callbacks = Some(self.callbacks(&thread, number, settled)?);
            }
            threads.push(thread);
        }
        for thread in &threads {
            thread.state.call::<()>("begin", During::Load, ())?;
        }
        main.flush();
        self.naming.begin();
        Ok(Script {
            path: self.path.to_owned(),
            options: self.options.clone(),
            files: self.files,
            naming: self.naming,
            main,
            threads: Arc::new(threads),
            callbacks: callbacks.expect("there is at least one thread"),
            failure: Arc::default(),
            complaints: self.complaints,
        })
    }

    /// Calls `wrk.resolve`. If the load is sent elsewhere, the target may be reachable from there
    /// only.
    fn resolve(&self, main: &State) -> Result<(), Error> {
        if !self.options.resolve {
            return Ok(());
        }
        match main.resolve(&self.url) {
            Err(Error::Connect { .. } | Error::Lookup(_)) if self.options.is_elsewhere => Ok(()),
            resolved => resolved,
        }
    }

    /// Returns the functions that are called in all threads. Of all threads of a run only the first
    /// one is called for a request that is not sent.
    fn callbacks(
        &self,
        thread: &Thread,
        number: u32,
        settled: Option<Settled>,
    ) -> Result<Callbacks, Error> {
        let flavour = self.options.flavour;
        let depth = match (settled, number) {
            (Some(settled), 1..) => settled.depth,
            (None | Some(_), _) => depth_of(thread)?,
        };
        Ok(Callbacks {
            request: thread.state.has_function("request"),
            response: thread.state.has_function("response"),
            delay: flavour == Flavour::Wrk && thread.state.has_function("delay"),
            depth: settled.map_or(depth, |settled| settled.depth),
        })
    }

    /// Creates a state in which the file has run.
    fn state(&mut self) -> Result<State, Error> {
        let state = State::new(
            self.path,
            self.options,
            &self.files,
            &self.url,
            &self.naming,
        )?;
        match (state.run_file(), self.options.broken) {
            (Ok(()), _) => {}
            // wrk exits if a name has no address, wherever the lookup was made.
            (Err(error @ Error::Lookup(_)), _) | (Err(error), Broken::Refused) => {
                return Err(error);
            }
            // The original would have run the whole script: a part of it would be another load.
            (Err(error), _) if error.is_refusal() => return Err(error),
            (Err(error), Broken::Tolerated) => self.complaints.push(error),
        }
        Ok(state)
    }

    /// Creates a thread, which is initialised if it is one of the process's own.
    fn thread(&mut self, main: &State, is_own: bool) -> Result<Thread, Error> {
        let state = self.state()?;
        let cell = ThreadCell::new(&state.lua);
        state.call_with_thread("set_thread", During::Init, &cell)?;
        main.call_with_thread("setup", During::Setup, &cell)?;
        if is_own {
            state.init(self.options)?;
        }
        cell.take_stop();
        Ok(Thread { state, cell })
    }
}

/// Returns the number of requests in the first text of a thread.
fn depth_of(thread: &Thread) -> Result<u32, Error> {
    let made: Value = thread.state.call("request", During::Request, ())?;
    let mut parts = Vec::new();
    // A result that is not a text is not a request, as in wrk.
    let text = made.as_string().map(|text| text.as_bytes().to_vec());
    request::check(&text.unwrap_or_default(), &mut parts)?;
    Ok(parts.len() as u32)
}
