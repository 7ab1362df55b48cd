//! The process of a part whose agent stands still: nobody receives what it reports, and others send
//! its load. It ends by itself, at the time at which the coordinator gives it up.

use crate::watched::SILENCE_TIMEOUT;
use std::fs;
use std::os::unix::process::parent_id;
use std::thread;
use std::time::Duration;

/// The variable of a process that an agent has started for a part.
pub const PART_VARIABLE: &str = "LOADLINE_PART_OF_AGENT";

/// The interval in which the agent is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// Ends this process once its parent has been stopped for three seconds, by a signal or a debugger.
/// Looks are counted instead of time: a machine that stood still as a whole goes on.
pub fn end_with_stopped_parent() {
    let parent = parent_id();
    thread::spawn(move || {
        let mut stopped = Duration::ZERO;
        while stopped < SILENCE_TIMEOUT {
            thread::sleep(LOOK_INTERVAL);
            stopped = match is_stopped(parent) {
                true => stopped + LOOK_INTERVAL,
                false => Duration::ZERO,
            };
        }
        signal_hook::low_level::exit(1)
    });
}

/// True if a process is stopped.
fn is_stopped(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| state(&stat).is_some_and(|state| "Tt".contains(state)))
}

/// Returns the state in the contents of `/proc/PID/stat`: it comes after the name, in which there
/// may be anything.
fn state(stat: &str) -> Option<char> {
    let (_, after) = stat.rsplit_once(')')?;
    after.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn signal(process: &Child, name: &str) {
        let pid = process.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.expect("kill").success());
    }

    /// Waits for as long as it takes.
    fn await_state(process: &Child, is_expected: bool) {
        while is_stopped(process.id()) != is_expected {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_process_is_stopped_until_it_continues() {
        let mut process = Command::new("sleep").arg("600").spawn().expect("sleep");
        assert!(!is_stopped(process.id()));
        signal(&process, "STOP");
        await_state(&process, true);
        signal(&process, "CONT");
        await_state(&process, false);
        process.kill().expect("an end");
        process.wait().expect("an end");
        assert!(!is_stopped(process.id()));
    }

    #[test]
    fn the_state_comes_after_a_name_with_anything() {
        assert_eq!(state("7 (a) T (b) c) R 1 2"), Some('R'));
        assert_eq!(state("7 (cat) T 1"), Some('T'));
        assert_eq!(state(""), None);
        assert_eq!(state("7 (cat)"), None);
    }
}
