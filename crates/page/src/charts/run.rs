//! The charts of one run.

use super::names;
use crate::chart::INK;
use crate::{Axis, Chart, Heatmap, Mark, Measure, ReferenceLine, Scale, Series, SharedX};
use crate::{Spectrum, Timeline, Track, Unit, number};
use serde::Serialize;

/// The charts of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunPlots {
    /// The x values of the series.
    pub shared_x: SharedX,
    /// Rates and times of the requests.
    pub course: Vec<Chart>,
    /// The usage of processes and of the machine.
    pub resources: Vec<Chart>,
    /// Sentences about how long the points are, where they are longer than an interval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
    pub notes: Vec<String>,
}

/// The data of a run's charts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunNumbers {
    /// Rates and response times over time.
    pub timeline: Timeline,
    /// Distributions over the percentiles.
    pub spectra: Vec<Spectrum>,
    /// The response times over time.
    pub heatmap: Option<Heatmap>,
    /// The usage of processes and of the machine at the times of the timeline, each with its name.
    pub resources: Vec<(String, Vec<Track>)>,
    /// The timeline of each of the busiest names, the busiest first; empty if all requests have one
    /// name.
    pub names: Vec<(String, Timeline)>,
    /// The changes of the load and the notes, in chronological order: the time, in seconds from the
    /// beginning of the measured part, and a few words.
    pub marks: Vec<(f64, String)>,
    /// Sentences about how long the points are.
    pub notes: Vec<String>,
}

impl RunPlots {
    /// Creates the charts of these numbers; charts without a number are left out.
    pub fn new(numbers: RunNumbers) -> RunPlots {
        let mut shared_x = SharedX::default();
        let x = time_axis(&numbers.timeline, numbers.heatmap.as_ref());
        let marks = reference_lines(&numbers.marks);
        let mut resources: Vec<Chart> = RESOURCES
            .iter()
            .filter_map(|drawn| of_resources(&numbers, drawn, &x, &mut shared_x))
            .collect();
        let course = [
            rate(&numbers.timeline, &x, &mut shared_x),
            response_time(&numbers.timeline, &x, &mut shared_x),
            numbers.heatmap.map(|map| heatmap(map, &x)),
            spectrum(&numbers.spectra, &mut shared_x),
            in_flight(&numbers.timeline, &x, &mut shared_x),
            users(&numbers.timeline, &x, &mut shared_x),
            iterations(&numbers.timeline, &x, &mut shared_x),
        ];
        let mut course: Vec<Chart> = course.into_iter().flatten().collect();
        course.extend(names::charts(&numbers.names, &x, &mut shared_x));
        for chart in course.iter_mut().chain(&mut resources) {
            if chart.x == x {
                chart.reference_lines.clone_from(&marks);
            }
        }
        RunPlots {
            course,
            resources,
            shared_x,
            notes: numbers.notes,
        }
    }
}

/// Returns an axis of time from zero on, the same for all charts of a run.
fn time_axis(timeline: &Timeline, heatmap: Option<&Heatmap>) -> Axis {
    let end_s = match (heatmap, &timeline.time_s[..]) {
        (Some(map), _) => map.columns.last().map_or(1.0, |column| column.end_s),
        (None, [.., before, last]) => last + (last - before) / 2.0,
        (None, [only]) => only * 1.5,
        (None, []) => 1.0,
    };
    let last_s = timeline.time_s.last().copied().unwrap_or(0.0);
    Axis::linear("time in the measured part", Unit::Seconds).between(0.0, end_s.max(last_s))
}

/// Returns a line for each mark in the measured part.
fn reference_lines(marks: &[(f64, String)]) -> Vec<ReferenceLine> {
    let measured = marks.iter().filter(|(at_s, _)| *at_s >= 0.0);
    let mark = |(at_s, label): &(f64, String)| ReferenceLine {
        at: number::milliseconds(*at_s),
        band: None,
        label: label.clone(),
    };
    measured.map(mark).collect()
}

fn rate(timeline: &Timeline, x: &Axis, shared_x: &mut SharedX) -> Option<Chart> {
    let lines = [
        // Dashed, because the asked rate is not a measurement.
        (Measure::AskedRate, Mark::Dashed, INK),
        (Measure::Rate, Mark::Line, 0),
        (Measure::FailedRate, Mark::Line, 1),
    ];
    let names = ("rate", "Rate", "");
    let y = Axis::linear("requests/s", Unit::PerSecond);
    Chart::of_series(names, x.clone(), y, over_time(timeline, &lines, shared_x))
}

