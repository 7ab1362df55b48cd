//! Single values of a distribution, each with the trace in which it was measured.

use loadline_record::TracedRequest;

/// The most exemplars of a distribution between two messages.
const MOST: usize = 4;

/// A value with the trace in which it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exemplar {
    /// The value, in the unit of its distribution.
    pub value: f64,
    /// When it was measured, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The identifier of the trace.
    pub trace_id: u128,
    /// The identifier of the span that the request is.
    pub span_id: u64,
}

impl Exemplar {
    /// Returns the response time of a request, in seconds. `zero_ns` is the begin of the run's
    /// measured part, in nanoseconds since 1970.
    pub(crate) fn of(request: &TracedRequest, zero_ns: u64) -> Exemplar {
        Exemplar {
            value: request.response_ns as f64 * 1e-9,
            at_ns: zero_ns.saturating_add(request.end_ns),
            trace_id: request.trace.id,
            span_id: request.trace.span,
        }
    }
}

/// Exemplars of a distribution: of those that were added, the largest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Exemplars(Vec<Exemplar>);

impl Exemplars {
    /// Adds exemplars.
    pub(crate) fn add(&mut self, more: &[Exemplar]) {
        if more.is_empty() {
            return;
        }
        self.0.extend_from_slice(more);
        self.0
            .sort_by(|one, other| other.value.total_cmp(&one.value));
        self.0.truncate(MOST);
    }

    /// Returns them in the order of their instants, as receivers require.
    pub(crate) fn in_order(&self) -> Vec<Exemplar> {
        let mut exemplars = self.0.clone();
        exemplars.sort_by_key(|one| one.at_ns);
        exemplars
    }

    /// Adds those of another distribution.
    pub(crate) fn merge(&mut self, other: &Exemplars) {
        self.add(&other.0);
    }

    /// Removes all of them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exemplar(value: f64, at_ns: u64) -> Exemplar {
        Exemplar {
            value,
            at_ns,
            trace_id: 1,
            span_id: 2,
        }
    }

    #[test]
    fn the_largest_are_kept_in_the_order_of_their_instants() {
        let mut exemplars = Exemplars::default();
        for at_ns in 1..=9_u8 {
            exemplars.add(&[exemplar(f64::from(at_ns % 6), at_ns.into())]);
        }
        let kept: Vec<_> = exemplars.in_order();
        let kept: Vec<_> = kept.iter().map(|one| (one.at_ns, one.value)).collect();
        assert_eq!(kept, [(3, 3.0), (4, 4.0), (5, 5.0), (9, 3.0)]);
        exemplars.clear();
        assert_eq!(exemplars, Exemplars::default());
    }
}
