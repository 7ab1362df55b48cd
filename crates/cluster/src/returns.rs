//! Agents that were lost and are there again, while the run lasts. What they had to send is with
//! others, or lost, and stays so; that they are back is said.

use crate::loss::Handover;
use loadline_reactor::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The time between two looks for lost agents.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Looks for lost agents: returns those of these names that are there, and free.
pub type Scout = Box<dyn FnMut(&[String]) -> Vec<String> + Send>;

/// Looks for agents that are lost until the run is over, whose zero is this instant on
/// `CLOCK_MONOTONIC`.
pub(crate) fn look_for_lost(
    handover: Handover,
    mut scout: Scout,
    zero_ns: u64,
    is_over: Arc<AtomicBool>,
) {
    thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            let absent = handover.ledger().absent();
            if !absent.is_empty() {
                for agent in scout(&absent) {
                    let at_ns = monotonic_ns().saturating_sub(zero_ns);
                    handover.ledger().welcome(&agent, at_ns);
                }
            }
            thread::sleep(LOOK_INTERVAL);
        }
    });
}
