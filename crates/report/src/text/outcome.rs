//! The failures, the results of the checks, and the reasons to doubt them.

use super::Canvas;
use crate::{layout, quantity, undecided};
use loadline_findings::failure_advice;
use loadline_record::{ErrorKind, Failures, Snapshot, Summary};
use loadline_units as units;
use loadline_verdict::{Cause, CheckOutcome, CheckResult, Findings, Grade, RunResult};
use std::cmp::Reverse;

/// Columns of a failure's kind, at least.
const NAMES: usize = 8;
/// Columns of a failure's example, at most.
const EXAMPLE: usize = 200;
/// Columns of the result of a check, at least.
const WORD: usize = 6;
/// Columns of a check's condition, at most.
const CONDITION: usize = 40;
/// Above this percentile few samples are no surprise.
const FAR_TAIL: f64 = 99.0;

/// Returns the lines that a reader must see before any time if most requests were not served: such
/// times can look excellent, because an error is often quick to answer.
pub(super) fn alarm(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let text = unserved(summary).into_iter();
    let lines = text.flat_map(|text| layout::hanging("  ! ", &text, canvas.width));
    lines.map(|line| canvas.style.bad(&line)).collect()
}

/// Returns a sentence that most requests were not served, if so.
pub(super) fn unserved(summary: &Summary) -> Option<String> {
    let (total, counts) = (&summary.total, &summary.total.counts);
    let other = total.accepted_with(|status| status / 100 != 2);
    let (unserved, ended) = (counts.failures() + other, counts.ended());
    if unserved * 2 <= ended {
        return None;
    }
    let were = if unserved == 1 { "was" } else { "were" };
    Some(format!(
        "{} of {} ({}) {were} not served: {} failed, {} had a status other than 2xx.{}",
        units::count(unserved),
        units::counted(ended, "request"),
        units::share(unserved as f64 / ended as f64),
        units::count(counts.failures()),
        units::count(other),
        times_are(total),
    ))
}

/// Says whose times a report has: those of responses, some of which served nobody, and of timeouts.
fn times_are(total: &Snapshot) -> String {
    let timeouts = total.errors.get(&ErrorKind::Timeout);
    let timeouts = timeouts.map_or(0, |failures| failures.count);
    let answered = total.counts.answered;
    let other = total.accepted_with(|status| status / 100 != 2);
    let (useless, timed) = (
        other + total.counts.rejected + timeouts,
        answered + timeouts,
    );
    let responses = units::counted(answered, "response");
    match timeouts {
        _ if timed == 0 => String::new(),
        _ if useless * 2 > timed => " Most of the times below are theirs.".to_owned(),
        0 => format!(" The times below are those of {responses}."),
        _ => format!(
            " The times below are those of {responses} and {}.",
            units::counted(timeouts, "timeout")
        ),
    }
}

/// Failures by kind, the most frequent first, each with an example and what to do.
pub(super) fn errors(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let errors = by_count(summary);
    if errors.is_empty() {
        return Vec::new();
    }
    let counts = errors
        .iter()
        .map(|(_, failures)| units::count(failures.count).len());
    let counts = counts.max().unwrap_or(0);
    let names = errors.iter().map(|(kind, _)| layout::width(kind.name()));
    let names = names.max().unwrap_or(0).max(NAMES);
    let mut lines = vec![canvas.heading("Errors", "")];
    for (kind, failures) in errors {
        let timeout = summary.plan.connection.timeout;
        let advice = failure_advice(*kind, &failures.example, timeout);
        let name = layout::left(kind.name(), names);
        lines.extend(error(&name, failures, &advice, counts, canvas));
    }
    lines
}

/// The kinds of failures, the most frequent first.
pub(super) fn by_count(summary: &Summary) -> Vec<(&ErrorKind, &Failures)> {
    let mut errors: Vec<_> = summary.total.errors.iter().collect();
    errors.sort_by_key(|(_, failures)| Reverse(failures.count));
    errors
}

fn error(
    name: &str,
    failures: &Failures,
    advice: &str,
    counts: usize,
    canvas: Canvas,
) -> Vec<String> {
    let count = layout::right(&units::count(failures.count), counts);
    let head = format!("  {name}  {count}  ");
    let texts = [example(failures), Some(advice.to_owned())]
        .into_iter()
        .flatten();
    let indent = layout::blanks(head.len());
    let lines = texts.flat_map(|text| layout::hanging(&indent, &text, canvas.width));
    let mut lines: Vec<String> = lines.collect();
    if let Some(first) = lines.first_mut() {
        let head = format!("  {}  {count}  ", canvas.style.bad(name));
        first.replace_range(..indent.len(), &head);
    }
    lines
}

/// Returns an example of these failures, if one is known.
pub(super) fn example(failures: &Failures) -> Option<String> {
    let example = layout::cut(&layout::harmless(&failures.example), EXAMPLE);
    (!example.is_empty()).then(|| format!("e.g. {example}"))
}

/// Returns the results of a run's checks, and those that failed because of the beginning that was
/// left out.
pub(super) fn checks_of_run(run: &RunResult, canvas: Canvas) -> Vec<String> {
    let mut lines = checks(&run.checks, canvas);
    let broken = failed_by_beginning(run).into_iter();
    lines.extend(broken.flat_map(|text| layout::hanging("  ", &text, canvas.width)));
    lines
}

