//! `loadline report`.

use crate::closing::Grounds;
use crate::commands::capacity;
use crate::exit::{Exit, exit_of_measured, exit_of_run, exit_of_series};
use crate::flags::report::ReportFlags;
use crate::flags::run::judgement::Trust;
use crate::output::{Format, Output, Sink};
use crate::publish::{Reports, Style, prepare_runner, write_plots};
use crate::terminal::print_line;
use anyhow::{Context, Result, bail};
use loadline_page::{AddedTables, Heat, Page};
use loadline_record::{Ended, RoleKind, RunFile};
use loadline_report::{
    CapacityReport, Extent, Origin, heat_of, page_of_runs, run_page, search_page, series_page,
};
use loadline_runner::preflight::refuse_overwriting;
use loadline_runner::search::{SavedSearch, is_search};
use loadline_units as units;
use loadline_verdict::{RunResult, is_whole};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Prints saved runs again.
pub(crate) fn run(flags: &ReportFlags) -> Result<Exit> {
    let reports = reports(flags)?;
    prepare_runner(&reports.outputs)?;
    let written = reports.outputs.iter().filter_map(Output::file);
    refuse_overwriting(written, flags.files.iter().map(PathBuf::as_path))?;
    let paged = reports.has_page();
    if paged {
        loadline_page::ready()?;
    }
    let runs = read(flags)?;
    if let Some(search) = whole_search(flags, &runs) {
        return report_search(&search, runs, reports, flags);
    }
    let heats: Vec<Heat> = match paged || flags.plots.is_some() {
        true => runs.iter().map(heat_of).collect(),
        false => runs.iter().map(|_| Heat::default()).collect(),
    };
    let judged: Vec<RunResult> = runs.into_iter().map(judged).collect();
    match (judged.as_slice(), heats.as_slice()) {
        ([only], [heat]) if picks_or_merges(flags) || !is_repeat(only) => {
            let published = reports.publish(only, heat, None);
            let page = || Page::Run(Box::new(run_page(only, heat)));
            published.and(draw(flags, page))?;
        }
        (_, _) if flags.tables.is_some() => {
            bail!("--tables adds to the page of a single run, and these are several.")
        }
        (series, heats) => {
            let published = reports.publish_series(series, heats, None);
            let page = || Page::Series(Box::new(series_page(series, heats)));
            published.and(draw(flags, page))?;
        }
    }
    print_written(flags);
    let exit = exit_of_all(&judged, flags.trust);
    grounds(&judged, flags.trust).print_reason(exit);
    Ok(exit)
}

/// Prints the files that exist now, for a user at a terminal who was shown nothing else.
fn print_written(flags: &ReportFlags) {
    let outputs = flags.style.reports();
    if !io::stderr().is_terminal() || outputs.iter().any(|output| output.to == Sink::Stdout) {
        return;
    }
    let files = outputs.iter().filter_map(Output::file);
    let files = files
        .chain(flags.html.as_deref())
        .chain(flags.plots.as_deref());
    let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
    if !files.is_empty() {
        print_line(&format!("Written: {}.", files.join(", ")));
    }
}

/// True if the flags request one run of a file, or one that is merged.
fn picks_or_merges(flags: &ReportFlags) -> bool {
    flags.run.is_some() || flags.files.len() > 1
}

/// True if this run is one of a series, which is reported as one even if no other run is left of
/// it.
fn is_repeat(run: &RunResult) -> bool {
    let role = run.summary.role.as_ref();
    role.is_some_and(|role| role.kind == RoleKind::Repeat)
}

/// Returns the search to which these trials belong, unless one of them was requested.
fn whole_search(flags: &ReportFlags, runs: &[RunFile]) -> Option<SavedSearch> {
    match flags.run {
        Some(_) => None,
        None => {
            let found = SavedSearch::read(runs);
            if found.is_none() && is_search(runs) {
                print_line(
                    "These trials are not a complete search, or another version of Loadline made \
                     them with other rules: each trial is reported as a run.",
                );
            }
            found
        }
    }
}

/// Reports the result of a search, and its trials as rows if these are requested.
fn report_search(
    search: &SavedSearch,
    runs: Vec<RunFile>,
    reports: Reports,
    flags: &ReportFlags,
) -> Result<Exit> {
    let is_job = |output: &Output| {
        matches!(
            output.format,
            Format::Junit | Format::Markdown | Format::Github
        )
    };
    if reports.outputs.iter().any(is_job) {
        bail!("a search has no checks for a job to be told; write text, json or html.");
    }
    let is_rows = |output: &Output| matches!(output.format, Format::Csv | Format::Sqlite);
    let Reports { outputs, style, .. } = reports;
    let (rows, answers): (Vec<Output>, Vec<Output>) = outputs.into_iter().partition(is_rows);
    let with = |outputs| Reports {
        outputs,
        style: style.clone(),
        tables: None,
        worst_accepted: flags.trust.worst_accepted(),
    };
    let origin = Origin::of(runs[0].summary());
    let report = CapacityReport {
        plan: &search.searched.plan,
        users: search.searched.users,
        errors_added: search.searched.errors_added,
        settings: &search.searched.settings,
        outcome: &search.outcome,
        interrupted: search.interrupted,
        origin: &origin,
    };
    let published = with(answers).publish_search(&report);
    let drawn = draw(flags, || Page::Search(Box::new(search_page(&report))));
    let trials: Vec<RunResult> = runs.into_iter().map(judged).collect();
    let listed = with(rows).publish_series(&trials, &[], None);
    published.and(listed).and(drawn)?;
    print_written(flags);
    Ok(match search.interrupted {
        // It was the search that ended so, not this report of it.
        true => Exit::Good,
        false => capacity::exit_with_reason(&search.outcome.conclusion, flags.trust),
    })
}

