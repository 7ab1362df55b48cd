//! The reasons why there is no report, in wrk's words.

use loadline_engine::StartError;
use loadline_script_lua::{Error, ScriptError};
use loadline_transport::ResolveError;
use std::io;
use std::path::Path;

/// A run that could not start. `place` is the target's host and port.
pub(super) fn of_start(place: &str, error: &StartError) -> String {
    match error {
        StartError::Resolve(ResolveError::Unknown { reason, .. }) => unresolved(place, reason),
        StartError::Unreachable { error } => unconnected(place, &error.error.to_string()),
        StartError::Tls(error) => format!("unable to initialize SSL\n{error}\n"),
        StartError::Resolve(ResolveError::NoneOfVersion { .. } | ResolveError::Blocked(_))
        | StartError::OpenFiles(_)
        | StartError::Request { .. }
        | StartError::Name { .. }
        | StartError::Remote(_)
        | StartError::Worker(_)
        | StartError::System(_) => format!("{error}\n"),
    }
}

/// A script that could not be run.
pub(super) fn of_script(place: &str, error: &Error) -> String {
    match error {
        Error::Connect { reason, .. } => unconnected(place, reason),
        Error::Lookup(lookup) => {
            let name = format!("{}:{}", lookup.host, lookup.service);
            unresolved(&name, &lookup.reason)
        }
        Error::Request(problem) => format!("{problem}\n"),
        Error::Script(error) if error.is_refusal() => format!("{}\n", error.lua_message),
        Error::Script(error) => of_panic(error),
        Error::Read { .. } | Error::Url(_) => format!("{error}\n"),
    }
}

/// A script that raised an error where wrk has nobody to catch it.
pub(super) fn of_panic(error: &ScriptError) -> String {
    let message = &error.lua_message;
    format!("PANIC: unprotected error in call to Lua API ({message})\n")
}

/// A script whose file could not be loaded.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
pub(super) fn of_load(path: &Path, error: &Error) -> String {
    let path = path.display();
    match error {
        Error::Read { error, .. } => {
            let verb = match error.kind() {
                io::ErrorKind::IsADirectory => "read",
                _ => "open",
            };
            let reason = error.to_string();
            format!(
                "{path}: cannot {verb} {path}: {}\n",
                without_number(&reason)
            )
        }
        Error::Script(error) => format!("{path}: {}\n", error.lua_message),
        Error::Connect { .. } | Error::Lookup(_) | Error::Request(_) | Error::Url(_) => {
            format!("{path}: {error}\n")
        }
    }
}

fn unresolved(place: &str, reason: &str) -> String {
    let reason = reason
        .strip_prefix("failed to lookup address information: ")
        .unwrap_or(reason);
    format!("unable to resolve {place} {reason}\n")
}

fn unconnected(place: &str, reason: &str) -> String {
    format!("unable to connect to {place} {}\n", without_number(reason))
}

/// The system's text alone: Rust adds the number.
fn without_number(reason: &str) -> &str {
    reason
        .rsplit_once(" (os error")
        .map_or(reason, |(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_those_of_the_system_alone() {
        let refused = io::Error::from_raw_os_error(111).to_string();
        assert_eq!(
            unconnected("h:80", &refused),
            "unable to connect to h:80 Connection refused\n"
        );
        let unknown = "failed to lookup address information: Name or service not known";
        assert_eq!(
            unresolved("h:http", unknown),
            "unable to resolve h:http Name or service not known\n"
        );
    }

    #[test]
    fn a_file_that_is_none_is_named_twice() {
        let told = |number| {
            let error = Error::Read {
                path: "a.lua".into(),
                error: io::Error::from_raw_os_error(number),
            };
            of_load(Path::new("a.lua"), &error)
        };
        assert_eq!(
            [told(2), told(21)],
            [
                "a.lua: cannot open a.lua: No such file or directory\n",
                "a.lua: cannot read a.lua: Is a directory\n"
            ]
        );
    }
}
