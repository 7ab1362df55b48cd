//! A virtual user: the state that its native functions use.
//!
//! There is one on each fiber. Native functions find theirs through the fiber that runs, so that
//! modules are plain functions without state.

use crate::exception::Thrown;
use crate::fiber::{self, Cancelled, Control};
use crate::http::lazy::Responses;
use crate::http::state::HttpState;
use crate::modules::cycles::Loading;
use crate::operations::Operations;
use crate::program::Program;
use crate::run::{Abort, RunState, Stage};
use crate::samples::{CommonTags, SampleTags, Worker};
use crate::shared::runtime::Shared;
use loadline_engine::Requester;
use loadline_reactor::{Host, Kernel};
use rquickjs::{Ctx, Object, Persistent, Result};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The time that a script may compute before others have their turn.
const QUANTUM: Duration = Duration::from_millis(1);

/// A virtual user.
pub(crate) struct Vu {
    /// The user's script.
    pub(crate) program: Arc<Program>,
    /// The user's number; 0 for calls outside of the load.
    pub(crate) id: u32,
    /// The run that the user belongs to; `None` in the first initialisation.
    pub(crate) run: Option<Arc<RunState>>,
    /// State that the users of a worker share.
    pub(crate) worker: Rc<Worker>,
    /// The means to wait: the control of the user's fiber.
    pub(crate) control: Rc<Control>,
    /// The operations that the user has begun and that have not ended.
    pub(crate) operations: Operations,
    /// The current activity. Tags are changed through [`retag`](Vu::retag) only.
    pub(crate) activity: RefCell<Activity>,
    /// State that the user's requests share.
    pub(crate) http: HttpState,
    /// The requester; `None` in the init context.
    requester: RefCell<Option<Requester<Kernel>>>,
    /// The time at which the script was first seen to compute since its last wait.
    resumed: Cell<Option<Instant>>,
    hidden: RefCell<Option<Persistent<Object<'static>>>>,
    /// The runtime that the user shares with others; empty if it has its own.
    shared: OnceCell<Rc<Shared>>,
    /// Templates for responses, used where the runtime is not shared.
    responses: Responses,
    /// The state of `Math.random()`, if the script has seeded it.
    pub(crate) random: Cell<Option<u32>>,
    /// Rejected promises that no code has handled yet, with the texts of their reasons.
    rejected: RefCell<Vec<(u64, Thrown)>>,
    /// The tags that all samples have in common, until they change.
    common: RefCell<Option<Rc<CommonTags>>>,
    /// The modules that the user is loading.
    pub(crate) loading: Loading,
    /// The reason why the script can't be loaded.
    refusal: RefCell<Option<String>>,
    /// The script's message when it ended the run.
    aborted: RefCell<Option<String>>,
}

/// The current activity of a virtual user, with its tags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// The scenario, setup or teardown; `None` in the init context.
    pub(crate) stage: Option<Arc<Stage>>,
    /// The groups that the script is in, outermost first.
    pub(crate) groups: Vec<String>,
    /// Tags that the script has set.
    pub(crate) tags: BTreeMap<String, String>,
    /// Metadata that the script has set.
    pub(crate) metadata: BTreeMap<String, String>,
    /// Iterations that the user began before this one.
    pub(crate) iteration: u64,
    /// Iterations that the user began before this one in the same scenario.
    pub(crate) iteration_in_scenario: u64,
    /// The number of this iteration in its scenario, over all users of the test.
    pub(crate) iteration_in_test: u64,
    /// Bytes that were sent and received in this iteration.
    pub(crate) bytes: (u64, u64),
}

impl Activity {
    /// Returns the tag `group`: each group's name with `::` before it, after the root group of the
    /// stage.
    pub(crate) fn group(&self) -> String {
        let of_stage = self.stage.as_ref().map_or("", |stage| stage.root_group());
        let groups = self.groups.iter().map(|group| format!("::{group}"));
        groups.fold(of_stage.to_owned(), |path, group| path + &group)
    }
}

impl Vu {
    /// Creates a user of this program, without a runtime yet.
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
            http: HttpState::default(),
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

    /// Creates the objects in which modules keep this user's hidden state in the runtime.
    pub(crate) fn own(&self, ctx: &Ctx<'_>) -> Result<()> {
        let hidden = Object::new(ctx.clone())?;
        for name in ["modules", "commonJs", "wrappers"] {
            hidden.set(name, Object::new(ctx.clone())?)?;
        }
        self.hidden.replace(Some(Persistent::save(ctx, hidden)));
        Ok(())
    }

    /// Returns the user whose fiber runs.
    pub(crate) fn of(_: &Ctx<'_>) -> Rc<Vu> {
        fiber::local().expect("scripts run on the fibers of their users")
    }

    /// Sets the shared runtime of this user.
    pub(crate) fn share(&self, shared: &Rc<Shared>) {
        self.shared.get_or_init(|| Rc::clone(shared));
    }

    /// Returns the runtime that the user shares with others; `None` if it has its own.
    pub(crate) fn shared(&self) -> Option<&Rc<Shared>> {
        self.shared.get()
    }

