use super::*;
use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
use proptest::prelude::*;

fn check(text: &str) -> Check {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn problem(text: &str) -> CheckProblem {
    match text.parse::<Check>() {
        Err(Error::Check { problem, .. }) => problem,
        other => panic!("{text}: {other:?}"),
    }
}

fn assert_read(text: &str, metric: Metric, comparison: Comparison, bound: Bound) {
    let expected = Check {
        text: text.to_owned(),
        name: None,
        custom: None,
        tags: BTreeMap::new(),
        metric,
        comparison,
        bound,
    };
    assert_eq!(check(text), expected, "{text}");
}

#[test]
fn conditions_are_read() {
    let response = |statistic| Metric::Time(Clocked::Response, statistic);
    let percentile = Statistic::Percentile;
    for (text, metric, comparison, bound) in [
        (
            "p99<50ms",
            response(percentile(99.0)),
            Less,
            Bound::TimeNs(50_000_000),
        ),
        (
            "p99.9 <= 1s",
            response(percentile(99.9)),
            LessOrEqual,
            Bound::TimeNs(1_000_000_000),
        ),
        (
            "response.p100<1m30s",
            response(percentile(100.0)),
            Less,
            Bound::TimeNs(90_000_000_000),
        ),
        (
            "mean<1.5ms",
            response(Statistic::Mean),
            Less,
            Bound::TimeNs(1_500_000),
        ),
        (
            "min>10us",
            response(Statistic::Min),
            Greater,
            Bound::TimeNs(10_000),
        ),
        (
            "stdev<=0ms",
            response(Statistic::Stdev),
            LessOrEqual,
            Bound::TimeNs(0),
        ),
        (
            "service.p99<2ms",
            Metric::Time(Clocked::Service, percentile(99.0)),
            Less,
            Bound::TimeNs(2_000_000),
        ),
        (
            "blocked.p99.99 <= 0ms",
            Metric::Time(Clocked::Blocked, percentile(99.99)),
            LessOrEqual,
            Bound::TimeNs(0),
        ),
        (
            "lateness.max<5ms",
            Metric::Time(Clocked::Lateness, Statistic::Max),
            Less,
            Bound::TimeNs(5_000_000),
        ),
    ] {
        assert_read(text, metric, comparison, bound);
    }
}

#[test]
fn a_condition_may_look_at_the_requests_of_one_name() {
    for (text, name) in [
        ("p99{name:login}<50ms", "login"),
        ("errors {name: a < b} <1%", "a < b"),
        ("rate{name:http://a/{id}?x>1}>=10", "http://a/{id}?x>1"),
        ("status:503{name:GET /}<=3", "GET /"),
    ] {
        assert_eq!(check(text).name.as_deref(), Some(name), "{text}");
        let plain: String = text.replace(&text[text.find('{').unwrap()..], "");
        let plain = match plain.trim() {
            "p99" => "p99<50ms",
            "errors" => "errors<1%",
            "rate" => "rate>=10",
            _ => "status:503<=3",
        };
        assert_eq!(check(text).metric, check(plain).metric);
        assert_eq!(check(text).bound, check(plain).bound);
    }
    for braces in [
        "{user}",
        "{name:}",
        "{}",
        "{a:}",
        "{:b}",
        "{a:b,a:c}",
        "{a:b,}",
    ] {
        let expected = CheckProblem::Braces(braces.to_owned());
        assert_eq!(problem(&format!("p99{braces}<1ms")), expected);
    }
    assert_eq!(problem("p99{name:a<1ms"), CheckProblem::Comparison);
    let blocked = CheckProblem::TimeOfPart("blocked.p99".to_owned());
    assert_eq!(problem("blocked.p99{name:a}<1ms"), blocked);
}

#[test]
fn a_condition_may_look_at_the_requests_with_tags() {
    let of = |text: &str| {
        let check = check(text);
        let tags = check
            .tags
            .iter()
            .map(|(tag, value)| format!("{tag}={value}"));
        (check.name, tags.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(
        of("p99{scenario:browse}<80ms"),
        (None, "scenario=browse".to_owned())
    );
    let both = of("errors{ team:a, scenario:b, name: x, y }<1%");
    assert_eq!(
        both,
        (Some("x, y".to_owned()), "scenario=b team=a".to_owned())
    );
    let check = check("p99{team:a,name:x}<1s");
    let tags = [("scenario", "b"), ("team", "a")];
    assert!(check.is_of_part() && check.looks_at("x", tags.into_iter()));
    assert!(!check.looks_at("y", tags.into_iter()));
    assert!(!check.looks_at("x", tags[..1].iter().copied()));
}

#[test]
fn conditions_on_counts_and_rates_are_read() {
    for (text, metric, comparison, bound) in [
        ("errors<0.1%", Metric::Errors, Less, Bound::Share(0.001)),
        ("errors<1%", Metric::Errors, Less, Bound::Share(0.01)),
        ("non2xx<1%", Metric::Non2xx, Less, Bound::Share(0.01)),
        ("non2xx<=3", Metric::Non2xx, LessOrEqual, Bound::Count(3)),
        (
            "5xx<1%",
            Metric::Statuses(Statuses::Class(5)),
            Less,
            Bound::Share(0.01),
        ),
        (
            "1xx<=3",
            Metric::Statuses(Statuses::Class(1)),
            LessOrEqual,
            Bound::Count(3),
        ),
        (
            "status:200>99%",
            Metric::Statuses(Statuses::Code(200)),
            Greater,
            Bound::Share(0.99),
        ),
        ("errors<=3", Metric::Errors, LessOrEqual, Bound::Count(3)),
        ("errors<=0", Metric::Errors, LessOrEqual, Bound::Count(0)),
        ("errors<=0%", Metric::Errors, LessOrEqual, Bound::Share(0.0)),
        (
            "rate>=990",
            Metric::Rate,
            GreaterOrEqual,
            Bound::PerSecond(990.0),
        ),
        (
            "rate>=2.5k",
            Metric::Rate,
            GreaterOrEqual,
            Bound::PerSecond(2_500.0),
        ),
        ("rate > 90/m", Metric::Rate, Greater, Bound::PerSecond(1.5)),
    ] {
        assert_read(text, metric, comparison, bound);
    }
}

#[test]
fn the_text_is_kept_as_typed() {
    assert_eq!(check(" p99 < 50ms ").to_string(), "p99 < 50ms");
}

#[test]
fn what_can_never_hold_is_refused() {
    for text in [
        "p99<0ms",
        "mean<=0s",
        "errors<0",
        "errors<0%",
        "errors>100%",
        "rate<0",
        "blocked.max<0ms",
    ] {
        assert_eq!(problem(text), CheckProblem::NeverHolds, "{text}");
    }
}

#[test]
fn what_always_holds_is_refused() {
    for text in [
        "p99>0ms",
        "p99>=0ms",
        "errors>=0",
        "errors<=100%",
        "rate>=0",
        "blocked.p50>=0s",
    ] {
        assert_eq!(problem(text), CheckProblem::AlwaysHolds, "{text}");
    }
}

#[test]
fn broken_conditions_name_the_broken_part() {
    let metric = |text: &str| CheckProblem::Metric(text.to_owned());
    let percentile = |text: &str| CheckProblem::Percentile(text.to_owned());
    let time = |text: &str| CheckProblem::TimeBound(text.to_owned());
    let count = |text: &str| CheckProblem::CountBound(text.to_owned());
    let status = |text: &str| CheckProblem::Status(text.to_owned());
    for (text, expected) in [
        ("", CheckProblem::Comparison),
        ("p99", CheckProblem::Comparison),
        ("p99=50ms", CheckProblem::Comparison),
        ("p99<>50ms", CheckProblem::Comparison),
        ("p99<", CheckProblem::Comparison),
        ("<50ms", CheckProblem::Comparison),
        ("p99==50ms", CheckProblem::Comparison),
        ("latency<50ms", metric("latency")),
        ("connect.p99<50ms", metric("connect.p99")),
        ("service.errors<1", metric("service.errors")),
        ("service.<1ms", metric("service.")),
        ("p<1ms", metric("p")),
        ("P99<1ms", metric("P99")),
        ("p0<1ms", percentile("p0")),
        ("p101<1ms", percentile("p101")),
        ("p99.<1ms", percentile("p99.")),
        ("p99<50", time("50")),
        ("p99<fast", time("fast")),
        ("p99<-5ms", time("-5ms")),
        ("p99<5%", time("5%")),
        ("non2xx<5ms", count("non2xx")),
        ("errors<0.5", count("errors")),
        ("errors<101%", count("errors")),
        ("errors<50ms", count("errors")),
        ("errors<-1", count("errors")),
        ("5xx<5ms", count("5xx")),
        ("status:503<101%", count("status:503")),
        ("status:99<1%", status("status:99")),
        ("status:1000<1%", status("status:1000")),
        ("status:ok<1%", status("status:ok")),
        ("status:<1%", status("status:")),
        ("6xx<1%", status("6xx")),
        ("0xx<1%", status("0xx")),
        ("status:+503<1%", status("status:+503")),
        ("status:0503<1%", status("status:0503")),
        ("+5xx<1%", metric("+5xx")),
        ("05xx<1%", metric("05xx")),
        ("xx<1%", metric("xx")),
        ("5XX<1%", metric("5XX")),
        ("service.5xx<1%", metric("service.5xx")),
        ("rate>=fast", CheckProblem::RateBound("fast".into())),
        ("rate>=1%", CheckProblem::RateBound("1%".into())),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn refusals_are_whole_sentences() {
    let error = "p99<50".parse::<Check>().expect_err("no unit").to_string();
    assert_eq!(
        error,
        "`p99<50` is not a check: `50` is not a time with its unit, such as 50ms or 1.5s."
    );
}

proptest! {
    #[test]
    fn no_text_upsets_the_parser(text in "\\PC*") {
        let _ = text.parse::<Check>();
    }

    #[test]
    fn what_is_printed_reads_back(
        percentile in 1..=100u32,
        bound_ms in 1..100_000u64,
        sign in prop::sample::select(vec!["<", "<=", ">", ">="]),
    ) {
        let check = check(&format!("service.p{percentile} {sign} {bound_ms}ms"));
        prop_assert_eq!(check.to_string().parse(), Ok(check));
    }
}

#[test]
fn thresholds_in_the_words_of_k6_are_told_ours() {
    for (text, ours) in [
        ("http_req_duration{p(95)}<200", "p95<200ms"),
        ("http_req_duration:p(99.9) < 500", "p99.9<500ms"),
        ("p(95)<200", "p95<200ms"),
        ("avg<=100", "mean<=100ms"),
        ("http_req_duration: max<1000", "max<1000ms"),
        ("http_req_failed: rate<0.01", "errors<1%"),
        ("http_reqs: rate>=50", "rate>=50"),
    ] {
        let said = text.parse::<Check>().expect_err(text).to_string();
        let end = format!("it is written as in k6; write {ours} here.");
        assert!(said.ends_with(&end), "{said}");
        assert!(ours.parse::<Check>().is_ok(), "{ours}");
    }
    let said = "max<200".parse::<Check>().expect_err("no unit").to_string();
    assert!(!said.contains("k6"), "{said}");
}
