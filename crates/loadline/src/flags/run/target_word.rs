//! The words of a command line that name the target, and other meanings of such words.
//!
//! Nothing is sent to a host that nobody named: a word that is a file, a check or a number is
//! refused, with the flag to which it belongs.

use loadline_plan::{Check, Error, Target};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Endings of files that no host has, as no top-level domain is called so.
const OF_FILES: [&str; 18] = [
    "js", "mjs", "cjs", "ts", "mts", "jsx", "tsx", "lua", "har", "jmx", "json", "jsonl", "ndjson",
    "txt", "csv", "yaml", "yml", "tar",
];

/// A word of the command line that names the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetWord {
    /// A plan file with the whole run.
    Plan(PathBuf),
    /// A URL.
    Url(Target),
}

/// The reason why a word names no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoTarget {
    /// A condition on the result.
    #[error("`{0}` is a check; give it with --check '{0}'.")]
    Check(String),
    /// A file that is there.
    #[error("`{}` is a file, not a URL; {use_of}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The use of the file.
        use_of: String,
    },
    /// A file that is not there.
    #[error("there is no file `{}`, and it is no URL; {use_of}", path.display())]
    NoFile {
        /// Its path.
        path: PathBuf,
        /// The use of the file, once it exists.
        use_of: String,
    },
    /// No URL.
    #[error(transparent)]
    Target(#[from] Error),
}

impl FromStr for TargetWord {
    type Err = NoTarget;

    fn from_str(text: &str) -> Result<Self, NoTarget> {
        if text.contains("://") {
            return Ok(Self::Url(text.parse()?));
        }
        if text.ends_with(".toml") {
            return Ok(Self::Plan(text.into()));
        }
        let path = Path::new(text);
        if path.is_file() {
            return Err(NoTarget::File {
                use_of: use_of(path)
                    .unwrap_or_else(|| format!("write http://{text} if a host is meant.")),
                path: path.to_owned(),
            });
        }
        let is_named_so = OF_FILES.contains(&ending(path)) && !begins_with_host(text);
        if let Some(use_of) = use_of(path).filter(|_| is_named_so) {
            let path = path.to_owned();
            return Err(NoTarget::NoFile { path, use_of });
        }
        Target::among_words(text).map(Self::Url).map_err(|error| {
            match text.parse::<Check>().is_ok() {
                true => NoTarget::Check(text.to_owned()),
                false => NoTarget::Target(error),
            }
        })
    }
}

/// True if a path begins like a URL without its scheme: `shop.example/app.js`.
fn begins_with_host(text: &str) -> bool {
    let Some((host, _)) = text.split_once('/') else {
        return text.contains(':');
    };
    let has_dot = host.contains('.') && !host.chars().all(|c| c == '.');
    has_dot || host.contains([':', '@']) || host.eq_ignore_ascii_case("localhost")
}

/// Returns the use of a file with this ending.
fn use_of(path: &Path) -> Option<String> {
    let shown = path.display();
    Some(match ending(path) {
        "js" | "mjs" | "cjs" | "ts" | "mts" | "jsx" | "tsx" | "tar" => {
            format!("run a k6 script with `loadline k6 run {shown}`.")
        }
        "py" => format!("run a locustfile with `loadline locust -f {shown}`."),
        "lua" => format!("give a Lua script with --script (-s) {shown}, beside a URL."),
        "har" => "HAR files are not read yet; write its requests into a list, for --urls.".into(),
        "jmx" => "test plans of JMeter are not read; write its requests into a list, for \
                  --urls."
            .into(),
        "json" => "collections of requests in JSON are not read; --urls reads JSON Lines, such \
                   as {\"url\": \"http://…\"}."
            .into(),
        "txt" | "jsonl" | "ndjson" | "csv" | "lst" | "log" => {
            format!("a list of URLs is read with --urls {shown}.")
        }
        "yaml" | "yml" => "YAML is not read; a plan file is TOML, and called *.toml.".into(),
        "run" => format!("a saved run is reported with `loadline report {shown}`."),
        _ => return None,
    })
}

/// Returns the part of a path after its last dot.
fn ending(path: &Path) -> &str {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal_of(text: &str) -> String {
        text.parse::<TargetWord>().expect_err(text).to_string()
    }

    #[test]
    fn a_file_is_told_what_runs_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, use_of) in [
            ("login.js", "`loadline k6 run "),
            ("checkout.ts", "`loadline k6 run "),
            ("locustfile.py", "`loadline locust -f "),
            ("s1.lua", "--script (-s) "),
            ("api.har", "HAR files are not read yet"),
            ("test.jmx", "JMeter"),
            ("collection.json", "JSON Lines"),
            ("urls.txt", "--urls "),
            ("plan.yaml", "a plan file is TOML"),
            ("a.run", "`loadline report "),
            ("Makefile", "write http://"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, "").expect("a file");
            let refusal_of = refusal_of(path.to_str().expect("a path of text"));
            assert!(
                refusal_of.contains("is a file, not a URL; ") && refusal_of.contains(use_of),
                "{refusal_of}"
            );
        }
    }

    #[test]
    fn a_file_that_is_missing_is_no_host_if_no_host_is_called_so() {
        for name in ["none.js", "scripts/none.ts", "./none.json", "../none.lua"] {
            let refusal_of = refusal_of(name);
            assert!(
                refusal_of.starts_with(&format!("there is no file `{name}`")),
                "{refusal_of}"
            );
        }
        for name in [
            "shop.py",
            "go.run",
            "http://a.example/x.js",
            "a.example/x.js",
            "localhost/x.json",
            "a:80/x.js",
        ] {
            assert!(matches!(name.parse(), Ok(TargetWord::Url(_))), "{name}");
        }
    }

    #[test]
    fn a_check_belongs_behind_its_flag() {
        for text in ["p99<50ms", "errors<1%", "rate>=990"] {
            assert_eq!(
                refusal_of(text),
                format!("`{text}` is a check; give it with --check '{text}'.")
            );
        }
    }
}
