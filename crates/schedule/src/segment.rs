//! Segments: the parts of an open load's schedule after a change.
//!
//! A change begins a segment at its instant. Earlier arrivals are unaffected by it and by later
//! changes. From the change on:
//!
//! - Even arrivals keep their phase. If N has passed 7.25 at the change, arrival 8 is due when the
//!   new rate has passed the 0.75 that is missing. The phase is stored in 2^-64 arrivals and
//!   measured on the new rate in its ticks: a change moves later arrivals by a nanosecond at most.
//! - Poisson arrivals have no memory, so a segment draws a stream of its own from the seed: the
//!   stream with the number of the change. Its indices begin at 0 again.
//! - Bursts stay on the multiples of their interval, with another size.
//!
//! A pause is a segment without a rate. Every stripe computes the same segments, so all stripes
//! together are exactly the whole.

use crate::Stripe;
use crate::arrival::Arrival;
use crate::constant::Constant;
use crate::curve::{Curve, Inverse};
use crate::point::Point;
use crate::poisson::Points;
use crate::stripe::Indices;

/// The schedule from a change to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) from_ns: u64,
    arrivals: Law,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Law {
    Even(Option<Tail>, Phase),
    Poisson(Option<Tail>, Seed),
    Burst(BurstTail),
}

/// The state of the even law at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// The index of the first arrival that is not due yet.
    pub(crate) first: u64,
    /// The integral of the rate so far; not beyond that arrival.
    pub(crate) position: Point,
}

/// The seed and the stream from which a segment draws its random arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seed {
    seed: u64,
    stream: u64,
}

/// A curve from an instant on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tail {
    curve: Curve,
    /// The integral up to that instant, in ticks.
    from_ticks: u128,
}

/// Bursts of one size from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BurstTail {
    size: u64,
    every_ns: u64,
    /// The index of the next arrival.
    first: u64,
    /// The number of bursts before that instant.
    bursts_before: u64,
}

impl Segment {
    /// Creates a segment of an even load with this phase.
    pub(crate) fn even(from_ns: u64, curve: Option<Curve>, phase: Phase) -> Self {
        let tail = curve.map(|curve| Tail::from(curve, from_ns));
        Segment {
            from_ns,
            arrivals: Law::Even(tail, phase),
        }
    }

    /// Creates a segment of a random load; `stream` is the number of its change.
    pub(crate) fn poisson(from_ns: u64, curve: Option<Curve>, seed: u64, stream: u64) -> Self {
        let tail = curve.map(|curve| Tail::from(curve, from_ns));
        Segment {
            from_ns,
            arrivals: Law::Poisson(tail, Seed { seed, stream }),
        }
    }

    /// Creates a segment of bursts of this size, after `first` arrivals.
    pub(crate) fn burst(from_ns: u64, size: u64, every_ns: u64, first: u64) -> Self {
        Segment {
            from_ns,
            arrivals: Law::Burst(BurstTail {
                size,
                every_ns,
                first,
                bursts_before: from_ns.div_ceil(every_ns),
            }),
        }
    }

    /// Returns the phase of an even load at an instant of the segment.
    pub(crate) fn phase_at(&self, t_ns: u64) -> Option<Phase> {
        match &self.arrivals {
            Law::Even(Some(tail), phase) => Some(phase.moved(tail.ticks_before(t_ns), &tail.curve)),
            Law::Even(None, phase) => Some(*phase),
            Law::Poisson(..) | Law::Burst(_) => None,
        }
    }

    /// Returns the number of the segment's arrivals, of all stripes, that are due before `t_ns`.
    pub(crate) fn due_before(&self, t_ns: u64) -> u64 {
        match &self.arrivals {
            Law::Even(_, phase) => self.phase_at(t_ns).map_or(0, |now| now.first - phase.first),
            Law::Poisson(Some(tail), seed) => seed.due_before(tail, t_ns),
            Law::Poisson(None, _) => 0,
            Law::Burst(bursts) => bursts.due_before(t_ns),
        }
    }

    /// Returns the segment's arrivals for one stripe, as if no change followed.
    pub(crate) fn walk(&self, stripe: Stripe) -> SegmentWalk {
        let walk = match &self.arrivals {
            Law::Even(Some(tail), phase) => Walk::Even {
                inverse: tail.curve.inverse(),
                from_ticks: tail.from_ticks,
                position: phase.position,
                indices: stripe.indices_from(phase.first),
            },
            Law::Poisson(Some(tail), seed) => Walk::Poisson {
                inverse: tail.curve.inverse(),
                from_ticks: tail.from_ticks,
                points: Box::new(Points::of_stream(seed.seed, seed.stream)),
                indices: stripe.indices(),
            },
            Law::Burst(bursts) => Walk::Burst {
                bursts: *bursts,
                indices: stripe.indices_from(bursts.first),
            },
            Law::Even(None, _) | Law::Poisson(None, _) => Walk::Nothing,
        };
        SegmentWalk(walk)
    }
}

