//! Circles of files: files of a crate that import each other, directly or through others. They can
//! only be read together.
//!
//! An import is a path of the crate's own, in a `use` or anywhere else: one that begins with
//! `crate`, `super`, `self` or the name of a child module. It leads to the file of the innermost
//! module that it names. What a file has of the modules around it is not counted, because it is a
//! part of those; nor are re-exports, and tests.

use crate::source::{crates, sources};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::Path;
use std::sync::LazyLock;

/// The most files of a circle.
const MOST: usize = 4;

/// The path of a module within its crate.
pub(super) type Module = Vec<String>;

#[test]
fn circles_of_files_are_small() {
    let mut files = 0;
    let mut large = BTreeMap::new();
    for (name, found) in crates() {
        let texts = texts(&found.folder.join("src"));
        files += texts.len();
        for circle in circles(&texts).into_iter().filter(|one| one.len() > MOST) {
            large.insert(name.clone(), circle);
        }
    }
    assert!(files > 800, "{files} files");
    let none = BTreeMap::<String, BTreeSet<String>>::new();
    assert_eq!(large, none, "circles of more than {MOST} files");
}

/// The engine's modules that send and receive.
const PROTOCOLS: [&str; 2] = ["exchange", "http2"];
/// The modules for whom they do: protocols report to the trait `Account`.
const ABOVE_PROTOCOLS: [&str; 5] = ["behaviour", "iteration", "requester", "user", "worker"];

#[test]
fn protocols_know_neither_user_nor_worker() {
    let engine = &crates()["engine"];
    let texts = texts(&engine.folder.join("src"));
    let is_of = |names: &[&str], module: &Module| {
        let outermost = module.first();
        outermost.is_some_and(|name| names.contains(&name.as_str()))
    };
    let imports = all_imports(&texts);
    let protocols: Vec<&Module> = texts.keys().filter(|one| is_of(&PROTOCOLS, one)).collect();
    let mut known = BTreeSet::new();
    for protocol in &protocols {
        let reached = reach(protocol, &imports).into_iter();
        let above = reached.filter(|module| is_of(&ABOVE_PROTOCOLS, module));
        known.extend(above.map(|module| format!("{} {}", protocol.join("/"), module.join("/"))));
    }
    assert!(protocols.len() > 12, "{protocols:?}");
    assert_eq!(known, BTreeSet::new(), "these import, or their imports do");
    let user = vec!["user".to_owned()];
    assert!(reach(&user, &imports).contains(&vec!["account".to_owned()]));
}

#[test]
fn files_that_import_each_other_are_a_circle() {
    let texts = |files: &[(&str, &str)]| {
        let files = files.iter();
        files
            .map(|(name, text)| (module(name).expect("no test"), production(text)))
            .collect::<BTreeMap<_, _>>()
    };
    let three = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;"),
        (
            "a.rs",
            "use crate::b::{self, B};\nmod d;\nfn f() { d::run(); }",
        ),
        ("a/d.rs", "use super::A;\nuse crate::c;"),
        ("b.rs", "fn f() -> crate::c::C { todo!() }"),
        ("c.rs", "use super::{b::B};\n// crate::a\n"),
    ];
    let found = circles(&texts(&three));
    assert_eq!(found, [BTreeSet::from(["b".to_owned(), "c".to_owned()])]);
    let mut closed = three;
    closed[4].1 = "use crate::a::A;";
    let all = ["a", "a/d", "b", "c"].map(str::to_owned);
    assert_eq!(circles(&texts(&closed)), [BTreeSet::from(all)]);
    let tested = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
    closed[4].1 = tested;
    assert!(circles(&texts(&closed)).is_empty());
}

/// The files of a crate by their modules, without tests.
pub(super) fn texts(source: &Path) -> BTreeMap<Module, String> {
    let mut files = Vec::new();
    sources(source, &mut files);
    let files = files.iter().filter_map(|file| {
        let name = file.strip_prefix(source).ok()?.to_str()?;
        let text = read_to_string(file).expect("a source");
        Some((module(name)?, production(&text)))
    });
    files.collect()
}

/// The module of a file below `src`, if it is one and no test.
fn module(name: &str) -> Option<Module> {
    let path = name.strip_suffix(".rs")?;
    let parts: Module = path.split('/').map(str::to_owned).collect();
    let is_test = |part: &String| ["tests", "simulated"].contains(&part.as_str());
    match path {
        "lib" | "main" => Some(Module::new()),
        _ => (!parts.iter().any(is_test)).then_some(parts),
    }
}

