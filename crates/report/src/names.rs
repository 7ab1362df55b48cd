//! The requests by name: what text, CSV and page say of them alike.

use crate::layout;
use loadline_metrics::{Key, Series, SeriesSet};
use loadline_plan::SCENARIO_TAG;
use loadline_units as units;
use std::collections::BTreeMap;

/// What the series of the requests of a scenario together are called.
const ALL: &str = "(all)";

/// The series, and for each scenario that has several of them what they are together.
pub(crate) fn with_scenarios(series: &SeriesSet) -> SeriesSet {
    let mut scenarios: BTreeMap<&str, (usize, Series)> = BTreeMap::new();
    let mut all = SeriesSet::default();
    for (key, own) in series.iter() {
        all.add(key, own);
        let mut tags = key.tags();
        if let Some((_, name)) = tags.find(|(tag, _)| *tag == SCENARIO_TAG) {
            let (count, sum) = scenarios.entry(name).or_default();
            *count += 1;
            sum.merge(own);
        }
    }
    for (name, (count, sum)) in scenarios {
        let tags = [(SCENARIO_TAG.to_owned(), name.to_owned())].into();
        if let Ok(key) = Key::tagged(ALL, tags)
            && count > 1
        {
            all.add(&key, &sum);
        }
    }
    all
}

/// What each series is called: its key, without the scheme and host that all of several have.
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

/// The responses by status: `200: 95, 503: 5`.
pub(crate) fn statuses(series: &Series) -> String {
    let each = series.statuses.iter();
    let each = each.map(|(status, count)| format!("{status}: {}", units::count(*count)));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
