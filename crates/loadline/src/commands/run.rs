//! `loadline run`, and `loadline` alone.

use crate::closing::Grounds;
use crate::exit::Exit;
use crate::flags::run::judgement::Trust;
use crate::floor;
use crate::interrupt::{Interrupts, Manner};
use crate::invocation::{Format, Invocation, Output, Sink};
use crate::observers::RunObservers;
use crate::publish::{publish, publish_series};
use anyhow::{Context, Result, bail};
use loadline_page::Heat;
use loadline_record::{Ended, ErrorKind, Failures, Floor, Summary};
use loadline_runner::preflight::Reserved;
use loadline_runner::{
    Commands, Common, Conducted, Planned, Prints, SeriesResult, Setup, conduct, conduct_series,
    repeats, workload,
};
use loadline_verdict::{CheckOutcome, CheckResult, RunResult, evaluate_together, is_whole};
use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Runs a plan, once or several times, and reports what came of it.
pub(crate) fn run(invocation: Invocation) -> Result<Exit> {
    match invocation.repeat {
        None | Some(1) => run_once(&invocation),
        Some(count) => run_repeatedly(&invocation, count),
    }
}

fn run_repeatedly(invocation: &Invocation, count: u32) -> Result<Exit> {
    try_outputs(&invocation.outputs)?;
    let (series, heats) = run_series(repeats(&invocation.plan, count), invocation)?;
    let (outputs, style) = (&invocation.outputs, invocation.style());
    publish_series(outputs, &style, &series.runs, &heats)?;
    let exit = exit_of_series(&series.runs, invocation.trust);
    end_telling(series, exit, invocation.trust)
}

/// Makes the runs of a series, saved and shown as the invocation says; also the response times of
/// each over time, if a page shows them.
pub(crate) fn run_series(
    series: Vec<Planned>,
    invocation: &Invocation,
) -> Result<(SeriesResult, Vec<Heat>)> {
    let common = Common {
        watch: &invocation.watch,
        floor: floor_of(invocation)?,
        prints: prints(&invocation.outputs),
    };
    let commands = Commands::default();
    let _interrupts =
        Interrupts::watch(Manner::Gently, &commands).context("signals can't be watched")?;
    let mut observers = RunObservers::new(invocation.progress)
        .save(invocation.save.as_deref())
        .heat_maps(has_page(&invocation.outputs));
    let result = conduct_series(series, &common, &commands, &mut observers.all())?;
    Ok((result, observers.into_heat_maps()))
}

fn floor_of(invocation: &Invocation) -> Result<Option<Floor>> {
    match invocation.floor {
        true => floor::before_run(&invocation.plan),
        false => Ok(None),
    }
}

/// Where a script prints: a report that a program reads from stdout stays alone there.
pub(crate) fn prints(outputs: &[Output]) -> Prints {
    let for_programs = |output: &Output| output.to == Sink::Stdout && output.format != Format::Text;
    if outputs.iter().any(for_programs) {
        Prints::Stderr
    } else {
        Prints::Stdout
    }
}

/// How a series ends the command, if its runs by themselves would end it so.
pub(crate) fn end(series: SeriesResult, exit: Exit) -> Result<Exit> {
    match series.trouble {
        Some(trouble) => Err(trouble.into()),
        None if series.interrupted => Ok(Exit::Interrupted),
        None => Ok(exit),
    }
}

/// As [`end`], and says on stderr why it ends so.
pub(crate) fn end_telling(series: SeriesResult, exit: Exit, trust: Trust) -> Result<Exit> {
    if series.trouble.is_none() {
        let exit = match series.interrupted {
            true => Exit::Interrupted,
            false => exit,
        };
        grounds_of_series(&series.runs, trust).tell(exit);
    }
    end(series, exit)
}

/// What the exit code of a series is made of.
pub(crate) fn grounds_of_series(runs: &[RunResult], trust: Trust) -> Grounds<'_> {
    let numbered = runs.iter().enumerate();
    Grounds {
        runs: numbered
            .map(|(index, run)| (format!("run {}: ", index + 1), run))
            .collect(),
        checks: sides(runs)
            .iter()
            .map(|(side, runs)| {
                let name = side.map_or_else(String::new, |side| format!("{side} "));
                (name, checks_of_side(runs))
            })
            .collect(),
        trust,
    }
}

/// The runs of a series by their sides; repeats are all of one.
fn sides(runs: &[RunResult]) -> BTreeMap<Option<&str>, Vec<&RunResult>> {
    let mut sides: BTreeMap<Option<&str>, Vec<&RunResult>> = BTreeMap::new();
    for run in runs {
        let role = run.summary.role.as_ref();
        let side = role.and_then(|role| role.name.as_deref());
        sides.entry(side).or_default().push(run);
    }
    sides
}

/// The checks, held against all whole runs of a side together.
fn checks_of_side(runs: &[&RunResult]) -> Vec<CheckResult> {
    let whole: Vec<&Summary> = runs
        .iter()
        .map(|run| &run.summary)
        .filter(|run| is_whole(run))
        .collect();
    match whole.first() {
        Some(first) => evaluate_together(&first.plan.checks, &whole),
        None => Vec::new(),
    }
}

/// How a series ends the command: as the run that went worst, but for the checks, which look at all
/// whole runs of one side together, or at all repeats.
pub(crate) fn exit_of_series(runs: &[RunResult], trust: Trust) -> Exit {
    let sides = sides(runs);
    let exits = sides.values().map(|runs| exit_of_side(runs, trust));
    exits
        .max_by_key(|exit| exit.severity())
        .unwrap_or(Exit::Interrupted)
}

