//! The session of a user that composes its requests, as scripts do.

use super::hearing::{Decoders, Hearing, Kept, Next};
use super::step::{Asked, Step};
use crate::behaviour::{Batch, Observer, Part};
use crate::composed::{ComposeError, Composed};
use crate::requester::Requester;
use loadline_plan::Client;
use loadline_reactor::Host;
use loadline_record::Outcome;
use loadline_wire::Expect;
use std::cell::RefCell;
use url::Url;

/// What a user keeps from one composed request to the next, and does with the responses: cookies,
/// redirects, digests, decompression.
///
/// Requests may be sent beside each other; they share the cookies.
#[derive(Debug)]
pub struct Session {
    kept: RefCell<Kept>,
    decoders: Decoders,
    compressed: bool,
}

/// How a request of a session ended, with all that followed on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// How the last exchange ended.
    pub outcome: Outcome,
    /// Where that went.
    pub url: Url,
    /// How many redirects led there.
    pub redirects: u32,
}

impl Session {
    /// A session that does what is asked for, and has no cookies yet.
    pub fn new(client: &Client) -> Self {
        Session {
            kept: RefCell::new(Kept::new(client)),
            decoders: Decoders::default(),
            compressed: client.compressed,
        }
    }

    /// Sends a request and what follows on its response, each an exchange of its own in the
    /// request's series, and waits for the last response. The observer sees all of them, one after
    /// the other; bodies as what they stand for. The timeout is that of each.
    ///
    /// # Errors
    /// If the request can't be written: nothing was sent then.
    pub async fn request<H: Host, O: Observer>(
        &self,
        requester: &Requester<H>,
        request: Composed<'_>,
        observer: &mut O,
    ) -> Result<SessionEnd, ComposeError> {
        request.check_scheme()?;
        let mut step = Step::first(Asked::composed(&request));
        loop {
            self.kept.borrow_mut().sign(&mut step);
            let (outcome, next) = match self.compressed {
                true => {
                    let sent = self.send::<H, O, true>(requester, &request, &step, observer);
                    sent.await?
                }
                false => {
                    let sent = self.send::<H, O, false>(requester, &request, &step, observer);
                    sent.await?
                }
            };
            match next {
                Next::Nothing => {
                    return Ok(SessionEnd {
                        outcome,
                        url: step.url().clone(),
                        redirects: step.redirects,
                    });
                }
                Next::Signed => step.challenged(),
                Next::Redirected(next) => step.redirected(next),
            }
        }
    }

    /// Sends one request, and tells how it ended and what follows.
    async fn send<H: Host, O: Observer, const DECODES: bool>(
        &self,
        requester: &Requester<H>,
        request: &Composed<'_>,
        step: &Step<'_>,
        observer: &mut O,
    ) -> Result<(Outcome, Next), ComposeError> {
        let bytes = {
            let mut kept = self.kept.borrow_mut();
            step.write(
                kept.cookies(step.url()),
                self.compressed,
                requester.settings(),
            )?
        };
        let part = Part {
            end: bytes.len(),
            expect: Expect::for_method(step.method()),
            series: request.series,
            request: None,
        };
        let batch = Batch {
            endpoint: requester.endpoint_of(step.url()),
            bytes: &bytes,
            http2: None,
            parts: &[part],
        };
        let mut hearing = Hearing::<_, DECODES>::new(step, &self.kept, &self.decoders, observer);
        let outcome = match request.timeout_ns() {
            Some(timeout_ns) => requester.send_within(timeout_ns, batch, &mut hearing).await,
            None => requester.send(batch, &mut hearing).await,
        };
        Ok((outcome, hearing.into_next()))
    }
}
