//! A Lua state with the table `wrk`: the main one, or a thread's.
//!
//! The prelude (`prelude.lua`) is written in Lua; functions that Lua can't provide are passed to it
//! from here.

use crate::addresses::{look_up, try_connect};
use crate::cell::ThreadCell;
use crate::debug_info;
use crate::error::{During, Error, REFUSAL, ScriptError};
use crate::files::Files;
use crate::metrics;
use crate::names::{Naming, RequestName};
use crate::options::{Flavour, Options};
use crate::samples::{Figures, Samples};
use crate::url_text::UrlText;
use loadline_record::SharedMetrics;
use loadline_script::Prints;
use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, LuaString, Table, Value};
use std::io;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PRELUDE: &str = include_str!("prelude.lua");
const LIBRARIES: &str = include_str!("libraries.lua");
const CJSON: &str = include_str!("cjson.lua");

/// The longest sleep of `socket.sleep`.
const LONGEST_SLEEP_S: f64 = 1e9;

/// A state in which the prelude has run.
pub(crate) struct State {
    pub(crate) lua: Lua,
    /// The functions of the prelude that call the script.
    entries: Table,
    path: PathBuf,
    files: Arc<Files>,
    /// The reason of the last failed `wrk.connect`.
    refusal: Arc<Mutex<Option<String>>>,
    /// The name of the next requests.
    pub(crate) name: Arc<RequestName>,
    /// The metrics that the script records.
    pub(crate) metrics: SharedMetrics,
}

impl State {
    pub(crate) fn new(
        path: &Path,
        options: &Options,
        files: &Arc<Files>,
        url: &UrlText,
        naming: &Arc<Naming>,
    ) -> Result<Self, Error> {
        let refusal = Arc::default();
        let name = Arc::new(RequestName::new(naming));
        let counted = metrics::recorder(options.max_metrics);
        let made = || {
            let lua = Lua::new();
            let host = host(&lua, options, url, &refusal)?;
            host.set("set_name", set_name(&lua, &name)?)?;
            let define = metrics::define(&lua, &counted, &options.tags)?;
            host.set("define_metric", define)?;
            if files.are_placed() {
                host.set("place_of", place_of(&lua, files)?)?;
            }
            let (cjson, safe_cjson): (Table, Table) =
                lua.load(CJSON).set_name("=cjson").call(Value::NULL)?;
            let libraries = lua.load(LIBRARIES).set_name("=libraries");
            libraries.call::<()>((&host, cjson, safe_cjson))?;
            let prelude = lua.load(PRELUDE).set_name("=wrk");
            let entries = prelude.call(host)?;
            Ok((lua, entries))
        };
        let (lua, entries) = made().map_err(|error| Error::of_lua(path, During::Load, &error))?;
        Ok(State {
            lua,
            entries,
            path: path.to_owned(),
            files: Arc::clone(files),
            refusal,
            name,
            metrics: counted,
        })
    }

    /// Runs the script's file.
    pub(crate) fn run_file(&self) -> Result<(), Error> {
        let source = match self.files.are_placed() {
            false => std::fs::read(&self.path),
            true => match self.files.place(&self.path.to_string_lossy()) {
                Some(place) => std::fs::read(place),
                None => Err(io::ErrorKind::NotFound.into()),
            },
        };
        let source = source.map_err(|error| Error::Read {
            path: self.path.clone(),
            error,
        })?;
        let chunk = self.lua.load(without_first_comment(&source));
        let named = chunk.set_name(format!("@{}", self.path.display()));
        let file = named.into_function();
        let file = file.map_err(|error| self.error(During::Load, &error))?;
        self.call("run", During::Load, file)
    }

    /// Calls a function of the prelude.
    pub(crate) fn call<R: FromLuaMulti>(
        &self,
        entry: &str,
        during: During,
        arguments: impl IntoLuaMulti,
    ) -> Result<R, Error> {
        let called = self.entry(entry).and_then(|entry| entry.call(arguments));
        called.map_err(|error| self.error(during, &error))
    }

    /// Returns a function of the prelude.
    pub(crate) fn entry(&self, name: &str) -> mlua::Result<Function> {
        self.entries.raw_get(name)
    }

