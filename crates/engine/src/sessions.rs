//! The requests of a plan, sent by users that handle the responses: they keep cookies, follow
//! redirects, answer challenges and decode bodies.
//!
//! A request is sent as it was written before the run, with its user's fields inserted. A request
//! that follows a redirect or a challenge is written when it is sent, and is a separate exchange
//! under the name of the plan's request.

mod session;
mod session_observer;
mod step;
mod written;

pub use self::session::{Session, SessionEnd};

use self::session_observer::{Decoders, Next, SessionObserver, SessionState};
use self::step::{OriginalRequest, Step, UserFields};
use self::written::SessionRequest;
use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::prepare::Prepared;
use crate::replay::{Replay, Sequence};
use crate::requester::Requester;
use crate::tracer::{TRACEPARENT, TraceObserver, Tracer};
use loadline_plan::{Client, Order};
use loadline_reactor::Host;
use loadline_record::Trace;
use loadline_wire::Expect;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Creates the users of one worker.
#[derive(Debug)]
pub(crate) struct Sessions(Rc<Shared>);

/// The state that the users of a worker share.
#[derive(Debug)]
struct Shared {
    prepared: Arc<Prepared>,
    /// The plan's requests, with room for the fields that users add.
    requests: Vec<SessionRequest>,
    /// The requests in turn, if users take them together.
    replay: Replay,
    decoders: Decoders,
    /// Makes the traces of requests, if they carry one.
    tracer: Option<RefCell<Tracer>>,
}

impl Shared {
    fn client(&self) -> &Client {
        &self.prepared.plan.client
    }
}

impl Sessions {
    /// Creates the users of worker `index` of `of`.
    pub(crate) fn new(prepared: &Arc<Prepared>, index: u32, of: u32) -> Self {
        let (plan, written) = (&prepared.plan, &prepared.requests);
        let requests = plan.requests.iter().zip(written).map(|(request, written)| {
            SessionRequest::new(&written.bytes, request, plan.client.compressed)
        });
        Sessions(Rc::new(Shared {
            requests: requests.collect(),
            replay: Replay::new(Arc::clone(prepared), index, of),
            decoders: Decoders::default(),
            tracer: Tracer::of(plan, index).map(RefCell::new),
            prepared: Arc::clone(prepared),
        }))
    }
}

impl<H: Host> Scenario<H> for Sessions {
    type Behaviour = SessionUser;

    fn user(&mut self) -> SessionUser {
        let shared = Rc::clone(&self.0);
        let client = shared.client();
        let goes_alone = client.cookies && shared.prepared.plan.order == Order::Sequential;
        SessionUser {
            own_sequence: goes_alone.then(|| Sequence::new(&shared.prepared, 0, 1)),
            kept: RefCell::new(SessionState::new(client)),
            buffer: Vec::new(),
            shared,
        }
    }
}

/// One user, with the state that it keeps from one request to the next.
#[derive(Debug)]
pub(crate) struct SessionUser {
    shared: Rc<Shared>,
    /// The order of its requests, if it takes them independently of the others.
    own_sequence: Option<Sequence>,
    kept: RefCell<SessionState>,
    /// The bytes to send, if they differ from those written before the run.
    buffer: Vec<u8>,
}

impl<H: Host> Behaviour<H> for SessionUser {
    fn is_prompt(&self) -> bool {
        let client = self.shared.client();
        !client.cookies && client.digest.is_none()
    }

    fn times_iterations(&self) -> bool {
        self.shared.client().goes_on()
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let shared = Rc::clone(&self.shared);
        let index = match &self.own_sequence {
            Some(own) => own.take(),
            None => shared.replay.take(),
        };
        let requester = iteration.requester();
        let mut step = Step::first(OriginalRequest::of_plan(
            &shared.prepared.plan.requests[index],
        ));
        loop {
            self.kept.get_mut().sign(&mut step);
            let next = match shared.client().compressed {
                true => self.send::<H, true>(requester, index, &step).await,
                false => self.send::<H, false>(requester, index, &step).await,
            };
            match next {
                Next::Nothing => return,
                Next::Signed => step.challenged(),
                Next::Redirected(next) => step.redirected(next),
            }
        }
    }
}

impl SessionUser {
    /// Sends one request, and returns the step that follows its response. `DECODES` is true if the
    /// body is decoded.
    async fn send<H: Host, const DECODES: bool>(
        &mut self,
        requester: &Requester<H>,
        index: usize,
        step: &Step<'_>,
    ) -> Next {
        let shared = &*self.shared;
        let kept = self.kept.get_mut();
        let tracer = shared.tracer.as_ref();
        let trace = tracer.map(|tracer| tracer.borrow_mut().next_trace());
        let written = write(kept, shared, index, step, trace, &mut self.buffer);
        let Some((bytes, tail)) = written else {
            return Next::Nothing;
        };
        let written = &shared.prepared.requests[index];
        let parts = [Part {
            end: bytes.len() + tail.len(),
            expect: Expect::for_method(step.method()),
            series: written.part.series,
            request: written.part.request.filter(|_| step.is_first()),
        }];
        let batch = Batch {
            endpoint: match step.is_at_home() {
                true => written.endpoint,
                false => requester.endpoint_of(step.url()),
            },
            bytes,
            tail,
            http2: None,
            parts: &parts,
            resend: Resend::default(),
        };
        let observer = &mut TraceObserver::new(requester, &parts, trace.as_slice());
        let mut session_observer =
            SessionObserver::<_, DECODES>::new(step, &self.kept, &shared.decoders, observer);
        requester.send(batch, &mut session_observer).await;
        session_observer.into_next()
    }
}

/// Returns the bytes to send, written into `buffer` if they differ from those written before, and a
/// long body that follows them; `None` if they can't be written. The request carries a trace if
/// there is one.
fn write<'a>(
    kept: &mut SessionState,
    shared: &'a Shared,
    index: usize,
    step: &Step<'_>,
    trace: Option<Trace>,
    buffer: &'a mut Vec<u8>,
) -> Option<(&'a [u8], &'a [u8])> {
    let cookies = kept.cookies(step.url());
    let trace = trace.map(|trace| trace.to_string());
    let request = &shared.requests[index];
    if step.is_first() && request.takes_fields {
        let fields = [
            ("Cookie", cookies),
            ("Authorization", step.authorization.as_deref()),
            (TRACEPARENT, trace.as_deref()),
        ];
        let body = &shared.prepared.requests[index].body;
        return Some((request.with_fields(fields, buffer), body));
    }
    let plan = &shared.prepared.plan;
    let added = UserFields {
        cookies,
        traceparent: trace.as_deref(),
    };
    let written = step.write(added, plan.client.compressed, &plan.connection);
    *buffer = written.ok()?;
    Some((buffer, &[]))
}