fn exit_of_side(runs: &[&RunResult], trust: Trust) -> Exit {
    let checks = checks_of_side(runs);
    let exits = runs.iter().map(|run| exit(run, &checks, trust));
    exits
        .max_by_key(|exit| exit.severity())
        .unwrap_or(Exit::Interrupted)
}

fn run_once(invocation: &Invocation) -> Result<Exit> {
    try_outputs(&invocation.outputs)?;
    let plan = &invocation.plan;
    let setup = Setup {
        watch: Some(&invocation.watch),
        floor: floor_of(invocation)?,
        ..Setup::of(plan)
    };
    let workload = workload(plan, prints(&invocation.outputs))?;
    let mut observers = RunObservers::new(invocation.progress)
        .save(invocation.save.as_deref())
        .log(invocation.log.as_deref())
        .heat_maps(has_page(&invocation.outputs));
    let Conducted { result, trouble } = {
        let commands = Commands::default();
        let _interrupts =
            Interrupts::watch(Manner::Gently, &commands).context("signals can't be watched")?;
        conduct(&setup, workload.as_ref(), &commands, &mut observers.all())?
    };
    workload.flush();
    let heat = observers.into_heat_maps().pop().unwrap_or_default();
    publish(&invocation.outputs, &invocation.style(), &result, &heat)?;
    workload.conclude(&result.summary)?;
    match trouble {
        Some(trouble) => Err(trouble.into()),
        None => {
            let exit = exit(&result, &result.checks, invocation.trust);
            let exit = answered(exit, &result.summary)?;
            let grounds = Grounds {
                runs: vec![(String::new(), &result)],
                checks: vec![(String::new(), result.checks.clone())],
                trust: invocation.trust,
            };
            grounds.tell(exit);
            Ok(exit)
        }
    }
}

/// A run without one answer ends in a sentence, which no `-q` takes away.
fn answered(exit: Exit, summary: &Summary) -> Result<Exit> {
    let threw = matches!(summary.ended, Ended::Threw(_));
    if exit != Exit::Failed || threw {
        return Ok(exit);
    }
    bail!(unanswered(summary))
}

/// That nothing was answered, and why.
pub(crate) fn unanswered(summary: &Summary) -> String {
    format!(
        "not one request was answered{}",
        why_unanswered(&summary.total.errors)
    )
}

/// What the most failures were, after the words that say that nothing was answered.
fn why_unanswered(errors: &BTreeMap<ErrorKind, Failures>) -> String {
    match errors.iter().max_by_key(|(_, failures)| failures.count) {
        Some((kind, failures)) if failures.example.is_empty() => {
            format!("; the most frequent error is `{}`", kind.name())
        }
        Some((_, failures)) => format!(": {}", failures.example),
        None => " in this time; give the run a longer --duration".to_owned(),
    }
}

/// Whether one of them is a page.
pub(crate) fn has_page(outputs: &[Output]) -> bool {
    outputs.iter().any(|output| output.format == Format::Html)
}

/// Opens the files of the reports before anything is sent.
pub(crate) fn try_outputs(outputs: &[Output]) -> Result<()> {
    if has_page(outputs) {
        loadline_page::ready()?;
    }
    for output in outputs {
        if let Sink::File(path) = &output.to
            && !is_pipe(path)
        {
            drop(Reserved::open(path)?);
        }
    }
    Ok(())
}

/// A named pipe must be opened only once: its reader takes our closing it for the end.
fn is_pipe(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// How a run ends the command.
pub(crate) fn exit(run: &RunResult, checks: &[CheckResult], trust: Trust) -> Exit {
    match run.summary.ended {
        Ended::Interrupted => Exit::Interrupted,
        Ended::Aborted(_) => Exit::CheckFailed,
        Ended::Threw(_) | Ended::Failed(_) => Exit::Failed,
        // Not one answer: there was no measurement.
        _ if run.summary.total.counts.answered == 0 => Exit::Failed,
        _ if !trust.believes(run.grade()) => Exit::Invalid,
        _ => exit_of_checks(checks),
    }
}

/// A check that is broken fails the command, whatever is not known of the others.
fn exit_of_checks(checks: &[CheckResult]) -> Exit {
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    match () {
        () if any(CheckOutcome::Broken) => Exit::CheckFailed,
        () if any(CheckOutcome::NotKnown) => Exit::NotKnown,
        () => Exit::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_stay_out_of_what_programs_read() {
        let output = |text: &str| text.parse::<Output>().expect("an output");
        assert_eq!(prints(&[output("text")]), Prints::Stdout);
        assert_eq!(
            prints(&[output("text"), output("json=file")]),
            Prints::Stdout
        );
        assert_eq!(prints(&[output("json")]), Prints::Stderr);
        assert_eq!(prints(&[output("csv=-")]), Prints::Stderr);
        assert_eq!(prints(&[]), Prints::Stdout);
    }

    #[test]
    fn a_run_without_an_answer_says_why_even_where_no_failure_told() {
        let failed = |count, example: &str| Failures {
            count,
            example: example.to_owned(),
        };
        let mut errors = BTreeMap::new();
        assert!(why_unanswered(&errors).starts_with(" in the time there was; give"));
        errors.insert(ErrorKind::Read, failed(2, ""));
        assert_eq!(
            why_unanswered(&errors),
            "; the most frequent error is `read`"
        );
        errors.insert(ErrorKind::Timeout, failed(3, "too late"));
        assert_eq!(why_unanswered(&errors), ": too late");
    }
}
