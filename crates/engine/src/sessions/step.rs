//! The next request of a user: the original one, or the one that follows from a redirect or a
//! challenge.

use crate::composed::Composed;
use crate::tracer::TRACEPARENT;
use crate::written_composed::WrittenComposed;
use crate::written_request::Outgoing;
use either::Either;
use loadline_client::{ACCEPT_ENCODING, NextRequest, keeps_credentials};
use loadline_plan::{Body, Connection, Header, Request};
use loadline_wire::InvalidRequest;
use url::Url;

/// The most challenges to a request that are answered: the first, and one that calls the answer
/// stale.
const MOST_CHALLENGES: u32 = 2;

/// Fields that describe a body (Fetch, "request-body-header name"), and its framing.
const OF_BODIES: &[&str] = &[
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Location",
    "Content-Type",
    "Transfer-Encoding",
];

/// A request in its original form: one of the plan's, or a composed one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OriginalRequest<'a> {
    method: &'a str,
    url: &'a Url,
    fields: Fields<'a>,
    body: Option<&'a [u8]>,
}

/// The fields that a user adds to a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserFields<'a> {
    pub(super) cookies: Option<&'a str>,
    pub(super) traceparent: Option<&'a str>,
}

/// The header fields of a request.
#[derive(Clone, Copy, Debug)]
enum Fields<'a> {
    OfPlan(&'a [Header]),
    Composed(&'a [(&'a str, &'a str)]),
}

impl<'a> OriginalRequest<'a> {
    /// Returns a request of the plan.
    pub(super) fn of_plan(request: &'a Request) -> Self {
        OriginalRequest {
            method: &request.method,
            url: &request.url,
            fields: Fields::OfPlan(&request.headers),
            body: match &request.body {
                Body::Bytes(bytes) => Some(bytes),
                Body::None => None,
            },
        }
    }

    /// Returns a composed request.
    pub(super) fn composed(request: &Composed<'a>) -> Self {
        OriginalRequest {
            method: request.method,
            url: request.url,
            fields: Fields::Composed(request.headers),
            body: request.body,
        }
    }

    /// Returns names and values, in their order.
    fn fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        match self.fields {
            Fields::OfPlan(headers) => {
                let field = |header: &'a Header| (&*header.name, &*header.value);
                Either::Left(headers.iter().map(field))
            }
            Fields::Composed(fields) => Either::Right(fields.iter().copied()),
        }
    }
}

/// A request in its original form, or one that follows from it.
#[derive(Debug)]
pub(super) struct Step<'a> {
    original: OriginalRequest<'a>,
    /// The URL to which a redirect leads, if there was one.
    url: Option<Url>,
    /// True if it has become a GET without a body.
    is_get: bool,
    /// True if it never left the origin of the request, so that the request's credentials are sent
    /// with it.
    keeps_credentials: bool,
    /// The number of redirects that led to it.
    pub(super) redirects: u32,
    /// The answer to a challenge that is sent with it.
    pub(super) authorization: Option<String>,
    /// The number of times that it was sent again because of a challenge.
    challenges: u32,
}

impl<'a> Step<'a> {
    /// Creates the original request.
    pub(super) fn first(original: OriginalRequest<'a>) -> Self {
        Step {
            original,
            url: None,
            is_get: false,
            keeps_credentials: true,
            redirects: 0,
            authorization: None,
            challenges: 0,
        }
    }

    /// Counts a challenge, for which the request is sent again with a signature.
    pub(super) fn challenged(&mut self) {
        self.challenges += 1;
    }

    /// True if a challenge may be answered: the number is limited because a server may call every
    /// answer stale.
    pub(super) fn may_be_challenged(&self) -> bool {
        self.may_authorize() && self.challenges < MOST_CHALLENGES
    }

    /// Continues with the request to which a redirect leads.
    pub(super) fn redirected(&mut self, next: NextRequest) {
        self.is_get |= !next.repeats;
        self.keeps_credentials &= next.keeps_credentials;
        self.redirects += 1;
        self.challenges = 0;
        self.url = Some(next.url);
    }

