//! The end of a command that made runs: its exit code, and the line on stderr that explains a code
//! other than 0. `-q` does not suppress that line: a job of continuous integration that fails must
//! not be silent.

use crate::exit::{Exit, exit_of_run, sentence};
use crate::flags::run::judgement::Trust;
use crate::terminal::print_line;
use anyhow::{Result, bail};
use loadline_plan::{Check, Metric};
use loadline_record::{Ended, ErrorKind, Failures, Summary};
use loadline_report::{checks_that_are, grade_and_reason, undecided};
use loadline_runner::{SeriesResult, Trouble};
use loadline_units as units;
use loadline_verdict::{CheckOutcome, CheckResult, RunResult, sides};
use std::collections::BTreeMap;

/// Returns the exit of the command after a single run, and prints the reason on stderr.
///
/// # Errors
/// If not all of it could be kept, or nothing was answered: a sentence that `-q` does not suppress.
pub(crate) fn end_of_run(run: &RunResult, trouble: Option<Trouble>, trust: Trust) -> Result<Exit> {
    if let Some(trouble) = trouble {
        return Err(trouble.into());
    }
    let exit = exit_of_run(run, &run.checks, trust);
    let threw = matches!(run.summary.ended, Ended::Threw(_));
    if exit == Exit::Failed && !threw {
        bail!(unanswered(&run.summary));
    }
    Grounds::of_run(run, trust).print_reason(exit);
    Ok(exit)
}

/// Hands `trouble` on if the result was published. If not, the command ends with that error, so
/// `trouble` is printed before it.
///
/// # Errors
/// That of publishing.
pub(crate) fn print_trouble_before(
    published: Result<()>,
    trouble: Option<Trouble>,
) -> Result<Option<Trouble>> {
    match published {
        Ok(()) => Ok(trouble),
        Err(error) => {
            if let Some(trouble) = trouble {
                print_reason(&sentence(&trouble.into()));
            }
            Err(error)
        }
    }
}

/// Returns the exit of the command after a series, if the runs by themselves would end it so;
/// prints the reason on stderr.
///
/// # Errors
/// If a run could not be made, or not all could be kept.
pub(crate) fn end_of_series(series: SeriesResult, exit: Exit, trust: Trust) -> Result<Exit> {
    let (interrupted, runs) = (series.interrupted, &series.runs);
    if series.trouble.is_none() {
        let exit = if interrupted { Exit::Interrupted } else { exit };
        Grounds::of_series(runs, trust).print_reason(exit);
    }
    end_silently(series, exit)
}

/// Does the same as [`end_of_series`], if there is nothing to print.
pub(crate) fn end_silently(series: SeriesResult, exit: Exit) -> Result<Exit> {
    match series.trouble {
        Some(trouble) => Err(trouble.into()),
        None if series.interrupted => Ok(Exit::Interrupted),
        None => Ok(exit),
    }
}

/// The grounds of a command's exit code: runs with the checks that were evaluated on them.
pub(crate) struct Grounds<'a> {
    /// The runs, each with a name where there are several.
    pub(crate) runs: Vec<(String, &'a RunResult)>,
    /// The results of the checks, and whose they are where there are several.
    pub(crate) checks: Vec<(String, Vec<CheckResult>)>,
    /// The lowest grade of results that is accepted.
    pub(crate) trust: Trust,
}

impl<'a> Grounds<'a> {
    /// Returns the grounds of a single run.
    pub(crate) fn of_run(run: &'a RunResult, trust: Trust) -> Self {
        Grounds {
            runs: vec![(String::new(), run)],
            checks: vec![(String::new(), run.checks.clone())],
            trust,
        }
    }

    /// Returns the grounds of a series: the checks are those of each side.
    pub(crate) fn of_series(runs: &'a [RunResult], trust: Trust) -> Self {
        let numbered = runs.iter().enumerate();
        let named = sides(runs).into_iter().map(|side| {
            let name = side
                .name
                .map_or_else(String::new, |name| format!("{name} "));
            (name, side.checks)
        });
        Grounds {
            runs: numbered
                .map(|(index, run)| (format!("run {}: ", index + 1), run))
                .collect(),
            checks: named.collect(),
            trust,
        }
    }

