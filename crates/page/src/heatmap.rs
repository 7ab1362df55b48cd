//! A heatmap of response times: a column for each interval of time, a row for each range of
//! response times.
//!
//! All rows have the same ratio, [`ROWS_PER_DECADE`] to a power of ten. There are at most
//! [`MOST_COLUMNS`] columns: before one more is added, pairs of neighbours are merged, so that an
//! hour takes no more memory than a minute.

use crate::number;
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of rows for a power of ten.
const ROWS_PER_DECADE: f64 = 12.0;
/// The highest number of columns.
const MOST_COLUMNS: usize = 240;

/// The number of responses by time and response time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Heatmap {
    /// The lower end of the lowest row, in microseconds.
    #[serde(serialize_with = "number::one")]
    pub lowest_us: f64,
    /// The ratio of the upper end of a row to its lower end.
    pub ratio: f64,
    /// The number of rows.
    pub rows: usize,
    /// The columns, in chronological order.
    pub columns: Vec<HeatColumn>,
}

/// The responses of one interval of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HeatColumn {
    /// The beginning of the interval, in seconds from the end of warm-up.
    #[serde(serialize_with = "number::one")]
    pub start_s: f64,
    /// The end of the interval, in seconds from the end of warm-up.
    #[serde(serialize_with = "number::one")]
    pub end_s: f64,
    /// The lowest row that is not empty.
    pub first_row: usize,
    /// The counts of the rows from `first_row` up to the highest that is not empty.
    pub counts: Vec<u64>,
}

/// A cell of a heatmap that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatCell {
    /// The start and the end of the column, in seconds from the end of warm-up.
    pub seconds: (f64, f64),
    /// The lowest and the highest response time of the row, in microseconds.
    pub us: (f64, f64),
    /// The count, from 0 to 1 on a logarithmic scale: one slow response among thousands must be
    /// visible.
    pub share: f64,
}

impl Heatmap {
    /// Returns the cells that are not empty.
    pub fn cells(&self) -> impl Iterator<Item = HeatCell> + '_ {
        let most = (self.densest() as f64).ln_1p();
        let height_us = |row: usize| self.lowest_us * self.ratio.powf(row as f64);
        self.columns.iter().flat_map(move |column| {
            let rows = column.counts.iter().enumerate();
            let seen = rows.filter(|(_, count)| **count > 0);
            seen.map(move |(index, count)| {
                let row = column.first_row + index;
                HeatCell {
                    seconds: (column.start_s, column.end_s),
                    us: (height_us(row), height_us(row + 1)),
                    share: (*count as f64).ln_1p() / most,
                }
            })
        })
    }

    /// Returns the count of the fullest cell.
    pub fn densest(&self) -> u64 {
        let counts = self.columns.iter().flat_map(|column| &column.counts);
        counts.copied().max().unwrap_or(0)
    }

    /// Returns the ends of an axis of response times. The lower end is rounded down to one digit,
    /// because the ticks of a logarithmic axis start there.
    pub(crate) fn ends_us(&self) -> (f64, f64) {
        let decade = 10_f64.powf(self.lowest_us.log10().floor());
        let low = (self.lowest_us / decade + 1e-9).floor() * decade;
        (low, self.lowest_us * self.ratio.powf(self.rows as f64))
    }
}

/// A heatmap that grows during a run. It merges its columns itself, not by the histories of
/// `record`, because the page does not depend on recording.
#[derive(Clone, Debug)]
pub struct Heat {
    columns: Vec<Column>,
    /// The number of intervals in a column, a power of two.
    each: usize,
    /// The number of intervals in the last column.
    in_last: usize,
}

