//! A request as a script specifies it: its URL, body and params.

use super::body::{self, RequestBody};
use super::expectation;
use super::fields::{Fields, canonical};
use super::held;
use super::state::{Expectation, Jar};
use super::target::{InvalidTarget, Target};
use crate::api::k6::read_tags;
use crate::errors::not_supported;
use crate::native::{Call, Text, lossy};
use crate::run::{HttpOptions, Level};
use crate::vu::Vu;
use rquickjs::{Coerced, FromJs, Object, Result, Value};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

/// The default timeout of a request, redirects included.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The options in a script's first initialisation, which has no run.
static USUAL: LazyLock<HttpOptions> = LazyLock::new(HttpOptions::default);

/// A request as a script specifies it.
#[derive(Clone, Debug)]
pub(crate) struct ScriptRequest {
    pub(crate) method: Cow<'static, str>,
    pub(crate) target: Rc<Target>,
    /// The name under which it is counted, in place of its URL.
    pub(crate) name: Option<String>,
    pub(crate) headers: Fields,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timeout: Duration,
    pub(crate) redirects: u32,
    /// True if the limit of redirects is given explicitly, so that exceeding it is not logged.
    pub(crate) is_redirects_own: bool,
    /// Cookies of this request only: name, value, and true if the cookie replaces those of the jar
    /// with its name.
    pub(crate) cookies: Vec<(String, String, bool)>,
    pub(crate) jar: Rc<Jar>,
    /// True for digest authentication.
    pub(crate) is_digest: bool,
    pub(crate) response: ResponseType,
    pub(crate) expectation: Option<Rc<Expectation>>,
    pub(crate) throws: bool,
    pub(crate) tags: Vec<(String, String)>,
    /// The `Content-Length` that a script gives; the real length of the body is sent instead.
    given_length: Option<String>,
}

/// The form in which a script receives a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseType {
    /// A text.
    Text,
    /// An `ArrayBuffer`.
    Binary,
    /// No body.
    None,
}

/// The reason why a request can't be made.
pub(crate) struct RefusedRequest {
    /// k6's error code.
    pub(crate) code: u16,
    /// The message.
    pub(crate) text: String,
}

/// The reason why params or a body can't be read.
pub(crate) enum UnreadableParams {
    /// They are refused: the response has the reason, and nothing is thrown.
    Refused(String),
    /// Reading them threw an exception.
    Thrown(rquickjs::Error),
}

impl From<rquickjs::Error> for UnreadableParams {
    fn from(error: rquickjs::Error) -> Self {
        UnreadableParams::Thrown(error)
    }
}

/// The result of reading params or a body.
pub(crate) type Read<T> = std::result::Result<T, UnreadableParams>;

/// k6's error code for an invalid URL; refused params and bodies have the code 0.
pub(crate) const INVALID_URL: u16 = 1020;

/// The default maximum of redirects to follow.
const USUAL_REDIRECTS: u32 = 10;

impl ScriptRequest {
    /// Reads a request: its URL, its body, its params.
    pub(crate) fn read<'js>(
        call: &Call<'_, 'js>,
        vu: &Rc<Vu>,
        method: Cow<'static, str>,
        (url, body, params): (&Value<'js>, &Value<'js>, &Value<'js>),
    ) -> Result<std::result::Result<Box<ScriptRequest>, RefusedRequest>> {
        let read = url_of(call, url)?.and_then(|(text, name)| {
            let target = vu.worker.targets.of(&text, &*vu.program.secrets)?;
            Ok((target, name))
        });
        let (target, name) = match read {
            Ok(read) => read,
            Err(problem) => return Ok(Err(RefusedRequest::new(INVALID_URL, problem.to_string()))),
        };
        let options = match &vu.run {
            Some(run) => &run.options.http,
            None => &*USUAL,
        };
        let mut script_request = Box::new(ScriptRequest {
            method,
            target,
            name,
            headers: Rc::clone(vu.worker.usual_fields(options)),
            body: None,
            timeout: TIMEOUT,
            redirects: options.max_redirects.unwrap_or(USUAL_REDIRECTS),
            is_redirects_own: options.max_redirects.is_some(),
            cookies: Vec::new(),
            jar: Rc::clone(&vu.http.jar),
            is_digest: false,
            response: match options.discards_bodies {
                true => ResponseType::None,
                false => ResponseType::Text,
            },
            expectation: vu.http.expectation.borrow().clone(),
            throws: options.throws,
            tags: Vec::new(),
            given_length: None,
        });
        match script_request.read_given(call, body, params) {
            Ok(()) => {}
            Err(UnreadableParams::Thrown(error)) => return Err(error),
            Err(UnreadableParams::Refused(text)) => return Ok(Err(RefusedRequest::new(0, text))),
        }
        script_request.leave_out_usual_agent(vu.worker.usual_fields(options).len());
        script_request.warn_of_length(vu);
        Ok(Ok(script_request))
    }

