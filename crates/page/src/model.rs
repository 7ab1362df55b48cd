//! That the types here and those of the front end have the same fields.

use crate::{
    AnswerKind, Cell, CheckRow, Column, ErrorRow, Fact, Grade, Heat, LoadLine, Measure, Outcome,
    Page, PercentileRow, Resource, RunPage, Scatter, SearchPage, SeriesPage, SeriesRun, Spectrum,
    StatusRow, StudyPage, StudyRow, Table, TableRow, TimeRow, Timeline, Track, TrialEnd, TrialRow,
    Unit,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/model.ts");

/// The fields of this interface of the front end.
fn interface(model: &str, name: &str) -> BTreeSet<String> {
    let head = format!("export interface {name} {{\n");
    let (_, rest) = model.split_once(&head).expect(name);
    let (body, _) = rest.split_once("\n}").expect(name);
    let field = |line: &str| {
        line.split_once(':')
            .map(|(field, _)| field.trim().to_owned())
    };
    body.lines().filter_map(field).collect()
}

fn fields(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

fn timeline() -> Timeline {
    Timeline {
        time_s: vec![0.5],
        tracks: vec![Track {
            measure: Measure::Rate,
            values: vec![Some(1.0)],
        }],
    }
}

/// A run with something in every list.
fn run() -> RunPage {
    let mut heat = Heat::default();
    heat.observe(0, 1, [(1, 1)].into_iter());
    let text = String::new;
    RunPage {
        facts: vec![Fact {
            name: text(),
            text: text(),
        }],
        checks: vec![CheckRow {
            text: text(),
            outcome: Outcome::Kept,
            actual: text(),
            why: None,
        }],
        percentiles: vec![PercentileRow {
            name: text(),
            response: Default::default(),
            service: Default::default(),
        }],
        spectra: vec![Spectrum {
            name: text(),
            percentile: Vec::new(),
            us: Vec::new(),
        }],
        timeline: timeline(),
        heatmap: heat.map(0),
        statuses: vec![StatusRow {
            status: 200,
            count: 1,
        }],
        errors: vec![ErrorRow {
            kind: text(),
            count: 1,
            example: text(),
            remedy: text(),
        }],
        times: vec![TimeRow {
            name: text(),
            within_service: false,
            count: 1,
            cells: Vec::new(),
            mean_us: 1.0,
        }],
        resources: vec![Resource {
            name: text(),
            notes: Vec::new(),
            tracks: Vec::new(),
        }],
        ..RunPage::default()
    }
}

/// Several runs with something in every list.
fn series() -> SeriesPage {
    SeriesPage {
        together: Some(Table {
            rows: vec![TableRow::default()],
            ..Table::default()
        }),
        runs: vec![SeriesRun::default()],
        ..SeriesPage::default()
    }
}

/// A study with something in every list.
fn study() -> StudyPage {
    let text = String::new;
    StudyPage {
        columns: vec![Column {
            name: text(),
            title: text(),
            unit: Unit::Text,
        }],
        rows: vec![StudyRow {
            tool: text(),
            name: text(),
            cells: vec![Cell::Number(1.0), Cell::Text(text()), Cell::Absent],
            doubt: None,
            timeline: Some(timeline()),
        }],
        scatters: vec![Scatter {
            title: text(),
            x: text(),
            y: text(),
        }],
        ..StudyPage::default()
    }
}

/// A search with something in every list.
fn search() -> SearchPage {
    let text = String::new;
    SearchPage {
        load_line: Some(LoadLine {
            level: 1.0,
            low: 1.0,
            high: 1.0,
            text: text(),
        }),
        trials: vec![TrialRow {
            number: 1,
            purpose: text(),
            stretch: text(),
            level: 1.0,
            p50_us: None,
            p99_us: None,
            cells: Vec::new(),
            ended: TrialEnd::Held,
            text: text(),
        }],
        ..SearchPage::default()
    }
}

#[test]
fn every_type_has_the_fields_that_the_front_end_knows() {
    let model = std::fs::read_to_string(MODEL).unwrap();
    let run = serde_json::to_value(Page::Run(Box::new(run()))).unwrap();
    let series = serde_json::to_value(Page::Series(Box::new(series()))).unwrap();
    let study = serde_json::to_value(Page::Study(Box::new(study()))).unwrap();
    let search = serde_json::to_value(Page::Search(Box::new(search()))).unwrap();
    for (name, object) in [
        ("RunPage", &run),
        ("Fact", &run["facts"][0]),
        ("Validity", &run["validity"]),
        ("CheckRow", &run["checks"][0]),
        ("PercentileRow", &run["percentiles"][0]),
        ("TimedFigure", &run["percentiles"][0]["response"]),
        ("Spectrum", &run["spectra"][0]),
        ("Timeline", &run["timeline"]),
        ("Track", &run["timeline"]["tracks"][0]),
        ("Heatmap", &run["heatmap"]),
        ("HeatColumn", &run["heatmap"]["columns"][0]),
        ("StatusRow", &run["statuses"][0]),
        ("ErrorRow", &run["errors"][0]),
        ("TimeRow", &run["times"][0]),
        ("Resource", &run["resources"][0]),
        ("SeriesPage", &series),
        ("Table", &series["together"]),
        ("TableRow", &series["together"]["rows"][0]),
        ("SeriesRun", &series["runs"][0]),
        ("StudyPage", &study),
        ("Column", &study["columns"][0]),
        ("StudyRow", &study["rows"][0]),
        ("Scatter", &study["scatters"][0]),
        ("SearchPage", &search),
        ("SearchAnswer", &search["answer"]),
        ("LoadLine", &search["load_line"]),
        ("TrialRow", &search["trials"][0]),
    ] {
        assert_eq!(interface(&model, name), fields(object), "{name}");
    }
    assert_eq!(study["rows"][0]["cells"], json!([1, "", null]));
}

#[test]
fn every_word_is_one_that_the_front_end_knows() {
    let model = std::fs::read_to_string(MODEL).unwrap();
    let measures = [
        Measure::Rate,
        Measure::AskedRate,
        Measure::FailedRate,
        Measure::ResponseP50,
        Measure::ResponseP90,
        Measure::ResponseP99,
        Measure::ResponseMax,
        Measure::ServiceP99,
        Measure::InFlight,
        Measure::Cpu,
        Measure::Memory,
        Measure::Sockets,
        Measure::Threads,
        Measure::BytesIn,
        Measure::BytesOut,
        Measure::Bandwidth,
        Measure::CpuPressure,
    ];
    let units = [
        Unit::Text,
        Unit::Count,
        Unit::PerSecond,
        Unit::Percent,
        Unit::Bytes,
        Unit::BytesPerSecond,
        Unit::Us,
        Unit::Seconds,
    ];
    let grades = [Grade::Valid, Grade::Suspect, Grade::Invalid];
    let answers = [
        AnswerKind::Found,
        AnswerKind::AtLeast,
        AnswerKind::NothingHolds,
        AnswerKind::NotKnown,
    ];
    let ends = [
        TrialEnd::Held,
        TrialEnd::Broke,
        TrialEnd::SetAside,
        TrialEnd::WarmUp,
    ];
    let words = [
        json!(measures),
        json!(units),
        json!(grades),
        json!(answers),
        json!(ends),
    ];
    for word in words.iter().flat_map(|words| words.as_array().unwrap()) {
        assert!(model.contains(&word.to_string()), "{word}");
    }
}
