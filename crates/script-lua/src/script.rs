//! A script from its file to `done`: the main state, the threads' states, and the order of calls.

use crate::cell::ThreadCell;
use crate::error::{During, Error, ScriptError};
use crate::failure::Failure;
use crate::names::Naming;
use crate::options::{Broken, Flavour, Options};
use crate::request;
use crate::samples::Figures;
use crate::scenario::{Callbacks, Scripted, ThreadContext};
use crate::state::State;
use crate::url_text::UrlText;
use loadline_script::OnError;
use mlua::Value;
use std::path::Path;
use std::sync::Arc;

/// A script that is ready to run: loaded once for itself and once for each thread, set up,
/// initialised, and with a checked first request.
pub struct Script {
    flavour: Flavour,
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
        let url = UrlText::parse(&options.url).ok_or_else(|| Error::Url(options.url.clone()))?;
        let mut loader = Loader {
            path,
            options,
            url,
            complaints: Vec::new(),
            naming: Arc::default(),
        };
        let main = loader.state()?;
        if options.resolve {
            main.resolve(&loader.url)?;
        }
        let mut threads: Vec<Thread> = Vec::new();
        let mut callbacks = None;
        for _ in 0..options.threads.max(1) {
            let thread = loader.thread(&main)?;
            if callbacks.is_none() {
                callbacks = Some(callbacks_of(&thread, options.flavour)?);
            }
            threads.push(thread);
        }
        for thread in &threads {
            thread.state.call::<()>("begin", During::Load, ())?;
        }
        main.flush();
        loader.naming.begin();
        Ok(Script {
            naming: loader.naming,
            flavour: options.flavour,
            main,
            threads: Arc::new(threads),
            callbacks: callbacks.expect("there is at least one thread"),
            failure: Arc::default(),
            complaints: loader.complaints,
        })
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
    pub fn is_static(&self) -> bool {
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
        let done = self.main.done(figures, self.flavour);
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
    url: UrlText,
    complaints: Vec<Error>,
    naming: Arc<Naming>,
}

impl Loader<'_> {
    /// Creates a state in which the file has run.
    fn state(&mut self) -> Result<State, Error> {
        let state = State::new(self.path, self.options, &self.url, &self.naming)?;
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

    fn thread(&mut self, main: &State) -> Result<Thread, Error> {
        let state = self.state()?;
        let cell = ThreadCell::new(&state.lua);
        state.call_with_thread("set_thread", During::Init, &cell)?;
        main.call_with_thread("setup", During::Setup, &cell)?;
        state.init(self.options)?;
        cell.take_stop();
        Ok(Thread { state, cell })
    }
}

/// Returns the functions that are called in all threads, as defined in the first one, and the
/// number of requests in its first text.
fn callbacks_of(thread: &Thread, flavour: Flavour) -> Result<Callbacks, Error> {
    let state = &thread.state;
    let made: Value = state.call("request", During::Request, ())?;
    let mut parts = Vec::new();
    // A result that is not a text is not a request, as in wrk.
    let text = made.as_string().map(|text| text.as_bytes().to_vec());
    request::check(&text.unwrap_or_default(), &mut parts)?;
    Ok(Callbacks {
        request: state.has_function("request"),
        response: state.has_function("response"),
        delay: flavour == Flavour::Wrk && state.has_function("delay"),
        depth: parts.len() as u32,
    })
}
