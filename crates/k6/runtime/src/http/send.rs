//! A request with its redirects, from its parameters to its outcome. Nothing here accesses
//! JavaScript.

use super::answer::{Answer, Body, Sent};
use super::debug::{HttpLog, is_full};
use super::errors::{Failed, RequestFailure, of_exchange, of_unsent, of_unwritten};
use super::fields::{Fields, arrange};
use super::hop::Hop;
use super::jar::{all_quoted, needs_quotes, quoted};
use super::record;
use super::script_request::{ResponseType, ScriptRequest};
use super::status_text::status_text;
use super::target::Target;
use crate::run::Level;
use crate::vu::Vu;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_client::{
    Authenticator, ContentCoding, Decoder, LONGEST_DECODED, follow, is_redirect,
};
use loadline_engine::{Composed, Requester, Resend, WrittenComposed};
use loadline_metrics::SeriesId;
use loadline_reactor::{Host, Kernel};
use std::borrow::Cow;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The outcome of a request, and its failure, if it failed.
pub(crate) struct Fetched {
    pub(crate) answer: Rc<Answer>,
    pub(crate) wrong: Option<RequestFailure>,
    /// True if the failure is thrown.
    pub(crate) throws: bool,
}

/// The fields that are not sent to another origin.
const CREDENTIALS: [&str; 3] = ["authorization", "www-authenticate", "cookie"];

/// Sends a request and follows its redirects, as soon as the rate limit of the run allows.
pub(crate) async fn fetch(
    vu: Rc<Vu>,
    requester: Requester<Kernel>,
    mut script_request: Box<ScriptRequest>,
) -> Fetched {
    if let Some(limit) = vu.run.as_ref().and_then(|run| run.rate.as_ref()) {
        let wait_ns = limit.take(requester.host().now_ns());
        requester.pause(wait_ns).await;
    }
    let deadline = requester.host().now_ns() + script_request.timeout.as_nanos() as u64;
    let throws = script_request.throws;
    // malloc is slow for a block of more than a kilobyte, because it caches no blocks of that size.
    let chain = Box::new(Chain {
        digest: script_request
            .is_digest
            .then(|| digest(&script_request))
            .flatten(),
        target: match script_request.is_digest && script_request.target.unsendable.is_none() {
            true => Rc::new(script_request.target.anonymous()),
            false => Rc::clone(&script_request.target),
        },
        method: mem::take(&mut script_request.method),
        headers: Rc::clone(&script_request.headers),
        body: script_request.body.take(),
        first: None,
        left: script_request.redirects,
        deadline,
        vu,
        requester,
        script_request,
    });
    let (answer, wrong) = chain.run().await;
    Fetched {
        answer,
        wrong,
        throws,
    }
}

/// Returns the address of the user's stage, as its identity: the data known of a target is valid in
/// one stage only.
fn stage_of(vu: &Vu) -> usize {
    let stage = &vu.activity.borrow().stage;
    stage
        .as_ref()
        .map_or(0, |stage| Arc::as_ptr(stage) as usize)
}

fn digest(script_request: &ScriptRequest) -> Option<Authenticator> {
    let (user, password) = script_request.target.credentials.clone()?;
    Some(Authenticator::new(user, password))
}

/// A request and the redirects that follow it.
struct Chain {
    vu: Rc<Vu>,
    requester: Requester<Kernel>,
    script_request: Box<ScriptRequest>,
    digest: Option<Authenticator>,
    /// The target of the next request.
    target: Rc<Target>,
    method: Cow<'static, str>,
    headers: Fields,
    body: Option<Vec<u8>>,
    /// The request before all redirects, which is the one that scripts see.
    first: Option<Sent>,
    /// The remaining number of redirects.
    left: u32,
    deadline: u64,
}

