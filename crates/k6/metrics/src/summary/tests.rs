use super::*;
use crate::{
    HttpTimes, MetricType, Recorder, RecorderSetup, Registry, Tags, ThresholdSource, Thresholds,
    builtin,
};
use std::borrow::Cow;
use std::sync::Arc;

struct Own(&'static [(&'static str, &'static str)]);

impl Tags for Own {
    fn get(&self, key: &str) -> Option<Cow<'_, str>> {
        let found = self.0.iter().find(|(name, _)| *name == key)?;
        Some(found.1.into())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&str, &str)) {
        self.0.iter().for_each(|(name, value)| visit(name, value));
    }
}

const IN_GROUP: Own = Own(&[
    ("group", "::main"),
    ("scenario", "default"),
    ("expected_response", "true"),
]);
const OUTSIDE: Own = Own(&[("group", ""), ("scenario", "default")]);

fn source(expression: &str) -> ThresholdSource {
    ThresholdSource {
        expression: expression.to_owned(),
        ..ThresholdSource::default()
    }
}

fn thresholds(registry: &Registry) -> Thresholds {
    let all = [
        ("http_req_duration", vec!["p(95)<500", "avg<0"]),
        ("http_req_duration{group:::main}", vec!["max<1000"]),
        ("checks", vec!["rate>0.9"]),
    ];
    let all = all.map(|(name, own)| (name.to_owned(), own.into_iter().map(source).collect()));
    Thresholds::new(all, registry).unwrap()
}

/// Returns a run of two seconds: two requests in a group, three checks, a gauge.
fn run() -> (Totals, Vec<Outcome>) {
    let registry = Arc::new(Registry::new());
    let gauge = registry.register("my_gauge", MetricType::Gauge, Contains::Default);
    let thresholds = thresholds(&registry);
    let setup = Arc::new(RecorderSetup {
        submetrics: thresholds.submetrics(&registry).unwrap(),
        registry,
        by_group_and_scenario: true,
        ..RecorderSetup::default()
    });
    let mut recorder = Recorder::new(Arc::clone(&setup));
    for waiting in [1.5, 2.5] {
        let times = HttpTimes {
            waiting,
            ..HttpTimes::default()
        };
        recorder.http(&times, Some(false), 1, &IN_GROUP);
    }
    recorder.check("ok", true, 1, &IN_GROUP);
    recorder.check("no", false, 1, &IN_GROUP);
    recorder.check("ok", true, 1, &OUTSIDE);
    recorder.add(gauge.unwrap(), 7.0, 1, &OUTSIDE);
    recorder.add(builtin::GROUP_DURATION, 3.0, 1, &IN_GROUP);
    recorder.add(builtin::DATA_SENT, 1434.0, 1, &OUTSIDE);
    let mut totals = Totals::new(setup);
    totals.add(&recorder.take());
    let outcomes = thresholds.conclude(&totals, 2_000_000_000);
    (totals, outcomes)
}

