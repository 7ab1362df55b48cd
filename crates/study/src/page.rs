//! The data of a study's HTML report.

use crate::figures::Moment;
use crate::folder::Folder;
use crate::meter::Second;
use crate::saved::{SavedError, SavedRun};
use crate::study::{Cores, Order, Plot, Study};
use loadline_page::{
    Cell, Column, Fact, Measure, Scatter, StudyPage, StudyPlots, StudyRow, Timeline, Track, Unit,
};
use loadline_plan::mask_words;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) mod columns;

use columns::{COLUMNS, KB, Source};

/// The most points of a run in a plot.
const MOST_MOMENTS: usize = 240;

/// The page of a study: these runs, in their order, with what was watched of each.
///
/// # Errors
/// If the file of a run cannot be read.
pub fn study_page(
    study: &Study,
    folder: &Folder,
    runs: &[SavedRun],
    missing_tools: &[String],
) -> Result<StudyPage, SavedError> {
    let columns: Vec<&Source> = COLUMNS
        .iter()
        .filter(|column| is_known(column, runs))
        .collect();
    let group = grouping(runs);
    // The quick part has its own number of repeats.
    let repeats = runs.iter().map(|run| run.header.repeat).max().unwrap_or(1);
    let is_repeated = repeats > 1;
    let row = |run: &SavedRun| row(folder, run, &columns, group, is_repeated);
    let named = ("exp_name", "run", Unit::Text);
    let shown = columns
        .iter()
        .map(|(name, title, unit, _)| (*name, *title, *unit));
    let column = |(name, title, unit): (&str, &str, Unit)| Column {
        name: name.to_owned(),
        title: title.to_owned(),
        unit,
    };
    let columns: Vec<Column> = std::iter::once(named).chain(shown).map(column).collect();
    let rows = runs.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let started = runs.iter().map(|run| run.header.started_at.clone()).min();
    Ok(StudyPage {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: started.unwrap_or_default(),
        title: study.name.clone(),
        description: study.description.clone(),
        facts: facts(study, repeats),
        notes: notes(runs, missing_tools),
        plots: StudyPlots::new(&columns, &rows, &scatters(study, runs)),
        columns,
        rows: rows.into_iter().map(|(row, _)| row).collect(),
    })
}

/// Returns the attribute that plots distinguish: the tool, or the target if all runs have the same
/// tool.
fn grouping(runs: &[SavedRun]) -> fn(&SavedRun) -> &str {
    let tool = |run: &SavedRun| run.header.settings.tool.clone();
    let tools: BTreeSet<String> = runs.iter().map(tool).collect();
    match tools.len() {
        1 => |run| &run.header.settings.target,
        _ => |run| &run.header.settings.tool,
    }
}

fn is_known((_, _, _, cell): &Source, runs: &[SavedRun]) -> bool {
    runs.iter().any(|run| cell(run) != Cell::Absent)
}

fn row(
    folder: &Folder,
    run: &SavedRun,
    columns: &[&Source],
    group: fn(&SavedRun) -> &str,
    is_repeated: bool,
) -> Result<(StudyRow, Option<Timeline>), SavedError> {
    let header = &run.header;
    let name = match is_repeated {
        true => format!("{} #{}", header.name, header.repeat),
        false => header.name.clone(),
    };
    let cells = columns.iter().map(|(_, _, _, cell)| cell(run));
    let row = StudyRow {
        tool: group(run).to_owned(),
        cells: std::iter::once(Cell::Text(name.clone()))
            .chain(cells)
            .collect(),
        name,
        finding: finding(run),
    };
    let path = folder.file(&header.name, header.repeat);
    Ok((row, timeline(&path, run)?))
}

/// Returns the reason to doubt a run.
fn finding(run: &SavedRun) -> Option<String> {
    if let Some(failure) = &run.outcome.failure {
        return Some(format!("The run failed: {failure}."));
    }
    let grade = run.outcome.figures.as_ref()?.validity.as_deref()?;
    let figures = run.outcome.figures.as_ref();
    let reason = figures.and_then(|figures| figures.finding.as_deref());
    (grade != "valid").then(|| match reason {
        Some(reason) => format!("The tool says that its result is {grade}: {reason}"),
        None => format!("The tool says that its result is {grade}."),
    })
}

/// Returns the samples and the tool's own figures over time.
fn timeline(path: &Path, run: &SavedRun) -> Result<Option<Timeline>, SavedError> {
    let mut seconds = Vec::new();
    SavedRun::read_with(path, |second| seconds.push(second))?;
    let figures = run.outcome.figures.as_ref();
    let moments = figures.map(|figures| figures.moments.as_slice());
    Ok(joined(&seconds, moments.unwrap_or_default()).map(|whole| whole.thinned(MOST_MOMENTS)))
}

