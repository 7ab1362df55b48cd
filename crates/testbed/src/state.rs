//! The state that all threads of a server share.

use crate::alarm::Alarm;
use crate::answer::Answer;
use crate::arrivals::{ArrivalMeter, ArrivalReport};
use crate::config::{Config, Freeze};
use crate::counts::{Counter, Tally};
use crate::delay::Delay;
use crate::freezer::Freezer;
use crate::inbox::Inbox;
use crate::limit::Counters;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The shared part of a server.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) defaults: Answer,
    /// True if the options of requests are ignored.
    pub(crate) ignore_options: bool,
    counters: Option<Counters>,
    pub(crate) tally: Tally,
    pub(crate) freezer: Freezer,
    /// The source of randomness, cloned for each request that needs it and set to a stream of the
    /// request's own.
    luck: ChaCha8Rng,
    /// The zero of the server's clock.
    epoch: Instant,
    /// The number of requests that have arrived, complete or not.
    arrived: Counter,
    /// The latest arrival on the server's clock, in nanoseconds; 0 before the first.
    last_arrival_ns: AtomicU64,
    first_request: OnceLock<Instant>,
    /// Notified once, with the first request.
    begun: Notify,
    meter: Option<Mutex<ArrivalMeter>>,
    /// The number of requests that are stored.
    keep: u64,
    kept: Mutex<BTreeMap<u64, Vec<u8>>>,
}

/// A request's position among all that reach the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// The request's number, from 1.
    pub(crate) number: u64,
    /// The time since the arrival before it, in nanoseconds; 0 for the first.
    pub(crate) gap_ns: u64,
}

/// The purpose for which a request needs random numbers.
#[derive(Clone, Copy)]
enum Purpose {
    Wait,
    Pick,
}

impl State {
    pub(crate) fn new(config: &Config, threads: Vec<Inbox>) -> Self {
        Self {
            defaults: config.defaults.clone(),
            ignore_options: config.ignore_options,
            counters: config
                .limit
                .map(|limit| Counters::new(limit, Instant::now())),
            tally: Tally::default(),
            freezer: Freezer::new(threads),
            luck: ChaCha8Rng::seed_from_u64(config.seed),
            epoch: Instant::now(),
            arrived: Counter::default(),
            last_arrival_ns: AtomicU64::new(0),
            first_request: OnceLock::new(),
            begun: Notify::new(),
            meter: config
                .arrivals
                .map(|schedule| Mutex::new(ArrivalMeter::new(schedule))),
            keep: config.keep,
            kept: Mutex::default(),
        }
    }

    /// Counts and measures a request whose head was read `at`.
    pub(crate) fn note_arrival(&self, at: Instant) -> Arrival {
        if self.first_request.set(at).is_ok() {
            self.begun.notify_one();
        }
        let at_ns = (at.saturating_duration_since(self.epoch).as_nanos() as u64).max(1);
        if let Some(meter) = &self.meter {
            meter
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .note(at_ns);
        }
        let gap_ns = match self.last_arrival_ns.swap(at_ns, Relaxed) {
            0 => 0,
            last_ns => at_ns.saturating_sub(last_ns),
        };
        Arrival {
            number: self.arrived.next() + 1,
            gap_ns,
        }
    }

    /// True if the request is one of those to be stored.
    pub(crate) fn keeps(&self, arrival: Arrival) -> bool {
        arrival.number <= self.keep
    }

    /// Stores a request, head and body.
    pub(crate) fn keep(&self, arrival: Arrival, request: Vec<u8>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(arrival.number, request);
    }