    /// Logs that the `Content-Length` of the script differs from the length of the body.
    fn warn_of_length(&self, vu: &Vu) {
        let bytes = self.body.as_ref().map_or(0, Vec::len);
        let given = self.given_length.as_ref();
        if let Some(given) = given.filter(|given| **given != bytes.to_string()) {
            let (method, url) = (&self.method, &self.target.shown);
            let message = format!(
                "The specified Content-Length header \"{given}\" in the {method} request for {url} \
                 doesn't match the actual request body length of {bytes}, so it will be ignored!"
            );
            vu.program.log(Level::Warning, &message, &[]);
        }
    }

    fn read_given<'js>(
        &mut self,
        call: &Call<'_, 'js>,
        body: &Value<'js>,
        params: &Value<'js>,
    ) -> Read<()> {
        let mut given = body::read(call, body)?;
        let mut compression = None;
        if let Some(params) = params.as_object() {
            compression = self.read_params(call, params)?;
        }
        self.add_body(&mut given, compression)
            .map_err(UnreadableParams::Refused)
    }

    /// Removes the default `User-Agent` if the script sets its own.
    fn leave_out_usual_agent(&mut self, usual: usize) {
        let mut given = self.headers.iter().skip(usual);
        let has_user_agent = given.any(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
        if has_user_agent && usual > 0 {
            Rc::make_mut(&mut self.headers).remove(0);
        }
    }

    fn add_header(&mut self, name: String, value: String) {
        Rc::make_mut(&mut self.headers).push((name, value));
    }

    /// Returns the value of a field.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn add_body(
        &mut self,
        given: &mut RequestBody,
        compression: Option<String>,
    ) -> std::result::Result<(), String> {
        if let Some(content_type) = given.content_type.take()
            && self.header("content-type").is_none()
        {
            self.add_header("Content-Type".to_owned(), content_type);
        }
        if let (Some(bytes), Some(codings)) = (&mut given.bytes, compression) {
            *bytes = body::compressed(std::mem::take(bytes), &codings)?;
            if self.header("content-encoding").is_none() {
                self.add_header("Content-Encoding".to_owned(), codings);
            }
        }
        self.body = given.bytes.take();
        Ok(())
    }

    /// Reads the params, and returns their compression.
    fn read_params<'js>(
        &mut self,
        call: &Call<'_, 'js>,
        params: &Object<'js>,
    ) -> Read<Option<String>> {
        let mut compression = None;
        for entry in params.props::<Text, Value<'js>>() {
            let (Text(key), value) = entry?;
            let means_something = matches!(key.as_str(), "responseCallback" | "redirects");
            if value.is_undefined() || value.is_null() && !means_something {
                continue;
            }
            match key.as_str() {
                "headers" => self.read_headers(call, &value)?,
                "tags" => self.read_tags(call, &value)?,
                "timeout" => self.timeout = timeout(call, &value)?,
                "redirects" => {
                    // Infinite and missing numbers become 0 or the maximum: the conversion
                    // saturates.
                    let number = Coerced::<f64>::from_js(call.ctx, value)?;
                    self.redirects = number.0.max(0.0) as u32;
                    self.is_redirects_own = true;
                }
                "cookies" => self.read_cookies(call, &value)?,
                "jar" => {
                    if let Some(jar) = held::held::<Jar>(&value) {
                        self.jar = jar;
                    }
                }
                "auth" => self.read_auth(call, &value)?,
                "compression" => compression = Some(call.text(&value)?),
                "responseType" => self.response = response_type(call, &value)?,
                "responseCallback" => {
                    let expectation = expectation::of(&value);
                    self.expectation = expectation.ok_or_else(|| {
                        UnreadableParams::Refused("unsupported responseCallback".to_owned())
                    })?;
                }
                "throw" => self.throws = call.is_truthy(value)?,
                _ => {}
            }
        }
        Ok(compression)
    }

    fn read_headers<'js>(&mut self, call: &Call<'_, 'js>, value: &Value<'js>) -> Result<()> {
        let Some(headers) = value.as_object() else {
            return Ok(());
        };
        for entry in headers.props::<Text, Value<'js>>() {
            let (Text(name), value) = entry?;
            let name = canonical(name.as_bytes());
            let value = call.text(&value)?;
            match name.as_str() {
                "Content-Length" => self.given_length = Some(value),
                // The length of the body is always known, so it is never sent in chunks.
                "Transfer-Encoding" => {}
                _ => self.set_header(name, value),
            }
        }
        Ok(())
    }

    /// Sets a field. Names that differ in case only are the same: the last value is used.
    /// `User-Agent` is appended, and the default is removed when all fields are known.
    fn set_header(&mut self, name: String, value: String) {
        let headers = Rc::make_mut(&mut self.headers);
        let mut given = headers.iter_mut();
        match given.find(|(known, _)| *known == name && name != "User-Agent") {
            Some((_, known)) => *known = value,
            None => headers.push((name, value)),
        }
    }

    fn read_tags<'js>(&mut self, call: &Call<'_, 'js>, value: &Value<'js>) -> Read<()> {
        let tags = read_tags(call, value)?.map_err(|problem| {
            UnreadableParams::Refused(format!("invalid HTTP request metric tags: {problem}"))
        })?;
        for (name, value) in tags {
            match name.as_str() {
                "name" => self.name = Some(value),
                _ => self.tags.push((name, value)),
            }
        }
        Ok(())
    }

    fn read_cookies<'js>(&mut self, call: &Call<'_, 'js>, value: &Value<'js>) -> Result<()> {
        let Some(cookies) = value.as_object() else {
            return Ok(());
        };
        for entry in cookies.props::<Text, Value<'js>>() {
            let (Text(name), value) = entry?;
            let cookie = match value.as_object() {
                None => (call.text(&value)?, false),
                Some(object) => {
                    let text = call.text(&object.get("value")?)?;
                    (
                        text,
                        object.get::<_, Option<bool>>("replace")? == Some(true),
                    )
                }
            };
            self.cookies.push((name, cookie.0, cookie.1));
        }
        Ok(())
    }

    fn read_auth<'js>(&mut self, call: &Call<'_, 'js>, value: &Value<'js>) -> Result<()> {
        match call.text(value)?.as_str() {
            "digest" => self.is_digest = true,
            "ntlm" => {
                let sentence = "NTLM is not supported: use basic or digest authentication";
                return Err(not_supported(call.ctx, sentence));
            }
            _ => {}
        }
        Ok(())
    }
}

