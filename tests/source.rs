//! The source itself: its crates depend on each other as ARCHITECTURE.md says, its documents name
//! files that exist, and its lines fit into 100 columns.

use crate::circles::texts;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A crate of the workspace.
pub(super) struct Crate {
    pub(super) folder: PathBuf,
    manifest: toml::Table,
}

/// The crates by their names, without the program's name in front. Some lie in the folder of a
/// family: `crates/k6/options`.
pub(super) fn crates() -> BTreeMap<String, Crate> {
    let mut found = BTreeMap::new();
    find_crates(&Path::new(ROOT).join("crates"), &mut found);
    found
}

fn find_crates(folder: &Path, found: &mut BTreeMap<String, Crate>) {
    for entry in read_dir(folder).expect("the crates") {
        let folder = entry.expect("a folder").path();
        let Ok(manifest) = read_to_string(folder.join("Cargo.toml")) else {
            find_crates(&folder, found);
            continue;
        };
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let name = manifest["package"]["name"].as_str().expect("a name");
        let name = name.trim_start_matches("loadline-").to_owned();
        found.insert(name, Crate { folder, manifest });
    }
}

/// What each crate of the workspace depends on, tests apart, by its `Cargo.toml`.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let crates = crates().into_iter().map(|(name, Crate { manifest, .. })| {
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
    let (rows, found) = (
        names(documented.keys().collect()),
        names(crates.keys().collect()),
    );
    assert_eq!(rows, found, "the rows of ARCHITECTURE.md and the crates");
    for (name, depends) in &crates {
        if let Some(may) = &documented[name] {
            assert_eq!(
                depends, may,
                "{name}: Cargo.toml (left) and ARCHITECTURE.md (right)"
            );
        }
    }
}

/// The folders whose files ARCHITECTURE.md names from the repository's root.
const NAMED_FROM_ROOT: [&str; 10] = [
    "crates/",
    "tests/",
    "web/",
    "docs/",
    "studies/",
    "benches/",
    "fuzz/",
    "scripts/",
    "python/",
    "packaging/",
];

fn begins_at_root(path: &str) -> bool {
    NAMED_FROM_ROOT
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// The `src` folder of the crate with this name, if there is one.
fn source_folder(name: &str) -> Option<PathBuf> {
    static CRATES: LazyLock<BTreeMap<String, Crate>> = LazyLock::new(crates);
    CRATES.get(name).map(|found| found.folder.join("src"))
}

/// The names by which code calls what a manifest depends on, tests and build scripts included.
fn called(manifest: &toml::Table) -> BTreeSet<String> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = kinds
        .iter()
        .filter_map(|kind| manifest.get(*kind)?.as_table());
    tables
        .flat_map(toml::Table::keys)
        .map(|name| match name.as_str() {
            "md-5" => "md5".to_owned(),
            name => name.replace('-', "_"),
        })
        .collect()
}

/// The words of the Rust files in a folder.
fn words(folder: &Path) -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let is_rust = |file: &PathBuf| file.extension().is_some_and(|kind| kind == "rs");
    let mut words = BTreeSet::new();
    for file in files.into_iter().filter(is_rust) {
        let text = read_to_string(file).expect("a source");
        let split = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.extend(split.map(str::to_owned));
    }
    words
}

/// The dependencies of the program that only select features, so that its tests share the build.
const ONLY_FEATURES: [&str; 6] = [
    "bytecount",
    "crossbeam_utils",
    "getrandom_of_rand",
    "serde_core",
    "strum",
    "tokio",
];

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for (name, Crate { folder, manifest }) in crates() {
        let words = words(&folder);
        let called = called(&manifest);
        let not_used = called
            .difference(&words)
            .filter(|other| name != "loadline" || !ONLY_FEATURES.contains(&other.as_str()));
        unused.extend(not_used.map(|other| format!("{name}: {other}")));
    }
    assert_eq!(unused, Vec::<String>::new(), "take these out of Cargo.toml");
}

/// Beginnings of the names of libraries that would add up again what exporters send, or that bring
/// a second stack of HTTP for it.
const SECOND_STACKS: [&str; 5] = ["opentelemetry", "reqwest", "tonic", "utoipa", "axum"];

#[test]
fn exporters_bring_no_second_stack() {
    let lock = read_to_string(Path::new(ROOT).join("Cargo.lock")).expect("the lock file");
    for name in SECOND_STACKS {
        let entry = format!("name = \"{name}");
        assert!(!lock.contains(&entry), "{name} is among the dependencies");
    }
}