impl Phase {
    /// Returns the phase of a constant rate at an instant.
    pub(crate) fn of_constant(constant: Constant, t_ns: u64) -> Self {
        Phase {
            first: constant.due_before(t_ns),
            position: constant.position_at(t_ns),
        }
    }

    /// Returns the phase of a curve at an instant.
    pub(crate) fn of_curve(curve: &Curve, t_ns: u64) -> Self {
        Phase {
            first: curve.due_before(t_ns),
            position: Point::of_ticks(curve.ticks_before(t_ns), curve.ticks_per_arrival()),
        }
    }

    /// Returns the phase after this many ticks of a curve. An arrival has occurred if its distance
    /// from the position, in ticks and rounded down, is less than that.
    fn moved(self, ticks: u128, curve: &Curve) -> Self {
        let way = Point::of_ticks(ticks, curve.ticks_per_arrival());
        let end = Point::of_ticks_rounded_up(ticks, curve.ticks_per_arrival());
        let end = self.position.plus(end);
        let first = u64::try_from(end.0.div_ceil(1 << 64)).unwrap_or(u64::MAX);
        Phase {
            first: first.max(self.first),
            position: self.position.plus(way),
        }
    }
}

impl Tail {
    fn from(curve: Curve, from_ns: u64) -> Self {
        Tail {
            from_ticks: curve.ticks_before(from_ns),
            curve,
        }
    }

    /// Returns the integral from the tail's beginning to `t_ns`, in ticks.
    fn ticks_before(&self, t_ns: u64) -> u128 {
        let ticks = self.curve.ticks_before(t_ns);
        ticks.saturating_sub(self.from_ticks)
    }
}

impl Seed {
    /// Returns the number of arrivals before an instant; draws the points one by one, like a load
    /// without changes.
    fn due_before(self, tail: &Tail, t_ns: u64) -> u64 {
        let points = Points::of_stream(self.seed, self.stream);
        points.count_below(tail.ticks_before(t_ns), tail.curve.ticks_per_arrival())
    }
}

impl BurstTail {
    fn due_before(self, t_ns: u64) -> u64 {
        let bursts = t_ns.div_ceil(self.every_ns);
        let bursts = bursts.saturating_sub(self.bursts_before);
        bursts.saturating_mul(self.size)
    }

    /// Returns the instant of an arrival in nanoseconds; `None` for bursts without size, and beyond
    /// the end of time.
    fn at_ns(self, index: u64) -> Option<u64> {
        let bursts = (index - self.first).checked_div(self.size)?;
        let bursts = bursts.checked_add(self.bursts_before)?;
        bursts.checked_mul(self.every_ns)
    }
}

/// One stripe of a [`Segment`].
#[derive(Clone, Debug)]
pub(crate) struct SegmentWalk(Walk);

#[derive(Clone, Debug)]
enum Walk {
    Nothing,
    Even {
        inverse: Inverse,
        from_ticks: u128,
        position: Point,
        indices: Indices,
    },
    Poisson {
        inverse: Inverse,
        from_ticks: u128,
        points: Box<Points>,
        indices: Indices,
    },
    Burst {
        bursts: BurstTail,
        indices: Indices,
    },
}

impl Iterator for SegmentWalk {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        match &mut self.0 {
            Walk::Nothing => None,
            Walk::Even {
                inverse,
                from_ticks,
                position,
                indices,
            } => {
                let index = indices.next()?;
                let way = Point::of_index(index).since(*position);
                let ticks = *from_ticks + way.in_ticks(inverse.ticks_per_arrival());
                let at_ns = inverse.instant_of(ticks)?;
                Some(Arrival { index, at_ns })
            }
            Walk::Poisson {
                inverse,
                from_ticks,
                points,
                indices,
            } => {
                let index = indices.next()?;
                let way = points.ascend_to(index);
                let ticks = *from_ticks + way.in_ticks(inverse.ticks_per_arrival());
                let at_ns = inverse.instant_of(ticks)?;
                Some(Arrival { index, at_ns })
            }
            Walk::Burst { bursts, indices } => {
                let index = indices.next()?;
                let at_ns = bursts.at_ns(index)?;
                Some(Arrival { index, at_ns })
            }
        }
    }
}
