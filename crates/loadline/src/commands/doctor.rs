//! `loadline doctor`: what this machine can carry, and what to change. It changes nothing itself.

use crate::exit::Exit;
use crate::flags::doctor::DoctorFlags;
use crate::publish::write_listing;
use anyhow::Result;
use loadline_engine::OTHER_FILES;
use loadline_record::Environment;
use loadline_report::{Machine, machine_json, machine_text};
use loadline_verdict::machine_problems;
use loadline_watch::{environment, host_counters};
use std::thread;
use std::time::Duration;

/// The duration of the sample of the CPU time of others: fifty of the kernel's ticks of each core.
const SAMPLE_TIME: Duration = Duration::from_millis(500);

/// Examines this machine, and prints its problems.
pub(crate) fn run(flags: &DoctorFlags) -> Result<Exit> {
    let machine = look();
    write_listing(
        &flags.output,
        || machine_json(&machine),
        || machine_text(&machine),
    )?;
    Ok(exit(&machine))
}

fn look() -> Machine {
    let before = host_counters();
    thread::sleep(SAMPLE_TIME);
    let meanwhile = host_counters().since(&before);
    let environment = Environment {
        pacing: Some(loadline_reactor::PACING.to_owned()),
        ..environment()
    };
    Machine {
        problems: machine_problems(&environment, &meanwhile),
        environment,
        meanwhile,
        other_files: OTHER_FILES,
    }
}

/// Something to change is a check that failed.
fn exit(machine: &Machine) -> Exit {
    match machine.problems.is_empty() {
        true => Exit::Good,
        false => Exit::CheckFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::HostCounters;

    #[test]
    fn something_to_change_is_exit_code_1() {
        let code = |governor: &str| {
            let environment = Environment {
                governor: Some(governor.to_owned()),
                ..Environment::default()
            };
            let meanwhile = HostCounters::default();
            let machine = Machine {
                problems: machine_problems(&environment, &meanwhile),
                environment,
                meanwhile,
                other_files: OTHER_FILES,
            };
            exit(&machine).code()
        };
        assert_eq!((code("performance"), code("powersave")), (0, 1));
    }
}