#[test]
fn every_test_of_a_crate_is_run_by_make_test() {
    let makefile = read_to_string(format!("{ROOT}/Makefile")).expect("the Makefile");
    let words: Vec<&str> = makefile.split_whitespace().collect();
    let is_run = |name: &str| words.windows(2).any(|pair| pair == ["--test", name]);
    let found: BTreeSet<String> = crates()
        .into_values()
        .filter_map(|of| read_dir(of.folder.join("tests")).ok())
        .flatten()
        .map(|entry| entry.expect("a readable folder").path())
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    let missing: Vec<&String> = found.iter().filter(|name| !is_run(name)).collect();
    assert!(found.len() >= 5, "{found:?}");
    assert_eq!(
        missing,
        Vec::<&String>::new(),
        "the Makefile does not run these"
    );
}

#[test]
fn every_path_that_the_architecture_names_exists() {
    let text = read_to_string(format!("{ROOT}/ARCHITECTURE.md")).expect("the document");
    for line in text.lines() {
        let words = line.split('`').skip(1).step_by(2);
        let mut last: Option<PathBuf> = None;
        for path in words {
            if let Some(folder) = source_folder(path) {
                last = Some(folder);
                continue;
            }
            if !begins_at_root(path) && !is_neighbour(path) {
                continue;
            }
            let found = match &last {
                _ if begins_at_root(path) => Some(PathBuf::from(ROOT).join(path)),
                // A neighbour of the path or crate before it, or of one of the folders around it.
                Some(last) => last
                    .ancestors()
                    .map(|folder| folder.join(path))
                    .find(|path| path.exists()),
                None => None,
            };
            let found = found.filter(|path| path.exists());
            assert!(
                found.is_some(),
                "ARCHITECTURE.md names `{path}`, which does not exist: {line}"
            );
            last = found;
        }
    }
}

#[test]
fn every_path_that_a_design_note_names_exists() {
    let notes = read_dir(format!("{ROOT}/docs/design")).expect("the notes");
    for note in notes {
        let note = note.expect("a note").path();
        let text = read_to_string(&note).expect("a note is text");
        let words = text.split('`').skip(1).step_by(2);
        for path in words.filter(|path| begins_at_root(path) && !path.contains([' ', '*'])) {
            let found = PathBuf::from(ROOT).join(path);
            let note = note.display();
            assert!(
                found.exists(),
                "{note} names `{path}`, which does not exist"
            );
        }
    }
}

/// A panic that ends the process leaves a run without a report. The strategy of a test's own binary
/// is always to unwind, so that only the manifest tells the program's.
#[test]
fn the_program_that_is_shipped_unwinds() {
    let manifest = read_to_string(format!("{ROOT}/Cargo.toml")).expect("the manifest");
    let (_, release) = manifest
        .split_once("[profile.release]")
        .expect("its profile");
    let (release, _) = release.split_once("\n[").unwrap_or((release, ""));
    assert!(release.contains("\npanic = \"unwind\"\n"), "{release}");
}

/// True if a word names a file or folder in relation to another one: `poisson.rs`, `http1/`.
fn is_neighbour(word: &str) -> bool {
    let is_source = [".rs", ".lua", ".js", ".tsx", ".txt", "/"]
        .iter()
        .any(|end| word.ends_with(end));
    is_source && !word.contains([' ', '*', '{'])
}

/// The most bytes of ARCHITECTURE.md. The changes inside of one crate are in the crate's header.
const MOST_ARCHITECTURE: usize = 16 * 1024;

#[test]
fn the_architecture_has_at_most_16_kb() {
    let text = read_to_string(format!("{ROOT}/ARCHITECTURE.md")).expect("the document");
    assert!(text.len() <= MOST_ARCHITECTURE, "{} bytes", text.len());
}

/// Changes that somebody who has never seen the code looks for in ARCHITECTURE.md, each with a
/// place that its row names.
const LOOKED_FOR: [(&str, &str); 10] = [
    ("a function or module of k6", "crates/k6/runtime/src/api.rs"),
    ("Locust: options", "options.py"),
    ("a flag of ab, wrk, oha", "tool-oha"),
    ("an exporter while a run lasts", "exporters"),
    (
        "a route of the live page or an API",
        "crates/live-page/src/routes.rs",
    ),
    ("several processes or machines", "cluster"),
    (
        "a protocol beside HTTP (a WebSocket",
        "exchange/conversation.rs",
    ),
    ("an error kind", "crates/k6/runtime/src/http/errors.rs"),
    ("a column", "SQLite: `export`"),
    ("a statistic or percentile of a check", "check/rule.rs"),
];

