//! Loads that change: every arrival of small ones, and laws for all of them.

use super::properties::{rate, schedule};
use super::*;
use proptest::prelude::*;

const MS_NS: u64 = 1_000_000;

fn share(per_mille: u32) -> Level<Rate> {
    Level::Share(Share { per_mille })
}

/// Creates a schedule of `count` arrivals a second, with changes at these milliseconds.
fn changed(count: u64, changes: &[(u64, Level<Rate>)]) -> Schedule {
    let mut schedule = Schedule::constant(per_second(count), Law::Even, 0);
    for (at_ms, level) in changes {
        schedule.change(at_ms * MS_NS, *level);
    }
    schedule
}

fn first_ms(schedule: &Schedule, n: usize) -> Vec<u64> {
    let arrivals = schedule.arrivals(Stripe::WHOLE).take(n);
    arrivals.map(|arrival| arrival.at_ns / MS_NS).collect()
}

#[test]
fn a_share_changes_the_gaps_and_keeps_the_phase() {
    // Arrival 3 is half way when the rate doubles at 250 ms.
    let doubled = changed(10, &[(250, share(2_000))]);
    assert_eq!(first_ms(&doubled, 6), [0, 100, 200, 275, 325, 375]);
    let halved = changed(10, &[(250, share(500))]);
    assert_eq!(first_ms(&halved, 5), [0, 100, 200, 350, 550]);
}

#[test]
fn arrivals_of_a_pause_are_none_and_those_behind_it_go_on_where_it_began() {
    let pause = [(250, Level::Paused), (1_000, share(1_000))];
    let paused = changed(10, &pause);
    assert_eq!(first_ms(&paused, 6), [0, 100, 200, 1_050, 1_150, 1_250]);
    let due = [250, 600, 1_050, 1_051].map(|at_ms| paused.due_before(at_ms * MS_NS));
    assert_eq!(due, [3, 3, 3, 4]);
    let for_good = changed(10, &[(250, Level::Paused)]);
    assert_eq!(first_ms(&for_good, 9), [0, 100, 200]);
    assert_eq!(for_good.due_before(u64::MAX), 3);
}

#[test]
fn a_fixed_rate_forgets_the_plan() {
    let fixed = changed(
        10,
        &[(150, share(3_000)), (200, Level::Fixed(per_second(2)))],
    );
    // At 200 ms the integral is 3: the next arrival is due at once.
    assert_eq!(first_ms(&fixed, 5), [0, 100, 166, 200, 700]);
}

#[test]
fn the_last_of_several_changes_at_an_instant_holds() {
    let many = [
        (100, share(5_000)),
        (100, Level::Paused),
        (100, share(2_000)),
    ];
    assert_eq!(changed(10, &many).due_before(SECOND_NS), 19);
    let at_zero = changed(10, &[(0, share(2_000))]);
    assert_eq!(first_ms(&at_zero, 4), [0, 50, 100, 150]);
}

#[test]
fn ramps_go_on_below_a_change() {
    // N(t) = 2t² in seconds up to 1 s, then half of what is added: 8 − 2 in the second one.
    let mut climb = ramps(0, &[(2, 8)]);
    climb.change(SECOND_NS, share(500));
    assert_eq!(climb.due_before(SECOND_NS), 2);
    assert_eq!(climb.due_before(2 * SECOND_NS), 5);
    assert_eq!(climb.due_before(u64::MAX), 5);
    assert_eq!(instants_ms(&climb), [0, 707, 1_000, 1_414, 1_732]);
}

#[test]
fn bursts_change_their_size_and_stay_on_the_grid() {
    let mut burst = Schedule::burst(4, 100 * MS_NS);
    burst.change(150 * MS_NS, share(500));
    burst.change(250 * MS_NS, Level::Paused);
    burst.change(400 * MS_NS, share(1_000));
    let expected = [
        0, 0, 0, 0, 100, 100, 100, 100, 200, 200, 400, 400, 400, 400, 500,
    ];
    assert_eq!(first_ms(&burst, 15), expected);
    assert_eq!(burst.due_before(400 * MS_NS), 10);
    assert_eq!(burst.due_before(400 * MS_NS + 1), 14);
}

#[test]
fn a_random_load_draws_another_stream_behind_each_change() {
    let planned = Schedule::constant(per_second(1_000), Law::Poisson, 7);
    let mut same = planned.clone();
    same.change(SECOND_NS, share(1_000));
    let instants = |schedule: &Schedule, stripe| {
        let arrivals = schedule.arrivals(stripe).map(|arrival| arrival.at_ns);
        arrivals
            .take_while(|at_ns| *at_ns < 3 * SECOND_NS)
            .collect::<Vec<_>>()
    };
    let (old, new) = (
        instants(&planned, Stripe::WHOLE),
        instants(&same, Stripe::WHOLE),
    );
    let before = |all: &[u64]| all.partition_point(|at_ns| *at_ns < SECOND_NS);
    assert_eq!(old[..before(&old)], new[..before(&new)]);
    assert_ne!(old[before(&old)..], new[before(&new)..]);
    assert_eq!(new, instants(&same.clone(), Stripe::WHOLE));
    assert!((1_800..2_200).contains(&(new.len() - before(&new))));
}

#[test]
#[should_panic(expected = "in the order of time")]
fn changes_come_in_order() {
    changed(10, &[(100, Level::Paused), (99, Level::Paused)]);
}

fn level() -> impl Strategy<Value = Level<Rate>> {
    prop_oneof![
        4 => (0..20u32).prop_map(|steps| share(50 * steps)),
        2 => (0..10_000u32).prop_map(share),
        2 => rate().prop_map(Level::Fixed),
        2 => Just(Level::Paused),
    ]
}

