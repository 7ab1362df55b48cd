//! gevent's hub, on whose thread the engine runs.

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use std::cell::Cell;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The parts of gevent that are used.
pub(crate) struct Hub {
    hub: Py<PyAny>,
    /// Greenlet's own switch to the hub, which returns when another greenlet switches back.
    /// gevent's first checks that the caller is not the hub, which [`Hub::waiter`] does once.
    switch: Py<PyAny>,
    /// `greenlet.getcurrent`.
    current: Py<PyAny>,
    run_callback: Py<PyAny>,
    /// The watcher of the engine's descriptor.
    watcher: Py<PyAny>,
    /// True if the watcher keeps the hub's loop from ending.
    holds: Cell<bool>,
    /// The callback of the hub.
    turn: Py<PyAny>,
}

impl Hub {
    /// Creates a watch of the descriptor by this thread's hub, which calls `turn` whenever it is
    /// readable.
    pub(crate) fn watch(
        py: Python<'_>,
        descriptor: BorrowedFd<'_>,
        turn: Bound<'_, PyAny>,
    ) -> PyResult<Hub> {
        let gevent = py.import("gevent")?;
        let hub = gevent.call_method0("get_hub")?;
        let own_loop = hub.getattr("loop")?;
        let watcher = own_loop.call_method1("io", (descriptor.as_raw_fd(), 1))?;
        watcher.setattr("ref", false)?;
        watcher.call_method1("start", (&turn,))?;
        let greenlet = py.import("greenlet")?.getattr("greenlet")?;
        let switch = greenlet.getattr("switch")?;
        Ok(Hub {
            switch: switch.call_method1("__get__", (&hub,))?.unbind(),
            current: gevent.getattr("getcurrent")?.unbind(),
            run_callback: own_loop.getattr("run_callback")?.unbind(),
            hub: hub.unbind(),
            watcher: watcher.unbind(),
            holds: Cell::new(false),
            turn: turn.unbind(),
        })
    }

    /// Returns the current greenlet, if it may wait.
    ///
    /// # Errors
    /// If it is the hub itself, which must not wait.
    pub(crate) fn waiter(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let current = self.current.call0(py)?;
        if current.is(&self.hub) {
            let sentence = "the event loop itself can't wait for a response: send the request in \
                            a greenlet of its own, with gevent.spawn";
            return Err(PyRuntimeError::new_err(sentence));
        }
        Ok(current)
    }

    /// Lets others run until another greenlet switches back. Returns the exception that was thrown
    /// into this one then. It is boxed, because waiting greenlets keep the space for it.
    pub(crate) fn switch(&self, py: Python<'_>) -> Option<Box<PyErr>> {
        self.switch.call0(py).err().map(Box::new)
    }

    /// Schedules a call of `turn` by the hub.
    pub(crate) fn call_soon(&self, py: Python<'_>) -> PyResult<()> {
        self.run_callback.call1(py, (&self.turn,)).map(drop)
    }

    /// Keeps the loop from ending while `holds` is true: as long as a greenlet waits.
    pub(crate) fn hold(&self, py: Python<'_>, holds: bool) -> PyResult<()> {
        match self.holds.replace(holds) == holds {
            true => Ok(()),
            false => self.watcher.setattr(py, intern!(py, "ref"), holds),
        }
    }

    /// Switches to a greenlet. An exception that ends the greenlet is reported as gevent does.
    pub(crate) fn switch_to(&self, py: Python<'_>, greenlet: &Py<PyAny>) {
        if let Err(error) = greenlet.call_method0(py, intern!(py, "switch")) {
            self.handle_error(py, greenlet, error);
        }
    }

    fn handle_error(&self, py: Python<'_>, greenlet: &Py<PyAny>, error: PyErr) {
        let what = (
            greenlet,
            error.get_type(py),
            error.value(py),
            error.traceback(py),
        );
        let handled = self.hub.call_method1(py, "handle_error", what);
        if let Err(error) = handled {
            error.write_unraisable(py, None);
        }
    }

    /// Stops the watch.
    pub(crate) fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.watcher.call_method0(py, "stop").map(drop)
    }

    /// Returns the loop.
    pub(crate) fn own_loop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.hub.bind(py).getattr("loop")
    }
}
