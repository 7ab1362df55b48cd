//! The hub's lag: the time that user code blocks gevent's loop, and the line of that code.
//!
//! The hub beats by a timer of its own, and a thread watches the beats. If there is no beat for a
//! tenth of a second, the current line of the hub's thread is the cause.
//!
//! The thread attaches to Python to read that line. CPython before 3.14 ends a thread that waits to
//! be attached while the interpreter ends, by unwinding its stack, which aborts the process at the
//! first frame of Rust. So the thread is ended and joined before that, by `atexit`.

use crate::hub::Hub;
use loadline_reactor::monotonic_ns;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The interval of the hub's beats, and of the thread's checks.
const BEAT: Duration = Duration::from_millis(25);
/// The time without a beat after which a lag is reported.
const NOTICEABLE_NS: u64 = 100_000_000;
const NS_PER_MS: f64 = 1e6;

/// The time of the last beat, on `CLOCK_MONOTONIC`.
static LAST_BEAT_NS: AtomicU64 = AtomicU64::new(0);
static WATCH: Mutex<Watch> = Mutex::new(Watch::NotYet);
static LAG: Mutex<Lag> = Mutex::new(Lag::NONE);

/// The measured lag of the hub.
#[derive(Clone)]
struct Lag {
    times: u64,
    total_ns: u64,
    most_ns: u64,
    /// The place of the longest lag.
    worst: Option<String>,
    /// The place of the last lag.
    last: Option<String>,
    /// The place of the current lag, with the time of the beat before it.
    place: Option<(u64, String)>,
}

/// The watching thread.
enum Watch {
    /// Not started yet.
    NotYet,
    /// Running until `is_over` is set.
    Looking {
        is_over: Arc<AtomicBool>,
        thread: JoinHandle<()>,
    },
    /// Not to be started, because the interpreter ends.
    Over,
}

/// The timer of the hub's beats.
pub(crate) struct Heartbeat {
    _timer: Py<PyAny>,
}

fn lag() -> MutexGuard<'static, Lag> {
    LAG.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Heartbeat {
    /// Starts the beats of a hub.
    pub(crate) fn begin(py: Python<'_>, hub: &Hub) -> PyResult<Heartbeat> {
        let beat_s = BEAT.as_secs_f64();
        let timer = hub.own_loop(py)?.call_method1("timer", (beat_s, beat_s))?;
        timer.setattr("ref", false)?;
        timer.call_method1("start", (wrap_pyfunction!(beat, py)?,))?;
        LAST_BEAT_NS.store(monotonic_ns(), Ordering::Relaxed);
        watch(py)?;
        Ok(Heartbeat {
            _timer: timer.unbind(),
        })
    }
}

#[pyfunction]
fn beat() {
    let now_ns = monotonic_ns();
    let last_ns = LAST_BEAT_NS.swap(now_ns, Ordering::Relaxed);
    let late_ns = now_ns.saturating_sub(last_ns);
    if late_ns > NOTICEABLE_NS {
        lag().add(last_ns, late_ns - BEAT.as_nanos() as u64);
    }
}

impl Lag {
    const NONE: Lag = Lag {
        times: 0,
        total_ns: 0,
        most_ns: 0,
        worst: None,
        last: None,
        place: None,
    };

    fn add(&mut self, since_ns: u64, late_ns: u64) {
        self.times += 1;
        self.total_ns += late_ns;
        let place = self
            .place
            .take()
            .filter(|(beat_ns, _)| *beat_ns == since_ns);
        self.last = place.map(|(_, place)| place);
        if late_ns > self.most_ns {
            self.most_ns = late_ns;
            self.worst = self.last.clone();
        }
    }
}

