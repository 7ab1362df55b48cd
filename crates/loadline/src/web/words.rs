//! The command line of a run that is started from a page: made of what was typed there, with the
//! saved run as a file of the page's folder.

use crate::flags::quoted;
use loadline_live_page::{FileKind, NewRun, Offer};
use std::path::Path;

/// Why a script is not searched from a page.
const NO_SEARCH: &str = "The load line is searched of URLs and plan files: scripts set their load.";

/// The command of a run, the program's name first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// What is run: a URL is run as a plan is.
    pub(crate) kind: FileKind,
    /// The words.
    pub(crate) words: Vec<String>,
    /// True if they are those of a search.
    pub(crate) is_search: bool,
    /// The names of options that only a locustfile may have added, with commas between them.
    pub(crate) options: String,
    /// The name of the saved run.
    pub(crate) save: String,
}

impl Words {
    /// Returns the command of a run in the current folder.
    ///
    /// # Errors
    /// The sentence about what can't be said so. The values themselves are not judged.
    pub(crate) fn of(new: &NewRun, offer: &Offer) -> Result<Words, String> {
        let kind = kind_of(&new.target, offer)?;
        let save = match given(&new.save) {
            Some(name) => a_new_name(name)?,
            None => a_free_name(),
        };
        let words = match kind {
            FileKind::Plan if new.search => of_search(new, &save),
            FileKind::K6 | FileKind::Locust if new.search => Err(NO_SEARCH.to_owned()),
            FileKind::Plan => of_plan(new, &save),
            FileKind::K6 => of_k6(new, &save),
            FileKind::Locust => of_locust(new, &save),
        }?;
        Ok(Words {
            kind,
            words,
            is_search: new.search,
            options: own_options(new)
                .flatten()
                .map(name_of)
                .collect::<Vec<_>>()
                .join(","),
            save,
        })
    }

    /// Returns the line as it is typed in a shell.
    pub(crate) fn line(&self) -> String {
        let quoted: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        quoted.join(" ")
    }
}

/// The kind of what is loaded: that of an offered file; everything else has to be a URL.
fn kind_of(target: &str, offer: &Offer) -> Result<FileKind, String> {
    if target.is_empty() {
        return Err("Say what is loaded: a URL, or a file of this folder.".to_owned());
    }
    if let Some(file) = offer.files.iter().find(|file| file.name == target) {
        return Ok(file.kind);
    }
    let is_url = target.contains("://") || kind_of_file(Path::new(target)).is_none();
    match is_url && !target.starts_with('-') && !target.starts_with('@') {
        true => Ok(FileKind::Plan),
        false => Err(format!("There is no file {target} in {}.", offer.folder)),
    }
}

/// True if a file of this name describes a run.
pub(crate) fn is_run(name: &Path) -> bool {
    kind_of_file(name).is_some()
}

/// The kind of a file by its name; `None` if it describes no run.
pub(super) fn kind_of_file(name: &Path) -> Option<FileKind> {
    match name.extension()?.to_str()? {
        "toml" => Some(FileKind::Plan),
        "js" | "mjs" | "cjs" | "ts" => Some(FileKind::K6),
        "py" => Some(FileKind::Locust),
        _ => None,
    }
}

fn of_plan(new: &NewRun, save: &str) -> Result<Vec<String>, String> {
    let mut line = Line::begin(&["loadline"]);
    line.add("-c", &new.users)?;
    line.add("-r", &new.rate)?;
    line.add("--stages", &new.stages)?;
    line.add("-d", &new.duration)?;
    line.add_each("--check", &new.checks)?;
    Ok(line.end(&["--save", save, &new.target]))
}

fn of_search(new: &NewRun, save: &str) -> Result<Vec<String>, String> {
    for decided in [&new.users, &new.rate, &new.stages] {
        refuse(decided, "A search decides the load itself: leave it out.")?;
    }
    let mut line = Line::begin(&["loadline", "capacity"]);
    line.add("--budget", &new.duration)?;
    line.add_each("--check", &new.checks)?;
    Ok(line.end(&["--save", save, &new.target]))
}

