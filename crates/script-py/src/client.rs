//! `Client`: a user's connections and cookies, and what it asks.

use crate::call::Given;
use crate::engine::{Engine, Session, engine, existing};
use crate::flavour::Flavour;
use crate::sending::{Current, Sending, call, send};
use crate::stats::Stats;
use crate::style::Style;
use crate::template::{Fields, Template};
use loadline_client::ShownCookie;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use url::Url;

/// How many redirects are followed, as in requests and in FastHttpUser.
const MOST_REDIRECTS: u32 = 30;

/// Clients that were freed by other threads than the engine's, by engine and number.
static ABANDONED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// A user's connections and cookies.
#[pyclass(frozen, subclass, module = "loadline._native")]
pub(crate) struct Client {
    settings: Mutex<Settings>,
    is_plain: AtomicBool,
    insecure: AtomicBool,
    /// Its session: the engine's serial in the upper half, its number in the lower one; 0 if it has
    /// none.
    session: AtomicU64,
}

/// What is set of a client.
struct Settings {
    style: Arc<Style>,
    stats: Option<Py<Stats>>,
    request_name: Option<Py<PyAny>>,
    response_class: Option<Py<PyType>>,
    network_timeout: Option<f64>,
    connection_timeout: Option<f64>,
    max_redirects: u32,
}

impl Client {
    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a plain call says all of a request.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    /// Whether its connections usually take any certificate.
    pub(crate) fn takes_any_certificate(&self) -> bool {
        self.insecure.load(Ordering::Relaxed)
    }

    /// What is set at present.
    pub(crate) fn current(&self, py: Python<'_>) -> Current {
        let settings = self.settings();
        Current {
            style: Arc::clone(&settings.style),
            stats: settings.stats.as_ref().map(|stats| stats.clone_ref(py)),
            request_name: settings
                .request_name
                .as_ref()
                .map(|name| name.clone_ref(py)),
            timeout: settings.network_timeout,
            max_redirects: settings.max_redirects,
        }
    }

    /// The class of its responses; the plain one if `None`.
    pub(crate) fn response_class(&self, py: Python<'_>) -> Option<Py<PyType>> {
        let settings = self.settings();
        settings
            .response_class
            .as_ref()
            .map(|class| class.clone_ref(py))
    }

    fn restyle(&self, restyled: impl FnOnce(&Style) -> Arc<Style>) {
        let mut settings = self.settings();
        settings.style = restyled(&settings.style);
    }

    /// Its session with this engine, opened if there is none.
    pub(crate) fn session(&self, engine: &Engine) -> Rc<Session> {
        let key = self.session.load(Ordering::Relaxed);
        let session = match (key >> 32) as u32 == engine.serial {
            true => engine.session(key as u32),
            false => None,
        };
        session.unwrap_or_else(|| {
            close_abandoned(engine);
            let (number, session) = engine.open_session();
            let key = u64::from(engine.serial) << 32 | u64::from(number);
            self.session.store(key, Ordering::Relaxed);
            session
        })
    }

    /// Its session, if it has one.
    fn existing_session(&self) -> Option<Rc<Session>> {
        let key = self.session.load(Ordering::Relaxed);
        let engine = existing()?;
        let is_of_engine = (key >> 32) as u32 == engine.serial;
        is_of_engine.then(|| engine.session(key as u32))?
    }

    fn give_up_session(&self) {
        let key = self.session.swap(0, Ordering::Relaxed);
        if key == 0 {
            return;
        }
        match existing() {
            Some(engine) if engine.serial == (key >> 32) as u32 => engine.close_session(key as u32),
            Some(_) => {}
            None => lock_abandoned().push(key),
        }
    }
}

/// A cookie as Python's side reads it.
type CookieRow = (
    String,
    String,
    String,
    String,
    bool,
    Option<i64>,
    bool,
    bool,
);

fn row(cookie: ShownCookie) -> CookieRow {
    (
        cookie.name,
        cookie.value,
        cookie.domain,
        cookie.path,
        cookie.secure,
        cookie.expires_s,
        cookie.http_only,
        cookie.host_only,
    )
}

fn lock_abandoned() -> MutexGuard<'static, Vec<u64>> {
    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the connections of clients that were freed elsewhere.
fn close_abandoned(engine: &Engine) {
    let abandoned = std::mem::take(&mut *lock_abandoned());
    let ours = abandoned
        .into_iter()
        .filter(|key| (key >> 32) as u32 == engine.serial);
    ours.for_each(|key| engine.close_session(key as u32));
}

