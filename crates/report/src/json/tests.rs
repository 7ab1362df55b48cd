use super::documents::{self, checked};
use super::*;
use crate::PERCENTILES;
use crate::samples;
use jsonschema::Validator;
use loadline_json::Statistic;
use loadline_json::{Document, schema};
use loadline_plan::{Arrivals, Shape};
use loadline_record::{Blocks, Ended, Pattern, Summary};
use serde::de::DeserializeOwned;
use serde_json::Map;

const GUIDE: &str = include_str!("../../../../docs/guide/json.md");

fn all() -> Vec<Summary> {
    documents::runs().into_iter().map(|(_, run)| run).collect()
}

#[test]
fn what_is_a_lower_bound_is_named() {
    let mut summary = samples::cut_off();
    summary.plan.checks = vec!["p99.9<1s".parse().unwrap(), "p99.9<5s".parse().unwrap()];
    let object = json(&RunResult::new(summary.clone()));
    let response = &object["summary"]["response_time_us"];
    assert_eq!(response["unfinished"], 120);
    let bounds = response["at_least"].as_array().unwrap();
    assert!(
        bounds.contains(&"p99.9".into()) && bounds.contains(&"max".into()),
        "{bounds:?}"
    );
    assert!(!bounds.contains(&"p50".into()), "{bounds:?}");
    assert!(
        response["p99.9"].as_f64().unwrap() > 1.9e6,
        "{}",
        response["p99.9"]
    );
    let interval = &response["confidence_intervals"]["p99.9"];
    assert!(
        interval["upper"].is_null(),
        "all unfinished ones came together: {interval}"
    );
    let checks = &object["summary"]["checks"];
    assert_eq!(
        (&checks[0]["outcome"], &checks[0]["at_least"]),
        (&"broken".into(), &true.into())
    );
    assert_eq!(checks[1]["outcome"], "not_known");
    assert!(
        checks[1]["why"]
            .as_str()
            .unwrap()
            .starts_with("120 requests"),
        "{}",
        checks[1]
    );
    // Too short to show dependence: each request counts as one.
    summary.response_blocks = Blocks::default();
    let object = json(&samples::result(&summary, Vec::new()));
    let interval = &object["summary"]["response_time_us"]["confidence_intervals"]["p99.9"];
    assert_eq!(interval["at_least"][0], "lower", "{interval}");
    let steady = json(&samples::result(&samples::steady(), Vec::new()));
    assert_eq!(
        steady["summary"]["response_time_us"]["at_least"],
        serde_json::json!([])
    );
}

fn validator(document: Document) -> Validator {
    jsonschema::validator_for(&schema(document)).unwrap()
}