fn joined(seconds: &[Second], moments: &[Moment]) -> Option<Timeline> {
    let middle = |second: &Second| second.at_s - second.length_s / 2.0;
    let time_s: Vec<f64> = seconds.iter().map(middle).collect();
    let watched = |measure, of: fn(&Second) -> Option<f64>| Track {
        measure,
        values: seconds.iter().map(of).collect(),
    };
    let reported = |measure, of: fn(&Moment) -> Option<f64>| Track {
        measure,
        values: time_s
            .iter()
            .map(|at_s| of(moment(moments, *at_s)?))
            .collect(),
    };
    let tracks = [
        reported(Measure::Rate, |moment| Some(moment.rps)),
        reported(Measure::ResponseP99, |moment| moment.p99_us),
        watched(Measure::Cpu, |second| second.tool.cpu_percent),
        watched(Measure::Memory, |second| {
            second.tool.memory_kb.map(|kb| kb * KB)
        }),
        watched(Measure::Sockets, |second| {
            second.tool.sockets.map(|count| count as f64)
        }),
        watched(Measure::Bandwidth, |second| {
            second.bandwidth_kb_per_s.map(|kb| kb * KB)
        }),
    ];
    let is_known = |track: &Track| track.values.iter().any(Option::is_some);
    let tracks: Vec<Track> = tracks.into_iter().filter(is_known).collect();
    (!tracks.is_empty()).then_some(Timeline { time_s, tracks })
}

/// Returns the period that contains an instant.
fn moment(moments: &[Moment], at_s: f64) -> Option<&Moment> {
    let index = moments.partition_point(|moment| moment.at_s < at_s);
    moments.get(index)
}

fn facts(study: &Study, repeats: u32) -> Vec<Fact> {
    let fact = |name: &str, text: String| Fact {
        name: name.to_owned(),
        text,
    };
    let order = match study.order {
        Order::Listed => "as listed".to_owned(),
        Order::Random(seed) => format!("shuffled by seed {seed}"),
        Order::ByTarget(seed) => format!("target by target, shuffled by seed {seed}"),
    };
    let mut facts = vec![fact("order", order), fact("repeats", repeats.to_string())];
    let sides = [
        ("tools' cores", &study.pin.tools),
        ("targets' cores", &study.pin.targets),
    ];
    for (name, cores) in sides {
        facts.extend(cores.as_ref().map(|cores| fact(name, cores.text())));
    }
    for target in &study.targets {
        let url = mask_words(std::slice::from_ref(&target.url)).concat();
        let place = match url.contains(":{port}") {
            true => url.replace(":{port}", "") + ", on a free port",
            false => url,
        };
        facts.push(fact("target", format!("{} at {place}", target.name)));
    }
    facts
}

fn notes(runs: &[SavedRun], missing_tools: &[String]) -> Vec<String> {
    let missing = missing_tools.iter();
    let missing =
        missing.map(|tool| format!("{tool} was not on this machine; its runs were skipped."));
    let failed = runs
        .iter()
        .filter(|run| run.outcome.failure.is_some())
        .count();
    let failed = (failed > 0).then(|| format!("{failed} of {} runs failed.", runs.len()));
    let brief = runs.iter().any(|run| run.outcome.averages.seen_too_briefly);
    let brief = brief.then(|| {
        "What was used is left out where less than half of a run could be watched.".to_owned()
    });
    missing.chain(failed).chain(brief).collect()
}

/// Returns the plots that the study requests, and those that every study has.
fn scatters(study: &Study, runs: &[SavedRun]) -> Vec<Scatter> {
    let own = study.plots.iter().map(|plot| Scatter {
        name: plot.name.clone(),
        title: plot.title.clone(),
        x: plot.x.clone(),
        y: plot.y.clone(),
        is_log: plot.is_log,
        groups: Some(runs.iter().map(|run| plotted(plot, run)).collect()),
    });
    let of_every = |title: &str, x: &str| Scatter {
        name: format!("rps-by-{x}"),
        title: title.to_owned(),
        x: x.to_owned(),
        y: "rps".to_owned(),
        is_log: false,
        groups: None,
    };
    let of_every = [
        of_every("Requests per second and CPU", "avg_cpu"),
        of_every("Requests per second and memory", "avg_memory"),
    ];
    own.chain(of_every).collect()
}

/// The series of a plot that a run belongs to, if it is drawn.
fn plotted(plot: &Plot, run: &SavedRun) -> Option<String> {
    let settings = &run.header.settings;
    let is_drawn = plot.tool.as_ref().is_none_or(|tool| *tool == settings.tool)
        && plot
            .target
            .as_ref()
            .is_none_or(|target| *target == settings.target)
        && (plot.keep_alive.is_none() || plot.keep_alive == settings.keep_alive);
    let series = match plot.target {
        Some(_) => &settings.tool,
        None => &settings.target,
    };
    is_drawn.then(|| series.clone())
}

impl Cores {
    /// Returns the numbers of the cores, in the notation of study files.
    fn text(&self) -> String {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        numbers.join(",")
    }
}

#[cfg(test)]
mod tests;
