//! What the result must keep.

use clap::Args;
use loadline_plan::Check;
use loadline_verdict::Grade;

/// What the result must keep.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Judgement")]
pub(crate) struct JudgementFlags {
    /// Exit with 1 unless this holds at the end: 'p99<50ms', 'errors<0.1%', 'non2xx<1%' (repeatable)
    ///
    /// Any percentile, mean, min, max or stdev of the response time, or with service., blocked. or
    /// lateness. before it; errors (requests without an answer), non2xx, a class of statuses (5xx) or
    /// one status (status:503) as a count or a percentage; rate in answers a second. Such as
    /// 'p99.9<=1s', 'service.mean<2ms', 'errors<=3', '5xx<1%', 'status:200>99%', 'rate>=990'.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) check: Vec<Check>,

    /// End the run when this no longer holds, looked at every second, in the words of --check (repeatable)
    #[arg(long, value_name = "CONDITION")]
    pub(crate) abort_on: Vec<Check>,

    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// How far a result must be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Judgement")]
pub(crate) struct Trust {
    /// Take a suspect result for an invalid one
    #[arg(long)]
    pub(crate) strict: bool,

    /// Exit as the checks say although the result is invalid, instead of with 3
    #[arg(long)]
    pub(crate) allow_invalid: bool,
}

impl Trust {
    /// Whether a result of this grade is believed as far as is asked.
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
    fn doubt_counts_as_far_as_is_asked() {
        let believed = |strict, allow_invalid| {
            let trust = Trust {
                strict,
                allow_invalid,
            };
            [Grade::Valid, Grade::Suspect, Grade::Invalid].map(|grade| trust.believes(grade))
        };
        assert_eq!(believed(false, false), [true, true, false]);
        assert_eq!(believed(true, false), [true, false, false]);
        assert_eq!(believed(false, true), [true; 3]);
        assert_eq!(believed(true, true), [true; 3]);
    }
}
