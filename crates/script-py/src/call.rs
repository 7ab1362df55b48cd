//! A call of a client's method: the arguments that are handled here, and their effect on the
//! request.

use crate::flavour::Flavour;
use crate::style::Style;
use crate::template::{Fields, has_field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString, PyTuple};
use std::sync::Arc;

/// The methods with a function of their own; the index is their number in a style's table of calls.
pub(crate) const METHODS: [&str; 7] = ["GET", "OPTIONS", "HEAD", "DELETE", "POST", "PUT", "PATCH"];

/// The arguments of a call, except method and URL.
#[derive(Default)]
pub(crate) struct CallArguments<'py> {
    pub(crate) name: Option<Bound<'py, PyAny>>,
    pub(crate) catch_response: Option<Bound<'py, PyAny>>,
    pub(crate) context: Option<Bound<'py, PyAny>>,
    pub(crate) data: Option<Bound<'py, PyAny>>,
    pub(crate) json: Option<Bound<'py, PyAny>>,
    pub(crate) headers: Option<Bound<'py, PyAny>>,
    pub(crate) params: Option<Bound<'py, PyAny>>,
    pub(crate) timeout: Option<Bound<'py, PyAny>>,
    pub(crate) allow_redirects: Option<Bound<'py, PyAny>>,
    pub(crate) auth: Option<Bound<'py, PyAny>>,
    /// Further arguments, which are left to Python.
    pub(crate) rest: Option<Bound<'py, PyDict>>,
}

/// The additions of a call to the plain request of its path.
pub(crate) enum Added {
    /// No additions.
    Nothing,
    /// Fields of its own, or a body.
    This(Arc<Fields>, Option<Vec<u8>>),
    /// Additions that Python has to evaluate.
    Unknown,
}

/// The timeout of a call.
pub(crate) enum CallTimeout {
    /// The client's timeout.
    Usual,
    /// This number of seconds.
    Seconds(f64),
    /// A value that Python has to evaluate.
    Unknown,
}

