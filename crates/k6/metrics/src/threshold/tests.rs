use super::*;
use crate::{Recorder, RecorderSetup, Tags, builtin};
use std::borrow::Cow;
use std::sync::Arc;

struct NoTags;

impl Tags for NoTags {
    fn get(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn for_each(&self, _: &mut dyn FnMut(&str, &str)) {}
}

fn sources(metric: &str, expression: &str) -> [(String, Vec<ThresholdSource>); 1] {
    let source = ThresholdSource {
        expression: expression.to_owned(),
        abort_on_fail: true,
        delay_abort_eval_ns: Some(5),
    };
    [(metric.to_owned(), vec![source])]
}

fn error(metric: &str, expression: &str) -> String {
    let read = Thresholds::new(sources(metric, expression), &Registry::new());
    read.unwrap_err().to_string()
}

fn judged(metric: &str, expression: &str, elapsed_ns: u64, is_end: bool) -> Vec<Outcome> {
    let setup = Arc::new(RecorderSetup::default());
    let mut recorder = Recorder::new(Arc::clone(&setup));
    for value in [1.0, 2.0, 3.0, 4.0] {
        recorder.add(builtin::ITERATION_DURATION, value, 1, &NoTags);
    }
    let mut totals = Totals::new(setup);
    totals.add(&recorder.take());
    let registry = &totals.setup.registry;
    let thresholds = Thresholds::new(sources(metric, expression), registry).unwrap();
    thresholds.judge(&totals, elapsed_ns, is_end)
}

#[test]
fn what_is_no_threshold_is_refused_in_k6s_words() {
    let trend = "http_req_duration";
    let cases = [
        (
            ("nope", "avg<1"),
            "invalid threshold defined on nope; reason: no metric name \"nope\" found",
        ),
        (
            (trend, "avg<"),
            "failed parsing threshold expression \"avg<\"; reason: malformed threshold \
             expression",
        ),
        (
            (trend, "avg ! 1"),
            "failed parsing threshold expression \"avg ! 1\"; reason: malformed threshold \
             expression",
        ),
        (
            (trend, "p(95<1"),
            "failed parsing threshold expression's \"p(95<1\" left hand side; reason: failed \
             parsing method from expression",
        ),
        (
            (trend, "avg<1x"),
            "failed parsing threshold expresion's \"avg<1x\" right hand side; reason: \
             strconv.ParseFloat: parsing \"1x\": invalid syntax",
        ),
        (
            (trend, "count>1"),
            "invalid threshold \"count>1\" applied on metric http_req_duration; reason: \
             unsupported aggregation method count on metric of type trend. supported \
             aggregation methods for this metric are: avg, min, max, med, p",
        ),
        (
            ("http_reqs{a}", "rate<1"),
            "unable to validate threshold expressions; reason: parsing metric name failed, \
             metric \"a\" tag expression is malformed",
        ),
    ];
    for ((metric, expression), text) in cases {
        assert_eq!(error(metric, expression), text);
    }
}

#[test]
fn a_threshold_is_judged_by_its_aggregation_and_operator() {
    let holds = |expression| judged("iteration_duration", expression, 1, true)[0].is_ok;
    assert!(holds("avg == 2.5") && holds("med===2.5") && holds("max<=4"));
    assert!(holds("p(90)>3.6") && !holds("min!=1") && !holds("max<4"));
}

#[test]
fn metrics_without_a_value_are_judged_at_the_end_alone() {
    assert!(judged("checks", "rate>0.9", 1, false).is_empty());
    assert!(judged("checks", "rate>0.9", 1, true)[0].is_ok);
    assert!(!judged("http_req_duration", "avg>0", 1, true)[0].is_ok);
}

#[test]
fn a_run_ends_for_a_threshold_once_its_delay_is_over() {
    let early = judged("iteration_duration", "max<1", 4, false);
    let late = judged("iteration_duration", "max<1", 5, false);
    assert!(!early[0].aborts && late[0].aborts);
    assert_eq!(aborting(&early), None);
    let crossed = crossed(&early).unwrap();
    assert_eq!(
        crossed,
        "thresholds on metrics 'iteration_duration' have been crossed"
    );
    assert!(
        aborting(&late)
            .unwrap()
            .ends_with("stopping test prematurely")
    );
}
