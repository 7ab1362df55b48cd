//! Options of scripts, and the messages of k6 1.8.1 for wrong ones.

use super::*;
use crate::from_environment;
use std::collections::BTreeMap;

fn of_script(json: &str) -> Result<Consolidated, OptionsError> {
    let tier = Tier::from_json(json)?;
    consolidate(vec![("script", tier)], |name| name == "default")
}

#[test]
fn shortcuts_make_one_scenario() {
    for (json, executor) in [
        ("{}", "per-vu-iterations"),
        (
            r#"{"iterations": 5, "vus": 2, "duration": "1s"}"#,
            "shared-iterations",
        ),
        (r#"{"duration": "1s", "vus": 2}"#, "constant-vus"),
        (
            r#"{"stages": [{"duration": "1s", "target": 1}]}"#,
            "ramping-vus",
        ),
    ] {
        let scenarios = of_script(json).expect(json).scenarios;
        assert_eq!(scenarios.len(), 1);
        assert_eq!(scenarios[0].name, "default");
        assert_eq!(scenarios[0].executor.name(), executor, "{json}");
    }
}

#[test]
fn names_of_fields_are_known_in_any_case() {
    let json = r#"{
        "InsecureSkipTLSverify": true,
        "thresholds": {"checks": [{"Threshold": "rate>0.9", "abortonfail": true}]},
        "tlsVersion": {"MIN": "tls1.2", "max": null},
        "scenarios": {"a": {
            "Executor": "ramping-vus", "startvus": 3, "gracefulrampdown": "1s",
            "stages": [{"Duration": "2s", "TARGET": 7}]
        }}
    }"#;
    let options = of_script(json).expect("options");
    assert!(options.settings.is_insecure);
    assert_eq!(
        options.settings.tls_versions,
        ("tls1.2".to_owned(), String::new())
    );
    let threshold = &options.settings.thresholds["checks"][0];
    assert_eq!(threshold["abortOnFail"], true);
    let expected = of_script(
        r#"{"scenarios": {"a": {
            "executor": "ramping-vus", "startVUs": 3, "gracefulRampDown": "1s",
            "stages": [{"duration": "2s", "target": 7}]
        }}}"#,
    );
    assert_eq!(options.scenarios, expected.expect("options").scenarios);
}

#[test]
fn higher_tiers_take_the_place_of_all_that_lower_ones_say_of_the_load() {
    let script = r#"{"scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}}"#;
    let script = Tier::from_json(script).expect("options");
    let variables = BTreeMap::from([("K6_DURATION".to_owned(), "5s".to_owned())]);
    let environment = from_environment(&variables).expect("variables");
    let options = consolidate(vec![("script", script), ("env", environment)], |_| true);
    let options = options.expect("options");
    assert_eq!(options.scenarios[0].name, "default");
    assert_eq!(
        options.warnings,
        ["\"env\" level configuration overrode scenarios configuration entirely"]
    );
}

