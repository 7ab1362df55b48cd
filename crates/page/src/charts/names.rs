//! The charts of the names of a run.

use super::run::line;
use crate::{Axis, Chart, Measure, Series, SharedX, Timeline, Unit};

/// The most names in a chart: more lines cannot be told apart.
const MOST: usize = 20;
/// The number of names that are drawn before a reader selects others.
const SHOWN: usize = 6;

/// Returns the charts of the busiest names. `names` holds each name with its timeline, the busiest
/// first.
pub(super) fn charts(
    names: &[(String, Timeline)],
    x: &Axis,
    shared_x: &mut SharedX,
) -> impl Iterator<Item = Chart> + use<> {
    let rate = Axis::linear("requests/s", Unit::PerSecond);
    let p99 = Axis::log("response time", Unit::Us);
    let note = match names.len() {
        ..=SHOWN => "",
        _ => "Press a name in the legend to draw its line.",
    };
    let charts = [
        (("name-rate", "Rate by name", note), Measure::Rate, rate),
        (
            ("name-p99", "p99 of the response time by name", note),
            Measure::ResponseP99,
            p99,
        ),
    ];
    let charts = charts.map(|(words, measure, y)| {
        Chart::of_series(words, x.clone(), y, lines(names, measure, shared_x))
    });
    charts.into_iter().flatten()
}

fn lines(names: &[(String, Timeline)], measure: Measure, shared_x: &mut SharedX) -> Vec<Series> {
    let shown = names.iter().take(MOST).enumerate();
    let lines = shown.filter_map(|(index, (name, course))| {
        let track = course.track(measure)?;
        let mut line = line(name, &course.time_s, track, index, shared_x);
        line.is_hidden = index >= SHOWN;
        Some(line)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunNumbers, RunPlots, Track};

    fn course(rate: f64) -> Timeline {
        let track = |measure, value| Track {
            measure,
            values: vec![Some(value); 3],
        };
        Timeline {
            time_s: vec![0.5, 1.5, 2.5],
            tracks: vec![
                track(Measure::Rate, rate),
                track(Measure::ResponseP99, 1_000.0),
            ],
        }
    }

    #[test]
    fn the_first_names_are_drawn_and_the_others_can_be_chosen() {
        let names = (0..30).map(|name| (format!("name {name}"), course(f64::from(30 - name))));
        let plots = RunPlots::new(RunNumbers {
            timeline: course(100.0),
            names: names.collect(),
            ..RunNumbers::default()
        });
        let of = |name| {
            plots
                .course
                .iter()
                .find(|chart| chart.name == name)
                .unwrap()
        };
        for chart in [of("name-rate"), of("name-p99")] {
            let hidden = chart.series.iter().filter(|line| line.is_hidden).count();
            assert_eq!((chart.series.len(), hidden), (MOST, MOST - SHOWN));
            assert!(chart.note.contains("legend"));
        }
        assert_eq!(of("name-rate").series[1].name, "name 1");
    }

    #[test]
    fn a_run_of_one_name_has_no_such_chart() {
        let plots = RunPlots::new(RunNumbers {
            timeline: course(100.0),
            ..RunNumbers::default()
        });
        assert!(
            plots
                .course
                .iter()
                .all(|chart| !chart.name.starts_with("name-"))
        );
    }
}
