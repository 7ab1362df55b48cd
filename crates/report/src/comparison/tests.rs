use super::*;
use crate::comparison_json;
use crate::samples;
use loadline_metrics::Key;
use loadline_stats::compare::compare_runs;
use loadline_verdict::{ComparedMetrics, ComparedName, ComparedNames, Tolerance, ToleranceResult};

const MS: f64 = 1e6;

/// A figure of six runs a side, B longer by this factor.
fn compared(figure: Figure, base: f64, factor: f64, standing: Standing) -> ComparedFigure {
    let runs = [0.98, 1.0, 1.02, 0.99, 1.01, 1.0].map(|spread| base * spread);
    let with = runs.map(|run| run * factor);
    let ratio = compare_runs(&runs, &with, 0.95, 1).unwrap();
    ComparedFigure {
        figure,
        base,
        with: base * factor,
        ratio,
        standing,
        more_runs: ratio.more_runs(6),
    }
}

fn sides(runs: usize, failed: f64) -> Comparison {
    Comparison {
        base_runs: runs,
        with_runs: runs,
        paired: false,
        figures: vec![
            compared(Figure::Percentile(50.0), 0.136 * MS, 1.1, Standing::Slower),
            compared(
                Figure::Percentile(99.0),
                7.52 * MS,
                1.005,
                Standing::CannotTell,
            ),
            compared(
                Figure::Percentile(99.9),
                12.2 * MS,
                1.0,
                Standing::CannotTell,
            ),
            compared(Figure::Rate, 2_000.0, 12.5, Standing::Faster),
        ],
        bounds: Vec::new(),
        base_failed: 0.0,
        with_failed: failed,
        names: ComparedNames::default(),
        of_rules: Default::default(),
        metrics: ComparedMetrics::default(),
    }
}

fn shown(sides: &Comparison) -> String {
    let plan = samples::open_plan(2_000, 50);
    comparison(sides, &plan, &plan, &TextOptions::default())
}

#[test]
fn metrics_of_scripts_stand_side_by_side() {
    let mut found = sides(6, 0.0);
    let counted = samples::counted().total.metrics;
    found.metrics.base.metrics.merge(&counted);
    found.metrics.base.rated_ns = 2_000_000_000;
    let key = Key::new("logins").unwrap();
    let logins = counted.get(&key).unwrap();
    found.metrics.with.metrics.add(&key, logins);
    found.metrics.with.metrics.add(&key, logins);
    found.metrics.with.rated_ns = 2_000_000_000;
    let report = shown(&found);
    let section = &report[report.find("Metrics of the scripts").unwrap()..];
    let end = section.find("\n\n").unwrap();
    insta::assert_snapshot!(&section[..end]);
    let plan = samples::open_plan(2_000, 50);
    let json = comparison_json(&found, &plan, &plan);
    assert_eq!(json["metrics"][0]["b"]["sum"], 240.0);
    assert_eq!(json["metrics"].as_array().unwrap().len(), 1);
}

#[test]
fn sets_of_repeats() {
    insta::assert_snapshot!(shown(&sides(6, 0.0)));
}

#[test]
fn names_of_both_sides_and_of_one() {
    let mut sides = sides(6, 0.0);
    let key = |name: &str| Key::new(name).unwrap();
    let named = |name, figures, with_failed| ComparedName {
        key: key(name),
        figures,
        base_failed: 0.0,
        with_failed,
    };
    let slower = vec![
        compared(Figure::Percentile(50.0), 5.0 * MS, 1.1, Standing::Slower),
        compared(Figure::Rate, 100.0, 1.001, Standing::CannotTell),
    ];
    sides.names = ComparedNames {
        common: vec![named("login", slower, 0.02), named("/a/b", Vec::new(), 0.0)],
        more: 3,
        open_percentiles: 2,
        only_base: vec![key("old")],
        only_with: ["1", "2", "3", "4", "5", "6"].map(key).to_vec(),
    };
    insta::assert_snapshot!(shown(&sides));
    let plan = samples::open_plan(2_000, 50);
    let found = comparison_json(&sides, &plan, &plan);
    let names = &found["names"];
    assert_eq!(names["common"][0]["name"], "login");
    assert_eq!(names["common"][0]["b_failed"], 0.02);
    assert_eq!(names["common"][0]["figures"][0]["standing"], "slower");
    assert_eq!(
        (&names["more"], &names["only_a"][0]),
        (&3.into(), &"old".into())
    );
}

