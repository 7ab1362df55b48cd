//! The memory limit of scripts: beyond it they get an exception, and the process goes on. Also, how
//! a thread allocates the memory of many users.

use std::sync::OnceLock;

/// The limit where the machine's memory is unknown.
const OF_UNKNOWN_BYTES: usize = 4 << 30;

/// The kernel's files with the memory limit of a container.
const OF_CONTAINER: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// Returns the default memory limit of a runtime in bytes: half of the machine's memory, or of the
/// container's if that is less.
pub(crate) fn usual_limit_bytes() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let machine = read("/proc/meminfo").and_then(|text| total_bytes(&text));
        let containers = OF_CONTAINER.iter().filter_map(|path| read(path));
        // Where there is no limit, the file has a word, or a number beyond every machine.
        let limits = containers.filter_map(|text| text.trim().parse::<usize>().ok());
        let least = machine.into_iter().chain(limits).min();
        least.map_or(OF_UNKNOWN_BYTES, |bytes| bytes / 2)
    })
}

/// The largest allocation that glibc neither maps separately nor returns to the system when freed.
const HEAP_PART_BYTES: usize = 120 << 10;

/// Lets the heap of this thread grow by about half of what a user needs. Otherwise glibc requests
/// each missing page from the system: 50 calls for a user, a fifth of the cost of its start.
pub(crate) fn grow_heap() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(
        HEAP_PART_BYTES,
    )));
}

/// Reads the machine's memory in bytes from the text of `/proc/meminfo`.
fn total_bytes(text: &str) -> Option<usize> {
    let line = text
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
        let text = "MemTotal:       24683652 kB\nMemFree:        14104496 kB\n";
        assert_eq!(total_bytes(text), Some(24_683_652 * 1_024));
        assert_eq!(total_bytes("MemTotal: much"), None);
        assert_eq!(total_bytes(""), None);
    }
}
