//! Requests and responses in the log, for `--http-debug`.

use super::hop::Hop;
use super::record;
use crate::run::Level;
use crate::vu::Vu;
use url::Url;

/// Logs the request and the response of one exchange.
pub(super) struct HttpLog<'a> {
    vu: &'a Vu,
    /// True if bodies are logged.
    is_full: bool,
    /// The identifier that the request and its response have in common.
    id: String,
}

impl<'a> HttpLog<'a> {
    /// Returns the log of one exchange, if exchanges are logged.
    pub(super) fn of(vu: &'a Vu) -> Option<HttpLog<'a>> {
        Some(HttpLog {
            vu,
            is_full: is_full(vu)?,
            id: id(),
        })
    }

    /// Logs a request that is about to be sent.
    pub(super) fn request(
        &self,
        (method, url): (&str, &Url),
        fields: &[(String, String)],
        body: Option<&[u8]>,
    ) {
        let mut target = url.path().to_owned();
        if let Some(query) = url.query() {
            target = format!("{target}?{query}");
        }
        let mut text = format!("{method} {target} HTTP/1.1\n");
        let has = |name: &str| {
            let mut known = fields.iter();
            known.any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        if !has("host") {
            let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
            text += &format!("Host: {authority}\n");
        }
        for (name, value) in fields {
            text += &format!("{name}: {value}\n");
        }
        if let Some(body) = body.filter(|_| !has("content-length")) {
            text += &format!("Content-Length: {}\n", body.len());
        }
        self.log("Request", &text, body.unwrap_or_default());
    }

    /// Logs the response.
    pub(super) fn response(&self, hop: &Hop) {
        let proto = record::proto(hop, None);
        let mut text = format!("{proto} {} {}\n", hop.status, hop.reason);
        let fields = String::from_utf8_lossy(&hop.fields);
        for line in fields.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            text += &format!("{name}: {}\n", value.trim());
        }
        self.log("Response", &text, &hop.body);
    }

    fn log(&self, what: &str, head: &str, body: &[u8]) {
        let body = match self.is_full {
            true => String::from_utf8_lossy(body),
            false => "".into(),
        };
        let message = format!("{what}:\n{head}\n{body}\n");
        let (group, iteration, scenario) = {
            let activity = self.vu.activity.borrow();
            let stage = activity.stage.as_ref();
            let scenario = stage.and_then(|stage| stage.scenario());
            let name = scenario.map(|scenario| scenario.name.clone());
            (activity.group(), activity.iteration.to_string(), name)
        };
        let number = self.vu.id.to_string();
        let mut fields = vec![
            ("group", group.as_str()),
            ("iter", &iteration),
            ("request_id", &self.id),
        ];
        fields.extend(scenario.as_deref().map(|name| ("scenario", name)));
        fields.extend([("source", "http-debug"), ("vu", &number)]);
        self.vu.program.log(Level::Info, &message, &fields);
    }
}

/// True if bodies are logged; `None` if exchanges are not logged.
pub(super) fn is_full(vu: &Vu) -> Option<bool> {
    let debug = vu.run.as_ref()?.options.http.debug.as_deref()?;
    Some(debug == "full")
}

/// Returns a unique number, as a UUID of version 4.
fn id() -> String {
    let mut bytes = [0; 16];
    // If there is no randomness, all exchanges have the same number.
    let _ = getrandom::fill(&mut bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}
