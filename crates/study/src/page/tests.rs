//! The pages of saved runs.

use super::*;
use crate::saved::Writer;
use crate::saved::samples::{done, failed};

fn second(at_s: f64, length_s: f64, cpu_percent: Option<f64>) -> Second {
    let mut second = Second {
        at_s,
        length_s,
        bandwidth_kb_per_s: Some(2.0),
        ..Second::default()
    };
    second.tool.cpu_percent = cpu_percent;
    second
}

fn moment(at_s: f64, rps: f64) -> Moment {
    Moment {
        at_s,
        rps,
        p99_us: Some(rps / 10.0),
    }
}

#[test]
fn what_was_watched_and_what_was_told_stand_on_one_axis() {
    let seconds = [
        second(0.5, 0.5, None),
        second(1.0, 0.5, Some(50.0)),
        second(2.0, 1.0, Some(70.0)),
        second(3.0, 1.0, Some(10.0)),
    ];
    let timeline = joined(&seconds, &[moment(1.0, 100.0), moment(2.0, 200.0)]).unwrap();
    assert_eq!(timeline.time_s, [0.25, 0.75, 1.5, 2.5]);
    let values = |measure| timeline.track(measure).map(|track| track.values.clone());
    let rate = [Some(100.0), Some(100.0), Some(200.0), None];
    assert_eq!(values(Measure::Rate), Some(rate.to_vec()));
    assert_eq!(
        values(Measure::Cpu),
        Some(vec![None, Some(50.0), Some(70.0), Some(10.0)])
    );
    assert_eq!(values(Measure::Bandwidth), Some(vec![Some(2_048.0); 4]));
    assert_eq!(
        values(Measure::Sockets),
        None,
        "what nobody knows has no track"
    );
    assert_eq!(joined(&[], &[]), None);
}

#[test]
fn a_page_has_a_row_for_each_run_and_the_columns_that_are_known() {
    let parent = tempfile::tempdir().unwrap();
    let text = "name = \"s\"\nseed = 4\npin = { tools = \"0-1\" }\n[[target]]\nname = \"t\"\n\
                url = \"http://127.0.0.1:1/\"\n[[runs]]\ntool = \"wrk\"\nduration = \"1s\"";
    let study = Study::parse(Path::new("s.toml"), text).unwrap();
    let folder = Folder::open(&parent.path().join("results"), &study).unwrap();
    folder.make(&study).unwrap();
    let runs = [done("wrk-c10", 1, 1_000.0), failed("ab-c10", 1)];
    for run in &runs {
        let path = folder.file(&run.header.name, run.header.repeat);
        let mut writer = Writer::begin(&path, run.header.clone()).unwrap();
        writer.second(second(1.0, 1.0, Some(33.0))).unwrap();
        writer.end(run.outcome.clone()).unwrap();
    }
    let page = study_page(&study, &folder, &runs, &["oha".to_owned()]).unwrap();
    let names: Vec<&str> = page
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert!(
        !names.contains(&"threads") && !names.contains(&"validity"),
        "{names:?}"
    );
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let cells = &page.rows[0].cells;
    assert_eq!(
        (names[0], &cells[0]),
        ("exp_name", &Cell::Text("wrk-c10".to_owned()))
    );
    assert_eq!(cells[place("rps")], Cell::Number(1_000.0));
    assert_eq!(cells[place("avg_memory")], Cell::Number(5_120.0 * 1_024.0));
    assert_eq!(page.rows[1].cells[place("rps")], Cell::Absent);
    assert_eq!(page.rows[0].finding, None);
    let finding = "The run failed: it ended with exit code 1.";
    assert_eq!(page.rows[1].finding.as_deref(), Some(finding));
    let cpu = page
        .plots
        .timelines
        .iter()
        .find(|chart| chart.name == "timeline-cpu");
    assert_eq!(cpu.unwrap().series[0].name, page.rows[0].name);
    let notes = [
        "oha was not on this machine; its runs were skipped.",
        "1 of 2 runs failed.",
    ];
    assert_eq!(page.notes, notes);
    let facts: Vec<&str> = page.facts.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(
        facts,
        ["shuffled by seed 4", "1", "0,1", "t at http://127.0.0.1:1/"]
    );
    for scatter in scatters(&study, &runs) {
        assert!(names.contains(&scatter.x.as_str()) && names.contains(&scatter.y.as_str()));
    }
}

#[test]
fn plots_tell_tools_apart_and_targets_where_there_is_one_tool() {
    let mut runs = [done("a", 1, 1_000.0), done("b", 1, 2_000.0)];
    for (run, target) in runs.iter_mut().zip(["nginx", "testbed"]) {
        run.header.settings.tool = "loadline".to_owned();
        run.header.settings.target = target.to_owned();
    }
    assert_eq!(grouping(&runs)(&runs[1]), "testbed");
    runs[0].header.settings.tool = "wrk".to_owned();
    assert_eq!(grouping(&runs)(&runs[1]), "loadline");
}

#[test]
fn a_run_that_answered_nothing_has_no_rate() {
    let (.., rate) = COLUMNS.iter().find(|column| column.0 == "rps").unwrap();
    assert_eq!(rate(&done("oha-c10", 1, 0.0)), Cell::Absent);
    assert_eq!(rate(&done("oha-c10", 1, 0.5)), Cell::Number(0.5));
}
