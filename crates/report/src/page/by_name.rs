//! The requests by name: a row for each, what those of a group are together, and explanations.
//!
//! The busiest names have their rate over the run besides, in few parts: a plot as large as a word.

use crate::prefixes::prefixes;
use crate::{names, text};
use loadline_metrics::{Key, Series};
use loadline_page::{NameGroup, NameRow};
use loadline_record::{Moment, Summary};
use loadline_units::rounding::per_second;
use std::collections::BTreeMap;

/// The most parts of the run that the course of a row has.
const MOST_PARTS: usize = 40;
/// Fewer names than these stand in a table that is easily overlooked, and need no groups.
const FEWEST_GROUPED: usize = 21;

/// The table by name.
pub(super) struct ByName {
    /// The names of the columns; none where all requests have one name.
    pub(super) columns: Vec<String>,
    /// A row for each name, the most frequent first.
    pub(super) rows: Vec<NameRow>,
    /// The groups of many names, in the order of their prefixes.
    pub(super) groups: Vec<NameGroup>,
    /// Explanations of the rows.
    pub(super) notes: Vec<String>,
}

impl ByName {
    pub(super) fn of(summary: &Summary) -> ByName {
        let shown = names::with_scenarios(&summary.total.series);
        let all = shown.busiest();
        let labels = names::labels(&all);
        let groups = groups(summary, &all, &labels);
        let courses = courses(summary);
        let rows = labels.into_iter().zip(&all).map(|(name, (key, series))| {
            let course = courses.get(key).cloned().unwrap_or_default();
            let (cells, is_bad) = cells(summary, series);
            NameRow {
                name,
                cells,
                is_bad,
                course,
            }
        });
        let rows = rows.collect();
        let too_few = text::too_few_of_names(all.iter().map(|(_, series)| *series));
        let overflow = text::overflow_of_names(summary);
        ByName {
            columns: columns(summary),
            rows,
            groups,
            notes: overflow.into_iter().chain(too_few).collect(),
        }
    }
}

/// Returns the series that this row of the requests by name is of.
pub(super) fn key_of(summary: &Summary, name: &str) -> Option<Key> {
    let shown = names::with_scenarios(&summary.total.series);
    let all = shown.busiest();
    let row = names::labels(&all).iter().position(|label| label == name)?;
    Some(all[row].0.clone())
}

fn columns(summary: &Summary) -> Vec<String> {
    if summary.total.series.is_empty() {
        return Vec::new();
    }
    let columns = text::NAME_COLUMNS.iter().chain(&["statuses"]);
    columns.map(|name| (*name).to_owned()).collect()
}

/// The numbers of a name or a group, and whether they are bad.
fn cells(summary: &Summary, series: &Series) -> (Vec<String>, bool) {
    let numbers = text::name_cells(series, summary.rated_ns()).into_iter();
    let has_bad_status = series.statuses.keys().any(|status| *status >= 400);
    let cells = numbers.chain([names::statuses(series)]).collect();
    (cells, series.failures() > 0 || has_bad_status)
}

/// The figures of each group of names together: counts are sums, percentiles those of all requests.
fn groups(summary: &Summary, all: &[(&Key, &Series)], labels: &[String]) -> Vec<NameGroup> {
    // The rows of whole scenarios are sums themselves.
    let is_name = |(_, (key, _)): &(&String, &(&Key, &Series))| key.name() != names::ALL;
    let named: Vec<_> = labels.iter().zip(all).filter(is_name).collect();
    if named.len() < FEWEST_GROUPED {
        return Vec::new();
    }
    let labels: Vec<&str> = named.iter().map(|(label, _)| label.as_str()).collect();
    let groups = prefixes(&labels).into_iter().map(|prefix| {
        let members = named.iter().filter(|(label, _)| label.starts_with(prefix));
        let members = members.map(|(_, (_, series))| *series);
        let (cells, is_bad) = cells(summary, &Series::sum(members.clone()));
        NameGroup {
            prefix: prefix.to_owned(),
            names: members.count(),
            cells,
            is_bad,
        }
    });
    groups.collect()
}

/// The rate of each of the busiest names in each part of the run.
fn courses(summary: &Summary) -> BTreeMap<&Key, Vec<f64>> {
    let moments = summary.names.moments();
    let each = moments.len().div_ceil(MOST_PARTS).max(1);
    let lengths_ns: Vec<u64> = moments.chunks(each).map(length_ns).collect();
    let busiest = summary.names.busiest(&summary.total.series).into_iter();
    let rates = busiest.map(|(key, of_name)| {
        let mut completed = vec![0; lengths_ns.len()];
        for (index, series) in of_name {
            if let Some(count) = completed.get_mut(index / each) {
                *count += series.completed;
            }
        }
        let rate = |(count, length_ns): (u64, &u64)| per_second(count, *length_ns);
        (
            key,
            completed.into_iter().zip(&lengths_ns).map(rate).collect(),
        )
    });
    rates.collect()
}

fn length_ns(moments: &[Moment]) -> u64 {
    let lengths = moments.iter();
    lengths.map(|moment| moment.end_ns - moment.start_ns).sum()
}
