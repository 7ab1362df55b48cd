//! `loadline k6`: its commands, run here and reported in its words.
//!
//! The JavaScript engine is compiled from C, so that a build may leave it out.

/// Runs what these words ask of the tool on so many cores; returns its exit code.
#[cfg(not(feature = "k6"))]
pub(crate) fn run(_words: &[String], _cores: u32) -> u8 {
    crate::exit::refuse(
        "this build runs no k6 scripts; build it with `make build`, or `cargo build --features k6`",
    );
    255
}

#[cfg(feature = "k6")]
pub(crate) use with_scripts::run;

#[cfg(feature = "k6")]
mod with_scripts {
    use crate::exit::refuse;
    use loadline_dialects::k6::{
        FAILED, INTERRUPTED, Interrupt, Place, Screen, Surroundings, Terminals,
    };
    use loadline_runner::{Command, Commands};
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::collections::BTreeMap;
    use std::io::{self, IsTerminal};
    use std::sync::Arc;
    use std::thread;

    /// Runs what these words ask of the tool on so many cores; returns its exit code.
    pub(crate) fn run(words: &[String], cores: u32) -> u8 {
        let (interrupt, commands) = (Interrupt::default(), Commands::default());
        if let Err(error) = obey_signals(&interrupt, &commands) {
            refuse(&format!("signals can't be watched: {error}"));
            return FAILED;
        }
        let directory = match std::env::current_dir() {
            Ok(directory) => directory,
            Err(error) => {
                refuse(&format!("the working directory is not known: {error}"));
                return FAILED;
            }
        };
        let screen = Screen::new(Box::new(io::stdout()), Box::new(io::stderr()));
        loadline_dialects::k6::run(
            words,
            Surroundings {
                cores,
                seed: rand::random(),
                place: Place {
                    directory,
                    environment: environment(),
                },
                screen: Arc::new(screen),
                terminals: terminals(),
                interrupt,
                commands,
            },
        )
    }

    /// The first signal ends a test, with all that comes behind its load; the second ends the
    /// process.
    fn obey_signals(interrupt: &Interrupt, commands: &Commands) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let (interrupt, commands) = (interrupt.clone(), commands.clone());
        let wait = move || {
            for signal in signals.forever() {
                commands.send(Command::Abort);
                let name = match signal {
                    SIGINT => "interrupt",
                    _ => "terminated",
                };
                if !interrupt.signal(name) {
                    std::process::exit(i32::from(INTERRUPTED));
                }
            }
        };
        let interrupts = thread::Builder::new().name("interrupts".to_owned());
        interrupts.spawn(wait).map(drop)
    }

    /// The variables that are text.
    fn environment() -> BTreeMap<String, String> {
        let variables = std::env::vars_os();
        let text = variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        text.collect()
    }

    fn terminals() -> Terminals {
        let size = terminal_size::terminal_size_of(io::stdout());
        Terminals {
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
            columns: size.map(|(columns, _)| columns.0),
        }
    }
}
