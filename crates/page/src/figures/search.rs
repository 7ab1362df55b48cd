//! The plots of a search: response times over the load, and the course of its trials.

use super::{NamedFigure, US_PER_MS};
use crate::{SearchPage, TrialEnd, TrialRow};
use loadline_plot::{Axis, Figure, Rule, Series};

/// All plots of a search.
pub(super) fn of_search(page: &SearchPage) -> Vec<NamedFigure> {
    let named = |name: &str, figure| NamedFigure {
        name: name.to_owned(),
        figure,
    };
    vec![
        named("response-time-over-load", response_over_load(page)),
        named("trials", course(page)),
    ]
}

/// The p50 and the p99 of each trial that tells of the target, over its level.
pub(crate) fn response_over_load(page: &SearchPage) -> Figure {
    let dots = |name: &str, ends: &[TrialEnd], us: fn(&TrialRow) -> Option<f64>| {
        let trials = page
            .trials
            .iter()
            .filter(|trial| ends.contains(&trial.ended));
        let mut points: Vec<(f64, f64)> = trials
            .filter_map(|trial| Some((trial.level, us(trial)? / US_PER_MS)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series::dots(name, points)
    };
    let [held, broke] = [TrialEnd::Held, TrialEnd::Broke];
    let series = [
        dots("p99, it held", &[held], |trial| trial.p99_us),
        dots("p99, it broke", &[broke], |trial| trial.p99_us),
        dots("p50", &[held, broke], |trial| trial.p50_us),
    ];
    Figure {
        title: "Response time over the load".to_owned(),
        x: levels(page),
        y: Axis::log("response time", "ms"),
        series: drawn(series),
        tiles: Vec::new(),
        rules: load_line(page).into_iter().collect(),
    }
}

/// The level of each trial, one after the other.
fn course(page: &SearchPage) -> Figure {
    let dots = |name: &str, end: TrialEnd| {
        let trials = page.trials.iter().filter(|trial| trial.ended == end);
        let points = trials.map(|trial| (f64::from(trial.number), trial.level));
        Series::dots(name, points.collect())
    };
    let series = [
        dots("held", TrialEnd::Held),
        dots("broke", TrialEnd::Broke),
        dots("set aside", TrialEnd::SetAside),
        dots("warm-up", TrialEnd::WarmUp),
    ];
    Figure {
        title: "Course of the search".to_owned(),
        x: Axis::linear("trial", ""),
        y: levels(page),
        series: drawn(series),
        tiles: Vec::new(),
        rules: Vec::new(),
    }
}

fn levels(page: &SearchPage) -> Axis {
    match page.users {
        true => Axis::linear("users", ""),
        false => Axis::linear("rate asked for", "requests/s"),
    }
}

/// The series with anything to show.
fn drawn<const N: usize>(series: [Series; N]) -> Vec<Series> {
    let series = series.into_iter();
    series.filter(|series| !series.points.is_empty()).collect()
}

/// Where the load line is, if one was found.
fn load_line(page: &SearchPage) -> Option<Rule> {
    page.load_line.as_ref().map(|line| Rule {
        at: line.level,
        label: line.text.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadLine, Page, figures};

    fn trial(number: u32, level: f64, p99_us: Option<f64>, ended: TrialEnd) -> TrialRow {
        TrialRow {
            number,
            purpose: "search".to_owned(),
            stretch: "search".to_owned(),
            level,
            p50_us: p99_us.map(|us| us / 10.0),
            p99_us,
            cells: Vec::new(),
            ended,
            text: String::new(),
        }
    }

    fn search() -> SearchPage {
        SearchPage {
            trials: vec![
                trial(1, 10.0, Some(900.0), TrialEnd::WarmUp),
                trial(2, 100.0, Some(1_000.0), TrialEnd::Held),
                trial(3, 400.0, Some(80_000.0), TrialEnd::Broke),
                trial(4, 200.0, Some(90_000.0), TrialEnd::SetAside),
                trial(5, 200.0, Some(2_000.0), TrialEnd::Held),
                trial(6, 800.0, None, TrialEnd::Broke),
            ],
            load_line: Some(LoadLine {
                level: 200.0,
                low: 190.0,
                high: 220.0,
                text: "load line: 200 req/s".to_owned(),
            }),
            ..SearchPage::default()
        }
    }

    fn points<'a>(figure: &'a Figure, name: &str) -> &'a [(f64, f64)] {
        let found = figure.series.iter().find(|series| series.name == name);
        &found.expect("it is drawn").points
    }

    #[test]
    fn times_are_those_of_trials_that_tell_of_the_target() {
        let figure = search().response_figure();
        assert_eq!(
            points(&figure, "p99, it held"),
            [(100.0, 1.0), (200.0, 2.0)]
        );
        assert_eq!(points(&figure, "p99, it broke"), [(400.0, 80.0)]);
        assert_eq!(points(&figure, "p50").len(), 3);
        assert_eq!(figure.x.unit, "requests/s");
    }

    #[test]
    fn the_load_line_is_pointed_out_where_one_was_found() {
        let mut page = search();
        let rules = page.response_figure().rules;
        let rules: Vec<_> = rules.iter().map(|rule| (rule.at, &*rule.label)).collect();
        assert_eq!(rules, [(200.0, "load line: 200 req/s")]);
        page.load_line = None;
        assert_eq!(page.response_figure().rules, []);
    }

    #[test]
    fn the_course_has_every_trial_by_what_came_of_it() {
        let drawn = figures(&Page::Search(Box::new(search())));
        let names: Vec<_> = drawn.iter().map(|named| &*named.name).collect();
        assert_eq!(names, ["response-time-over-load", "trials"]);
        let course = &drawn[1].figure;
        assert_eq!(points(course, "held"), [(2.0, 100.0), (5.0, 200.0)]);
        assert_eq!(points(course, "broke"), [(3.0, 400.0), (6.0, 800.0)]);
        assert_eq!(points(course, "set aside"), [(4.0, 200.0)]);
        assert_eq!(points(course, "warm-up"), [(1.0, 10.0)]);
    }

    #[test]
    fn a_search_without_a_trial_has_no_figure() {
        let nothing = Page::Search(Box::default());
        assert_eq!(figures(&nothing), []);
    }
}
