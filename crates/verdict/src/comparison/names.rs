//! The requests of one name on both sides, compared.
//!
//! A name is compared as all requests together are: by runs, in pairs, or by seconds. The intervals
//! of all names hold together at 95 %, apart from those of the whole sides. Names that are URLs of
//! one host are compared without it, as the sides may be two hosts.

use super::{CONFIDENCE, ComparedFigure, Figure, SEED, SHORTEST_NS, SavedRun, Tolerance, compared};
use loadline_metrics::{BITS, Key, Series, highest_of};
use loadline_record::{RunFile, Snapshot, Summary};
use loadline_stats::compare::{
    Ratio, Stretches, compare_means, compare_pairs, compare_quantiles, compare_runs,
    confidence_of_each,
};
use loadline_stats::least_samples;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most names that are compared: those with the most requests.
const MOST_NAMES: usize = 50;
/// The percentiles that are compared, where every run has enough samples.
const PERCENTILES: [f64; 2] = [50.0, 99.0];
/// The times of a name are known to within this share.
pub(super) const PRECISION: f64 = 0.01;
/// A percentile stands if what may lie beyond it besides is at most this share of what does.
const MOST_BESIDES: f64 = 0.1;

/// The names of both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedNames {
    /// The names of both sides, the one with the most requests first.
    pub common: Vec<ComparedName>,
    /// The number of further names of both sides, with fewer requests: they are not compared.
    pub more: usize,
    /// The number of percentiles that are left out, because requests without a response at the end
    /// of a run could move them.
    pub open_percentiles: usize,
    /// The names of A only.
    pub only_base: Vec<Key>,
    /// The names of B only.
    pub only_with: Vec<Key>,
}

/// A name that both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedName {
    /// Its key; where the names of a side are URLs of one host, without scheme and host.
    pub key: Key,
    /// The figures, the rate last.
    pub figures: Vec<ComparedFigure>,
    /// The share of A's requests that failed.
    pub base_failed: f64,
    /// The share of B's requests that failed.
    pub with_failed: f64,
}

impl ComparedNames {
    /// The names of saved runs.
    pub(super) fn of(base: &[SavedRun], with: &[SavedRun]) -> ComparedNames {
        let sides = (Side::of(summaries(base)), Side::of(summaries(with)));
        let ([base], [with]) = (base, with) else {
            return compare(&sides.0, &sides.1, |name, figure, confidence| {
                let values = name.values(&sides.0, &sides.1, figure)?;
                compare_runs(&values.0, &values.1, confidence, SEED)
            });
        };
        let seconds = (Seconds::of(&base.run), Seconds::of(&with.run));
        compare(&sides.0, &sides.1, |name, figure, confidence| {
            let (base, with) = (&seconds.0, &seconds.1);
            base.compare(name.base, with, name.with, figure, confidence)
        })
    }

    /// The names of runs that took turns, in pairs.
    pub(super) fn of_pairs(base: &[&Summary], with: &[&Summary]) -> ComparedNames {
        let sides = (Side::of(base.to_vec()), Side::of(with.to_vec()));
        compare(&sides.0, &sides.1, |name, figure, confidence| {
            let values = name.values(&sides.0, &sides.1, figure)?;
            compare_pairs(&values.0, &values.1, confidence)
        })
    }

    /// True if no side has a name.
    pub fn is_empty(&self) -> bool {
        self.common.is_empty() && self.only_base.is_empty() && self.only_with.is_empty()
    }
}

fn summaries(runs: &[SavedRun]) -> Vec<&Summary> {
    runs.iter().map(|saved| saved.run.summary()).collect()
}

/// The runs of a side, and its names: as they are compared, and as they were recorded.
pub(super) struct Side<'a> {
    runs: Vec<&'a Summary>,
    names: BTreeMap<Key, &'a Key>,
}

