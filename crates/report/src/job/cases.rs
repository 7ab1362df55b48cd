//! The cases in a job's report, each with its outcome.

use super::JobReport;
use crate::closing::grade_and_reason;
use crate::comparison::{name, tolerance_measured, tolerance_sentence, tolerance_word};
use crate::{ComparedFiles, layout, quantity, undecided};
use loadline_findings::failure_advice;
use loadline_plan::{Check, Metric};
use loadline_record::{DeclaredCheck, Ended, Summary};
use loadline_units as units;
use loadline_verdict::{CheckOutcome, CheckResult, RunResult, Standing, ToleranceResult, sides};

/// The group of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suite {
    /// A condition on the result.
    Checks,
    /// A condition of k6's.
    Thresholds,
    /// A rule on how far a figure may be from a baseline's.
    Regressions,
    /// The validity of a run.
    Validity,
}

impl Suite {
    /// All groups, in the order of the report.
    pub(super) const ALL: [Suite; 4] = [
        Suite::Checks,
        Suite::Thresholds,
        Suite::Regressions,
        Suite::Validity,
    ];

    /// Returns the name of the group. Thresholds have the name that k6's own JUnit uses.
    pub(super) fn name(self) -> &'static str {
        match self {
            Suite::Checks => "checks",
            Suite::Thresholds => "k6 thresholds",
            Suite::Regressions => "regressions",
            Suite::Validity => "validity",
        }
    }
}

/// The outcome of a case; later ones are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// It is as it should be.
    Passed,
    /// The measurement does not decide it.
    Undecided,
    /// It is not.
    Failed,
    /// There is nothing to believe.
    Invalid,
}

impl Outcome {
    /// Its word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Undecided => "undecided",
            Outcome::Failed => "failed",
            Outcome::Invalid => "invalid",
        }
    }
}

impl From<CheckOutcome> for Outcome {
    fn from(outcome: CheckOutcome) -> Outcome {
        match outcome {
            CheckOutcome::Passed => Outcome::Passed,
            CheckOutcome::Failed => Outcome::Failed,
            CheckOutcome::Undecided => Outcome::Undecided,
        }
    }
}

/// One thing that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// The group of the case.
    pub(super) suite: Suite,
    /// The condition: `p99<50ms`.
    pub(super) name: String,
    /// The outcome.
    pub(super) outcome: Outcome,
    /// The measured value, in few words; may be empty.
    pub(super) measured: String,
    /// The finding, in a sentence; empty if the case passed.
    pub(super) found: String,
    /// The advice, in a sentence; may be empty.
    pub(super) next: String,
}

impl Case {
    fn new(suite: Suite, name: String, outcome: Outcome, measured: String) -> Case {
        Case {
            suite,
            name: layout::harmless(&name),
            outcome,
            measured,
            found: String::new(),
            next: String::new(),
        }
    }

    fn with_advice(self, found: &str, next: &str) -> Case {
        Case {
            found: layout::harmless(found),
            next: layout::harmless(next),
            ..self
        }
    }

