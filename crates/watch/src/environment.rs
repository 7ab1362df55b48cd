//! The machine and the build that a run is made with, read from `/proc` and `/sys` (see proc(5)).

use loadline_record::Environment;
use std::fs;
use std::thread;
use std::time::Instant;

/// The environment of this process, now. The floor takes measuring, and is not known; nor is
/// the pacing, which is the engine's.
pub fn environment() -> Environment {
    let cpuinfo = proc("cpuinfo").unwrap_or_default();
    Environment {
        kernel: proc("sys/kernel/osrelease").map(|release| release.trim().to_owned()),
        cpu_model: cpu_model(&cpuinfo),
        cores: cores(&cpuinfo),
        usable_cores: thread::available_parallelism()
            .ok()
            .map(|cores| cores.get() as u64),
        memory_bytes: proc("meminfo").and_then(|meminfo| memory_bytes(&meminfo)),
        open_files: proc("self/limits").and_then(|limits| open_files(&limits)),
        load_average: proc("loadavg").and_then(|loadavg| load_average(&loadavg)),
        clock_source: sys("clocksource/clocksource0/current_clocksource"),
        clock_reading_ns: Some(clock_reading_ns()),
        governor: sys("cpu/cpu0/cpufreq/scaling_governor"),
        smt: sys("cpu/smt/active").map(|active| active == "1"),
        build: Some(BUILD.to_owned()),
        build_flags: Some(env!("LOADLINE_BUILD_FLAGS").to_owned()),
        pacing: None,
        floor: None,
    }
}

const BUILD: &str = if cfg!(debug_assertions) {
    "debug"
} else {
    "release"
};

/// One word that the kernel says of its devices (sysfs, `/sys/devices/system`).
fn sys(file: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/sys/devices/system/{file}")).ok()?;
    Some(text.trim().to_owned())
}

/// The shortest of some rounds: the others were disturbed.
fn clock_reading_ns() -> f64 {
    const READINGS: u32 = 200;
    let round = |_| {
        let begin = Instant::now();
        for _ in 1..READINGS {
            std::hint::black_box(Instant::now());
        }
        begin.elapsed()
    };
    let shortest = (0..5).map(round).min().unwrap_or_default();
    shortest.as_nanos() as f64 / f64::from(READINGS)
}

fn proc(file: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/{file}")).ok()
}

/// x86 names its model; arm64 only has part numbers, which say nothing to a reader.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim().to_owned())
}

fn cores(cpuinfo: &str) -> Option<u64> {
    let cores = cpuinfo
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    (cores > 0).then_some(cores as u64)
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let rest = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = rest.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn open_files(limits: &str) -> Option<u64> {
    let rest = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn load_average(loadavg: &str) -> Option<[f64; 3]> {
    let mut numbers = loadavg.split_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str = "processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\nflags\t: fpu\n\n\
                           processor\t: 1\nmodel name\t: Fast CPU @ 3 GHz\n";

    #[test]
    fn reads_this_machine() {
        let environment = environment();
        assert!(environment.kernel.is_some_and(|kernel| !kernel.is_empty()));
        assert!(environment.usable_cores >= Some(1));
        assert!(environment.memory_bytes > Some(1 << 20));
        assert!(environment.load_average.is_some());
        assert!(environment.clock_reading_ns > Some(0.0));
        assert_eq!(environment.build.as_deref(), Some(BUILD));
        let flags = environment.build_flags.unwrap();
        assert!(
            flags.contains("opt-level=") && flags.contains("target="),
            "{flags}"
        );
    }

    #[test]
    fn finds_model_and_cores() {
        assert_eq!(cpu_model(CPUINFO).as_deref(), Some("Fast CPU @ 3 GHz"));
        assert_eq!(cores(CPUINFO), Some(2));
    }

    #[test]
    fn says_nothing_of_what_is_not_there() {
        let arm = "processor\t: 0\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(arm), None);
        assert_eq!(cores(""), None);
        assert_eq!(memory_bytes("MemFree: 12 kB\n"), None);
        assert_eq!(load_average("0.5 0.4"), None);
    }

    #[test]
    fn converts_memory_to_bytes() {
        let meminfo = "MemTotal:       24683520 kB\nMemFree:        24000000 kB\n";
        assert_eq!(memory_bytes(meminfo), Some(24_683_520 * 1024));
    }

    #[test]
    fn takes_the_soft_limit_of_open_files() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 1048576              files\n";
        assert_eq!(open_files(limits), Some(1024));
        let none = "Max open files            unlimited            unlimited            files\n";
        assert_eq!(open_files(none), None);
    }

    #[test]
    fn reads_three_load_averages() {
        let averages = load_average("0.50 1.25 2.00 1/234 5678\n");
        assert_eq!(averages, Some([0.5, 1.25, 2.0]));
    }
}
