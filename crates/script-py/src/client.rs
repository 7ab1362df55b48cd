//! `Client`: sends a user's requests, with a method of its own for each verb.

use crate::call::CallArguments;
use crate::connections::Connections;
use crate::engine::engine;
use crate::sending::{Sending, call, call_given, send};
use crate::stats::Stats;
use crate::template::{Fields, Template};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::sync::Arc;
use url::Url;

/// Sends the requests of a user.
#[pyclass(frozen, subclass, extends = Connections, module = "loadline._native")]
pub(crate) struct Client;

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Connections::default()).add_subclass(Client)
    }

    #[pyo3(signature = (base_url, *, stats=None, flavour="requests"))]
    fn __init__(
        slf: &Bound<'_, Self>,
        base_url: String,
        stats: Option<Py<Stats>>,
        flavour: &str,
    ) -> PyResult<()> {
        let class = slf.getattr("response_class").ok();
        let connections = slf.as_super().get();
        connections.set_up(&base_url, stats, flavour, class)
    }

    /// Sends a GET request.
    #[pyo3(
        signature = (url, **named),
        text_signature = "($self, url, *, data=None, json=None, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "GET", url, [], named)
    }

    /// Sends an OPTIONS request.
    #[pyo3(
        signature = (url, **named),
        text_signature = "($self, url, *, data=None, json=None, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn options<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "OPTIONS", url, [], named)
    }

    /// Sends a HEAD request.
    #[pyo3(
        signature = (url, **named),
        text_signature = "($self, url, *, data=None, json=None, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn head<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "HEAD", url, [], named)
    }

    /// Sends a DELETE request.
    #[pyo3(
        signature = (url, **named),
        text_signature = "($self, url, *, data=None, json=None, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn delete<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "DELETE", url, [], named)
    }

    /// Sends a POST request.
    #[pyo3(
        signature = (url, data=None, json=None, **named),
        text_signature = "($self, url, data=None, json=None, *, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn post<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "POST", url, [("data", data), ("json", json)], named)
    }

    /// Sends a PUT request.
    #[pyo3(
        signature = (url, data=None, **named),
        text_signature = "($self, url, data=None, *, json=None, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn put<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "PUT", url, [("data", data)], named)
    }

    /// Sends a PATCH request.
    #[pyo3(
        signature = (url, data=None, **named),
        text_signature = "($self, url, data=None, *, json=None, name=None, \
            catch_response=None, context=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn patch<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call(slf, "PATCH", url, [("data", data)], named)
    }

    /// Sends a request of any method. Further positional arguments after `name` have the order that
    /// they have in the client of this flavour.
    #[pyo3(
        signature = (method, url, name=None, *places, **named),
        text_signature = "($self, method, url, name=None, *places, catch_response=None, \
            context=None, data=None, json=None, headers=None, params=None, \
            timeout=None, allow_redirects=None, auth=None, **rest)"
    )]
    fn request<'py>(
        slf: &Bound<'py, Self>,
        method: &Bound<'py, PyAny>,
        url: &Bound<'py, PyAny>,
        name: Option<Bound<'py, PyAny>>,
        places: &Bound<'py, PyTuple>,
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut given = CallArguments::of([("name", name)], named)?;
        if !places.is_empty() {
            let flavour = slf.as_super().get().flavour();
            given.place(flavour, places)?;
        }
        match method.cast::<PyString>() {
            Ok(known) => {
                let known = known.to_str()?;
                // The method `head` does not follow redirects by default; a `request` of this name
                // does.
                if known.eq_ignore_ascii_case("HEAD") {
                    given.follow_by_default(slf.py());
                }
                call_given(slf, known, url, given)
            }
            Err(_) => {
                let given = given.all(slf.py())?;
                slf.call_method1("_compose", (method, url, given))
            }
        }
    }

    /// Sends a request that is composed already. Only `Host`, `Content-Length` and the cookies of
    /// the jar are added, where they are missing.
    #[pyo3(signature = (method, url, headers, body=None, *, name, catch_response=false,
        context=None, allow_redirects=true, timeout=None, max_redirects=None, decode=true,
        insecure=None))]
    #[allow(clippy::too_many_arguments)]
    fn send<'py>(
        slf: &Bound<'py, Self>,
        method: Bound<'py, PyString>,
        url: &str,
        headers: Fields,
        body: Option<Vec<u8>>,
        name: Bound<'py, PyString>,
        catch_response: bool,
        context: Option<Bound<'py, PyAny>>,
        allow_redirects: bool,
        timeout: Option<f64>,
        max_redirects: Option<u32>,
        decode: bool,
        insecure: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let refused = |problem: &dyn std::fmt::Display| PyValueError::new_err(problem.to_string());
        let url = Url::parse(url).map_err(|problem| refused(&problem))?;
        if !matches!(url.scheme(), "http" | "https") {
            let sentence = format!(
                "the scheme `{}` is not supported: use http or https",
                url.scheme()
            );
            return Err(PyValueError::new_err(sentence));
        }
        let engine = engine(py)?;
        let current = slf.as_super().get().current(py);
        let fields = Arc::new(headers);
        let sent_method = method.to_str()?.to_uppercase();
        let template = Template::write(&engine, &sent_method, url, fields, body)
            .map_err(|problem| refused(&problem))?;
        let found = match &current.stats {
            None => None,
            Some(stats) => {
                let found = stats.get().find(method.to_str()?, name.to_str()?);
                Some((stats.clone_ref(py), found))
            }
        };
        let sending = Sending {
            template: Arc::new(template),
            name,
            method,
            found,
            flavour: current.style.flavour,
            context,
            is_caught: catch_response,
            redirects: allow_redirects.then(|| max_redirects.unwrap_or(current.max_redirects)),
            timeout: timeout.or(current.timeout),
            decodes: decode,
            insecure,
        };
        send(slf, engine, sending)
    }
}
