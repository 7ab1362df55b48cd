//! The charts of a study: two columns against each other, and the timelines of runs.

use super::run::line;
use crate::{
    Axis, Cell, Chart, Column, Mark, Measure, Scale, Scatter, Series, SharedX, StudyRow, Timeline,
    Unit, number,
};
use serde::Serialize;

/// The most runs that are shown at first: this many colours can be told apart at a glance.
const FIRST_SHOWN: usize = 5;

/// The charts of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyPlots {
    /// The x values of the series.
    pub shared_x: SharedX,
    /// The charts of pairs of columns.
    pub scatters: Vec<ScatterPlots>,
    /// Each measure over time, with a series for each run that has it. The reader selects runs;
    /// shown at first is the first run of each tool, of at most five tools.
    pub timelines: Vec<Chart>,
}

/// The charts of two columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ScatterPlots {
    /// The heading of the charts.
    pub title: String,
    /// A chart of all tools and, if there are several tools, one for each of them.
    pub charts: Vec<Chart>,
}

impl StudyPlots {
    /// Creates the charts of these rows, each with its timeline if one was recorded.
    pub fn new(
        columns: &[Column],
        rows: &[(StudyRow, Option<Timeline>)],
        scatters: &[Scatter],
    ) -> StudyPlots {
        let mut shared_x = SharedX::default();
        let scatters = scatters.iter().filter_map(|scatter| {
            let charts = scatter_charts(columns, rows, scatter, &mut shared_x)?;
            Some(ScatterPlots {
                title: scatter.title.clone(),
                charts,
            })
        });
        let scatters = scatters.collect();
        let shown = first_shown(rows);
        let timelines = TIMELINES
            .iter()
            .filter_map(|drawn| timeline_chart(rows, &shown, drawn, &mut shared_x));
        StudyPlots {
            scatters,
            timelines: timelines.collect(),
            shared_x,
        }
    }
}

/// Returns the names of the runs shown at first: the first run of each tool that has a timeline.
fn first_shown(rows: &[(StudyRow, Option<Timeline>)]) -> Vec<&str> {
    let mut shown: Vec<&StudyRow> = Vec::new();
    for (row, _) in rows.iter().filter(|(_, timeline)| timeline.is_some()) {
        if shown.iter().all(|other| other.tool != row.tool) {
            shown.push(row);
        }
    }
    shown.truncate(FIRST_SHOWN);
    shown.into_iter().map(|row| &*row.name).collect()
}

/// A run in a scatter chart: its tool, its name and its numbers in both columns.
type Dot<'a> = (&'a str, &'a str, f64, f64);