/// A source without comments and without what is compiled for tests alone.
fn production(text: &str) -> String {
    let mut lines = text.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code == "#[cfg(test)]" {
            skip_item(&mut lines, line.len() - code.len());
        } else if !code.starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Skips an item that is indented so far: it ends with a brace there, or in its first line.
fn skip_item<'a>(lines: &mut impl Iterator<Item = &'a str>, indent: usize) {
    let end = format!("{}}}", " ".repeat(indent));
    let is_attribute = |line: &&str| line.trim_start().starts_with("#[");
    let mut item = lines.skip_while(is_attribute);
    let is_short = item.next().is_none_or(|first| first.ends_with(';'));
    if !is_short {
        item.find(|line| *line == end);
    }
}

/// The circles of a crate's files.
fn circles(texts: &BTreeMap<Module, String>) -> Vec<BTreeSet<String>> {
    let imports = all_imports(texts);
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = texts
        .keys()
        .map(|from| (from, reach(from, &imports)))
        .collect();
    let circle = |(from, reached_from): (&&Module, &BTreeSet<&Module>)| {
        let others = reached_from
            .iter()
            .filter(|to| reached[**to].contains(from));
        let names: BTreeSet<String> = others.map(|to| to.join("/")).collect();
        (names.len() > 1).then_some(names)
    };
    let all: BTreeSet<_> = reached.iter().filter_map(circle).collect();
    all.into_iter().collect()
}

/// The modules that each module imports.
fn all_imports(texts: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let imported = texts
        .iter()
        .map(|(module, text)| (module, imports(module, text, texts)));
    imported.collect()
}

/// All modules that a module imports, directly or through others.
fn reach<'a>(
    from: &'a Module,
    imports: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(imports[module].iter().filter(|to| reached.insert(**to)));
    }
    reached
}

static USE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^\s*(pub\S*(?: in [\w:]+\))?\s+)?use\s+([^;]+);"));
static PATH: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:\w+::)+\w+"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a regular expression")
}

/// The files that a file imports, but for those of the modules around it.
fn imports<'a>(
    module: &Module,
    text: &str,
    files: &'a BTreeMap<Module, String>,
) -> BTreeSet<&'a Module> {
    let mut paths = Vec::new();
    for used in USE.captures_iter(text).filter(|used| used.get(1).is_none()) {
        leaves(&used[2], &Module::new(), &mut paths);
    }
    let rest = USE.replace_all(text, "");
    let inline = PATH.find_iter(&rest);
    paths.extend(inline.map(|path| path.as_str().split("::").map(str::to_owned).collect()));
    let targets = paths.iter().filter_map(|path| target(module, path, files));
    targets
        .filter(|target| !module.starts_with(target))
        .collect()
}

/// Adds the paths of a tree of imports, `a::{b, c::{d, e}}`, each after the same begin.
fn leaves(tree: &str, begin: &Module, paths: &mut Vec<Module>) {
    let (head, branches) = tree.split_once('{').map_or((tree, None), |(head, rest)| {
        (head, rest.rsplit_once('}').map(|(branches, _)| branches))
    });
    let parts = head
        .split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let name = |part: &str| part.split(' ').next().unwrap_or_default().to_owned();
    let path: Module = begin.iter().cloned().chain(parts.map(name)).collect();
    match branches {
        None => paths.push(path),
        Some(branches) => split(branches)
            .into_iter()
            .for_each(|branch| leaves(branch, &path, paths)),
    }
}

/// The branches between commas, but for those within braces.
fn split(branches: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = branches.split(|letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty()).collect()
}

/// The file of the innermost module that a path names, seen from this module.
fn target<'a>(
    module: &Module,
    path: &Module,
    files: &'a BTreeMap<Module, String>,
) -> Option<&'a Module> {
    let absolute = absolute(module, path, files)?;
    (0..=absolute.len())
        .rev()
        .find_map(|length| files.get_key_value(&absolute[..length]))
        .map(|(file, _)| file)
}

/// A path from the crate's root; `None` for paths of other crates.
fn absolute(module: &Module, path: &Module, files: &BTreeMap<Module, String>) -> Option<Module> {
    let first = path.first()?;
    let child: Module = module.iter().chain([first]).cloned().collect();
    let (base, rest) = match first.as_str() {
        "crate" => (&module[..0], &path[1..]),
        "self" => (&module[..], &path[1..]),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            (&module[..module.len().checked_sub(up)?], &path[up..])
        }
        _ if files.contains_key(&child) => (&module[..], &path[..]),
        _ => return None,
    };
    Some(base.iter().chain(rest).cloned().collect())
}
