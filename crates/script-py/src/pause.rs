//! Pauses by the engine's own timers, which are accurate to a few microseconds and cost a fraction
//! of the hub's.

use crate::engine::{Engine, engine};
use crate::waiting::{Arrival, Ticket};
use loadline_reactor::Host;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::rc::Rc;

const NS_PER_SECOND: f64 = 1e9;

/// Waits for this number of seconds; other greenlets run meanwhile.
#[pyfunction]
pub(crate) fn sleep(py: Python<'_>, seconds: &Bound<'_, PyAny>) -> PyResult<()> {
    begin_sleep(py, seconds)?.finish(py)
}

/// A pause that has begun.
struct Pause {
    engine: Rc<Engine>,
    ticket: Ticket,
}

// Separate from the wait for its end: a greenlet that waits keeps a copy of its stack.
#[inline(never)]
fn begin_sleep(py: Python<'_>, seconds: &Bound<'_, PyAny>) -> PyResult<Pause> {
    let seconds: f64 = seconds.extract()?;
    if seconds.is_nan() {
        return Err(PyValueError::new_err(
            "a pause is a number of seconds, not NaN",
        ));
    }
    // A pause of 0 or less ends at once, after all other greenlets that are ready.
    begin(py, engine(py)?, (seconds.max(0.0) * NS_PER_SECOND) as u64)
}

fn begin(py: Python<'_>, engine: Rc<Engine>, pause_ns: u64) -> PyResult<Pause> {
    let mut timer = engine.host().timer();
    let until_ns = engine.host().now_ns().saturating_add(pause_ns);
    let ticket = engine.begin_wait(py, None, |waiting, ticket| async move {
        timer.until(until_ns).await;
        waiting.arrive(ticket, Arrival::Over);
    })?;
    Ok(Pause { engine, ticket })
}

impl Pause {
    fn finish(self, py: Python<'_>) -> PyResult<()> {
        let thrown = self.engine.wait(py, self.ticket);
        self.end(py, thrown)
    }

    #[inline(never)]
    fn end(self, py: Python<'_>, thrown: Option<Box<PyErr>>) -> PyResult<()> {
        self.engine.arrival(py, self.ticket, thrown).map(drop)
    }
}

/// Makes this greenlet wait for this time.
pub(crate) fn pause(py: Python<'_>, engine: &Rc<Engine>, pause_ns: u64) -> PyResult<()> {
    begin(py, Rc::clone(engine), pause_ns)?.finish(py)
}