impl<'a> Side<'a> {
    pub(super) fn of(runs: Vec<&'a Summary>) -> Side<'a> {
        let recorded = runs.iter().flat_map(|run| run.total.series.iter());
        let keys: Vec<&'a Key> = recorded
            .map(|(key, _)| key)
            .filter(|key| !key.is_overflow())
            .collect();
        let first = keys.first().and_then(|key| origin(key.name()));
        let host = first.filter(|host| keys.iter().all(|key| origin(key.name()) == Some(host)));
        let names = keys.into_iter().map(|key| (without(key, host), key));
        Side {
            names: names.collect(),
            runs,
        }
    }

    /// The keys, as they were recorded, of the requests that a rule looks at: by their names, or by
    /// those without the host that all have.
    pub(super) fn matched(&self, rule: &Tolerance) -> Vec<&'a Key> {
        let names = self.names.iter();
        let matched = names.filter(|(key, recorded)| rule.looks_at(key) || rule.looks_at(recorded));
        matched.map(|(_, recorded)| *recorded).collect()
    }

    /// The requests of a name, of all runs.
    fn total(&self, key: &Key) -> Series {
        let mut total = Series::default();
        let series = self.runs.iter().filter_map(|run| run.total.series.get(key));
        series.for_each(|series| total.merge(series));
        total
    }

    /// The fewest times that a run has of a name.
    fn fewest(&self, key: &Key) -> u64 {
        let series = self.runs.iter().map(|run| run.total.series.get(key));
        let counts = series.map(|series| series.map_or(0, |series| series.times.len()));
        counts.min().unwrap_or(0)
    }

    /// True if this percentile of a name stays the same in each run even if all requests without a
    /// response at its end had this name: their names are not known.
    fn knows(&self, key: &Key, percentile: f64) -> bool {
        let stands = |run: &&Summary| {
            let series = run.total.series.get(key)?;
            Some(stands(series, run, percentile))
        };
        self.runs.iter().all(|run| stands(run).unwrap_or(false))
    }

    fn values(&self, key: &Key, figure: Figure) -> Option<Vec<f64>> {
        self.runs
            .iter()
            .map(|run| value(run, key, figure))
            .collect()
    }
}

/// A name that both sides have, as each of them recorded it.
struct Name<'a> {
    key: &'a Key,
    base: &'a Key,
    with: &'a Key,
}

impl Name<'_> {
    fn values(
        &self,
        base: &Side<'_>,
        with: &Side<'_>,
        figure: Figure,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        Some((
            base.values(self.base, figure)?,
            with.values(self.with, figure)?,
        ))
    }

    /// The percentiles for which every run has enough samples.
    fn sampled(&self, base: &Side<'_>, with: &Side<'_>) -> impl Iterator<Item = f64> + use<> {
        let fewest = base.fewest(self.base).min(with.fewest(self.with));
        let is_sampled = move |p: &f64| least_samples(*p / 100.0, CONFIDENCE) <= fewest;
        PERCENTILES.into_iter().filter(is_sampled)
    }

    /// Returns the percentiles, among these, that every run knows, and the rate.
    fn figures(&self, base: &Side<'_>, with: &Side<'_>) -> Vec<Figure> {
        let knows = |p: &f64| base.knows(self.base, *p) && with.knows(self.with, *p);
        let percentiles = self.sampled(base, with).filter(knows);
        percentiles
            .map(Figure::Percentile)
            .chain([Figure::Rate])
            .collect()
    }
}

