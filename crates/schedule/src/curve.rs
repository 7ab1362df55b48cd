//! A rate over time, as consecutive straight pieces, with its integral and the inverse of the
//! integral.

use crate::arrival::Arrival;
use crate::grid::Grid;
use crate::level::Share;
use crate::piece::Piece;
use crate::stage::{Span, spans};
use crate::stripe::Indices;
use crate::{Rate, Stage, Stripe};

/// A rate over time and N, its integral.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Curve {
    /// The rates from which the curve was made, to compute shares of them.
    start: Rate,
    stages: Vec<Stage<Rate>>,
    grid: Grid,
    links: Vec<Link>,
}

/// A piece and its position in the integral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    piece: Piece,
    /// N at the piece's start, in ticks.
    from_ticks: u128,
    /// N at the piece's end, in ticks; equal to `from_ticks` if the rate is zero.
    to_ticks: u128,
}

impl Curve {
    /// Returns the curve with the same rate for all time.
    pub(crate) fn constant(rate: Rate) -> Self {
        let forever = Stage {
            duration_ns: u64::MAX,
            target: rate,
        };
        Self::ramps(rate, &[forever])
    }

    /// Returns the curve that moves linearly from `start` through the stages, with a rate of zero
    /// after them.
    pub(crate) fn ramps(start: Rate, stages: &[Stage<Rate>]) -> Self {
        let targets = stages.iter().map(|stage| stage.target);
        let grid = Grid::over(std::iter::once(start).chain(targets));
        let mut links = Vec::with_capacity(stages.len());
        let mut ticks = 0;
        for span in spans(start, stages) {
            let link = Link::after(ticks, span, grid);
            ticks = link.to_ticks;
            links.push(link);
        }
        Self {
            start,
            stages: stages.to_vec(),
            grid,
            links,
        }
    }

    /// Returns the same course with a share of each rate.
    pub(crate) fn scaled(&self, share: Share) -> Self {
        let stages = self.stages.iter().map(|stage| Stage {
            duration_ns: stage.duration_ns,
            target: share.of_rate(stage.target),
        });
        Self::ramps(share.of_rate(self.start), &stages.collect::<Vec<_>>())
    }

    pub(crate) fn ticks_per_arrival(&self) -> u64 {
        self.grid.ticks_per_arrival()
    }

    /// Returns N(t), rounded up to a whole tick.
    pub(crate) fn ticks_before(&self, t_ns: u64) -> u128 {
        let begun = self
            .links
            .partition_point(|link| link.piece.start_ns() <= t_ns);
        match begun.checked_sub(1) {
            Some(last) => self.links[last].ticks_before(t_ns),
            None => 0,
        }
    }

    /// Returns ⌈N(t)⌉, the number of arrivals of the even law before `t_ns`.
    pub(crate) fn due_before(&self, t_ns: u64) -> u64 {
        let due = self
            .ticks_before(t_ns)
            .div_ceil(u128::from(self.ticks_per_arrival()));
        u64::try_from(due).unwrap_or(u64::MAX)
    }

    /// Returns one stripe of the even law's arrivals.
    pub(crate) fn walk(&self, stripe: Stripe) -> CurveWalk {
        CurveWalk {
            inverse: self.inverse(),
            indices: stripe.indices(),
        }
    }

    pub(crate) fn inverse(&self) -> Inverse {
        Inverse {
            curve: self.clone(),
            link: 0,
        }
    }
}

impl Link {
    fn after(from_ticks: u128, span: Span<Rate>, grid: Grid) -> Self {
        let piece = Piece::new(Span {
            from_ns: span.from_ns,
            duration_ns: span.duration_ns,
            start: grid.ticks_per_ns(span.start),
            end: grid.ticks_per_ns(span.end),
        });
        Self {
            piece,
            from_ticks,
            to_ticks: from_ticks + piece.area(),
        }
    }

    fn ticks_before(&self, t_ns: u64) -> u128 {
        self.from_ticks + self.piece.ticks_before(t_ns)
    }
}

/// The inverse of the integral, for ascending values: it remembers the current piece.
#[derive(Clone, Debug)]
pub(crate) struct Inverse {
    curve: Curve,
    link: usize,
}

impl Inverse {
    pub(crate) fn ticks_per_arrival(&self) -> u64 {
        self.curve.ticks_per_arrival()
    }

    /// Returns the instant at which N passes `ticks`, rounded down to a nanosecond: the last one
    /// with N(t) ≤ `ticks`. `None` if N never passes it. Values must not descend from call to call.
    pub(crate) fn instant_of(&mut self, ticks: u128) -> Option<u64> {
        while self.curve.links.get(self.link)?.to_ticks <= ticks {
            self.link += 1;
        }
        let link = &self.curve.links[self.link];
        Some(link.piece.instant_of(ticks - link.from_ticks))
    }
}

/// One stripe of the even law on a [`Curve`].
#[derive(Clone, Debug)]
pub(crate) struct CurveWalk {
    inverse: Inverse,
    indices: Indices,
}

impl Iterator for CurveWalk {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.indices.next()?;
        let ticks = u128::from(index) * u128::from(self.inverse.ticks_per_arrival());
        let at_ns = self.inverse.instant_of(ticks)?;
        Some(Arrival { index, at_ns })
    }
}