/// A load and changes of it, some at the same instant.
fn changing() -> impl Strategy<Value = (Schedule, Vec<(u64, Level<Rate>)>)> {
    let at_ns = prop_oneof![
        Just(0),
        (0..200u64).prop_map(|at| at * 100 * MS_NS),
        0..20 * SECOND_NS,
    ];
    let changes = prop::collection::vec((at_ns, level()), 0..6).prop_map(|mut changes| {
        changes.sort_by_key(|(at_ns, _)| *at_ns);
        changes
    });
    (schedule(), changes)
}

/// Returns the first few thousand arrivals before 20 s.
fn early(arrivals: Arrivals) -> Vec<u64> {
    let early = arrivals.take_while(|arrival| arrival.at_ns < 20 * SECOND_NS);
    early.take(3_000).map(|arrival| arrival.at_ns).collect()
}

proptest! {
    #[test]
    fn all_stripes_of_a_changed_load_are_the_whole((plan, changes) in changing(), of in 1..5u32) {
        let mut schedule = plan;
        changes.iter().for_each(|(at_ns, level)| schedule.change(*at_ns, *level));
        let whole = early(schedule.arrivals(Stripe::WHOLE));
        let stripes = (0..of).map(|index| early(schedule.arrivals(Stripe { index, of })));
        let mut all: Vec<u64> = stripes.flatten().collect();
        all.sort_unstable();
        all.truncate(whole.len());
        prop_assert_eq!(&whole, &all);
        prop_assert!(whole.is_sorted());
    }

    #[test]
    fn shares_of_a_changed_load_that_were_handed_on_are_the_whole(
        (plan, changes) in changing(), of in 2..5u32,
    ) {
        let mut schedule = plan;
        changes.iter().for_each(|(at_ns, level)| schedule.change(*at_ns, *level));
        let mut shares: Vec<Stripes> = (0..of).map(|index| Stripe { index, of }.into()).collect();
        let parts = shares.remove(0).divide(of - 1);
        shares.iter_mut().zip(parts).for_each(|(own, more)| own.add(more));
        let sorted = |arrivals: &dyn Fn(&Stripes) -> Arrivals, most: usize| {
            let all = shares.iter().flat_map(|share| early(arrivals(share)));
            let mut all: Vec<u64> = all.collect();
            all.sort_unstable();
            all.truncate(most);
            all
        };
        let whole = early(schedule.arrivals(Stripe::WHOLE));
        prop_assert_eq!(&whole, &sorted(&|share| schedule.arrivals(share), whole.len()));
        let since = early(schedule.arrivals_since_change(Stripe::WHOLE));
        let shared = sorted(&|share| schedule.arrivals_since_change(share), since.len());
        prop_assert_eq!(&since, &shared);
    }

    #[test]
    fn as_many_are_due_as_arrive_in_every_segment((plan, changes) in changing()) {
        let mut schedule = plan;
        changes.iter().for_each(|(at_ns, level)| schedule.change(*at_ns, *level));
        let whole = early(schedule.arrivals(Stripe::WHOLE));
        prop_assume!(whole.len() < 3_000);
        let before = |t_ns: u64| whole.partition_point(|at_ns| *at_ns < t_ns) as u64;
        let around = |(at_ns, _): &(u64, Level<Rate>)| [at_ns.saturating_sub(1), *at_ns, at_ns + 1];
        let instants = changes.iter().flat_map(around).chain(whole.iter().copied());
        for t_ns in instants.filter(|t_ns| *t_ns < 20 * SECOND_NS).take(100) {
            prop_assert_eq!(schedule.due_before(t_ns), before(t_ns));
        }
        prop_assert_eq!(schedule.due_before(20 * SECOND_NS), whole.len() as u64);
    }

    #[test]
    fn a_change_leaves_what_was_before_it((plan, changes) in changing(), of in 1..4u32) {
        let mut schedule = plan;
        for (at_ns, level) in changes {
            let stripe = Stripe { index: of - 1, of };
            let before = early(schedule.arrivals(stripe));
            schedule.change(at_ns, level);
            let after = early(schedule.arrivals(stripe));
            let until = |all: &[u64]| all.partition_point(|t_ns| *t_ns < at_ns);
            prop_assert_eq!(&before[..until(&before)], &after[..until(&after)]);
            let since = schedule.arrivals_since_change(stripe);
            let since: Vec<u64> = since.take(10).map(|arrival| arrival.at_ns).collect();
            let rest = after[until(&after)..].iter().copied().take(10);
            prop_assert!(since.iter().all(|t_ns| *t_ns >= at_ns));
            if after.len() < 3_000 {
                let since = since.iter().copied().filter(|t_ns| *t_ns < 20 * SECOND_NS);
                prop_assert!(since.eq(rest));
            }
        }
    }

    #[test]
    fn a_change_back_moves_an_even_load_by_a_nanosecond_at_most(
        count in 1..1_000u64,
        per_ns in prop_oneof![Just(SECOND_NS), 1..10 * SECOND_NS],
        at_ns in 0..10 * SECOND_NS,
    ) {
        let planned = Schedule::constant(Rate { count, per_ns }, Law::Even, 0);
        let mut back = planned.clone();
        back.change(at_ns, Level::Paused);
        back.change(at_ns, share(1_000));
        let pairs = planned.arrivals(Stripe::WHOLE).zip(back.arrivals(Stripe::WHOLE));
        for (old, new) in pairs.take(1_000) {
            prop_assert_eq!(old.index, new.index);
            prop_assert!(old.at_ns.abs_diff(new.at_ns) <= 1);
        }
    }
}