fn of_k6(new: &NewRun, save: &str) -> Result<Vec<String>, String> {
    refuse(
        &new.rate,
        "A script of k6 sets its rate itself, in its options.",
    )?;
    refuse_each(
        &new.checks,
        "A script of k6 has thresholds in its options, and no checks.",
    )?;
    let mut line = Line::begin(&["loadline", "k6", "run"]);
    line.add("--vus", &new.users)?;
    line.add("--duration", &new.duration)?;
    let stages = new.stages.as_deref().unwrap_or_default().split(',');
    for stage in stages.map(str::trim).filter(|stage| !stage.is_empty()) {
        line.add("--stage", &Some(stage.to_owned()))?;
    }
    line.add_each("-e", &new.variables)?;
    Ok(line.end(&["--out", &format!("loadline={save}"), &new.target]))
}

fn of_locust(new: &NewRun, save: &str) -> Result<Vec<String>, String> {
    refuse(
        &new.rate,
        "A locustfile has users: its rate follows from them.",
    )?;
    refuse(
        &new.stages,
        "A locustfile has its stages in a class of shapes.",
    )?;
    let file = new.target.as_str();
    let mut line = Line::begin(&["loadline", "locust", "-f", file, "--headless"]);
    line.add("-u", &new.users)?;
    line.add("--spawn-rate", &new.spawn_rate)?;
    line.add("-t", &new.duration)?;
    line.add("-H", &new.host)?;
    line.add_each("--check", &new.checks)?;
    let mut words = line.end(&["--out", &format!("loadline={save}")]);
    for option in own_options(new) {
        words.push(format!("--{}", option?));
    }
    for class in new
        .classes
        .iter()
        .flatten()
        .filter(|class| !class.is_empty())
    {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        if !class.chars().all(is_name) {
            return Err(format!("{class:?} is no name of a class of users."));
        }
        words.push(class.clone());
    }
    Ok(words)
}

/// The options that a locustfile adds. Whether it adds these, and they are none of Locust's own,
/// Python knows.
fn own_options(new: &NewRun) -> impl Iterator<Item = Result<&str, String>> {
    let options = new.options.iter().flatten().map(|option| option.trim());
    options.filter(|option| !option.is_empty()).map(|option| {
        let name = name_of(option);
        let is_name = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
        match name.starts_with(char::is_alphanumeric) && name.chars().all(is_name) {
            true => Ok(option),
            false => Err(format!(
                "{option:?} is no option of a locustfile: write NAME=value."
            )),
        }
    })
}

