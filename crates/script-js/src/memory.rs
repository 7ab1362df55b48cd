//! How much memory scripts may use: beyond, they get an exception, and the process goes on. And how
//! a thread gets the memory of many users.

use std::sync::OnceLock;

/// What a script may use of a machine whose memory is unknown.
const OF_UNKNOWN_BYTES: usize = 4 << 30;

/// Where the kernel says how much memory the processes of a container may use.
const OF_CONTAINER: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// What a runtime may use if nobody says: half of the machine's memory, or of the container's.
pub(crate) fn usual_limit_bytes() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let machine = read("/proc/meminfo").and_then(|told| total_bytes(&told));
        let containers = OF_CONTAINER.iter().filter_map(|path| read(path));
        // Where there is no limit, a word says so, or a number beyond every machine.
        let limits = containers.filter_map(|told| told.trim().parse::<usize>().ok());
        let least = machine.into_iter().chain(limits).min();
        least.map_or(OF_UNKNOWN_BYTES, |bytes| bytes / 2)
    })
}

/// The most that glibc neither maps by itself nor gives back to the system when it is free.
const HEAP_PART_BYTES: usize = 120 << 10;

/// Lets the heap of this thread grow by about half of what a user needs. glibc asks the system for
/// each page that is missing: with 50 calls for a user, a fifth of what its start costs.
pub(crate) fn grow_heap() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(
        HEAP_PART_BYTES,
    )));
}

/// The machine's memory, of what the kernel says of it.
fn total_bytes(told: &str) -> Option<usize> {
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes = line.trim().strip_suffix("kB")?.trim();
    kilobytes.parse::<usize>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read() {
        let told = "MemTotal:       24683652 kB\nMemFree:        14104496 kB\n";
        assert_eq!(total_bytes(told), Some(24_683_652 * 1_024));
        assert_eq!(total_bytes("MemTotal: much"), None);
        assert_eq!(total_bytes(""), None);
    }
}
