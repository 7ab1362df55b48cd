//! The hub's lag: whether code of a user's keeps gevent's loop from its work, for how long, and
//! where.
//!
//! The hub beats by a timer of its own. A thread looks whether the beat comes: if it stays away for
//! a tenth of a second, the line that the hub's thread is at is the one to blame.

use crate::hub::Hub;
use loadline_reactor::monotonic_ns;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often the hub beats, and the thread looks.
const BEAT: Duration = Duration::from_millis(25);
/// A beat that stays away for longer than this is told.
const PATIENCE_NS: u64 = 100_000_000;
const NS_PER_MS: f64 = 1e6;

/// When the hub beat last, on `CLOCK_MONOTONIC`.
static LAST_BEAT_NS: AtomicU64 = AtomicU64::new(0);
static IS_WATCHED: AtomicBool = AtomicBool::new(false);
static LAG: Mutex<Lag> = Mutex::new(Lag {
    times: 0,
    total_ns: 0,
    most_ns: 0,
    worst: None,
    last: None,
    place: None,
});

/// How late the hub was.
struct Lag {
    times: u64,
    total_ns: u64,
    most_ns: u64,
    /// Where it was for longest.
    worst: Option<String>,
    /// Where it was last.
    last: Option<String>,
    /// Where it is now, and since which beat.
    place: Option<(u64, String)>,
}

/// The hub's timer.
pub(crate) struct Heartbeat {
    _timer: Py<PyAny>,
}

fn lag() -> MutexGuard<'static, Lag> {
    LAG.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Heartbeat {
    /// Has a hub beat.
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
    if late_ns > PATIENCE_NS {
        lag().add(last_ns, late_ns - BEAT.as_nanos() as u64);
    }
}

impl Lag {
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

/// Begins the thread that looks, in this process.
fn watch(py: Python<'_>) -> PyResult<()> {
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let monkey = py.import("gevent.monkey")?;
    let get_ident = monkey.call_method1("get_original", ("_thread", "get_ident"))?;
    let ident: u64 = get_ident.call0()?.extract()?;
    let looking = thread::Builder::new().name("hub-lag".to_owned());
    looking.spawn(move || {
        loop {
            thread::sleep(BEAT);
            look(ident);
        }
    })?;
    Ok(())
}

/// In a child process nobody looks yet.
pub(crate) fn forget() {
    IS_WATCHED.store(false, Ordering::Relaxed);
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
    if late_ns <= PATIENCE_NS || is_known() {
        return;
    }
    let place = Python::try_attach(|py| place(py, ident).ok()).flatten();
    if let Some(place) = place {
        lag().place = Some((beat_ns, place));
    }
}

/// The line of a user's that a thread is at: the innermost one outside of Python's own files, or
/// the innermost of all.
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

/// How often and how long the hub was kept from its work for a tenth of a second or more, where it
/// was longest, and where it was last.
#[pyfunction]
pub(crate) fn hub_lag(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let (times, total_ns, most_ns) = {
        let lag = lag();
        (lag.times, lag.total_ns, lag.most_ns)
    };
    let (worst, last) = {
        let lag = lag();
        (lag.worst.clone(), lag.last.clone())
    };
    let told = PyDict::new(py);
    told.set_item("times", times)?;
    told.set_item("max_ms", most_ns as f64 / NS_PER_MS)?;
    told.set_item("total_ms", total_ns as f64 / NS_PER_MS)?;
    told.set_item("worst", worst)?;
    told.set_item("last", last)?;
    Ok(told)
}
