//! The users of a script: they call it for a request, send the request, and pass on the responses.
//!
//! A script without `request`, `response` and `delay` is called for its text once in each thread,
//! and then its users send the same bytes repeatedly, as those of a plain request do.

use crate::answer::{Answer, Head};
use crate::error::{During, ScriptError};
use crate::failure::Failure;
use crate::names::NamedSeries;
use crate::request;
use crate::script::Thread;
use loadline_engine::{
    Batch, Behaviour, Iteration, Observer, Part, Refusal, Requester, Resend, Scenario,
};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome, SharedMetrics};
use loadline_wire::Sink;
use mlua::{FromLuaMulti, Function, IntoLuaMulti, Value};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

const NS_PER_MS: f64 = 1e6;
/// The maximum length of a body that is collected for `response`.
const MOST_BODY_BYTES: usize = 64 << 20;
const TOO_LONG: &str =
    "the body is longer than the 64 MiB that are gathered for a script's response()";

/// The functions of a script that are called during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Callbacks {
    pub(crate) request: bool,
    pub(crate) response: bool,
    pub(crate) delay: bool,
    /// The number of requests in the first text.
    pub(crate) depth: u32,
}

/// The parts of a script that a worker needs.
pub(crate) struct ThreadContext {
    pub(crate) threads: Arc<Vec<Thread>>,
    /// The index of the worker's own thread.
    pub(crate) index: usize,
    pub(crate) failure: Arc<Failure>,
    pub(crate) callbacks: Callbacks,
    /// True if requests have names.
    pub(crate) names_requests: bool,
}

/// The scenario of one worker, whose users run the script.
pub struct Scripted {
    worker: Rc<Worker>,
}

/// State that the users of one worker share.
pub(crate) struct Worker {
    context: ThreadContext,
    request: Function,
    respond: Function,
    delay: Function,
    /// The text of a script without `request`; empty if `wrk.request` raised an error.
    fixed: Text,
    /// The head of the response that was last passed to the script.
    last_head: RefCell<Head>,
    /// The series for the names that the script gave to its requests.
    series: NamedSeries,
    /// True if the script raised an error.
    failed: Cell<bool>,
}

/// A text of requests that are sent together.
#[derive(Clone, Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

impl Text {
    /// Takes the text that a script returned; false if it is empty. The text is split again only if
    /// it differs from the last one, because many scripts repeat their text.
    fn take(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return false;
        }
        if self.bytes != bytes {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            request::cut(bytes, &mut self.parts);
        }
        true
    }

    /// Sets the series that counts the requests.
    fn count_in(&mut self, series: SeriesId) {
        if self.parts.first().is_some_and(|part| part.series != series) {
            self.parts.iter_mut().for_each(|part| part.series = series);
        }
    }

    /// Returns the first requests of the text, at most `most`.
    fn batch(&self, most: usize) -> Batch<'_> {
        let parts = &self.parts[..most.clamp(1, self.parts.len())];
        let end = parts.last().map_or(0, |part| part.end);
        Batch {
            endpoint: 0,
            bytes: &self.bytes[..end],
            tail: &[],
            http2: None,
            parts,
            resend: Resend::default(),
        }
    }
}

impl Scripted {
    pub(crate) fn new(context: ThreadContext) -> Self {
        let state = &context.threads[context.index].state;
        let entry = |name| state.entry(name).expect("the prelude has this function");
        let (request, respond, delay) = (entry("request"), entry("respond"), entry("delay"));
        let mut worker = Worker {
            request,
            respond,
            delay,
            fixed: Text::default(),
            last_head: RefCell::default(),
            series: NamedSeries::default(),
            failed: Cell::new(false),
            context,
        };
        worker.fix();
        Scripted {
            worker: Rc::new(worker),
        }
    }
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted")
            .field("thread", &self.worker.context.index)
            .field("callbacks", &self.worker.context.callbacks)
            .finish_non_exhaustive()
    }
}

impl<H: Host> Scenario<H> for Scripted {
    type Behaviour = ScriptUser;

    fn user(&mut self) -> ScriptUser {
        ScriptUser {
            worker: Rc::clone(&self.worker),
            text: Text::default(),
            answer: Answer::default(),
        }
    }

    fn names_requests(&self) -> bool {
        self.worker.context.names_requests
    }

    fn metrics(&self) -> Option<SharedMetrics> {
        Some(Arc::clone(&self.worker.context.thread().state.metrics))
    }

    fn address(&self) -> Option<SocketAddr> {
        self.worker.context.thread().cell.chosen_address()
    }
}

impl ThreadContext {
    fn thread(&self) -> &Thread {
        &self.threads[self.index]
    }
}

impl Worker {
    /// Calls the script once for the text that all users send.
    fn fix(&mut self) {
        if !self.context.callbacks.request {
            let mut fixed = Text::default();
            self.call_request(&mut fixed);
            self.fixed = fixed;
        }
    }

    /// Calls the script for the next text and stores it in `text`; false if the script raises an
    /// error or returns no text: nil, a boolean or an empty text, which lets a connection rest.
    fn call_request(&self, text: &mut Text) -> bool {
        let state = &self.context.thread().state;
        let returned = match self.call(&self.request, During::Request, ()) {
            Some(Value::String(returned)) => Some(returned),
            None | Some(Value::Nil | Value::Boolean(_)) => None,
            Some(number @ (Value::Integer(_) | Value::Number(_))) => {
                state.lua.coerce_string(number).ok().flatten()
            }
            Some(other) => {
                let message = format!("a text was expected, not a {}", other.type_name());
                self.fail(state.script_error(During::Request, &message));
                None
            }
        };
        returned.is_some_and(|returned| text.take(&returned.as_bytes()))
    }

