//! Server-sent events (HTML, section 9.2) for any number of viewers.
//!
//! An event is made once, whoever reads it: viewers share its bytes. The last events are kept, so
//! that a viewer who was cut off goes on where it was (`Last-Event-ID`). A viewer who is further
//! behind, and each new one, gets a *whole* event first, which stands for all that came before; of
//! a broadcast without a state, all events that are kept.
//! A viewer takes events as fast as its connection does; nothing is queued for it.

use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The state of everything, as the data of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The number of the last event that is part of it.
    pub number: u64,
    /// The state; without line breaks, as JSON is.
    pub data: String,
}

/// The pause before a browser asks again, in milliseconds: the longest one that it can count.
const NEVER_AGAIN: &str = "retry: 9007199254740991\n";

/// Sends events to viewers. Clones send to the same ones.
#[derive(Clone)]
pub struct Broadcast(Arc<Shared>);

/// Returns the state of everything.
type MakeWhole = Box<dyn Fn() -> Whole + Send + Sync>;

struct Shared {
    keep: usize,
    /// `None` if there is no state but the events.
    whole: Option<MakeWhole>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last events, in order and without gaps.
    events: VecDeque<Event>,
    /// The last whole event that was made.
    whole: Option<Event>,
    viewers: BTreeMap<u64, Option<Waker>>,
    next_viewer: u64,
    is_over: bool,
}

#[derive(Clone)]
struct Event {
    number: u64,
    bytes: Bytes,
}

impl Broadcast {
    /// Creates a broadcast that keeps so many events. `whole` returns the state, with all events
    /// so far in it.
    pub fn new(keep: usize, whole: impl Fn() -> Whole + Send + Sync + 'static) -> Self {
        Broadcast::with(keep, Some(Box::new(whole)))
    }

    /// Creates a broadcast whose new viewers get all of the last events, of which it keeps so many.
    pub fn kept(keep: usize) -> Self {
        Broadcast::with(keep, None)
    }

    fn with(keep: usize, whole: Option<MakeWhole>) -> Self {
        Broadcast(Arc::new(Shared {
            keep,
            whole,
            state: Mutex::default(),
        }))
    }

    /// Sends an event of this name; numbers rise by one. The data has no line breaks.
    pub fn send(&self, number: u64, name: &str, data: &str) {
        self.add(number, written(number, name, data));
    }

    /// Sends the last event, after which all streams end, and browsers do not come back.
    pub fn send_last(&self, number: u64, name: &str, data: &str) {
        let event = written(number, name, data);
        let event = [NEVER_AGAIN.as_bytes(), &event[..]].concat();
        self.add(number, Bytes::from(event));
        self.end();
    }

    fn add(&self, number: u64, bytes: Bytes) {
        let mut state = self.0.state();
        if state.events.len() == self.0.keep {
            state.events.pop_front();
        }
        state.events.push_back(Event { number, bytes });
        state.wake();
    }

    /// Ends all streams once their viewers have read what was sent.
    pub fn end(&self) {
        let mut state = self.0.state();
        state.is_over = true;
        state.wake();
    }

    /// Returns a stream of the events after this one; of all, if it is `None`.
    pub fn stream(&self, after: Option<u64>) -> Stream {
        let mut state = self.0.state();
        let viewer = state.next_viewer;
        state.next_viewer += 1;
        state.viewers.insert(viewer, None);
        Stream {
            shared: Arc::clone(&self.0),
            viewer,
            seen: after,
        }
    }

    /// True if a stream was opened at any time.
    pub fn was_viewed(&self) -> bool {
        self.0.state().next_viewer > 0
    }

    /// Returns the number of streams that are open.
    pub fn viewers(&self) -> usize {
        self.0.state().viewers.len()
    }
}

impl fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcast")
            .field("viewers", &self.viewers())
            .finish_non_exhaustive()
    }
}

/// The events for one viewer.
pub struct Stream {
    shared: Arc<Shared>,
    viewer: u64,
    /// The number of the last event that the viewer has.
    seen: Option<u64>,
}

impl Stream {
    /// Returns the bytes of the next event, once it is there; `None` at the end.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.shared.state();
        if let Some(event) = state.next_after(self.seen, &self.shared) {
            self.seen = Some(event.number);
            return Poll::Ready(Some(event.bytes));
        }
        if state.is_over {
            return Poll::Ready(None);
        }
        state.viewers.insert(self.viewer, Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.state().viewers.remove(&self.viewer);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn whole(&self) -> Option<Event> {
        let Whole { number, data } = self.whole.as_ref()?();
        Some(Event {
            number,
            bytes: written(number, "state", &data),
        })
    }
}

impl State {
    /// Returns the event that follows for a viewer who has seen these.
    fn next_after(&mut self, seen: Option<u64>, shared: &Shared) -> Option<Event> {
        let last = self.events.back().map(|event| event.number);
        let first = self.events.front().map(|event| event.number);
        // The state may be an event ahead of what was sent. A higher number is of another server.
        let seen = seen.filter(|seen| *seen <= last.unwrap_or(0) + 1);
        match (seen, first) {
            (Some(seen), Some(first)) if seen + 1 >= first => {
                let index = usize::try_from(seen + 1 - first).ok()?;
                self.events.get(index).cloned()
            }
            (Some(_), None) => None,
            _ => self.whole_at(last, shared),
        }
    }