    /// True if the script has a global function of this name.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        // A lookup in a table doesn't fail; if it did, the call of the function itself would report
        // it.
        self.call("is_function", During::Load, name)
            .unwrap_or(false)
    }

    /// Calls an entry with the userdata of a thread.
    pub(crate) fn call_with_thread(
        &self,
        entry: &str,
        during: During,
        cell: &Arc<ThreadCell>,
    ) -> Result<(), Error> {
        let functions = cell.functions(&self.lua);
        let functions = functions.map_err(|error| self.error(during, &error))?;
        self.call(entry, during, functions)
    }

    /// Calls `init` with the URL and the arguments after it.
    pub(crate) fn init(&self, options: &Options) -> Result<(), Error> {
        let arguments = || {
            let table = self
                .lua
                .create_sequence_from(options.args.iter().map(String::as_str))?;
            table.raw_set(0, options.url.as_str())?;
            Ok(table)
        };
        let arguments = arguments().map_err(|error| self.error(During::Init, &error))?;
        self.call("init", During::Init, arguments)
    }

    /// Calls `wrk.resolve`, which has to keep an address that accepts connections.
    pub(crate) fn resolve(&self, url: &UrlText) -> Result<(), Error> {
        let (host, service) = (url.host.as_str(), url.service());
        let answering: u64 = self.call("resolve", During::Resolve, (host, service))?;
        if answering > 0 {
            return Ok(());
        }
        let reason = self
            .refusal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Err(Error::Connect {
            host: host.to_owned(),
            service: service.to_owned(),
            reason: reason.unwrap_or_else(|| "no address is left".to_owned()),
        })
    }

    /// Calls `done`, if the script has one.
    pub(crate) fn done(&self, figures: &Figures, flavour: Flavour) -> Result<(), Error> {
        let arguments = || -> mlua::Result<(Table, Table, Table)> {
            let samples = |samples| samples_table(&self.lua, samples, flavour);
            let summary = summary_table(&self.lua, figures)?;
            Ok((
                summary,
                samples(&figures.latency)?,
                samples(&figures.rates)?,
            ))
        };
        let arguments = arguments().map_err(|error| self.error(During::Done, &error))?;
        self.call("done", During::Done, arguments)
    }

    /// Flushes the script's prints so far, because Lua has a buffer of its own.
    pub(crate) fn flush(&self) {
        // If the reader has gone, the output is not needed.
        let _ = self.call::<()>("flush", During::Done, ());
    }

    fn error(&self, during: During, error: &mlua::Error) -> Error {
        Error::of_lua(&self.path, during, error)
    }

    /// Converts the error of a call by way of [`entry`](Self::entry).
    pub(crate) fn error_of(&self, during: During, error: &mlua::Error) -> ScriptError {
        ScriptError::of_lua(&self.path, during, error)
    }

    /// Creates an error of the script that does not come from Lua.
    pub(crate) fn script_error(&self, during: During, message: &str) -> ScriptError {
        ScriptError::new(&self.path, during, message)
    }
}

/// Creates the function that sets `wrk.name`. It returns the reason if the name is invalid, or nil.
fn set_name(lua: &Lua, name: &Arc<RequestName>) -> mlua::Result<Function> {
    let name = Arc::clone(name);
    lua.create_function(move |_, text: Option<LuaString>| {
        let Some(text) = text else {
            return Ok(name.set(None));
        };
        Ok(match text.to_str() {
            Ok(text) => name.set(Some(&text)),
            Err(_) => Some("a name is UTF-8".to_owned()),
        })
    })
}

/// Creates the function that returns the place of a file to be read, or nil.
fn place_of(lua: &Lua, files: &Arc<Files>) -> mlua::Result<Function> {
    let files = Arc::clone(files);
    lua.create_function(move |_, name: LuaString| Ok(files.place(&name.to_string_lossy())))
}

/// Returns the source without the text of a first line for the shell. The line break stays.
fn without_first_comment(source: &[u8]) -> &[u8] {
    if !source.starts_with(b"#") {
        return source;
    }
    let end = source.iter().position(|byte| *byte == b'\n');
    &source[end.unwrap_or(source.len())..]
}

/// Creates the table of values and functions for the prelude.
fn host(
    lua: &Lua,
    options: &Options,
    url: &UrlText,
    refusal: &Arc<Mutex<Option<String>>>,
) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.set("scheme", url.scheme.as_str())?;
    host.set("host", url.host.as_str())?;
    host.set("port", url.port.as_deref())?;
    host.set("path", url.path.as_str())?;
    host.set("method", options.method.as_str())?;
    host.set(
        "headers",
        lua.create_table_from(options.headers.iter().cloned())?,
    )?;
    let body = options.body.as_ref();
    host.set(
        "body",
        body.map(|body| lua.create_string(body)).transpose()?,
    )?;
    host.set("prints_to_stderr", options.prints == Prints::Stderr)?;
    host.set("stdout_is_terminal", std::io::stdout().is_terminal())?;
    host.set("may_exit", options.may_exit)?;
    add_functions(lua, &host, options, refusal)?;
    Ok(host)
}