    /// Calls a function of the script. An error that it raises ends the run.
    fn call<R: FromLuaMulti>(
        &self,
        function: &Function,
        during: During,
        arguments: impl IntoLuaMulti,
    ) -> Option<R> {
        let called = function.call(arguments);
        called
            .map_err(|error| self.fail(self.context.thread().state.error_of(during, &error)))
            .ok()
    }

    fn fail(&self, error: ScriptError) {
        self.failed.set(true);
        self.context.failure.report(error);
    }

    /// True if the script raised an error, or requested its thread's stop.
    fn is_over(&self) -> bool {
        self.failed.get() || self.context.thread().cell.take_stop()
    }

    /// Returns the wait that the script requests, in nanoseconds: whole milliseconds, as in wrk.
    fn delay_ns(&self) -> u64 {
        let delay = self.call(&self.delay, During::Delay, ());
        // A negative number, or a value that is not a number, becomes zero.
        (delay.unwrap_or(0f64).trunc() * NS_PER_MS) as u64
    }

    /// Passes a response to the script.
    fn show(&self, answer: &Answer) {
        let mut last = self.last_head.borrow_mut();
        let fresh = *last != answer.head;
        if fresh {
            last.clone_from(&answer.head);
        }
        drop(last);
        let lua = &self.context.thread().state.lua;
        let shown = answer.to_lua(lua, fresh);
        let Ok(shown) = shown.map_err(|error| self.fail_in_response(&error)) else {
            return;
        };
        self.call::<()>(&self.respond, During::Response, shown);
    }

    fn fail_in_response(&self, error: &mlua::Error) {
        self.fail(
            self.context
                .thread()
                .state
                .error_of(During::Response, error),
        );
    }
}

/// One user of a script.
#[derive(Debug)]
pub struct ScriptUser {
    worker: Rc<Worker>,
    text: Text,
    answer: Answer,
}

impl<H: Host> Behaviour<H> for ScriptUser {
    fn depth(&self) -> u32 {
        self.worker.context.callbacks.depth
    }

    fn is_prompt(&self) -> bool {
        !self.worker.context.callbacks.request
    }

    fn times_iterations(&self) -> bool {
        self.worker.context.callbacks.depth > 1
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        // A text is sent whole, unless the run ends after fewer requests.
        let starts = iteration.starts_left();
        let is_cut = starts < self.worker.context.callbacks.depth as usize;
        loop {
            self.wait(iteration).await;
            let most = if is_cut {
                iteration.starts_left()
            } else {
                usize::MAX
            };
            let has_text = self.compose(iteration.requester());
            if has_text {
                self.send(iteration, most).await;
            }
            if self.worker.is_over() {
                iteration.end_worker();
                return;
            }
            if !has_text {
                return iteration.rest().await;
            }
            if iteration.starts_left() == 0 {
                return;
            }
        }
    }
}

impl ScriptUser {
    async fn wait<H: Host>(&self, iteration: Iteration<'_, H>) {
        if !self.worker.context.callbacks.delay {
            return;
        }
        let delay_ns = self.worker.delay_ns();
        if delay_ns > 0 {
            iteration.pause(delay_ns).await;
        }
    }

    /// Determines the next text; false if there is none.
    fn compose<H: Host>(&mut self, requester: &Requester<H>) -> bool {
        let worker = &*self.worker;
        if worker.failed.get() {
            return false;
        }
        let has_text = match worker.context.callbacks.request {
            true => worker.call_request(&mut self.text),
            // Empty if `wrk.request` returned no text.
            false => !worker.fixed.parts.is_empty(),
        };
        if has_text && worker.context.names_requests {
            self.name(requester);
        }
        has_text
    }

    /// Sets the series of the next requests by their name.
    fn name<H: Host>(&mut self, requester: &Requester<H>) {
        let worker = &*self.worker;
        if self.text.parts.is_empty() {
            self.text.clone_from(&worker.fixed);
        }
        let name = &worker.context.thread().state.name;
        self.text.count_in(worker.series.of(name, requester));
    }

    async fn send<H: Host>(&mut self, iteration: Iteration<'_, H>, most: usize) {
        let callbacks = self.worker.context.callbacks;
        let is_own = callbacks.request || self.worker.context.names_requests;
        let text = match is_own {
            true => &self.text,
            false => &self.worker.fixed,
        };
        let batch = text.batch(most);
        if callbacks.response {
            let mut reader = Reader {
                worker: &self.worker,
                answer: &mut self.answer,
            };
            iteration.requester().send(batch, &mut reader).await;
        } else {
            iteration.requester().send(batch, &mut ()).await;
        }
    }
}

/// Collects a response and passes it to the script.
struct Reader<'a> {
    worker: &'a Worker,
    answer: &'a mut Answer,
}

impl Sink for Reader<'_> {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn status(&mut self, status: u16) {
        self.answer.status = status;
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        self.answer.head.add(name, value);
    }

    fn body(&mut self, part: &[u8]) {
        if self.answer.body.len() + part.len() <= MOST_BODY_BYTES {
            self.answer.body.extend_from_slice(part);
        } else {
            self.answer.is_too_long = true;
        }
    }
}

impl Observer for Reader<'_> {
    const MAY_REFUSE: bool = true;

    fn refusal(&mut self, _is_whole: bool) -> Option<Refusal> {
        self.answer.is_too_long.then(|| Refusal {
            kind: ErrorKind::Protocol,
            reason: TOO_LONG.to_owned(),
        })
    }

    fn ended(&mut self, exchange: &Exchange) {
        if matches!(exchange.outcome, Outcome::Answered { .. }) && !self.worker.failed.get() {
            self.worker.show(self.answer);
        }
        self.answer.clear();
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("thread", &self.context.index)
            .finish_non_exhaustive()
    }
}