    /// Returns the finding and the advice, in one line.
    pub(super) fn sentence(&self) -> String {
        let parts = [&self.found, &self.next];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// All cases of a report, in the order of their suites.
pub(super) fn of(report: &JobReport<'_>) -> Vec<Case> {
    let mut cases = checks(report.runs);
    cases.extend(declared(report));
    cases.extend(report.runs.iter().filter_map(aborted));
    cases.extend(report.thresholds.iter().map(threshold));
    cases.extend(report.compared.into_iter().flat_map(regressions));
    let is_accepted = |run: &RunResult| run.grade() <= report.worst_accepted;
    let runs = report.runs;
    cases.extend((runs.iter().zip(1..)).map(|(run, number)| {
        let name = match runs {
            [_] => "the run".to_owned(),
            _ => format!("run {number}"),
        };
        validity(run, name, is_accepted(run))
    }));
    if let Some(compared) = report.compared {
        let others = compared.each();
        let others = others.filter(|(side, _)| *side == "A" || runs.is_empty());
        cases.extend(others.map(|(side, run)| {
            let number = run
                .number
                .map_or_else(String::new, |n| format!(", run {n}"));
            let name = format!("{} ({side}){number}", run.file.display());
            validity(run.result, name, is_accepted(run.result))
        }));
    }
    cases
}

fn checks(runs: &[RunResult]) -> Vec<Case> {
    let of_side = sides(runs).into_iter().flat_map(|side| {
        let name = side
            .name
            .map_or_else(String::new, |name| format!("{name}: "));
        let run = side.runs.first().map(|run| &run.summary);
        let cases = side.checks.iter().map(|result| check(&name, result, run));
        cases.collect::<Vec<_>>()
    });
    of_side.collect()
}

/// The conditions that scripts set, without the thresholds that the report has anyway.
fn declared(report: &JobReport<'_>) -> Vec<Case> {
    let is_threshold = |text: &str| {
        let mut thresholds = report.thresholds.iter();
        thresholds.any(|one| format!("{}: {}", one.metric, one.expression) == text)
    };
    let of_run = |run: &RunResult| {
        let declared = run.checks.iter().filter(|one| is_declared(one, run));
        let declared = declared.filter(|one| !is_threshold(&one.text));
        let cases = declared.map(|one| check("", one, Some(&run.summary)));
        cases.collect::<Vec<_>>()
    };
    report.runs.iter().flat_map(of_run).collect()
}

fn is_declared(check: &CheckResult, run: &RunResult) -> bool {
    let mut declared = run.summary.declared.iter();
    declared.any(|one| one.text == check.text)
}

fn check(side: &str, check: &CheckResult, run: Option<&Summary>) -> Case {
    let measured = quantity::actual(check).unwrap_or_else(|| "no samples".to_owned());
    let name = format!("{side}{}", check.text);
    let case = Case::new(Suite::Checks, name, check.outcome.into(), measured.clone());
    match check.outcome {
        CheckOutcome::Passed => case,
        CheckOutcome::Failed => {
            let found = format!(
                "{measured} was measured where {} was asked for.",
                check.text
            );
            case.with_advice(&found, &advice(check, run))
        }
        CheckOutcome::Undecided => {
            let why = undecided(check).unwrap_or_default();
            case.with_advice(
                &format!("Whether {} holds is not known.", check.text),
                &sentence(&why),
            )
        }
    }
}

/// Returns advice for a check that failed.
fn advice(check: &CheckResult, run: Option<&Summary>) -> String {
    let is_declared = |one: &DeclaredCheck| one.text == check.text;
    if run.is_some_and(|run| run.declared.iter().any(is_declared)) {
        return "The summary of the test has the metric's values.".to_owned();
    }
    let metric = check.text.parse::<Check>().map(|check| check.metric);
    let worst = run.and_then(|run| {
        let (kind, failures) = run.total.errors.iter().max_by_key(|(_, all)| all.count)?;
        let timeout = run.plan.connection.timeout;
        Some(failure_advice(*kind, &failures.example, timeout))
    });
    match (metric, worst) {
        (Ok(Metric::Errors), Some(advice)) => advice,
        (Ok(Metric::Non2xx | Metric::Statuses(_)), _) => {
            "Look in the service's log for the requests with these statuses.".to_owned()
        }
        (Ok(Metric::Custom(_)), _) => "Look at what the script counts there.".to_owned(),
        (Ok(Metric::Rate), _) => {
            "Ask for less load, or find out what the service waits for: the full report has its \
             CPU time."
                .to_owned()
        }
        _ => "See when it was slow and with which names: save the run (--save FILE) and write its \
              page with `loadline report FILE --html PAGE`."
            .to_owned(),
    }
}

/// A run that a check ended early.
fn aborted(run: &RunResult) -> Option<Case> {
    let Ended::Aborted(check) = &run.summary.ended else {
        return None;
    };
    let mut checks = run.checks.iter();
    if checks.any(|one| one.text == *check && is_declared(one, run) && !one.estimate_holds) {
        return None;
    }
    let name = match run.summary.aborts_on(check) {
        true => format!("--abort-on {check}"),
        false => format!("abortOnFail {check}"),
    };
    let case = Case::new(Suite::Checks, name, Outcome::Failed, String::new());
    let found = format!("The run was ended early, because {check} failed.");
    Some(case.with_advice(&found, "Solve that first, or ask for less load."))
}

fn threshold(threshold: &super::Threshold) -> Case {
    let outcome = match threshold.holds {
        true => Outcome::Passed,
        false => Outcome::Failed,
    };
    let name = format!("{} - {}", threshold.metric, threshold.expression);
    let case = Case::new(Suite::Thresholds, name, outcome, String::new());
    match threshold.holds {
        true => case,
        false => case.with_advice(
            &format!(
                "The threshold {} of {} was crossed.",
                threshold.expression, threshold.metric
            ),
            "The summary of the test has the metric's values.",
        ),
    }
}

fn regressions(compared: &ComparedFiles<'_>) -> Vec<Case> {
    let slower = compared.slower_fails.then(|| slower(compared));
    let tolerances = compared.tolerances.iter().map(tolerance);
    slower.into_iter().chain(tolerances).collect()
}

/// The advice for a figure that got worse.
const WORSE: &str = "Look for the change that did it; if it is meant, keep a run of this version \
                     as the baseline.";

fn slower(compared: &ComparedFiles<'_>) -> Case {
    let figures = compared.comparison.figures.iter();
    let slower = figures.filter(|figure| figure.standing == Standing::Slower);
    let names: Vec<String> = slower.map(|figure| name(figure.figure)).collect();
    let (name, names) = ("slower".to_owned(), names.join(", "));
    match names.is_empty() {
        true => Case::new(Suite::Regressions, name, Outcome::Passed, String::new()),
        false => Case::new(Suite::Regressions, name, Outcome::Failed, names.clone())
            .with_advice(&format!("It is slower than the baseline ({names})."), WORSE),
    }
}

fn tolerance(result: &ToleranceResult) -> Case {
    let name = result.text.clone();
    let measured = tolerance_measured(result);
    let outcome = Outcome::from(result.outcome);
    let case = Case::new(Suite::Regressions, name, outcome, measured);
    let found = tolerance_sentence(result).unwrap_or_default();
    match result.outcome {
        CheckOutcome::Passed => case,
        CheckOutcome::Failed => case.with_advice(&sentence(&found), WORSE),
        // It ends in what to do.
        CheckOutcome::Undecided => Case {
            measured: format!("{}: {}", tolerance_word(result.outcome), case.measured),
            ..case.with_advice(&sentence(&found), "")
        },
    }
}

fn validity(run: &RunResult, name: String, is_accepted: bool) -> Case {
    let (outcome, found, next) = match (trouble(&run.summary), is_accepted) {
        (Some((found, next)), _) => (Outcome::Invalid, found, next),
        (None, false) => {
            let reason = format!("The result is {}", grade_and_reason(run));
            (Outcome::Invalid, reason, String::new())
        }
        (None, true) => (Outcome::Passed, String::new(), String::new()),
    };
    let measured = match trouble(&run.summary) {
        Some(_) => "no result".to_owned(),
        None => run.grade().name().to_owned(),
    };
    Case::new(Suite::Validity, name, outcome, measured).with_advice(&found, &next)
}

/// Returns the reason why a run has no result, and advice.
fn trouble(run: &Summary) -> Option<(String, String)> {
    let ended = |found: &str, next: &str| Some((found.to_owned(), next.to_owned()));
    match &run.ended {
        Ended::Interrupted => ended("The run was interrupted.", "Run it to its end."),
        Ended::Threw(error) => ended(
            &format!("The script raised an error: {error}"),
            "Correct the script.",
        ),
        Ended::Failed(error) => ended(error, "Run it again."),
        // A check says why.
        Ended::Aborted(_) => None,
        Ended::Duration
        | Ended::Requests
        | Ended::Stages
        | Ended::Precise
        | Ended::Decided
        | Ended::Unknown => (run.total.counts.answered == 0).then(|| unanswered(run)),
    }
}

/// Returns the reason why there is no response, and advice.
fn unanswered(run: &Summary) -> (String, String) {
    let timeout = run.plan.connection.timeout;
    let worst = run.total.errors.iter().max_by_key(|(_, all)| all.count);
    let (example, next) = match worst {
        Some((kind, all)) => {
            let example = match all.example.is_empty() {
                true => format!(": {}.", kind.name()),
                false => format!(": {}", sentence(&all.example)),
            };
            (example, failure_advice(*kind, &all.example, timeout))
        }
        None => (
            ".".to_owned(),
            "Give the run a longer --duration.".to_owned(),
        ),
    };
    let sent = units::counted(run.total.counts.sent, "request");
    (format!("Of {sent} not one was answered{example}"), next)
}

/// It, with a capital at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let text = first.unwrap_or_default() + letters.as_str();
    match text.is_empty() || text.ends_with(['.', '!', '?']) {
        true => text,
        false => text + ".",
    }
}