fn with_ended<T>(make: impl FnOnce(&Ended<'_>) -> T) -> T {
    let (totals, outcomes) = run();
    let stats = ["avg", "max", "p(95)"].map(str::to_owned);
    make(&Ended {
        totals: &totals,
        outcomes: &outcomes,
        elapsed_ns: 2_000_000_000,
        trend_stats: &stats,
        time_unit: None,
        has_colours: false,
    })
}

const COMPACT: &str = "

  █ THRESHOLDS 

    checks
    ✗ 'rate>0.9' rate=66.66%

    http_req_duration
    ✓ 'p(95)<500' p(95)=2.45ms
    ✗ 'avg<0' avg=2ms

      {group:::main}
      ✓ 'max<1000' max=2.5ms


  █ TOTAL RESULTS 

    checks_total.......: 3      1.5/s
    checks_succeeded...: 66.66% 2 out of 3
    checks_failed......: 33.33% 1 out of 3

    ✓ ok
    ✗ no
      ↳  0% — ✓ 0 / ✗ 1

    CUSTOM
    my_gauge.......................: 7      min=7      max=7

    HTTP
    http_req_duration..............: avg=2ms max=2.5ms p(95)=2.45ms
      { expected_response:true }...: avg=2ms max=2.5ms p(95)=2.45ms
      { group:::main }.............: avg=2ms max=2.5ms p(95)=2.45ms
    http_req_failed................: 0.00%  0 out of 2
    http_reqs......................: 2      1/s

    NETWORK
    data_sent......................: 1.4 kB 717 B/s



";

#[test]
fn a_compact_summary_has_thresholds_checks_and_metrics_in_columns() {
    assert_eq!(with_ended(|ended| text(ended, false)), COMPACT);
}

#[test]
fn a_full_summary_has_a_block_for_each_group() {
    let full = with_ended(|ended| text(ended, true));
    assert!(
        full.contains("    http_req_waiting...............: avg=2ms"),
        "{full}"
    );
    let group = "
    data_sent......................: 1.4 kB 717 B/s


  █ GROUP: main 

    checks_total.......: 2      1/s
    checks_succeeded...: 50.00% 1 out of 2
    checks_failed......: 50.00% 1 out of 2

    ✓ ok
    ✗ no
      ↳  0% — ✓ 0 / ✗ 1

    HTTP
    http_req_blocked...........: avg=0s  max=0s    p(95)=0s    
";
    assert!(full.contains(group), "{full}");
    assert!(full.ends_with("    http_reqs..................: 2     1/s\n\n\n\n"));
}

#[test]
fn handle_summary_gets_lists_and_a_file_gets_names() {
    let context = SummaryContext {
        is_stdout_tty: false,
        is_stderr_tty: true,
        no_color: false,
        setup_data: None,
    };
    let id = |path: &str| format!("id of {path}");
    let data = with_ended(|ended| handle_summary_data(ended, &context, &id));
    assert_eq!(
        data["root_group"]["groups"][0]["checks"][1]["path"],
        "::main::no"
    );
    assert_eq!(data["metrics"]["checks"]["values"]["fails"], 1);
    let duration = &data["metrics"]["http_req_duration"];
    assert_eq!(duration["thresholds"]["avg<0"]["ok"], false);
    assert_eq!(data["state"]["testRunDurationMs"], 2000.0);
    let file = with_ended(|ended| export(ended, Some(serde_json::json!({ "user": 7 })), &id));
    let check = &file["root_group"]["groups"]["main"]["checks"]["no"];
    assert_eq!(
        (&check["id"], &check["fails"]),
        (&"id of ::main::no".into(), &1.into())
    );
    assert_eq!(
        file["metrics"]["http_req_duration"]["thresholds"]["avg<0"],
        true
    );
    assert_eq!(file["metrics"]["http_req_failed"]["value"], 0);
    assert_eq!(file["setup_data"]["user"], 7);
}

/// Returns the summary of one request with this duration and this response time, in milliseconds.
fn of_response(waiting: f64, response: f64, is_full: bool) -> String {
    let setup = Arc::new(RecorderSetup::default());
    let mut recorder = Recorder::new(Arc::clone(&setup));
    let times = HttpTimes {
        waiting,
        ..HttpTimes::default()
    };
    recorder.http(&times, Some(false), 1, &OUTSIDE);
    recorder.add(builtin::HTTP_REQ_RESPONSE, response, 1, &OUTSIDE);
    let mut totals = Totals::new(setup);
    totals.add(&recorder.take());
    let ended = Ended {
        totals: &totals,
        outcomes: &[],
        elapsed_ns: 1_000_000_000,
        trend_stats: &["max".to_owned()],
        time_unit: None,
        has_colours: false,
    };
    text(&ended, is_full)
}

#[test]
fn response_times_stand_beside_durations_where_they_differ() {
    let has_row = |text: String| text.contains("http_req_response");
    assert!(has_row(of_response(100.0, 900.0, false)));
    assert!(!has_row(of_response(100.0, 105.0, false)));
    assert!(!has_row(of_response(0.1, 0.14, false)));
    assert!(has_row(of_response(100.0, 100.0, true)));
}

const LEGACY: &str = "
     ✓ ok

     █ main

       ✓ ok
       ✗ no
        ↳  0% — ✓ 0 / ✗ 1

   ✗ checks.........................: 66.66% 2 out of 3
     data_sent......................: 1.4 kB 717 B/s
     group_duration.................: avg=3ms max=3ms   p(95)=3ms   
";

#[test]
fn a_legacy_summary_has_groups_and_then_all_metrics_in_one_list() {
    let text = with_ended(legacy);
    assert!(text.starts_with(LEGACY), "{text}");
    for line in [
        "   ✗ http_req_duration..............: avg=2ms max=2.5ms p(95)=2.45ms\n",
        "       { expected_response:true }...: avg=2ms max=2.5ms p(95)=2.45ms\n",
        "     ✓ { group:::main }.............: avg=2ms max=2.5ms p(95)=2.45ms\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn the_newer_form_has_its_own_names() {
    let described = Described {
        script: "source".to_owned(),
        version: "1.8.1".to_owned(),
        at: "now".to_owned(),
    };
    let json = with_ended(|ended| machine_readable(ended, false, &described));
    assert_eq!(json["config"]["duration"], 2.0);
    let checks = &json["results"]["checks"];
    let failed = serde_json::json!({ "matches": 1, "rate": 1.0 / 3.0, "total": 3 });
    assert_eq!(checks["metrics"][1]["values"], failed);
    let metrics = json["results"]["metrics"].as_array().unwrap();
    let of = |name: &str| metrics.iter().find(|metric| metric["name"] == name);
    let duration = of("http_req_duration").unwrap();
    let stats = serde_json::json!({ "avg": 2, "max": 2.5, "p95": 2.45 });
    assert_eq!(duration["values"], stats);
    assert_eq!(of("http_reqs").unwrap()["values"]["count"], 2);
    assert!(of("http_req_waiting").is_none() && of("checks").is_none());
}

#[test]
fn what_was_observed_so_far_is_told_by_name() {
    let (totals, _) = run();
    let names: Vec<String> = totals.observed().into_iter().map(|one| one.name).collect();
    assert!(names.contains(&"http_req_duration{group:::main}".to_owned()));
    assert!(!names.contains(&"iterations".to_owned()));
    let root = root_group(&totals, &|path| format!("<{path}>"));
    assert_eq!(root["groups"][0]["id"], "<::main>");
    assert_eq!(root["groups"][0]["checks"][1]["fails"], 1);
}

/// Returns a summary with colours, in which `<` and `>` stand for their begin and end: `<32;✓>`.
fn coloured(make: impl Fn(&Ended<'_>) -> String) -> String {
    let text = with_ended(|ended| {
        make(&Ended {
            has_colours: true,
            ..*ended
        })
    });
    let text = text.replace("\u{1b}[0m", ">").replace("\u{1b}[", "<");
    let codes = ["1", "31", "32", "36", "37", "2", "2;36", "2;37", "36;2"];
    codes.iter().fold(text, |text, code| {
        text.replace(&format!("<{code}m"), &format!("<{code}:"))
    })
}

fn without_codes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

#[test]
fn colours_change_nothing_else() {
    let forms: [fn(&Ended<'_>) -> String; 3] = [
        |ended| text(ended, false),
        |ended| text(ended, true),
        legacy,
    ];
    for form in forms {
        let (plain, coloured) = with_ended(|ended| {
            let coloured = form(&Ended {
                has_colours: true,
                ..*ended
            });
            (form(ended), coloured)
        });
        assert!(coloured.len() > plain.len());
        assert_eq!(without_codes(&coloured), plain);
    }
}

// The expected texts are those of k6 1.8.1 on a terminal.
#[test]
fn on_a_terminal_the_summary_has_k6s_colours() {
    let full = coloured(|ended| text(ended, true));
    for line in [
        "  █ <1:THRESHOLDS> \n",
        "    <31:✗> <37:'rate>0.9'> <37:rate>=<36:66.66%>\n",
        "    <32:✓> <37:'p(95)<500'> <37:p(95)>=<36:2.45ms>\n",
        "  █ <1:TOTAL RESULTS> \n",
        "    checks_total<2;37:.......:> <36:3>      <2;36:1.5/s>\n",
        "    checks_failed<2;37:......:> <36:33.33%> <2;36:1 out of 3>\n",
        "    <32:✓ ok>\n    <31:✗ no>\n      <31:↳  0% — ✓ 0 / ✗ 1>\n",
        "    <1:HTTP>\n",
        "    http_req_duration<2;37:..............:> avg=<36:2ms> max=<36:2.5ms> \
         p(95)=<36:2.45ms>\n",
        "<36:7>      <2;36:min=7>      <2;36:max=7>\n",
        "  █ <1:GROUP: main> \n",
    ] {
        assert!(full.contains(line), "{line}{full}");
    }
    let legacy = coloured(legacy);
    for line in [
        "<32:     ✓ ok>\n",
        "<31:       ✗ no\n        ↳  0% — ✓ 0 / ✗ 1>\n",
        "   <31:✗> checks<2:.........................:> <36:66.66%> <36;2:2 out of 3>\n",
        "     <32:✓> { group:::main }<2:.............:> avg=<36:2ms> max=<36:2.5ms>",
    ] {
        assert!(legacy.contains(line), "{line}{legacy}");
    }
}
