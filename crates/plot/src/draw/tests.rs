use super::*;
use loadline_page::{Axis, HeatColumn, Heatmap, Mark, Series, Unit};
use proptest::prelude::*;
use roxmltree::{Document, Node};

pub(crate) fn chart(series: Vec<Series>) -> Chart {
    Chart {
        name: "response-time".to_owned(),
        title: "Response time by rate".to_owned(),
        note: String::new(),
        x: Axis::linear("rate", Unit::PerSecond),
        y: Axis::log("response time", Unit::Us),
        series,
        heatmap: None,
        reference_lines: Vec::new(),
    }
}

/// Returns a line through these points; a time that is not finite becomes a gap.
pub(crate) fn line(name: &str, points: &[(f64, f64)], shared_x: &mut SharedX) -> Series {
    let (x, y) = points.iter().copied().unzip::<f64, f64, Vec<_>, Vec<_>>();
    let y = y.into_iter().map(|us| us.is_finite().then_some(us));
    Series::new(
        name,
        shared_x.add(x, Vec::new()),
        y.collect(),
        Mark::Line,
        0,
    )
}

fn dots(name: &str, points: &[(f64, f64)], shared_x: &mut SharedX) -> Series {
    Series {
        mark: Mark::Dots,
        ..line(name, points, shared_x)
    }
}

fn two_series() -> (Chart, SharedX) {
    let mut shared_x = SharedX::default();
    let p50 = [(0.0, 200.0), (1_000.0, 210.0), (2_000.0, 300.0)];
    let p99 = [(0.0, 900.0), (1_000.0, 1_500.0), (2_000.0, 31_000.0)];
    let p50 = line("p50", &p50, &mut shared_x);
    let p99 = Series {
        colour: 1,
        ..dots("p99", &p99, &mut shared_x)
    };
    (chart(vec![p50, p99]), shared_x)
}

/// Draws a chart of one line through these points.
fn one_line(points: &[(f64, f64)]) -> String {
    let mut shared_x = SharedX::default();
    let series = line("only", points, &mut shared_x);
    svg(&chart(vec![series]), &shared_x)
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
    let (chart, shared_x) = two_series();
    insta::assert_snapshot!(svg(&chart, &shared_x));
}

#[test]
fn cells_lie_on_the_axes_darker_the_more_came() {
    let column = |start_s: f64, count| HeatColumn {
        start_s,
        end_s: start_s + 1.0,
        first_row: 0,
        counts: vec![count],
    };
    let map = Chart {
        heatmap: Some(Heatmap {
            lowest_us: 1_000.0,
            ratio: 10.0,
            rows: 1,
            columns: vec![column(0.0, 1), column(1.0, 1_000), column(f64::NAN, 9)],
        }),
        x: Axis::linear("time", Unit::Seconds).between(0.0, 2.0),
        y: Axis::log("response time", Unit::Us).between(1_000.0, 10_000.0),
        ..chart(Vec::new())
    };
    let document = svg(&map, &SharedX::default());
    assert!(document.contains("few to 1000 responses in a cell"));
    let document = Document::parse(&document).unwrap();
    let number = |node: &Node<'_, '_>, name| node.attribute(name)?.parse::<i32>().ok();
    let is_cell = |node: &Node<'_, '_>| number(node, "height").is_some_and(|height| height > 900);
    let cells = document.descendants().filter(is_cell).skip(1);
    let cells: Vec<_> = cells
        .map(|cell| (number(&cell, "x"), cell.attribute("fill")))
        .collect();
    let [(left, light), (right, dark)] = cells[..] else {
        panic!("two cells: {cells:?}");
    };
    assert!(
        left < right && dark == Some("#182C5C") && light != dark,
        "{cells:?}"
    );
    assert!(!texts(&document).iter().any(|text| text == "no data"));
}

