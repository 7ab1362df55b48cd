//! Studies as files describe them, and their runs.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::path::Path;

fn study(runs: &str) -> Study {
    let targets = "[[target]]\nname = \"a\"\nurl = \"http://127.0.0.1:1/\"\n\
                   [[target]]\nname = \"b\"\nurl = \"http://127.0.0.1:2/\"\n";
    Study::parse(Path::new("s.toml"), &format!("{runs}\n{targets}")).unwrap()
}

fn names(runs: &[Run]) -> Vec<String> {
    runs.iter()
        .map(|run| format!("{}.{}", run.name, run.repeat))
        .collect()
}

#[test]
fn a_grid_is_the_product_of_its_axes_the_last_one_changing_fastest() {
    let study = study(
        "order = \"listed\"\n[[runs]]\ntool = [\"wrk\", \"hey\"]\ntarget = \"a\"\n\
         connections = [1, 2]\nduration = \"1s\"",
    );
    let expected = [
        "wrk-a-c1-1s.1",
        "wrk-a-c2-1s.1",
        "hey-a-c1-1s.1",
        "hey-a-c2-1s.1",
    ];
    assert_eq!(names(&study.runs(false).unwrap()), expected);
}

#[test]
fn a_quick_part_without_a_run_is_refused() {
    let study = study("[[runs]]\ntool = \"wrk\"\ntarget = \"a\"\nduration = \"1s\"\nquick = false");
    assert_eq!(study.runs(false).unwrap().len(), 1);
    let refusal = study.runs(true).unwrap_err().to_string();
    assert!(
        refusal.contains("no run belongs to the quick part"),
        "{refusal}"
    );
}

#[test]
fn rows_have_what_is_common_and_what_they_set_themselves() {
    let study = study(
        "order = \"listed\"\n[[runs]]\ntool = \"wrk\"\ntarget = \"b\"\nduration = \"1s\"\nrows = \
         [{ threads = 1, connections = [1, 2] }, { duration = \"2s\" }, { \"--timeout\" = 3 }]",
    );
    let expected = [
        "wrk-b-t1-c1-1s.1",
        "wrk-b-t1-c2-1s.1",
        "wrk-b-2s.1",
        "wrk-b-1s-timeout=3.1",
    ];
    assert_eq!(names(&study.runs(false).unwrap()), expected);
}

#[test]
fn runs_that_name_no_target_go_to_all_and_are_repeated_round_by_round() {
    let study =
        study("order = \"listed\"\nrepeats = 2\n[[runs]]\ntool = \"wrk\"\nduration = \"1s\"");
    let expected = ["wrk-a-1s.1", "wrk-b-1s.1", "wrk-a-1s.2", "wrk-b-1s.2"];
    assert_eq!(names(&study.runs(false).unwrap()), expected);
}

#[test]
fn a_quick_study_has_its_own_rows_and_lengths_and_no_run_twice() {
    let study = study(
        "order = \"listed\"\nrepeats = 5\n[[runs]]\ntool = \"wrk\"\ntarget = \"a\"\nquick = false\n\
         rows = [{ connections = 1, duration = \"60s\", quick = true },\n\
         { connections = 1, duration = \"120s\", quick = true },\n\
         { connections = 2, duration = \"60s\" }]\n\
         [quick]\nrepeats = 1\nduration = \"2s\"\nthreads = 7\n",
    );
    // No row sets threads, so the quick threads replace nothing.
    assert_eq!(names(&study.runs(true).unwrap()), ["wrk-a-c1-2s.1"]);
    assert_eq!(study.runs(false).unwrap().len(), 15);
}

#[test]
fn the_order_follows_from_the_seed_alone() {
    let shuffled = |seed: u64| {
        let study = study(&format!(
            "seed = {seed}\nrepeats = 2\n[[runs]]\ntool = \"wrk\"\ntarget = \"a\"\n\
             duration = \"1s\"\nconnections = [1, 2, 3]"
        ));
        names(&study.runs(false).unwrap())
    };
    assert_eq!(shuffled(7), shuffled(7));
    assert_ne!(shuffled(7), shuffled(8));
    let expected = [
        "wrk-a-c3-1s.2",
        "wrk-a-c3-1s.1",
        "wrk-a-c1-1s.1",
        "wrk-a-c2-1s.1",
        "wrk-a-c2-1s.2",
        "wrk-a-c1-1s.2",
    ];
    assert_eq!(shuffled(7), expected, "every release gives the same order");
}

