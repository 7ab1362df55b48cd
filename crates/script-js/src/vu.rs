//! A virtual user: what its native functions know of it.
//!
//! There is one on each fiber. Native functions find theirs through the fiber that runs, so that
//! modules are plain functions and keep nothing.

use crate::event_loop::Operations;
use crate::exception::of_value;
use crate::fiber::{self, Cancelled, Control};
use crate::http::Responses;
use crate::modules::cycles::Loading;
use crate::program::Program;
use crate::run::{Abort, RunState, Stage};
use crate::samples::{CommonTags, SampleTags, Worker};
use crate::shared::Shared;
use loadline_engine::Requester;
use loadline_reactor::{Host, Kernel};
use rquickjs::{Ctx, Object, Persistent, Result, Value};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long a script may compute before others have their turn.
const QUANTUM: Duration = Duration::from_millis(1);

/// A virtual user.
pub(crate) struct Vu {
    /// Its script.
    pub(crate) program: Arc<Program>,
    /// Its number: 0 for what runs outside of the load.
    pub(crate) id: u32,
    /// The run that it belongs to; none in the first initialisation.
    pub(crate) run: Option<Arc<RunState>>,
    /// What the users of its worker share.
    pub(crate) worker: Rc<Worker>,
    /// How it waits.
    pub(crate) control: Rc<Control>,
    /// What it has begun and not ended.
    pub(crate) operations: Operations,
    /// What it does at the moment; tags are changed by [`retag`](Vu::retag).
    pub(crate) activity: RefCell<Activity>,
    /// What its requests share.
    pub(crate) http: crate::http::HttpState,
    /// What sends its requests; none in the init context.
    requester: RefCell<Option<Requester<Kernel>>>,
    /// When its script went on last.
    resumed: Cell<Option<Instant>>,
    hidden: RefCell<Option<Persistent<Object<'static>>>>,
    /// The runtime that it shares with others, if it does.
    shared: OnceCell<Rc<Shared>>,
    /// What its responses are made with, where it shares none.
    responses: Responses,
    /// What `Math.random()` goes on from, if the script has said.
    pub(crate) random: Cell<Option<u32>>,
    /// Promises that were rejected, and whom nobody has caught yet: what with.
    rejected: RefCell<Vec<(u64, String)>>,
    /// What its samples have in common, as long as that stays.
    common: RefCell<Option<Rc<CommonTags>>>,
    /// What it loads.
    pub(crate) loading: Loading,
    /// Why the script can't be loaded.
    refusal: RefCell<Option<String>>,
    /// What the script said when it ended the run.
    aborted: RefCell<Option<String>>,
}

/// What a virtual user does, and the tags of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// The scenario, setup or teardown; none in the init context.
    pub(crate) stage: Option<Arc<Stage>>,
    /// The groups it is in, outermost first.
    pub(crate) groups: Vec<String>,
    /// Tags that the script has set.
    pub(crate) tags: BTreeMap<String, String>,
    /// Metadata that the script has set.
    pub(crate) metadata: BTreeMap<String, String>,
    /// How many iterations it began before this one.
    pub(crate) iteration: u64,
    /// The same, in this scenario.
    pub(crate) iteration_in_scenario: u64,
    /// The number of this iteration in its scenario, counted over this process and over all.
    pub(crate) iteration_in_test: u64,
    /// Bytes that were sent and received in it.
    pub(crate) bytes: (u64, u64),
}

impl Activity {
    /// The tag `group`: the groups with `::` before each.
    pub(crate) fn group(&self) -> String {
        let of_stage = self.stage.as_ref().map_or("", |stage| stage.root_group());
        let groups = self.groups.iter().map(|group| format!("::{group}"));
        groups.fold(of_stage.to_owned(), |path, group| path + &group)
    }
}

impl Vu {
    /// A user of this program, which has no runtime yet.
    pub(crate) fn new(
        program: &Arc<Program>,
        id: u32,
        run: Option<Arc<RunState>>,
        worker: Rc<Worker>,
    ) -> Rc<Self> {
        Rc::new(Vu {
            program: Arc::clone(program),
            id,
            run,
            worker,
            control: Rc::default(),
            operations: Operations::default(),
            activity: RefCell::default(),
            http: crate::http::HttpState::default(),
            requester: RefCell::default(),
            resumed: Cell::default(),
            hidden: RefCell::default(),
            shared: OnceCell::new(),
            responses: Responses::default(),
            random: Cell::default(),
            rejected: RefCell::default(),
            common: RefCell::default(),
            loading: Loading::default(),
            refusal: RefCell::default(),
            aborted: RefCell::default(),
        })
    }

