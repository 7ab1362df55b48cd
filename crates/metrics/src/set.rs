//! The series of an interval or a run, by key.

use crate::{Key, Series};
use std::collections::BTreeMap;

/// Series by key. Sets merge without loss: requests without room are in the overflow's series.
#[derive(Clone, Debug, Default)]
pub struct SeriesSet {
    series: BTreeMap<Key, Series>,
    /// The highest number of series in addition to the overflow's; `None` in a set without a bound.
    most: Option<u32>,
}

/// Two sets are equal if they hold the same series, whatever their bounds.
impl PartialEq for SeriesSet {
    fn eq(&self, other: &SeriesSet) -> bool {
        self.series == other.series
    }
}

impl SeriesSet {
    /// Creates a set with room for `most` series in addition to the overflow's.
    pub fn new(most: u32) -> SeriesSet {
        SeriesSet {
            series: BTreeMap::new(),
            most: Some(most),
        }
    }

    /// True if no series has a request.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Returns the number of series, including the overflow's.
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// Returns the highest number of series in addition to the overflow's.
    pub fn most(&self) -> Option<u32> {
        self.most
    }

    /// Returns the series of this key.
    pub fn get(&self, key: &Key) -> Option<&Series> {
        self.series.get(key)
    }

    /// Returns every series, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Series)> {
        self.series.iter()
    }

    /// Returns every series, the one with the most requests first; the overflow's comes last.
    pub fn busiest(&self) -> Vec<(&Key, &Series)> {
        let mut series: Vec<_> = self.series.iter().collect();
        series.sort_by_key(|(key, series)| (key.is_overflow(), std::cmp::Reverse(series.ended())));
        series
    }

    /// Returns the series of requests without room, if there are any.
    pub fn overflow(&self) -> Option<&Series> {
        self.series.get(&Key::overflow())
    }

    /// Returns the sum of all series.
    pub fn total(&self) -> Series {
        Series::sum(self.series.values())
    }

    /// Adds a series; if its key is new and there is no room, to the overflow's series.
    pub fn add(&mut self, key: &Key, series: &Series) {
        let is_known = self.series.contains_key(key) || key.is_overflow();
        let key = if is_known || self.has_room() {
            key.clone()
        } else {
            Key::overflow()
        };
        self.series.entry(key).or_default().merge(series);
    }

    /// Adds all series of another set without loss. The larger bound applies to the result.
    pub fn merge(&mut self, other: &SeriesSet) {
        self.most = self.most.max(other.most);
        for (key, series) in &other.series {
            self.add(key, series);
        }
    }

    fn has_room(&self) -> bool {
        let named = self.series.len() - usize::from(self.overflow().is_some());
        self.most.is_none_or(|most| named < most as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::answered;
    use proptest::prelude::*;

    fn set(most: u32, series: &[(u8, Vec<u64>)]) -> SeriesSet {
        let mut set = SeriesSet::new(most);
        for (name, times) in series {
            set.add(&Key::new(&name.to_string()).unwrap(), &answered(times));
        }
        set
    }

    fn merged(one: &SeriesSet, two: &SeriesSet) -> SeriesSet {
        let mut sum = one.clone();
        sum.merge(two);
        sum
    }

    fn any_series() -> impl Strategy<Value = Vec<(u8, Vec<u64>)>> {
        let times = prop::collection::vec(0..10_000_000_000_u64, 1..8);
        prop::collection::vec((0..12_u8, times), 0..8)
    }

    #[test]
    fn what_has_no_room_is_counted_together() {
        let set = set(
            2,
            &[
                (1, vec![1]),
                (2, vec![2]),
                (3, vec![3]),
                (4, vec![4]),
                (1, vec![5]),
            ],
        );
        assert_eq!(set.len(), 3);
        assert_eq!(set.get(&Key::new("1").unwrap()).unwrap().answered, 2);
        assert_eq!(set.overflow().unwrap().answered, 2);
        assert_eq!(set.overflow().unwrap().max_ns, 4);
    }

    #[test]
    fn the_busiest_comes_first_and_the_overflow_last() {
        let set = set(2, &[(1, vec![1]), (2, vec![2, 2]), (3, vec![3, 3, 3])]);
        let names: Vec<_> = set
            .busiest()
            .iter()
            .map(|(key, _)| key.to_string())
            .collect();
        assert_eq!(names, ["2", "1", "(other)"]);
    }

    proptest! {
        #[test]
        fn merging_commutes_and_associates_within_the_bound(
            one in any_series(), two in any_series(), three in any_series(),
        ) {
            let [one, two, three] = [one, two, three].map(|series| set(12, &series));
            prop_assert_eq!(merged(&one, &two), merged(&two, &one));
            let left = merged(&merged(&one, &two), &three);
            prop_assert_eq!(left, merged(&one, &merged(&two, &three)));
        }

        #[test]
        fn nothing_is_lost_beyond_the_bound(
            one in any_series(), two in any_series(), most in 0..6_u32,
        ) {
            let narrow = merged(&set(most, &one), &set(most, &two));
            let wide = merged(&set(12, &one), &set(12, &two));
            prop_assert_eq!(narrow.total(), wide.total());
            prop_assert!(narrow.len() <= most as usize + 1);
        }
    }
}