#[test]
fn what_is_looked_for_has_a_row_in_the_architecture() {
    let text = read_to_string(format!("{ROOT}/ARCHITECTURE.md")).expect("the document");
    let is_missing = |(change, place): &(&str, &str)| {
        let row = format!("| {change}");
        let mut lines = text.lines();
        !lines.any(|line| line.starts_with(&row) && line.contains(place))
    };
    let missing: Vec<_> = LOOKED_FOR.into_iter().filter(is_missing).collect();
    assert_eq!(missing, [], "no such row, or it leads elsewhere");
}

/// The heading in a file's header below which it says which files to change for what.
const TO_CHANGE: &str = "//! ## To change";

/// The lines below that heading in the text of a file, if it is there.
fn to_change(text: &str) -> Option<String> {
    let (_, section) = text.split_once(TO_CHANGE)?;
    let lines = section.lines().skip(1);
    let lines = lines.map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with(" #")).collect();
    Some(lines.join("\n"))
}

#[test]
fn every_crate_says_where_to_change_what() {
    let mut missing = dependencies();
    missing.retain(|name, _| {
        let folder = source_folder(name).expect("a crate has a source folder");
        let roots = ["lib.rs", "main.rs"].map(|root| read_to_string(folder.join(root)));
        let text = roots.into_iter().find_map(Result::ok).expect("a root");
        !to_change(&text).is_some_and(|section| section.contains("\n - "))
    });
    let missing: Vec<String> = missing.into_keys().collect();
    assert_eq!(
        missing,
        Vec::<String>::new(),
        "no section `{TO_CHANGE}` in the header"
    );
}

/// The words of the code in a folder, without the headers of files.
fn words_of_code(folder: &Path) -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let mut words = BTreeSet::new();
    for file in files {
        let text = read_to_string(file).expect("a source");
        for line in text.lines().filter(|line| !line.starts_with("//!")) {
            let split = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            words.extend(split.map(str::to_owned));
        }
    }
    words
}

/// The names and paths in a section that don't exist: paths are relative to the folder, or to the
/// project; names are those of the code in the folder, or of crates.
fn unknown(section: &str, folder: &Path) -> Vec<String> {
    let code = words_of_code(folder);
    let is_name = |word: &str| {
        let mut letters = word.chars();
        letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let exists = |word: &String| {
        if begins_at_root(word) || is_neighbour(word) {
            folder.join(word).exists() || Path::new(ROOT).join(word).exists()
        } else {
            !is_name(word) || code.contains(word) || source_folder(word).is_some()
        }
    };
    let words = quoted(section).into_iter();
    words.filter(|word| !exists(word)).collect()
}

/// The fewest rows of such a section in the root of a crate.
const FEWEST_ROWS: usize = 3;

/// True if a section names a file, or the file or folder of a module around it. Paths are relative
/// to the crate's source folder.
fn leads_to(named: &BTreeSet<String>, file: &Path) -> bool {
    file.ancestors().any(|path| {
        let path = path.to_string_lossy();
        let module = path.trim_end_matches(".rs");
        let forms = [".rs", "/mod.rs", "/"].map(|end| format!("{module}{end}"));
        forms.iter().any(|form| named.contains(form))
    })
}

/// The source files of a crate, relative to their folder, without its root and its tests.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let is_test = |part: &str| ["tests", "simulated", "simulations"].contains(&part);
    let relative = files.into_iter().filter_map(|file| {
        let path = file.strip_prefix(folder).ok()?.to_owned();
        let module = path.to_str()?.strip_suffix(".rs")?;
        let is_root = ["lib", "main"].contains(&module);
        (!is_root && !module.split('/').any(is_test)).then_some(path)
    });
    relative.collect()
}