impl Chain {
    async fn run(mut self: Box<Self>) -> (Rc<Answer>, Option<RequestFailure>) {
        let mut signature = None;
        // A challenge is expected whatever the script expects of other responses, as in k6.
        let mut awaits_challenge = self.script_request.is_digest;
        loop {
            let headers = self.fields();
            let keeps_body = self.script_request.response != ResponseType::None;
            let keeps_body = keeps_body || is_full(&self.vu) == Some(true);
            let is_https = self.target.url.scheme() == "https";
            let mut hop = Box::new(Hop::new(keeps_body, is_https));
            let sent = self.send(&headers, signature.take(), &mut hop).await;
            let wrong = sent.err().or_else(|| self.wrong(&hop));
            record::hop(
                &self.vu,
                &self.script_request,
                &self.target,
                &self.method,
                &hop,
                wrong.as_ref(),
                awaits_challenge,
            );
            if record::is_rejected(&self.script_request, &hop, wrong.as_ref(), awaits_challenge) {
                self.requester.reject(self.series(), hop.status, &hop.body);
            }
            awaits_challenge = false;
            self.keep_cookies(&hop);
            if wrong.is_none() {
                if let Some(signed) = self.answer_challenge(&hop) {
                    signature = Some(signed);
                    continue;
                }
                if self.go_on(&hop, &headers) {
                    continue;
                }
            }
            return self.end(hop, headers, wrong);
        }
    }

    /// Sends the next request with these fields and this signature.
    async fn send(
        &self,
        headers: &[(String, String)],
        signature: Option<String>,
        hop: &mut Hop,
    ) -> Result<(), RequestFailure> {
        if let Some(problem) = &self.target.unsendable {
            return Err(of_unsent(problem, &self.method, &self.target.shown));
        }
        let arranged = self.arranged(headers, signature);
        let headers = arranged.as_deref().unwrap_or(headers);
        let Some(log) = HttpLog::of(&self.vu) else {
            return self.exchange(headers, hop).await;
        };
        let target = (&*self.method, &self.target.url);
        log.request(target, headers, self.body.as_deref());
        let sent = self.exchange(headers, hop).await;
        if hop.status > 0 {
            log.response(hop);
        }
        sent
    }

    /// Returns the fields to send in their order, with those that are added; `None` if `headers`
    /// can be sent as they are.
    fn arranged(
        &self,
        headers: &[(String, String)],
        signature: Option<String>,
    ) -> Option<Vec<(String, String)>> {
        let is_sent_empty = matches!(&*self.method, "POST" | "PUT" | "PATCH");
        let body_bytes = self.body.as_ref().map(Vec::len);
        let body_bytes = body_bytes.or(is_sent_empty.then_some(0));
        let authorization = signature.or_else(|| self.basic(headers));
        let is_nameless = headers.iter().any(names_nobody);
        let is_short = headers.len() < 2 && !is_nameless;
        if is_short && body_bytes.is_none() && authorization.is_none() {
            return None;
        }
        let mut fields = headers.to_vec();
        fields.retain(|field| !names_nobody(field));
        fields.extend(authorization.map(|value| ("Authorization".to_owned(), value)));
        arrange(&mut fields, body_bytes);
        Some(fields)
    }

