//! Endpoints by number: those of the plan, and those that turn up while a run lasts.
//!
//! A route has a number from when its origin is first named. Its name is looked up when a
//! connection is first dialled, once for all that wait for it, and off the loop. What was found is
//! kept; a failure is not, so that the next dial asks again.

use crate::endpoint::Endpoint;
use loadline_plan::Connection as Settings;
use loadline_reactor::{Address, Host};
use std::cell::{Cell, OnceCell, RefCell};
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
    /// The place of the first connection of each route in its rotation.
    first: usize,
}

/// Where connections to one endpoint go.
pub(crate) struct Route {
    endpoint: OnceCell<Endpoint>,
    /// What names the endpoint, where it was not resolved before.
    url: Option<Url>,
    /// The place of the next connection in the rotation.
    turn: Cell<usize>,
    lookup: RefCell<Option<Rc<Lookup>>>,
}

/// A look-up that is under way.
#[derive(Default)]
struct Lookup {
    outcome: RefCell<Option<Result<(), String>>>,
    waiting: RefCell<Vec<Waker>>,
}

impl Routes {
    /// Routes to endpoints that were resolved before the run.
    pub(crate) fn new(endpoints: Vec<Endpoint>, first: usize) -> Self {
        let known = |endpoint| Rc::new(Route::new(OnceCell::from(endpoint), None, first));
        Routes {
            list: RefCell::new(endpoints.into_iter().map(known).collect()),
            by_origin: RefCell::default(),
            first,
        }
    }

    pub(crate) fn get(&self, number: usize) -> Rc<Route> {
        Rc::clone(&self.list.borrow()[number])
    }

    /// The number of the route to a URL's origin, which may be new.
    pub(crate) fn number_of(&self, url: &Url) -> usize {
        let mut by_origin = self.by_origin.borrow_mut();
        *by_origin.entry(url.origin()).or_insert_with(|| {
            let mut list = self.list.borrow_mut();
            let serves = |route: &Rc<Route>| {
                let endpoint = route.endpoint.get();
                endpoint.is_some_and(|endpoint| endpoint.serves(url))
            };
            list.iter().position(serves).unwrap_or_else(|| {
                let url = Some(url.clone());
                list.push(Rc::new(Route::new(OnceCell::new(), url, self.first)));
                list.len() - 1
            })
        })
    }
}

impl Route {
    fn new(endpoint: OnceCell<Endpoint>, url: Option<Url>, first: usize) -> Self {
        Route {
            endpoint,
            url,
            turn: Cell::new(first),
            lookup: RefCell::new(None),
        }
    }

    /// The endpoint, if it is resolved.
    pub(crate) fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.get()
    }

    /// The endpoint's next address, and how often all of them have had their turn.
    pub(crate) fn next_turn<'a>(&self, endpoint: &'a Endpoint) -> (&'a Address, usize) {
        let addresses = &endpoint.addresses;
        let this = self.turn.replace(self.turn.get().wrapping_add(1));
        (&addresses[this % addresses.len()], this / addresses.len())
    }

    /// Resolves the endpoint, or waits until somebody else has, up to the deadline.
    pub(crate) async fn resolve<H: Host>(
        self: &Rc<Self>,
        host: &H,
        settings: &Settings,
        deadline_ns: u64,
    ) -> io::Result<()> {
        let lookup = self.look_up(host, settings);
        let timer = host.timer();
        timer.set((deadline_ns < u64::MAX).then_some(deadline_ns));
        poll_fn(|cx| {
            if let Some(outcome) = &*lookup.outcome.borrow() {
                return Poll::Ready(outcome.clone().map_err(io::Error::other));
            }
            lookup.waiting.borrow_mut().push(cx.waker().clone());
            timer.poll(cx).map(|()| Err(self.timed_out()))
        })
        .await
    }

    /// The look-up that is under way, begun if there is none. It goes on whoever waits for it.
    fn look_up<H: Host>(self: &Rc<Self>, host: &H, settings: &Settings) -> Rc<Lookup> {
        let mut under_way = self.lookup.borrow_mut();
        if let Some(lookup) = &*under_way {
            return Rc::clone(lookup);
        }
        let lookup = Rc::new(Lookup::default());
        *under_way = Some(Rc::clone(&lookup));
        let (route, told) = (Rc::clone(self), Rc::clone(&lookup));
        let (own, settings) = (host.clone(), settings.clone());
        let ask = async move {
            let outcome = route.ask(&own, &settings).await;
            route.lookup.take();
            told.outcome.replace(Some(outcome));
            told.waiting.take().into_iter().for_each(Waker::wake);
        };
        host.spawn(ask).detach();
        lookup
    }

    async fn ask<H: Host>(&self, host: &H, settings: &Settings) -> Result<(), String> {
        let Some(url) = &self.url else { return Ok(()) };
        let resolved = Endpoint::resolve_on(host, url, settings).await;
        let endpoint = resolved.map_err(|error| error.to_string())?;
        // Nobody else sets it, as there is one look-up at a time.
        let _ = self.endpoint.set(endpoint);
        Ok(())
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
