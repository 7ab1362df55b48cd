//! The confidence of a percentile: its 95 % interval, by the name that reports use.

pub(crate) use loadline_verdict::{CONFIDENCE as LEVEL, ConfidenceInterval};

#[cfg(test)]
mod tests {
    use crate::samples;
    use loadline_verdict::RunResult;

    #[test]
    fn an_interval_holds_its_percentile() {
        let run = RunResult::new(samples::steady());
        let times = &run.summary.total.times.response;
        for percentile in [50.0, 90.0, 99.0, 99.9] {
            let found = run.response_interval(percentile);
            let value_ns = times.percentile_ns(percentile);
            assert!(found.lower_ns.unwrap().value() <= value_ns, "p{percentile}");
            assert!(found.upper_ns.unwrap().value() >= value_ns, "p{percentile}");
            assert!(found.adjusted && found.still_needed == 0);
            assert!((5_000..=20_000).contains(&found.independent), "{found:?}");
        }
    }

    #[test]
    fn one_stall_is_one_event_to_the_percentiles_above_it() {
        let run = RunResult::new(samples::stalled());
        let found = |percentile| run.response_interval(percentile);
        assert!(found(50.0).upper_ns.is_some(), "{:?}", found(50.0));
        assert!(found(99.0).independent < 368, "{:?}", found(99.0));
        assert_eq!(found(99.0).upper_ns, None);
        assert!(found(99.0).still_needed > 10_000);
    }

    #[test]
    fn a_short_run_does_not_show_dependence() {
        let run = RunResult::new(samples::closed());
        let found = run.response_interval(99.0);
        assert!(!found.adjusted);
        assert_eq!(found.independent, run.summary.response().len());
    }
}
