//! Several composed requests of a user at once, as a browser loads a page: so many at a time, and
//! fewer to each host.

use crate::Observer;
use crate::composed::{ComposeError, Composed};
use crate::requester::Requester;
use loadline_reactor::Host;
use loadline_record::Outcome;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use url::{Origin, Url};

/// How many requests of a user are in flight at a time, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtOnce {
    /// To all hosts together; at least 1.
    pub most: usize,
    /// To one host; at least 1. Hosts are told apart by scheme, name and port.
    pub per_host: usize,
}

impl Default for AtOnce {
    /// As browsers and k6's `batch` do: 20, and 6 to a host.
    fn default() -> Self {
        AtOnce {
            most: 20,
            per_host: 6,
        }
    }
}

impl<H: Host> Requester<H> {
    /// Sends requests at once, within these bounds; those that have to wait go out in their order
    /// as soon as others have ended. Each has its own observer. Returns how each ended, in their
    /// order. Dropping the future gives up those that are in flight, and sends no others.
    ///
    /// # Errors
    /// Of each request, as [`request`](Self::request).
    pub async fn request_all<'a, O: Observer>(
        &'a self,
        requests: Vec<(Composed<'a>, &'a mut O)>,
        bounds: AtOnce,
    ) -> Vec<Result<Outcome, ComposeError>> {
        let requests = requests.into_iter().map(|(request, observer)| {
            let host = request.url.clone();
            let sending = async move { self.request(request, observer).await };
            (host, sending)
        });
        run_within(requests, bounds).await
    }
}

/// One of several futures.
struct Place<F: Future> {
    host: Origin,
    has_begun: bool,
    /// Until it has ended.
    future: Option<Pin<Box<F>>>,
    output: Option<F::Output>,
}

impl<F: Future> Place<F> {
    fn new((url, future): (Url, F)) -> Self {
        Place {
            host: url.origin(),
            has_begun: false,
            future: Some(Box::pin(future)),
            output: None,
        }
    }

    fn is_running(&self) -> bool {
        self.has_begun && self.future.is_some()
    }

    /// Goes on if it has begun; whether it ended by that.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.has_begun {
            return false;
        }
        let Some(Poll::Ready(output)) = self.future.as_mut().map(|one| one.as_mut().poll(cx))
        else {
            return false;
        };
        (self.future, self.output) = (None, Some(output));
        true
    }
}

/// Runs futures, each for the host of a URL, within these bounds; what came of each, in their
/// order. Dropping the future gives up those that run, and begins no others.
pub async fn run_within<F: Future>(
    futures: impl Iterator<Item = (Url, F)>,
    bounds: AtOnce,
) -> Vec<F::Output> {
    let mut places: Vec<Place<F>> = futures.map(Place::new).collect();
    poll_fn(|cx| {
        loop {
            begin(&mut places, bounds);
            // All of them, as each has to leave its waker.
            let ended = places
                .iter_mut()
                .filter_map(|place| place.poll(cx).then_some(()));
            if ended.count() == 0 {
                break;
            }
        }
        match places.iter().all(|place| place.future.is_none()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    places
        .into_iter()
        .filter_map(|place| place.output)
        .collect()
}

/// Lets those begin, in their order, for which there is room.
fn begin<F: Future>(places: &mut [Place<F>], bounds: AtOnce) {
    let mut running = places.iter().filter(|place| place.is_running()).count();
    for index in 0..places.len() {
        if running >= bounds.most.max(1) {
            return;
        }
        if places[index].has_begun {
            continue;
        }
        let host = &places[index].host;
        let to_host = places
            .iter()
            .filter(|place| place.is_running() && place.host == *host);
        if to_host.count() < bounds.per_host.max(1) {
            places[index].has_begun = true;
            running += 1;
        }
    }
}
