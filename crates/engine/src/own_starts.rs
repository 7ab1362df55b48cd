//! The starts of a user who paces itself.
//!
//! A script may define when its user begins the next iteration, such as once per second. Then the
//! user's schedule is `from`, `from + every`, `from + 2 · every` … After an iteration that takes
//! longer, because a response did, the user begins the next one at once and continues from there;
//! the starts that fell due meanwhile are not made up for. That is coordinated omission, so these
//! starts are recorded here:
//!
//! - Of the starts that fell due while the user waited for a response, the user makes the last one
//!   late. Its delay is the time from its due instant to the end of the response (*blocked*) and
//!   the time from when the user could continue to when it did (*lateness*).
//! - The earlier ones are *missed*. Each has waited from its due instant until the user continued.
//!   This is what HdrHistogram's `recordValueWithExpectedInterval` adds for a time that is longer
//!   than the interval, with known instead of assumed instants.
//! - An instant that falls due while the user does something else than wait for a response is no
//!   start: the target is not responsible for the script's own work.
//!
//! The delay of an iteration is that of its first request. The script's work before that request is
//! part of no time.

use loadline_metrics::SeriesId;
use loadline_record::{Exchange, Outcome};
use std::cell::Cell;

/// The shortest interval of a schedule, in nanoseconds; starts that are closer together are no
/// schedule.
const LEAST_NS: u64 = 10_000;

/// A wait for a response. Instants are nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The instant at which the request was sent.
    pub begun_ns: u64,
    /// The instant of the response, or of the failure.
    pub ended_ns: u64,
    /// The instant at which its user continued.
    pub resumed_ns: u64,
    /// The series of the request, which also counts the starts that fell due meanwhile.
    pub series: SeriesId,
}

/// A start that fell due during a wait, and was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MissedStart {
    pub(crate) intended_ns: u64,
    pub(crate) wait: Wait,
}

impl MissedStart {
    fn delay(&self) -> StartDelay {
        let free_ns = self.wait.ended_ns.max(self.intended_ns);
        StartDelay {
            blocked_ns: free_ns - self.intended_ns,
            lateness_ns: self.wait.resumed_ns.saturating_sub(free_ns),
        }
    }

    /// Returns the exchange that would have taken place, had it taken no time once its user
    /// continued, with instants relative to `zero_ns`.
    pub(crate) fn exchange(&self, zero_ns: u64) -> Exchange {
        let delay = self.delay();
        let intended_ns = self.intended_ns.saturating_sub(zero_ns);
        let ready_ns = intended_ns + delay.blocked_ns;
        let end_ns = ready_ns + delay.lateness_ns;
        Exchange {
            intended_ns,
            ready_ns,
            start_ns: end_ns,
            dial_ns: 0,
            resolve_ns: 0,
            tls_ns: 0,
            sent_ns: end_ns,
            first_byte_ns: end_ns,
            end_ns,
            wakeup_ns: 0,
            bytes_in: 0,
            bytes_out: 0,
            outcome: Outcome::Answered { status: 0 },
            request: None,
        }
    }
}

/// The parts of the delay of a start, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StartDelay {
    pub(crate) blocked_ns: u64,
    pub(crate) lateness_ns: u64,
}

/// The starts of a user who paces itself. Instants are nanoseconds on the host's clock.
#[derive(Debug, Default)]
pub(crate) struct OwnStarts {
    /// The time from one start to the next; 0 if the user does not pace itself.
    every_ns: Cell<u64>,
    /// The intended begin of the current iteration.
    from_ns: Cell<u64>,
    /// The first start after the current iteration's that has not fallen due while the user waited.
    due_ns: Cell<u64>,
    /// The last start that has fallen due while the user waited.
    held: Cell<Option<MissedStart>>,
    /// The delay of the next start so far, and the instant from which the user can make it.
    next: Cell<Option<(StartDelay, u64)>>,
    /// The delay of the iteration, until its first request takes it.
    delay: Cell<Option<StartDelay>>,
}

impl OwnStarts {
    /// Begins to pace the user: an iteration begins at `from_ns`, and the next ones `every_ns`
    /// apart.
    pub(crate) fn begin(&self, from_ns: u64, every_ns: u64) {
        self.every_ns
            .set(if every_ns < LEAST_NS { 0 } else { every_ns });
        self.from_ns.set(from_ns);
        self.due_ns.set(from_ns.saturating_add(every_ns));
        self.held.set(None);
        self.next.set(None);
        self.delay.set(None);
    }

    /// Ends the pacing. Calls `each` with the start that is still held, which is missed.
    pub(crate) fn end(&self, each: impl FnMut(MissedStart)) {
        self.held.take().into_iter().for_each(each);
        self.begin(0, 0);
    }

