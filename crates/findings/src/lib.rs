//! Why a result may not be believed, what to know before reading it, why a request failed, and what
//! to do about each: every cause is one variant, with its sentence and its advice worded in one
//! place.
//!
//! A [`Finding`] is a [`Cause`] with its [`Grade`]. Reports list the [`Findings`] of a run in two
//! [`Section`]s: what concerns the measurement, and what concerns the target or the user.
//! [`failure_advice`] is about requests that failed, [`limit_and_advice`] about searches for a
//! capacity, [`MachineProblem`] about a machine before a run. [`advice`] holds what several of them
//! and refusals to start share. When a finding applies is decided in `verdict`; here it is only
//! worded.

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

/// A statistic of the response time as it was, and without what is not the target's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Which statistic.
    pub statistic: Statistic,
    /// As it was, in nanoseconds.
    pub with_ns: f64,
    /// Without what is not the target's, in nanoseconds.
    pub without_ns: f64,
}

/// The name of a statistic of the response time: `mean`, `p99.9`.
pub fn statistic_name(statistic: Statistic) -> String {
    match statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Min => "min".to_owned(),
        Statistic::Max => "max".to_owned(),
        Statistic::Stdev => "stdev".to_owned(),
        Statistic::Percentile(percentile) => format!("p{percentile}"),
    }
}

/// How far a result may be believed; a worse grade is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// There is no reason against it.
    #[default]
    Valid,
    /// Something may have distorted it.
    Suspect,
    /// It is not a measurement of what was asked for.
    Invalid,
}

impl Grade {
    /// Its name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Valid => "valid",
            Grade::Suspect => "suspect",
            Grade::Invalid => "invalid",
        }
    }
}

/// All that was found of a run, the gravest first; of the same grade what concerns the target and
/// the run's end comes last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// These.
    pub list: Vec<Finding>,
}

impl Findings {
    /// The worst grade of all findings.
    pub fn grade(&self) -> Grade {
        let grades = self.list.iter().map(|finding| finding.grade);
        grades.max().unwrap_or_default()
    }

    /// Those that a report lists in one of its sections.
    pub fn of(&self, section: Section) -> impl Iterator<Item = &Finding> {
        let found = self.list.iter();
        found.filter(move |finding| finding.cause.section() == section)
    }

    /// What to put besides the word *valid*: what was noted of the machine, in a few words each.
    pub fn notes(&self) -> Option<String> {
        let noted = self.list.iter().filter(|finding| self.is_note(finding));
        let notes: Vec<String> = noted.map(|finding| finding.cause.phrase()).collect();
        (!notes.is_empty()).then(|| {
            let notes = notes.join(", ");
            format!("the machine was busy: {notes}; no headline figure is affected")
        })
    }

    /// What affects the validity and needs a sentence, each with what to do.
    pub fn validity_sentences(&self) -> impl Iterator<Item = String> + '_ {
        let findings = self.of(Section::Validity);
        findings
            .filter(|finding| !self.is_note(finding))
            .map(|finding| finding.cause.sentence())
    }

    /// What the machine did explains a grade; where the grade is *valid*, a few words will do.
    fn is_note(&self, finding: &Finding) -> bool {
        self.grade() == Grade::Valid && finding.cause.is_circumstance()
    }
}

/// One thing that was found. One of grade valid is only worth knowing.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How far the result may still be believed.
    pub grade: Grade,
    /// What was found, with its figures; its words end in advice.
    pub cause: Cause,
}
