//! The plots of a page as figures for files: the same data, drawn by `loadline-plot`.
//!
//! A figure can't be pointed at, so its numbers are in one unit: times are milliseconds, memory is
//! megabytes. Of a study's timelines the files show the runs that the page shows at first.

use crate::{
    Cell, Column, Heatmap, Measure, Page, Resource, RunPage, Scatter, SeriesPage, StudyPage,
    StudyRow, Timeline, Track, Unit,
};
use loadline_plot::{Axis, Figure, Series, Tile};

mod search;

pub(crate) use search::response_over_load;

const US_PER_MS: f64 = 1e3;
const BYTES_PER_KB: f64 = 1e3;
const BYTES_PER_MB: f64 = 1e6;

/// A plot of a page, and what its files are called.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    /// The name of its files, without an ending: `response-time`.
    pub name: String,
    /// What it shows.
    pub figure: Figure,
}

/// The plots of a page that have anything to show.
pub fn figures(page: &Page) -> Vec<NamedFigure> {
    let figures = match page {
        Page::Run(page) => of_run(page),
        Page::Series(page) => of_series(page),
        Page::Study(page) => of_study(page),
        Page::Search(page) => search::of_search(page),
    };
    let drawn = |NamedFigure { figure, .. }: &NamedFigure| {
        !(figure.series.is_empty() && figure.tiles.is_empty())
    };
    figures.into_iter().filter(drawn).collect()
}

fn named(
    name: impl Into<String>,
    title: &str,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
) -> NamedFigure {
    NamedFigure {
        name: name.into(),
        figure: Figure {
            title: title.to_owned(),
            x,
            y,
            series,
            tiles: Vec::new(),
            rules: Vec::new(),
        },
    }
}

/// The plots of each run, their names beginning with its number.
fn of_series(page: &SeriesPage) -> Vec<NamedFigure> {
    let numbered = page.runs.iter().zip(1..);
    let each = numbered.flat_map(|(run, number): (_, usize)| {
        of_run(&run.page).into_iter().map(move |named| NamedFigure {
            name: format!("run-{number}-{}", named.name),
            ..named
        })
    });
    each.collect()
}

fn of_run(page: &RunPage) -> Vec<NamedFigure> {
    let time = || Axis::linear("time since the end of warm-up", "s");
    let over = |measures: &[(Measure, &str)], unit: f64| -> Vec<Series> {
        let series = measures.iter().filter_map(|(measure, name)| {
            let track = page.timeline.track(*measure)?;
            Some(line(name, &page.timeline, track, unit))
        });
        series.collect()
    };
    let rates = [
        (Measure::Rate, "answered"),
        (Measure::AskedRate, "asked"),
        (Measure::FailedRate, "failed"),
    ];
    let times = [
        (Measure::ResponseP50, "p50"),
        (Measure::ResponseP90, "p90"),
        (Measure::ResponseP99, "p99"),
        (Measure::ResponseMax, "max"),
    ];
    let mut figures = vec![
        named(
            "rate",
            "Rate",
            time(),
            Axis::linear("rate", "requests/s"),
            over(&rates, 1.0),
        ),
        named(
            "response-time",
            "Response time",
            time(),
            Axis::log("response time", "ms"),
            over(&times, US_PER_MS),
        ),
        spectrum(page),
    ];
    figures.extend(page.heatmap.as_ref().map(|map| heatmap(map, time())));
    figures.extend(RESOURCES.map(|drawn| of_resources(page, drawn, time())));
    figures
}

fn spectrum(page: &RunPage) -> NamedFigure {
    let series = page.spectra.iter().map(|spectrum| {
        let times_ms = spectrum.us.iter().map(|us| us / US_PER_MS);
        let points = spectrum.percentile.iter().copied().zip(times_ms);
        Series::line(&spectrum.name, points.collect())
    });
    named(
        "spectrum",
        "Percentile spectrum",
        Axis::percentile("percentile"),
        Axis::log("time", "ms"),
        series.collect(),
    )
}