    /// Returns the whole event, which is made at most once for each event; without a state the
    /// first of the events.
    fn whole_at(&mut self, last: Option<u64>, shared: &Shared) -> Option<Event> {
        let is_new = self.whole.as_ref().map(|whole| whole.number) != last;
        if is_new || last.is_none() {
            self.whole = shared.whole();
        }
        self.whole.clone().or_else(|| self.events.front().cloned())
    }

    fn wake(&mut self) {
        for waker in self.viewers.values_mut().filter_map(Option::take) {
            waker.wake();
        }
    }
}

fn written(number: u64, name: &str, data: &str) -> Bytes {
    Bytes::from(format!("id: {number}\nevent: {name}\ndata: {data}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A broadcast whose state is the sum of its events, and counts how often it was asked for it.
    struct Counting {
        broadcast: Broadcast,
        sum: Arc<AtomicU64>,
        asked: Arc<AtomicU64>,
        number: u64,
    }

    impl Counting {
        fn new() -> Self {
            let (sum, asked) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
            let (told, counted) = (Arc::clone(&sum), Arc::clone(&asked));
            let broadcast = Broadcast::new(3, move || {
                counted.fetch_add(1, Ordering::Relaxed);
                let number = told.load(Ordering::Relaxed);
                Whole {
                    number,
                    data: format!("whole {number}"),
                }
            });
            Counting {
                broadcast,
                sum,
                asked,
                number: 0,
            }
        }

        fn send(&mut self) {
            self.number += 1;
            self.sum.store(self.number, Ordering::Relaxed);
            self.broadcast
                .send(self.number, "interval", &format!("{}", self.number));
        }
    }

    /// The data of the events that are there.
    fn read(stream: &mut Stream) -> Vec<String> {
        let cx = Context::from_waker(Waker::noop());
        let mut came = Vec::new();
        while let Poll::Ready(Some(bytes)) = stream.poll_next(&cx) {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let (_, data) = text.split_once("data: ").unwrap();
            came.push(data.trim_end().to_owned());
        }
        came
    }

    #[test]
    fn a_new_viewer_gets_the_state_and_then_each_event() {
        let mut counting = Counting::new();
        counting.send();
        let mut stream = counting.broadcast.stream(None);
        assert_eq!(read(&mut stream), ["whole 1"]);
        counting.send();
        counting.send();
        assert_eq!(read(&mut stream), ["2", "3"]);
        assert!(read(&mut stream).is_empty());
    }

    #[test]
    fn a_viewer_who_was_cut_off_goes_on_where_it_was() {
        let mut counting = Counting::new();
        (0..5).for_each(|_| counting.send());
        for (seen, expected) in [
            (5, vec![]),
            (3, vec!["4", "5"]),
            (2, vec!["3", "4", "5"]),
            (1, vec!["whole 5"]),
            (9, vec!["whole 5"]),
        ] {
            let mut stream = counting.broadcast.stream(Some(seen));
            assert_eq!(read(&mut stream), expected, "{seen}");
        }
    }

    #[test]
    fn a_viewer_who_sleeps_too_long_gets_the_state_again() {
        let mut counting = Counting::new();
        let mut stream = counting.broadcast.stream(None);
        assert_eq!(read(&mut stream), ["whole 0"]);
        (0..4).for_each(|_| counting.send());
        assert_eq!(read(&mut stream), ["whole 4"]);
    }

    #[test]
    fn the_state_is_made_once_for_many_viewers() {
        let mut counting = Counting::new();
        counting.send();
        let mut viewers: Vec<_> = (0..10).map(|_| counting.broadcast.stream(None)).collect();
        assert!(viewers.iter_mut().all(|stream| read(stream) == ["whole 1"]));
        assert_eq!(counting.asked.load(Ordering::Relaxed), 1);
        assert_eq!(counting.broadcast.viewers(), 10);
        drop(viewers);
        assert_eq!(counting.broadcast.viewers(), 0);
        assert!(counting.broadcast.was_viewed() && !Counting::new().broadcast.was_viewed());
    }

    #[test]
    fn without_a_state_each_viewer_gets_all_events_that_are_kept() {
        let broadcast = Broadcast::kept(3);
        let mut early = broadcast.stream(None);
        assert!(read(&mut early).is_empty());
        (1..=4).for_each(|number| broadcast.send(number, "snapshot", &number.to_string()));
        let data = |after| read(&mut broadcast.stream(after));
        assert_eq!(read(&mut early), ["2", "3", "4"], "the first is not kept");
        assert_eq!(data(None), ["2", "3", "4"]);
        assert_eq!(data(Some(3)), ["4"]);
        assert_eq!(data(Some(9)), ["2", "3", "4"], "of another server");
        broadcast.send_last(5, "stop", "5");
        let mut late = broadcast.stream(Some(4));
        let cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Some(last)) = late.poll_next(&cx) else {
            panic!("an event");
        };
        let text = "retry: 9007199254740991\nid: 5\nevent: stop\ndata: 5\n\n";
        assert_eq!(last, text);
        assert!(matches!(late.poll_next(&cx), Poll::Ready(None)));
    }

    #[test]
    fn the_end_comes_after_what_was_sent() {
        let mut counting = Counting::new();
        let mut stream = counting.broadcast.stream(Some(0));
        counting.send();
        counting.broadcast.end();
        assert_eq!(read(&mut stream), ["1"]);
        let cx = Context::from_waker(Waker::noop());
        assert!(matches!(stream.poll_next(&cx), Poll::Ready(None)));
    }

    #[test]
    fn an_event_is_written_as_browsers_read_it() {
        let bytes = written(7, "interval", "{}");
        assert_eq!(bytes, "id: 7\nevent: interval\ndata: {}\n\n");
    }
}
