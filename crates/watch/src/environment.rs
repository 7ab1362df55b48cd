//! The machine and the build of a run, read from `/proc` and `/sys` (see proc(5)).

use crate::cpu_quota::cpu_quota;
use crate::proc::{Proc, text};
use loadline_record::{Environment, TcpSettings};
use std::thread;
use std::time::Instant;

/// Returns the current environment of this process. The floor, which has to be measured, and the
/// pacing, which the engine determines, are absent.
pub fn environment() -> Environment {
    environment_of(&Proc::default())
}

fn environment_of(machine: &Proc) -> Environment {
    let proc = |file: &str| text(&machine.path(file)).ok();
    let cpuinfo = proc("cpuinfo").unwrap_or_default();
    let limits = proc("self/limits").unwrap_or_default();
    Environment {
        kernel: proc("sys/kernel/osrelease").map(|release| release.trim().to_owned()),
        cpu_model: cpu_model(&cpuinfo),
        cores: cores(&cpuinfo),
        usable_cores: thread::available_parallelism()
            .ok()
            .map(|cores| cores.get() as u64),
        cpu_quota: cpu_quota(machine),
        memory_bytes: proc("meminfo").and_then(|meminfo| memory_bytes(&meminfo)),
        open_files: open_files(&limits, Limit::Soft),
        open_files_hard: open_files(&limits, Limit::Hard),
        load_average: proc("loadavg").and_then(|loadavg| load_average(&loadavg)),
        clock_source: device(machine, "clocksource/clocksource0/current_clocksource"),
        clock_reading_ns: Some(clock_reading_ns()),
        governor: device(machine, "cpu/cpu0/cpufreq/scaling_governor"),
        smt: device(machine, "cpu/smt/active").map(|active| active == "1"),
        is_virtual: is_virtual(&cpuinfo, machine),
        tcp: tcp_settings(machine),
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

/// Reads a word from the kernel's files on devices (sysfs, `/sys/devices/system`).
fn device(machine: &Proc, file: &str) -> Option<String> {
    let word = text(&machine.sys("devices/system").join(file)).ok()?;
    Some(word.trim().to_owned())
}

/// Returns the duration of one reading of the clock in nanoseconds, from the shortest of several
/// rounds: the others were disturbed.
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

/// Returns the name of the CPU model. x86 has one; arm64 only has part numbers, which mean nothing
/// to a reader.
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

/// A column of `/proc/self/limits`.
#[derive(Clone, Copy)]
enum Limit {
    Soft,
    Hard,
}

fn open_files(limits: &str, limit: Limit) -> Option<u64> {
    let rest = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    rest.split_whitespace().nth(limit as usize)?.parse().ok()
}

fn load_average(loadavg: &str) -> Option<[f64; 3]> {
    let mut numbers = loadavg.split_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Returns true in a virtual machine: an x86 processor has a flag for it, and Xen also has a file
/// in `/sys`. `None` if unknown.
fn is_virtual(cpuinfo: &str, machine: &Proc) -> Option<bool> {
    if text(&machine.sys("hypervisor/type")).is_ok() {
        return Some(true);
    }
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn tcp_settings(machine: &Proc) -> TcpSettings {
    let numbers = |file: &str| {
        let text = text(&machine.path("sys/net").join(file)).unwrap_or_default();
        let numbers = text
            .split_whitespace()
            .map_while(|number| number.parse().ok());
        numbers.collect::<Vec<u64>>()
    };
    let first = |file| numbers(file).first().copied();
    TcpSettings {
        ip_local_port_range: numbers("ipv4/ip_local_port_range").try_into().ok(),
        tcp_tw_reuse: first("ipv4/tcp_tw_reuse"),
        somaxconn: first("core/somaxconn"),
        tcp_max_syn_backlog: first("ipv4/tcp_max_syn_backlog"),
        // The smallest, the initial and the largest size.
        tcp_rmem_max: numbers("ipv4/tcp_rmem").get(2).copied(),
        tcp_wmem_max: numbers("ipv4/tcp_wmem").get(2).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

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
    fn takes_both_limits_of_open_files() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 1048576              files\n";
        assert_eq!(open_files(limits, Limit::Soft), Some(1024));
        assert_eq!(open_files(limits, Limit::Hard), Some(1_048_576));
        let none = "Max open files            unlimited            unlimited            files\n";
        assert_eq!(open_files(none, Limit::Soft), None);
    }

    #[test]
    fn reads_three_load_averages() {
        let averages = load_average("0.50 1.25 2.00 1/234 5678\n");
        assert_eq!(averages, Some([0.5, 1.25, 2.0]));
    }

    #[test]
    fn reads_what_limits_a_machine() {
        let machine = Fixture::new();
        machine.write("cpuinfo", CPUINFO);
        machine.write("loadavg", "8.00 4.00 2.00 9/234 5678\n");
        machine.write("self/cgroup", "0::/\n");
        machine.write_sys("fs/cgroup/cpu.max", "50000 100000\n");
        let clock = "devices/system/clocksource/clocksource0/current_clocksource";
        machine.write_sys(clock, "hpet\n");
        let governor = "devices/system/cpu/cpu0/cpufreq/scaling_governor";
        machine.write_sys(governor, "powersave\n");
        machine.write("sys/net/ipv4/ip_local_port_range", "32768\t33000\n");
        machine.write("sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
        machine.write("sys/net/core/somaxconn", "128\n");
        let environment = environment_of(&machine.proc());
        assert_eq!(environment.cores, Some(2));
        assert_eq!(environment.load_average, Some([8.0, 4.0, 2.0]));
        assert_eq!(environment.cpu_quota, Some(0.5));
        assert_eq!(environment.clock_source.as_deref(), Some("hpet"));
        assert_eq!(environment.governor.as_deref(), Some("powersave"));
        assert_eq!(environment.is_virtual, Some(false));
        let expected = TcpSettings {
            ip_local_port_range: Some([32_768, 33_000]),
            tcp_rmem_max: Some(6_291_456),
            somaxconn: Some(128),
            ..TcpSettings::default()
        };
        assert_eq!(environment.tcp, expected);
        assert_eq!(expected.local_ports(), Some(233));
    }

    #[test]
    fn an_empty_machine_says_nothing_of_itself() {
        let environment = environment_of(&Fixture::new().proc());
        let unknown = Environment {
            usable_cores: environment.usable_cores,
            clock_reading_ns: environment.clock_reading_ns,
            build: environment.build.clone(),
            build_flags: environment.build_flags.clone(),
            ..Environment::default()
        };
        assert_eq!(environment, unknown);
    }

    #[test]
    fn a_hypervisor_is_known_by_a_flag_or_by_itself() {
        let machine = Fixture::new();
        let of = |cpuinfo| is_virtual(cpuinfo, &machine.proc());
        assert_eq!(of("flags\t\t: fpu hypervisor lahf_lm\n"), Some(true));
        assert_eq!(of("flags\t\t: fpu lahf_lm\n"), Some(false));
        assert_eq!(of("Features\t: fp asimd\n"), None);
        machine.write_sys("hypervisor/type", "xen\n");
        assert_eq!(of("Features\t: fp asimd\n"), Some(true));
    }
}
