//! The source itself: its crates depend on each other as ARCHITECTURE.md says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What each crate of the workspace depends on, tests apart, by its `Cargo.toml`.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let folders = read_dir(format!("{ROOT}/crates")).expect("the crates");
    let crates = folders.map(|folder| {
        let folder = folder.expect("a crate").path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let manifest = read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let all = manifest.get("dependencies").and_then(toml::Value::as_table);
        let names = all.into_iter().flat_map(toml::Table::keys);
        let ours = names.filter_map(|name| name.strip_prefix("loadline-"));
        (name, ours.map(str::to_owned).collect())
    });
    crates.collect()
}

/// The words between backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The rows of ARCHITECTURE.md's table: each crate and what it may depend on, where not on all.
fn documented() -> BTreeMap<String, Option<BTreeSet<String>>> {
    let text = read_to_string(format!("{ROOT}/ARCHITECTURE.md")).expect("the document");
    let table = text
        .lines()
        .skip_while(|line| !line.starts_with("| crate |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let row = line.trim_matches('|');
        let name = quoted(row.split(" | ").next()?).pop_first()?;
        let may = row.rsplit(" | ").next()?.trim();
        Some((name, (may != "all").then(|| quoted(may))))
    };
    table.filter_map(row).collect()
}

#[test]
fn crates_depend_on_each_other_as_the_table_says() {
    let documented = documented();
    let crates = dependencies();
    let names = |all: Vec<&String>| all.into_iter().cloned().collect::<BTreeSet<_>>();
    let (rows, folders) = (
        names(documented.keys().collect()),
        names(crates.keys().collect()),
    );
    assert_eq!(rows, folders, "the rows of ARCHITECTURE.md and the folders");
    for (name, depends) in &crates {
        if let Some(may) = &documented[name] {
            assert_eq!(
                depends, may,
                "{name}: Cargo.toml (left) and ARCHITECTURE.md (right)"
            );
        }
    }
}
