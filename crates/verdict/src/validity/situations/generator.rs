//! Open loads that are at ease, and those in which the generator was late or busy.

use super::Situation;
use super::runs::*;
use loadline_findings::Grade;
use loadline_record::Summary;

pub(crate) fn healthy() -> Vec<Situation> {
    use Grade::Valid;
    vec![
        ("an open load at ease", open(500, 4, at_ease), Valid, &[]),
        (
            "a slow target at 100/s, with fifteen responses still to come",
            in_flight(open(100, 4, |_| (0, 500, 150 * MS)), &[75 * MS; 15]),
            Valid,
            &[],
        ),
        (
            "ten a second of 50 ms, none of them in flight where seconds end",
            open(10, 10, |_| (0, 500, 50 * MS)),
            Valid,
            &[],
        ),
        (
            "a target that stands still for a moment",
            freezing(),
            Valid,
            &[],
        ),
        (
            "a target that stalled for good and was given up on",
            in_flight(open(500, 4, at_ease), &[2 * SECOND; 400]),
            Valid,
            &[],
        ),
        (
            "a closed load whose users wait for the target alone",
            closed(50, 10_000, 9_900 * US),
            Valid,
            &[],
        ),
        (
            "a p99 that three late requests move by two ranks of a sparse tail",
            three_late(),
            Valid,
            &[],
        ),
        (
            "the same where a check names the mean",
            checked_by(three_late(), "mean<1ms"),
            Valid,
            &[],
        ),
        (
            "three milliseconds late where responses take half a second",
            open(100, 4, |_| (0, 3 * MS, 500 * MS)),
            Valid,
            &[],
        ),
    ]
}

/// An open load of two seconds in which two of a hundred requests are this late.
fn slow_core(rate: u64, late_ns: u64, service_ns: u64) -> Summary {
    open(rate, 2, move |number| {
        (0, one_in_100(number, 20 * US, late_ns), service_ns)
    })
}

fn two_hundred() -> Summary {
    slow_core(200, 458 * US, 224 * US)
}

pub(crate) fn delayed() -> Vec<Situation> {
    use Grade::Suspect;
    vec![
        (
            "200/s, the p99 of which is mostly lateness",
            two_hundred(),
            Suspect,
            &["late"],
        ),
        (
            "2 000/s of the same kind",
            slow_core(2_000, 99 * US, 66 * US),
            Suspect,
            &["late"],
        ),
        (
            "8 000/s of the same kind",
            slow_core(8_000, 388 * US, 121 * US),
            Suspect,
            &["late"],
        ),
        (
            "100/s for 2 s, most of them late by half a millisecond",
            open(100, 2, |number| {
                (0, if number % 3 == 0 { 500 } else { 500 * US }, 200 * US)
            }),
            Suspect,
            &["late"],
        ),
        (
            "a stall of our own of 50 ms in a second",
            open(1_000, 1, |number| match number {
                500..550 => (0, (550 - number) * MS, sparse_tail(number)),
                _ => (0, 500, sparse_tail(number)),
            }),
            Suspect,
            &["late"],
        ),
        (
            "a process that was stopped for a second and made up for it",
            stalled(
                open(500, 4, |number| match number {
                    500..1_000 => (0, (1_000 - number) * 2 * MS, 200 * US),
                    _ => at_ease(number),
                }),
                SECOND,
            ),
            Suspect,
            &["late", "stood_still"],
        ),
        (
            "an open load without stamps on a worker that has no time to look",
            busy(with_user_clock(open(500, 4, at_ease)), 0.91, 0.0),
            Suspect,
            &["unstamped", "busy"],
        ),
    ]
}

pub(crate) fn delayed_with_checks() -> Vec<Situation> {
    use Grade::{Invalid, Suspect};
    vec![
        (
            "a mean that a stall of our own moved, and that a check names",
            checked_by(
                open(1_000, 1, |number| match number {
                    500..505 => (0, (505 - number) * 20 * MS, 200 * US),
                    _ => at_ease(number),
                }),
                "mean<1s",
            ),
            Suspect,
            &["late"],
        ),
        (
            "a check that three late requests break",
            checked_by(three_late(), "p99<200us"),
            Invalid,
            &["decisive"],
        ),
        (
            "a check that lateness alone breaks",
            checked_by(two_hundred(), "p99<500us"),
            Invalid,
            &["decisive", "late"],
        ),
        (
            "a check that lateness does not decide",
            checked_by(two_hundred(), "p99<10ms"),
            Suspect,
            &["late"],
        ),
        (
            "a p99.9 that is lateness, and that a check names",
            checked_by(
                open(1_000, 4, |number| {
                    let late_ns = if number % 200 == 0 { 2 * MS } else { 500 };
                    (0, late_ns, 200 * US)
                }),
                "p99.9<10ms",
            ),
            Suspect,
            &["late"],
        ),
    ]
}

pub(crate) fn busy_without_effect() -> Vec<Situation> {
    use Grade::Valid;
    let fast = |rate| {
        open(rate, 1, |number| {
            (0, one_in_100(number, 300, 47 * US), 60 * US)
        })
    };
    let polled = with(fast(30_000), |summary| {
        let worker = summary.total.workers.entry(0).or_default();
        (worker.cpu_ns, worker.polled_ns) = (984 * MS, 700 * MS);
    });
    vec![
        (
            "30 000/s on a core that polls before each deadline",
            polled,
            Valid,
            &[],
        ),
        (
            "20 000/s on one core",
            busy(fast(20_000), 0.83, 0.0),
            Valid,
            &[],
        ),
        (
            "200 000/s on one core, all of it computed",
            busy(fast(200_000), 0.99, 0.0),
            Valid,
            &["busy"],
        ),
        (
            "responses of 50 ms on a core that is busy for 90 %",
            busy(open(1_000, 2, |_| (0, 20 * US, 50 * MS)), 0.9, 0.0),
            Valid,
            &["busy"],
        ),
        (
            "a laptop with other work",
            busy(open(500, 2, at_ease), 0.2, 0.31),
            Valid,
            &["crowded"],
        ),
        (
            "segments of a neighbour lost",
            with(open(500, 2, at_ease), |summary| {
                summary.host.retransmitted = 80;
            }),
            Valid,
            &["lost"],
        ),
        (
            "a hypervisor that takes its share",
            with(open(500, 2, at_ease), |summary| {
                summary.host.steal_ticks = 160;
            }),
            Valid,
            &["stolen"],
        ),
        (
            "arrivals displaced by less than shows in a figure",
            with(open(500, 2, at_ease), |summary| {
                (summary.arrivals.requests, summary.arrivals.displaced) = (1_000, 60);
            }),
            Valid,
            &["bunched"],
        ),
    ]
}