#[test]
fn tolerances_say_what_came_of_them() {
    let sides = sides(2, 0.0);
    let results: Vec<ToleranceResult> = ["p50:+1%", "p50:+900%", "p99:+25%", "p97:+10%"]
        .map(|text| text.parse::<Tolerance>().unwrap().judge(&sides))
        .to_vec();
    insta::assert_snapshot!(tolerance_lines(&results, Style::new(false), 80).join("\n"));
    let sentences: Vec<String> = results.iter().filter_map(tolerance_sentence).collect();
    insta::assert_snapshot!(sentences.join("\n"));
    assert!(tolerance_lines(&[], Style::new(false), 80).is_empty());
}

#[test]
fn runs_of_different_length_have_both_lengths_in_the_head() {
    let (base, mut with) = (samples::open_plan(2_000, 50), samples::open_plan(2_000, 50));
    with.duration = Some(std::time::Duration::from_secs(300));
    let text = comparison(&sides(1, 0.0), &base, &with, &TextOptions::default());
    let lengths = ["A  ", "B  "].map(|side| {
        let mut lines = text.lines().filter(|line| line.starts_with(side));
        lines
            .nth(1)
            .map(|line| line.rsplit(", ").next().unwrap_or_default().to_owned())
    });
    assert!(lengths[0].is_some() && lengths[0] != lengths[1], "{text}");
    assert_eq!(lengths[1].as_deref(), Some("for 5 min"), "{text}");
}

#[test]
fn ends_that_the_runs_do_not_tell_are_no_numbers() {
    let mut sides = sides(2, 0.0);
    sides.figures[1].ratio.upper = 3e12;
    sides.figures[2].ratio.lower = 1e-9;
    sides.figures[2].ratio.upper = 2e9;
    insta::assert_snapshot!(shown(&sides));
}

#[test]
fn one_run_each_with_failures() {
    insta::assert_snapshot!(shown(&sides(1, 0.125)));
}

#[test]
fn nothing_told() {
    let mut equal = sides(6, 0.0);
    equal.figures.drain(..1);
    equal.figures.pop();
    let text = shown(&equal);
    assert!(
        text.contains("Whether B is faster or slower is not known."),
        "{text}"
    );
}

#[test]
fn no_line_is_wider_than_asked_for() {
    for line in shown(&sides(1, 0.125)).lines() {
        assert!(layout::width(line) <= 80, "{line}");
    }
}

#[test]
fn a_picture_keeps_to_ascii_where_there_is_nothing_else() {
    let plan = samples::open_plan(2_000, 50);
    let options = TextOptions {
        ascii: true,
        ..TextOptions::default()
    };
    let text = comparison(&sides(6, 0.0), &plan, &plan, &options);
    assert!(text.is_ascii() && !text.contains('?'), "{text}");
    assert!(text.contains("  p50      | o|"), "{text}");
}

#[test]
fn json_has_each_figure_with_its_interval() {
    let plan = samples::open_plan(2_000, 50);
    let found = comparison_json(&sides(6, 0.125), &plan, &plan);
    assert_eq!(found["b"]["failed"], 0.125);
    assert_eq!(
        (&found["a"]["runs"], &found["paired"]),
        (&6.into(), &false.into())
    );
    let figures = found["figures"].as_array().unwrap();
    assert_eq!(figures[0]["figure"], "p50");
    assert_eq!(
        (&figures[0]["a"], &figures[0]["unit"]),
        (&136.0.into(), &"us".into())
    );
    assert_eq!(figures[0]["standing"], "slower");
    assert_eq!(figures[1]["standing"], "cannot_tell");
    assert_eq!(figures[3]["unit"], "per_second");
    assert!(figures[1]["interval"]["lower"].as_f64() < figures[1]["ratio"].as_f64());
    assert_eq!(found["standing"], "slower");
}

#[test]
fn a_terminal_of_any_width_shows_a_comparison() {
    for width in 0..40 {
        let figures = sides(6, 0.0).figures;
        let lines = picture::lines(&figures, width);
        assert_eq!(lines.len(), figures.len() + 1, "{width}: {lines:?}");
        assert!(
            lines.iter().all(|line| line.chars().count() < 80),
            "{width}"
        );
    }
}
