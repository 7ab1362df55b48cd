//! `k6 version`: the version of k6 that is emulated, and Loadline's.

use super::go_json;
use serde::Serialize;

/// The version of k6 that scripts and commands find here.
pub const K6: &str = "1.8.1";

const OURS: &str = env!("CARGO_PKG_VERSION");

/// Returns the line of `k6 version`.
pub fn line() -> String {
    format!("k6 v{K6} (Loadline {OURS}, {}/{})\n", system(), machine())
}

/// Returns the line of `k6 version --json`. It has no `go_version`, since Loadline does not use Go.
pub fn json() -> String {
    let version = Version {
        go_arch: machine(),
        go_os: system(),
        loadline: OURS,
        version: k6_version(),
    };
    go_json::compact(&version) + "\n"
}

/// The printed object, sorted by key as in k6.
#[derive(Serialize)]
struct Version {
    go_arch: &'static str,
    go_os: &'static str,
    loadline: &'static str,
    version: String,
}

fn k6_version() -> String {
    format!("v{K6}")
}

/// Returns the operating system in Go's words.
pub(super) fn system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// Returns the kind of machine in Go's words.
fn machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_as_that_of_k6_and_names_loadline() {
        let line = line();
        assert!(line.starts_with("k6 v1.8.1 ("), "{line}");
        assert!(line.contains(&format!("Loadline {OURS}, ")), "{line}");
        assert!(line.ends_with(")\n"), "{line}");
    }

    #[test]
    fn the_json_has_the_keys_of_k6_that_have_a_value_here() {
        let read: serde_json::Value = serde_json::from_str(&json()).expect("JSON");
        assert_eq!(read["version"], "v1.8.1");
        assert_eq!(read["go_os"], system());
        assert_eq!(read["go_arch"], machine());
        assert_eq!(read["loadline"], OURS);
    }
}