fn response_time(timeline: &Timeline, x: &Axis, shared_x: &mut SharedX) -> Option<Chart> {
    let lines = [
        // First, so that it does not cover the p99 of the response time.
        (Measure::ServiceP99, Mark::Line, INK),
        (Measure::ResponseP50, Mark::Line, 0),
        (Measure::ResponseP90, Mark::Line, 1),
        (Measure::ResponseP99, Mark::Line, 2),
        (Measure::ResponseMax, Mark::Line, 3),
    ];
    let note = "Percentiles of each second, on a logarithmic scale.";
    let names = ("response-time", "Response time", note);
    let y = Axis::log("response time", Unit::Us);
    Chart::of_series(names, x.clone(), y, over_time(timeline, &lines, shared_x))
}

fn in_flight(timeline: &Timeline, x: &Axis, shared_x: &mut SharedX) -> Option<Chart> {
    let lines = [
        // First, so that it does not cover the mean.
        (Measure::InFlightMax, Mark::Line, 1),
        (Measure::InFlight, Mark::Line, 0),
    ];
    let note = match timeline.track(Measure::InFlightMax) {
        Some(_) => "Mean and maximum of each second.",
        None => "At the end of each second.",
    };
    let names = ("in-flight", "Requests in flight", note);
    let y = Axis::whole("requests");
    Chart::of_series(names, x.clone(), y, over_time(timeline, &lines, shared_x))
}

fn users(timeline: &Timeline, x: &Axis, shared_x: &mut SharedX) -> Option<Chart> {
    let lines = [(Measure::Users, Mark::Line, 0)];
    let note = "The most that were active at once in each second.";
    let names = ("users", "Virtual users", note);
    let y = Axis::whole("users");
    Chart::of_series(names, x.clone(), y, over_time(timeline, &lines, shared_x))
}

fn iterations(timeline: &Timeline, x: &Axis, shared_x: &mut SharedX) -> Option<Chart> {
    let lines = [(Measure::Iterations, Mark::Line, 0)];
    let names = ("iterations", "Iterations", "");
    let y = Axis::linear("iterations/s", Unit::PerSecond);
    Chart::of_series(names, x.clone(), y, over_time(timeline, &lines, shared_x))
}

fn over_time(
    timeline: &Timeline,
    lines: &[(Measure, Mark, usize)],
    shared_x: &mut SharedX,
) -> Vec<Series> {
    let series = lines.iter().filter_map(|(measure, mark, colour)| {
        let track = timeline.track(*measure)?;
        let mut series = line(measure.name(), &timeline.time_s, track, *colour, shared_x);
        series.mark = *mark;
        Some(series)
    });
    series.collect()
}

/// Returns a track as a line.
pub(super) fn line(
    name: &str,
    time_s: &[f64],
    track: &Track,
    colour: usize,
    shared_x: &mut SharedX,
) -> Series {
    let points = time_s.iter().map(|second| number::milliseconds(*second));
    let points = points.zip(track.values.iter().copied());
    // The number of sockets is not read each second if that costs too much: the line goes on from
    // one value to the next.
    let is_drawn = |value: &Option<f64>| track.measure != Measure::Sockets || value.is_some();
    let (x, y) = points.filter(|(_, value)| is_drawn(value)).unzip();
    Series::new(name, shared_x.add(x, Vec::new()), y, Mark::Line, colour)
}

fn spectrum(spectra: &[Spectrum], shared_x: &mut SharedX) -> Option<Chart> {
    let series = spectra.iter().enumerate().map(|(colour, spectrum)| {
        let x = shared_x.add(spectrum.percentile.clone(), Vec::new());
        let us = spectrum.us.iter().copied().map(Some);
        Series::new(&spectrum.name, x, us.collect(), Mark::Line, colour)
    });
    let note = "Each further nine takes the same width, so that the tail can be seen.";
    Chart::of_series(
        ("spectrum", "Percentile spectrum", note),
        Axis::new("percentile", Unit::Percent, Scale::Percentile),
        Axis::log("time", Unit::Us),
        series.collect(),
    )
}

