//! The costs of users, in memory and CPU time.

use crate::alone::alone;
use crate::ran::{Amount, run, shared};
use std::time::Duration;

/// Returns the bytes of this process that are in memory.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").expect("a Linux kernel");
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.expect("a number") * 4096
}

/// Returns the bytes that are allocated. More bytes are in memory, and their number varies: the
/// allocator may keep the memory of a run's users until the next run, or return it to the system.
#[expect(unsafe_code, reason = "nothing else knows")]
pub(crate) fn allocated() -> u64 {
    // SAFETY: the call only counts.
    let counts = unsafe { libc::mallinfo2() };
    (counts.uordblks + counts.hblkhd) as u64
}

/// Returns the maximum of this process's bytes in memory.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux kernel");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.expect("a number") * 1_024
}

/// Returns the CPU time that this process has used.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux kernel");
    let behind_name = stat.rsplit(") ").next().expect("a name");
    let ticks = behind_name.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The bytes that a user of k6 1.8.1 needs for a request and a wait, by the kernel's count.
const OF_K6: u64 = 230_000;

#[test]
#[ignore = "nothing else may run beside it; make soak runs it"]
fn a_user_needs_no_more_memory_than_one_of_k6() {
    alone(a_user_needs_no_more_memory_than_one_of_k6, || {
        let each = bytes_of_a_user();
        println!("a user needs {} KB", each / 1_000);
        assert!(each <= OF_K6, "{each} bytes");
    });
}

#[test]
#[ignore = "nothing else may run beside it; make soak runs it"]
fn a_user_that_shares_a_runtime_needs_an_eighth_of_one_of_k6() {
    alone(
        a_user_that_shares_a_runtime_needs_an_eighth_of_one_of_k6,
        || {
            let each = shared(bytes_of_a_user);
            println!("a user needs {} KB", each / 1_000);
            assert!(each <= OF_K6 / 8, "{each} bytes");
        },
    );
}

/// Returns the bytes that each further user needs, between 100 and 1 100 users.
fn bytes_of_a_user() -> u64 {
    let script = "import http from 'k6/http'; import { check, sleep } from 'k6';
        export default function () {
            if (__ITER < 0) check(http.get('http://127.0.0.1/'), { ok: (r) => r.status === 200 });
            sleep(100);
        }";
    let peak_of = |users| {
        let amount = Amount {
            users,
            iterations: u64::MAX,
            within: Duration::from_secs(2),
        };
        let ran = run(script, amount);
        assert_eq!(ran.interrupted, u64::from(users), "all of them have begun");
        peak()
    };
    let few = peak_of(100);
    (peak_of(1_100) - few) / 1_000
}

#[test]
#[ignore = "it prints what an iteration costs; make soak runs it"]
fn an_iteration_costs_little_beside_its_requests() {
    alone(an_iteration_costs_little_beside_its_requests, || {
        for body in ["", "check(1, { one: (n) => n === 1 });", "sleep(0);"] {
            let script = format!(
                "import {{ check, sleep }} from 'k6';\nexport default function () {{ {body} }}"
            );
            let before = cpu();
            let amount = Amount {
                users: 100,
                iterations: 300_000,
                within: Duration::from_secs(60),
            };
            let ran = run(&script, amount);
            let each = (cpu() - before).as_secs_f64() * 1e6 / ran.complete as f64;
            println!(
                "{each:.2} us for an iteration of `{body}` ({})",
                ran.complete
            );
            assert!(each < 60.0, "{each} us");
        }
    });
}