    /// Makes it a user of a runtime.
    pub(crate) fn own(&self, ctx: &Ctx<'_>) -> Result<()> {
        let hidden = Object::new(ctx.clone())?;
        for name in ["modules", "commonJs", "wrappers"] {
            hidden.set(name, Object::new(ctx.clone())?)?;
        }
        self.hidden.replace(Some(Persistent::save(ctx, hidden)));
        Ok(())
    }

    /// The user that runs.
    pub(crate) fn of(_: &Ctx<'_>) -> Rc<Vu> {
        fiber::local().expect("scripts run on the fibers of their users")
    }

    /// From now on its runtime is this one.
    pub(crate) fn share(&self, shared: &Rc<Shared>) {
        self.shared.get_or_init(|| Rc::clone(shared));
    }

    /// The runtime that it shares with others, if it does.
    pub(crate) fn shared(&self) -> Option<&Rc<Shared>> {
        self.shared.get()
    }

    /// What modules keep out of the script's sight.
    pub(crate) fn hidden<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let hidden = self.hidden.borrow().clone();
        hidden.expect("it is there with the runtime").restore(ctx)
    }

    /// What modules keep out of scripts' sight that is the same for all users of the runtime.
    pub(crate) fn common<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        match self.shared.get() {
            Some(shared) => shared.hidden(ctx),
            None => self.hidden(ctx),
        }
    }

    /// What responses are made with in its runtime.
    pub(crate) fn responses(&self) -> &Responses {
        match self.shared.get() {
            Some(shared) => &shared.responses,
            None => &self.responses,
        }
    }

    /// Gives back all that it holds of its runtime, which ends.
    pub(crate) fn leave_runtime(&self) {
        self.operations.clear();
        self.hidden.take();
        self.responses.forget();
    }

    /// Whether its script is being initialised.
    pub(crate) fn is_init(&self) -> bool {
        self.activity.borrow().stage.is_none()
    }

    /// What sends its requests, outside of the init context.
    pub(crate) fn requester(&self) -> Option<Requester<Kernel>> {
        self.requester.borrow().clone()
    }

    /// What sends its requests from now on.
    pub(crate) fn send_through(&self, requester: Option<Requester<Kernel>>) {
        self.requester.replace(requester);
    }

    /// Waits for a future; what else it has begun goes on meanwhile.
    ///
    /// # Errors
    /// If its iteration has to end.
    pub(crate) fn wait<F: Future>(&self, future: F) -> std::result::Result<F::Output, Cancelled> {
        let mut future = pin!(future);
        let both = poll_fn(|cx| {
            self.operations.poll(cx);
            future.as_mut().poll(cx)
        });
        let turns = self.control.turns();
        let output = self.control.wait(both);
        self.go_on(turns)?;
        output
    }

    /// The same for what `begin` gives, which is begun and polled outside of the fiber's stack.
    ///
    /// # Errors
    /// If its iteration has to end.
    pub(crate) fn wait_below<F: Future<Output: 'static> + 'static>(
        self: &Rc<Self>,
        begin: impl FnOnce() -> F + 'static,
    ) -> std::result::Result<F::Output, Cancelled> {
        let vu = Rc::clone(self);
        let mut begin = Some(begin);
        let mut begun = None;
        let both = poll_fn(move |cx| {
            vu.operations.poll(cx);
            if let Some(begin) = begin.take() {
                begun = Some(Box::pin(begin()));
            }
            begun
                .as_mut()
                .map_or(Poll::Pending, |future| future.as_mut().poll(cx))
        });
        let turns = self.control.turns();
        let output = self.control.wait_below(both);
        self.go_on(turns)?;
        output
    }

    /// Goes on behind a wait that began with this number of turns. One that was over at once gave
    /// none away, so the script has computed all along.
    fn go_on(&self, turns: u64) -> std::result::Result<(), Cancelled> {
        if self.control.turns() != turns {
            self.resumed.set(None);
        }
        self.take_turns();
        match self.control.is_cancelled() {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }

    /// Blocks the script for so long.
    ///
    /// # Errors
    /// If its iteration has to end.
    pub(crate) fn sleep(&self, time: Duration) -> std::result::Result<(), Cancelled> {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match self.requester() {
            Some(requester) => self.wait(requester.pause(ns)),
            None => {
                std::thread::sleep(time);
                Ok(())
            }
        }
    }

    /// A future that is ready at this instant.
    pub(crate) fn timer(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        let host = self.requester().map(|requester| requester.host().clone());
        let due_ns = host.as_ref().map(|host| {
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            host.now_ns().saturating_add(ns)
        });
        async move {
            match (host, due_ns) {
                (Some(host), Some(due_ns)) => host.timer().until(due_ns).await,
                // In the init context nobody else has to go on.
                _ => std::thread::sleep(time),
            }
        }
    }

    /// Whether the script has to end where it is; lets others have their turn before.
    pub(crate) fn is_interrupted(&self) -> bool {
        if self.control.is_crossing() {
            return false;
        }
        self.take_turns();
        self.control.is_cancelled()
    }

    /// Lets others have their turn, if the script has computed long enough.
    pub(crate) fn take_turns(&self) {
        let resumed = self.resumed.get().unwrap_or_else(Instant::now);
        self.resumed.set(Some(resumed));
        if resumed.elapsed() < QUANTUM || self.requester.borrow().is_none() {
            return;
        }
        let mut has_waited = false;
        // The loop wakes it when the others have had their turn; a wait that fails ends elsewhere.
        let _ = self.control.wait(poll_fn(|cx| {
            self.operations.poll(cx);
            match std::mem::replace(&mut has_waited, true) {
                true => Poll::Ready(()),
                false => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
            }
        }));
        self.resumed.set(None);
    }

    /// The next number of a script that has seeded `Math.random()` (mulberry32).
    pub(crate) fn next_random(&self) -> Option<f64> {
        let state = self.random.get()?.wrapping_add(0x6d2b_79f5);
        self.random.set(Some(state));
        let first = (state ^ (state >> 15)).wrapping_mul(state | 1);
        let mixed = (first ^ (first >> 7)).wrapping_mul(first | 61);
        let next = first ^ first.wrapping_add(mixed);
        Some(f64::from(next ^ (next >> 14)) / 4_294_967_296.0)
    }

    /// A promise was rejected, and nobody has caught it yet.
    pub(crate) fn reject(&self, promise: u64, reason: Value<'_>) {
        let text = of_value(&self.program.store, reason);
        // What Go says has no name there.
        let text = text.strip_prefix("GoError: ").unwrap_or(&text);
        let text = format!("Uncaught (in promise) {text}");
        self.rejected.borrow_mut().push((promise, text));
    }

    /// Somebody has caught it.
    pub(crate) fn forgive(&self, promise: u64) {
        self.rejected
            .borrow_mut()
            .retain(|(one, _)| *one != promise);
    }

    /// Whether a promise was rejected that nobody has caught.
    pub(crate) fn has_rejection(&self) -> bool {
        !self.rejected.borrow().is_empty()
    }

    /// What the first promise was rejected with that nobody caught; the others are forgotten.
    pub(crate) fn take_rejection(&self) -> Option<String> {
        let mut rejected = self.rejected.borrow_mut();
        let first = (!rejected.is_empty()).then(|| rejected.swap_remove(0).1);
        rejected.clear();
        first
    }

    /// Something of the script can't be loaded: the first counts.
    pub(crate) fn refuse_to_load(&self, sentence: &str) {
        let mut refusal = self.refusal.borrow_mut();
        refusal.get_or_insert_with(|| sentence.to_owned());
    }

    /// Why the script can't be loaded, if that is why it failed.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.borrow().clone()
    }

    /// The script ends the run, and says this.
    pub(crate) fn abort(&self, message: String) {
        if let Some(run) = &self.run {
            run.end(Abort::Asked(message.clone()));
        }
        self.aborted.replace(Some(message));
        self.control.cancel(true);
    }

    /// What the script said when it ended the run, if it did.
    pub(crate) fn aborted(&self) -> Option<String> {
        self.aborted.borrow().clone()
    }

    /// The tags of a sample at this moment, these among them.
    pub(crate) fn tags<'a>(&self, own: &'a [(&'a str, &'a str)]) -> SampleTags<'a> {
        let known = self.common.borrow().clone();
        let common = known.unwrap_or_else(|| {
            let run = self.run.as_deref();
            let common = CommonTags::of(run, self.id, &self.activity.borrow());
            let common = Rc::new(common);
            self.common.replace(Some(Rc::clone(&common)));
            common
        });
        SampleTags::new(own, common)
    }

    /// What its samples have in common is about to change, as this says.
    pub(crate) fn retag(&self, change: impl FnOnce(&mut Activity)) {
        change(&mut self.activity.borrow_mut());
        self.common.take();
    }
}

impl std::fmt::Debug for Vu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vu")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
