//! A small histogram of times on a logarithmic scale.
//!
//! The edges of the bins are preferred numbers (the R10 and R5 series of ISO 3, 1–2–5, 1–3, or
//! whole decades): the finest series whose bins from the shortest to the longest time still fit
//! into the lines there are. So two runs of like times get like bins.

use super::Canvas;
use crate::layout;
use loadline_record::Distribution;
use loadline_units as units;

/// One bin: the times above the edge before it, up to its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bin {
    pub(crate) up_to_ns: u64,
    pub(crate) count: u64,
}

/// Edges within a decade, in hundreds of nanoseconds and up, from fine to coarse.
const SERIES: [&[u64]; 5] = [
    &[100, 125, 160, 200, 250, 315, 400, 500, 630, 800],
    &[100, 160, 250, 400, 630],
    &[100, 200, 500],
    &[100, 300],
    &[100],
];

/// Decades from 100 ns up to beyond the longest time that is recorded.
const DECADES: u32 = 12;

/// The histogram in at most `lines` lines (whole decades may need two more) of at most `columns`.
pub(super) fn lines(
    times: &Distribution,
    lines: usize,
    columns: usize,
    canvas: Canvas,
) -> Vec<String> {
    let bins = bins(times, lines);
    let largest = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let counts = layout::width(&units::count(largest));
    let line = |bin: &Bin| {
        let edge = units::time_cell(bin.up_to_ns as f64);
        let count = layout::right(&units::count(bin.count), counts);
        let axis = format!("≤ {}  {count}  ", layout::right(&edge, 7));
        let room = columns.saturating_sub(layout::width(&axis));
        format!("{axis}{}", canvas.style.bar(&bar(bin.count, largest, room)))
    };
    bins.iter().map(line).collect()
}

/// A bar of `count` where `largest` fills `columns`, in eighths of a column; whatever is there
/// shows.
pub fn bar(count: u64, largest: u64, columns: usize) -> String {
    const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if count == 0 || largest == 0 {
        return String::new();
    }
    let share = (count as f64 / largest as f64).min(1.0);
    let eighths = ((share * columns as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(EIGHTHS.get((eighths % 8).wrapping_sub(1)));
    bar
}

/// The bins of these times, at most so many (whole decades may need two more).
pub(crate) fn bins(times: &Distribution, most: usize) -> Vec<Bin> {
    if times.is_empty() {
        return Vec::new();
    }
    let candidates = SERIES.map(|series| edges(series, times.min_ns(), times.max_ns()));
    let [.., coarsest] = &candidates;
    let edges = candidates
        .iter()
        .find(|edges| edges.len() <= most)
        .unwrap_or(coarsest);
    trimmed(fill(times, edges))
}

/// The edges of `series` from the first that is not below `min_ns` to the first that is not below
/// `max_ns`.
fn edges(series: &[u64], min_ns: u64, max_ns: u64) -> Vec<u64> {
    let all = (0..DECADES).flat_map(|decade| series.iter().map(move |s| s * 10u64.pow(decade)));
    let mut edges: Vec<u64> = all.skip_while(|edge| *edge < min_ns).collect();
    let last = edges.iter().position(|edge| *edge >= max_ns);
    edges.truncate(last.map_or(edges.len(), |last| last + 1));
    edges
}

fn fill(times: &Distribution, edges: &[u64]) -> Vec<Bin> {
    let mut below = 0;
    let bin = |&up_to_ns: &u64| {
        let up_to_here = times.count_up_to_ns(up_to_ns);
        let count = up_to_here - below;
        below = up_to_here;
        Bin { up_to_ns, count }
    };
    edges.iter().map(bin).collect()
}

/// Without empty bins at the ends: shortest and longest time are known to three digits only, and
/// may lie on the other side of an edge than they seem to.
fn trimmed(mut bins: Vec<Bin>) -> Vec<Bin> {
    let filled = |bin: &Bin| bin.count > 0;
    bins.truncate(bins.iter().rposition(filled).map_or(0, |last| last + 1));
    bins.drain(..bins.iter().position(filled).unwrap_or(0));
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::LONGEST_NS;
    use proptest::prelude::*;

    fn times(values_ns: &[u64]) -> Distribution {
        let mut times = Distribution::default();
        values_ns
            .iter()
            .for_each(|&value_ns| times.record_ns(value_ns));
        times
    }

    #[test]
    fn near_times_get_fine_bins() {
        let bins = bins(&times(&[101_000, 130_000, 130_000, 199_000]), 11);
        let expected = [(125_000, 1), (160_000, 2), (200_000, 1)];
        assert_eq!(
            bins,
            expected.map(|(up_to_ns, count)| Bin { up_to_ns, count })
        );
    }

    #[test]
    fn far_times_get_coarse_bins() {
        let bins = bins(&times(&[100_000, 900_000_000]), 11);
        assert_eq!(bins.len(), 9);
        assert_eq!(
            bins.first(),
            Some(&Bin {
                up_to_ns: 100_000,
                count: 1
            })
        );
        assert_eq!(
            bins.last(),
            Some(&Bin {
                up_to_ns: 1_000_000_000,
                count: 1
            })
        );
    }

    #[test]
    fn the_longest_span_still_has_bins() {
        let bins = bins(&times(&[0, LONGEST_NS]), 11);
        assert!(bins.len() <= 13, "{}", bins.len());
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 2);
    }

    #[test]
    fn nothing_has_no_bins() {
        assert_eq!(bins(&Distribution::default(), 11), []);
    }

    #[test]
    fn whatever_is_there_shows_in_a_bar() {
        assert_eq!(bar(0, 100, 10), "");
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(55, 100, 10), "█████▌");
        assert_eq!(bar(100, 100, 10), "██████████");
    }

    proptest! {
        #[test]
        fn every_time_is_in_one_bin(values in prop::collection::vec(0..LONGEST_NS, 1..50)) {
            let bins = bins(&times(&values), 11);
            let sum: u64 = bins.iter().map(|bin| bin.count).sum();
            prop_assert_eq!(sum, values.len() as u64);
            prop_assert!(bins.len() <= 13);
        }
    }
}