#[test]
fn every_file_is_in_the_section_of_its_crate() {
    let (mut files, mut missing) = (0, Vec::new());
    for name in dependencies().into_keys() {
        let folder = source_folder(&name).expect("a crate has a source folder");
        let roots = ["lib.rs", "main.rs"].map(|root| read_to_string(folder.join(root)));
        let text = roots.into_iter().find_map(Result::ok).expect("a root");
        let section = to_change(&text).expect("its section");
        let rows = section.matches("\n - ").count();
        assert!(rows >= FEWEST_ROWS, "{name} has {rows} rows");
        let named = quoted(&section);
        let own = files_of(&folder);
        files += own.len();
        let own = own.into_iter().filter(|file| !leads_to(&named, file));
        missing.extend(own.map(|file| format!("{name}: {}", file.display())));
    }
    assert!(files > 800, "{files} files");
    assert_eq!(
        missing,
        Vec::<String>::new(),
        "`{TO_CHANGE}` of the crate does not say what these are for"
    );
}

#[test]
fn every_name_in_these_sections_exists() {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("crates"), &mut files);
    let (mut found, mut wrong) = (0, Vec::new());
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "rs"))
    {
        let text = read_to_string(file).expect("a source");
        let Some(section) = to_change(&text) else {
            continue;
        };
        let is_root = file.ends_with("lib.rs") || file.ends_with("main.rs");
        let folder = if is_root {
            file.parent().expect("a folder").to_owned()
        } else {
            file.with_extension("")
        };
        found += 1;
        let unknown = unknown(&section, &folder);
        wrong.extend(
            unknown
                .into_iter()
                .map(|word| format!("{}: `{word}`", file.display())),
        );
    }
    assert!(found > 30, "{found} sections");
    assert_eq!(wrong, Vec::<String>::new(), "these don't exist");
}

/// The most columns of a line. `rustfmt` leaves comments, attributes and strings as they are.
const COLUMNS: usize = 100;
/// What a tab counts for.
const TAB: &str = "    ";
/// How the names of source files end.
const SOURCES: [&str; 8] = ["rs", "ts", "tsx", "js", "py", "toml", "sh", "Makefile"];
/// Folders with what is downloaded or built.
const FOREIGN: [&str; 5] = ["target", "node_modules", "dist", ".git", ".hypothesis"];
/// Files that may have longer lines, each with the reason.
const LONGER: [(&str, &str); 5] = [
    ("web/src/generated", "generated"),
    ("docs/guide/schema/loadline.ts", "generated"),
    (
        "crates/wire/src/tests/corpus.rs",
        "messages byte for byte, one a line",
    ),
    (
        "crates/transport/src/tests/settings.rs",
        "recorded texts, one a line",
    ),
    (
        "crates/transport/src/tests/texts.rs",
        "recorded texts, one a line",
    ),
];

/// The source files under a folder, scripts without an ending in `scripts` and `.ci` included.
pub(super) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_script = ["scripts", ".ci"]
            .map(Path::new)
            .iter()
            .any(|end| folder.ends_with(end));
        if path.is_dir() && !FOREIGN.contains(&&*name) {
            sources(&path, found);
        } else if path.is_file()
            && (is_script || SOURCES.contains(&name.rsplit('.').next().unwrap_or_default()))
        {
            found.push(path);
        }
    }
}

#[test]
fn lines_fit_into_100_columns() {
    let root = Path::new(ROOT).canonicalize().expect("the project");
    let mut found = Vec::new();
    sources(&root, &mut found);
    let mut long = Vec::new();
    for path in &found {
        let name = path.strip_prefix(&root).expect("a file of the project");
        if LONGER.iter().any(|(longer, _)| name.starts_with(longer)) {
            continue;
        }
        let text = read_to_string(path).expect("text");
        for (line, number) in text.lines().zip(1..) {
            // A long link cannot be broken.
            let is_link = line.contains("://")
                && !line.trim_start_matches(['/', '!', ' ', '#']).contains(' ');
            if line.replace('\t', TAB).chars().count() > COLUMNS && !is_link {
                long.push(format!("{}:{number}", name.display()));
            }
        }
    }
    assert!(found.len() > 500, "{} source files", found.len());
    assert_eq!(
        long,
        Vec::<String>::new(),
        "lines of more than {COLUMNS} columns"
    );
}

/// Words that begin a clause without a noun: `What it is called` for `The name`.
const CLAUSES: [&str; 11] = [
    "What", "Whether", "How", "When", "Where", "Which", "Why", "Who", "Whose", "That", "Those",
];
/// The share of the documented items and files that may begin with one of these, in percent.
const MOST_CLAUSES: usize = 1;

