//! The sentences with the reason why a run can't decide a check.

use loadline_units as units;
use loadline_verdict::{CheckResult, WhyUndecided};

/// Returns the reason why a run can't decide this check: a sentence that ends in advice; `None` if
/// it is decided.
pub fn undecided(check: &CheckResult) -> Option<String> {
    let sentence = match check.undecided? {
        WhyUndecided::Unfinished(count) => format!(
            "{} without a response at the end could change it; wait for the responses (--drain), \
             lower the load, or run longer (-d).",
            units::counted(count, "request")
        ),
        WhyUndecided::FewSamples(needed) => format!(
            "{} are too few, the percentile needs {}; raise --requests, --rate or --duration.",
            units::counted(check.samples, "sample"),
            units::count(needed)
        ),
        WhyUndecided::NoMetric => {
            "the script counts no metric of this name, with these tags, that \
             has this figure; correct the name, or the figure for its kind."
                .to_owned()
        }
    };
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity;
    use loadline_verdict::{CheckOutcome, Quantity};

    fn check(undecided: Option<WhyUndecided>) -> CheckResult {
        CheckResult {
            text: "p99<1s".to_owned(),
            outcome: CheckOutcome::Undecided,
            undecided,
            actual: Some(Quantity::TimeNs(5e8)),
            is_at_least: true,
            estimate_holds: false,
            bound: Quantity::TimeNs(1e9),
            samples: 10,
        }
    }

    #[test]
    fn an_undecided_check_says_what_to_do() {
        let said = |why| undecided(&check(Some(why))).unwrap();
        assert!(said(WhyUndecided::Unfinished(1)).starts_with("1 request without a response"));
        assert!(said(WhyUndecided::Unfinished(3_927)).contains("3 927 requests"));
        let few = said(WhyUndecided::FewSamples(368));
        assert!(
            few.starts_with("10 samples are too few, the percentile needs 368;"),
            "{few}"
        );
        assert_eq!(undecided(&check(None)), None);
        assert_eq!(quantity::actual(&check(None)).as_deref(), Some("> 500 ms"));
    }
}
