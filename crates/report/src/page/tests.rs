use super::*;
use crate::samples;
use loadline_metrics::{Key, RequestOutcome, SeriesId, SeriesRecorder, SeriesTable};
use loadline_page::{Chart, Measure, Page, Timeline, Track};
use std::cmp::Reverse;

/// The page of a run, with a heatmap of one column for the whole of it.
fn page_of(summary: &Summary) -> RunPage {
    let mut heat = Heat::default();
    heat_interval(&mut heat, &summary.total);
    run_page(&samples::result(summary, Vec::new()), &heat)
}

fn track(timeline: &Timeline, measure: Measure) -> &Track {
    timeline.track(measure).unwrap()
}

fn chart<'a>(page: &'a RunPage, name: &str) -> Option<&'a Chart> {
    let mut charts = page.plots.course.iter().chain(&page.plots.resources);
    charts.find(|chart| chart.name == name)
}

#[test]
fn every_second_of_an_open_run_has_its_rates_and_times() {
    let timeline = timeline::timeline(&samples::stalled());
    assert_eq!(timeline.time_s.len(), 10);
    assert_eq!(timeline.time_s[0], 0.5);
    assert_eq!(
        track(&timeline, Measure::AskedRate).values[3],
        Some(2_000.0)
    );
    let p99 = &track(&timeline, Measure::ResponseP99).values;
    // Nothing was answered while the server stalled.
    assert_eq!(p99[5], None);
    assert!(p99[6].unwrap() > 100.0 * p99[3].unwrap(), "{p99:?}");
    assert!(timeline.track(Measure::FailedRate).is_none());
}

#[test]
fn a_rest_that_is_too_short_for_a_rate_has_none() {
    let mut summary = samples::stalled();
    let mut rest = summary.rows[9];
    rest.start_ns = rest.end_ns;
    rest.end_ns += 1_000_000;
    summary.rows.push(rest);
    assert_eq!(timeline::timeline(&summary).time_s.len(), 10);
    rest.end_ns += 200_000_000;
    summary.rows[10] = rest;
    assert_eq!(timeline::timeline(&summary).time_s.len(), 11);
}

#[test]
fn a_closed_run_has_no_schedule_to_show() {
    let page = page_of(&samples::closed());
    let names = |name| {
        chart(&page, name)
            .unwrap()
            .series
            .iter()
            .map(|series| &*series.name)
    };
    let timeline = timeline::timeline(&samples::closed());
    assert!(timeline.track(Measure::Rate).is_some());
    assert!(timeline.track(Measure::AskedRate).is_none());
    assert_eq!(names("spectrum").count(), 1);
    // Of two seconds there is no course to be seen.
    assert!(chart(&page, "rate").is_none() && chart(&page, "heatmap").is_none());
    assert!(page.percentiles.iter().all(|row| row.service.us.is_none()));
    assert!(page.timed_from.contains("closed loop"));
}

#[test]
fn a_spectrum_rises_to_the_largest_value() {
    let summary = samples::stalled();
    let spectrum = &spectra(&summary)[0];
    assert!(spectrum.percentile.is_sorted() && spectrum.us.is_sorted());
    assert_eq!(spectrum.percentile[0], 0.0);
    let largest_us = summary.total.times.response.max_ns() as f64 / 1e3;
    assert_eq!(*spectrum.us.last().unwrap(), largest_us);
    assert!(
        (60..300).contains(&spectrum.us.len()),
        "{}",
        spectrum.us.len()
    );
}

#[test]
fn what_was_watched_stands_on_the_same_moments() {
    let page = page_of(&samples::watched());
    let names: Vec<_> = page
        .resources
        .iter()
        .map(|resource| &resource.name)
        .collect();
    assert_eq!(names, ["generator", ":8080 nginx", "host"]);
    let moments = chart(&page, "rate").unwrap().series[0].x;
    let cpu = &chart(&page, "cpu").unwrap().series;
    assert!(cpu.iter().all(|series| series.x == moments), "{cpu:?}");
    assert_eq!((&*cpu[1].name, cpu[1].y[2]), (":8080 nginx", Some(50.0)));
    let notes = page.resources[1].notes.join(" ");
    assert!(notes.contains("Restarted as process 801"), "{notes}");
    assert!(notes.contains("another user"), "{notes}");
    let host = &page.resources[2].notes[0];
    assert!(
        host.contains(" CPU of ") && !host.starts_with("Host"),
        "{host}"
    );
}