    /// Prints in one line the reason for the exit. The text of an `Err` has the reason already.
    pub(crate) fn print_reason(&self, exit: Exit) {
        if let Some(why) = self.why(exit) {
            print_reason(&why);
        }
    }

    fn why(&self, exit: Exit) -> Option<String> {
        match exit {
            // The rules that a comparison can't decide are told one by one.
            Exit::Good | Exit::CannotTell => None,
            Exit::Interrupted => {
                Some("interrupted; the report covers what was measured until then.".to_owned())
            }
            Exit::Failed => self.failed().or_else(|| self.unanswered()),
            Exit::CheckFailed => self.aborted().or_else(|| {
                Some(format!(
                    "{}.",
                    self.checks(CheckOutcome::Failed, "check failed")?
                ))
            }),
            Exit::NotKnown => Some(format!(
                "{}: {}",
                self.checks(CheckOutcome::Undecided, "check undecided")?,
                self.undecided()?
            )),
            Exit::Invalid => self.grade_and_reason(),
        }
    }

    fn failed(&self) -> Option<String> {
        self.runs
            .iter()
            .find_map(|(_, run)| match &run.summary.ended {
                Ended::Threw(error) => Some(format!("the script raised an error: {error}")),
                Ended::Failed(error) => Some(error.clone()),
                Ended::Duration
                | Ended::Requests
                | Ended::Stages
                | Ended::Precise
                | Ended::Decided
                | Ended::Interrupted
                | Ended::Aborted(_)
                | Ended::Unknown => None,
            })
    }

    /// A run that ended as planned, without one response.
    fn unanswered(&self) -> Option<String> {
        let is_unanswered = |run: &RunResult| run.summary.total.counts.answered == 0;
        let (name, run) = self.runs.iter().find(|(_, run)| is_unanswered(run))?;
        Some(format!("{name}{}", unanswered(&run.summary)))
    }

    fn aborted(&self) -> Option<String> {
        self.runs
            .iter()
            .find_map(|(name, run)| match &run.summary.ended {
                Ended::Aborted(check) => {
                    let by = match run.summary.aborts_on(check) {
                        true => "--abort-on",
                        false => "abortOnFail",
                    };
                    Some(format!("{name}aborted: {check} failed ({by})."))
                }
                Ended::Duration
                | Ended::Requests
                | Ended::Stages
                | Ended::Precise
                | Ended::Decided
                | Ended::Interrupted
                | Ended::Threw(_)
                | Ended::Failed(_)
                | Ended::Unknown => None,
            })
    }

