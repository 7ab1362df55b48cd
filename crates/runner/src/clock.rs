//! The clock of the response times, on a kernel that timestamps nothing that arrives.

use loadline_plan::Plan;
use loadline_record::Note;
use std::borrow::Cow;

/// The note on a run whose plan is of the kernel's clock, on a kernel without timestamps.
const WITHOUT_STAMPS: &str = "This kernel does not timestamp what arrives (SO_TIMESTAMPNS): \
                              response times end when they were read, as with --clock user";

/// Returns a plan as it can be kept by a kernel that timestamps what arrives, or does not, and the
/// note about what differs.
pub(crate) fn kept_by_kernel(plan: &Plan, stamps: bool) -> (Cow<'_, Plan>, Option<Note>) {
    if stamps {
        return (Cow::Borrowed(plan), None);
    }
    let mut kept = plan.clone();
    match kept.connection.do_without_stamps() {
        true => (Cow::Owned(kept), Note::new(0, WITHOUT_STAMPS)),
        false => (Cow::Borrowed(plan), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_plan::Clock;
    use std::num::NonZeroU32;

    #[test]
    fn a_kernel_without_timestamps_makes_a_run_by_our_clock_and_says_so() {
        let mut plan = samples::plan();
        plan.connection.clock = Clock::Kernel;
        plan.connection.kernel_timestamps = NonZeroU32::new(100);
        let (kept, note) = kept_by_kernel(&plan, false);
        let connection = &kept.connection;
        assert_eq!(connection.clock, Clock::User);
        assert_eq!(connection.kernel_timestamps, None);
        assert!(note.is_some_and(|note| note.text.contains("SO_TIMESTAMPNS")));
    }

    #[test]
    fn other_plans_are_kept_as_they_are() {
        let mut plan = samples::plan();
        plan.connection.clock = Clock::Kernel;
        assert_eq!(kept_by_kernel(&plan, true), (Cow::Borrowed(&plan), None));
        plan.connection.clock = Clock::User;
        assert_eq!(kept_by_kernel(&plan, false), (Cow::Borrowed(&plan), None));
    }
}
