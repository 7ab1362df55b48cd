//! The session of a user that composes its requests, as scripts do.

use super::session_observer::{Decoders, Next, SessionObserver, SessionState};
use super::step::{OriginalRequest, Step, UserFields};
use crate::composed::{ComposeError, Composed};
use crate::observer::Observer;
use crate::requester::Requester;
use loadline_plan::Client;
use loadline_reactor::Host;
use loadline_record::Outcome;
use std::cell::RefCell;
use url::Url;

/// The state that a user keeps from one composed request to the next, and its handling of
/// responses: cookies, redirects, digests, decompression.
///
/// Concurrent requests share the cookies.
#[derive(Debug)]
pub struct Session {
    kept: RefCell<SessionState>,
    decoders: Decoders,
    compressed: bool,
}

/// The end of a request of a session, with all requests that followed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// The outcome of the last exchange.
    pub outcome: Outcome,
    /// The URL of the last exchange.
    pub url: Url,
    /// The number of redirects that led there.
    pub redirects: u32,
}

impl Session {
    /// Creates a session that follows `client`, without cookies.
    pub fn new(client: &Client) -> Self {
        Session {
            kept: RefCell::new(SessionState::new(client)),
            decoders: Decoders::default(),
            compressed: client.compressed,
        }
    }

    /// Sends a request and those that follow from its response, each a separate exchange in the
    /// request's series, and waits for the last response. The observer receives all responses, one
    /// after the other, with decoded bodies. The timeout applies to each exchange.
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
        let mut step = Step::first(OriginalRequest::composed(&request));
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

    /// Sends one request. Returns its outcome and the next step.
    async fn send<H: Host, O: Observer, const DECODES: bool>(
        &self,
        requester: &Requester<H>,
        request: &Composed<'_>,
        step: &Step<'_>,
        observer: &mut O,
    ) -> Result<(Outcome, Next), ComposeError> {
        let written = {
            let mut kept = self.kept.borrow_mut();
            let added = UserFields {
                cookies: kept.cookies(step.url()),
                traceparent: None,
            };
            step.write_composed(
                added,
                self.compressed,
                requester.endpoint_of(step.url()),
                requester.settings(),
            )?
        };
        let mut session_observer =
            SessionObserver::<_, DECODES>::new(step, &self.kept, &self.decoders, observer);
        let user = &*requester.0;
        let timeout_ns = request
            .timeout_ns()
            .unwrap_or(user.worker.network.timeout_ns);
        let sent = written.send(user, request.series, timeout_ns, &mut session_observer);
        let outcome = sent.await;
        Ok((outcome, session_observer.into_next()))
    }
}