/// Plots one column over another; `None` if a column is missing or no row has both numbers.
fn scatter_charts(
    columns: &[Column],
    rows: &[(StudyRow, Option<Timeline>)],
    scatter: &Scatter,
    shared_x: &mut SharedX,
) -> Option<Vec<Chart>> {
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let (x, y) = (place(&scatter.x)?, place(&scatter.y)?);
    let number = |row: &StudyRow, column: usize| match row.cells.get(column) {
        Some(Cell::Number(number)) => Some(number::rounded(*number)),
        _ => None,
    };
    let dot = |(row, _): &'_ (StudyRow, _)| Some((number(row, x)?, number(row, y)?));
    let mut tools: Vec<&str> = Vec::new();
    let mut dots: Vec<Dot<'_>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let group = match &scatter.groups {
            None => Some(&row.0.tool),
            Some(groups) => groups.get(index).and_then(Option::as_ref),
        };
        if let (Some((across, up)), Some(tool)) = (dot(row), group) {
            let tool = &**tool;
            dots.push((tool, &row.0.name, across, up));
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
    }
    dots.sort_by(|a, b| a.2.total_cmp(&b.2));
    let stem = &scatter.name;
    let title = format!("{} by {}", columns[y].title, columns[x].title);
    let mut draw = |name: &str, title: &str, drawn: &[&str]| {
        let dots: Vec<&Dot<'_>> = dots.iter().filter(|dot| drawn.contains(&dot.0)).collect();
        let highest = dots.last()?.2;
        let end = if highest > 0.0 { 1.05 * highest } else { 1.0 };
        let x_axis = Axis::linear(&columns[x].title, columns[x].unit).between(0.0, end);
        let scale = if scatter.is_log {
            Scale::Log
        } else {
            Scale::Linear
        };
        let y_axis = Axis::new(&columns[y].title, columns[y].unit, scale);
        let series = drawn.iter().map(|tool| {
            let dots = dots.iter().filter(|dot| dot.0 == *tool);
            let (places, up): (Vec<_>, Vec<_>) = dots
                .map(|(_, name, across, up)| ((*across, (*name).to_owned()), Some(*up)))
                .unzip();
            let (places, names) = places.into_iter().unzip();
            let colour = tools.iter().position(|one| one == tool).unwrap_or(0);
            Series::new(tool, shared_x.add(places, names), up, Mark::Dots, colour)
        });
        Chart::of_series((name, title, ""), x_axis, y_axis, series.collect())
    };
    let mut charts = vec![draw(stem, &title, &tools)?];
    if tools.len() > 1 {
        charts.extend(tools.iter().filter_map(|tool| {
            let name = format!("{stem}-{}", slug(tool));
            draw(&name, &format!("{title}: {tool}"), &[tool])
        }));
    }
    Some(charts)
}

/// Returns a tool's name as part of a file name: `ab -k` is `ab-k`.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