fn watching() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the watching thread in this process.
fn watch(py: Python<'_>) -> PyResult<()> {
    if !matches!(*watching(), Watch::NotYet) {
        return Ok(());
    }
    let monkey = py.import("gevent.monkey")?;
    let get_ident = monkey.call_method1("get_original", ("_thread", "get_ident"))?;
    let ident: u64 = get_ident.call0()?.extract()?;
    let end = wrap_pyfunction!(end_watch, py)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    let is_over = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&is_over);
    let looking = thread::Builder::new().name("hub-lag".to_owned());
    let thread = looking.spawn(move || {
        while !shared.load(Ordering::Relaxed) {
            look(ident);
            thread::park_timeout(BEAT);
        }
    })?;
    *watching() = Watch::Looking { is_over, thread };
    Ok(())
}

/// Ends the watching thread, before the interpreter ends. This thread is detached meanwhile,
/// because the other one may be waiting to be attached.
#[pyfunction]
fn end_watch(py: Python<'_>) {
    let ended = mem::replace(&mut *watching(), Watch::Over);
    if let Watch::Looking { is_over, thread } = ended {
        is_over.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        // Its result has no information, even if it panicked.
        let _ = py.detach(|| thread.join());
    }
}

/// Resets the state in a child process, where the parent's thread does not exist.
pub(crate) fn forget() {
    mem::forget(mem::replace(&mut *watching(), Watch::NotYet));
}

fn look(ident: u64) {
    let beat_ns = LAST_BEAT_NS.load(Ordering::Relaxed);
    let late_ns = monotonic_ns().saturating_sub(beat_ns);
    let is_known = || {
        let lag = lag();
        lag.place
            .as_ref()
            .is_some_and(|(known, _)| *known == beat_ns)
    };
    if late_ns <= NOTICEABLE_NS || is_known() {
        return;
    }
    let place = Python::try_attach(|py| place(py, ident).ok()).flatten();
    if let Some(place) = place {
        lag().place = Some((beat_ns, place));
    }
}

/// Returns the current line of a thread: the innermost one outside of Python's own files and
/// installed packages, or the innermost of all.
fn place(py: Python<'_>, ident: u64) -> PyResult<String> {
    let sys = py.import("sys")?;
    let frames = sys.call_method0("_current_frames")?;
    let innermost = frames.get_item(ident)?;
    let library: String = py
        .import("sysconfig")?
        .call_method1("get_path", ("stdlib",))?
        .extract()?;
    let is_own = |frame: &Bound<'_, PyAny>| {
        let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
        PyResult::Ok(!file.starts_with(&library) && !file.contains("site-packages"))
    };
    let mut frame = innermost.clone();
    while !is_own(&frame)? {
        frame = frame.getattr("f_back")?;
        if frame.is_none() {
            return described(&innermost);
        }
    }
    described(&frame)
}

fn described(frame: &Bound<'_, PyAny>) -> PyResult<String> {
    let code = frame.getattr("f_code")?;
    let file: String = code.getattr("co_filename")?.extract()?;
    let name: String = code.getattr("co_name")?.extract()?;
    let line: u32 = frame.getattr("f_lineno")?.extract()?;
    let cache = frame.py().import("linecache")?;
    let source: String = cache.call_method1("getline", (&file, line))?.extract()?;
    let file = file.rsplit('/').next().unwrap_or_default();
    Ok(format!("{file}:{line} in {name}: {}", source.trim()))
}

/// Returns how often and how long the hub was blocked for a tenth of a second or more, and the
/// places of the longest and of the last time; `forget` resets the counts.
#[pyfunction]
#[pyo3(signature = (forget=false))]
pub(crate) fn hub_lag(py: Python<'_>, forget: bool) -> PyResult<Bound<'_, PyDict>> {
    let known = {
        let mut lag = lag();
        let known = lag.clone();
        if forget {
            *lag = Lag::NONE;
        }
        known
    };
    let shown = PyDict::new(py);
    shown.set_item("times", known.times)?;
    shown.set_item("max_ms", known.most_ns as f64 / NS_PER_MS)?;
    shown.set_item("total_ms", known.total_ns as f64 / NS_PER_MS)?;
    shown.set_item("worst", known.worst)?;
    shown.set_item("last", known.last)?;
    Ok(shown)
}
