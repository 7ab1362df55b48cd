use super::*;
use proptest::prelude::*;

const MS_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

fn stage(duration_ns: u64, target: u32) -> Stage<u32> {
    Stage {
        duration_ns,
        target,
    }
}

fn ramps(start: u32, stages: &[(u64, u32)]) -> Users {
    let stages: Vec<_> = stages
        .iter()
        .map(|(duration, target)| stage(*duration, *target))
        .collect();
    Users::ramps(start, &stages)
}

/// Returns the user's windows as pairs; all of them end.
fn windows(users: &Users, user: u32) -> Vec<(u64, u64)> {
    let windows = users.windows(user).into_iter();
    windows
        .map(|window| (window.from_ns, window.to_ns.unwrap()))
        .collect()
}

#[test]
fn constant_users_are_always_active() {
    let users = Users::constant(3);
    let always = Window {
        from_ns: 0,
        to_ns: None,
    };
    assert_eq!(users.windows(0), [always]);
    assert_eq!(users.windows(2), [always]);
    assert_eq!(users.windows(3), []);
    assert_eq!((users.most(), users.end_ns()), (3, None));
    assert_eq!((users.active_at(0), users.active_at(u64::MAX)), (3, 3));
    assert_eq!(Users::constant(0).windows(0), []);
}

#[test]
fn a_climb_starts_one_user_each_step() {
    let users = ramps(0, &[(10 * SECOND_NS, 100)]);
    for user in 0..100 {
        let from_ns = u64::from(user) * 100 * MS_NS;
        assert_eq!(windows(&users, user), [(from_ns, 10 * SECOND_NS)]);
        assert_eq!(users.active_at(from_ns), user + 1);
        assert_eq!(users.active_at(from_ns + 100 * MS_NS - 1), user + 1);
    }
    assert_eq!(windows(&users, 100), []);
    assert_eq!((users.most(), users.end_ns()), (100, Some(10 * SECOND_NS)));
    assert_eq!(users.active_at(10 * SECOND_NS), 0);
}

#[test]
fn a_descent_stops_one_user_each_step() {
    let users = ramps(100, &[(10 * SECOND_NS, 0)]);
    for user in 0..100 {
        let to_ns = u64::from(100 - user) * 100 * MS_NS;
        assert_eq!(windows(&users, user), [(0, to_ns)]);
        assert_eq!(users.active_at(to_ns - 1), user + 1);
        assert_eq!(users.active_at(to_ns), user);
    }
}

#[test]
fn crossings_between_nanoseconds_count_the_whole_one() {
    let climb = ramps(0, &[(10, 3)]);
    assert_eq!(windows(&climb, 1), [(3, 10)]);
    assert_eq!(windows(&climb, 2), [(6, 10)]);
    let descent = ramps(3, &[(10, 0)]);
    assert_eq!(windows(&descent, 1), [(0, 7)]);
    assert_eq!(windows(&descent, 2), [(0, 4)]);
}

#[test]
fn up_down_up_gives_two_windows() {
    let users = ramps(0, &[(10, 10), (20, 10), (10, 0), (5, 0), (10, 10)]);
    assert_eq!(windows(&users, 0), [(0, 40), (45, 55)]);
    assert_eq!(windows(&users, 4), [(4, 36), (49, 55)]);
    assert_eq!(windows(&users, 9), [(9, 31), (54, 55)]);
    assert_eq!(windows(&users, 10), []);
    assert_eq!((users.most(), users.end_ns()), (10, Some(55)));
}

#[test]
fn a_touch_stops_nobody() {
    let users = ramps(5, &[(30, 2), (30, 5)]);
    assert_eq!(windows(&users, 1), [(0, 60)]);
    assert_eq!(windows(&users, 2), [(0, 60)]);
    assert_eq!(windows(&users, 3), [(0, 20), (40, 60)]);
}

#[test]
fn stages_without_length_are_jumps() {
    let users = ramps(2, &[(10, 2), (0, 5), (10, 5), (0, 1), (10, 1)]);
    assert_eq!(windows(&users, 0), [(0, 30)]);
    assert_eq!(windows(&users, 1), [(0, 20)]);
    assert_eq!(windows(&users, 4), [(10, 20)]);
    assert_eq!(
        [9, 10, 19, 20, 29, 30].map(|t_ns| users.active_at(t_ns)),
        [2, 5, 5, 1, 1, 0]
    );
}

#[test]
fn a_level_left_in_the_same_instant_starts_nobody() {
    let users = ramps(0, &[(0, 50), (0, 1), (10, 1), (0, 99)]);
    assert_eq!((users.most(), windows(&users, 1)), (1, vec![]));
    assert_eq!(windows(&users, 0), [(0, 10)]);
}

