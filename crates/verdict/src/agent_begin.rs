//! Agents whose load does not begin at the common instant.

use loadline_record::AgentBegin;

/// The most by which a begin may be off, in nanoseconds.
const MOST_OFF_NS: u64 = 5_000_000;

/// Returns those of the agents whose begin is off by more than it may be.
pub fn begins_off(begins: Vec<AgentBegin>) -> Vec<AgentBegin> {
    let is_off = |begin: &AgentBegin| begin.off_ns() > MOST_OFF_NS;
    begins.into_iter().filter(is_off).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_five_milliseconds_are_off() {
        let begin = |late_ns, clock_error_ns| AgentBegin {
            agent: "one".to_owned(),
            late_ns,
            clock_error_ns,
        };
        let begins = vec![
            begin(0, 5_000_000),
            begin(0, 5_000_001),
            begin(4_000_000, 2_000_000),
        ];
        let off = begins_off(begins.clone());
        assert_eq!(off, begins[1..]);
    }
}
