//! The data of the HTML report of one run: the text report's words and figures, and its charts.
//!
//! The heatmap needs what a summary does not keep, the response times of each interval: a [`Heat`]
//! is given every snapshot beside the summary.

mod against;
mod by_name;
mod facts;
mod headlines;
mod merged;
mod notes;
mod resources;
mod series;
mod so_far;
mod tables;
mod timeline;

pub use against::{against, never_against, not_yet_against};
pub(crate) use facts::of_machine as machine_facts;
pub use series::series_page;
pub use so_far::RunSoFar;

use crate::{exceptions, metrics, wording};
use by_name::ByName;
use loadline_page::{
    Heat, Page, PercentileRow, Resource, RunNumbers, RunPage, RunPlots, Spectrum, TimeRow,
    Timeline, Tone, Track, ValidityText,
};
use loadline_record::{Bounded, Censored, Model, RunFile, Snapshot, Summary};
use loadline_verdict::{Grade, RunResult};

/// The most moments that a page of one run has; of a longer run neighbours are joined.
const MOST_MOMENTS: usize = 1_800;
/// With fewer moments there is no course to be seen: plots would be grids with a dot or two.
const FEWEST_MOMENTS: usize = 3;
/// Points of a spectrum to each halving of what is left above it: a smooth line.
const POINTS_PER_HALVING: u32 = 7;

/// Adds the response times of an interval to a heatmap.
pub fn heat_interval(heat: &mut Heat, interval: &Snapshot) {
    let times = interval.times.response.steps();
    heat.observe(interval.start_ns, interval.end_ns, times);
}

/// Returns the response times of a saved run over time.
pub fn heat_of(run: &RunFile) -> Heat {
    let mut heat = Heat::default();
    run.snapshots()
        .for_each(|interval| heat_interval(&mut heat, &interval));
    heat
}

/// Returns the page of saved runs: of one of them, or of a series.
pub fn page_of_runs(runs: Vec<RunFile>) -> Page {
    let heats: Vec<Heat> = runs.iter().map(heat_of).collect();
    let judged = |run: RunFile| RunResult::new(run.into_summary());
    let judged: Vec<RunResult> = runs.into_iter().map(judged).collect();
    match (judged.as_slice(), heats.as_slice()) {
        ([only], [heat]) => Page::Run(Box::new(run_page(only, heat))),
        (series, heats) => Page::Series(Box::new(series_page(series, heats))),
    }
}

/// Returns the data of the HTML report of a run.
pub fn run_page(run: &RunResult, heat: &Heat) -> RunPage {
    let timeline = timeline::timeline(&run.summary);
    page_with(run, heat, timeline, FEWEST_MOMENTS, OfAllTimes::of(run))
}

/// Returns the plots of one of the names of a run, as its table by name calls it: rate, failures
/// and response times over time. `None` if there is no such name, or its course is not kept.
pub fn name_plots(summary: &Summary, name: &str) -> Option<RunPlots> {
    let key = by_name::key_of(summary, name)?;
    let timeline = timeline::of_name(summary, &key, MOST_MOMENTS)?;
    Some(RunPlots::new(RunNumbers {
        timeline,
        marks: notes::marks(summary),
        notes: merged::of_names(summary).into_iter().collect(),
        ..RunNumbers::default()
    }))
}

/// The parts that are made of all times of a run: they take longest, and change least from one
/// second to the next.
#[derive(Clone, Debug, Default)]
struct OfAllTimes {
    spectra: Vec<Spectrum>,
    percentiles: Vec<PercentileRow>,
    spent: Vec<TimeRow>,
    notes_on_spent: Vec<String>,
}

impl OfAllTimes {
    fn of(run: &RunResult) -> OfAllTimes {
        let mut of_all = OfAllTimes {
            spectra: spectra(&run.summary),
            percentiles: tables::percentiles(run),
            ..OfAllTimes::default()
        };
        of_all.renew_spent(&run.summary);
        of_all
    }

    fn renew_spent(&mut self, summary: &Summary) {
        self.spent = tables::times(summary);
        self.notes_on_spent = tables::time_notes(summary, &self.spent);
    }
}