fn heatmap(map: Heatmap, x: &Axis) -> Chart {
    let (low_us, high_us) = map.ends_us();
    Chart {
        name: "heatmap".to_owned(),
        title: "Heatmap of response times".to_owned(),
        note: "How many responses took how long, and when: percentiles do not show \
               this."
            .to_owned(),
        x: x.clone(),
        y: Axis::log("response time", Unit::Us).between(low_us, high_us),
        series: Vec::new(),
        heatmap: Some(map),
        reference_lines: Vec::new(),
    }
}

/// A chart of resources: its name, title, note, y axis and measures.
struct Drawn {
    names: (&'static str, &'static str, &'static str),
    y: (&'static str, Unit),
    measures: &'static [Measure],
}

const RESOURCES: [Drawn; 5] = [
    Drawn {
        names: ("cpu", "CPU", ""),
        y: ("CPU (100 % is one core)", Unit::Percent),
        measures: &[Measure::Cpu],
    },
    Drawn {
        names: (
            "memory",
            "Memory",
            "Of the host: memory that is not available.",
        ),
        y: ("resident memory", Unit::Bytes),
        measures: &[Measure::Memory],
    },
    Drawn {
        names: ("sockets", "Open sockets", ""),
        y: ("sockets", Unit::Count),
        measures: &[Measure::Sockets],
    },
    Drawn {
        names: ("network", "Network", ""),
        y: ("traffic", Unit::BytesPerSecond),
        measures: &[Measure::BytesIn, Measure::BytesOut],
    },
    Drawn {
        names: (
            "pressure",
            "Waiting for a core",
            "Time in which at least one task of the host waited.",
        ),
        y: ("share of the time", Unit::Percent),
        measures: &[Measure::CpuPressure],
    },
];

fn of_resources(
    numbers: &RunNumbers,
    drawn: &Drawn,
    x: &Axis,
    shared_x: &mut SharedX,
) -> Option<Chart> {
    let mut series = Vec::new();
    for (index, (resource, tracks)) in numbers.resources.iter().enumerate() {
        for (turn, measure) in drawn.measures.iter().enumerate() {
            let Some(track) = tracks.iter().find(|track| track.measure == *measure) else {
                continue;
            };
            let name = match drawn.measures.len() {
                1 => resource.clone(),
                _ => format!("{resource} {}", measure.name()),
            };
            let time_s = &numbers.timeline.time_s;
            series.push(line(&name, time_s, track, index + turn, shared_x));
        }
    }
    let y = Axis::linear(drawn.y.0, drawn.y.1);
    Chart::of_series(drawn.names, x.clone(), y, series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeatColumn;

    fn track(measure: Measure, values: Vec<Option<f64>>) -> Track {
        Track { measure, values }
    }

    fn numbers(tracks: Vec<Track>) -> RunNumbers {
        RunNumbers {
            timeline: Timeline {
                time_s: vec![0.5, 1.5],
                tracks,
            },
            ..RunNumbers::default()
        }
    }

    fn names(charts: &[Chart]) -> Vec<&str> {
        charts.iter().map(|chart| &*chart.name).collect()
    }

    #[test]
    fn a_run_has_the_charts_that_it_has_numbers_for() {
        let plots = RunPlots::new(numbers(vec![
            track(Measure::Rate, vec![Some(10.0), None]),
            track(Measure::ResponseP50, vec![Some(1_500.0), Some(2_000.0)]),
            track(Measure::InFlight, vec![None, None]),
        ]));
        assert_eq!(names(&plots.course), ["rate", "response-time"]);
        assert!(plots.resources.is_empty());
        let [rate, times] = &plots.course[..] else {
            panic!("two charts");
        };
        let points = |chart: &Chart| plots.shared_x.points(&chart.series[0]).collect::<Vec<_>>();
        assert_eq!(points(times), [(0.5, 1_500.0), (1.5, 2_000.0)]);
        assert!(points(rate)[1].1.is_nan());
        assert_eq!(rate.x.ends, Some((0.0, 2.0)));
    }

    #[test]
    fn what_was_asked_for_is_dashed_and_lies_below_what_was_measured() {
        let all = [Measure::Rate, Measure::AskedRate, Measure::FailedRate];
        let tracks = all.map(|measure| track(measure, vec![Some(1.0); 2]));
        let plots = RunPlots::new(numbers(tracks.into()));
        let drawn = plots.course[0].series.iter();
        let drawn: Vec<_> = drawn.map(|line| (&*line.name, line.mark)).collect();
        let line = Mark::Line;
        assert_eq!(
            drawn,
            [
                ("asked", Mark::Dashed),
                ("answered", line),
                ("failed", line)
            ]
        );
    }

    #[test]
    fn no_two_lines_of_response_times_have_one_colour() {
        let all = [
            Measure::ResponseP50,
            Measure::ResponseP90,
            Measure::ResponseP99,
            Measure::ResponseMax,
            Measure::ServiceP99,
        ];
        let tracks = all.map(|measure| track(measure, vec![Some(1.0); 2]));
        let plots = RunPlots::new(numbers(tracks.into()));
        let mut colours: Vec<_> = plots.course[0].series.iter().map(|s| s.colour).collect();
        colours.sort_unstable();
        assert_eq!(colours, [0, 1, 2, 3, INK]);
    }

    #[test]
    fn a_line_of_open_sockets_goes_through_what_was_not_counted() {
        let mut shared = SharedX::default();
        let mut points = |measure| {
            let track = track(measure, vec![Some(4.0), None, Some(6.0)]);
            let series = line("", &[0.5, 1.5, 2.5], &track, 0, &mut shared);
            shared.points(&series).collect::<Vec<_>>()
        };
        assert_eq!(points(Measure::Sockets), [(0.5, 4.0), (2.5, 6.0)]);
        assert!(points(Measure::Cpu)[1].1.is_nan());
    }

    #[test]
    fn resources_share_a_chart_and_the_moments_of_the_run() {
        let mut numbers = numbers(vec![track(Measure::Rate, vec![Some(1.0); 2])]);
        let two = |measure| track(measure, vec![Some(1.0), Some(2.0)]);
        numbers.resources = vec![
            ("generator".to_owned(), vec![two(Measure::Cpu)]),
            (
                "host".to_owned(),
                vec![
                    two(Measure::Cpu),
                    two(Measure::BytesIn),
                    two(Measure::BytesOut),
                ],
            ),
        ];
        let plots = RunPlots::new(numbers);
        assert_eq!(names(&plots.resources), ["cpu", "network"]);
        let series = |chart: usize| {
            let series = plots.resources[chart].series.iter();
            series
                .map(|series| (&*series.name, series.x))
                .collect::<Vec<_>>()
        };
        assert_eq!(series(0), [("generator", 0), ("host", 0)]);
        assert_eq!(series(1), [("host received", 0), ("host sent", 0)]);
    }

    #[test]
    fn changes_of_the_load_are_marked_in_every_chart_over_time() {
        let mut numbers = numbers(vec![track(Measure::Rate, vec![Some(1.0); 2])]);
        let cpu = track(Measure::Cpu, vec![Some(1.0); 2]);
        numbers.resources = vec![("host".to_owned(), vec![cpu])];
        numbers.spectra = vec![Spectrum {
            name: "response time".to_owned(),
            percentile: vec![50.0],
            us: vec![100.0],
        }];
        let change = |at_s, label: &str| (at_s, label.to_owned());
        numbers.marks = vec![change(-0.5, "105 %"), change(1.25, "paused")];
        let plots = RunPlots::new(numbers);
        let charts = plots.course.iter().chain(&plots.resources);
        let marks = |chart: &Chart| -> Vec<_> {
            let lines = chart.reference_lines.iter();
            lines.map(|line| (line.at, line.label.clone())).collect()
        };
        let marked: Vec<_> = charts.map(|chart| (&*chart.name, marks(chart))).collect();
        let paused = vec![change(1.25, "paused")];
        let expected = [
            ("rate", paused.clone()),
            ("spectrum", Vec::new()),
            ("cpu", paused),
        ];
        assert_eq!(marked, expected);
    }

    #[test]
    fn a_heatmap_has_the_ends_of_the_run_and_of_its_rows() {
        let column = HeatColumn {
            start_s: 0.0,
            end_s: 3.0,
            first_row: 1,
            counts: vec![3, 0, 15],
        };
        let plots = RunPlots::new(RunNumbers {
            heatmap: Some(Heatmap {
                lowest_us: 121.0,
                ratio: 10.0,
                rows: 3,
                columns: vec![column],
            }),
            ..RunNumbers::default()
        });
        assert_eq!(names(&plots.course), ["heatmap"]);
        let chart = &plots.course[0];
        assert_eq!(chart.x.ends, Some((0.0, 3.0)));
        assert_eq!(chart.y.ends, Some((100.0, 121_000.0)));
    }
}