#[test]
fn wrong_values_are_refused_in_k6s_words() {
    for (json, refusal) in [
        (
            r#"{"vus": "x"}"#,
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (r#"{"duration": "abc"}"#, "time: invalid duration \"abc\""),
        (
            r#"{"duration": true}"#,
            "'true' is not a valid duration value",
        ),
        (
            r#"{"scenarios": {"a": {"executor": "nope"}}}"#,
            "unknown executor type 'nope'",
        ),
        (
            r#"{"scenarios": {"a": {}}}"#,
            "scenario 'a' doesn't have a specified executor type",
        ),
        (
            r#"{"scenarios": {"a": {"executor": "constant-vus", "duration": "1s", "foo": 1}}}"#,
            "json: unknown field \"foo\"",
        ),
        (
            r#"{"thresholds": {"http_reqs": "x"}}"#,
            "parsing options from script got error while parsing \"\\\"thresholds\\\"\": json: \
             cannot unmarshal string into Go struct field Options.thresholds of type \
             []metrics.thresholdConfig",
        ),
        (
            "5",
            "parsing options from script got error while parsing \"5\": json: cannot unmarshal \
             number into Go value of type lib.Options",
        ),
        (
            r#"{"iterations": 1, "stages": [{"duration": "1s", "target": 1}]}"#,
            "using `iterations` and `stages` options simultaneously is not allowed",
        ),
        (
            r#"{"duration": "1s", "scenarios": {}}"#,
            "using `duration` and `scenarios` options simultaneously is not allowed",
        ),
        (
            r#"{"dns": {"select": "x"}}"#,
            "x does not belong to DNSSelect values",
        ),
    ] {
        let refused = of_script(json).expect_err(json);
        assert_eq!(
            (refused.text.as_str(), refused.code),
            (refusal, 104),
            "{json}"
        );
    }
}

#[test]
fn wrong_scenarios_are_told_all_at_once() {
    let lines = |json: &str| {
        let refused = of_script(json).expect_err(json);
        assert_eq!(refused.code, 104);
        let lines = refused.text.lines().skip(1);
        lines
            .map(|line| line.trim_start_matches("\t- ").to_owned())
            .collect::<Vec<_>>()
    };
    for (json, problem) in [
        (
            r#"{"duration": "300ms"}"#,
            "scenario default has configuration errors: the duration must be at least 1s, but is \
             300ms",
        ),
        (
            r#"{"vus": 3, "iterations": 2}"#,
            "scenario default has configuration errors: the number of iterations (2) can't be \
             less than the number of VUs (3)",
        ),
        (
            r#"{"scenarios": {"a b": {"executor": "constant-vus", "duration": "1s"}}}"#,
            "scenario a b has configuration errors: the scenario name should contain only \
             numbers, latin letters, underscores, and dashes",
        ),
        (
            r#"{"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 0,
                "duration": "0s", "timeUnit": "0s", "preAllocatedVUs": 5, "maxVUs": 2}}}"#,
            "scenario a has configuration errors: the iteration rate must be more than 0, the \
             timeUnit must be more than 0, the duration must be at least 1s, but is 0s, maxVUs \
             can't be less than preAllocatedVUs",
        ),
        (
            r#"{"scenarios": {"a": {"executor": "ramping-arrival-rate", "timeUnit": "0s",
                "startRate": -1}}}"#,
            "scenario a has configuration errors: the startRate value can't be negative, the \
             timeUnit must be more than 0, at least one stage has to be specified, the number of \
             preAllocatedVUs isn't specified",
        ),
        (
            r#"{"scenarios": {"a": {"executor": "ramping-vus", "startVUs": -1,
                "stages": [{"duration": "1s", "target": -1}]}}}"#,
            "scenario a has configuration errors: the number of start VUs can't be negative, \
             either startVUs or one of the stages' target values must be greater than 0, the \
             target for stage 1 can't be negative",
        ),
        (
            r#"{"scenarios": {"a": {"executor": "externally-controlled", "vus": 3, "maxVUs": 1,
                "duration": "-1s"}}}"#,
            "scenario a has configuration errors: the number of active VUs (3) must be less than \
             or equal to the number of maxVUs (1), the duration can't be negative, for infinite \
             duration use 0",
        ),
    ] {
        assert_eq!(lines(json), [problem], "{json}");
    }
    assert_eq!(
        lines(
            r#"{"scenarios": {
                "a": {"executor": "constant-vus", "duration": "1s", "exec": "nope", "vus": 0},
                "b": {"executor": "constant-vus", "vus": 0}}}"#
        ),
        [
            "scenario a has configuration errors: the number of VUs must be more than 0",
            "scenario b has configuration errors: the number of VUs must be more than 0, the \
             duration is unspecified",
            "executor a: function 'nope' not found in exports",
        ]
    );
}

#[test]
fn empty_loads_run_once_and_say_so() {
    let told = |json: &str| of_script(json).expect(json).warnings;
    assert_eq!(
        told(r#"{"vus": 3}"#),
        [
            "`vus=3` option will be ignored, it only works in conjunction with `iterations`, \
             `duration`, or `stages`"
        ]
    );
    assert_eq!(
        told(r#"{"stages": []}"#),
        [
            "`stages` was explicitly set to an empty value, running the script with 1 iteration \
             in 1 VU"
        ]
    );
}

#[test]
fn wrong_variables_are_refused_in_k6s_words() {
    for (name, text, refusal) in [
        (
            "K6_VUS",
            "x",
            "envconfig.Process: assigning K6_VUS to VUs: converting 'x' to type null.Int. \
             details: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "K6_THROW",
            "x",
            "envconfig.Process: assigning K6_THROW to Throw: converting 'x' to type null.Bool. \
             details: invalid input:x",
        ),
        (
            "K6_STAGES",
            "x",
            "envconfig.Process: assigning K6_STAGES to Stages: converting 'x' to type \
             []lib.Stage. details: time: invalid duration \"x\"",
        ),
    ] {
        let variables = BTreeMap::from([(name.to_owned(), text.to_owned())]);
        let refused = from_environment(&variables).expect_err(name);
        assert_eq!((refused.text.as_str(), refused.code), (refusal, 104));
    }
}