/// Compares the names that both sides have, by what gives a figure's ratio at a confidence.
fn compare(
    base: &Side<'_>,
    with: &Side<'_>,
    ratio: impl Fn(&Name<'_>, Figure, f64) -> Option<Ratio>,
) -> ComparedNames {
    if base.names.is_empty() || with.names.is_empty() {
        return ComparedNames::default();
    }
    let common = base.names.iter().filter_map(|(key, base)| {
        let with = with.names.get(key)?;
        Some(Name { key, base, with })
    });
    let ended = |name: &Name<'_>| base.total(name.base).ended() + with.total(name.with).ended();
    let mut common: Vec<(u64, Name<'_>)> = common.map(|name| (ended(&name), name)).collect();
    common.sort_by_key(|(ended, _)| Reverse(*ended));
    let more = common.len().saturating_sub(MOST_NAMES);
    common.truncate(MOST_NAMES);
    let compared = common
        .into_iter()
        .map(|(_, name)| (name.figures(base, with), name));
    let compared: Vec<(Vec<Figure>, Name<'_>)> = compared.collect();
    let figures = compared.iter().map(|(figures, _)| figures.len()).sum();
    let sampled = |(figures, name): &(Vec<Figure>, Name<'_>)| {
        // The rate is no percentile.
        name.sampled(base, with).count() + 1 - figures.len()
    };
    let open_percentiles = compared.iter().map(sampled).sum();
    let confidence = confidence_of_each(figures, CONFIDENCE);
    let compared_name = |(figures, name): &(Vec<Figure>, Name<'_>)| ComparedName {
        key: name.key.clone(),
        figures: figures
            .iter()
            .filter_map(|figure| {
                let ratio = ratio(name, *figure, confidence)?;
                figure_of(name, base, with, *figure, ratio)
            })
            .collect(),
        base_failed: failed(&base.total(name.base)),
        with_failed: failed(&with.total(name.with)),
    };
    let only = |side: &Side<'_>, other: &Side<'_>| {
        let keys = side
            .names
            .keys()
            .filter(|key| !other.names.contains_key(key));
        keys.cloned().collect()
    };
    ComparedNames {
        common: compared.iter().map(compared_name).collect(),
        more,
        open_percentiles,
        only_base: only(base, with),
        only_with: only(with, base),
    }
}

fn figure_of(
    name: &Name<'_>,
    base: &Side<'_>,
    with: &Side<'_>,
    figure: Figure,
    ratio: Ratio,
) -> Option<ComparedFigure> {
    let (base_values, with_values) = name.values(base, with, figure)?;
    let ratio = match figure {
        Figure::Rate => ratio,
        Figure::Percentile(_) | Figure::Mean | Figure::Max => ratio.widened(PRECISION),
    };
    let means = (
        super::geometric_mean(&base_values),
        super::geometric_mean(&with_values),
    );
    let runs = base_values.len().min(with_values.len());
    Some(compared(figure, means, ratio, runs))
}

fn failed(series: &Series) -> f64 {
    series.failures() as f64 / series.ended().max(1) as f64
}

/// True if a percentile of these requests of a run stays the same even if all requests without a
/// response at its end were among them.
pub(super) fn stands(series: &Series, run: &Summary, percentile: f64) -> bool {
    let Some(value_ns) = series.percentile_ns(percentile) else {
        return false;
    };
    let (unfinished, ages) = (&run.unfinished, &run.unfinished.ages.response);
    let older = unfinished
        .count()
        .saturating_sub(ages.count_up_to_ns(value_ns));
    let beyond = (1.0 - percentile / 100.0) * series.times.len() as f64;
    older as f64 <= MOST_BESIDES * beyond
}

/// The figure of a name in one run: nanoseconds, or answers a second.
fn value(run: &Summary, key: &Key, figure: Figure) -> Option<f64> {
    value_of(run.total.series.get(key)?, run, figure)
}

/// The figure of these requests of a run.
pub(super) fn value_of(series: &Series, run: &Summary, figure: Figure) -> Option<f64> {
    match figure {
        Figure::Percentile(percentile) => series.percentile_ns(percentile).map(|ns| ns as f64),
        Figure::Mean => series.mean_ns(),
        Figure::Max => Some(series.max_ns as f64),
        Figure::Rate => {
            let seconds = run.rated_ns() as f64 / 1e9;
            (seconds > 0.0 && series.completed > 0).then(|| series.completed as f64 / seconds)
        }
    }
}

/// The seconds of a single run.
pub(super) struct Seconds {
    intervals: Vec<Snapshot>,
    drain: Option<Snapshot>,
}

impl Seconds {
    pub(super) fn of(run: &RunFile) -> Seconds {
        Seconds {
            intervals: run.snapshots().collect(),
            drain: run.drain(),
        }
    }

    /// The ratio of a figure of a name, which both sides have recorded under a key of their own.
    fn compare(
        &self,
        key: &Key,
        with: &Seconds,
        with_key: &Key,
        figure: Figure,
        confidence: f64,
    ) -> Option<Ratio> {
        match figure {
            Figure::Percentile(p) => {
                let sides = (self.stretches(&[key]), with.stretches(&[with_key]));
                compare_quantiles(&sides.0, &sides.1, p / 100.0, confidence, SEED)
            }
            Figure::Rate => {
                let sides = (self.rates(&[key]), with.rates(&[with_key]));
                compare_means(&sides.0, &sides.1, confidence, SEED)
            }
            Figure::Mean | Figure::Max => None,
        }
    }

    /// The response times of these names second by second, those of the drain in the last one.
    pub(super) fn stretches(&self, keys: &[&Key]) -> Stretches {
        let of = |second: &Snapshot| together(second, keys);
        let mut seconds: Vec<Series> = self.intervals.iter().map(of).collect();
        if let (Some(last), Some(drain)) = (seconds.last_mut(), &self.drain) {
            last.merge(&of(drain));
        }
        let steps = |second: &Series| {
            let counts = second.times.counts();
            let steps =
                counts.map(|(bucket, count)| (highest_of(bucket, BITS).min(second.max_ns), count));
            steps.collect()
        };
        Stretches::of(seconds.iter().map(steps))
    }

    /// Answers a second of these names, second by second.
    pub(super) fn rates(&self, keys: &[&Key]) -> Vec<f64> {
        let length_ns = |second: &Snapshot| second.end_ns.saturating_sub(second.start_ns);
        let whole = self
            .intervals
            .iter()
            .filter(|second| length_ns(second) >= SHORTEST_NS);
        let completed = |second: &Snapshot| {
            let each = keys.iter().filter_map(|key| second.series.get(key));
            each.map(|one| one.completed).sum::<u64>()
        };
        whole
            .map(|second| completed(second) as f64 * 1e9 / length_ns(second) as f64)
            .collect()
    }
}

/// The requests of these names.
pub(super) fn together(recorded: &Snapshot, keys: &[&Key]) -> Series {
    let mut sum = Series::default();
    let each = keys.iter().filter_map(|key| recorded.series.get(key));
    each.for_each(|one| sum.merge(one));
    sum
}

/// Scheme and host of a name that is a URL, which may have its method before it.
fn origin(name: &str) -> Option<&str> {
    let url = &name[url_at(name)..];
    let scheme = url.find("://")?;
    let is_scheme = matches!(&url[..scheme], "http" | "https");
    let path = url[scheme + 3..].find('/')?;
    is_scheme.then(|| &url[..scheme + 3 + path])
}

/// Returns the position at which the URL of a name begins.
fn url_at(name: &str) -> usize {
    let is_method = |method: &&str| method.bytes().all(|byte| byte.is_ascii_uppercase());
    let method = name.split_once(' ').map(|(method, _)| method);
    method
        .filter(is_method)
        .map_or(0, |method| method.len() + 1)
}

/// The key without this scheme and host.
fn without(key: &Key, host: Option<&str>) -> Key {
    let Some(host) = host else {
        return key.clone();
    };
    let (method, url) = key.name().split_at(url_at(key.name()));
    let path = url.strip_prefix(host).unwrap_or(url);
    let tags = key
        .tags()
        .map(|(tag, value)| (tag.to_owned(), value.to_owned()));
    Key::tagged(&format!("{method}{path}"), tags.collect()).unwrap_or_else(|_| key.clone())
}

#[cfg(test)]
mod tests;