    /// Returns the object in which modules keep state that the script can't see.
    pub(crate) fn hidden<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let hidden = self.hidden.borrow().clone();
        hidden.expect("it is there with the runtime").restore(ctx)
    }

    /// Returns the object for hidden state that is the same for all users of the runtime.
    pub(crate) fn common<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        match self.shared.get() {
            Some(shared) => shared.hidden(ctx),
            None => self.hidden(ctx),
        }
    }

    /// Returns the templates for responses of the user's runtime.
    pub(crate) fn responses(&self) -> &Responses {
        match self.shared.get() {
            Some(shared) => &shared.responses,
            None => &self.responses,
        }
    }

    /// Releases all values of the runtime, which is about to end.
    pub(crate) fn leave_runtime(&self) {
        self.operations.clear();
        self.hidden.take();
        self.responses.forget();
    }

    /// True while the script is being initialised.
    pub(crate) fn is_init(&self) -> bool {
        self.activity.borrow().stage.is_none()
    }

    /// Returns the requester; `None` in the init context.
    pub(crate) fn requester(&self) -> Option<Requester<Kernel>> {
        self.requester.borrow().clone()
    }

    /// Sets the requester.
    pub(crate) fn send_through(&self, requester: Option<Requester<Kernel>>) {
        self.requester.replace(requester);
    }

    /// Waits for a future. The user's other operations go on meanwhile.
    ///
    /// # Errors
    /// If the iteration has to end.
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

    /// Waits for the future that `begin` returns. Both are run outside of the fiber's stack.
    ///
    /// # Errors
    /// If the iteration has to end.
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

    /// Continues after a wait that began at this number of turns. A wait that was over at once gave
    /// no turn to others, so the script has computed all along.
    fn go_on(&self, turns: u64) -> std::result::Result<(), Cancelled> {
        match self.control.turns() == turns {
            true => self.take_turns(),
            // The time is taken when the script has computed for a while.
            false => self.resumed.set(None),
        }
        match self.control.is_cancelled() {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }

    /// Blocks the script for this time.
    ///
    /// # Errors
    /// If the iteration has to end.
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

    /// Returns a future that is ready after this time.
    pub(crate) fn timer(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let due = self.requester().map(|requester| {
            let due_ns = requester.host().now_ns().saturating_add(ns);
            (requester, due_ns)
        });
        async move {
            match due {
                Some((requester, due_ns)) => requester.wait_until(due_ns).await,
                // In the init context there are no others to continue.
                None => std::thread::sleep(time),
            }
        }
    }

    /// True if the script has to end where it is. Lets others have their turn first.
    pub(crate) fn is_interrupted(&self) -> bool {
        if self.control.is_crossing() {
            return false;
        }
        self.take_turns();
        self.control.is_cancelled()
    }

    /// Lets others have their turn, if the script has computed for `QUANTUM`.
    pub(crate) fn take_turns(&self) {
        let resumed = self.resumed.get().unwrap_or_else(Instant::now);
        self.resumed.set(Some(resumed));
        if resumed.elapsed() < QUANTUM || self.requester.borrow().is_none() {
            return;
        }
        let mut has_waited = false;
        // The loop wakes the fiber when the others have had their turn. A cancelled wait is handled
        // by the caller.
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

    /// Returns the next number of a script that has seeded `Math.random()` (mulberry32).
    pub(crate) fn next_random(&self) -> Option<f64> {
        let state = self.random.get()?.wrapping_add(0x6d2b_79f5);
        self.random.set(Some(state));
        let first = (state ^ (state >> 15)).wrapping_mul(state | 1);
        let mixed = (first ^ (first >> 7)).wrapping_mul(first | 61);
        let next = first ^ first.wrapping_add(mixed);
        Some(f64::from(next ^ (next >> 14)) / 4_294_967_296.0)
    }

    /// Notes a rejected promise that no code has handled yet, with its reason.
    pub(crate) fn reject(&self, promise: u64, reason: Thrown) {
        let reason = reason.in_promise();
        self.rejected.borrow_mut().push((promise, reason));
    }

    /// Forgets a rejected promise, because code has handled it.
    pub(crate) fn forgive(&self, promise: u64) {
        self.rejected
            .borrow_mut()
            .retain(|(one, _)| *one != promise);
    }

    /// True if there is a rejected promise that no code has handled.
    pub(crate) fn has_rejection(&self) -> bool {
        !self.rejected.borrow().is_empty()
    }

    /// Takes the reason of the first rejected promise that no code has handled, as text, and
    /// forgets the others.
    pub(crate) fn take_rejection(&self) -> Option<String> {
        self.take_rejected().map(|reason| reason.text())
    }

    /// Takes the reason of the first rejected promise that no code has handled, and forgets the
    /// others.
    pub(crate) fn take_rejected(&self) -> Option<Thrown> {
        let mut rejected = self.rejected.borrow_mut();
        let first = (!rejected.is_empty()).then(|| rejected.swap_remove(0).1);
        rejected.clear();
        first
    }

    /// Notes why the script can't be loaded; the first reason is kept.
    pub(crate) fn refuse_to_load(&self, sentence: &str) {
        let mut refusal = self.refusal.borrow_mut();
        refusal.get_or_insert_with(|| sentence.to_owned());
    }

    /// Returns the reason why the script can't be loaded, if there is one.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.borrow().clone()
    }

    /// Ends the run on the script's request, with its message.
    pub(crate) fn abort(&self, message: String) {
        if let Some(run) = &self.run {
            run.end(Abort::Requested(message.clone()));
        }
        self.aborted.replace(Some(message));
        self.control.cancel(true);
    }

    /// Returns the script's message when it ended the run, if it did.
    pub(crate) fn aborted(&self) -> Option<String> {
        self.aborted.borrow().clone()
    }

    /// Returns the tags of a sample at this moment: `own` and the user's common ones.
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

    /// Changes the activity, and forgets the common tags, which are made anew from it.
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
