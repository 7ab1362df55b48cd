//! The end of a child process together with its parent.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Makes the kernel kill this process as soon as its parent ends, however busy it is. Returns true
/// if the process with this id is still its parent.
///
/// # Errors
/// If the kernel refuses.
#[pyfunction]
pub(crate) fn end_with_parent(pid: i32) -> PyResult<bool> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == pid))
}
