//! The requests by name: the words that text, CSV and page share.

use crate::{layout, quantity};
use loadline_metrics::{Key, Series, SeriesSet};
use loadline_plan::SCENARIO_TAG;
use loadline_units as units;
use loadline_verdict::samples_needed;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The label of the series of all requests of a scenario together.
pub(crate) const ALL: &str = "(all)";

/// The series, and for each scenario that has several of them what they are together.
pub(crate) fn with_scenarios(series: &SeriesSet) -> Cow<'_, SeriesSet> {
    let mut scenarios: BTreeMap<&str, Vec<&Series>> = BTreeMap::new();
    for (key, own) in series.iter() {
        let mut tags = key.tags();
        if let Some((_, name)) = tags.find(|(tag, _)| *tag == SCENARIO_TAG) {
            scenarios.entry(name).or_default().push(own);
        }
    }
    scenarios.retain(|_, own| own.len() > 1);
    if scenarios.is_empty() {
        return Cow::Borrowed(series);
    }
    // A set without a bound: what scenarios are together is in addition to the names.
    let mut all = SeriesSet::default();
    series.iter().for_each(|(key, own)| all.add(key, own));
    for (name, own) in scenarios {
        let tags = [(SCENARIO_TAG.to_owned(), name.to_owned())].into();
        if let Ok(key) = Key::tagged(ALL, tags) {
            all.add(&key, &Series::sum(own.into_iter()));
        }
    }
    Cow::Owned(all)
}

/// Returns the label of each series: its key, without the scheme and host if all of several have
/// the same.
pub(crate) fn labels(series: &[(&Key, &Series)]) -> Vec<String> {
    let keys: Vec<String> = series
        .iter()
        .map(|(key, _)| layout::harmless(&key.to_string()))
        .collect();
    let named = || keys.iter().filter(|key| *key != "(other)");
    let origin = named().next().and_then(|key| origin(key)).unwrap_or("");
    let is_common = series.len() > 1 && named().all(|key| self::origin(key) == Some(origin));
    let label = |key: &String| match key.strip_prefix(origin) {
        Some(rest) if is_common && !rest.is_empty() => rest.to_owned(),
        _ => key.clone(),
    };
    keys.iter().map(label).collect()
}

/// The scheme and host that a URL begins with.
fn origin(key: &str) -> Option<&str> {
    let scheme = key.find("://")?;
    let is_scheme = matches!(&key[..scheme], "http" | "https");
    let path = key[scheme + 3..].find('/')?;
    is_scheme.then(|| &key[..scheme + 3 + path])
}

/// A percentile of a name's response times in nanoseconds, where there are enough samples for it:
/// by the rule of those of the whole run.
pub(crate) fn percentile_ns(series: &Series, percentile: f64) -> Option<u64> {
    let [found] = percentiles_ns(series, [percentile]);
    found
}

/// Several percentiles, as [`percentile_ns`] is one; they must rise.
pub(crate) fn percentiles_ns<const N: usize>(
    series: &Series,
    percentiles: [f64; N],
) -> [Option<u64>; N] {
    let count = series.times.len();
    let mut found = series.percentiles_ns(percentiles);
    for (found, percentile) in found.iter_mut().zip(percentiles) {
        if count < samples_needed(percentile) {
            *found = None;
        }
    }
    found
}

/// The text in place of a percentile with too few samples.
pub(crate) const TOO_FEW: &str = "–";

/// Returns the meaning of that text, if a name has too few samples for one of these percentiles.
pub(crate) fn too_few<'a>(
    shown: impl IntoIterator<Item = &'a Series>,
    percentiles: &[f64],
) -> Option<String> {
    let most = percentiles
        .iter()
        .map(|percentile| samples_needed(*percentile));
    let most = most.max().unwrap_or(0);
    let is_short = |series: &Series| (1..most).contains(&series.times.len());
    let needs = |percentile: &f64| {
        let needed = units::count(samples_needed(*percentile));
        format!("{} {needed}", quantity::percentile(*percentile))
    };
    shown.into_iter().any(is_short).then(|| {
        let each: Vec<String> = percentiles.iter().map(needs).collect();
        format!(
            "{TOO_FEW}: too few requests of this name. Needed are for the {}.",
            each.join(", ")
        )
    })
}

/// The responses by status: `200: 95, 503: 5`.
pub(crate) fn statuses(series: &Series) -> String {
    let each = series.statuses.iter();
    let each = each.map(|(status, count)| format!("{status}: {}", units::count(*count)));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metrics::{RequestOutcome, SeriesRecorder, SeriesTable};

    /// A name with so many responses, after 1 ms, 2 ms and so on.
    fn answered(count: u64) -> Series {
        let key = Key::new("a").unwrap();
        let mut table = SeriesTable::new(1);
        let id = table.intern(&key);
        let mut recorder = SeriesRecorder::new(table);
        let ok = RequestOutcome::Answered { status: 200 };
        (1..=count).for_each(|ms| recorder.record(id, ok, ms * 1_000_000, true));
        recorder.take().get(&key).cloned().unwrap_or_default()
    }

    #[test]
    fn a_percentile_of_a_name_needs_as_many_samples_as_one_of_the_run() {
        for (percentile, needed) in [(50.0, 6), (90.0, 36), (95.0, 72), (99.0, 368)] {
            let known = |count| percentile_ns(&answered(count), percentile).is_some();
            assert!(known(needed) && !known(needed - 1), "p{percentile}");
        }
        assert_eq!(percentile_ns(&answered(2), 100.0), Some(2_000_000));
        assert_eq!(percentile_ns(&Series::default(), 50.0), None);
    }

    #[test]
    fn what_a_dash_means_is_said_where_there_is_one() {
        let said = too_few([&answered(368), &answered(71)], &[50.0, 95.0, 99.0]);
        assert_eq!(
            said.as_deref(),
            Some("–: too few requests of this name. Needed are for the p50 6, p95 72, p99 368.")
        );
        assert_eq!(too_few([&answered(368), &Series::default()], &[99.0]), None);
    }

    fn labels_of(names: &[&str]) -> Vec<String> {
        let keys: Vec<Key> = names.iter().map(|name| Key::new(name).unwrap()).collect();
        let series = Series::default();
        labels(&keys.iter().map(|key| (key, &series)).collect::<Vec<_>>())
    }

    #[test]
    fn a_host_that_all_have_is_left_out() {
        let labels = labels_of(&["http://a:1/x", "http://a:1/y?z", "(other)"]);
        assert_eq!(labels, ["/x", "/y?z", "(other)"]);
    }

    #[test]
    fn names_and_several_hosts_stay_as_they_are() {
        for names in [
            ["http://a/x", "http://b/x"],
            ["http://a/x", "login"],
            ["POST http://a/", "http://a/"],
        ] {
            assert_eq!(labels_of(&names), names);
        }
    }
}
