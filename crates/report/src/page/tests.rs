use super::*;
use crate::samples;
use loadline_page::{Measure, Page, Track};
use std::cmp::Reverse;

/// The page of a run, with a heatmap of one column for the whole of it.
fn page_of(summary: &Summary) -> RunPage {
    let mut heat = Heat::default();
    heat_interval(&mut heat, &summary.total);
    run_page(&samples::result(summary, Vec::new()), &heat)
}

fn track(page: &RunPage, measure: Measure) -> &Track {
    page.timeline.track(measure).unwrap()
}

#[test]
fn every_second_of_an_open_run_has_its_rates_and_times() {
    let page = page_of(&samples::stalled());
    assert_eq!(page.timeline.time_s.len(), 10);
    assert_eq!(page.timeline.time_s[0], 0.5);
    assert_eq!(track(&page, Measure::AskedRate).values[3], Some(2_000.0));
    let p99 = &track(&page, Measure::ResponseP99).values;
    // Nothing was answered while the server stood still.
    assert_eq!(p99[5], None);
    assert!(p99[6].unwrap() > 100.0 * p99[3].unwrap(), "{p99:?}");
    assert!(page.timeline.track(Measure::FailedRate).is_none());
}

#[test]
fn a_closed_run_has_no_schedule_to_show() {
    let page = page_of(&samples::closed());
    assert!(page.timeline.track(Measure::AskedRate).is_none());
    assert_eq!(page.spectra.len(), 1);
    assert!(page.percentiles.iter().all(|row| row.service.us.is_none()));
    assert!(page.timed_from.contains("closed loop"));
}

#[test]
fn a_spectrum_rises_to_the_largest_value() {
    let summary = samples::stalled();
    let page = page_of(&summary);
    let spectrum = &page.spectra[0];
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
    for track in page.resources.iter().flat_map(|resource| &resource.tracks) {
        assert_eq!(track.values.len(), page.timeline.time_s.len(), "{track:?}");
    }
    let cpu = &page.resources[1].tracks[0];
    assert_eq!((cpu.measure, cpu.values[2]), (Measure::Cpu, Some(50.0)));
    let notes = page.resources[1].notes.join(" ");
    assert!(notes.contains("Restarted as process 801"), "{notes}");
    assert!(notes.contains("another user"), "{notes}");
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
    assert!(page.timeline.track(Measure::FailedRate).is_some());
}

#[test]
fn a_run_without_an_answer_has_a_page() {
    let page = page_of(&samples::unanswered());
    assert!(page.percentiles.is_empty() && page.heatmap.is_none() && page.spectra.is_empty());
    assert!(
        page.timeline
            .tracks
            .iter()
            .any(|track| track.measure == Measure::InFlight)
    );
}

#[test]
fn the_page_of_three_requests_in_full() {
    let mut page = page_of(&samples::three());
    page.version = "0.0.0".to_owned();
    insta::assert_json_snapshot!(Page::Run(Box::new(page)));
}
