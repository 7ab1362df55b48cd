//! What a user sends for a request of the plan: that request, or what a redirect or a challenge
//! made of it.

use crate::written_request::Outgoing;
use loadline_client::{ACCEPT_ENCODING, NextRequest, keeps_credentials};
use loadline_plan::{Body, Connection, Header, Request};
use loadline_wire::InvalidRequest;
use url::{Position, Url};

/// Fields that describe a body (Fetch, "request-body-header name"), and its framing.
const OF_BODIES: &[&str] = &[
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Location",
    "Content-Type",
    "Transfer-Encoding",
];

/// A request of the plan, or what follows on it.
#[derive(Debug)]
pub(super) struct Step<'a> {
    request: &'a Request,
    /// Where it goes, if a redirect says so.
    url: Option<Url>,
    /// Whether it has become a GET without a body.
    is_get: bool,
    /// Whether it never left the origin of the request, so that what authorises that goes with it.
    keeps_credentials: bool,
    /// How many redirects led to it.
    pub(super) redirects: u32,
    /// The answer to a challenge that goes with it.
    pub(super) authorization: Option<String>,
}

impl<'a> Step<'a> {
    /// The request itself.
    pub(super) fn first(request: &'a Request) -> Self {
        Step {
            request,
            url: None,
            is_get: false,
            keeps_credentials: true,
            redirects: 0,
            authorization: None,
        }
    }

    /// Goes on where a redirect leads.
    pub(super) fn redirected(&mut self, next: NextRequest) {
        self.is_get |= !next.repeats;
        self.keeps_credentials &= next.keeps_credentials;
        self.redirects += 1;
        self.url = Some(next.url);
    }

    pub(super) fn url(&self) -> &Url {
        self.url.as_ref().unwrap_or(&self.request.url)
    }

    pub(super) fn method(&self) -> &str {
        match self.is_get {
            true => "GET",
            false => &self.request.method,
        }
    }

    pub(super) fn body(&self) -> Option<&'a [u8]> {
        match &self.request.body {
            Body::Bytes(bytes) if !self.is_get => Some(bytes),
            Body::Bytes(_) | Body::None => None,
        }
    }

    /// Path and query.
    pub(super) fn target(&self) -> &str {
        &self.url()[Position::BeforePath..Position::AfterQuery]
    }

    /// Whether it is the plan's request.
    pub(super) fn is_first(&self) -> bool {
        self.redirects == 0
    }

    /// Whether it goes to the origin of the plan's request.
    pub(super) fn is_at_home(&self) -> bool {
        self.is_first() || keeps_credentials(self.url(), &self.request.url)
    }

    /// Whether what authorises the plan's request may go with it.
    pub(super) fn may_authorize(&self) -> bool {
        self.keeps_credentials
    }

    /// As it goes out with these cookies of its user, and with what asks for a compressed body if
    /// that is wanted.
    ///
    /// # Errors
    /// If it can't be written. The plan's own fields were written before.
    pub(super) fn write(
        &self,
        cookies: Option<&str>,
        compressed: bool,
        connection: &Connection,
    ) -> Result<Vec<u8>, InvalidRequest> {
        let own_cookies = self.headers().find(|header| header.is("Cookie"));
        let merged = match (own_cookies, cookies) {
            (Some(own), Some(cookies)) => Some(format!("{}; {cookies}", own.value)),
            _ => None,
        };
        let mut headers: Vec<(&str, &str)> = Vec::new();
        for header in self.headers() {
            match &merged {
                Some(merged) if header.is("Cookie") => headers.push(("Cookie", merged)),
                _ => headers.push((&header.name, &header.value)),
            }
        }
        let asks = |name: &str| self.headers().any(|header| header.is(name));
        if compressed && !asks("Accept-Encoding") {
            headers.push(("Accept-Encoding", ACCEPT_ENCODING));
        }
        let added = [
            ("Cookie", cookies.filter(|_| merged.is_none())),
            ("Authorization", self.authorization.as_deref()),
        ];
        let added = added.into_iter();
        headers.extend(added.filter_map(|(name, value)| Some((name, value?))));
        let outgoing = Outgoing {
            method: self.method(),
            url: self.url(),
            headers,
            body: self.body(),
        };
        outgoing.write(connection)
    }

    /// The request's own fields, without those that stay behind where a redirect led away from it.
    fn headers(&self) -> impl Iterator<Item = &'a Header> {
        let leaves_host = !self.is_at_home();
        let (is_get, keeps_credentials) = (self.is_get, self.keeps_credentials);
        let is_signed = self.authorization.is_some();
        self.request.headers.iter().filter(move |header| {
            let describes_body = OF_BODIES.iter().any(|name| header.is(name));
            let authorizes = header.is("Authorization");
            let stays = is_get && describes_body
                || !keeps_credentials && (authorizes || header.is("Cookie"))
                || is_signed && authorizes
                || leaves_host && header.is("Host");
            !stays
        })
    }
}