impl<'py> CallArguments<'py> {
    /// Collects positional and named arguments. A named argument of None counts as not given.
    ///
    /// # Errors
    /// If a name is not a text.
    pub(crate) fn of<const COUNT: usize>(
        placed: [(&str, Option<Bound<'py, PyAny>>); COUNT],
        named: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let mut given = CallArguments::default();
        for (name, value) in placed {
            if let Some(place) = given.place_of(name) {
                *place = value;
            }
        }
        for (key, value) in named.iter().flatten() {
            let key = key.cast_into::<PyString>()?;
            match given.place_of(key.to_str()?) {
                Some(place) => *place = Some(value).filter(|value| !value.is_none()),
                None => given.rest(value.py()).set_item(key, value)?,
            }
        }
        Ok(given)
    }

    /// Returns the field for the argument of this name; `None` if it is left to Python.
    fn place_of(&mut self, name: &str) -> Option<&mut Option<Bound<'py, PyAny>>> {
        Some(match name {
            "name" => &mut self.name,
            "catch_response" => &mut self.catch_response,
            "context" => &mut self.context,
            "data" => &mut self.data,
            "json" => &mut self.json,
            "headers" => &mut self.headers,
            "params" => &mut self.params,
            "timeout" => &mut self.timeout,
            "allow_redirects" => &mut self.allow_redirects,
            "auth" => &mut self.auth,
            _ => return None,
        })
    }

    fn rest(&mut self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.rest.get_or_insert_with(|| PyDict::new(py))
    }

    /// True if all given arguments are handled here.
    pub(crate) fn is_known(&self) -> bool {
        let is_none = |value: &Option<Bound<'py, PyAny>>| value.is_none();
        let has_rest = self.rest.as_ref().is_some_and(|rest| !rest.is_empty());
        is_none(&self.params) && is_none(&self.auth) && !has_rest
    }

    /// Returns all given arguments, by name.
    pub(crate) fn all(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.rest.unwrap_or_else(|| PyDict::new(py));
        for (name, value) in [
            ("name", self.name),
            ("catch_response", self.catch_response),
            ("context", self.context),
            ("data", self.data),
            ("json", self.json),
            ("headers", self.headers),
            ("params", self.params),
            ("timeout", self.timeout),
            ("allow_redirects", self.allow_redirects),
            ("auth", self.auth),
        ] {
            if let Some(value) = value {
                all.set_item(name, value)?;
            }
        }
        Ok(all)
    }

    /// Takes the positional arguments after `name`.
    ///
    /// # Errors
    /// If an argument was given twice, or if there are too many.
    pub(crate) fn place(&mut self, flavour: Flavour, places: &Bound<'py, PyTuple>) -> PyResult<()> {
        let names: &[&str] = match flavour {
            Flavour::Requests => &["catch_response", "context"],
            Flavour::Fast => &[
                "data",
                "catch_response",
                "stream",
                "headers",
                "auth",
                "json",
                "allow_redirects",
                "context",
            ],
        };
        if places.len() > names.len() {
            let sentence = format!(
                "request() takes at most {} arguments by their places",
                names.len() + 3
            );
            return Err(PyTypeError::new_err(sentence));
        }
        for (name, value) in names.iter().zip(places.iter()) {
            self.put(name, value)?;
        }
        Ok(())
    }

    fn put(&mut self, name: &str, value: Bound<'py, PyAny>) -> PyResult<()> {
        let field = match name {
            "catch_response" => &mut self.catch_response,
            "context" => &mut self.context,
            "data" => &mut self.data,
            "json" => &mut self.json,
            "headers" => &mut self.headers,
            "allow_redirects" => &mut self.allow_redirects,
            "auth" => &mut self.auth,
            // `stream` without effect is the default.
            _ if !value.is_truthy()? => return Ok(()),
            other => {
                return self.rest(value.py()).set_item(other, value);
            }
        };
        if field.is_some() {
            let sentence = format!("request() got multiple values for argument '{name}'");
            return Err(PyTypeError::new_err(sentence));
        }
        *field = Some(value).filter(|value| !value.is_none());
        Ok(())
    }

    pub(crate) fn is_caught(&self) -> PyResult<bool> {
        is_truthy(self.catch_response.as_ref())
    }

    /// Returns true if redirects are followed; `None` if the call has no such argument.
    pub(crate) fn follows(&self) -> PyResult<Option<bool>> {
        self.allow_redirects
            .as_ref()
            .map(Bound::is_truthy)
            .transpose()
    }

    /// Makes the call follow redirects unless its argument is given.
    pub(crate) fn follow_by_default(&mut self, py: Python<'py>) {
        self.allow_redirects
            .get_or_insert_with(|| PyBool::new(py, true).to_owned().into_any());
    }

    pub(crate) fn call_timeout(&self) -> CallTimeout {
        match &self.timeout {
            None => CallTimeout::Usual,
            Some(seconds) => match seconds.extract::<f64>() {
                Ok(seconds) if seconds > 0.0 => CallTimeout::Seconds(seconds),
                _ => CallTimeout::Unknown,
            },
        }
    }

    /// Returns the additions to the plain request of a style.
    pub(crate) fn added(&self, style: &Style) -> PyResult<Added> {
        if self.data.is_none() && self.json.is_none() && self.headers.is_none() {
            return Ok(Added::Nothing);
        }
        let mut fields = Fields::clone(&style.fields);
        if let Some(headers) = &self.headers
            && !add_headers(&mut fields, headers)
        {
            return Ok(Added::Unknown);
        }
        Ok(match self.body(style.flavour, &mut fields)? {
            Body::None => Added::This(Arc::new(fields), None),
            Body::Of(body) => Added::This(Arc::new(fields), Some(body)),
            Body::Unknown => Added::Unknown,
        })
    }

    /// Returns the body, and adds the fields that describe it.
    fn body(&self, flavour: Flavour, fields: &mut Fields) -> PyResult<Body> {
        if let Some(data) = &self.data
            && data.is_truthy()?
        {
            let (body, is_text) = if let Ok(bytes) = data.cast_exact::<PyBytes>() {
                (bytes.as_bytes().to_vec(), false)
            } else if let Ok(text) = data.cast_exact::<PyString>() {
                (text.to_str()?.as_bytes().to_vec(), true)
            } else {
                return Ok(Body::Unknown);
            };
            if let Some(kind) = flavour.content_type(is_text) {
                add_missing(fields, "Content-Type", kind);
            }
            return Ok(Body::Of(body));
        }
        let Some(json) = &self.json else {
            return Ok(Body::None);
        };
        let Ok(body) = dumped(json, flavour) else {
            return Ok(Body::Unknown);
        };
        add_missing(fields, "Content-Type", "application/json");
        if flavour == Flavour::Fast {
            add_missing(fields, "Accept", "application/json");
        }
        Ok(Body::Of(body))
    }
}

enum Body {
    None,
    Of(Vec<u8>),
    Unknown,
}

/// Returns true if a value was given that counts as true.
pub(crate) fn is_truthy(value: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    value.map_or(Ok(false), Bound::is_truthy)
}

fn add_missing(fields: &mut Fields, name: &str, value: &str) {
    if !has_field(fields, name) {
        fields.push((name.to_owned(), value.to_owned()));
    }
}

/// Sets fields in place of those with the same names; None removes a field. Returns false if a name
/// or value is not a text, or `headers` is not a dictionary.
fn add_headers(fields: &mut Fields, headers: &Bound<'_, PyAny>) -> bool {
    let Ok(headers) = headers.cast_exact::<PyDict>() else {
        return false;
    };
    for (name, value) in headers.iter() {
        let Ok(name) = name.extract::<String>() else {
            return false;
        };
        fields.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        if value.is_none() {
            continue;
        }
        match value.extract::<String>() {
            Ok(value) if value.is_ascii() => fields.push((name, value)),
            _ => return false,
        }
    }
    true
}

/// Returns an object as JSON, as the client of this flavour encodes it.
fn dumped(json: &Bound<'_, PyAny>, flavour: Flavour) -> PyResult<Vec<u8>> {
    static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = json.py();
    let dumps = DUMPS.get_or_try_init(py, || {
        let dumps = py.import("json")?.getattr("dumps")?;
        PyResult::Ok(dumps.unbind())
    })?;
    let options = PyDict::new(py);
    if flavour == Flavour::Requests {
        options.set_item("allow_nan", false)?;
    }
    let text = dumps.bind(py).call((json,), Some(&options))?;
    Ok(text.cast::<PyString>()?.to_str()?.as_bytes().to_vec())
}
