//! The number of threads for the connections of a command line that gives none.

/// The number of connections per thread from which one more or less makes no difference.
const MANY: u32 = 16;

/// Returns as many threads as there are cores, if they share requests and connections evenly.
/// Otherwise the thread with fewer connections would still be sending its requests after the others
/// have finished.
pub fn threads(connections: u32, cores: u32) -> u32 {
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