    /// Returns the value of Basic authentication for the URL's credentials, if it is to be sent.
    fn basic(&self, headers: &[(String, String)]) -> Option<String> {
        let (user, password) = self.target.credentials.as_ref()?;
        let is_signed = headers.iter().any(|(name, _)| name == "Authorization");
        let is_basic = !is_signed && !self.script_request.is_digest;
        is_basic.then(|| format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }

    async fn exchange(
        &self,
        headers: &[(String, String)],
        hop: &mut Hop,
    ) -> Result<(), RequestFailure> {
        let written = self.written(headers)?;
        let series = self.series();
        let left_ns = self.deadline.saturating_sub(self.requester.host().now_ns());
        let timeout = Duration::from_nanos(left_ns.max(1));
        let sent = self
            .requester
            .send_written(&written, series, Some(timeout), hop);
        sent.await;
        Ok(())
    }

    /// Returns the series that counts the request.
    fn series(&self) -> SeriesId {
        let series = |name| self.requester.series(name).unwrap_or_default();
        match &self.script_request.name {
            Some(name) => series(name),
            None if self.method == "GET" => {
                let known = self.target.known(stage_of(&self.vu));
                *known.series.get_or_init(|| series(&self.target.shown))
            }
            // A native run gives requests without a name this name, too.
            None => series(&format!("{} {}", self.method, self.target.shown)),
        }
    }

    /// Returns the encoded request. It is encoded once for a URL that scripts request without
    /// fields of their own.
    fn written(&self, headers: &[(String, String)]) -> Result<Rc<WrittenComposed>, RequestFailure> {
        let is_plain = self.method == "GET" && self.body.is_none() && self.is_usual(headers);
        if !is_plain {
            return self.write(headers);
        }
        let known = self.target.known(stage_of(&self.vu));
        if let Some(written) = known.written.get() {
            return Ok(Rc::clone(written));
        }
        let written = self.write(headers)?;
        Ok(Rc::clone(known.written.get_or_init(|| written)))
    }

    /// True if these are the fields of a request for which a script gives none.
    fn is_usual(&self, headers: &[(String, String)]) -> bool {
        self.vu.worker.are_usual(headers)
    }

    fn write(&self, headers: &[(String, String)]) -> Result<Rc<WrittenComposed>, RequestFailure> {
        let fields: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let request = Composed {
            method: &self.method,
            url: &self.target.url,
            headers: &fields,
            body: self.body.as_deref(),
            series: SeriesId::default(),
            timeout: None,
            resend: resend(&self.method, &fields),
        };
        let written = self.requester.write(&request);
        let requested = (&*self.method, self.target.shown.as_str());
        let written = written.map_err(|problem| of_unwritten(&problem, requested, &fields));
        written.map(Rc::new)
    }

    /// Returns the fields of the next request for the script's view of it.
    fn fields(&self) -> Fields {
        let mut all = Rc::clone(&self.headers);
        if let Some(cookies) = self.cookies() {
            let fields = Rc::make_mut(&mut all);
            let given = fields.iter_mut().find(|(name, _)| name == "Cookie");
            match given {
                Some((_, given)) => *given += &format!("; {cookies}"),
                None => fields.push(("Cookie".to_owned(), cookies)),
            }
        }
        all
    }

    /// Returns the cookies of the request, then those of the jar.
    fn cookies(&self) -> Option<String> {
        let mut jar = self.script_request.jar.borrow_mut();
        let of_jar = jar.header(&self.target.url);
        if self.script_request.cookies.is_empty() {
            return of_jar.map(|field| match needs_quotes(field) {
                true => all_quoted(field),
                false => field.to_owned(),
            });
        }
        let replaced = |pair: &&str| {
            let mut own = self.script_request.cookies.iter();
            own.any(|(name, _, replaces)| {
                *replaces && pair.split_once('=').is_some_and(|(known, _)| known == name)
            })
        };
        let of_jar = of_jar.unwrap_or_default().split("; ");
        let of_jar = of_jar.filter(|pair| !pair.is_empty() && !replaced(pair));
        let own = self.script_request.cookies.iter();
        let own = own.map(|(name, value, _)| format!("{name}={}", quoted(value)));
        let all: Vec<String> = own.chain(of_jar.map(all_quoted)).collect();
        Some(all.join("; "))
    }

    fn keep_cookies(&self, hop: &Hop) {
        let mut jar = self.script_request.jar.borrow_mut();
        for cookie in &hop.set_cookies {
            jar.store(&self.target.url, cookie);
        }
    }

    /// Returns the signature that a challenge requires.
    fn answer_challenge(&mut self, hop: &Hop) -> Option<String> {
        let digest = self.digest.as_mut().filter(|_| hop.status == 401)?;
        let challenges = hop.challenges.iter().map(Vec::as_slice);
        let url = &self.target.url;
        let is_challenged = digest.challenged(url, challenges, false).unwrap_or(false);
        let body = self.body.as_deref().unwrap_or_default();
        let signature = is_challenged
            .then(|| digest.sign(&self.method, url, body))
            .flatten();
        // A challenge is answered only once.
        self.digest = None;
        signature
    }

    /// Prepares the next request of the chain. Returns true if there is one.
    fn go_on(&mut self, hop: &Hop, headers: &Fields) -> bool {
        let location = hop.location.as_ref().filter(|_| is_redirect(hop.status));
        let Some(location) = location.filter(|location| !location.is_empty()) else {
            return false;
        };
        let Ok(next) = follow(hop.status, &self.method, &self.target.url, location) else {
            return false;
        };
        if self.left == 0 {
            self.warn_of_redirects();
            return false;
        }
        self.left -= 1;
        if self.first.is_none() {
            self.first = Some(self.sent(headers));
        }
        // As in Go, any method but GET and HEAD becomes GET.
        let becomes_get =
            matches!(hop.status, 301..=303) && !matches!(&*self.method, "GET" | "HEAD");
        if becomes_get || !next.repeats {
            self.method = "GET".into();
            self.body = None;
            self.drop_fields(is_of_body);
        }
        if !next.keeps_credentials {
            self.drop_fields(is_credential);
        }
        let is_relative = next.keeps_credentials && is_relative(location);
        if !is_relative {
            self.drop_fields(|name| name.eq_ignore_ascii_case("host"));
        }
        self.refer_to(&next.url);
        let target = match is_relative {
            true => self.target.beside(next.url),
            false => Target::of(next.url),
        };
        self.target = Rc::new(target.hiding(&*self.vu.program.secrets));
        true
    }

    /// Returns the request for the script's view of it.
    fn sent(&self, headers: &Fields) -> Sent {
        Sent {
            method: self.method.clone(),
            target: Some(self.requested()),
            headers: Rc::clone(headers),
            body: self.body.clone().unwrap_or_default(),
        }
    }

    /// Returns the target that the script requested: with digest authentication, `target` lacks the
    /// credentials of the URL.
    fn requested(&self) -> Rc<Target> {
        let is_first = self.target.url == self.script_request.target.url;
        Rc::clone(if is_first {
            &self.script_request.target
        } else {
            &self.target
        })
    }

    fn drop_fields(&mut self, is_dropped: impl Fn(&str) -> bool) {
        Rc::make_mut(&mut self.headers).retain(|(name, _)| !is_dropped(name));
    }

    /// Sets `Referer` to the URL that led to the next one, as Go does; unless the script sets its
    /// own, or the redirect leads from HTTPS to HTTP.
    fn refer_to(&mut self, next: &Url) {
        let is_referer = |name: &str| name.eq_ignore_ascii_case("referer");
        if self
            .script_request
            .headers
            .iter()
            .any(|(name, _)| is_referer(name))
        {
            return;
        }
        self.drop_fields(is_referer);
        let last = &self.target.url;
        if last.scheme() == "http" || next.scheme() == "https" {
            let referer = ("Referer".to_owned(), last.to_string());
            Rc::make_mut(&mut self.headers).push(referer);
        }
    }

    fn warn_of_redirects(&self) {
        if self.script_request.is_redirects_own {
            return;
        }
        // k6 counts the redirect that is not followed, too.
        let message = format!(
            "Stopped after {} redirects and returned the redirection; pass \
                               {{ redirects: n }} in request params or set global maxRedirects \
                               to silence this",
            self.script_request.redirects.saturating_add(1)
        );
        let first = self.first.as_ref().and_then(|sent| sent.target.as_ref());
        let url = first.unwrap_or(&self.target).shown.as_str();
        self.vu
            .program
            .log(Level::Warning, &message, &[("url", url)]);
    }

    /// Returns the failure of an exchange, if it failed.
    fn wrong(&self, hop: &Hop) -> Option<RequestFailure> {
        let kind = hop.failed()?;
        let (reason, os_error) = hop.failure.clone().unwrap_or_default();
        let failed = Failed {
            kind,
            reason: &reason,
            os_error,
            code: hop.code,
            is_begun: hop.status > 0,
            remote: hop.remote,
            blocked: hop.blocked.as_ref(),
        };
        Some(of_exchange(failed, &self.method, &self.target.url))
    }

    fn end(
        mut self,
        mut hop: Box<Hop>,
        headers: Fields,
        wrong: Option<RequestFailure>,
    ) -> (Rc<Answer>, Option<RequestFailure>) {
        let (body, undecoded) = self.body_of(&mut hop);
        let wrong = wrong.or(undecoded);
        let error = match (&wrong, hop.status) {
            (Some(wrong), _) => (wrong.short.clone(), wrong.code),
            (None, status @ 400..) => (String::new(), 1000 + status),
            _ => Default::default(),
        };
        let proto = record::proto(&hop, wrong.as_ref());
        let answer = Answer {
            status: if wrong.is_some() { 0 } else { hop.status },
            reason: match hop.is_http2 {
                true => status_text(hop.status).into(),
                false => mem::take(&mut hop.reason),
            },
            proto,
            timings: hop.timings(),
            fields: match wrong.is_some() {
                true => Vec::new(),
                false => mem::take(&mut hop.fields),
            },
            body,
            remote: hop.remote,
            error,
            tls: hop.tls.take().map(record::tls).unwrap_or_default(),
            target: Some(Rc::clone(&self.target)),
            request: Some(self.first.take().unwrap_or_else(|| Sent {
                target: Some(self.requested()),
                method: self.method,
                headers,
                body: self.body.unwrap_or_default(),
            })),
        };
        (Rc::new(answer), wrong)
    }

    /// Returns the body in the form that the script requested, decoded, and the failure of
    /// decoding. The body is what was received after the head, even if it is not complete.
    fn body_of(&self, hop: &mut Hop) -> (Body, Option<RequestFailure>) {
        let has_none = matches!(hop.status, 0 | 100..=199 | 204 | 304);
        if self.script_request.response == ResponseType::None || has_none {
            return (Body::None, None);
        }
        let (bytes, undecoded) = decoded(mem::take(&mut hop.body), hop.coding.as_deref());
        let body = match self.script_request.response {
            ResponseType::Binary => Body::Binary(bytes),
            ResponseType::Text | ResponseType::None => Body::Text(bytes),
        };
        (body, undecoded)
    }
}

/// Returns the rule for sending a request again, which is that of Go's net/http, as k6 uses it
/// (`Request.isReplayable`; k6 can repeat the body). The case of methods matters there.
fn resend(method: &str, fields: &[(&str, &str)]) -> Resend {
    let is_key = |name: &str| {
        let keys = ["idempotency-key", "x-idempotency-key"];
        keys.iter().any(|key| name.eq_ignore_ascii_case(key))
    };
    let is_replayable = matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
        || fields.iter().any(|(name, _)| is_key(name));
    match is_replayable {
        true => Resend::Unanswered,
        false => Resend::Unwritten,
    }
}

/// True if a Location names no host, so that only the path of the previous URL changes.
fn is_relative(location: &[u8]) -> bool {
    let text = String::from_utf8_lossy(location);
    !location.starts_with(b"//") && Url::parse(&text).is_err()
}

/// True if a field is an empty `User-Agent`, which Go does not send.
fn names_nobody((name, value): &(String, String)) -> bool {
    value.is_empty() && name == "User-Agent"
}

fn is_of_body(name: &str) -> bool {
    let names = ["content-type", "content-length", "content-encoding"];
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn is_credential(name: &str) -> bool {
    CREDENTIALS
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Decodes a body from its content codings, the last one first, as far as possible.
fn decoded(mut bytes: Vec<u8>, codings: Option<&[u8]>) -> (Vec<u8>, Option<RequestFailure>) {
    let Some(codings) = codings.filter(|_| !bytes.is_empty()) else {
        return (bytes, None);
    };
    let refused = |problem: loadline_client::DecodeError| RequestFailure {
        short: format!("decompression failed: {problem}"),
        code: 1701,
        whole: format!("error decompressing response body: {problem}"),
    };
    for coding in codings.rsplit(|byte| *byte == b',') {
        // An unknown coding is skipped.
        let Ok(Some(coding)) = ContentCoding::parse(coding.trim_ascii()) else {
            continue;
        };
        let mut decoder = Decoder::new(coding, LONGEST_DECODED);
        let mut output = Vec::new();
        let fed = decoder.feed(&bytes, |part| output.extend_from_slice(part));
        if let Err(problem) = fed.and_then(|()| decoder.finish()) {
            return (output, Some(refused(problem)));
        }
        bytes = output;
    }
    (bytes, None)
}
