use super::cases::{Outcome, Suite};
use super::markdown::sparkline;
use super::*;
use crate::comparison::FileRun;
use crate::samples;
use loadline_record::{DeclaredCheck, Ended};
use loadline_verdict::{CheckOutcome, Comparison, Tolerance};
use proptest::prelude::*;
use roxmltree::{Document, Node};
use std::path::Path;

/// A result with these checks.
fn checked(mut run: Summary, checks: &[&str]) -> RunResult {
    run.plan.checks = checks.iter().map(|text| text.parse().unwrap()).collect();
    RunResult::new(run)
}

fn job_of(runs: &[RunResult]) -> JobReport<'_> {
    JobReport {
        runs,
        compared: None,
        thresholds: &[],
        worst_accepted: Grade::Suspect,
    }
}

/// A run with a check of each outcome.
fn mixed() -> RunResult {
    let checks = ["p99<1ms", "p50<1s", "p99.99<10s", "non2xx<1%"];
    checked(samples::failing(), &checks)
}

fn count(node: Node<'_, '_>, attribute: &str) -> usize {
    node.attribute(attribute).unwrap().parse().unwrap()
}

/// The cases of a name, by the element in them.
fn with<'a>(document: &'a Document<'_>, element: &str) -> Vec<Node<'a, 'a>> {
    let nodes = document.descendants();
    let cases = nodes.filter(|node| node.has_tag_name("testcase"));
    let has = |case: &Node<'_, '_>| case.children().any(|child| child.has_tag_name(element));
    cases.filter(has).collect()
}

#[test]
fn junit_has_a_case_for_each_check_and_for_the_validity() {
    let runs = [mixed()];
    let xml = junit(&job_of(&runs));
    let document = Document::parse(&xml).unwrap();
    let root = document.root_element();
    assert_eq!(count(root, "tests"), 5);
    assert_eq!(count(root, "failures"), with(&document, "failure").len());
    assert_eq!(count(root, "errors"), 0);
    let suites: Vec<_> = root.children().filter(Node::is_element).collect();
    let names: Vec<_> = suites
        .iter()
        .map(|suite| suite.attribute("name").unwrap())
        .collect();
    assert_eq!(names, ["checks", "validity"]);
    for suite in suites {
        let cases = suite
            .children()
            .filter(|node| node.has_tag_name("testcase"));
        assert_eq!(cases.count(), count(suite, "tests"), "{xml}");
    }
    let failed = with(&document, "failure");
    assert_eq!(failed[0].attribute("name"), Some("p99<1ms"));
    let text = failed[0].first_element_child().unwrap().text().unwrap();
    assert!(text.starts_with("expected: p99<1ms\nactual: "), "{text}");
    assert!(text.contains("See when it was slow"), "{text}");
    let skipped = with(&document, "skipped");
    assert_eq!(skipped[0].attribute("name"), Some("p99.99<10s"));
    assert!(xml.contains("<system-out>rate "), "{xml}");
}

#[test]
fn an_invalid_result_is_an_error_unless_it_is_accepted() {
    let mut late = samples::late();
    late.complete = true;
    let runs = [checked(late, &["p50<10s"])];
    let strict = JobReport {
        worst_accepted: Grade::Valid,
        ..job_of(&runs)
    };
    assert_ne!(runs[0].grade(), Grade::Valid);
    let xml = junit(&strict);
    let document = Document::parse(&xml).unwrap();
    let errors = with(&document, "error");
    assert_eq!(errors.len(), 1, "{xml}");
    assert_eq!(errors[0].attribute("name"), Some("the run"));
    assert_eq!(verdict(&strict.cases()), Outcome::Invalid);
    let accepted = JobReport {
        worst_accepted: Grade::Invalid,
        ..strict
    };
    assert_eq!(verdict(&accepted.cases()), Outcome::Passed);
}

#[test]
fn a_run_without_a_response_is_an_error_that_says_what_to_do() {
    let mut run = samples::unanswered();
    run.total.counts.answered = 0;
    let runs = [checked(run, &[])];
    let cases = job_of(&runs).cases();
    assert_eq!(verdict(&cases), Outcome::Invalid);
    assert!(cases[0].found.contains("not one was answered"), "{cases:?}");
    assert!(!cases[0].next.is_empty());
    let mut interrupted = samples::interrupted();
    interrupted.ended = loadline_record::Ended::Interrupted;
    let runs = [RunResult::new(interrupted)];
    assert_eq!(verdict(&job_of(&runs).cases()), Outcome::Invalid);
}

