//! The reasons to doubt a result, warnings about its figures and its failed requests, and the
//! advice for each: every cause is one variant, and its sentence and advice are worded in one
//! place.
//!
//! A [`Finding`] is a [`Cause`] with its [`Grade`]. Reports list the [`Findings`] of a run in two
//! [`Section`]s: one about the measurement, one about the target or the user. [`failure_advice`] is
//! about requests that failed, [`limit_and_advice`] about searches for a capacity,
//! [`MachineProblem`] about a machine before a run. [`advice`] holds texts that several of these
//! share with errors at the start. The crate `verdict` decides whether a finding applies; this
//! crate only words it.
//!
//! ## To change
//!
//! - a finding, its name and its section: `Cause` with `name`, `section` and `is_circumstance` in
//!   `cause.rs`
//! - its sentence: `cause/generator.rs` or `cause/target.rs`, chosen in `cause/sentence.rs`
//! - advice that several findings share: `advice.rs`
//! - the advice for an error kind: `failure.rs`
//! - the limits of the generator, in a run and in a search: `clause.rs`, `own_limit.rs`
//! - the problems of a machine before a run: `machine.rs`
//! - the name of a statistic in findings: `statistic_name` in `lib.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod advice;
mod cause;
mod clause;
mod failure;
mod machine;
mod own_limit;

pub use cause::{Cause, Section, Shortfall};
pub use failure::failure_advice;
pub use machine::MachineProblem;
pub use own_limit::limit_and_advice;

use loadline_plan::Statistic;

/// A statistic of the response time, with and without the part that the target did not cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The statistic.
    pub statistic: Statistic,
    /// The value as measured, in nanoseconds.
    pub with_ns: f64,
    /// The value without the part that the target did not cause, in nanoseconds.
    pub without_ns: f64,
}

/// Returns the name of a statistic of the response time: `mean`, `p99.9`.
pub fn statistic_name(statistic: Statistic) -> String {
    match statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Min => "min".to_owned(),
        Statistic::Max => "max".to_owned(),
        Statistic::Stdev => "stdev".to_owned(),
        Statistic::Percentile(percentile) => format!("p{percentile}"),
    }
}

/// A degree of validity; a worse grade is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// No reason for doubt was found.
    #[default]
    Valid,
    /// Something may have distorted it.
    Suspect,
    /// The result is not a measurement of what the plan requires.
    Invalid,
}

impl Grade {
    /// Returns the name of the grade in reports.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Valid => "valid",
            Grade::Suspect => "suspect",
            Grade::Invalid => "invalid",
        }
    }
}

/// All findings of a run, the most severe first; of the same grade, those about the target and the
/// end of the run come last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The findings.
    pub list: Vec<Finding>,
}

impl Findings {
    /// Returns the worst grade of all findings.
    pub fn grade(&self) -> Grade {
        let grades = self.list.iter().map(|finding| finding.grade);
        grades.max().unwrap_or_default()
    }

    /// Returns the findings that a report lists in one of its sections.
    pub fn of(&self, section: Section) -> impl Iterator<Item = &Finding> {
        let found = self.list.iter();
        found.filter(move |finding| finding.cause.section() == section)
    }

    /// Returns the addition to the word *valid*: findings about the machine, in a few words each.
    pub fn notes(&self) -> Option<String> {
        let noted = self.list.iter().filter(|finding| self.is_note(finding));
        let notes: Vec<String> = noted.map(|finding| finding.cause.phrase()).collect();
        (!notes.is_empty()).then(|| {
            let notes = notes.join(", ");
            format!("the machine was busy: {notes}; no headline figure is affected")
        })
    }

    /// Returns the findings that affect the validity and need a sentence, each with its advice.
    pub fn validity_sentences(&self) -> impl Iterator<Item = String> + '_ {
        let findings = self.of(Section::Validity);
        findings
            .filter(|finding| !self.is_note(finding))
            .map(|finding| finding.cause.sentence())
    }

    /// True for a finding that needs only a few words: an effect of the machine explains a grade,
    /// but here the grade is *valid*.
    fn is_note(&self, finding: &Finding) -> bool {
        self.grade() == Grade::Valid && finding.cause.is_circumstance()
    }
}

/// A finding: one cause with its grade. A finding of grade *valid* is only for information.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The grade that this finding alone leads to.
    pub grade: Grade,
    /// The cause, with its figures; its text ends in advice.
    pub cause: Cause,
}
