//! Several requests of a user at once, as a browser loads a page: limited in total and per host.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use url::{Origin, Url};

/// The most requests of a user in flight at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtOnce {
    /// The limit for all hosts together; at least 1.
    pub most: usize,
    /// The limit for one host; at least 1. Hosts differ by scheme, name or port.
    pub per_host: usize,
}

impl Default for AtOnce {
    /// Returns the limits of browsers and of k6's `batch`: 20, and 6 per host.
    fn default() -> Self {
        AtOnce {
            most: 20,
            per_host: 6,
        }
    }
}

/// One of several futures.
struct Slot<F: Future> {
    host: Origin,
    has_begun: bool,
    /// The future; `None` once it has ended.
    future: Option<Pin<Box<F>>>,
    output: Option<F::Output>,
}

impl<F: Future> Slot<F> {
    fn new((url, future): (Url, F)) -> Self {
        Slot {
            host: url.origin(),
            has_begun: false,
            future: Some(Box::pin(future)),
            output: None,
        }
    }

    fn is_running(&self) -> bool {
        self.has_begun && self.future.is_some()
    }

    /// Polls the future if it has begun. Returns true if it ended.
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

/// Runs futures, each for the host of a URL, within these bounds. Returns their outputs, in their
/// order. Dropping the future cancels the running ones, and begins no others.
pub async fn run_within<F: Future>(
    futures: impl Iterator<Item = (Url, F)>,
    bounds: AtOnce,
) -> Vec<F::Output> {
    let mut places: Vec<Slot<F>> = futures.map(Slot::new).collect();
    poll_fn(|cx| {
        loop {
            begin(&mut places, bounds);
            // Polls all of them, because each has to register its waker.
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

/// Begins futures, in their order, as far as the bounds allow.
fn begin<F: Future>(places: &mut [Slot<F>], bounds: AtOnce) {
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