#[test]
fn thresholds_are_a_suite_as_k6_writes_it() {
    let threshold = |expression: &str, holds| Threshold {
        metric: "http_req_duration".to_owned(),
        expression: expression.to_owned(),
        holds,
    };
    let thresholds = [threshold("p(95)<200", false), threshold("avg<1", true)];
    let runs = [checked(samples::steady(), &[])];
    let report = JobReport {
        thresholds: &thresholds,
        ..job_of(&runs)
    };
    let xml = junit(&report);
    let document = Document::parse(&xml).unwrap();
    let suite = document.root_element().first_element_child().unwrap();
    assert_eq!(suite.attribute("name"), Some("k6 thresholds"));
    assert_eq!((count(suite, "tests"), count(suite, "failures")), (2, 1));
    let failed = with(&document, "failure")[0];
    assert_eq!(
        failed.attribute("name"),
        Some("http_req_duration - p(95)<200")
    );
    let failure = failed.first_element_child().unwrap();
    assert_eq!(failure.attribute("message"), Some("failed"));
}

/// A comparison of two sides of which B is slower, with these rules.
fn compared<R>(rules: &[&str], tell: impl FnOnce(&ComparedFiles<'_>) -> R) -> R {
    let (base, with) = (samples::steady(), samples::stalled());
    let comparison = Comparison::of_pairs(&[&base; 3], &[&with; 3]).unwrap();
    let (base, with) = (RunResult::new(base), RunResult::new(with));
    let run = |file, result| FileRun {
        file: Path::new(file),
        number: None,
        result,
    };
    let judge = |text: &&str| text.parse::<Tolerance>().unwrap().judge(&comparison);
    tell(&ComparedFiles {
        comparison: &comparison,
        base: vec![run("base.run", &base)],
        with: vec![run("new.run", &with)],
        tolerances: rules.iter().map(judge).collect(),
        slower_fails: true,
    })
}

#[test]
fn conditions_that_a_script_set_are_checks_unless_they_are_listed_as_thresholds() {
    let mut summary = samples::steady();
    let declared = |text: &str, holds| DeclaredCheck {
        text: text.to_owned(),
        holds,
        actual: Some(0.5),
        bound: 0.9,
        samples: 10,
    };
    summary.declared = vec![
        declared("checks: rate>0.9", false),
        declared("orders: count>1", true),
    ];
    summary.ended = Ended::Aborted("checks: rate>0.9".to_owned());
    let runs = [RunResult::new(summary)];
    let named = |report: &JobReport<'_>| -> Vec<(String, Outcome)> {
        let cases = report.cases().into_iter();
        let judged = cases.filter(|case| case.suite == Suite::Checks);
        judged.map(|case| (case.name, case.outcome)).collect()
    };
    let (failed, passed) = ("checks: rate>0.9".to_owned(), "orders: count>1".to_owned());
    let expected = [(failed, Outcome::Failed), (passed.clone(), Outcome::Passed)];
    assert_eq!(named(&job_of(&runs)), expected);
    let thresholds = [Threshold {
        metric: "checks".to_owned(),
        expression: "rate>0.9".to_owned(),
        holds: false,
    }];
    let report = JobReport {
        thresholds: &thresholds,
        ..job_of(&runs)
    };
    assert_eq!(named(&report), [(passed, Outcome::Passed)]);
}