/// A measure over time: the end of the chart's name, its title and its y axis.
type Drawn = (
    Measure,
    &'static str,
    &'static str,
    (&'static str, Unit, Scale),
);

const TIMELINES: [Drawn; 6] = [
    (
        Measure::Rate,
        "rate",
        "Rate",
        ("requests/s", Unit::PerSecond, Scale::Linear),
    ),
    (
        Measure::ResponseP99,
        "response-p99",
        "p99 of the response time",
        ("response time", Unit::Us, Scale::Log),
    ),
    (
        Measure::Cpu,
        "cpu",
        "CPU",
        ("CPU (100 % is one core)", Unit::Percent, Scale::Linear),
    ),
    (
        Measure::Memory,
        "memory",
        "Memory",
        ("resident memory", Unit::Bytes, Scale::Linear),
    ),
    (
        Measure::Bandwidth,
        "bandwidth",
        "Bandwidth",
        ("bandwidth", Unit::BytesPerSecond, Scale::Linear),
    ),
    (
        Measure::Sockets,
        "sockets",
        "Open sockets",
        ("sockets", Unit::Count, Scale::Linear),
    ),
];

fn timeline_chart(
    rows: &[(StudyRow, Option<Timeline>)],
    shown: &[&str],
    (measure, name, title, (y_title, unit, scale)): &Drawn,
    shared_x: &mut SharedX,
) -> Option<Chart> {
    let series = rows.iter().filter_map(|(row, timeline)| {
        let timeline = timeline.as_ref()?;
        let track = timeline.track(*measure)?;
        let place = shown.iter().position(|name| *name == row.name);
        let colour = place.unwrap_or(0);
        Some(Series {
            is_hidden: place.is_none(),
            ..line(&row.name, &timeline.time_s, track, colour, shared_x)
        })
    });
    Chart::of_series(
        (&format!("timeline-{name}"), title, ""),
        Axis::linear("time since the run's start", Unit::Seconds),
        Axis::new(y_title, *unit, *scale),
        series.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Track;

    fn columns() -> Vec<Column> {
        let column = |name: &str, unit| Column {
            name: name.to_owned(),
            title: name.to_uppercase(),
            unit,
        };
        vec![
            column("rps", Unit::PerSecond),
            column("memory", Unit::Bytes),
        ]
    }

    fn rows() -> Vec<(StudyRow, Option<Timeline>)> {
        let row = |tool: &str, name: &str, rate, memory| StudyRow {
            tool: tool.to_owned(),
            name: name.to_owned(),
            cells: vec![Cell::Number(rate), memory],
            finding: None,
        };
        vec![
            (row("wrk", "wrk 1", 9_000.0, Cell::Number(5e6)), None),
            (row("ab -k", "ab 1", 8_000.0, Cell::Number(48e6)), None),
            (row("wrk", "wrk 2", 10_000.0, Cell::Absent), None),
            (row("wrk", "wrk 3", 7_000.0, Cell::Number(4e6)), None),
        ]
    }

    fn scatter(y: &str) -> Scatter {
        Scatter {
            name: format!("{y}-by-rps"),
            title: "Rate and memory".to_owned(),
            x: "rps".to_owned(),
            y: y.to_owned(),
            is_log: false,
            groups: None,
        }
    }

    #[test]
    fn a_scatter_is_drawn_for_all_tools_and_for_each() {
        let plots = StudyPlots::new(&columns(), &rows(), &[scatter("memory")]);
        let charts = &plots.scatters[0].charts;
        let names: Vec<_> = charts
            .iter()
            .map(|chart| (&*chart.name, &*chart.title))
            .collect();
        assert_eq!(
            names,
            [
                ("memory-by-rps", "MEMORY by RPS"),
                ("memory-by-rps-wrk", "MEMORY by RPS: wrk"),
                ("memory-by-rps-ab-k", "MEMORY by RPS: ab -k"),
            ]
        );
        let of = |chart: usize| &charts[chart].series;
        let points: Vec<_> = plots.shared_x.points(&of(0)[0]).collect();
        assert_eq!(points, [(7_000.0, 4e6), (9_000.0, 5e6)]);
        assert_eq!((of(0)[0].x, of(0)[0].colour), (of(1)[0].x, of(1)[0].colour));
        assert_eq!(of(0)[1].colour, of(2)[0].colour);
    }

    #[test]
    fn a_scatter_may_have_series_of_its_own() {
        let group = |name: &str| Some(name.to_owned());
        let own = Scatter {
            is_log: true,
            groups: Some(vec![group("old"), None, group("old"), group("new")]),
            ..scatter("memory")
        };
        let plots = StudyPlots::new(&columns(), &rows(), &[own]);
        let all = &plots.scatters[0].charts[0];
        let names: Vec<_> = all.series.iter().map(|series| &*series.name).collect();
        assert_eq!(names, ["old", "new"], "a row without a group is not drawn");
        assert_eq!(all.y.scale, Scale::Log);
    }

    #[test]
    fn a_scatter_of_a_column_that_is_not_there_is_left_out() {
        let plots = StudyPlots::new(&columns(), &rows(), &[scatter("cpu")]);
        assert_eq!(plots.scatters, []);
    }

    #[test]
    fn the_first_run_of_each_tool_is_shown() {
        let mut rows = rows();
        for (index, (_, timeline)) in rows.iter_mut().enumerate() {
            let base = 1e6 * (index + 1) as f64;
            let values = vec![Some(base), Some(2.0 * base)];
            let measure = Measure::Memory;
            *timeline = Some(Timeline {
                time_s: vec![0.5, 1.5],
                tracks: vec![Track { measure, values }],
            });
        }
        let plots = StudyPlots::new(&columns(), &rows, &[]);
        let names: Vec<_> = plots.timelines.iter().map(|chart| &*chart.name).collect();
        assert_eq!(names, ["timeline-memory"]);
        let series = plots.timelines[0].series.iter();
        let shown: Vec<_> = series
            .map(|line| (&*line.name, line.is_hidden, line.y[1]))
            .collect();
        assert_eq!(shown[0], ("wrk 1", false, Some(2e6)));
        assert_eq!(shown[1], ("ab 1", false, Some(4e6)));
        assert_eq!(shown[2..].iter().filter(|line| line.1).count(), 2);
    }
}
