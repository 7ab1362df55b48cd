//! Checks of the result, and what an invalid result means.

use clap::Args;
use loadline_plan::Check;
use loadline_verdict::Grade;

/// Checks of the result, and what an invalid result means.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Judgement")]
pub(crate) struct JudgementFlags {
    /// Exit with 1 unless this check passes: 'p99<50ms', 'errors<0.1%', 'non2xx<1%' (repeatable)
    ///
    /// A check compares one of these with a bound: any percentile, mean, min, max or stdev of the
    /// response time, or of its parts with service., blocked. or lateness. before it; errors
    /// (requests without a response), non2xx, a class of statuses (5xx) or one status (status:503)
    /// as a count or a percentage; rate in responses per second. With {name:NAME} after it, as in
    /// 'p99{name:login}<50ms', a check looks at the requests of one name, with {scenario:NAME} at
    /// those of one scenario. Examples: 'p99.9<=1s', 'service.mean<2ms', 'errors<=3', '5xx<1%',
    /// 'status:200>99%', 'rate>=990'.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) check: Vec<Check>,

    /// End the run when this check fails, evaluated every second; written as for --check
    /// (repeatable)
    #[arg(long, value_name = "CONDITION")]
    pub(crate) abort_on: Vec<Check>,

    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// Which results count as invalid, and what that means for the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Judgement")]
pub(crate) struct Trust {
    /// Treat suspect results as invalid
    #[arg(long)]
    pub(crate) strict: bool,

    /// Let the checks alone set the exit code, instead of 3 for an invalid result
    #[arg(long)]
    pub(crate) allow_invalid: bool,
}

impl Trust {
    /// The worst grade that is accepted.
    pub(crate) fn worst_accepted(self) -> Grade {
        let grades = [Grade::Invalid, Grade::Suspect];
        let accepted = grades.into_iter().find(|grade| self.believes(*grade));
        accepted.unwrap_or(Grade::Valid)
    }

    /// True if a result of this grade is accepted.
    pub(crate) fn believes(self, grade: Grade) -> bool {
        match grade {
            Grade::Valid => true,
            Grade::Suspect => !self.strict || self.allow_invalid,
            Grade::Invalid => self.allow_invalid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_and_allow_invalid_change_which_grades_are_accepted() {
        let accepted = |strict, allow_invalid| {
            let trust = Trust {
                strict,
                allow_invalid,
            };
            let grades = [Grade::Valid, Grade::Suspect, Grade::Invalid];
            let accepted = grades.map(|grade| trust.believes(grade));
            assert_eq!(
                accepted,
                grades.map(|grade| grade <= trust.worst_accepted())
            );
            accepted
        };
        assert_eq!(accepted(false, false), [true, true, false]);
        assert_eq!(accepted(true, false), [true, false, false]);
        assert_eq!(accepted(false, true), [true; 3]);
        assert_eq!(accepted(true, true), [true; 3]);
    }
}
