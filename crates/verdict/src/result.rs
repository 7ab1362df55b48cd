//! The result of a run: what was recorded, and everything that is judged of it.

use crate::check::{declared, evaluate_run, failed_by_beginning};
use crate::validity::validity;
use crate::warnings;
use crate::{
    CheckResult, ConfidenceInterval, Effect, Finding, Findings, Grade, Section, SoFar,
    confidence_interval, own_delay, plan_wait,
};
use loadline_plan::Statistic;
use loadline_record::Summary;

/// A run with its judgement. It is made once, where the run ends or its file is read; every report,
/// the exit code, studies and searches only read it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The records of the run.
    pub summary: Summary,
    /// The plan's checks, evaluated on all of the run, and after them those that a script declared
    /// and its tool has judged.
    pub checks: Vec<CheckResult>,
    /// The checks, as typed, that only the transient at the beginning broke, which was left out.
    pub failed_by_beginning: Vec<String>,
    /// The reasons to doubt the result, and the facts about the target and the run that a reader
    /// needs before the figures. [`RunResult::few_samples`] depends on the figures that are shown,
    /// and is separate.
    pub findings: Findings,
}

impl RunResult {
    /// Judges what was recorded of a run.
    pub fn new(summary: Summary) -> RunResult {
        let mut findings = validity(&summary);
        let warnings = warnings::warnings(&summary, &findings);
        findings.list.extend(warnings);
        RunResult {
            checks: evaluate_run(&summary)
                .into_iter()
                .chain(declared(&summary))
                .collect(),
            failed_by_beginning: failed_by_beginning(&summary),
            findings,
            summary,
        }
    }

    /// Judges what was recorded so far of a run that still goes on, as [`SoFar`] does.
    pub fn so_far(summary: Summary) -> RunResult {
        let SoFar {
            checks,
            mut findings,
        } = SoFar::of(&summary);
        let warnings = warnings::warnings(&summary, &findings);
        findings.list.extend(warnings);
        RunResult {
            checks,
            failed_by_beginning: Vec::new(),
            findings,
            summary,
        }
    }

    /// Returns the grade of the result's validity.
    pub fn grade(&self) -> Grade {
        self.findings.grade()
    }

    /// The warnings of a report that shows these percentiles, the gravest first.
    pub fn warnings_for<'a>(&'a self, percentiles: &[f64]) -> impl Iterator<Item = Finding> + 'a {
        let few_samples = self.few_samples(percentiles);
        let warnings = self.findings.of(Section::Warnings).cloned();
        warnings.chain(few_samples)
    }

    /// The warning that these percentiles, or those that checks name, need more samples.
    pub fn few_samples(&self, percentiles: &[f64]) -> Option<Finding> {
        warnings::few_samples(&self.summary, percentiles)
    }

    /// True if so many requests failed or had a status other than 2xx (more than one in a hundred
    /// failed, any such status, no response at all) that *valid* alone would mislead.
    pub fn many_failed(&self) -> bool {
        warnings::many_failed(&self.summary)
    }

    /// A statistic of the response time with the delay that Loadline added and without it, if that
    /// delay is a large part of it.
    pub fn own_delay(&self, statistic: Statistic) -> Option<Effect> {
        own_delay(&self.summary, statistic)
    }

    /// A statistic of the response time with the wait for one of the plan's connections and without
    /// it, if that wait is a large part of it.
    pub fn plan_wait(&self, statistic: Statistic) -> Option<Effect> {
        plan_wait(&self.summary, statistic)
    }

    /// The 95 % confidence interval of a percentile of the response time.
    pub fn response_interval(&self, percentile: f64) -> ConfidenceInterval {
        let blocks = &self.summary.response_blocks;
        confidence_interval(self.summary.response(), blocks, percentile)
    }

    /// The 95 % confidence interval of a percentile of the service time.
    pub fn service_interval(&self, percentile: f64) -> ConfidenceInterval {
        let blocks = &self.summary.service_blocks;
        confidence_interval(self.summary.service(), blocks, percentile)
    }
}