impl Drop for Client {
    fn drop(&mut self) {
        self.give_up_session();
    }
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Client {
            settings: Mutex::new(Settings {
                style: Style::of("", Flavour::Requests, Fields::new()),
                stats: None,
                request_name: None,
                response_class: None,
                network_timeout: None,
                connection_timeout: None,
                max_redirects: MOST_REDIRECTS,
            }),
            is_plain: AtomicBool::new(true),
            insecure: AtomicBool::new(false),
            session: AtomicU64::new(0),
        }
    }

    #[pyo3(signature = (base_url, *, stats=None, flavour="requests"))]
    fn __init__(
        slf: &Bound<'_, Self>,
        base_url: String,
        stats: Option<Py<Stats>>,
        flavour: &str,
    ) -> PyResult<()> {
        let flavour = Flavour::parse(flavour)?;
        let class = slf.getattr("response_class").ok();
        let class = class.filter(|class| !class.is_none());
        let class = class.map(|class| class.cast_into::<PyType>()).transpose()?;
        let client = slf.get();
        client
            .insecure
            .store(flavour == Flavour::Fast, Ordering::Relaxed);
        let mut settings = client.settings();
        settings.style = Style::of(&base_url, flavour, Fields::new());
        settings.stats = stats;
        if let Some(class) = class {
            settings.response_class = Some(class.unbind());
        }
        Ok(())
    }

    /// Asks for something: GET.
    #[pyo3(signature = (url, *, data=None, json=None, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "GET", url, given)
    }

    /// Asks what can be done: OPTIONS.
    #[pyo3(signature = (url, *, data=None, json=None, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn options<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "OPTIONS", url, given)
    }

    /// Asks for the head: HEAD.
    #[pyo3(signature = (url, *, data=None, json=None, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn head<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "HEAD", url, given)
    }

    /// Deletes something: DELETE.
    #[pyo3(signature = (url, *, data=None, json=None, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn delete<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "DELETE", url, given)
    }

    /// Sends something: POST.
    #[pyo3(signature = (url, data=None, json=None, *, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn post<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "POST", url, given)
    }

    /// Stores something: PUT.
    #[pyo3(signature = (url, data=None, *, json=None, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn put<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "PUT", url, given)
    }

    /// Changes something: PATCH.
    #[pyo3(signature = (url, data=None, *, json=None, name=None, catch_response=None, context=None,
        headers=None, params=None, timeout=None, allow_redirects=None, auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn patch<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        name: Option<Bound<'py, PyAny>>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        call(slf, "PATCH", url, given)
    }

    /// Sends a request of any method. What is given by its place behind the name stands where the
    /// client of this flavour has it.
    #[pyo3(signature = (method, url, name=None, *places, catch_response=None, context=None,
        data=None, json=None, headers=None, params=None, timeout=None, allow_redirects=None,
        auth=None, **rest))]
    #[allow(clippy::too_many_arguments)]
    fn request<'py>(
        slf: &Bound<'py, Self>,
        method: &Bound<'py, PyAny>,
        url: &Bound<'py, PyAny>,
        name: Option<Bound<'py, PyAny>>,
        places: &Bound<'py, PyTuple>,
        catch_response: Option<Bound<'py, PyAny>>,
        context: Option<Bound<'py, PyAny>>,
        data: Option<Bound<'py, PyAny>>,
        json: Option<Bound<'py, PyAny>>,
        headers: Option<Bound<'py, PyAny>>,
        params: Option<Bound<'py, PyAny>>,
        timeout: Option<Bound<'py, PyAny>>,
        allow_redirects: Option<Bound<'py, PyAny>>,
        auth: Option<Bound<'py, PyAny>>,
        rest: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut given = Given {
            name,
            catch_response,
            context,
            data,
            json,
            headers,
            params,
            timeout,
            allow_redirects,
            auth,
            rest,
        };
        if !places.is_empty() {
            let flavour = slf.get().settings().style.flavour;
            given.place(flavour, places)?;
        }
        match method.cast::<PyString>() {
            Ok(known) => call(slf, known.to_str()?, url, given),
            Err(_) => {
                let given = given.all(slf.py())?;
                slf.call_method1("_compose", (method, url, given))
            }
        }
    }

    /// Sends a request that is composed already: no field is added but `Host`, `Content-Length` and
    /// the cookies of the jar, where they are missing.
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
        let current = slf.get().current(py);
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
        send(slf, &engine, sending)
    }

    /// Sets the fields of plain calls, in the order in which they are written.
    fn set_default_headers(&self, headers: Fields) {
        self.restyle(|style| Style::of(&style.base, style.flavour, headers));
    }

    /// Closes its connections. The next request opens new ones.
    fn close(&self) {
        self.give_up_session();
    }

    /// Its cookies: name, value, domain, path, whether they go over TLS only, when they run out,
    /// whether scripts of pages may not see them, and whether they go to that host only.
    fn cookies(&self) -> Vec<CookieRow> {
        self.existing_session().map_or_else(Vec::new, |session| {
            let mut cookies = session.jar.borrow().cookies();
            // As they stand in the header.
            cookies.sort_by(|a, b| {
                let longer = b.path.len().cmp(&a.path.len());
                longer.then_with(|| a.name.cmp(&b.name))
            });
            cookies.into_iter().map(row).collect()
        })
    }

    /// Puts a cookie into its jar; one without a domain goes to every host.
    #[pyo3(signature = (name, value, domain="", path="/", secure=false, expires=None,
        http_only=false, host_only=false))]
    #[allow(clippy::too_many_arguments)]
    fn set_cookie(
        &self,
        py: Python<'_>,
        name: String,
        value: String,
        domain: &str,
        path: &str,
        secure: bool,
        expires: Option<i64>,
        http_only: bool,
        host_only: bool,
    ) -> PyResult<()> {
        let cookie = ShownCookie {
            name,
            value,
            domain: domain.to_owned(),
            path: path.to_owned(),
            secure,
            http_only,
            expires_s: expires,
            host_only,
        };
        let session = self.session(&*engine(py)?);
        session.has_cookies.set(true);
        session.jar.borrow_mut().put(&cookie);
        Ok(())
    }

    /// Takes cookies out of its jar: all, those of a domain, of a path in it, or of a name there.
    #[pyo3(signature = (domain=None, path=None, name=None))]
    fn clear_cookies(&self, domain: Option<&str>, path: Option<&str>, name: Option<&str>) {
        let is = |wanted: Option<&str>, known: &str| wanted.is_none_or(|wanted| wanted == known);
        let domain = domain.map(|domain| domain.trim_start_matches('.'));
        if let Some(session) = self.existing_session() {
            session.jar.borrow_mut().remove(|cookie| {
                is(domain, &cookie.domain) && is(path, &cookie.path) && is(name, &cookie.name)
            });
        }
    }

    #[getter]
    fn base_url(&self) -> String {
        self.settings().style.base.clone()
    }

    #[setter]
    fn set_base_url(&self, base_url: &str) {
        self.restyle(|style| Style::of(base_url, style.flavour, Fields::clone(&style.fields)));
    }

    #[getter]
    fn request_name(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let settings = self.settings();
        settings
            .request_name
            .as_ref()
            .map(|name| name.clone_ref(py))
    }

    #[setter]
    fn set_request_name(&self, name: Option<Py<PyAny>>) {
        let before = std::mem::replace(&mut self.settings().request_name, name);
        drop(before);
    }

    /// Whether a plain call says all of a request: otherwise Python composes it.
    #[getter]
    fn _is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    #[setter(_is_plain)]
    fn set_is_plain(&self, is_plain: bool) {
        self.is_plain.store(is_plain, Ordering::Relaxed);
    }

    /// Whether its next connections take any certificate.
    #[getter]
    fn insecure(&self) -> bool {
        self.insecure.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_insecure(&self, insecure: bool) {
        self.insecure.store(insecure, Ordering::Relaxed);
    }

    #[getter]
    fn network_timeout(&self) -> Option<f64> {
        self.settings().network_timeout
    }

    #[setter]
    fn set_network_timeout(&self, seconds: Option<f64>) {
        self.settings().network_timeout = seconds;
    }

    #[getter]
    fn connection_timeout(&self) -> Option<f64> {
        self.settings().connection_timeout
    }

    #[setter]
    fn set_connection_timeout(&self, seconds: Option<f64>) {
        self.settings().connection_timeout = seconds;
    }

    #[getter]
    fn max_redirects(&self) -> u32 {
        self.settings().max_redirects
    }

    #[setter]
    fn set_max_redirects(&self, most: u32) {
        self.settings().max_redirects = most;
    }
}