#[test]
fn every_document_fits_its_schema() {
    for (name, document) in documents::all() {
        let validator = validator(Document::of(&document).unwrap());
        let misfits: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(misfits, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_document_is_read_into_its_type() {
    fn again<T: Serialize + DeserializeOwned>(document: &Value) -> Value {
        let read: T = serde_json::from_value(document.clone()).unwrap();
        serde_json::to_value(read).unwrap()
    }
    for (name, document) in documents::all() {
        let again = match Document::of(&document).unwrap() {
            Document::Run => again::<loadline_json::Run>(&document),
            Document::Series => again::<loadline_json::Series>(&document),
            Document::Comparison => again::<loadline_json::Comparison>(&document),
            Document::Search => again::<loadline_json::Search>(&document),
            Document::Watch => again::<loadline_json::Watched>(&document),
            Document::Doctor => again::<loadline_json::Doctor>(&document),
        };
        assert_eq!(format!("{again:#}"), format!("{document:#}"), "{name}");
    }
}

#[test]
fn what_does_not_fit_is_noticed() {
    let (validator, good) = (validator(Document::Run), checked(&samples::three()));
    assert!(validator.is_valid(&good));
    let changes: [(&str, Value); 6] = [
        ("/schema", 1.into()),
        ("/summary/sent", serde_json::json!(-1)),
        ("/summary/ended", "somehow".into()),
        ("/summary/response_time_us", serde_json::json!({})),
        ("/summary/statuses", serde_json::json!({ "200": "three" })),
        ("/intervals", serde_json::json!({})),
    ];
    for (pointer, value) in changes {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&bad), "{pointer}");
    }
    let mut bad = good;
    bad["summary"]["more"] = 1.into();
    assert!(!validator.is_valid(&bad), "a key that is not in the schema");
}

#[test]
fn the_busiest_names_are_told_over_time() {
    let json = json(&RunResult::new(samples::named()));
    let over_time = &json["names_over_time"];
    assert_eq!(over_time["end_s"], serde_json::json!([1.0, 2.0]));
    let articles = &over_time["names"][0];
    assert_eq!(articles["name"], "GET /articles");
    assert_eq!(articles["rate"], serde_json::json!([20.0, 25.0]));
    assert_eq!(over_time["names"].as_array().unwrap().len(), 2);
    assert!(json_of_closed().get("names_over_time").is_none());
}

fn json_of_closed() -> Value {
    json(&RunResult::new(samples::closed()))
}

#[test]
fn the_guide_names_every_key() {
    let schema = schema(Document::Run);
    let definitions = schema["$defs"].as_object().unwrap().values();
    let objects = definitions
        .chain([&schema])
        .filter_map(|object| object["properties"].as_object());
    for name in objects.flat_map(Map::keys) {
        assert!(
            GUIDE.contains(&format!("`{name}`")),
            "{name} is not in the guide"
        );
    }
}

#[test]
fn a_small_result_in_full() {
    let result =
        serde_json::to_string_pretty(&json(&samples::result(&samples::three(), Vec::new())))
            .unwrap();
    insta::assert_snapshot!(result);
}

#[test]
fn whole_documents_keep_their_keys_values_and_order() {
    let shown = [
        "run_failing",
        "run_watched",
        "search_found",
        "series_sides",
        "comparison_files",
        "watch_look",
    ];
    for (name, mut document) in documents::all() {
        if let Some(runs) = document.get_mut("runs").and_then(Value::as_array_mut) {
            runs.iter_mut().for_each(|run| *run = run["role"].take());
        }
        if shown.contains(&name.as_str()) {
            insta::assert_snapshot!(name, format!("{document:#}"));
        }
    }
}

#[test]
fn counts_balance_in_the_summary_and_in_every_interval() {
    for summary in all() {
        let result = json(&samples::result(&summary, Vec::new()));
        let count = |object: &Value, name: &str| object[name].as_u64().unwrap();
        let ended = |object: &Value| count(object, "answered") + count(object, "failed");
        let whole = &result["summary"];
        assert_eq!(
            count(whole, "sent"),
            ended(whole) + count(whole, "in_flight")
        );
        let mut before = 0;
        for interval in result["intervals"].as_array().unwrap() {
            let in_flight = count(interval, "in_flight");
            assert_eq!(
                before + count(interval, "sent"),
                ended(interval) + in_flight
            );
            before = in_flight;
        }
    }
}

#[test]
fn times_are_microseconds() {
    let result = json(&samples::result(&samples::three(), Vec::new()));
    let response = &result["summary"]["response_time_us"];
    assert_eq!(response["count"], 3);
    let near = |value: &Value, us: f64| (value.as_f64().unwrap() / us - 1.0).abs() < 0.001;
    assert!(
        near(&response["mean"], 600.0) && near(&response["max"], 700.0),
        "{response}"
    );
    assert!(near(
        &result["summary"]["phases"]["connect_us"]["p50"],
        45.678
    ));
    assert_eq!(
        result["summary"]["phases"]["resolve_us"]["p50"],
        Value::Null
    );
    assert_eq!(result["summary"]["duration_s"], 0.002_345);
}

#[test]
fn checks_keep_their_units() {
    let result = checked(&samples::failing());
    let checks = result["summary"]["checks"].as_array().unwrap();
    let units: Vec<&Value> = checks.iter().map(|check| &check["unit"]).collect();
    assert_eq!(units, ["us", "share", "count", "per_second"]);
    assert_eq!(checks[0]["bound"], 1.5);
    assert_eq!(checks[1]["actual"], 0.024);
    assert_eq!(checks[2]["actual"], 96);
    assert_eq!(checks[3]["samples"], 3_904);
}

#[test]
fn an_aborted_run_names_the_condition() {
    let mut summary = samples::steady();
    summary.ended = Ended::Aborted("p99<1ms".to_owned());
    let result = json(&samples::result(&summary, Vec::new()));
    assert_eq!(result["summary"]["ended"], "aborted");
    assert_eq!(result["summary"]["aborted_by"], "p99<1ms");
    assert_eq!(result["summary"]["warnings"][0]["kind"], "aborted");
}

#[test]
fn poisson_arrivals_have_the_bounds_of_their_dispersion_and_others_none() {
    let mut summary = samples::steady();
    summary.arrivals = Pattern {
        windows: 60,
        requests: 3_000,
        sent_squares: 153_000.0,
        due_squares: 153_000.0,
        ..Pattern::default()
    };
    let shown = |arrivals| {
        let mut summary = summary.clone();
        let rate = loadline_plan::Rate::each_second(2_500);
        summary.plan.load.shape = Shape::Rate { rate, arrivals };
        json(&samples::result(&summary, Vec::new()))["summary"]["generator"]["arrivals"].clone()
    };
    let poisson = shown(Arrivals::Poisson);
    assert_eq!(poisson["dispersion_sent"], 1.017);
    // `scipy.stats.chi2.ppf([0.025, 0.975], 59) / 59` is 0.672 and 1.392.
    let bounds = &poisson["dispersion_of_poisson"];
    let near = |key: &str, expected: f64| (bounds[key].as_f64().unwrap() - expected).abs() < 0.005;
    assert!(near("lower", 0.672) && near("upper", 1.392), "{bounds}");
    assert!(shown(Arrivals::Constant)["dispersion_of_poisson"].is_null());
}

#[test]
fn the_percentiles_are_those_of_the_text() {
    assert_eq!(Statistic::PERCENTILES.map(|(p, _)| p), PERCENTILES);
}