fn add_functions(
    lua: &Lua,
    host: &Table,
    options: &Options,
    refusal: &Arc<Mutex<Option<String>>>,
) -> mlua::Result<()> {
    let lookup = |_: &Lua, (name, service): (LuaString, LuaString)| {
        // A text that is not UTF-8 is not a host name either; the error shows its readable part.
        let (name, service) = (name.to_string_lossy(), service.to_string_lossy());
        let found = look_up(&name, &service).map_err(mlua::Error::external)?;
        Ok(found.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    host.set("lookup", lua.create_function(lookup)?)?;
    let (refusal, timeout) = (Arc::clone(refusal), options.connect_timeout);
    let connect = move |_: &Lua, text: String| {
        let connected = address(&text).and_then(|address| try_connect(&address, timeout));
        let reason = connected.err().map(|error| error.to_string());
        let connected = reason.is_none();
        if !connected {
            *refusal.lock().unwrap_or_else(PoisonError::into_inner) = reason;
        }
        Ok(connected)
    };
    host.set("connect", lua.create_function(connect)?)?;
    if options.flavour == Flavour::Wrk2 {
        host.set("time_us", lua.create_function(|_, ()| Ok(epoch_us()))?)?;
    }
    add_library_functions(lua, host)
}

/// Adds functions that the libraries can't provide in Lua.
fn add_library_functions(lua: &Lua, host: &Table) -> mlua::Result<()> {
    host.set("refusal", REFUSAL)?;
    let traceback = |lua: &Lua, level: f64| lua.traceback(None, level as usize);
    host.set("traceback", lua.create_function(traceback)?)?;
    host.set("getinfo", lua.create_function(debug_info::info)?)?;
    let is_own = |_: &Lua, thrown: Value| Ok(matches!(thrown, Value::Error(_)));
    host.set("is_own", lua.create_function(is_own)?)?;
    host.set(
        "gettime",
        lua.create_function(|_, ()| Ok(epoch_us() / 1e6))?,
    )?;
    let sleep = |_: &Lua, seconds: f64| {
        // For NaN `max` returns 0.
        let seconds = seconds.max(0.0);
        thread::sleep(Duration::from_secs_f64(seconds.min(LONGEST_SLEEP_S)));
        Ok(())
    };
    host.set("sleep", lua.create_function(sleep)?)
}

fn address(text: &str) -> io::Result<SocketAddr> {
    let parsed = text.parse();
    parsed.map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "this is no address"))
}

/// Returns the time in microseconds since 1970, which a double represents exactly until the year
/// 2255.
fn epoch_us() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_micros() as f64
}

fn summary_table(lua: &Lua, figures: &Figures) -> mlua::Result<Table> {
    let errors = lua.create_table_from([
        ("connect", figures.errors.connect as f64),
        ("read", figures.errors.read as f64),
        ("write", figures.errors.write as f64),
        ("status", figures.bad_statuses as f64),
        ("timeout", figures.errors.timeout as f64),
    ])?;
    let summary = lua.create_table_from([
        ("duration", figures.duration_us as f64),
        ("requests", figures.requests as f64),
        ("bytes", figures.bytes as f64),
    ])?;
    summary.set("errors", errors)?;
    Ok(summary)
}

/// Creates the table for the userdata `latency` and `requests` of `done`.
fn samples_table(lua: &Lua, samples: &Samples, flavour: Flavour) -> mlua::Result<Table> {
    let samples = Arc::new(samples.clone());
    let table = lua.create_table_from([
        ("min", samples.min() as f64),
        ("max", samples.max() as f64),
        ("mean", samples.mean(flavour)),
        ("stdev", samples.stdev(flavour)),
    ])?;
    let own = Arc::clone(&samples);
    let percentile = move |_: &Lua, percent: f64| Ok(own.percentile(flavour, percent) as f64);
    table.set("percentile", lua.create_function(percentile)?)?;
    match flavour {
        Flavour::Wrk => {
            table.set("length", samples.distinct_count() as f64)?;
            let distinct = move |_: &Lua, place: f64| {
                let (value, count) = samples.distinct(place as usize);
                Ok((value as f64, count as f64))
            };
            table.set("distinct", lua.create_function(distinct)?)?;
        }
        Flavour::Wrk2 => {
            table.set("length", samples.count() as f64)?;
            let sample = move |_: &Lua, place: f64| Ok(samples.sample(place as u64) as f64);
            table.set("sample", lua.create_function(sample)?)?;
        }
    }
    Ok(table)
}
