//! How many threads share the connections of a command line that names none.

/// With this many connections a thread, one more or less makes no difference worth a thread.
const MANY: u32 = 16;

/// As many threads as there are cores, if they share requests and connections evenly: else the
/// thread with fewer connections would still be at its requests when the others have done theirs.
pub(crate) fn threads(connections: u32, cores: u32) -> u32 {
    let is_fair =
        |threads: &u32| connections.is_multiple_of(*threads) || connections / threads >= MANY;
    (1..=cores.min(connections).max(1))
        .rev()
        .find(is_fair)
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_evenly() {
        for (connections, count) in [(1, 1), (2, 2), (3, 3), (5, 1), (6, 3), (10, 2), (101, 4)] {
            assert_eq!(threads(connections, 4), count, "{connections}");
        }
    }
}
