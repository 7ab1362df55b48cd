//! A request with its redirects, from its parameters to its outcome. Nothing here accesses Python.

use crate::body::decoded;
use crate::engine::{Engine, Session};
use crate::fetched::{Failure, Fetched};
use crate::flavour::Flavour;
use crate::hop::Hop;
use crate::template::{Fields, Template};
use loadline_client::{NextRequest, follow, is_redirect};
use loadline_engine::{Batch, Part};
use loadline_metrics::SeriesId;
use loadline_reactor::monotonic_ns;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use url::Url;

const NS_PER_SECOND: f64 = 1e9;

/// The parameters of a request.
pub(crate) struct Order {
    pub(crate) engine: Weak<Engine>,
    pub(crate) session: Rc<Session>,
    pub(crate) template: Arc<Template>,
    pub(crate) flavour: Flavour,
    pub(crate) series: SeriesId,
    /// The timeout of each exchange.
    pub(crate) timeout_ns: u64,
    /// The maximum number of redirects to follow; with `None` a redirect is the response.
    pub(crate) redirects: Option<u32>,
    /// True if the body is decoded from its content codings.
    pub(crate) decodes: bool,
}

/// The step after an exchange.
enum Next {
    /// No further request.
    Nothing,
    /// A request to another place.
    Redirected(Template),
    /// A failure: the exchange failed, or its redirect can't be followed.
    Lost(Failure),
}

impl Order {
    /// Sends the request, and follows its redirects.
    pub(crate) async fn fetch(&mut self) -> Fetched {
        let started_ns = monotonic_ns();
        let mut history: Vec<Fetched> = Vec::new();
        let mut first_start_ns = None;
        loop {
            let mut hop = self.send().await;
            self.keep_cookies(&hop);
            let failure = hop.failure();
            let next = match failure {
                None => self.next(&hop, history.len()),
                Some(failure) => Next::Lost(self.limited(failure)),
            };
            let mut fetched = self.fetched(hop, started_ns, &mut first_start_ns);
            match next {
                Next::Redirected(template) => {
                    history.push(fetched);
                    self.template = Arc::new(template);
                    continue;
                }
                Next::Lost(failure) => fetched.fail(failure),
                Next::Nothing => {}
            }
            fetched.history = history;
            return fetched;
        }
    }

    async fn send(&self) -> Hop {
        let template = &*self.template;
        let with_cookies = self.cookies().and_then(|own| template.with_cookies(&own));
        let bytes = with_cookies.as_deref().unwrap_or(&template.bytes);
        let parts = [Part {
            end: bytes.len(),
            expect: template.expect(),
            series: self.series,
            request: None,
        }];
        let batch = Batch {
            endpoint: template.endpoint,
            bytes,
            tail: &[],
            http2: None,
            parts: &parts,
            resend: self.flavour.resend(&template.method),
        };
        let mut hop = Hop::default();
        let requester = &self.session.requester;
        requester
            .send_within(self.timeout_ns, batch, &mut hop)
            .await;
        hop
    }

    fn cookies(&self) -> Option<String> {
        let mut jar = self.session.existing_cookies()?;
        jar.header(&self.template.url).map(str::to_owned)
    }

    fn keep_cookies(&self, hop: &Hop) {
        if hop.set_cookies().is_empty() {
            return;
        }
        let mut jar = self.session.cookies();
        for cookie in hop.set_cookies() {
            jar.store(&self.template.url, cookie);
        }
    }

    /// Adds the timeout to a failure, if there was one and it was exceeded.
    fn limited(&self, failure: Failure) -> Failure {
        let has_limit = failure.kind.ends_with("timeout") && self.timeout_ns < u64::MAX;
        let limit = has_limit.then(|| self.timeout_ns as f64 / NS_PER_SECOND);
        Failure { limit, ..failure }
    }

    fn next(&self, hop: &Hop, followed: usize) -> Next {
        let is_followed = |to: &&[u8]| !to.is_empty() && is_redirect(hop.status);
        let location = hop.location().filter(is_followed);
        let (Some(location), Some(most)) = (location, self.redirects) else {
            return Next::Nothing;
        };
        if followed >= most as usize {
            let failure = Failure::of("redirects", format!("Exceeded {most} redirects."));
            return Next::Lost(Failure {
                limit: Some(f64::from(most)),
                ..failure
            });
        }
        let sent = &*self.template;
        match follow(hop.status, &sent.method, &sent.url, location) {
            Ok(next) => self.redirected(hop.status, next),
            Err(problem) => Next::Lost(Failure::of("redirect", problem.to_string())),
        }
    }

    fn redirected(&self, status: u16, next: NextRequest) -> Next {
        let sent = &*self.template;
        let method = self.flavour.next_method(status, &sent.method).to_owned();
        let keeps_body = matches!(status, 307 | 308);
        let keeps_credentials = next.keeps_credentials || only_secured(&sent.url, &next.url);
        let is_kept = |name: &str| {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            let of_body = ["Content-Length", "Content-Type", "Transfer-Encoding"];
            let is_dropped = of_body.into_iter().any(is) && !keeps_body
                || is("Authorization") && !keeps_credentials
                || is("Cookie")
                || is("Host");
            !is_dropped
        };
        let fields = sent.fields.iter().filter(|(name, _)| is_kept(name));
        let fields: Fields = fields.cloned().collect();
        let body = sent.body.clone().filter(|_| keeps_body);
        let Some(engine) = self.engine.upgrade() else {
            return Next::Nothing;
        };
        match Template::write(&engine, &method, next.url, Arc::new(fields), body) {
            Ok(template) => Next::Redirected(template),
            Err(problem) => Next::Lost(Failure::of("redirect", problem.to_string())),
        }
    }

    fn fetched(&self, mut hop: Hop, started_ns: u64, first_start_ns: &mut Option<u64>) -> Fetched {
        let end = hop.end;
        let start_ns = end.map_or(0, |end| end.start_ns);
        let first_start_ns = *first_start_ns.get_or_insert(start_ns);
        let since = |from_ns: u64, to_ns: Option<u64>| to_ns.unwrap_or(0).saturating_sub(from_ns);
        let response_ns = since(first_start_ns, end.map(|end| end.end_ns));
        let first_byte_ns = since(start_ns, end.map(|end| end.first_byte_ns));
        let body = std::mem::take(&mut hop.body);
        let codings = hop.codings().filter(|_| self.decodes);
        let (body, failure) = match decoded(body, codings) {
            Ok(body) => (body, None),
            Err(failure) => (Vec::new(), Some(failure)),
        };
        let mut fetched = Fetched {
            sent: Arc::clone(&self.template),
            status: hop.status,
            answered: hop.answered(),
            head: hop.head,
            body,
            history: Vec::new(),
            failure: None,
            started_ns,
            response_ns,
            first_byte_ns,
        };
        if let Some(failure) = failure {
            fetched.fail(failure);
        }
        fetched
    }
}

impl Fetched {
    /// Discards the response, because of this failure.
    fn fail(&mut self, failure: Failure) {
        self.status = 0;
        self.body = Vec::new();
        self.failure = Some(failure);
    }
}

/// True if a redirect leads from HTTP to HTTPS on the same host, both at their default ports:
/// requests keeps credentials for those.
fn only_secured(from: &Url, to: &Url) -> bool {
    let is = |url: &Url, scheme, port| {
        url.scheme() == scheme && url.port_or_known_default() == Some(port)
    };
    from.host_str() == to.host_str() && is(from, "http", 80) && is(to, "https", 443)
}