/// The page of a run with these numbers; with plots over time if there are so many moments.
fn page_with(
    run: &RunResult,
    heat: &Heat,
    timeline: Timeline,
    fewest: usize,
    of_all: OfAllTimes,
) -> RunPage {
    let summary = &run.summary;
    let each = timeline.time_s.len().div_ceil(MOST_MOMENTS).max(1);
    let watched = resources::resources(summary, each);
    let by_name = ByName::of(summary);
    RunPage {
        version: summary.version.clone(),
        started_at: humantime::format_rfc3339_seconds(summary.started_at).to_string(),
        title: crate::layout::harmless(&wording::target(&summary.plan)),
        load: wording::load(&summary.plan),
        headlines: headlines::of_run(run),
        facts: facts::of_run(summary),
        machine: facts::of_machine(&summary.environment),
        validity: validity(run),
        warnings: warnings(run),
        checks: run.checks.iter().map(tables::check).collect(),
        notes: notes::rows(summary),
        against: None,
        timed_from: tables::timed_from(summary),
        percentiles: of_all.percentiles,
        name_columns: by_name.columns,
        names: by_name.rows,
        name_groups: by_name.groups,
        name_notes: by_name.notes,
        metrics: tables::metrics(summary),
        metric_notes: metrics::left_out(summary).into_iter().collect(),
        statuses: tables::statuses(&summary.total),
        errors: tables::errors(summary),
        error_responses: tables::error_responses(summary),
        exceptions: tables::exceptions(summary),
        exceptions_left_out: exceptions::left_out(summary).unwrap_or_default(),
        time_columns: tables::time_columns(),
        times: of_all.spent,
        time_notes: of_all.notes_on_spent,
        resources: watched
            .iter()
            .map(|(resource, _)| resource.clone())
            .collect(),
        added: None,
        plots: match timeline.time_s.len() < fewest {
            true => RunPlots::new(RunNumbers {
                spectra: of_all.spectra,
                ..RunNumbers::default()
            }),
            false => RunPlots::new(RunNumbers {
                spectra: of_all.spectra,
                ..over_time(summary, &timeline, watched, heat)
            }),
        },
    }
}

/// The numbers of the charts over time.
fn over_time(
    summary: &Summary,
    timeline: &Timeline,
    watched: Vec<(Resource, Vec<Track>)>,
    heat: &Heat,
) -> RunNumbers {
    RunNumbers {
        timeline: timeline.thinned(MOST_MOMENTS),
        spectra: Vec::new(),
        heatmap: heat.map(summary.total.start_ns),
        resources: watched
            .into_iter()
            .map(|(resource, tracks)| (resource.name, tracks))
            .collect(),
        names: timeline::of_names(summary, MOST_MOMENTS),
        marks: notes::marks(summary),
        notes: merged::notes(summary, MOST_MOMENTS),
    }
}

fn warnings(run: &RunResult) -> Vec<String> {
    run.warnings_for(&tables::NEAR)
        .map(|warning| crate::layout::harmless(&warning.cause.sentence()))
        .collect()
}

/// Returns the meaning of the grade for this result. *Valid* does not mean that the target did
/// well: it means that the generator did its part.
fn claim(run: &RunResult) -> &'static str {
    match run.grade() {
        Grade::Valid if run.many_failed() => {
            "Valid: Loadline did not distort these figures, but read the warnings about the \
             responses."
        }
        Grade::Valid => "Valid: Loadline did not distort these figures.",
        Grade::Suspect => "Suspect: something may have distorted these figures.",
        Grade::Invalid => "Invalid: these figures are no measurement of the target.",
    }
}

fn capitalised(text: String) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

fn validity(run: &RunResult) -> ValidityText {
    let found = &run.findings;
    ValidityText {
        tone: match run.grade() {
            Grade::Valid if run.many_failed() => Tone::Plain,
            Grade::Valid => Tone::Good,
            Grade::Suspect => Tone::Doubtful,
            Grade::Invalid => Tone::Bad,
        },
        claim: claim(run).to_owned(),
        findings: found
            .notes()
            .map(capitalised)
            .into_iter()
            .chain(found.validity_sentences())
            .collect(),
    }
}

/// Response and service time; in a closed loop both are one.
fn spectra(summary: &Summary) -> Vec<Spectrum> {
    let service = [("service time", summary.service())];
    let service = service.into_iter().filter(|_| summary.model == Model::Open);
    std::iter::once(("response time", summary.response()))
        .chain(service)
        .filter(|(_, times)| !times.times.is_empty())
        .map(|(name, times)| spectrum(name, times))
        .collect()
}

/// Percentiles that come closer to 100 in equal steps of the axis, as far as there are samples; the
/// last is that of the largest value. What is only a lower bound has no place on it.
fn spectrum(name: &str, times: Censored<'_>) -> Spectrum {
    let len = times.len() as f64;
    let steps = (len.log2() * f64::from(POINTS_PER_HALVING))
        .floor()
        .max(0.0) as u32;
    let step = |index: u32| 1.0 - 0.5_f64.powf(f64::from(index) / f64::from(POINTS_PER_HALVING));
    let last = 1.0 - 0.5 / len;
    let shares = (0..=steps).map(step).chain(std::iter::once(last));
    let known = |percentile: f64| match times.percentile(percentile) {
        Bounded::Exactly(ns) => Some((percentile, ns as f64 / 1e3)),
        Bounded::AtLeast(_) => None,
    };
    let points = shares.filter_map(|share| known(share * 100.0));
    let (percentile, us) = points.unzip();
    Spectrum {
        name: name.to_owned(),
        percentile,
        us,
    }
}

#[cfg(test)]
mod one_file;
#[cfg(test)]
mod tests;