#[test]
fn runs_may_be_shuffled_with_those_of_a_target_together() {
    let study = study(
        "order = \"by-target\"\nseed = 7\nrepeats = 2\n[[runs]]\ntool = \"wrk\"\n\
         duration = \"1s\"\nconnections = [1, 2, 3]",
    );
    let runs = study.runs(false).unwrap();
    let blocks: Vec<(u32, &str)> = runs
        .iter()
        .map(|run| (run.repeat, run.settings.target.as_str()))
        .collect();
    let mut distinct = blocks.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), 4, "{blocks:?}");
    assert!(blocks.is_sorted_by_key(|(repeat, _)| *repeat), "{blocks:?}");
    assert_eq!(names(&runs).into_iter().collect::<HashSet<_>>().len(), 12);
}

#[test]
fn two_targets_are_for_a_comparison_alone() {
    let refused = |runs: &str| {
        let study = study(&format!(
            "[[runs]]\ntarget = \"a\"\nduration = \"1s\"\n{runs}"
        ));
        study.runs(false).unwrap_err().to_string()
    };
    let other = refused("tool = \"wrk\"\nagainst = \"b\"");
    assert!(
        other.ends_with("wrk loads one target; leave `against` out."),
        "{other}"
    );
    let none = refused("tool = \"versus\"");
    let sentence = "versus needs a second target; say which with `against`.";
    assert!(none.ends_with(sentence), "{none}");
    let paced = refused("tool = \"capacity\"\nrate = 5");
    let sentence = "capacity sets the load itself; leave the rate out.";
    assert!(paced.ends_with(sentence), "{paced}");
}

#[test]
fn a_row_that_its_tool_cannot_run_is_refused_with_its_line() {
    let study = study("[[runs]]\ntool = \"wrk\"\nrows = [\n  { duration = \"500ms\" },\n]");
    let error = study.runs(false).unwrap_err().to_string();
    assert_eq!(
        error,
        "s.toml, line 4: wrk takes whole seconds, at least one; write such a duration."
    );
}

proptest! {
    #[test]
    fn shuffling_keeps_every_item(seed: u64, count in 0_usize..50) {
        let mut items: Vec<usize> = (0..count).collect();
        shuffle(&mut items, seed);
        items.sort_unstable();
        prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn names_are_distinct_and_name_files(values in prop::collection::vec("\\PC{0,40}", 1..8)) {
        let mut study = study("[[runs]]\ntool = \"wrk\"\ntarget = \"a\"\nduration = \"1s\"");
        let flag = |value: &String| Setting::Flag(crate::Flag {
            name: "-H".to_owned(),
            value: Some(value.clone()),
            on: true,
        });
        let axis = Axis {
            name: "-H".to_owned(),
            line: 1,
            values: values.iter().map(flag).collect(),
        };
        study.rows[0].axes.push(axis);
        let runs = study.runs(false).unwrap();
        let names: HashSet<&String> = runs.iter().map(|run| &run.name).collect();
        let distinct: HashSet<&String> = values.iter().collect();
        prop_assert_eq!(names.len(), distinct.len());
        for name in names {
            prop_assert!(name.len() < 200 && !name.contains(['/', '\0']), "{}", name);
        }
    }
}

#[test]
fn more_runs_than_anybody_waits_for_are_refused_before_they_are_listed() {
    let list = |count: u32| {
        (1..=count)
            .map(|value| value.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let axes = format!(
        "connections = [{}]\nthreads = [{}]",
        list(3_000),
        list(3_000)
    );
    for (head, axes) in [("repeats = 4294967295\n", ""), ("", axes.as_str())] {
        let study = study(&format!(
            "{head}[[runs]]\ntool = \"wrk\"\nduration = \"1s\"\n{axes}"
        ));
        let refused = study.runs(false).unwrap_err().to_string();
        assert!(refused.contains("more than 100000 runs"), "{refused}");
    }
    let most = study(&format!(
        "[[runs]]\ntool = \"wrk\"\ntarget = \"a\"\nduration = \"1s\"\nconnections = [{}]",
        list(20_000)
    ));
    assert_eq!(most.runs(false).unwrap().len(), 20_000);
}