impl Default for Heat {
    fn default() -> Heat {
        Heat {
            columns: Vec::new(),
            each: 1,
            in_last: 0,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Column {
    start_ns: u64,
    end_ns: u64,
    counts: BTreeMap<i32, u64>,
}

impl Heat {
    /// Adds the next interval: its start and end in nanoseconds of the run, and the count of each
    /// response time in nanoseconds. An interval without a response that is much shorter than the
    /// others is left out, because a saved run has none.
    pub fn observe(&mut self, start_ns: u64, end_ns: u64, times: impl Iterator<Item = (u64, u64)>) {
        let column = Column::new(start_ns, end_ns, times);
        match self.columns.last_mut() {
            Some(last) if column.is_empty_rest(last.length_ns() / self.in_last as u64) => {}
            Some(last) if self.in_last < self.each => {
                last.add(&column);
                self.in_last += 1;
            }
            _ => {
                self.make_room();
                self.columns.push(column);
                self.in_last = 1;
            }
        }
    }

    /// Returns the heatmap so far, in seconds from `zero_ns`, the end of warm-up; earlier intervals
    /// are left out. `None` without a response.
    pub fn map(&self, zero_ns: u64) -> Option<Heatmap> {
        let measured = |column: &&Column| column.start_ns >= zero_ns;
        let columns = || self.columns.iter().filter(measured);
        let rows = || columns().flat_map(|column| column.counts.keys());
        let (lowest, highest) = (*rows().min()?, *rows().max()?);
        Some(Heatmap {
            lowest_us: lower_end_us(lowest),
            ratio: 10_f64.powf(1.0 / ROWS_PER_DECADE),
            rows: (highest - lowest) as usize + 1,
            columns: columns()
                .map(|column| column.shown(lowest, zero_ns))
                .collect(),
        })
    }

    /// Merges pairs of neighbours if the highest number of columns is reached.
    fn make_room(&mut self) {
        if self.columns.len() < MOST_COLUMNS {
            return;
        }
        let join = |pair: &[Column]| {
            let mut sum = pair[0].clone();
            pair[1..].iter().for_each(|next| sum.add(next));
            sum
        };
        self.columns = self.columns.chunks(2).map(join).collect();
        self.each *= 2;
    }
}

impl Column {
    fn new(start_ns: u64, end_ns: u64, times: impl Iterator<Item = (u64, u64)>) -> Column {
        let mut column = Column {
            start_ns,
            end_ns,
            ..Column::default()
        };
        for (time_ns, count) in times {
            *column.counts.entry(row(time_ns)).or_default() += count;
        }
        column
    }

    /// True if the column has no response and less than a tenth of an interval's length.
    fn is_empty_rest(&self, interval_ns: u64) -> bool {
        self.counts.is_empty() && self.length_ns() * 10 < interval_ns
    }

    fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    fn add(&mut self, next: &Column) {
        self.end_ns = next.end_ns;
        for (row, count) in &next.counts {
            *self.counts.entry(*row).or_default() += count;
        }
    }

    fn shown(&self, lowest: i32, zero_ns: u64) -> HeatColumn {
        let first = self.counts.keys().next().copied().unwrap_or(lowest);
        let last = self.counts.keys().next_back().copied().unwrap_or(first - 1);
        let count = |row| self.counts.get(&row).copied().unwrap_or(0);
        HeatColumn {
            start_s: (self.start_ns - zero_ns) as f64 / 1e9,
            end_s: (self.end_ns - zero_ns) as f64 / 1e9,
            first_row: (first - lowest) as usize,
            counts: (first..=last).map(count).collect(),
        }
    }
}

/// Returns the row of a time; row 0 begins at a microsecond.
fn row(time_ns: u64) -> i32 {
    ((time_ns.max(1) as f64 / 1e3).log10() * ROWS_PER_DECADE).floor() as i32
}

fn lower_end_us(row: i32) -> f64 {
    10_f64.powf(f64::from(row) / ROWS_PER_DECADE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn heat(intervals: u64) -> Heat {
        let mut heat = Heat::default();
        for second in 0..intervals {
            let times = [(100_000, 7), (1_000_000 * (second + 1), 1)];
            heat.observe(second * SECOND, (second + 1) * SECOND, times.into_iter());
        }
        heat
    }

    fn all(map: &Heatmap) -> u64 {
        map.columns.iter().flat_map(|column| &column.counts).sum()
    }

    #[test]
    fn a_cell_has_the_share_of_its_count() {
        let map = Heatmap {
            lowest_us: 100.0,
            ratio: 10.0,
            rows: 3,
            columns: vec![HeatColumn {
                start_s: 0.0,
                end_s: 1.0,
                first_row: 1,
                counts: vec![3, 0, 15],
            }],
        };
        let cells: Vec<HeatCell> = map.cells().collect();
        assert_eq!(cells.len(), 2);
        assert_eq!(
            (cells[0].seconds, cells[0].us),
            ((0.0, 1.0), (1_000.0, 10_000.0))
        );
        assert_eq!((cells[0].share, cells[1].share), (0.5, 1.0));
    }

    #[test]
    fn nothing_makes_no_map() {
        assert_eq!(Heat::default().map(0), None);
        let mut heat = Heat::default();
        heat.observe(0, SECOND, std::iter::empty());
        assert_eq!(heat.map(0), None);
    }

    #[test]
    fn a_rest_is_a_column_only_where_something_came_in_it() {
        let ends = |heat: &Heat| heat.map(0).unwrap().columns.last().unwrap().end_s;
        let mut ended = heat(2);
        ended.observe(2 * SECOND, 2 * SECOND + 1_000_000, std::iter::empty());
        assert_eq!(ends(&ended), 2.0);
        ended.observe(
            2 * SECOND,
            2 * SECOND + 1_000_000,
            [(100_000, 1)].into_iter(),
        );
        assert_eq!(ends(&ended), 2.001);
        // A second without a response has a column.
        let mut stalled = heat(2);
        stalled.observe(2 * SECOND, 3 * SECOND, std::iter::empty());
        assert_eq!(ends(&stalled), 3.0);
        // The same if a column covers many seconds.
        let seconds = 20 * MOST_COLUMNS as u64;
        let mut long = heat(seconds);
        assert!(long.each > 10, "{}", long.each);
        long.observe(seconds * SECOND, (seconds + 1) * SECOND, std::iter::empty());
        assert_eq!(ends(&long), (seconds + 1) as f64);
    }

    #[test]
    fn a_column_starts_at_its_lowest_row() {
        let map = heat(10).map(0).unwrap();
        assert_eq!((map.columns.len(), map.rows), (10, 25));
        assert!((map.lowest_us - 100.0).abs() < 1e-6, "{}", map.lowest_us);
        let first = &map.columns[0];
        assert_eq!((first.start_s, first.end_s, first.first_row), (0.0, 1.0, 0));
        assert_eq!(
            (first.counts.len(), first.counts[0], first.counts[12]),
            (13, 7, 1)
        );
        assert_eq!(all(&map), 80);
    }

    #[test]
    fn a_second_without_an_answer_is_an_empty_column() {
        let mut heat = heat(1);
        heat.observe(SECOND, 2 * SECOND, std::iter::empty());
        let map = heat.map(0).unwrap();
        assert_eq!(
            (map.columns[1].first_row, map.columns[1].counts.len()),
            (0, 0)
        );
    }

    #[test]
    fn what_came_before_zero_is_left_out() {
        let map = heat(10).map(3 * SECOND).unwrap();
        assert_eq!((map.columns.len(), map.columns[0].start_s), (7, 0.0));
        assert_eq!(map.columns[6].end_s, 7.0);
        assert_eq!(heat(10).map(60 * SECOND), None);
    }

    #[test]
    fn a_day_has_no_more_columns_than_four_minutes() {
        for (intervals, columns, each) in [(240, 240, 1), (241, 121, 2), (3_600, 225, 16)] {
            let map = heat(intervals).map(0).unwrap();
            assert_eq!(map.columns.len(), columns, "{intervals}");
            assert_eq!(map.columns[0].end_s, each as f64);
            assert_eq!(map.columns.last().unwrap().end_s, intervals as f64);
            assert_eq!(all(&map), 8 * intervals);
        }
    }

    proptest! {
        #[test]
        fn a_time_lies_in_its_row(time_ns in 1u64..3_600_000_000_000) {
            let mut heat = Heat::default();
            heat.observe(0, SECOND, [(time_ns, 3)].into_iter());
            let map = heat.map(0).unwrap();
            let time_us = time_ns as f64 / 1e3;
            prop_assert!(map.lowest_us <= time_us * 1.000_001);
            prop_assert!(time_us < map.lowest_us * map.ratio * 1.000_001);
        }
    }
}