#[test]
fn failures_and_statuses_are_told() {
    let page = page_of(&samples::failing());
    assert!(page.errors.len() >= 7 && page.errors.is_sorted_by_key(|row| Reverse(row.count)));
    assert!(page.statuses.iter().any(|row| row.status == 503));
    let example = page
        .errors
        .iter()
        .find(|row| row.kind == "protocol")
        .unwrap();
    assert!(!example.example.contains('\u{1b}'), "{}", example.example);
    let timeline = timeline::timeline(&samples::failing());
    assert!(timeline.track(Measure::FailedRate).is_some());
}

#[test]
fn requests_that_were_sent_again_stand_below_the_connections() {
    let told = |resent| {
        let mut summary = samples::steady();
        summary.total.counts.resent = resent;
        let facts = page_of(&summary).facts.into_iter();
        let behind = facts.skip_while(|fact| fact.name != "connections").nth(1);
        behind
            .filter(|fact| fact.name == "resent")
            .map(|fact| fact.text)
    };
    assert_eq!(told(0), None);
    assert_eq!(told(1).as_deref(), Some("1 request sent again"));
    assert_eq!(told(2).as_deref(), Some("2 requests sent again"));
}

#[test]
fn a_run_without_an_answer_has_a_page() {
    let page = page_of(&samples::unanswered());
    assert!(page.percentiles.is_empty());
    for (name, is_shown) in [("heatmap", false), ("spectrum", false), ("in-flight", true)] {
        assert_eq!(chart(&page, name).is_some(), is_shown, "{name}");
    }
}

#[test]
fn the_busiest_names_have_a_course() {
    let summary = samples::named();
    let plots = RunPlots::new(RunNumbers {
        timeline: timeline::timeline(&summary),
        names: timeline::of_names(&summary, MOST_MOMENTS),
        ..RunNumbers::default()
    });
    let charts = &plots.course;
    let rate = charts.iter().find(|chart| chart.name == "name-rate");
    let lines: Vec<_> = rate
        .unwrap()
        .series
        .iter()
        .map(|line| &*line.name)
        .collect();
    assert_eq!(lines, ["GET /articles", "login"]);
    assert_eq!(rate.unwrap().series[1].y, [Some(10.0), Some(13.0)]);
    let has_none = page_of(&samples::closed()).plots.course;
    assert!(
        has_none
            .iter()
            .all(|chart| !chart.name.starts_with("name-"))
    );
}

#[test]
fn each_metric_of_a_script_has_a_row() {
    assert!(page_of(&samples::closed()).metrics.is_empty());
    let page = page_of(&samples::counted());
    let rows: Vec<_> = page
        .metrics
        .iter()
        .map(|row| (&*row.name, &*row.kind))
        .collect();
    let expected = [
        ("cache_hits", "rate"),
        ("logins", "counter"),
        ("payload{size:big}", "trend"),
        ("queue_ms", "gauge"),
    ];
    assert_eq!(rows, expected);
    let last = &page.metrics[3].figures[0];
    assert_eq!((&*last.name, &*last.text), ("last", "3.25 ms"));
    assert!(page.metric_notes[0].starts_with("1 value is not counted"));
}

#[test]
fn each_name_has_a_row_and_the_overflow_a_note() {
    let mut table = SeriesTable::new(1);
    table.intern(&Key::new("login").unwrap());
    let mut recorder = SeriesRecorder::new(table);
    let answered = |status| RequestOutcome::Answered { status };
    recorder.record(SeriesId(0), answered(200), 1_000_000, true);
    recorder.record(SeriesId(0), answered(503), 1_000_000, true);
    recorder.record(SeriesId::OVERFLOW, answered(200), 1_000_000, true);
    let mut summary = samples::three();
    assert!(page_of(&summary).names.is_empty());
    summary.total.series = recorder.take();
    let page = page_of(&summary);
    let names: Vec<_> = page.names.iter().map(|row| &*row.name).collect();
    assert_eq!(names, ["login", "(other)"]);
    let login = &page.names[0];
    assert_eq!(login.cells.len(), page.name_columns.len());
    assert_eq!(login.cells[0], "2");
    assert_eq!(login.cells[6], "200: 1, 503: 1");
    assert!(login.is_bad && !page.names[1].is_bad);
    assert!(page.name_notes[0].starts_with("(other) holds the requests of all names beyond"));
}

#[test]
fn the_page_of_three_requests_in_full() {
    let mut page = page_of(&samples::three());
    page.version = "0.0.0".to_owned();
    insta::assert_json_snapshot!(Page::Run(Box::new(page)));
}