    /// Handles a wait for a response. Calls `each` with each start that the user missed.
    pub(crate) fn waited(&self, wait: Wait, mut each: impl FnMut(MissedStart)) {
        let (due_ns, every_ns) = (self.due_ns.get(), self.every_ns.get());
        if every_ns == 0 || wait.resumed_ns < due_ns {
            return;
        }
        for intended_ns in self.due_between(wait.begun_ns, wait.resumed_ns) {
            let missed = MissedStart { intended_ns, wait };
            self.held
                .replace(Some(missed))
                .into_iter()
                .for_each(&mut each);
        }
        let passed = (wait.resumed_ns - due_ns) / every_ns + 1;
        self.due_ns.set(due_ns + passed * every_ns);
    }

    /// Returns the starts that fall due from `begun_ns` to `until_ns` and have not been handled.
    pub(crate) fn due_between(&self, begun_ns: u64, until_ns: u64) -> impl Iterator<Item = u64> {
        let (due_ns, every_ns) = (self.due_ns.get(), self.every_ns.get());
        let skipped = match every_ns {
            0 => 0,
            _ => begun_ns.saturating_sub(due_ns).div_ceil(every_ns),
        };
        let first_ns = due_ns.saturating_add(skipped.saturating_mul(every_ns));
        let is_due = move |at_ns: &u64| every_ns > 0 && *at_ns <= until_ns;
        std::iter::successors(Some(first_ns), move |at_ns| at_ns.checked_add(every_ns))
            .take_while(is_due)
    }

    /// Returns the last start that fell due while the user waited, and that it has not made yet.
    pub(crate) fn held(&self) -> Option<MissedStart> {
        self.held.get()
    }

    /// Ends the iteration and determines the begin of the next one. Calls `each` with a start that
    /// the user missed.
    pub(crate) fn iteration_ended(&self, now_ns: u64, each: impl FnMut(MissedStart)) {
        let every_ns = self.every_ns.get();
        if every_ns == 0 {
            return;
        }
        let next_ns = self.from_ns.get().saturating_add(every_ns);
        let held = self.held.take();
        let is_last = |held: &MissedStart| now_ns.saturating_sub(held.intended_ns) < every_ns;
        let late = held.filter(is_last);
        if late.is_none() {
            held.into_iter().for_each(each);
        }
        let delay = late.map_or(StartDelay::default(), |late| late.delay());
        let from_ns = next_ns.max(now_ns);
        self.from_ns.set(from_ns);
        self.due_ns.set(from_ns.saturating_add(every_ns));
        self.next.set(Some((delay, from_ns)));
    }

    /// Begins the next iteration, and fixes its delay.
    pub(crate) fn iteration_begins(&self, now_ns: u64) {
        let Some((delay, free_ns)) = self.next.take() else {
            return;
        };
        self.delay.set(Some(StartDelay {
            lateness_ns: delay.lateness_ns + now_ns.saturating_sub(free_ns),
            ..delay
        }));
    }