/// Returns the requested reports; the text report if there is none.
fn reports(flags: &ReportFlags) -> Result<Reports> {
    let page = flags.html.as_ref().map(|path| Output {
        format: Format::Html,
        to: Sink::File(path.clone()),
    });
    if !flags.style.exporters().is_empty() {
        bail!("metrics are sent while a run lasts, not from a saved run; write a report.");
    }
    let mut outputs = flags.style.reports();
    outputs.extend(page);
    if outputs.is_empty() && flags.plots.is_none() {
        outputs.push(Output::TEXT);
    }
    Ok(Reports {
        outputs,
        tables: flags.tables.as_deref().map(tables).transpose()?,
        worst_accepted: flags.trust.worst_accepted(),
        style: Style {
            color: flags.style.color,
            percentiles: flags.style.percentiles.clone(),
            extent: match flags.style.short {
                true => Extent::Short,
                false => Extent::Full,
            },
            saved: None,
        },
    })
}

/// The tables of a file that are added to the page.
fn tables(path: &Path) -> Result<AddedTables> {
    let json = std::fs::read(path).with_context(|| format!("{} can't be read", path.display()))?;
    AddedTables::parse(&json).with_context(|| path.display().to_string())
}

/// Writes the plots of this page, if they are requested.
fn draw(flags: &ReportFlags, page: impl FnOnce() -> Page) -> Result<()> {
    match &flags.plots {
        Some(folder) => write_plots(folder, &page(), &flags.files),
        None => Ok(()),
    }
}

/// Returns the page of a saved run, or of the runs in one file.
///
/// # Errors
/// If it can't be read.
pub(crate) fn page_of(path: &Path) -> Result<Page> {
    Ok(page_of_runs(RunFile::read_all(path)?))
}

fn exit_of_all(runs: &[RunResult], trust: Trust) -> Exit {
    let is_one_of_many = |run: &RunResult| {
        let kind = run.summary.role.as_ref().map(|role| role.kind);
        matches!(kind, Some(RoleKind::Repeat | RoleKind::Side)) && is_whole(&run.summary)
    };
    let series: Vec<RunResult> = runs
        .iter()
        .filter(|run| is_one_of_many(run))
        .cloned()
        .collect();
    match series.as_slice() {
        [_, _, ..] => exit_of_series(&series, trust),
        _ => {
            let exits = runs.iter().map(|run| exit_of_saved(run, trust));
            exits
                .max_by_key(|exit| exit.severity())
                .unwrap_or(Exit::Good)
        }
    }
}

/// Returns the grounds of the exit code.
fn grounds(runs: &[RunResult], trust: Trust) -> Grounds<'_> {
    match runs {
        [only] => Grounds::of_run(only, trust),
        series => Grounds::of_series(series, trust),
    }
}

fn judged(run: RunFile) -> RunResult {
    RunResult::new(run.into_summary())
}

fn exit_of_saved(run: &RunResult, trust: Trust) -> Exit {
    let role = run.summary.role.as_ref();
    if role.is_some_and(|role| role.kind == RoleKind::Trial) {
        // A search looks for the rate at which its checks break.
        return Exit::Good;
    }
    match run.summary.ended {
        // It was the run that somebody ended, not this report of it: its checks are judged.
        Ended::Interrupted => exit_of_measured(run, &run.checks, trust),
        Ended::Threw(_)
        | Ended::Failed(_)
        | Ended::Duration
        | Ended::Requests
        | Ended::Stages
        | Ended::Precise
        | Ended::Decided
        | Ended::Aborted(_)
        | Ended::Unknown => exit_of_run(run, &run.checks, trust),
    }
}

/// All runs of the only file, or the one run that these files are parts of.
fn read(flags: &ReportFlags) -> Result<Vec<RunFile>> {
    if let [only] = flags.files.as_slice() {
        let runs = picked(read_all(only)?, flags.run, only)?;
        if runs.len() > 1 {
            return Ok(runs);
        }
        return Ok(vec![RunFile::merge_concurrent(runs)?]);
    }
    let parts = flags.files.iter().map(|path| RunFile::read(path));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    for (path, part) in flags.files.iter().zip(&parts) {
        print_stray(path, part);
    }
    Ok(vec![RunFile::merge_concurrent(parts)?])
}

/// Returns all runs of a file, and says so if something is behind the last one.
///
/// # Errors
/// If it can't be read.
pub(crate) fn read_all(path: &Path) -> Result<Vec<RunFile>> {
    let runs = RunFile::read_all(path)?;
    if let Some(last) = runs.last() {
        print_stray(path, last);
    }
    Ok(runs)
}

/// Prints that bytes behind the end of the last run of this file were left out, if there are any.
fn print_stray(path: &Path, last: &RunFile) {
    let (path, bytes) = (path.display(), last.stray_bytes());
    if bytes > 0 {
        print_line(&format!(
            "{path}: {} behind the last whole line can't be read and {} left out: a line was cut \
             off there, or something was added. What stands before is whole.",
            units::counted(bytes, "byte"),
            if bytes == 1 { "is" } else { "are" },
        ));
    }
}

/// Returns the requested run, or all.
fn picked(runs: Vec<RunFile>, number: Option<u32>, path: &Path) -> Result<Vec<RunFile>> {
    let Some(number) = number else {
        return Ok(runs);
    };
    let (path, count) = (path.display(), runs.len());
    let index = (number as usize).checked_sub(1);
    match index.and_then(|index| runs.into_iter().nth(index)) {
        Some(run) => Ok(vec![run]),
        None if count == 1 => bail!("{path} holds a single run; leave out --run."),
        None => bail!("{path} holds {count} runs; give --run a number from 1 to {count}."),
    }
}
