//! The CPU, polling and waiting times of a worker's thread, per interval.

use loadline_reactor::{Host, ThreadTimes};
use loadline_record::WorkerTimes;

/// The state for measuring a thread's times from one interval to the next.
#[derive(Debug)]
pub(crate) struct IntervalTimes {
    at_ns: u64,
    times: Option<ThreadTimes>,
}

impl IntervalTimes {
    /// Begins the first interval: earlier activity of the loop does not count.
    pub(crate) fn begin(host: &impl Host) -> Self {
        host.take_loop_iterations(&mut |_, _| ());
        IntervalTimes::go_on(host)
    }

    fn go_on(host: &impl Host) -> Self {
        IntervalTimes {
            at_ns: host.now_ns(),
            times: host.thread_times(),
        }
    }

    /// Ends an interval and begins the next one; returns its times, `None` if there is no thread.
    pub(crate) fn end(&mut self, host: &impl Host) -> Option<WorkerTimes> {
        let before = std::mem::replace(self, IntervalTimes::go_on(host));
        let (from, to) = (before.times?, self.times?);
        let mut times = WorkerTimes {
            wall_ns: self.at_ns.saturating_sub(before.at_ns),
            cpu_ns: to.cpu_ns.saturating_sub(from.cpu_ns),
            polled_ns: to.polled_ns.saturating_sub(from.polled_ns),
            queued_ns: to.queued_ns.saturating_sub(from.queued_ns),
            cores: to.core.into_iter().collect(),
            timer_slack_ns: to.timer_slack_ns,
            ..WorkerTimes::default()
        };
        host.take_loop_iterations(&mut |length_ns, count| {
            times.add_loop_iterations(length_ns, count)
        });
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_reactor::{Kernel, Sim};
    use std::time::{Duration, Instant};

    #[test]
    fn an_interval_has_what_the_thread_computed_in_it() {
        const BUSY: Duration = Duration::from_millis(20);
        let kernel = Kernel::new().unwrap();
        let mut interval_times = IntervalTimes::begin(&kernel);
        let begin_ns = kernel.thread_times().unwrap().cpu_ns;
        let begin = Instant::now();
        while kernel.thread_times().unwrap().cpu_ns - begin_ns < BUSY.as_nanos() as u64 {
            std::hint::spin_loop();
        }
        let busy = interval_times.end(&kernel).unwrap();
        let passed_ns = begin.elapsed().as_nanos() as u64;
        assert!(busy.cpu_ns >= BUSY.as_nanos() as u64);
        assert!(busy.wall_ns >= passed_ns && busy.wall_ns >= busy.cpu_ns);
        assert_eq!((busy.cores.len(), busy.timer_slack_ns), (1, Some(1)));

        std::thread::sleep(BUSY);
        let idle = interval_times.end(&kernel).unwrap();
        assert!(idle.wall_ns >= BUSY.as_nanos() as u64);
        assert!(idle.cpu_share() < 0.5, "{idle:?}");
    }

    #[test]
    fn a_simulated_loop_has_no_thread() {
        let sim = Sim::new(1, 0);
        assert_eq!(IntervalTimes::begin(&sim).end(&sim), None);
    }
}
