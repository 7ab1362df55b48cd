//! Traces for requests: their identifiers, and who receives their ends.

use crate::batch::Part;
use crate::observer::Observer;
use crate::requester::Requester;
use loadline_plan::Plan;
use loadline_reactor::Host;
use loadline_record::{Exchange, Trace};
use loadline_wire::Sink;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::num::NonZeroU32;

/// The name of the field that carries a trace.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// The first stream of the plan's seed that traces are drawn from; those before are for others.
const FIRST_STREAM: u64 = 1 << 40;
/// The bits of an identifier that decide whether its trace is sampled: the last seven bytes, which
/// are random by the standard.
const RANDOM_BITS: u32 = 56;

/// Makes the traces of one worker's requests from the seed of its plan.
#[derive(Debug)]
pub(crate) struct Tracer {
    random: ChaCha8Rng,
    /// Traces whose random bits are a number below this are sampled.
    sampled_below: u64,
}

impl Tracer {
    /// Creates the tracer of worker `index`; `None` if requests carry no trace.
    pub(crate) fn of(plan: &Plan, index: u32) -> Option<Tracer> {
        let one_in = plan.traceparent?;
        Some(Tracer::new(plan.seed, index, one_in))
    }

    /// Creates the tracer of worker `index`, one in so many of whose traces is sampled.
    pub(crate) fn new(seed: u64, index: u32, one_in: NonZeroU32) -> Tracer {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(FIRST_STREAM + u64::from(index));
        Tracer {
            random,
            sampled_below: (1 << RANDOM_BITS) / u64::from(one_in.get()),
        }
    }

    /// Returns the trace of the next request.
    #[inline]
    pub(crate) fn next_trace(&mut self) -> Trace {
        let (high, low) = (self.random.next_u64(), self.random.next_u64());
        let random_bits = low & ((1 << RANDOM_BITS) - 1);
        Trace {
            // Identifiers of zeros only are no identifiers.
            id: (u128::from(high) << 64 | u128::from(low)).max(1),
            span: self.random.next_u64().max(1),
            is_sampled: random_bits < self.sampled_below,
        }
    }
}

/// Reports the ends of a batch's requests to the recorder, each with its trace.
#[derive(Debug)]
pub(crate) struct TraceObserver<'a, H: Host> {
    requester: &'a Requester<H>,
    parts: &'a [Part],
    /// The traces of the requests; of a batch without traces none.
    traces: &'a [Trace],
    /// The index of the next request that ends.
    next: usize,
}

impl<'a, H: Host> TraceObserver<'a, H> {
    /// Creates the observer of a batch.
    pub(crate) fn new(requester: &'a Requester<H>, parts: &'a [Part], traces: &'a [Trace]) -> Self {
        TraceObserver {
            requester,
            parts,
            traces,
            next: 0,
        }
    }
}

impl<H: Host> Sink for TraceObserver<'_, H> {
    const NEEDS_HEAD: bool = false;
    const NEEDS_BODY: bool = false;
}

impl<H: Host> Observer for TraceObserver<'_, H> {
    fn ended(&mut self, exchange: &Exchange) {
        let index = self.next;
        self.next += 1;
        if let (Some(part), Some(trace)) = (self.parts.get(index), self.traces.get(index)) {
            self.requester.traced(part.series, exchange, *trace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn tracer(seed: u64, index: u32, one_in: u32) -> Tracer {
        let one_in = NonZeroU32::new(one_in).expect("more than none");
        Tracer::new(seed, index, one_in)
    }

    #[test]
    fn each_trace_is_another_one_and_the_same_seed_gives_the_same() {
        let mut seen = HashSet::new();
        for (seed, index) in [(1, 0), (1, 1), (2, 0)] {
            let mut own = tracer(seed, index, 1);
            seen.extend((0..1_000).map(|_| own.next_trace().id));
        }
        assert_eq!(seen.len(), 3_000);
        let first = tracer(1, 0, 1).next_trace();
        assert!(seen.contains(&first.id) && first.is_sampled && first.span > 0);
    }

    #[test]
    fn one_in_so_many_is_sampled() {
        let mut own = tracer(5, 0, 10);
        let sampled = (0..100_000).filter(|_| own.next_trace().is_sampled);
        let sampled = sampled.count();
        // Five standard deviations of a binomial count are 474.
        assert!((9_526..=10_474).contains(&sampled), "{sampled}");
        assert!((0..1_000).all(|_| tracer(7, 0, 1).next_trace().is_sampled));
    }
}