#[test]
fn titles_units_and_legend_are_there() {
    let (chart, shared_x) = two_series();
    let document = svg(&chart, &shared_x);
    let document = Document::parse(&document).unwrap();
    let texts = texts(&document);
    for words in [
        "Response time by rate",
        "rate (1/s)",
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
fn a_reference_line_stands_in_its_place_with_its_label_above_it() {
    let line = |at, label: &str| ReferenceLine {
        at,
        band: Some((at - 100.0, at + 100.0)),
        label: label.to_owned(),
    };
    let (mut chart, shared_x) = two_series();
    chart.reference_lines = vec![line(1_500.0, "here"), line(f64::NAN, "nowhere")];
    let document = svg(&chart, &shared_x);
    assert_eq!(document.matches("#E2E2E2").count(), 1);
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
    let document = one_line(&[(0.0, 1.0), (1.0, 2.0)]);
    assert!(!texts(&Document::parse(&document).unwrap()).contains(&"only".to_owned()));
}

#[test]
fn a_point_that_is_on_no_axis_interrupts_the_line() {
    for gap in [(2.0, f64::NAN), (2.0, 0.0), (f64::INFINITY, 1.0)] {
        let points = vec![(0.0, 1.0), (1.0, 2.0), gap, (3.0, 2.0), (4.0, 1.0)];
        let document = one_line(&points);
        let document = Document::parse(&document).unwrap();
        assert_eq!(lines_of(&document, crate::PALETTE[0]), 2, "{gap:?}");
    }
}

#[test]
fn a_point_of_a_line_without_neighbours_is_a_dot() {
    let gap = (1.0, f64::NAN);
    let points = vec![(0.0, 1.0), gap, (2.0, 2.0), gap, (4.0, 1.0), (5.0, 1.0)];
    let document = one_line(&points);
    let document = Document::parse(&document).unwrap();
    let is_circle = |node: &Node<'_, '_>| node.has_tag_name("circle");
    assert_eq!(document.descendants().filter(is_circle).count(), 2);
    assert_eq!(lines_of(&document, crate::PALETTE[0]), 1);
}

#[test]
fn without_a_point_it_says_so() {
    let mut shared_x = SharedX::default();
    let empty = vec![
        dots("", &[], &mut shared_x),
        line("", &[(1.0, f64::NAN)], &mut shared_x),
    ];
    for series in [vec![], empty] {
        let document = svg(&chart(series), &shared_x);
        assert!(texts(&Document::parse(&document).unwrap()).contains(&"no data".to_owned()));
    }
}

#[test]
fn what_is_hidden_is_not_drawn() {
    let mut shared_x = SharedX::default();
    let series = Series {
        is_hidden: true,
        ..line("", &[(0.0, 1.0), (1.0, 2.0)], &mut shared_x)
    };
    let document = svg(&chart(vec![series]), &shared_x);
    assert!(texts(&Document::parse(&document).unwrap()).contains(&"no data".to_owned()));
}

#[test]
fn a_goal_is_dashed() {
    let mut shared_x = SharedX::default();
    let points = [(0.0, 1.0), (1_000.0, 1.0)];
    let mut series = line("", &points, &mut shared_x);
    let plain = svg(&chart(vec![series.clone()]), &shared_x);
    series.mark = Mark::Dashed;
    let dashed = svg(&chart(vec![series]), &shared_x);
    let count = |document: &str| lines_of(&Document::parse(document).unwrap(), crate::PALETTE[0]);
    assert!(
        count(&plain) == 1 && count(&dashed) > 10,
        "{}",
        count(&dashed)
    );
}

#[test]
fn the_legend_takes_as_many_rows_as_it_needs() {
    let mut shared_x = SharedX::default();
    let series = (0..9).map(|n| {
        let name = format!("a tool with a long name, number {n}");
        dots(&name, &[(1.0, 1.0)], &mut shared_x)
    });
    let chart = chart(series.collect());
    let document = svg(&chart, &shared_x);
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
        let mut shared_x = SharedX::default();
        let series = vec![line(&name, &points, &mut shared_x), dots(&name, &points, &mut shared_x)];
        let mut chart = chart(series);
        chart.title = name;
        let scale = if log { loadline_page::Scale::Log } else { loadline_page::Scale::Linear };
        chart.y.scale = scale;
        let document = svg(&chart, &shared_x);
        prop_assert!(Document::parse(&document).is_ok());
    }
}
