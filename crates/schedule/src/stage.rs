//! Stages: levels that change linearly, one after the other.
//!
//! The same stages serve rates and numbers of users. [`spans`] places them on the time axis.

/// A linear change to `target`. A duration of zero is a jump.
///
/// This type is the schedule's own: whole nanoseconds, and no serialised form. The plan has another
/// `Stage`, which is serialised; this crate depends on `units` alone, so that a schedule can be
/// computed and tested without a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage<T> {
    /// The duration of the change, in nanoseconds.
    pub duration_ns: u64,
    /// The level at the end of the stage.
    pub target: T,
}

/// A stage with a duration, on the time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span<T> {
    /// The start, in nanoseconds from the run's start.
    pub(crate) from_ns: u64,
    /// The duration in nanoseconds, more than zero.
    pub(crate) duration_ns: u64,
    /// The level at the start.
    pub(crate) start: T,
    /// The level at the end.
    pub(crate) end: T,
}

/// Returns the stages that take time, each from the level at which the one before it, or a jump,
/// ended. A stage that would extend beyond the last nanosecond of a `u64` is compressed to end
/// there.
pub(crate) fn spans<T: Copy>(start: T, stages: &[Stage<T>]) -> Vec<Span<T>> {
    let (mut from_ns, mut level) = (0, start);
    let mut spans = Vec::with_capacity(stages.len());
    for stage in stages {
        let duration_ns = stage.duration_ns.min(u64::MAX - from_ns);
        if duration_ns > 0 {
            spans.push(Span {
                from_ns,
                duration_ns,
                start: level,
                end: stage.target,
            });
        }
        from_ns += duration_ns;
        level = stage.target;
    }
    spans
}

/// Returns the end of the stages, in nanoseconds from the run's start.
pub(crate) fn end_ns<T>(stages: &[Stage<T>]) -> u64 {
    let durations = stages.iter().map(|stage| stage.duration_ns);
    durations.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(duration_ns: u64, target: u32) -> Stage<u32> {
        Stage {
            duration_ns,
            target,
        }
    }

    fn span(from_ns: u64, duration_ns: u64, start: u32, end: u32) -> Span<u32> {
        Span {
            from_ns,
            duration_ns,
            start,
            end,
        }
    }

    #[test]
    fn each_span_starts_where_the_last_ended_or_jumped() {
        let stages = [stage(10, 5), stage(0, 9), stage(20, 9), stage(0, 1)];
        assert_eq!(spans(2, &stages), [span(0, 10, 2, 5), span(10, 20, 9, 9)]);
        assert_eq!(end_ns(&stages), 30);
    }

    #[test]
    fn no_stages_take_no_time() {
        assert_eq!(spans(7, &[]), []);
        assert_eq!(end_ns::<u32>(&[]), 0);
    }

    #[test]
    fn time_ends_with_the_last_nanosecond_of_a_u64() {
        let stages = [stage(u64::MAX - 1, 1), stage(5, 2), stage(5, 3)];
        assert_eq!(
            spans(0, &stages),
            [span(0, u64::MAX - 1, 0, 1), span(u64::MAX - 1, 1, 1, 2)]
        );
        assert_eq!(end_ns(&stages), u64::MAX);
    }
}
