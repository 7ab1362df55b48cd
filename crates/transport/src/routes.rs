//! Endpoints by number: those of the plan, and those that are added while a run lasts.
//!
//! A route gets its number when its origin first occurs. Its name is resolved when a connection is
//! first dialled, once for all tasks that wait for it, and without blocking the loop. The result is
//! cached for the time that the plan sets; a failure is not, so that the next dial resolves again.

use crate::endpoint::{Endpoint, ResolveError};
use loadline_plan::{Connection as Settings, Selection};
use loadline_reactor::{Address, Host};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};
use url::{Origin, Url};

/// The routes of one worker.
pub(crate) struct Routes {
    list: RefCell<Vec<Rc<Route>>>,
    /// The routes of composed requests, by scheme, host and port.
    by_origin: RefCell<HashMap<Origin, usize>>,
    /// The position of the first connection of each route in its rotation.
    first: usize,
}

/// The destination of connections to one endpoint.
pub(crate) struct Route {
    endpoint: RefCell<Option<Rc<Endpoint>>>,
    /// The time until which the endpoint's addresses are valid, on the host's clock.
    until_ns: Cell<u64>,
    /// The URL to resolve, if the endpoint was not resolved before the run.
    url: Option<Url>,
    /// The position of the next connection in the rotation.
    turn: Cell<usize>,
    lookup: RefCell<Option<Rc<Lookup>>>,
}

/// A look-up in progress.
#[derive(Default)]
struct Lookup {
    outcome: RefCell<Option<Result<Rc<Endpoint>, Rc<ResolveError>>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl Routes {
    /// Creates routes to endpoints that were resolved before the run.
    pub(crate) fn new(endpoints: Vec<Endpoint>, first: usize) -> Self {
        let known = |endpoint| Rc::new(Route::new(Some(endpoint), None, first));
        Routes {
            list: RefCell::new(endpoints.into_iter().map(known).collect()),
            by_origin: RefCell::default(),
            first,
        }
    }

    pub(crate) fn get(&self, number: usize) -> Rc<Route> {
        Rc::clone(&self.list.borrow()[number])
    }

    /// Returns the number of the route to a URL's origin, which may be new.
    pub(crate) fn number_of(&self, url: &Url) -> usize {
        let mut by_origin = self.by_origin.borrow_mut();
        *by_origin.entry(url.origin()).or_insert_with(|| {
            let mut list = self.list.borrow_mut();
            let serves = |route: &Rc<Route>| {
                let endpoint = route.endpoint.borrow();
                let known = endpoint.as_ref().filter(|_| route.url.is_none());
                known.is_some_and(|endpoint| endpoint.serves(url))
            };
            list.iter().position(serves).unwrap_or_else(|| {
                let url = Some(url.clone());
                list.push(Rc::new(Route::new(None, url, self.first)));
                list.len() - 1
            })
        })
    }
}

impl Route {
    fn new(endpoint: Option<Endpoint>, url: Option<Url>, first: usize) -> Self {
        Route {
            endpoint: RefCell::new(endpoint.map(Rc::new)),
            until_ns: Cell::new(u64::MAX),
            url,
            turn: Cell::new(first),
            lookup: RefCell::new(None),
        }
    }

    /// Returns the endpoint, if it is resolved and its addresses are still valid.
    pub(crate) fn endpoint(&self, now_ns: impl FnOnce() -> u64) -> Option<Rc<Endpoint>> {
        let until_ns = self.until_ns.get();
        if until_ns < u64::MAX && until_ns <= now_ns() {
            return None;
        }
        self.endpoint.borrow().clone()
    }

    /// Returns the endpoint's next address, and the number of completed rotations.
    pub(crate) fn next_turn<'a>(
        &self,
        endpoint: &'a Endpoint,
        selection: Selection,
    ) -> (&'a Address, usize) {
        let addresses = &endpoint.addresses;
        let this = self.turn.replace(self.turn.get().wrapping_add(1));
        let index = match selection {
            Selection::RoundRobin => this,
            Selection::First => 0,
            Selection::Random => scattered(this as u64) as usize,
        };
        (&addresses[index % addresses.len()], this / addresses.len())
    }

