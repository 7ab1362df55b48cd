//! The line on stderr that says why a command ends with another exit code than 0. `-q` leaves it: a
//! job of continuous integration that fails must not be silent.

use crate::commands::run::unanswered;
use crate::exit::Exit;
use crate::flags::run::judgement::Trust;
use crate::live::say_line;
use loadline_record::Ended;
use loadline_report::{checks_that_are, grade_and_reason, undecided};
use loadline_verdict::{CheckOutcome, CheckResult, RunResult};

/// What a command's exit code was made of: runs with the checks that were held against them.
pub(crate) struct Grounds<'a> {
    /// The runs, each with a name where there are several.
    pub(crate) runs: Vec<(String, &'a RunResult)>,
    /// The results of the checks, and whose they are where there are several.
    pub(crate) checks: Vec<(String, Vec<CheckResult>)>,
    /// How far results must be believed.
    pub(crate) trust: Trust,
}

impl Grounds<'_> {
    /// Says in one line why the command ends so. An `Err` says why by itself.
    pub(crate) fn tell(&self, exit: Exit) {
        if let Some(why) = self.why(exit) {
            tell(&why);
        }
    }

    fn why(&self, exit: Exit) -> Option<String> {
        match exit {
            Exit::Good | Exit::Of(_) => None,
            Exit::Interrupted => {
                Some("interrupted; the report covers what was measured until then.".to_owned())
            }
            Exit::Failed => self.failed().or_else(|| self.unanswered()),
            Exit::CheckFailed => self
                .aborted()
                .or_else(|| Some(format!("{}.", self.checks(CheckOutcome::Broken, "broke")?))),
            Exit::NotKnown => Some(format!(
                "{}: {}",
                self.checks(CheckOutcome::NotKnown, "can't be decided")?,
                self.undecided()?
            )),
            Exit::Invalid => self.doubt(),
        }
    }

    fn failed(&self) -> Option<String> {
        self.runs
            .iter()
            .find_map(|(_, run)| match &run.summary.ended {
                Ended::Threw(error) => Some(format!("the script raised an error: {error}")),
                Ended::Failed(error) => Some(error.clone()),
                _ => None,
            })
    }

    /// A run that ended as planned, without one answer.
    fn unanswered(&self) -> Option<String> {
        let is_unanswered = |run: &RunResult| run.summary.total.counts.answered == 0;
        let (name, run) = self.runs.iter().find(|(_, run)| is_unanswered(run))?;
        Some(format!("{name}{}", unanswered(&run.summary)))
    }

    fn aborted(&self) -> Option<String> {
        self.runs
            .iter()
            .find_map(|(name, run)| match &run.summary.ended {
                Ended::Aborted(check) => Some(format!("{name}--abort-on {check} broke.")),
                _ => None,
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

    /// Why the first check that can't be decided can't be.
    fn undecided(&self) -> Option<String> {
        let mut checks = self.checks.iter().flat_map(|(_, checks)| checks);
        checks.find_map(undecided)
    }

    fn doubt(&self) -> Option<String> {
        let is_doubted = |run: &RunResult| !self.trust.believes(run.grade());
        let (name, run) = self.runs.iter().find(|(_, run)| is_doubted(run))?;
        let strict = if self.trust.strict { " (--strict)" } else { "" };
        Some(format!(
            "{name}the result{strict} is {}",
            grade_and_reason(run)
        ))
    }
}

/// Says why a command ends with another exit code than 0.
pub(crate) fn tell(why: &str) {
    say_line(&format!("loadline: {why}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{self, run::RunFlags};
    use crate::resolve::{Surroundings, resolve};
    use loadline_record::{Environment, Header, Summary, Unfinished};
    use std::time::SystemTime;

    fn ended(ended: Ended) -> RunResult {
        let words = ["-d", "1s", "http://127.0.0.1:1/"];
        let flags: RunFlags =
            flags::parse_planned(words.into_iter().map(Into::into)).expect("a run");
        let surroundings = Surroundings {
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
}