/// Returns the checks that failed because of the beginning that was left out, if there are any.
pub(super) fn failed_by_beginning(run: &RunResult) -> Option<String> {
    let broken = &run.failed_by_beginning;
    (!broken.is_empty()).then(|| {
        format!(
            "{}: broken with the transient that was left out, and ok without it. A check must \
             hold with it, too; use --warmup TIME if it is a warm-up.",
            broken.join(", ")
        )
    })
}

/// Each check with what was measured.
pub(super) fn checks(checks: &[CheckResult], canvas: Canvas) -> Vec<String> {
    checks_of_each(&[("", checks)], canvas)
}

/// The same of several, each check with the name of what it was evaluated on.
pub(super) fn checks_of_each(of_each: &[(&str, &[CheckResult])], canvas: Canvas) -> Vec<String> {
    let all = || of_each.iter().flat_map(|(_, checks)| checks.iter());
    let Some(texts) = all().map(|check| layout::width(&check.text)).max() else {
        return Vec::new();
    };
    let words = all().map(|check| check.outcome.word().len()).max();
    let words = words.unwrap_or(0).max(WORD);
    let mut lines = vec![canvas.heading("Checks", "")];
    for (name, checks) in of_each {
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("  {name}")
        };
        let shown = checks
            .iter()
            .map(|result| (result, check(result, words, texts.min(CONDITION), canvas)));
        for (result, line) in shown {
            lines.push(name.clone() + &line);
            let indent = layout::blanks(name.len() + words + 4);
            let why = undecided(result).into_iter();
            lines.extend(why.flat_map(|why| layout::hanging(&indent, &why, canvas.width)));
        }
    }
    lines
}

fn check(check: &CheckResult, words: usize, texts: usize, canvas: Canvas) -> String {
    let nothing = || "no samples".to_owned();
    let actual = quantity::actual(check).unwrap_or_else(nothing);
    let text = layout::left(&layout::cut(&check.text, texts), texts);
    let word = layout::left(check.outcome.word(), words);
    let painted = match check.outcome {
        CheckOutcome::Passed => canvas.style.good(&word),
        CheckOutcome::Failed => canvas.style.bad(&word),
        CheckOutcome::Undecided => canvas.style.doubtful(&word),
    };
    format!("  {painted}  {text}  {actual}")
}

/// Returns the grade of the result, and the reasons to doubt it.
pub(super) fn validity(run: &RunResult, canvas: Canvas) -> Vec<String> {
    let findings = &run.findings;
    let heading = canvas.heading("Validity", "") + ": ";
    let grade = grade(run, canvas);
    let mut lines = vec![heading + &grade];
    if let Some(notes) = validity_notes(run) {
        let first = format!("Validity: {} ", findings.grade().name());
        let text = layout::hanging(&first, &format!("({notes})"), canvas.width);
        let rest = text[0].strip_prefix(&first).unwrap_or_default().to_owned();
        lines[0].push_str(&format!(" {rest}"));
        lines.extend(text.into_iter().skip(1));
    }
    for sentence in findings.validity_sentences() {
        lines.extend(layout::hanging("  - ", &sentence, canvas.width));
    }
    lines
}

/// Returns the text in brackets after the grade.
pub(super) fn validity_notes(run: &RunResult) -> Option<String> {
    let notes = [valid_but(run), run.findings.notes()];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Returns a note that a valid result is not necessarily a good one: validity means that the
/// generator did its part.
fn valid_but(run: &RunResult) -> Option<String> {
    let is_but = run.grade() == Grade::Valid && run.many_failed();
    is_but.then(|| {
        "Loadline did not distort the figures; read the warnings about the responses".to_owned()
    })
}

fn grade(run: &RunResult, canvas: Canvas) -> String {
    let grade = run.grade();
    match grade {
        Grade::Valid if run.many_failed() => grade.name().to_owned(),
        Grade::Valid => canvas.style.good(grade.name()),
        Grade::Suspect => canvas.style.doubtful(grade.name()),
        Grade::Invalid => canvas.style.bad(grade.name()),
    }
}

/// The sentence before all figures where the plan, and not the target, kept requests waiting.
pub(super) fn plan_limit(findings: &Findings, canvas: Canvas) -> Vec<String> {
    let text = plan_limit_sentence(findings).into_iter();
    let lines = text.flat_map(|text| layout::hanging("  ! ", &text, canvas.width));
    lines.map(|line| canvas.style.doubtful(&line)).collect()
}

pub(super) fn plan_limit_sentence(findings: &Findings) -> Option<String> {
    let limit = |cause: &Cause| matches!(cause, Cause::PlanLimit { .. });
    let found = findings.list.iter().find(|found| limit(&found.cause));
    found.map(|found| found.cause.sentence())
}

/// Returns the facts that a reader needs before the figures. A percentile in the far tail has its
/// requirement beside it; a warning in every short report would soon not be read.
pub(super) fn warnings(run: &RunResult, percentiles: &[f64], canvas: Canvas) -> Vec<String> {
    let mut warnings = run.warnings_for(&near(percentiles)).peekable();
    if warnings.peek().is_none() {
        return Vec::new();
    }
    let mut lines = vec![canvas.heading("Warnings", "")];
    for warning in warnings {
        let text = layout::harmless(&warning.cause.sentence());
        let text = layout::hanging("  ! ", &text, canvas.width);
        lines.extend(
            text.iter()
                .map(|line| line.replacen("  ! ", &canvas.style.doubtful("  ! "), 1)),
        );
    }
    lines
}

/// Returns those of these percentiles that are not in the far tail.
pub(super) fn near(percentiles: &[f64]) -> Vec<f64> {
    let near = percentiles.iter().copied();
    near.filter(|percentile| *percentile <= FAR_TAIL).collect()
}