    pub(super) fn url(&self) -> &Url {
        self.url.as_ref().unwrap_or(self.original.url)
    }

    pub(super) fn method(&self) -> &str {
        match self.is_get {
            true => "GET",
            false => self.original.method,
        }
    }

    pub(super) fn body(&self) -> Option<&'a [u8]> {
        self.original.body.filter(|_| !self.is_get)
    }

    /// True if it is the original request.
    pub(super) fn is_first(&self) -> bool {
        self.redirects == 0
    }

    /// True if it goes to the origin of the original request.
    pub(super) fn is_at_home(&self) -> bool {
        self.is_first() || keeps_credentials(self.url(), self.original.url)
    }

    /// True if credentials of the original request may be sent with it.
    pub(super) fn may_authorize(&self) -> bool {
        self.keeps_credentials
    }

    /// Writes the request with these fields of its user, and with one that requests a compressed
    /// body if `compressed`.
    ///
    /// # Errors
    /// If it can't be written. A request of the plan was written before.
    pub(super) fn write(
        &self,
        added: UserFields<'_>,
        compressed: bool,
        connection: &Connection,
    ) -> Result<Vec<u8>, InvalidRequest> {
        self.as_outgoing(added, compressed, |outgoing| outgoing.write(connection))
    }

    /// Writes the request like [`write`](Self::write), for an endpoint whose server may choose the
    /// version of HTTP.
    pub(super) fn write_composed(
        &self,
        added: UserFields<'_>,
        compressed: bool,
        endpoint: usize,
        connection: &Connection,
    ) -> Result<WrittenComposed, InvalidRequest> {
        self.as_outgoing(added, compressed, |outgoing| {
            WrittenComposed::new(outgoing, endpoint, connection)
        })
    }

    /// Calls `write` with the request in its final form.
    fn as_outgoing<T>(
        &self,
        added: UserFields<'_>,
        compressed: bool,
        write: impl FnOnce(Outgoing<'_>) -> T,
    ) -> T {
        let UserFields {
            cookies,
            traceparent,
        } = added;
        let is = |name: &str, field: &str| name.eq_ignore_ascii_case(field);
        let own_cookies = self.fields().find(|(name, _)| is(name, "Cookie"));
        let merged = match (own_cookies, cookies) {
            (Some((_, own)), Some(cookies)) => Some(format!("{own}; {cookies}")),
            _ => None,
        };
        let mut headers: Vec<(&str, &str)> = Vec::new();
        for (name, value) in self.fields() {
            match &merged {
                Some(merged) if is(name, "Cookie") => headers.push(("Cookie", merged)),
                _ => headers.push((name, value)),
            }
        }
        let is_given = headers.iter().any(|(name, _)| is(name, "Accept-Encoding"));
        if compressed && !is_given {
            headers.push(("Accept-Encoding", ACCEPT_ENCODING));
        }
        let added = [
            ("Cookie", cookies.filter(|_| merged.is_none())),
            ("Authorization", self.authorization.as_deref()),
            (TRACEPARENT, traceparent),
        ];
        let added = added.into_iter();
        headers.extend(added.filter_map(|(name, value)| Some((name, value?))));
        write(Outgoing {
            method: self.method(),
            url: self.url(),
            headers,
            body: self.body(),
        })
    }

    /// Returns the request's own fields, except those that a redirect to another place removes.
    fn fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let leaves_host = !self.is_at_home();
        let (is_get, keeps_credentials) = (self.is_get, self.keeps_credentials);
        let is_signed = self.authorization.is_some();
        self.original.fields().filter(move |(name, _)| {
            let is = |field: &str| name.eq_ignore_ascii_case(field);
            let describes_body = OF_BODIES.iter().any(|field| is(field));
            let authorizes = is("Authorization");
            let stays = is_get && describes_body
                || !keeps_credentials && (authorizes || is("Cookie"))
                || is_signed && authorizes
                || leaves_host && is("Host");
            !stays
        })
    }
}
