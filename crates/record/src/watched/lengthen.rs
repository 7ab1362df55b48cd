//! One reading made of two that follow each other, for those who could not take each of them.

use super::{HostUsage, Missing, Pressure, Traffic, TreeUsage, Watched, WatchedHost, WatchedTree};

impl Watched {
    /// Lengthens the reading by the next one: amounts are added, levels are those at the end,
    /// and rates are means over both. The trees are those of the next reading.
    pub fn lengthen(&mut self, next: &Watched) {
        let lengths_ns = (self.length_ns, next.length_ns);
        self.length_ns = self.length_ns.saturating_add(next.length_ns);
        self.host.lengthen(&next.host);
        let before = std::mem::replace(&mut self.trees, next.trees.clone());
        for (tree, before) in self.trees.iter_mut().zip(before) {
            tree.follow(&before, lengths_ns);
        }
    }
}

impl WatchedHost {
    fn lengthen(&mut self, next: &WatchedHost) {
        let before = std::mem::replace(self, next.clone());
        self.usage.follow(&before.usage);
        self.missing = either(&before.missing, &self.missing);
    }
}

impl HostUsage {
    fn follow(&mut self, before: &HostUsage) {
        self.cpu_ns = sum(before.cpu_ns, self.cpu_ns);
        self.steal_ns = sum(before.steal_ns, self.steal_ns);
        self.retransmits = sum(before.retransmits, self.retransmits);
        self.listen_overflows = sum(before.listen_overflows, self.listen_overflows);
        self.pressure.follow(before.pressure);
        if let (Some(own), Some(before)) = (&mut self.traffic, before.traffic) {
            own.follow(before);
        }
    }
}

impl Pressure {
    fn follow(&mut self, before: Pressure) {
        self.cpu_pressure_ns = sum(before.cpu_pressure_ns, self.cpu_pressure_ns);
        self.memory_pressure_ns = sum(before.memory_pressure_ns, self.memory_pressure_ns);
        self.io_pressure_ns = sum(before.io_pressure_ns, self.io_pressure_ns);
    }
}

impl Traffic {
    fn follow(&mut self, before: Traffic) {
        self.net_in_bytes += before.net_in_bytes;
        self.net_out_bytes += before.net_out_bytes;
        self.net_in_packets += before.net_in_packets;
        self.net_out_packets += before.net_out_packets;
    }
}

impl WatchedTree {
    fn follow(&mut self, before: &WatchedTree, lengths_ns: (u64, u64)) {
        self.change = self.change.or(before.change);
        self.missing = either(&before.missing, &self.missing);
        self.usage.follow(&before.usage, lengths_ns);
    }
}

impl TreeUsage {
    fn follow(&mut self, before: &TreeUsage, lengths_ns: (u64, u64)) {
        self.cpu_ns = sum(before.cpu_ns, self.cpu_ns);
        // It is read less often than the rest.
        self.pss_bytes = self.pss_bytes.or(before.pss_bytes);
        let mean = |before, own| mean_rate_of_two(before, own, lengths_ns);
        self.voluntary_switches_per_s = mean(
            before.voluntary_switches_per_s,
            self.voluntary_switches_per_s,
        );
        self.involuntary_switches_per_s = mean(
            before.involuntary_switches_per_s,
            self.involuntary_switches_per_s,
        );
    }
}

/// The sum of two amounts; an amount that could not be read makes the sum unknown.
fn sum(before: Option<u64>, own: Option<u64>) -> Option<u64> {
    Some(before?.saturating_add(own?))
}

fn mean_rate_of_two(
    before: Option<f64>,
    own: Option<f64>,
    (before_ns, own_ns): (u64, u64),
) -> Option<f64> {
    let length_ns = before_ns as f64 + own_ns as f64;
    if length_ns <= 0.0 {
        return own;
    }
    Some((before? * before_ns as f64 + own? * own_ns as f64) / length_ns)
}

/// What is missing in one of two readings.
fn either(before: &[Missing], own: &[Missing]) -> Vec<Missing> {
    let mut all = [before, own].concat();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;

    fn reading(length_ns: u64, cpu_ns: u64, change: Option<Change>) -> Watched {
        let usage = TreeUsage {
            processes: 1,
            cpu_ns: Some(cpu_ns),
            rss_bytes: Some(cpu_ns),
            voluntary_switches_per_s: Some(cpu_ns as f64),
            ..TreeUsage::default()
        };
        let tree = WatchedTree {
            change,
            usage,
            ..WatchedTree::default()
        };
        let mut host = WatchedHost::default();
        host.usage.cpu_ns = Some(cpu_ns);
        host.usage.traffic = Some(Traffic {
            net_in_bytes: cpu_ns,
            ..Traffic::default()
        });
        Watched {
            length_ns,
            host,
            trees: vec![tree],
        }
    }

    #[test]
    fn amounts_add_up_levels_are_the_last_and_rates_are_means() {
        let mut long = reading(1_000, 100, Some(Change::Restarted));
        long.lengthen(&reading(3_000, 300, None));
        assert_eq!(long.length_ns, 4_000);
        assert_eq!(long.host.usage.cpu_ns, Some(400));
        assert_eq!(long.host.usage.traffic.unwrap().net_in_bytes, 400);
        let tree = &long.trees[0];
        assert_eq!(tree.change, Some(Change::Restarted));
        assert_eq!(
            (tree.usage.cpu_ns, tree.usage.rss_bytes),
            (Some(400), Some(300))
        );
        assert_eq!(tree.usage.voluntary_switches_per_s, Some(250.0));
    }

    #[test]
    fn an_amount_that_was_not_read_once_is_unknown() {
        let mut long = reading(1_000, 100, None);
        long.lengthen(&Watched {
            length_ns: 1_000,
            ..Watched::default()
        });
        assert_eq!(long.host.usage.cpu_ns, None);
        assert!(long.trees.is_empty());
    }
}