    fn checks(&self, outcome: CheckOutcome, verb: &str) -> Option<String> {
        let each = self.checks.iter().filter_map(|(name, checks)| {
            let checks = checks_that_are(outcome, checks)?;
            Some(format!("{name}{verb}: {checks}"))
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| each.join("; "))
    }

    /// Returns the reason why the first undecided check can't be decided.
    fn undecided(&self) -> Option<String> {
        let mut checks = self.checks.iter().flat_map(|(_, checks)| checks);
        checks.find_map(undecided)
    }

    fn grade_and_reason(&self) -> Option<String> {
        let is_rejected = |run: &RunResult| !self.trust.believes(run.grade());
        let (name, run) = self.runs.iter().find(|(_, run)| is_rejected(run))?;
        let strict = if self.trust.strict { " (--strict)" } else { "" };
        Some(format!(
            "{name}the result{strict} is {}",
            grade_and_reason(run)
        ))
    }
}

/// Prints that many requests of a run failed that succeeds all the same, because no check applies
/// to them: nothing else of it is printed.
pub(crate) fn print_failures(run: &RunResult) {
    if let Some(text) = many_failed(&run.summary) {
        print_reason(&text);
    }
}

/// The sentence where more than one in a hundred requests failed or had another status than 2xx.
fn many_failed(summary: &Summary) -> Option<String> {
    let (total, counts) = (&summary.total, &summary.total.counts);
    let ended = counts.ended();
    let others = total.accepted_with(|status| status / 100 != 2);
    let is_many = (others + counts.failures()).saturating_mul(100) > ended;
    let looks_at_them = |check: &Check| {
        matches!(
            check.metric,
            Metric::Errors | Metric::Non2xx | Metric::Statuses(_)
        )
    };
    let is_judged = summary.plan.checks.iter().any(looks_at_them);
    (is_many && !is_judged).then(|| {
        format!(
            "of {} requests {} failed and {} had a status other than 2xx; --check errors<1% and \
             non2xx<1% make the command fail then.",
            units::count(ended),
            units::count(counts.failures()),
            units::count(others),
        )
    })
}

/// Prints the reason why a command ends with an exit code other than 0.
pub(crate) fn print_reason(why: &str) {
    print_line(&format!("loadline: {why}"));
}

/// Returns a sentence that nothing was answered, with the reason.
fn unanswered(summary: &Summary) -> String {
    format!(
        "not one request was answered{}",
        match (summary.plan.scripts().next(), summary.total.counts.sent) {
            (Some(_), 0) => ": the script sent none".to_owned(),
            _ => why_unanswered(&summary.total.errors),
        }
    )
}

/// Returns the most frequent failure, after the words that nothing was answered.
fn why_unanswered(errors: &BTreeMap<ErrorKind, Failures>) -> String {
    match errors.iter().max_by_key(|(_, failures)| failures.count) {
        Some((kind, failures)) if failures.example.is_empty() => {
            format!("; the most frequent error is `{}`", kind.name())
        }
        Some((_, failures)) => format!(": {}", failures.example),
        None => " in this time; give the run a longer --duration".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{self, run::RunFlags};
    use crate::resolve::{RunEnvironment, resolve};
    use loadline_record::{Environment, Header, Summary, Unfinished};
    use std::time::SystemTime;

    fn ended(ended: Ended) -> RunResult {
        let words = ["-d", "1s", "http://127.0.0.1:1/"];
        let flags: RunFlags =
            flags::parse_planned(words.into_iter().map(Into::into)).expect("a run");
        let surroundings = RunEnvironment {
            cores: 1,
            open_files: 4_096,
            seed: 7,
            stdin: &mut std::io::empty(),
        };
        let plan = resolve(flags, surroundings).expect("a plan").plan;
        let header = Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH);
        let mut summary = Summary::new(header);
        summary.finish(ended, Unfinished::default());
        RunResult::new(summary)
    }

    #[test]
    fn a_run_that_failed_says_why_when_it_is_reported_again() {
        let why = |run: &RunResult| {
            let grounds = Grounds {
                runs: vec![(String::new(), run)],
                checks: Vec::new(),
                trust: Trust {
                    strict: false,
                    allow_invalid: false,
                },
            };
            grounds.why(Exit::Failed)
        };
        let lost = ended(Ended::Failed("worker 1 panicked.".to_owned()));
        assert_eq!(why(&lost).as_deref(), Some("worker 1 panicked."));
        let threw = ended(Ended::Threw("line 7".to_owned()));
        assert_eq!(
            why(&threw).as_deref(),
            Some("the script raised an error: line 7")
        );
    }

    #[test]
    fn a_quiet_run_with_many_failures_is_not_silent() {
        let mut summary = ended(Ended::Duration).summary;
        summary.total.counts.answered = 1_000;
        summary.total.statuses.insert(200, 990);
        summary.total.statuses.insert(404, 10);
        assert_eq!(many_failed(&summary), None);
        summary.total.statuses.insert(404, 11);
        let sentence = many_failed(&summary).expect("a sentence");
        let start = format!("of {} requests 0 failed and 11 had a", units::count(1_000));
        assert!(sentence.starts_with(&start), "{sentence}");
        summary.plan.checks = vec!["non2xx<50%".parse().expect("a check")];
        assert_eq!(many_failed(&summary), None);
    }

    #[test]
    fn a_run_without_an_answer_says_why_even_where_no_failure_told() {
        let failed = |count, example: &str| Failures {
            count,
            example: example.to_owned(),
        };
        let mut errors = BTreeMap::new();
        assert!(why_unanswered(&errors).starts_with(" in this time; give"));
        errors.insert(ErrorKind::Read, failed(2, ""));
        assert_eq!(
            why_unanswered(&errors),
            "; the most frequent error is `read`"
        );
        errors.insert(ErrorKind::Timeout, failed(3, "too late"));
        assert_eq!(why_unanswered(&errors), ": too late");
    }
}
