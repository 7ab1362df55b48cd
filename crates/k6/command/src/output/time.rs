//! Times in the outputs, as Go formats them.

use chrono::{DateTime, Local, SecondsFormat, TimeZone};

/// Returns a time in the time zone of this machine.
pub(super) fn local(at_ns: u64) -> DateTime<Local> {
    Local.timestamp_nanos(i64::try_from(at_ns).unwrap_or(i64::MAX))
}

/// Formats a time as Go does: RFC 3339 without zeros at the end of the fraction.
pub(crate) fn rfc3339_nano(at_ns: u64) -> String {
    let whole = local(at_ns).to_rfc3339_opts(SecondsFormat::Secs, true);
    let fraction = at_ns % 1_000_000_000;
    if fraction == 0 {
        return whole;
    }
    let digits = format!("{fraction:09}");
    let digits = digits.trim_end_matches('0');
    // The seconds end after 19 characters, in any time zone.
    let (seconds, zone) = whole.split_at(19);
    format!("{seconds}.{digits}{zone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_without_needless_zeros() {
        let nano = |ns: u64| rfc3339_nano(1_700_000_000_000_000_000 + ns);
        assert!(nano(0).starts_with("2023-11-"), "{}", nano(0));
        assert!(!nano(0).contains('.'));
        assert!(nano(120_000_000).contains(".12"), "{}", nano(120_000_000));
        assert!(!nano(120_000_000).contains(".120"));
    }
}
