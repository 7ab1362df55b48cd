//! Laws for every schedule: stripes, order, and the number of arrivals due.

use super::*;
use proptest::prelude::*;

/// Rates as users write them, from zero to a million a second, and odd ones.
pub(super) fn rate() -> impl Strategy<Value = Rate> {
    let period = prop_oneof![
        3 => Just(SECOND_NS),
        1 => Just(60 * SECOND_NS),
        1 => Just(1_000 * SECOND_NS),
        1 => 1..10_000_000_000u64,
    ];
    let count = prop_oneof![1 => Just(0), 4 => 0..100u64, 4 => 0..1_000_000u64];
    (count, period).prop_map(|(count, per_ns)| Rate { count, per_ns })
}

/// Stages of up to two hours; some take no time, some keep the rate of the one before.
fn stages() -> impl Strategy<Value = Vec<Stage<Rate>>> {
    let duration = prop_oneof![
        1 => Just(0),
        1 => 1..1_000u64,
        3 => 1..10 * SECOND_NS,
        1 => 1..7_200 * SECOND_NS,
    ];
    let drawn = (duration, rate(), any::<bool>());
    prop::collection::vec(drawn, 0..6).prop_map(|drawn| {
        let mut stages: Vec<Stage<Rate>> = Vec::new();
        for (duration_ns, target, flat) in drawn {
            let before = stages.last().map_or(target, |last| last.target);
            stages.push(stage(duration_ns, if flat { before } else { target }));
        }
        stages
    })
}

fn law() -> impl Strategy<Value = Law> {
    prop_oneof![Just(Law::Even), Just(Law::Poisson)]
}

pub(super) fn schedule() -> impl Strategy<Value = Schedule> {
    prop_oneof![
        2 => (rate(), law(), any::<u64>())
            .prop_map(|(rate, law, seed)| Schedule::constant(rate, law, seed)),
        4 => (rate(), stages(), law(), any::<u64>())
            .prop_map(|(start, stages, law, seed)| Schedule::ramps(start, &stages, law, seed)),
        1 => (0..50u64, 1..10 * SECOND_NS)
            .prop_map(|(size, every_ns)| Schedule::burst(size, every_ns)),
    ]
}

proptest! {
    #[test]
    fn all_stripes_together_are_the_whole(schedule in schedule(), of in 1..9u32) {
        const FIRST: u64 = 400;
        let mut merged: Vec<_> = (0..of)
            .flat_map(|index| {
                let stripe = schedule.arrivals(Stripe { index, of });
                stripe.take_while(|arrival| arrival.index < FIRST)
            })
            .collect();
        merged.sort_by_key(|arrival| arrival.index);
        let whole = schedule.arrivals(Stripe::WHOLE).take(FIRST as usize);
        prop_assert_eq!(merged, whole.collect::<Vec<_>>());
    }

    #[test]
    fn shares_that_were_handed_on_are_together_the_whole(
        schedule in schedule(), of in 2..7u32, lost in any::<prop::sample::Index>(),
    ) {
        const FIRST: u64 = 400;
        let mut shares: Vec<Stripes> = (0..of).map(|index| Stripe { index, of }.into()).collect();
        let lost = shares.remove(lost.index(of as usize));
        let parts = lost.divide(of - 1);
        shares.iter_mut().zip(parts).for_each(|(own, more)| own.add(more));
        let mut merged = Vec::new();
        for share in &shares {
            let arrivals = schedule.arrivals(share).take_while(|one| one.index < FIRST);
            let arrivals: Vec<_> = arrivals.collect();
            prop_assert!(arrivals.is_sorted_by_key(|one| (one.at_ns, one.index)));
            prop_assert!(arrivals.iter().all(|one| share.contains(one.index)));
            merged.extend(arrivals);
        }
        merged.sort_by_key(|arrival| arrival.index);
        let whole = schedule.arrivals(Stripe::WHOLE).take(FIRST as usize);
        prop_assert_eq!(merged, whole.collect::<Vec<_>>());
        prop_assert_eq!(schedule.arrivals(Stripes::default()).next(), None);
    }

    #[test]
    fn arrivals_ascend_without_a_gap_in_their_indices(schedule in schedule()) {
        let arrivals: Vec<_> = schedule.arrivals(Stripe::WHOLE).take(1_000).collect();
        prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.at_ns));
        prop_assert!(arrivals.iter().map(|arrival| arrival.index).eq(0..arrivals.len() as u64));
        let end_ns = schedule.end_ns().unwrap_or(u64::MAX);
        prop_assert!(arrivals.iter().all(|arrival| arrival.at_ns < end_ns));
    }

    #[test]
    fn as_many_are_due_as_have_arrived(schedule in schedule(), part in 0.0..1.0f64) {
        let arrivals: Vec<_> = schedule.arrivals(Stripe::WHOLE).take(1_000).collect();
        // If more arrivals follow, only those before the last one are known.
        let horizon_ns = match arrivals.last() {
            Some(last) if arrivals.len() == 1_000 => last.at_ns,
            _ => schedule.end_ns().unwrap_or(SECOND_NS),
        };
        let anywhere = (horizon_ns as f64 * part) as u64;
        let near = arrivals.iter().step_by(97).flat_map(|a| [a.at_ns, a.at_ns + 1]);
        for t_ns in near.chain([0, anywhere, horizon_ns]).filter(|t_ns| *t_ns <= horizon_ns) {
            let arrived = arrivals.iter().filter(|arrival| arrival.at_ns < t_ns).count();
            prop_assert_eq!(schedule.due_before(t_ns), arrived as u64, "before {} ns", t_ns);
        }
    }
}