/// Of the counts their logarithm is shown: one slow answer among thousands must be seen.
fn heatmap(map: &Heatmap, time: Axis) -> NamedFigure {
    let counts = map.columns.iter().flat_map(|column| &column.counts);
    let most = (counts.copied().max().unwrap_or(0) as f64).ln_1p();
    let height_ms = |row: usize| map.lowest_us * map.ratio.powf(row as f64) / US_PER_MS;
    let tiles = map.columns.iter().flat_map(|column| {
        let rows = column.counts.iter().enumerate();
        let seen = rows.filter(|(_, count)| **count > 0);
        seen.map(move |(index, count)| {
            let row = column.first_row + index;
            Tile {
                x: (column.start_s, column.end_s),
                y: (height_ms(row), height_ms(row + 1)),
                depth: (*count as f64).ln_1p() / most,
            }
        })
    });
    let tiles = tiles.collect();
    let y = Axis::log("response time", "ms");
    let title = "Response time over time (the darker, the more answers)";
    let mut named = named("heatmap", title, time, y, Vec::new());
    named.figure.tiles = tiles;
    named
}

/// A measure of resources: what it is called, and how many of its unit make one of the axis.
type OfResources = (Measure, &'static str, &'static str, &'static str, f64);

const RESOURCES: [OfResources; 3] = [
    (Measure::Cpu, "cpu", "CPU", "% of one core", 1.0),
    (Measure::Memory, "memory", "Memory", "MB", BYTES_PER_MB),
    (Measure::Sockets, "sockets", "Open sockets", "", 1.0),
];

fn of_resources(page: &RunPage, drawn: OfResources, time: Axis) -> NamedFigure {
    let (measure, name, title, unit_name, unit) = drawn;
    let track = |resource: &Resource| {
        let track = resource
            .tracks
            .iter()
            .find(|track| track.measure == measure)?;
        Some(line(&resource.name, &page.timeline, track, unit))
    };
    let series = page.resources.iter().filter_map(track).collect();
    named(name, title, time, Axis::linear(title, unit_name), series)
}

fn line(name: &str, timeline: &Timeline, track: &Track, unit: f64) -> Series {
    let values = track.values.iter();
    let points = timeline.time_s.iter().copied().zip(values);
    // Sockets stay open between two counts of them: their line passes by what is not known.
    let points = points.filter(|(_, value)| track.measure != Measure::Sockets || value.is_some());
    let points = points.map(|(time_s, value)| (time_s, value.unwrap_or(f64::NAN) / unit));
    Series::line(name, points.collect())
}

fn of_study(page: &StudyPage) -> Vec<NamedFigure> {
    let scatters = page.scatters.iter();
    let scatters = scatters.filter_map(|scatter| of_scatter(page, scatter));
    let rows = page.first_chosen();
    let timelines = TIMELINES.map(|drawn| of_timelines(&rows, drawn));
    scatters.flatten().chain(timelines).collect()
}

/// A measure over the time of runs: what it is called, its title, and its axis with how many of its
/// unit make one of the axis.
type OfTimelines = (Measure, &'static str, &'static str, fn() -> Axis, f64);

const TIMELINES: [OfTimelines; 6] = [
    (
        Measure::Rate,
        "rate",
        "Rate",
        || Axis::linear("rate", "requests/s"),
        1.0,
    ),
    (
        Measure::ResponseP99,
        "response-p99",
        "p99 of the response time",
        || Axis::log("response time", "ms"),
        US_PER_MS,
    ),
    (
        Measure::Cpu,
        "cpu",
        "CPU",
        || Axis::linear("CPU", "% of one core"),
        1.0,
    ),
    (
        Measure::Memory,
        "memory",
        "Memory",
        || Axis::linear("resident memory", "MB"),
        BYTES_PER_MB,
    ),
    (
        Measure::Bandwidth,
        "bandwidth",
        "Bandwidth",
        || Axis::linear("bandwidth", "kB/s"),
        BYTES_PER_KB,
    ),
    (
        Measure::Sockets,
        "sockets",
        "Open sockets",
        || Axis::linear("open sockets", ""),
        1.0,
    ),
];

fn of_timelines(rows: &[&StudyRow], (measure, name, title, y, unit): OfTimelines) -> NamedFigure {
    let series = rows.iter().filter_map(|row| {
        let timeline = row.timeline.as_ref()?;
        Some(line(&row.name, timeline, timeline.track(measure)?, unit))
    });
    let time = Axis::linear("time since the run's start", "s");
    let name = format!("timeline-{name}");
    named(name, title, time, y(), series.collect())
}

/// Two columns against each other: for all tools together, then for each.
fn of_scatter(page: &StudyPage, scatter: &Scatter) -> Option<Vec<NamedFigure>> {
    let place = |name: &str| page.columns.iter().position(|column| column.name == name);
    let (x, y) = (place(&scatter.x)?, place(&scatter.y)?);
    let (across, up) = (&page.columns[x], &page.columns[y]);
    let all: Vec<Series> = tools(page)
        .into_iter()
        .map(|tool| dots(page, tool, x, y))
        .collect();
    let all: Vec<Series> = all
        .into_iter()
        .filter(|dots| !dots.points.is_empty())
        .collect();
    let stem = format!("{}-by-{}", scatter.y, scatter.x);
    let draw =
        |name: String, title: &str, series| named(name, title, axis(across), axis(up), series);
    let mut figures = vec![draw(stem.clone(), &scatter.title, all.clone())];
    if all.len() > 1 {
        figures.extend(all.into_iter().map(|dots| {
            let title = format!("{}: {}", scatter.title, dots.name);
            draw(format!("{stem}-{}", slug(&dots.name)), &title, vec![dots])
        }));
    }
    Some(figures)
}

fn tools(page: &StudyPage) -> Vec<&str> {
    let mut tools: Vec<&str> = Vec::new();
    for row in &page.rows {
        if !tools.contains(&row.tool.as_str()) {
            tools.push(&row.tool);
        }
    }
    tools
}

fn dots(page: &StudyPage, tool: &str, x: usize, y: usize) -> Series {
    let number = |cells: &[Cell], column: usize| match cells.get(column) {
        Some(Cell::Number(number)) => Some(number / scale(page.columns[column].unit).0),
        _ => None,
    };
    let rows = page.rows.iter().filter(|row| row.tool == tool);
    let points = rows.filter_map(|row| Some((number(&row.cells, x)?, number(&row.cells, y)?)));
    Series::dots(tool, points.collect())
}

fn axis(column: &Column) -> Axis {
    let (_, unit) = scale(column.unit);
    // A title that ends in its unit, as requests/s, says it already.
    let is_said = unit.starts_with("1/") && column.title.ends_with(&unit[1..]);
    Axis::linear(&column.title, if is_said { "" } else { unit })
}

/// How many of a unit make one of an axis, and what that is called.
fn scale(unit: Unit) -> (f64, &'static str) {
    match unit {
        Unit::Text | Unit::Count => (1.0, ""),
        Unit::PerSecond => (1.0, "1/s"),
        Unit::Percent => (1.0, "%"),
        Unit::Bytes => (BYTES_PER_MB, "MB"),
        Unit::BytesPerSecond => (BYTES_PER_KB, "kB/s"),
        Unit::Us => (US_PER_MS, "ms"),
        Unit::Seconds => (1.0, "s"),
    }
}

/// A tool's name in the name of a file.
fn slug(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let slug: String = name.chars().map(letter).collect();
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeatColumn;

    fn study() -> StudyPage {
        let column = |name: &str, unit| Column {
            name: name.to_owned(),
            title: name.to_uppercase(),
            unit,
        };
        let row = |tool: &str, rate, memory| StudyRow {
            tool: tool.to_owned(),
            name: tool.to_owned(),
            cells: vec![Cell::Number(rate), memory],
            doubt: None,
            timeline: None,
        };
        StudyPage {
            columns: vec![
                column("rps", Unit::PerSecond),
                column("memory", Unit::Bytes),
            ],
            rows: vec![
                row("wrk", 9_000.0, Cell::Number(5e6)),
                row("ab -k", 8_000.0, Cell::Number(48e6)),
                row("wrk", 10_000.0, Cell::Absent),
            ],
            scatters: vec![Scatter {
                title: "Rate and memory".to_owned(),
                x: "rps".to_owned(),
                y: "memory".to_owned(),
            }],
            ..StudyPage::default()
        }
    }

    #[test]
    fn a_scatter_is_drawn_for_all_tools_and_for_each() {
        let figures = figures(&Page::Study(Box::new(study())));
        let names: Vec<_> = figures.iter().map(|named| named.name.as_str()).collect();
        assert_eq!(
            names,
            ["memory-by-rps", "memory-by-rps-wrk", "memory-by-rps-ab--k"]
        );
        assert_eq!(figures[0].figure.series[0].points, [(9_000.0, 5.0)]);
        assert_eq!(figures[0].figure.y.unit, "MB");
    }

    #[test]
    fn a_scatter_of_a_column_that_is_not_there_is_left_out() {
        let mut study = study();
        study.scatters[0].y = "cpu".to_owned();
        assert_eq!(figures(&Page::Study(Box::new(study))), []);
    }

    #[test]
    fn the_timelines_of_the_first_run_of_each_tool_are_drawn() {
        let timeline = |base: f64| Timeline {
            time_s: vec![0.5, 1.5],
            tracks: vec![Track {
                measure: Measure::Memory,
                values: vec![Some(base), Some(2.0 * base)],
            }],
        };
        let mut study = study();
        study.scatters.clear();
        for (index, row) in study.rows.iter_mut().enumerate() {
            row.timeline = Some(timeline(1e6 * (index + 1) as f64));
        }
        let figures = figures(&Page::Study(Box::new(study)));
        assert_eq!(figures.len(), 1);
        assert_eq!(figures[0].name, "timeline-memory");
        let series = &figures[0].figure.series;
        let drawn: Vec<_> = series
            .iter()
            .map(|line| (line.name.as_str(), line.points[1].1))
            .collect();
        assert_eq!(drawn, [("wrk", 2.0), ("ab -k", 4.0)]);
    }

    #[test]
    fn a_line_of_open_sockets_goes_through_what_was_not_counted() {
        let track = |measure| Track {
            measure,
            values: vec![Some(4.0), None, Some(6.0)],
        };
        let timeline = Timeline {
            time_s: vec![0.5, 1.5, 2.5],
            tracks: Vec::new(),
        };
        let points = |measure| line("", &timeline, &track(measure), 1.0).points;
        assert_eq!(points(Measure::Sockets), [(0.5, 4.0), (2.5, 6.0)]);
        assert!(points(Measure::Cpu)[1].1.is_nan());
    }

    #[test]
    fn a_heatmap_has_a_tile_where_anything_came() {
        let page = RunPage {
            heatmap: Some(Heatmap {
                lowest_us: 100.0,
                ratio: 10.0,
                rows: 3,
                columns: vec![HeatColumn {
                    start_s: 0.0,
                    end_s: 1.0,
                    first_row: 1,
                    counts: vec![3, 0, 15],
                }],
            }),
            ..RunPage::default()
        };
        let figures = figures(&Page::Run(Box::new(page)));
        assert_eq!(figures[0].name, "heatmap");
        let tiles = &figures[0].figure.tiles;
        assert_eq!(tiles.len(), 2);
        assert_eq!(((tiles[0].x), tiles[0].y), ((0.0, 1.0), (1.0, 10.0)));
        assert_eq!((tiles[0].depth, tiles[1].depth), (0.5, 1.0));
    }

    #[test]
    fn a_run_has_the_figures_that_it_has_tracks_for() {
        let track = |measure, values| Track { measure, values };
        let page = RunPage {
            timeline: Timeline {
                time_s: vec![0.5, 1.5],
                tracks: vec![
                    track(Measure::Rate, vec![Some(10.0), None]),
                    track(Measure::ResponseP50, vec![Some(1_500.0), Some(2_000.0)]),
                ],
            },
            ..RunPage::default()
        };
        let figures = figures(&Page::Run(Box::new(page)));
        let names: Vec<_> = figures.iter().map(|named| named.name.as_str()).collect();
        assert_eq!(names, ["rate", "response-time"]);
        assert_eq!(figures[1].figure.series[0].points, [(0.5, 1.5), (1.5, 2.0)]);
        assert!(figures[0].figure.series[0].points[1].1.is_nan());
    }
}
