use super::*;
use crate::{Axis, Rule, Tile};
use proptest::prelude::*;
use resvg::usvg::roxmltree::{Document, Node};

fn figure(series: Vec<Series>) -> Figure {
    Figure {
        title: "Response time by rate".to_owned(),
        x: Axis::linear("rate", "requests/s"),
        y: Axis::log("response time", "ms"),
        series,
        tiles: Vec::new(),
        rules: Vec::new(),
    }
}

fn two_series() -> Figure {
    figure(vec![
        Series::line("p50", vec![(0.0, 0.2), (1_000.0, 0.21), (2_000.0, 0.3)]),
        Series::dotted_line("p99", vec![(0.0, 0.9), (1_000.0, 1.5), (2_000.0, 31.0)]),
    ])
}

fn texts(document: &Document<'_>) -> Vec<String> {
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    let words = |node: Node<'_, '_>| node.text().unwrap_or_default().trim().to_owned();
    texts.map(words).collect()
}

fn lines_of(document: &Document<'_>, (red, green, blue): (u8, u8, u8)) -> usize {
    let colour = format!("#{red:02X}{green:02X}{blue:02X}");
    let lines = document
        .descendants()
        .filter(|node| node.has_tag_name("polyline"));
    lines
        .filter(|line| line.attribute("stroke") == Some(&colour))
        .count()
}

#[test]
fn the_document_is_that_of_the_snapshot() {
    insta::assert_snapshot!(svg(&two_series()));
}

#[test]
fn tiles_lie_on_the_axes_darker_the_more_is_in_them() {
    let tile = |left: f64, depth| Tile {
        x: (left, left + 1.0),
        y: (1.0, 10.0),
        depth,
    };
    let mut map = figure(Vec::new());
    map.tiles = vec![tile(0.0, 0.0), tile(1.0, 1.0), tile(f64::NAN, 1.0)];
    let document = svg(&map);
    let document = Document::parse(&document).unwrap();
    let coloured = |colour: &str| {
        let mut nodes = document.descendants();
        let found = nodes.find(|node| node.attribute("fill") == Some(colour));
        let found = found.unwrap_or_else(|| panic!("nothing is {colour}"));
        found.attribute("x").unwrap().parse::<i32>().unwrap()
    };
    assert!(coloured("#FAE25A") < coloured("#182C5C"));
    assert!(!texts(&document).iter().any(|text| text == "no data"));
}

#[test]
fn titles_units_and_legend_are_there() {
    let document = svg(&two_series());
    let document = Document::parse(&document).unwrap();
    let texts = texts(&document);
    for words in [
        "Response time by rate",
        "rate (requests/s)",
        "response time (ms)",
        "p50",
        "p99",
        "2 000",
        "0.2",
        "50",
    ] {
        assert!(texts.iter().any(|text| text == words), "{words}: {texts:?}");
    }
    assert_eq!(document.root_element().attribute("width"), Some("900"));
    assert_eq!(
        document.root_element().attribute("viewBox"),
        Some("0 0 3600 2160")
    );
}

#[test]
fn a_rule_stands_in_its_place_with_its_words_above_it() {
    let rule = |at, label: &str| Rule {
        at,
        label: label.to_owned(),
    };
    let mut figure = two_series();
    figure.rules = vec![rule(1_500.0, "here"), rule(f64::NAN, "nowhere")];
    let document = svg(&figure);
    let document = Document::parse(&document).unwrap();
    assert_eq!(
        texts(&document)
            .iter()
            .filter(|text| *text == "nowhere")
            .count(),
        0
    );
    let found = |text: &str| {
        let mut nodes = document.descendants();
        let node = nodes.find(|node| node.text().is_some_and(|found| found.trim() == text));
        let node = node.unwrap_or_else(|| panic!("nothing says {text}"));
        let number = |name| node.attribute(name).unwrap().parse::<i32>().unwrap();
        (number("x"), number("y"))
    };
    let across = |text| found(text).0;
    assert_eq!(across("here"), (across("1 000") + across("2 000")) / 2);
}

#[test]
fn one_series_needs_no_legend() {
    let document = svg(&figure(vec![Series::line(
        "only",
        vec![(0.0, 1.0), (1.0, 2.0)],
    )]));
    assert!(!texts(&Document::parse(&document).unwrap()).contains(&"only".to_owned()));
}

#[test]
fn a_point_that_is_on_no_axis_interrupts_the_line() {
    for gap in [(2.0, f64::NAN), (2.0, 0.0), (f64::INFINITY, 1.0)] {
        let points = vec![(0.0, 1.0), (1.0, 2.0), gap, (3.0, 2.0), (4.0, 1.0)];
        let document = svg(&figure(vec![Series::line("", points)]));
        let document = Document::parse(&document).unwrap();
        assert_eq!(lines_of(&document, crate::PALETTE[0]), 2, "{gap:?}");
    }
}

#[test]
fn a_point_of_a_line_without_neighbours_is_a_dot() {
    let gap = (1.0, f64::NAN);
    let points = vec![(0.0, 1.0), gap, (2.0, 2.0), gap, (4.0, 1.0), (5.0, 1.0)];
    let document = svg(&figure(vec![Series::line("", points)]));
    let document = Document::parse(&document).unwrap();
    let is_circle = |node: &Node<'_, '_>| node.has_tag_name("circle");
    assert_eq!(document.descendants().filter(is_circle).count(), 2);
    assert_eq!(lines_of(&document, crate::PALETTE[0]), 1);
}

#[test]
fn without_a_point_it_says_so() {
    for series in [
        vec![],
        vec![
            Series::dots("", vec![]),
            Series::line("", vec![(1.0, f64::NAN)]),
        ],
    ] {
        let document = svg(&figure(series));
        assert!(texts(&Document::parse(&document).unwrap()).contains(&"no data".to_owned()));
    }
}

#[test]
fn the_legend_takes_as_many_rows_as_it_needs() {
    let series = |n| {
        Series::dots(
            &format!("a tool with a long name, number {n}"),
            vec![(1.0, 1.0)],
        )
    };
    let document = svg(&figure((0..9).map(series).collect()));
    let document = Document::parse(&document).unwrap();
    let right = document
        .descendants()
        .filter(|node| node.text().is_some_and(|text| text.contains("long name")))
        .filter_map(|node| node.attribute("x")?.parse::<i32>().ok())
        .max();
    assert!(right.unwrap() < 2_700, "{right:?}");
}

proptest! {
    #[test]
    fn whatever_is_in_it_the_document_is_well_formed(
        name in "\\PC{0,20}|[<>&\"'\u{0}\u{7}\u{fffe}]{0,5}",
        points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
        log in any::<bool>(),
    ) {
        let mut figure = figure(vec![Series::dotted_line(&name, points), Series::dots(&name, vec![])]);
        figure.title = name;
        figure.y.scale = if log { crate::Scale::Log } else { crate::Scale::Linear };
        let document = svg(&figure);
        prop_assert!(Document::parse(&document).is_ok());
    }
}
