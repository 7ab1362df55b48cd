//! `loadline completions`: what a shell needs to complete the command's words.

use crate::flags::{self, completions::CompletionsFlags};

/// The script for the shell.
pub(crate) fn script(flags: &CompletionsFlags) -> String {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut flags::command(), "loadline", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::Shell;

    #[test]
    fn every_shell_learns_every_flag() {
        for &shell in Shell::value_variants() {
            let script = script(&CompletionsFlags { shell });
            for word in [
                "max-connections",
                "local-address",
                "abort-on",
                "completions",
            ] {
                assert!(script.contains(word), "{shell} does not know {word}");
            }
        }
    }
}
