//! `loadline k6`: its commands, and the signals that end them.
//!
//! The JavaScript engine is compiled from C, so that a build may leave it out.

use loadline_tool_host::Host;

/// Refuses the words, because this build has no k6.
#[cfg(not(feature = "k6"))]
pub(crate) fn run(_words: &[String], _host: Host) -> u8 {
    crate::exit::refuse(
        "this build runs no k6 scripts; build it with `make build`, or `cargo build --features k6`",
    );
    255
}

/// Runs the command with these words after its name; returns its exit code.
///
/// The first signal ends a test, with all that follows its load; the second ends the process.
#[cfg(feature = "k6")]
pub(crate) fn run(words: &[String], host: Host) -> u8 {
    use crate::dialect::signals::watch;
    use crate::exit::refuse;
    use loadline_k6_command::{FAILED, INTERRUPTED};

    let watched = watch(&host, |signal, is_handled| {
        if !is_handled {
            let name = signal.name();
            refuse(&format!(
                "{name}: the test ends at once, without its summary"
            ));
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    match watched {
        Ok(()) => loadline_k6_command::run(words, host),
        Err(error) => {
            refuse(&format!("signals can't be watched: {error}"));
            FAILED
        }
    }
}
