//! What the users of a script do: ask it for a request, send that, show it the responses.
//!
//! A script without `request`, `response` and `delay` is called for its text once in each thread,
//! and then its users send the same bytes over and over, as those of a plain request do.

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
/// The longest body that is gathered for `response`.
const MOST_BODY_BYTES: usize = 64 << 20;
const TOO_LONG: &str =
    "the body is longer than the 64 MiB that are gathered for a script's response()";

/// Which functions of a script are called during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Callbacks {
    pub(crate) request: bool,
    pub(crate) response: bool,
    pub(crate) delay: bool,
    /// How many requests the first text had.
    pub(crate) depth: u32,
}

/// What a worker needs of a script: its threads, and which of them is the worker's own.
pub(crate) struct ThreadContext {
    pub(crate) threads: Arc<Vec<Thread>>,
    /// Which of the threads is its own.
    pub(crate) index: usize,
    pub(crate) failure: Arc<Failure>,
    pub(crate) callbacks: Callbacks,
    /// Whether its requests have names.
    pub(crate) names_requests: bool,
}

/// The scenario of one worker: users that do what the script says.
pub struct Scripted {
    worker: Rc<Worker>,
}

/// What the users of one worker share.
pub(crate) struct Worker {
    context: ThreadContext,
    request: Function,
    respond: Function,
    delay: Function,
    /// The text of a script that has no `request`; empty if `wrk.request` threw.
    fixed: Text,
    /// The head of the response that the script was shown last.
    last_head: RefCell<Head>,
    /// The series of the names that the script gave its requests.
    series: NamedSeries,
    /// The script threw.
    failed: Cell<bool>,
}

/// What goes out at once.
#[derive(Clone, Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

impl Text {
    /// Takes over what a script wants sent; false if that is nothing. Most scripts send the like of
    /// the last one, and many the same.
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

    /// Counts its requests in this series.
    fn count_in(&mut self, series: SeriesId) {
        if self.parts.first().is_some_and(|part| part.series != series) {
            self.parts.iter_mut().for_each(|part| part.series = series);
        }
    }

    /// At most so many requests.
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
    /// Asks once for the text that all users send.
    fn fix(&mut self) {
        if !self.context.callbacks.request {
            let mut fixed = Text::default();
            self.ask(&mut fixed);
            self.fixed = fixed;
        }
    }

    /// Asks for the next text and keeps it in `text`; false if the script throws or has none: nil,
    /// a boolean or an empty text, with which it lets a connection rest.
    fn ask(&self, text: &mut Text) -> bool {
        let state = &self.context.thread().state;
        let wanted = match self.call(&self.request, During::Request, ()) {
            Some(Value::String(wanted)) => Some(wanted),
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
        wanted.is_some_and(|wanted| text.take(&wanted.as_bytes()))
    }

    /// Calls the script; what it throws ends the run.
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
        self.context.failure.tell(error);
    }

    /// Whether the script threw, or asked for its thread's end.
    fn is_over(&self) -> bool {
        self.failed.get() || self.context.thread().cell.take_stop()
    }

    /// How long the script wants to wait, in nanoseconds: whole milliseconds, as in wrk.
    fn delay_ns(&self) -> u64 {
        let delay = self.call(&self.delay, During::Delay, ());
        // What is below zero or no number at all becomes zero.
        (delay.unwrap_or(0f64).trunc() * NS_PER_MS) as u64
    }

    /// Shows the script a response.
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
        // A text goes out whole, unless the run is to end after fewer requests.
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

    /// Makes up what is sent next; false if there is nothing.
    fn compose<H: Host>(&mut self, requester: &Requester<H>) -> bool {
        let worker = &*self.worker;
        if worker.failed.get() {
            return false;
        }
        let has_text = match worker.context.callbacks.request {
            true => worker.ask(&mut self.text),
            // Empty if `wrk.request` had nothing.
            false => !worker.fixed.parts.is_empty(),
        };
        if has_text && worker.context.names_requests {
            self.name(requester);
        }
        has_text
    }

    /// Counts what is sent next by its name.
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

/// Gathers a response and shows it to the script.
struct Reader<'a> {
    worker: &'a Worker,
    answer: &'a mut Answer,
}

impl Sink for Reader<'_> {
    const WANTS_HEAD: bool = true;
    const WANTS_BODY: bool = true;

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
