//! Why a result may not be believed, what to know before reading it, why a request failed, and what
//! to do about each: every cause is one variant, with its sentence and its advice worded in one
//! place.
//!
//! A [`Finding`] is a [`Reason`] with its [`Grade`]; the findings of a run are its [`Validity`]. A
//! [`Warning`] is about what the target or the user did. [`failure_advice`] is about requests that
//! failed. [`advice`] holds what several of them, searches for a capacity and refusals to start
//! share. When a finding applies is decided in `verdict`; here it is only worded.

pub mod advice;
mod failure;
mod reason;
mod warning;

pub use failure::failure_advice;
pub use reason::Reason;
pub use warning::{Shortfall, Warning};

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

/// Whether a result may be believed, and why not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validity {
    /// What was found, the gravest first.
    pub findings: Vec<Finding>,
}

impl Validity {
    /// The worst grade of all findings.
    pub fn grade(&self) -> Grade {
        self.findings
            .iter()
            .map(|finding| finding.grade)
            .max()
            .unwrap_or_default()
    }

    /// What to put besides the word *valid*: what was noted of the machine, in a few words each.
    pub fn aside(&self) -> Option<String> {
        let notes: Vec<String> = self
            .findings
            .iter()
            .filter(|finding| self.is_aside(finding))
            .map(|finding| finding.reason.phrase())
            .collect();
        (!notes.is_empty()).then(|| {
            let notes = notes.join(", ");
            format!("the machine was busy: {notes}; no headline figure is affected")
        })
    }

    /// The findings that need a sentence, each with what to do.
    pub fn sentences(&self) -> impl Iterator<Item = String> + '_ {
        let findings = self.findings.iter();
        findings
            .filter(|finding| !self.is_aside(finding))
            .map(|finding| finding.reason.sentence())
    }

    /// What the machine did explains a doubt; without a doubt a few words will do.
    fn is_aside(&self, finding: &Finding) -> bool {
        self.grade() == Grade::Valid && finding.reason.is_circumstance()
    }
}

/// One thing that was found. One of grade valid is only worth knowing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// How far the result may still be believed.
    pub grade: Grade,
    /// Why.
    pub reason: Reason,
}