#[test]
fn rules_of_a_comparison_are_cases_too() {
    let rules = ["p99:+10%", "p97:+10%", "p50:+900%"];
    compared(&rules, |compared| {
        assert_eq!(compared.tolerances[0].outcome, CheckOutcome::Failed);
        let report = JobReport {
            compared: Some(compared),
            ..job_of(&[])
        };
        let xml = junit(&report);
        let document = Document::parse(&xml).unwrap();
        let names = |element| {
            let cases = with(&document, element).into_iter();
            cases
                .map(|case| case.attribute("name").unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(names("failure"), ["slower", "p99:+10%"]);
        assert_eq!(names("skipped"), ["p97:+10%"]);
        let page = markdown(&report);
        assert!(page.contains("| baseline | this run |"), "{page}");
        assert!(page.contains("Look for the change that did it"), "{page}");
        let annotations = annotations(&report);
        assert_eq!(annotations.matches("::error ").count(), 2, "{annotations}");
        assert_eq!(
            annotations.matches("::warning ").count(),
            1,
            "{annotations}"
        );
    });
}

#[test]
fn markdown_of_a_run_in_full() {
    insta::assert_snapshot!(markdown(&job_of(&[mixed()])));
}

#[test]
fn annotations_and_outputs_in_full() {
    let runs = [mixed()];
    insta::assert_snapshot!(annotations(&job_of(&runs)) + &job_outputs(&job_of(&runs)));
    let good = [checked(samples::steady(), &["p50<10s"])];
    let job_of = job_of(&good);
    let notice = annotations(&job_of);
    assert!(
        notice.starts_with("::notice title=Loadline%3A passed (1 of 1)::"),
        "{notice}"
    );
    assert!(job_outputs(&job_of).starts_with("verdict=passed\nfailed=\n"));
}

#[test]
fn a_course_is_drawn_from_zero_and_of_neighbours_the_largest() {
    assert_eq!(sparkline(&[0.0, 7.0, 14.0]), "▁▅█");
    assert_eq!(sparkline(&[0.0; 3]), "▁▁▁");
    let mut long = [1.0; 400];
    long[399] = 8.0;
    let drawn = sparkline(&long);
    assert_eq!(drawn.chars().count(), 40);
    assert!(drawn.ends_with("▂█"), "{drawn}");
}

/// A run of one request, whose path is this text.
fn sent_to(path: &str) -> RunResult {
    let mut run = samples::three();
    run.plan.requests[0].url = loadline_url(path);
    checked(run, &[])
}

fn loadline_url(path: &str) -> url::Url {
    let mut url: url::Url = "http://127.0.0.1/".parse().unwrap();
    url.set_query(Some(path));
    url
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in a name, the XML is well-formed and gives it back, but for what XML can't
    /// have; the Markdown has no line more; and an annotation is one line.
    #[test]
    fn any_text_stays_text(text in any::<String>()) {
        let threshold = Threshold {
            metric: text.clone(),
            expression: "p(95)<200".to_owned(),
            holds: false,
        };
        let runs = [sent_to(&text)];
        let report = JobReport { thresholds: std::slice::from_ref(&threshold), ..job_of(&runs) };
        let xml = junit(&report);
        let document = Document::parse(&xml).unwrap();
        let name = with(&document, "failure")[0].attribute("name").unwrap().to_owned();
        if text.chars().all(|letter| letter.is_ascii_graphic()) {
            prop_assert_eq!(name, format!("{text} - p(95)<200"));
        }
        let plain = Threshold { metric: "a".to_owned(), ..threshold.clone() };
        let same = JobReport { thresholds: std::slice::from_ref(&plain), ..job_of(&runs) };
        let lines = |report: &JobReport<'_>| markdown(report).lines().count();
        prop_assert_eq!(lines(&report), lines(&same));
        prop_assert_eq!(annotations(&report).lines().count(), 1);
    }
}

#[test]
fn a_heading_says_that_a_result_is_suspect() {
    let headings = |checks: &[&str]| {
        let mut late = samples::late();
        late.complete = true;
        let runs = [checked(late, checks)];
        assert_eq!(runs[0].grade(), Grade::Suspect);
        let text = markdown(&job_of(&runs));
        text.lines().next().unwrap().to_owned()
    };
    let alone = "### ⚠️ Loadline: a result that is suspect, and nothing to judge it by";
    assert_eq!(headings(&[]), alone);
    let passed = "### ⚠️ Loadline: passed (1 of 1) on a result that is suspect";
    assert_eq!(headings(&["errors<100%"]), passed);
    // A file that is compared is no better than a run.
    compared(&[], |compared| {
        let mut late = samples::late();
        late.complete = true;
        let late = RunResult::new(late);
        let files = ComparedFiles {
            comparison: compared.comparison,
            base: vec![compared.base[0]],
            with: vec![FileRun {
                result: &late,
                ..compared.with[0]
            }],
            tolerances: Vec::new(),
            slower_fails: false,
        };
        let report = JobReport {
            compared: Some(&files),
            ..job_of(&[])
        };
        assert_eq!(markdown(&report).lines().next(), Some(alone));
    });
}
