//! The bytes of a composed request: for HTTP/1.1, or for the version that its server chooses.

use crate::batch::{Batch, Part, Resend};
use crate::exchange::{self, Forms};
use crate::observer::Observer;
use crate::user::User;
use crate::written_request::Outgoing;
use loadline_metrics::SeriesId;
use loadline_plan::Connection;
use loadline_reactor::Host;
use loadline_record::Outcome;
use loadline_wire::{Expect, InvalidRequest, h2};

/// Fields that concern a connection of HTTP/1.1 (RFC 9113, section 8.2.2). A request that can use
/// either version contains them in its HTTP/1.1 form only.
const OF_HTTP1: [&str; 6] = [
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "TE",
    "Transfer-Encoding",
    "Upgrade",
];

/// A composed request in the form in which the users of one worker send it.
#[derive(Clone, Debug)]
pub struct WrittenComposed {
    endpoint: usize,
    /// The bytes over HTTP/1.1.
    bytes: Vec<u8>,
    /// The request over HTTP/2, if the server may choose that.
    http2: Option<h2::Request>,
    expect: Expect,
    resend: Resend,
}

impl WrittenComposed {
    /// Writes a request to an endpoint.
    pub(crate) fn new(
        outgoing: Outgoing<'_>,
        endpoint: usize,
        settings: &Connection,
    ) -> Result<Self, InvalidRequest> {
        let may_be_http2 = settings.negotiates_http && outgoing.url.scheme() == "https";
        let http2 = may_be_http2.then(|| without_http1(&outgoing).write_http2(settings));
        Ok(WrittenComposed {
            endpoint,
            http2: http2.transpose()?,
            expect: Expect::for_method(outgoing.method),
            bytes: outgoing.write(settings)?,
            resend: Resend::default(),
        })
    }

    /// Returns the same request with this condition for sending it again.
    pub(crate) fn resent_if(self, resend: Resend) -> Self {
        WrittenComposed { resend, ..self }
    }

    /// Sends the request and waits for its response; returns the outcome of the exchange.
    pub(crate) async fn send<H: Host, O: Observer>(
        &self,
        user: &User<H>,
        series: SeriesId,
        timeout_ns: u64,
        observer: &mut O,
    ) -> Outcome {
        let part = |end| Part {
            end,
            expect: self.expect,
            series,
            request: None,
        };
        let parts = [part(self.bytes.len())];
        let http1 = Batch {
            endpoint: self.endpoint,
            bytes: &self.bytes,
            tail: &[],
            http2: None,
            parts: &parts,
            resend: self.resend,
        };
        let Some(request) = &self.http2 else {
            return exchange::send(user, http1, timeout_ns, observer).await;
        };
        let parts = [part(request.size())];
        let http2 = Batch {
            bytes: &[],
            tail: &[],
            http2: Some(request),
            parts: &parts,
            ..http1
        };
        let forms = Forms {
            http1,
            http2,
            request,
        };
        Box::pin(exchange::send_negotiated(user, forms, timeout_ns, observer)).await
    }
}

/// Returns the same request without the fields that HTTP/2 does not allow.
fn without_http1<'a>(outgoing: &Outgoing<'a>) -> Outgoing<'a> {
    let is_of_http1 = |name: &str| {
        OF_HTTP1
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    let fields = outgoing.headers.iter().copied();
    Outgoing {
        headers: fields.filter(|(name, _)| !is_of_http1(name)).collect(),
        ..*outgoing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn written(url: &str, negotiates_http: bool) -> WrittenComposed {
        let url: Url = url.parse().expect("a URL");
        let settings = Connection {
            negotiates_http,
            ..Connection::default()
        };
        let outgoing = Outgoing {
            method: "POST",
            url: &url,
            headers: vec![("Connection", "keep-alive"), ("A", "b")],
            body: Some(b"hello"),
        };
        WrittenComposed::new(outgoing, 0, &settings).expect("a good request")
    }

    #[test]
    fn a_request_has_a_form_for_http2_only_where_a_server_may_choose_that() {
        for (url, negotiates, has_form) in [
            ("https://a/", true, true),
            ("https://a/", false, false),
            ("http://a/", true, false),
        ] {
            let written = written(url, negotiates);
            assert_eq!(written.http2.is_some(), has_form, "{url} {negotiates}");
            let text = String::from_utf8_lossy(&written.bytes).into_owned();
            assert!(text.contains("Connection: keep-alive\r\n"), "{text}");
        }
    }
}
