//! What ties a child process to its parent.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Has this process killed as soon as its parent ends, however busy it is. Returns whether the
/// process of this id is its parent still.
///
/// # Errors
/// If the kernel refuses.
#[pyfunction]
pub(crate) fn end_with_parent(pid: i32) -> PyResult<bool> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == pid))
}