fn name_of(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

/// A command line under way.
struct Line(Vec<String>);

impl Line {
    fn begin(words: &[&str]) -> Line {
        Line(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Adds a flag with its value, if that was given. A value is never taken for another flag.
    fn add(&mut self, flag: &str, value: &Option<String>) -> Result<(), String> {
        let Some(value) = given(value) else {
            return Ok(());
        };
        if value.starts_with('-') {
            return Err(format!(
                "{flag}: {value:?} begins with a dash; no value does."
            ));
        }
        self.0.extend([flag.to_owned(), value.to_owned()]);
        Ok(())
    }

    fn add_each(&mut self, flag: &str, values: &Option<Vec<String>>) -> Result<(), String> {
        let values = values.iter().flatten();
        values
            .cloned()
            .try_for_each(|value| self.add(flag, &Some(value)))
    }

    fn end(mut self, words: &[&str]) -> Vec<String> {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
        self.0
    }
}

fn given(value: &Option<String>) -> Option<&str> {
    value
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

fn refuse(value: &Option<String>, sentence: &str) -> Result<(), String> {
    given(value).map_or(Ok(()), |_| Err(sentence.to_owned()))
}

fn refuse_each(values: &Option<Vec<String>>, sentence: &str) -> Result<(), String> {
    let mut values = values.iter().flatten();
    match values.any(|value| !value.trim().is_empty()) {
        true => Err(sentence.to_owned()),
        false => Ok(()),
    }
}

/// The name of a saved run that is not there yet.
fn a_free_name() -> String {
    let names = (1_u32..).map(|number| format!("run-{number}.run"));
    let free = names.into_iter().find(|name| !Path::new(name).exists());
    free.unwrap_or_else(|| "run.run".to_owned())
}

/// Returns the name of a saved run, if it is a new file of the folder.
fn a_new_name(name: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-+ ".contains(letter);
    let begins = name.starts_with(char::is_alphanumeric);
    if !begins || !name.ends_with(".run") || !name.chars().all(is_plain) {
        return Err(format!(
            "{name:?} is no name of a saved run: write one like today.run."
        ));
    }
    match Path::new(name).exists() {
        true => Err(format!("{name} is there already; choose another name.")),
        false => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_live_page::OfferedFile;

    fn offer() -> Offer {
        let file = |name: &str| OfferedFile {
            name: name.to_owned(),
            kind: kind_of_file(Path::new(name)).expect("a kind"),
        };
        Offer {
            folder: "here".to_owned(),
            files: ["shop.toml", "shop.js", "shop.py"].map(file).to_vec(),
            chosen: None,
        }
    }

    fn typed(json: &str) -> Result<String, String> {
        let new: NewRun = serde_json::from_str(json).expect("a run");
        Words::of(&new, &offer()).map(|words| words.line())
    }

    #[test]
    fn a_form_becomes_the_line_that_one_would_type() {
        for (json, line) in [
            (
                r#"{"target": "http://a/?b=1&c", "rate": "500", "duration": "30s",
                    "checks": ["p99<50ms", ""], "save": "a.run"}"#,
                "loadline -r 500 -d 30s --check 'p99<50ms' --save a.run 'http://a/?b=1&c'",
            ),
            (
                r#"{"target": "shop.toml", "users": "", "save": "a.run"}"#,
                "loadline --save a.run shop.toml",
            ),
            (
                r#"{"target": "http://a/", "search": true, "duration": "1m",
                    "checks": ["p99<50ms"], "save": "a.run"}"#,
                "loadline capacity --budget 1m --check 'p99<50ms' --save a.run http://a/",
            ),
            (
                r#"{"target": "shop.js", "stages": "10s:5, 5s:0", "variables": ["A=b c"],
                    "save": "a.run"}"#,
                "loadline k6 run --stage 10s:5 --stage 5s:0 -e 'A=b c' --out loadline=a.run \
                 shop.js",
            ),
            (
                r#"{"target": "shop.py", "users": "5", "spawn_rate": "2", "duration": "1m",
                    "host": "http://a", "classes": ["Buyer"], "save": "a.run"}"#,
                "loadline locust -f shop.py --headless -u 5 --spawn-rate 2 -t 1m -H http://a \
                 --out loadline=a.run Buyer",
            ),
            (
                r#"{"target": "shop.py", "options": ["basket=-a b", " fast ", ""],
                    "classes": ["Buyer"], "save": "a.run"}"#,
                "loadline locust -f shop.py --headless --out loadline=a.run '--basket=-a b' \
                 --fast Buyer",
            ),
        ] {
            assert_eq!(typed(json), Ok(line.to_owned()), "{json}");
        }
    }

    #[test]
    fn nothing_is_a_flag_or_a_file_that_was_not_offered() {
        for (json, said) in [
            (r#"{}"#, "Say what is loaded"),
            (r#"{"target": "--log"}"#, "There is no file --log in here."),
            (r#"{"target": "/etc/other.toml"}"#, "There is no file"),
            (r#"{"target": "../shop.js"}"#, "There is no file"),
            (
                r#"{"target": "http://a/", "rate": "--log=x"}"#,
                "begins with a dash",
            ),
            (
                r#"{"target": "http://a/", "save": "../a.run"}"#,
                "no name of a saved run",
            ),
            (
                r#"{"target": "http://a/", "save": "-a.run"}"#,
                "no name of a saved run",
            ),
            (
                r#"{"target": "http://a/", "save": "a.toml"}"#,
                "no name of a saved run",
            ),
            (
                r#"{"target": "shop.py", "classes": ["--master"]}"#,
                "no name of a class",
            ),
            (
                r#"{"target": "shop.py", "options": ["-f=x.py"]}"#,
                "no option of a locustfile",
            ),
            (
                r#"{"target": "shop.js", "checks": ["p99<1s"]}"#,
                "has thresholds",
            ),
        ] {
            let sentence = typed(json).expect_err(json);
            assert!(sentence.contains(said), "{json}: {sentence}");
        }
    }
}
