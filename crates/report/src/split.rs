//! Sampled exchanges in five parts, by the kernel's clock on both ends, and what a clock in user
//! space would have made of them.

use loadline_record::{Distribution, Times};

/// The percentiles that a clock in user space is compared with.
pub(crate) const HELD: [f64; 2] = [50.0, 99.0];

/// The five parts in the order in which an exchange goes through them, with the names of the text
/// and of the JSON.
pub(crate) fn parts(times: &Times) -> [(&'static str, &'static str, &Distribution); 5] {
    [
        ("schedule wait", "schedule_wait_us", &times.split_wait),
        ("our sending", "send_us", &times.split_send),
        ("wire, server", "wire_and_server_us", &times.split_wire),
        ("our wake-up", "wakeup_us", &times.split_wakeup),
        ("our parsing", "parse_us", &times.split_parse),
    ]
}

/// By how many nanoseconds a clock in user space would have overstated a percentile of the time of
/// wire and server.
pub(crate) fn overstated_ns(times: &Times, percentile: f64) -> u64 {
    let user_ns = times.split_user.percentile_ns(percentile);
    user_ns.saturating_sub(times.split_wire.percentile_ns(percentile))
}