    /// Returns the stored requests, in the order in which they arrived.
    pub(crate) fn kept(&self) -> Vec<Vec<u8>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values().cloned().collect()
    }

    /// Returns the instant at which a request that is complete now will have been served; the
    /// response's delay begins then.
    pub(crate) fn serve(&self, now: Instant) -> Instant {
        let counters = self.counters.as_ref();
        counters.map_or(now, |counters| counters.serve(now))
    }

    /// Decides on the response to the request of this number, by its count and its random numbers:
    /// returns `answer` as it is or spared, and the wait before it.
    pub(crate) fn decide(&self, answer: Answer, number: u64) -> (Answer, Duration) {
        let wait = match answer.delay {
            None => Duration::ZERO,
            Some(Delay::Fixed(wait)) => wait,
            Some(random) => random.draw(&mut self.luck(number, Purpose::Wait)),
        };
        let is_counted = number.is_multiple_of(answer.every.get());
        let is_drawn = || self.luck(number, Purpose::Pick).random::<f64>() < answer.probability;
        let is_hit = is_counted && (answer.probability >= 1.0 || is_drawn());
        (if is_hit { answer } else { answer.spared() }, wait)
    }

    /// Returns the random numbers for the request of this number: each request and purpose has a
    /// stream of its own, so that they do not influence each other.
    fn luck(&self, number: u64, purpose: Purpose) -> ChaCha8Rng {
        let mut luck = self.luck.clone();
        luck.set_stream(number << 1 | purpose as u64);
        luck
    }

    /// Freezes the whole server.
    pub(crate) fn freeze(&self, length: Duration) {
        self.tally.freezes.add(1);
        self.freezer.freeze(length);
    }

    /// Freezes the whole server repeatedly, on the schedule of `freeze`.
    pub(crate) async fn freeze_on_schedule(&self, freeze: Freeze, alarm: &Alarm) {
        let mut at = self.first_request().await + freeze.first_at;
        loop {
            alarm.sleep_until(at).await;
            self.freeze(freeze.length);
            match freeze.every {
                Some(every) => at += every,
                None => return,
            }
        }
    }

    async fn first_request(&self) -> Instant {
        loop {
            if let Some(at) = self.first_request.get() {
                return *at;
            }
            self.begun.notified().await;
        }
    }

    /// Returns the meter's report; it is computed from a copy, so that further arrivals are
    /// recorded meanwhile.
    pub(crate) fn arrivals(&self) -> Option<ArrivalReport> {
        let meter = self.meter.as_ref()?;
        let copy = meter.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(copy.into_report())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::StatusCode;
    use std::num::NonZeroU64;

    fn state(seed: u64) -> State {
        State::new(
            &Config {
                seed,
                ..Config::default()
            },
            Vec::new(),
        )
    }

    fn waits(seed: u64, answer: &Answer) -> Vec<Duration> {
        (1..=100)
            .map(|number| state(seed).decide(answer.clone(), number).1)
            .collect()
    }

    #[test]
    fn random_waits_come_from_the_seed_and_the_number_alone() {
        let delay = Some(Delay::Exponential(Duration::from_millis(10)));
        let answer = Answer {
            delay,
            ..Answer::default()
        };
        assert_eq!(waits(7, &answer), waits(7, &answer));
        assert_ne!(waits(7, &answer), waits(8, &answer));
        assert_ne!(waits(7, &answer)[0], waits(7, &answer)[1]);
        let picky = Answer {
            probability: 0.5,
            ..answer.clone()
        };
        assert_eq!(waits(7, &answer), waits(7, &picky), "a pick moves no wait");
    }

    #[test]
    fn every_and_probability_limit_what_goes_wrong() {
        let state = state(1);
        let failing = Answer {
            status: StatusCode::BAD_GATEWAY,
            ..Answer::default()
        };
        let hits = |answer: Answer| {
            let status = |number| state.decide(answer.clone(), number).0.status;
            (1..=1_000)
                .filter(|&number| status(number) == StatusCode::BAD_GATEWAY)
                .count()
        };
        assert_eq!(hits(failing.clone()), 1_000);
        let tenth = Answer {
            every: NonZeroU64::new(10).expect("ten"),
            ..failing.clone()
        };
        assert_eq!(hits(tenth.clone()), 100);
        let half = hits(Answer {
            probability: 0.5,
            ..failing.clone()
        });
        assert!((450..=550).contains(&half), "{half}");
        let twentieth = hits(Answer {
            probability: 0.5,
            ..tenth
        });
        assert!((30..=70).contains(&twentieth), "{twentieth}");
        assert_eq!(
            hits(Answer {
                probability: 0.0,
                ..failing
            }),
            0
        );
    }

    #[test]
    fn arrivals_are_numbered_and_their_gaps_measured() {
        let state = state(1);
        let at = |ms| state.epoch + Duration::from_millis(ms);
        let noted: Vec<(u64, u64)> = [5, 7, 6]
            .map(|ms| state.note_arrival(at(ms)))
            .map(|arrival| (arrival.number, arrival.gap_ns))
            .into();
        assert_eq!(noted, [(1, 0), (2, 2_000_000), (3, 0)]);
    }
}