#[test]
fn items_are_documented_by_a_noun_or_a_verb() {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("crates"), &mut files);
    let (mut items, mut clauses) = (0, 0);
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|name| name == "rs"))
    {
        let text = read_to_string(file).expect("UTF-8");
        let mut is_within = false;
        for line in text.lines() {
            let line = line.trim_start();
            let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
            if let Some(comment) = comment.filter(|_| !is_within) {
                let word = comment.split_whitespace().next().unwrap_or_default();
                items += 1;
                clauses += usize::from(CLAUSES.contains(&word));
            }
            is_within = comment.is_some();
        }
    }
    assert!(items > 10_000, "{items} documented items");
    let most = items * MOST_CLAUSES / 100;
    assert!(
        clauses <= most,
        "{clauses} of {items} items begin with one of {CLAUSES:?}"
    );
}

/// Verbs for people, which comments should not use for programs: those report, receive, request
/// and need.
const OF_PEOPLE: [&str; 12] = [
    "tell", "tells", "told", "hear", "hears", "heard", "ask", "asks", "asked", "want", "wants",
    "wanted",
];
/// The most of these in a thousand lines of documentation.
const MOST_OF_PEOPLE: usize = 3;

#[test]
fn programs_report_and_request_in_the_documentation() {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("crates"), &mut files);
    let (mut lines, mut found) = (0, 0);
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|name| name == "rs"))
    {
        let text = read_to_string(file).expect("UTF-8");
        let comments = text.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("///").or(line.strip_prefix("//!"))
        });
        for comment in comments {
            lines += 1;
            let words = comment.split(|letter: char| !letter.is_alphabetic());
            found += words.filter(|word| OF_PEOPLE.contains(word)).count();
        }
    }
    assert!(lines > 10_000, "{lines} lines of documentation");
    assert!(
        found * 1_000 <= lines * MOST_OF_PEOPLE,
        "{found} of {OF_PEOPLE:?} in {lines} lines"
    );
}

/// The line in a crate's root that asks for every variant where an enum is matched.
const NO_WILDCARDS: &str = "#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]";

#[test]
fn every_crate_writes_out_the_arms_of_its_matches() {
    let mut missing = dependencies();
    missing.retain(|name, _| {
        let folder = source_folder(name).expect("a crate has a source folder");
        let roots = ["lib.rs", "main.rs"].map(|root| read_to_string(folder.join(root)));
        let mut roots = roots.into_iter().filter_map(Result::ok);
        !roots.all(|text| text.lines().any(|line| line == NO_WILDCARDS))
    });
    let missing: Vec<String> = missing.into_keys().collect();
    assert_eq!(
        missing,
        Vec::<String>::new(),
        "no line `{NO_WILDCARDS}`: a new variant would be matched in silence"
    );
}

/// The texts in quotes from `begin` to the next `end` in a file of the project.
fn texts_between(file: &str, begin: &str, end: &str) -> BTreeSet<String> {
    let text = read_to_string(format!("{ROOT}/{file}")).expect("a source");
    let (_, rest) = text.split_once(begin).expect("the beginning");
    let (part, _) = rest.split_once(end).expect("the end");
    let texts = part.split('"').skip(1).step_by(2);
    texts.map(str::to_owned).collect()
}

#[test]
fn lists_have_what_their_enums_have() {
    let causes = texts_between(
        "crates/findings/src/cause.rs",
        "pub fn name(&self)",
        "\n    }",
    );
    let findings = texts_between("crates/json/src/validity.rs", "const FINDINGS", "];");
    let warnings = texts_between("crates/json/src/summary.rs", "const WARNINGS", "];");
    let listed: BTreeSet<String> = findings.union(&warnings).cloned().collect();
    assert!(causes.len() > 30, "{causes:?}");
    assert_eq!(
        causes, listed,
        "the causes (left), and their names in the JSON"
    );
    let tools = texts_between("crates/loadline/src/dialect.rs", "fn named(", "\n    }");
    let shims = texts_between("crates/loadline/src/commands/shims.rs", "const NAMES", "];");
    assert_eq!(
        tools, shims,
        "the tools (left), and those that get a symlink"
    );
    let kinds = texts_between(
        "crates/record/src/exchange.rs",
        "pub fn name(self)",
        "\n    }",
    );
    let terms = read_to_string(format!("{ROOT}/TERMINOLOGY.md")).expect("the document");
    let documented = terms
        .lines()
        .find(|line| line.starts_with("| error kind |"));
    let documented = quoted(documented.expect("its row"));
    assert_eq!(
        kinds, documented,
        "the error kinds (left), and those documented"
    );
}