    /// Returns the delay of the iteration, for its first request.
    pub(crate) fn take_delay(&self) -> Option<StartDelay> {
        self.delay.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A user whose starts are 100 apart and begin at 1 000, with the starts that it missed.
    struct Course {
        starts: OwnStarts,
        missed: Vec<(u64, u64)>,
    }

    /// Returns the due instant of a start, and its waiting time.
    fn times(missed: &MissedStart) -> (u64, u64) {
        let response_ns = missed.exchange(0).response_ns();
        (missed.intended_ns / LEAST_NS, response_ns / LEAST_NS)
    }

    impl Course {
        fn new() -> Self {
            let every_ns = 100 * LEAST_NS;
            let starts = OwnStarts::default();
            starts.begin(1_000 * LEAST_NS, every_ns);
            Course {
                starts,
                missed: Vec::new(),
            }
        }

        /// Waits for a response, and continues as soon as it has arrived.
        fn waits(&mut self, begun: u64, ended: u64) {
            self.waits_for_its_turn(begun, ended, ended);
        }

        fn waits_for_its_turn(&mut self, begun: u64, ended: u64, resumed: u64) {
            let wait = Wait {
                begun_ns: begun * LEAST_NS,
                ended_ns: ended * LEAST_NS,
                resumed_ns: resumed * LEAST_NS,
                series: SeriesId::default(),
            };
            let missed = &mut self.missed;
            self.starts.waited(wait, |one| missed.push(times(&one)));
        }

        /// Ends the iteration and begins the next one. Returns the blocked time and the lateness.
        fn goes_on(&mut self, ended: u64, begins: u64) -> (u64, u64) {
            let missed = &mut self.missed;
            self.starts
                .iteration_ended(ended * LEAST_NS, |one| missed.push(times(&one)));
            self.starts.iteration_begins(begins * LEAST_NS);
            let delay = self.starts.take_delay().expect("a delay");
            (delay.blocked_ns / LEAST_NS, delay.lateness_ns / LEAST_NS)
        }
    }

    #[test]
    fn a_user_that_is_in_time_misses_nothing_and_keeps_its_schedule() {
        let mut course = Course::new();
        course.waits(1_001, 1_060);
        assert_eq!(course.goes_on(1_060, 1_103), (0, 3));
        course.waits(1_103, 1_199);
        assert_eq!(course.goes_on(1_199, 1_200), (0, 0));
        assert!(course.missed.is_empty());
    }

    #[test]
    fn the_last_start_that_fell_due_in_a_long_response_is_late_and_those_before_are_missed() {
        let mut course = Course::new();
        course.waits(1_000, 1_350);
        assert_eq!(course.goes_on(1_351, 1_352), (50, 1));
        assert_eq!(course.missed, [(1_100, 250), (1_200, 150)]);
        // The user continues from there, as its script does.
        course.waits(1_352, 1_360);
        assert_eq!(course.goes_on(1_360, 1_451), (0, 0));
    }

    #[test]
    fn what_falls_due_while_the_script_works_is_no_start() {
        let mut course = Course::new();
        course.waits(1_000, 1_020);
        assert_eq!(course.goes_on(1_570, 1_570), (0, 0));
        assert!(course.missed.is_empty());
    }

    #[test]
    fn a_response_that_was_long_ago_does_not_make_a_start_late() {
        let mut course = Course::new();
        course.waits(1_000, 1_250);
        assert_eq!(course.goes_on(1_600, 1_600), (0, 0));
        assert_eq!(course.missed, [(1_100, 150), (1_200, 50)]);
    }

    #[test]
    fn requests_that_wait_at_the_same_time_miss_a_start_once() {
        let mut course = Course::new();
        course.waits(1_000, 1_250);
        course.waits(1_000, 1_350);
        assert_eq!(course.missed, [(1_100, 150), (1_200, 50)]);
        assert_eq!(course.goes_on(1_350, 1_350), (50, 0));
    }

    #[test]
    fn a_user_that_waits_for_its_turn_behind_the_response_is_late_through_loadline() {
        let mut course = Course::new();
        course.waits_for_its_turn(1_000, 1_110, 1_230);
        assert_eq!(course.missed, [(1_100, 130)]);
        assert_eq!(course.goes_on(1_230, 1_231), (0, 31));
        let missed = MissedStart {
            intended_ns: 100,
            wait: Wait {
                begun_ns: 0,
                ended_ns: 110,
                resumed_ns: 230,
                series: SeriesId::default(),
            },
        };
        let exchange = missed.exchange(40);
        assert_eq!((exchange.blocked_ns(), exchange.lateness_ns()), (10, 120));
    }

    #[test]
    fn only_the_first_request_takes_the_delay() {
        let mut course = Course::new();
        assert_eq!(course.goes_on(1_010, 1_104), (0, 4));
        assert_eq!(course.starts.take_delay(), None);
    }

    #[test]
    fn a_user_without_a_pace_has_no_starts() {
        let starts = OwnStarts::default();
        let wait = Wait {
            begun_ns: 0,
            ended_ns: 5,
            resumed_ns: u64::MAX,
            series: SeriesId::default(),
        };
        starts.waited(wait, |_| panic!("nothing is missed"));
        starts.iteration_ended(u64::MAX, |_| panic!("nothing is missed"));
        starts.iteration_begins(5);
        assert_eq!(starts.take_delay(), None);
        assert_eq!(starts.due_between(0, u64::MAX).next(), None);
    }

    proptest! {
        #[test]
        fn every_start_that_falls_due_in_a_wait_is_counted_once(
            waits in prop::collection::vec((0..5_u64, 0..900_u64), 1..20),
        ) {
            let mut course = Course::new();
            let (mut now, mut due) = (1_000, 0);
            let from = 1_000;
            for (pause, length) in waits {
                let begun = now + pause;
                now = begun + length;
                let is_in = |at: &u64| *at >= begun && *at <= now;
                due += (1..=300).map(|k| from + k * 100).filter(is_in).count();
                course.waits(begun, now);
                // A start at which one wait ends and the next begins belongs to the first.
                now += 1;
            }
            let held = usize::from(course.starts.held().is_some());
            prop_assert_eq!(course.missed.len() + held, due);
        }
    }
}