#[test]
fn ramps_without_stages_have_no_users() {
    let users = ramps(5, &[]);
    assert_eq!((users.most(), users.end_ns()), (0, Some(0)));
    assert_eq!((users.active_at(0), windows(&users, 0)), (0, vec![]));
}

#[test]
fn the_largest_ramp_does_not_overflow() {
    let users = ramps(0, &[(u64::MAX, u32::MAX), (5, 0)]);
    assert_eq!((users.most(), users.end_ns()), (u32::MAX, Some(u64::MAX)));
    let last = u64::MAX / u64::from(u32::MAX) * u64::from(u32::MAX - 1);
    assert_eq!(windows(&users, u32::MAX - 1), [(last, u64::MAX)]);
    assert_eq!(
        (users.active_at(last - 1), users.active_at(last)),
        (u32::MAX - 1, u32::MAX)
    );
    assert_eq!(
        (users.active_at(u64::MAX - 1), users.active_at(u64::MAX)),
        (u32::MAX, 0)
    );
}

fn share(per_mille: u32) -> Level<u32> {
    Level::Share(Share { per_mille })
}

#[test]
fn a_constant_number_changes_and_pauses() {
    let mut users = Users::constant(10);
    users.change(100, share(1_050));
    users.change(200, Level::Paused);
    users.change(300, Level::Fixed(2));
    let pair = |from_ns, to_ns| Window { from_ns, to_ns };
    assert_eq!(users.windows(0), [pair(0, Some(200)), pair(300, None)]);
    assert_eq!(users.windows(9), [pair(0, Some(200))]);
    assert_eq!(users.windows(10), [pair(100, Some(200))]);
    assert_eq!(users.windows(11), []);
    let active = [0, 99, 100, 199, 200, 299, 300].map(|t_ns| users.active_at(t_ns));
    assert_eq!(active, [10, 10, 11, 11, 0, 0, 2]);
    assert_eq!(users.most(), 11);
}

#[test]
fn ramps_go_on_below_a_change() {
    // 0 → 10 in 100 ns: at half of it user 2 starts at 40 ns instead of 20.
    let mut users = ramps(0, &[(100, 10)]);
    users.change(30, share(500));
    assert_eq!(windows(&users, 1), [(10, 100)]);
    assert_eq!(windows(&users, 2), [(20, 30), (40, 100)]);
    assert_eq!(windows(&users, 4), [(80, 100)]);
    assert_eq!(windows(&users, 5), []);
}

fn changes() -> impl Strategy<Value = Vec<(u64, Level<u32>)>> {
    let level = prop_oneof![
        (0..3_000u32).prop_map(share),
        (0..30u32).prop_map(Level::Fixed),
        Just(Level::Paused),
    ];
    prop::collection::vec((0..100u64, level), 0..5).prop_map(|mut changes| {
        changes.sort_by_key(|(at_ns, _)| *at_ns);
        changes
    })
}

proptest! {
    #[test]
    fn windows_of_changed_users_are_when_they_are_active(
        start in 0..20u32,
        stages in prop::collection::vec((0..40u64, 0..20u32), 0..4),
        changes in changes(),
    ) {
        let mut users = if stages.is_empty() {
            Users::constant(start)
        } else {
            ramps(start, &stages)
        };
        changes.into_iter().for_each(|(at_ns, level)| users.change(at_ns, level));
        for t_ns in 0..150 {
            let active = users.active_at(t_ns);
            prop_assert!(active <= users.most());
            for user in 0..70 {
                let covers = |window: &Window| {
                    window.from_ns <= t_ns && window.to_ns.is_none_or(|to_ns| t_ns < to_ns)
                };
                let is_active = users.windows(user).iter().any(covers);
                prop_assert_eq!(is_active, user < active);
            }
        }
    }
}

proptest! {
    #[test]
    fn active_users_are_those_with_a_window(
        start in 0..12u32,
        stages in prop::collection::vec((0..40u64, 0..12u32), 0..7),
    ) {
        let users = ramps(start, &stages);
        let end_ns = users.end_ns().unwrap();
        let most = (0..end_ns).map(|t_ns| users.active_at(t_ns)).max();
        prop_assert_eq!(users.most(), most.unwrap_or(0));
        for user in 0..12 {
            let windows = windows(&users, user);
            prop_assert!(windows.iter().all(|(from, to)| from < to && *to <= end_ns));
            prop_assert!(windows.windows(2).all(|pair| pair[0].1 < pair[1].0));
            for t_ns in 0..end_ns + 2 {
                let has_window = windows.iter().any(|(from, to)| (*from..*to).contains(&t_ns));
                prop_assert_eq!(has_window, user < users.active_at(t_ns), "{} at {}", user, t_ns);
            }
        }
    }
}