/// Words in names of constants that do not say what they are for: `FLUSH_TIMEOUT`,
/// `POLL_INTERVAL` do.
const MOODS: [&str; 2] = ["FAREWELL", "PATIENCE"];
/// Names of types that are not nouns of the field: participles, and words of daily life.
const NO_NOUNS: [&str; 21] = [
    "Asked",
    "Crew",
    "Desk",
    "Ease",
    "Given",
    "Ground",
    "Heard",
    "Kept",
    "Look",
    "Place",
    "Ran",
    "Said",
    "Seen",
    "Surroundings",
    "Told",
    "Unmade",
    "Unread",
    "Wanted",
    "Wish",
    "Wished",
    "Wrong",
];

/// Forms of verbs for people that are in no name of an item, with those of [`OF_PEOPLE`], and the
/// words of [`MOODS`] in any case.
const OF_PEOPLE_IN_NAMES: [&str; 11] = [
    "telling", "hearing", "asker", "asking", "wanting", "say", "says", "said", "saying",
    "farewell", "patience",
];
/// Names that have one of these words all the same, each with the reason.
const NAMED_SO: [(&str, &str); 2] = [
    ("asked_per_s", "the rate asked: the term of the reports"),
    ("rate_below_asked", "the name of this warning in the JSON"),
];

/// Returns the words of a name, in lower case.
fn words_of_name(name: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[A-Z]+(?:\b|_|$)|[A-Z]?[a-z]+|[A-Z]").expect("a regular expression")
    });
    let words = WORD.find_iter(name);
    let words = words.map(|word| word.as_str().trim_end_matches('_').to_lowercase());
    words.collect()
}

#[test]
fn names_are_split_into_words() {
    for (name, words) in [
        ("tell_all2", "tell all"),
        ("ASK_AGAIN_NS", "ask again ns"),
        ("PartTold", "part told"),
        ("listed_lines", "listed lines"),
        ("task", "task"),
    ] {
        assert_eq!(words_of_name(name).join(" "), words, "{name}");
    }
}

/// A test's name is a sentence about what people see.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"#\[test\]\s+(?:#\[.*\]\s+)*fn \w+").expect("a regular expression")
});

#[test]
fn items_and_files_are_named_by_what_programs_do() {
    let item = r"\b(?:fn|const|static|struct|enum|trait|type|mod)\s+(\w+)";
    let item = Regex::new(item).expect("a regular expression");
    let is_human = |name: &str| {
        let words = words_of_name(name);
        let mut words = words.iter().map(String::as_str);
        words.any(|word| OF_PEOPLE.contains(&word) || OF_PEOPLE_IN_NAMES.contains(&word))
    };
    let (mut items, mut found) = (0, BTreeMap::new());
    for (of, Crate { folder, .. }) in crates() {
        for (module, text) in texts(&folder.join("src")) {
            let file = format!("{of}: {}.rs", module.join("/"));
            let text = TEST.replace_all(&text, "");
            let names = item.captures_iter(&text).map(|found| found[1].to_owned());
            let names: Vec<String> = names.chain(module.last().cloned()).collect();
            items += names.len();
            let names = names.into_iter().filter(|name| is_human(name));
            found.extend(names.map(|name| (name, file.clone())));
        }
    }
    assert!(items > 10_000, "{items} items");
    for (name, reason) in NAMED_SO {
        assert!(found.remove(name).is_some(), "no {name} is left ({reason})");
    }
    assert_eq!(
        found,
        BTreeMap::new(),
        "programs report, receive, request and need"
    );
}

#[test]
fn types_and_constants_are_called_by_their_roles() {
    let item = r"\b(?:const|static|struct|enum|trait|type)\s+(\w+)";
    let item = Regex::new(item).expect("a regular expression");
    let (mut items, mut odd) = (0, Vec::new());
    for (name, Crate { folder, .. }) in crates() {
        for (module, text) in texts(&folder.join("src")) {
            for found in item.captures_iter(&text) {
                items += 1;
                let is_mood = MOODS.iter().any(|mood| found[1].contains(mood));
                if is_mood || NO_NOUNS.contains(&&found[1]) {
                    odd.push(format!("{name}: {} in {}.rs", &found[1], module.join("/")));
                }
            }
        }
    }
    assert!(items > 3_000, "{items} items");
    assert_eq!(odd, Vec::<String>::new(), "name these by their roles");
}
