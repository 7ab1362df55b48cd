//! Requests that are composed during a run, such as those of scripts.

use crate::requester::Requester;
use crate::written_composed::WrittenComposed;
use crate::written_request::Outgoing;
use crate::{Observer, Resend};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::Outcome;
use loadline_wire::InvalidRequest;
use std::time::Duration;
use url::Url;

/// A request that is written when it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Composed<'a> {
    /// A token; case matters.
    pub method: &'a str,
    /// The URL: `http` or `https`. Its host may be a new one.
    pub url: &'a Url,
    /// Header fields in the order in which they are written. `Host` and `Content-Length` are added
    /// if they are missing.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, if there is one.
    pub body: Option<&'a [u8]>,
    /// The series that counts it ([`Requester::series`]); by default that of the plan's first
    /// request.
    pub series: SeriesId,
    /// The timeout of its exchange; the plan's timeout if `None`.
    pub timeout: Option<Duration>,
    /// The condition for sending it again.
    pub resend: Resend,
}

impl Composed<'_> {
    pub(crate) fn check_scheme(&self) -> Result<(), ComposeError> {
        match self.url.scheme() {
            "http" | "https" => Ok(()),
            other => Err(ComposeError::Scheme(other.to_owned())),
        }
    }

    pub(crate) fn timeout_ns(&self) -> Option<u64> {
        self.timeout.map(in_ns)
    }
}

fn in_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The reason why a composed request was not sent. Nothing is recorded then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The scheme of its URL is neither `http` nor `https`; contains the scheme.
    #[error("the scheme `{0}` is not supported: use http or https")]
    Scheme(String),
    /// The request would be parsed differently than intended.
    #[error(transparent)]
    Request(#[from] InvalidRequest),
}

impl<H: Host> Requester<H> {
    /// Writes a request, sends it and waits for its response; returns the outcome of the exchange.
    /// The name of a new host is resolved within the exchange: a name without address is a failure
    /// of the exchange ([`Resolve`](loadline_record::ErrorKind::Resolve)). Otherwise like
    /// [`send`](Self::send).
    ///
    /// # Errors
    /// If the request can't be written, in which case nothing was sent.
    pub async fn request<O: Observer>(
        &self,
        request: Composed<'_>,
        observer: &mut O,
    ) -> Result<Outcome, ComposeError> {
        let written = self.write(&request)?;
        let sent = self.send_written(&written, request.series, request.timeout, observer);
        Ok(sent.await)
    }

    /// Writes a request that all users of this worker may send any number of times. The name of its
    /// host is resolved with its first exchange.
    ///
    /// # Errors
    /// If the request can't be written.
    pub fn write(&self, request: &Composed<'_>) -> Result<WrittenComposed, ComposeError> {
        let dialler = &self.0.worker.network.dialler;
        request.check_scheme()?;
        let outgoing = Outgoing {
            method: request.method,
            url: request.url,
            headers: request.headers.to_vec(),
            body: request.body,
        };
        let endpoint = dialler.endpoint_of(request.url);
        let written = WrittenComposed::new(outgoing, endpoint, dialler.settings())?;
        Ok(written.resent_if(request.resend))
    }

    /// Sends a written request and waits for its response, like [`request`](Self::request), with
    /// this timeout; the plan's timeout if `None`.
    pub fn send_written<O: Observer>(
        &self,
        written: &WrittenComposed,
        series: SeriesId,
        timeout: Option<Duration>,
        observer: &mut O,
    ) -> impl Future<Output = Outcome> {
        let user = &*self.0;
        let timeout_ns = timeout.map_or(user.worker.network.timeout_ns, in_ns);
        written.send(user, series, timeout_ns, observer)
    }
}
