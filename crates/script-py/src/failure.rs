//! Failures of requests as exceptions of Python.

use crate::fetched::Failure;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

pyo3::create_exception!(
    loadline._native,
    NativeError,
    PyException,
    "What a request failed of: `kind`, `text`, the system's `errno` if it has one, the `limit` \
     that was exceeded, and what had come of the response: `received_bytes` in all, `received` of \
     the `expected` bytes of its body."
);

/// Returns the exception for a failure.
pub(crate) fn native_error<'py>(py: Python<'py>, failure: &Failure) -> PyResult<Bound<'py, PyAny>> {
    let error = py.get_type::<NativeError>().call1((&failure.text,))?;
    error.setattr("kind", failure.kind)?;
    error.setattr("errno", failure.os_error)?;
    error.setattr("text", &failure.text)?;
    error.setattr("limit", failure.limit)?;
    error.setattr("received_bytes", failure.seen.bytes)?;
    error.setattr("received", failure.seen.body)?;
    error.setattr("expected", failure.seen.announced)?;
    Ok(error)
}
