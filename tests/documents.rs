//! Every relative link in the documents leads to a file that exists and to a heading in it, and the
//! README is short and shows the result first.

use crate::rig::loadline;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The Markdown files in `folder` and below. Folders that Git ignores are left out.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder that can be read") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ignored = ["target", "node_modules", "dist", "results"].contains(&&*name);
        if path.is_dir() && !ignored && !name.starts_with('.') {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The lines outside of fenced code, each with its number from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((index + 1, line))
    })
}

/// The targets of the links in one line. Code between backticks has none.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let outside = line.split('`').step_by(2);
    let links = outside.flat_map(|piece| piece.split("](").skip(1));
    links.filter_map(|link| link.split(')').next())
}

/// The anchor that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    });
    kept.collect::<String>().to_lowercase()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter_map(|(_, line)| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len() && heading.starts_with(' ')).then(|| anchor(heading.trim()))
    });
    let numbered = headings.map(|anchor| {
        let count = counts.entry(anchor.clone()).or_default();
        *count += 1;
        match *count {
            1 => anchor,
            n => format!("{anchor}-{}", n - 1),
        }
    });
    numbered.collect()
}

/// Why a link of `document` leads nowhere.
fn fault(document: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => document.to_owned(),
        _ => document.parent()?.join(path),
    };
    if !file.exists() {
        return Some(format!("{path} does not exist"));
    }
    if fragment.is_empty() {
        return None;
    }
    let text = read_to_string(&file).unwrap_or_default();
    (!anchors(&text).contains(fragment)).then(|| format!("{path} has no heading #{fragment}"))
}

#[test]
fn every_link_leads_somewhere() {
    let mut found = Vec::new();
    documents(Path::new(ROOT), &mut found);
    assert!(found.len() > 20, "{} documents", found.len());
    let mut faults = Vec::new();
    for document in &found {
        let text = read_to_string(document).expect("a document in UTF-8");
        for (number, line) in prose(&text) {
            for target in targets(line) {
                if let Some(fault) = fault(document, target) {
                    faults.push(format!("{}:{number}: {fault}", document.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Lines of the README, and words of its prose, which take five minutes at 200 a minute.
const README_LINES: usize = 200;
const README_WORDS: usize = 1_000;

#[test]
fn the_readme_is_read_in_five_minutes() {
    let text = read_to_string(format!("{ROOT}/README.md")).expect("the README");
    let lines = text.lines().count();
    assert!(lines <= README_LINES, "{lines} lines");
    let is_prose = |line: &str| !line.starts_with('|');
    let words = prose(&text).filter(|(_, line)| is_prose(line));
    let words: usize = words.map(|(_, line)| line.split_whitespace().count()).sum();
    assert!(words <= README_WORDS, "{words} words of prose");
}

#[test]
fn the_readme_shows_what_one_gets_before_how_to_get_it() {
    let text = read_to_string(format!("{ROOT}/README.md")).expect("the README");
    let places = [
        "](docs/pictures/what-you-get.png)",
        "\n## Install\n",
        "install.sh \\| sh` |",
        "`pip install loadline`",
        "make install` |",
        "](docs/guide/install.md)",
        "\n## You know X? Type Y\n",
        "\n## Ten commands\n",
        "\n## Speed\n",
        "\n## How it compares\n",
        "\n## Read on\n",
    ];
    let places = places.map(|part| text.find(part).unwrap_or_else(|| panic!("no {part}")));
    assert!(places.is_sorted(), "{places:?}");
    let picture = format!("{ROOT}/docs/pictures/what-you-get.png");
    let bytes = std::fs::metadata(picture).expect("the picture").len();
    assert!(bytes < 200_000, "a picture of {bytes} bytes");
}

#[test]
fn the_readme_has_ten_commands_that_there_are() {
    let text = read_to_string(format!("{ROOT}/README.md")).expect("the README");
    let (_, block) = text
        .split_once("## Ten commands\n\n```\n")
        .expect("the block");
    let (block, _) = block.split_once("\n```").expect("its end");
    let is_command = |line: &&str| line.starts_with("loadline ");
    assert_eq!(block.lines().filter(is_command).count(), 10, "{block}");
    // What is typed in place of another tool's words stands between backticks.
    let lines = block.lines().chain(text.split('`'));
    let words = lines.filter_map(|line| line.strip_prefix("loadline ")?.split(' ').next());
    let is_name = |word: &&str| word.chars().all(|letter| letter.is_ascii_alphanumeric());
    let help = loadline(&["--help"]).stdout;
    let known: Vec<&str> = help.split([' ', ',', '\n']).collect();
    for word in words.filter(is_name) {
        assert!(known.contains(&word), "there is no loadline {word}");
    }
}

#[test]
fn a_link_is_found_in_prose_alone() {
    let text = "[a](b.md#c)\n```\n[not](this.md)\n```\n`[nor](that.md)`, [`d`](e.md) and [f](g.md)";
    let found: Vec<(usize, &str)> = prose(text)
        .flat_map(|(number, line)| targets(line).map(move |target| (number, target)))
        .collect();
    assert_eq!(found, [(1, "b.md#c"), (5, "e.md"), (5, "g.md")]);
}

#[test]
fn an_anchor_is_that_of_github() {
    assert_eq!(anchor("The 95 % interval"), "the-95--interval");
    assert_eq!(anchor("`--urls FILE`"), "--urls-file");
    let twice = anchors("# A b\n## A b\n#no heading\n");
    assert_eq!(twice, ["a-b", "a-b-1"].map(str::to_owned).into());
}