impl RefusedRequest {
    pub(crate) fn new(code: u16, text: impl Into<String>) -> Self {
        let text = text.into();
        RefusedRequest { code, text }
    }
}

/// Returns the text of a URL and its name, from a text or from an object of `http.url`.
fn url_of<'js>(
    call: &Call<'_, 'js>,
    value: &Value<'js>,
) -> Result<std::result::Result<(String, Option<String>), InvalidTarget>> {
    if let Some(text) = value.as_string() {
        return Ok(Ok((lossy(text)?, None)));
    }
    if let Some(object) = value.as_object()
        && let Some(Text(url)) = object.get::<_, Option<Text>>("url").ok().flatten()
    {
        let name: Option<Text> = object.get("name").ok().flatten();
        let name = name.map(|name| name.0).filter(|name| *name != url);
        return Ok(Ok((url, name)));
    }
    let shown = match value.is_undefined() || value.is_null() {
        true => "<nil>".to_owned(),
        false => call.text(value)?,
    };
    Ok(Err(InvalidTarget::NoText(shown)))
}

fn timeout<'js>(call: &Call<'_, 'js>, value: &Value<'js>) -> Read<Duration> {
    let text = match value.as_number() {
        Some(number) => number.to_string(),
        None => call.text(value)?,
    };
    let read = loadline_k6_options::GoDuration::parse(&text);
    read.map(loadline_k6_options::GoDuration::duration)
        .map_err(|problem| UnreadableParams::Refused(format!("invalid timeout value: {problem}")))
}

fn response_type<'js>(call: &Call<'_, 'js>, value: &Value<'js>) -> Read<ResponseType> {
    match call.text(value)?.as_str() {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => {
            let sentence = format!("{other} does not belong to ResponseType values");
            Err(UnreadableParams::Refused(sentence))
        }
    }
}
