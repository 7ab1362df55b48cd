//! `Connections`: the connections, cookies and settings of a user.

use crate::cookies::{CookieRow, row};
use crate::engine::{Engine, Session, engine, existing};
use crate::flavour::Flavour;
use crate::sending::Current;
use crate::stats::Stats;
use crate::style::Style;
use crate::template::Fields;
use loadline_client::ShownCookie;
use loadline_reactor::monotonic_ns;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of redirects, as in requests and in FastHttpUser.
const MOST_REDIRECTS: u32 = 30;

/// Sessions of clients that were freed by other threads than the engine's, by engine and number.
static ABANDONED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The connections and cookies of a user.
#[pyclass(frozen, subclass, module = "loadline._native")]
pub(crate) struct Connections {
    settings: Mutex<Settings>,
    is_plain: AtomicBool,
    insecure: AtomicBool,
    /// The session: the engine's serial number in the upper half, the session's in the lower one; 0
    /// if there is no session.
    session: AtomicU64,
}

/// The settings of a client.
struct Settings {
    style: Arc<Style>,
    stats: Option<Py<Stats>>,
    request_name: Option<Py<PyAny>>,
    response_class: Option<Py<PyType>>,
    network_timeout: Option<f64>,
    connection_timeout: Option<f64>,
    max_redirects: u32,
}

impl Default for Connections {
    fn default() -> Self {
        Connections {
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
}

impl Connections {
    /// Sets the parameters of the constructor: the base of paths, the statistics that count
    /// requests, the client of Locust to imitate, and the class of responses.
    pub(crate) fn set_up(
        &self,
        base_url: &str,
        stats: Option<Py<Stats>>,
        flavour: &str,
        response_class: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let flavour = Flavour::parse(flavour)?;
        let class = response_class.filter(|class| !class.is_none());
        let class = class.map(|class| class.cast_into::<PyType>()).transpose()?;
        self.insecure
            .store(flavour == Flavour::Fast, Ordering::Relaxed);
        let mut settings = self.settings();
        settings.style = Style::of(base_url, flavour, Fields::new());
        settings.stats = stats;
        if let Some(class) = class {
            settings.response_class = Some(class.unbind());
        }
        Ok(())
    }

    /// Returns the client of Locust that it imitates.
    pub(crate) fn flavour(&self) -> Flavour {
        self.settings().style.flavour
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if a plain call has all information of a request.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    /// True if certificates are not verified by default.
    pub(crate) fn takes_any_certificate(&self) -> bool {
        self.insecure.load(Ordering::Relaxed)
    }

    /// Returns the current settings.
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

    /// Returns the class of responses; `None` for the plain one.
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

    /// Returns the session with this engine, opened if there is none.
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

    /// Returns the session, if there is one.
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

fn lock_abandoned() -> MutexGuard<'static, Vec<u64>> {
    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the sessions of clients that other threads freed.
fn close_abandoned(engine: &Engine) {
    let abandoned = std::mem::take(&mut *lock_abandoned());
    let ours = abandoned
        .into_iter()
        .filter(|key| (key >> 32) as u32 == engine.serial);
    ours.for_each(|key| engine.close_session(key as u32));
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.give_up_session();
    }
}
#[pymethods]
impl Connections {
    /// Sets the fields of plain calls, in the order in which they are written.
    fn set_default_headers(&self, headers: Fields) {
        self.restyle(|style| Style::of(&style.base, style.flavour, headers));
    }

    /// Closes the connections. The next request opens new ones.
    fn close(&self) {
        self.give_up_session();
    }

    /// Returns the cookies: name, value, domain, path, true if TLS is required, expiry, true if
    /// hidden from scripts of pages, and true if sent to that host only.
    fn cookies(&self) -> Vec<CookieRow> {
        let session = self.existing_session();
        let jar = session
            .as_ref()
            .and_then(|session| session.existing_cookies());
        let mut cookies = jar.map_or_else(Vec::new, |jar| jar.cookies());
        // The order of the field `Cookie`.
        cookies.sort_by(|a, b| {
            let longer = b.path.len().cmp(&a.path.len());
            longer.then_with(|| a.name.cmp(&b.name))
        });
        cookies.into_iter().map(row).collect()
    }

    /// Puts a cookie into the jar. One without a domain is sent to every host.
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
        session.cookies().put(&cookie);
        Ok(())
    }

    /// Removes cookies from the jar: all, those of a domain, of a path in it, or of a name there.
    #[pyo3(signature = (domain=None, path=None, name=None))]
    fn clear_cookies(&self, domain: Option<&str>, path: Option<&str>, name: Option<&str>) {
        let is = |given: Option<&str>, known: &str| given.is_none_or(|given| given == known);
        let domain = domain.map(|domain| domain.trim_start_matches('.'));
        let session = self.existing_session();
        let jar = session
            .as_ref()
            .and_then(|session| session.existing_cookies());
        if let Some(mut jar) = jar {
            jar.remove(|cookie| {
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

    /// True if a plain call has all information of a request; otherwise Python composes it.
    #[getter]
    fn _is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    #[setter(_is_plain)]
    fn set_is_plain(&self, is_plain: bool) {
        self.is_plain.store(is_plain, Ordering::Relaxed);
    }

    /// True if new connections do not verify certificates.
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

    /// Begins the pacing of the user: its next iteration begins at this instant, and later ones
    /// follow at this interval in seconds. Instants are seconds of `time.perf_counter()`.
    fn _pace(&self, py: Python<'_>, from: f64, every: f64) -> PyResult<()> {
        let session = self.session(&*engine(py)?);
        session
            .requester
            .pace(nanoseconds(from), nanoseconds(every));
        Ok(())
    }

    /// Ends the pacing of the user.
    fn _end_pace(&self) {
        if let Some(session) = self.existing_session() {
            session.requester.end_pace();
        }
    }

    /// Notes the end of an iteration of the user at this instant.
    fn _iteration_ended(&self, now: f64) {
        if let Some(session) = self.existing_session() {
            session.requester.iteration_ended(nanoseconds(now));
        }
    }

    /// Notes the beginning of the user's next iteration.
    fn _iteration_begins(&self) {
        if let Some(session) = self.existing_session() {
            session.requester.iteration_begins(monotonic_ns());
        }
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
