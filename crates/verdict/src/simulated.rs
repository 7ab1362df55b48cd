//! Targets whose truth is known, for the simulations of docs/design/016: 500 requests a second.

use crate::comparison::tests::{Dice, environment};
use loadline_plan::Plan;
use loadline_record::{Header, Snapshot, Summary};
use std::time::SystemTime;

pub(crate) const SECOND: u64 = 1_000_000_000;
const RATE: f64 = 500.0;
/// The mean time of a response that waits for nothing.
const SERVED_S: f64 = 0.001;

/// The response times of a target.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// A queue with one server (M/M/1) that is busy for this share of its time.
    Queue(f64),
    /// The logarithms of the times are a series in which each is this share of the one before it,
    /// and noise (AR(1)).
    Carried(f64),
    /// Stalls for this many seconds every this many, from a random phase on.
    Stalling(f64, f64),
    /// Stalls for this many seconds at random instants, once in this many on average.
    Lapsing(f64, f64),
    /// Stalls once, at this second for this many.
    Frozen(f64, f64),
    /// So many times as slow for the first seconds.
    Warming(f64, f64),
    /// Each time is drawn by itself.
    Independent,
}

/// One request.
struct Request {
    at_s: f64,
    response_s: f64,
}

impl Target {
    /// The response time that this share of the requests exceeds, in nanoseconds; 10 ms of a target
    /// that stalls.
    pub(crate) fn exceeded_by(self, share: f64) -> u64 {
        let seconds = match self {
            Target::Queue(busy) => -share.ln() / (RATE / busy - RATE),
            Target::Carried(_) => SERVED_S * normal_upper(share).exp(),
            Target::Independent => -share.ln() * SERVED_S,
            _ => 0.01,
        };
        (seconds * SECOND as f64) as u64
    }

    /// Returns the records of each of this many seconds, from a seed.
    pub(crate) fn seconds(self, seconds: u64, seed: u64) -> Vec<Snapshot> {
        let mut dice = Dice(seed.wrapping_mul(0x0012_3456_789a).wrapping_add(99));
        let requests = self.requests(seconds as f64, &mut dice);
        let mut recorded: Vec<Snapshot> = (0..seconds).map(empty).collect();
        for request in requests {
            let (begun, ended) = (request.at_s, request.at_s + request.response_s);
            let first = begun as usize;
            recorded[first].counts.sent += 1;
            recorded[first].counts.planned += 1;
            for second in recorded.iter_mut().take(ended as usize).skip(first) {
                second.counts.in_flight += 1;
            }
            if let Some(second) = recorded.get_mut(ended as usize) {
                let response_ns = (request.response_s * SECOND as f64) as u64;
                second.counts.answered += 1;
                second.times.response.record_ns(response_ns);
                second.times.service.record_ns(response_ns);
            }
        }
        recorded
    }

    fn requests(self, seconds: f64, dice: &mut Dice) -> Vec<Request> {
        match self {
            Target::Queue(busy) => queue(busy, seconds, dice),
            Target::Carried(share) => {
                let mut x = normal(dice);
                even(seconds, |_| {
                    x = share * x + (1.0 - share * share).sqrt() * normal(dice);
                    SERVED_S * x.exp()
                })
            }
            Target::Stalling(length, every) => {
                let phase = dice.roll() * every;
                even(seconds, |at_s| {
                    let into = (at_s + phase) % every;
                    (length - into).max(0.0) + exponential(dice, SERVED_S)
                })
            }
            Target::Lapsing(length, every) => {
                let mut next = exponential(dice, every);
                even(seconds, |at_s| {
                    while next + length <= at_s {
                        next += length + exponential(dice, every);
                    }
                    let waits = if at_s < next {
                        0.0
                    } else {
                        next + length - at_s
                    };
                    waits + exponential(dice, SERVED_S)
                })
            }
            Target::Frozen(at, length) => even(seconds, |at_s| {
                let waits = if at_s < at { 0.0 } else { at + length - at_s };
                waits.max(0.0) + exponential(dice, SERVED_S)
            }),
            Target::Warming(times, until) => even(seconds, |at_s| {
                let slower = if at_s < until { times } else { 1.0 };
                exponential(dice, slower * SERVED_S)
            }),
            Target::Independent => even(seconds, |_| exponential(dice, SERVED_S)),
        }
    }
}

/// A summary of this plan without a second.
pub(crate) fn begun(plan: &Plan) -> Summary {
    Summary::new(Header::new(plan, environment(), SystemTime::UNIX_EPOCH))
}

/// Returns the number of repetitions: all of them in the soak, and few otherwise.
pub(crate) fn repetitions(soak: bool) -> u64 {
    if soak { 200 } else { 6 }
}

fn empty(index: u64) -> Snapshot {
    Snapshot {
        start_ns: index * SECOND,
        end_ns: (index + 1) * SECOND,
        ..Snapshot::default()
    }
}

/// Requests at even distances.
fn even(seconds: f64, mut response_s: impl FnMut(f64) -> f64) -> Vec<Request> {
    let request = |index| {
        let at_s = f64::from(index) / RATE;
        Request {
            at_s,
            response_s: response_s(at_s),
        }
    };
    (0..(seconds * RATE) as u32).map(request).collect()
}

/// Poisson arrivals at a queue that is in its steady state from the beginning.
fn queue(busy: f64, seconds: f64, dice: &mut Dice) -> Vec<Request> {
    let served = RATE / busy;
    let mut waits = 0.0;
    if dice.roll() < busy {
        waits = exponential(dice, 1.0 / (served - RATE));
    }
    let mut at_s = 0.0;
    let mut requests = Vec::new();
    loop {
        let gap = exponential(dice, 1.0 / RATE);
        at_s += gap;
        if at_s >= seconds {
            return requests;
        }
        waits = f64::max(0.0, waits - gap) + exponential(dice, 1.0 / served);
        requests.push(Request {
            at_s,
            response_s: waits,
        });
    }
}

pub(crate) fn exponential(dice: &mut Dice, mean: f64) -> f64 {
    -(1.0 - dice.roll()).ln() * mean
}

/// A standard normal variate (Box and Muller).
pub(crate) fn normal(dice: &mut Dice) -> f64 {
    let radius = (-2.0 * (1.0 - dice.roll()).ln()).sqrt();
    radius * (std::f64::consts::TAU * dice.roll()).cos()
}

/// The value that a standard normal variate exceeds with this probability; scipy 1.17: `norm.isf`.
fn normal_upper(share: f64) -> f64 {
    let known = [
        (0.5, 0.0),
        (0.1, 1.2815515655446004),
        (0.02, 2.053748910631823),
        (0.01, 2.3263478740408408),
        (0.001, 3.090232306167813),
    ];
    let found = known
        .iter()
        .find(|(known, _)| (*known - share).abs() < 1e-9);
    found.expect("one of the shares of the table").1
}
