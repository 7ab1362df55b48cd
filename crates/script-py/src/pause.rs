//! Pauses by the engine's own timers, which are on time to a few microseconds and cost a fraction
//! of the hub's.

use crate::engine::engine;
use crate::waiting::Arrival;
use loadline_reactor::Host;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

const NS_PER_SECOND: f64 = 1e9;

/// Waits for so many seconds; other greenlets run meanwhile.
#[pyfunction]
pub(crate) fn sleep(py: Python<'_>, seconds: f64) -> PyResult<()> {
    if seconds.is_nan() {
        return Err(PyValueError::new_err(
            "a pause is a number of seconds, not NaN",
        ));
    }
    let engine = engine(py)?;
    let mut timer = engine.host().timer();
    // What is not above 0 is over at once, behind everybody else.
    let pause_ns = (seconds.max(0.0) * NS_PER_SECOND) as u64;
    let until_ns = engine.host().now_ns().saturating_add(pause_ns);
    let over = async move {
        timer.until(until_ns).await;
        Arrival::Over
    };
    engine.wait(py, over).map(drop)
}