    /// Resolves the endpoint, or waits until another task has, up to the deadline.
    pub(crate) async fn resolve<H: Host>(
        self: &Rc<Self>,
        host: &H,
        settings: &Settings,
        deadline_ns: u64,
    ) -> io::Result<Rc<Endpoint>> {
        let lookup = self.look_up(host, settings);
        let timer = host.timer();
        timer.set((deadline_ns < u64::MAX).then_some(deadline_ns));
        poll_fn(|cx| {
            if let Some(outcome) = &*lookup.outcome.borrow() {
                return Poll::Ready(outcome.clone().map_err(|error| unresolved(&error)));
            }
            lookup.waiting.borrow_mut().push(cx.waker().clone());
            timer.poll(cx).map(|()| Err(self.timed_out()))
        })
        .await
    }

    /// Returns the look-up in progress, and begins one if there is none. It continues even if no
    /// task waits for it.
    fn look_up<H: Host>(self: &Rc<Self>, host: &H, settings: &Settings) -> Rc<Lookup> {
        let mut under_way = self.lookup.borrow_mut();
        if let Some(lookup) = &*under_way {
            return Rc::clone(lookup);
        }
        let lookup = Rc::new(Lookup::default());
        *under_way = Some(Rc::clone(&lookup));
        let (route, shared_lookup) = (Rc::clone(self), Rc::clone(&lookup));
        let (own, settings) = (host.clone(), settings.clone());
        let resolving = async move {
            let outcome = match &route.url {
                Some(url) => route.resolve_endpoint(&own, url, &settings).await,
                None => Err(Rc::new(nameless())),
            };
            route.lookup.take();
            shared_lookup.outcome.replace(Some(outcome));
            shared_lookup
                .waiting
                .take()
                .into_iter()
                .for_each(Waker::wake);
        };
        host.spawn(resolving).detach();
        lookup
    }

    async fn resolve_endpoint<H: Host>(
        &self,
        host: &H,
        url: &Url,
        settings: &Settings,
    ) -> Result<Rc<Endpoint>, Rc<ResolveError>> {
        let endpoint = Rc::new(Endpoint::resolve_on(host, url, settings).await?);
        self.endpoint.replace(Some(Rc::clone(&endpoint)));
        let naming = settings.naming.as_ref();
        if let Some(ttl) = naming.and_then(|naming| naming.ttl) {
            let ttl_ns = u64::try_from(ttl.as_nanos()).unwrap_or(u64::MAX);
            self.until_ns.set(host.now_ns().saturating_add(ttl_ns));
        }
        Ok(endpoint)
    }

    fn timed_out(&self) -> io::Error {
        let host = self.url.as_ref().and_then(Url::host_str);
        let text = format!(
            "the resolver did not respond for the host `{}` within the timeout",
            host.unwrap_or_default()
        );
        io::Error::new(io::ErrorKind::TimedOut, text)
    }
}

/// Converts the error of a look-up to that of a dial.
fn unresolved(error: &ResolveError) -> io::Error {
    match error {
        ResolveError::Blocked(blocked) => io::Error::other(blocked.clone()),
        ResolveError::Unknown { .. } | ResolveError::NoneOfVersion { .. } => {
            io::Error::other(error.to_string())
        }
    }
}

/// Returns the error for an endpoint that was resolved before the run and has no name to resolve.
fn nameless() -> ResolveError {
    ResolveError::Unknown {
        host: String::new(),
        reason: "it has no name".to_owned(),
    }
}

/// Returns a pseudo-random number for each number of a sequence: the finalizer of SplitMix64
/// (Steele, Lea and Flood, 2014).
fn scattered(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
