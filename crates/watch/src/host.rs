//! The usage of the machine as a whole.
//!
//! Sources: `stat`, `meminfo`, `pressure/*` (pressure stall information), `net/dev`, `net/snmp` and
//! `net/netstat` of `/proc`, and the speed of the link in `/sys/class/net`.

use crate::proc::{Proc, ReadFailure, parse, text};
use crate::tree::missing;
use loadline_record::watched::{Figure, HostUsage, Missing, Pressure, Traffic, WatchedHost, Why};
use procfs_core::net::InterfaceDeviceStatus;
use procfs_core::{CpuTime, KernelStats, Meminfo, parse_pressure_record};

/// Samples the machine.
#[derive(Debug, Default)]
pub(crate) struct Host {
    interface: Option<String>,
    before: Counters,
}

/// Counters that only grow. `None` stands for a counter that could not be read.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    cpu: Option<Cpu>,
    pressure: Pressure,
    traffic: Option<Traffic>,
    retransmits: Option<u64>,
    listen_overflows: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Cpu {
    busy_ns: u64,
    steal_ns: u64,
}

impl Host {
    /// Counts the traffic of this interface from the next sample on.
    pub(crate) fn follow(&mut self, interface: Option<String>) {
        if self.interface != interface {
            self.interface = interface;
            self.before.traffic = None;
        }
    }

    /// Returns the usage since the last sample.
    pub(crate) fn look(&mut self, proc: &Proc) -> WatchedHost {
        let mut host = WatchedHost::default();
        let now = self.counters(proc, &mut host);
        host.usage = now.since(&self.before);
        self.before = now;
        read_memory(proc, &mut host);
        host.interface.clone_from(&self.interface);
        let interface = self.interface.as_deref();
        host.link_bits_per_s = interface.and_then(|name| link_bits_per_s(proc, name));
        host
    }

    fn counters(&self, proc: &Proc, host: &mut WatchedHost) -> Counters {
        let mut missed = Missed(&mut host.missing);
        let stats = proc.parse_for::<KernelStats>(&proc.path("stat"));
        let stats = missed.or_none(Figure::Cpu, stats);
        host.cores = stats.as_ref().map(|stats| stats.cpu_time.len() as u64);
        let cell = |file, section, name| cell(proc, file, section, name);
        Counters {
            cpu: stats.map(|stats| Cpu::of(&stats.total, proc)),
            pressure: missed
                .or_none(Figure::Pressure, pressure(proc))
                .unwrap_or_default(),
            traffic: self
                .interface
                .as_deref()
                .and_then(|interface| missed.or_none(Figure::Network, traffic(proc, interface))),
            retransmits: missed.or_none(Figure::Retransmits, cell("snmp", "Tcp:", "RetransSegs")),
            listen_overflows: missed.or_none(
                Figure::ListenOverflows,
                cell("netstat", "TcpExt:", "ListenOverflows"),
            ),
        }
    }
}

/// Collects the figures that could not be read.
struct Missed<'a>(&'a mut Vec<Missing>);

impl Missed<'_> {
    fn or_none<T>(&mut self, figure: Figure, read: Result<T, ReadFailure>) -> Option<T> {
        read.map_err(|unread| self.0.push(missing(figure, unread.why())))
            .ok()
    }
}

impl Counters {
    fn since(&self, before: &Counters) -> HostUsage {
        let (now, then) = (&self.pressure, &before.pressure);
        let cpu = |of: fn(Cpu) -> u64| since(self.cpu.map(of), before.cpu.map(of));
        HostUsage {
            cpu_ns: cpu(|cpu| cpu.busy_ns),
            steal_ns: cpu(|cpu| cpu.steal_ns),
            memory_used_bytes: None,
            pressure: Pressure {
                cpu_pressure_ns: since(now.cpu_pressure_ns, then.cpu_pressure_ns),
                memory_pressure_ns: since(now.memory_pressure_ns, then.memory_pressure_ns),
                io_pressure_ns: since(now.io_pressure_ns, then.io_pressure_ns),
            },
            traffic: self
                .traffic
                .zip(before.traffic)
                .map(|(now, then)| passed(now, then)),
            retransmits: since(self.retransmits, before.retransmits),
            listen_overflows: since(self.listen_overflows, before.listen_overflows),
        }
    }
}

fn since(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before?))
}

fn passed(now: Traffic, before: Traffic) -> Traffic {
    let passed = |of: fn(Traffic) -> u64| of(now).saturating_sub(of(before));
    Traffic {
        net_in_bytes: passed(|traffic| traffic.net_in_bytes),
        net_out_bytes: passed(|traffic| traffic.net_out_bytes),
        net_in_packets: passed(|traffic| traffic.net_in_packets),
        net_out_packets: passed(|traffic| traffic.net_out_packets),
    }
}

impl Cpu {
    /// Converts the kernel's CPU times. Time spent running guests is part of user time already
    /// (proc_stat(5)).
    fn of(time: &CpuTime, proc: &Proc) -> Cpu {
        let interrupts = time.irq.unwrap_or(0) + time.softirq.unwrap_or(0);
        Cpu {
            busy_ns: proc.ticks_ns(time.user + time.nice + time.system + interrupts),
            steal_ns: proc.ticks_ns(time.steal.unwrap_or(0)),
        }
    }
}

fn pressure(proc: &Proc) -> Result<Pressure, ReadFailure> {
    Ok(Pressure {
        cpu_pressure_ns: Some(some_waited_ns(proc, "cpu")?),
        memory_pressure_ns: Some(some_waited_ns(proc, "memory")?),
        io_pressure_ns: Some(some_waited_ns(proc, "io")?),
    })
}

/// Returns the time since boot in which some task waited for a resource.
fn some_waited_ns(proc: &Proc, resource: &str) -> Result<u64, ReadFailure> {
    let pressure = text(&proc.path(&format!("pressure/{resource}")))?;
    let some = pressure.lines().find(|line| line.starts_with("some"));
    let record = some.and_then(|line| parse_pressure_record(line).ok());
    let total_us = record.ok_or(ReadFailure::Refused(Why::Untold))?.total;
    Ok(total_us.saturating_mul(1_000))
}

fn traffic(proc: &Proc, interface: &str) -> Result<Traffic, ReadFailure> {
    let InterfaceDeviceStatus(devices) = parse(&proc.path("net/dev"))?;
    let device = devices.get(interface).ok_or(ReadFailure::Absent)?;
    Ok(Traffic {
        net_in_bytes: device.recv_bytes,
        net_out_bytes: device.sent_bytes,
        net_in_packets: device.recv_packets,
        net_out_packets: device.sent_packets,
    })
}

/// Returns the number under a name in a section of a file of `net`, where a line of names comes
/// before a line of numbers.
fn cell(proc: &Proc, file: &str, section: &str, name: &str) -> Result<u64, ReadFailure> {
    let text = text(&proc.path(&format!("net/{file}")))?;
    let mut lines = text.lines().filter(|line| line.starts_with(section));
    let (names, numbers) = (lines.next(), lines.next());
    let cell = names.zip(numbers).and_then(|(names, numbers)| {
        let column = names.split_whitespace().position(|column| column == name)?;
        numbers.split_whitespace().nth(column)?.parse().ok()
    });
    cell.ok_or(ReadFailure::Refused(Why::Untold))
}

fn read_memory(proc: &Proc, host: &mut WatchedHost) {
    let memory = Missed(&mut host.missing).or_none(Figure::Memory, parse(&proc.path("meminfo")));
    let Some(memory): Option<Meminfo> = memory else {
        return;
    };
    host.memory_bytes = Some(memory.mem_total);
    let used = |available| memory.mem_total.saturating_sub(available);
    host.usage.memory_used_bytes = memory.mem_available.map(used);
}

/// Returns the speed of an interface's link in bits per second. A loopback has none, and a virtual
/// one often reports -1.
fn link_bits_per_s(proc: &Proc, interface: &str) -> Option<u64> {
    let megabits = text(&proc.sys(&format!("class/net/{interface}/speed"))).ok()?;
    let megabits: u64 = megabits.trim().parse().ok().filter(|speed| *speed > 0)?;
    megabits.checked_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn machine() -> Fixture {
        let fixture = Fixture::new();
        fixture.write(
            "stat",
            "cpu  100 10 50 9000 30 4 6 20 0 0\ncpu0 50 5 25 4500 15 2 3 10 0 0\n\
             cpu1 50 5 25 4500 15 2 3 10 0 0\nctxt 5\nbtime 1700000000\nprocesses 9\n",
        );
        fixture.write("meminfo", &Fixture::meminfo(8_000_000, 6_000_000));
        // A kernel before 5.13 has no second line for the CPU.
        fixture.write(
            "pressure/cpu",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n",
        );
        let both = "some avg10=0.00 avg60=0.00 avg300=0.00 total=70\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        fixture.write("pressure/memory", both);
        fixture.write("pressure/io", both);
        fixture.write("net/dev", &Fixture::dev("eth0", [1_000, 10, 2_000, 20]));
        fixture.write("net/snmp", "Tcp: InSegs RetransSegs\nTcp: 100 7\n");
        fixture.write("net/netstat", "TcpExt: TW ListenOverflows\nTcpExt: 4 3\n");
        fixture.write_sys("class/net/eth0/speed", "10000\n");
        fixture
    }

    fn watching(fixture: &Fixture) -> Host {
        let mut host = Host::default();
        host.follow(Some("eth0".to_owned()));
        host.look(&fixture.proc());
        host
    }

    #[test]
    fn what_grew_since_the_last_look_was_used() {
        let fixture = machine();
        let mut host = watching(&fixture);
        fixture.write(
            "stat",
            "cpu  130 10 60 9100 30 4 9 25 0 0\ncpu0 1 0 0 0\ncpu1 1 0 0 0\nctxt 5\n\
             btime 1700000000\nprocesses 9\n",
        );
        fixture.write(
            "pressure/cpu",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\n",
        );
        fixture.write("net/dev", &Fixture::dev("eth0", [1_500, 12, 9_000, 50]));
        fixture.write("net/snmp", "Tcp: InSegs RetransSegs\nTcp: 100 9\n");
        fixture.write("net/netstat", "TcpExt: TW ListenOverflows\nTcpExt: 4 8\n");
        let seen = host.look(&fixture.proc());
        let usage = seen.usage;
        let tick_ns = fixture.proc().ticks_ns(1);
        assert_eq!(usage.cpu_ns, Some(43 * tick_ns));
        assert_eq!(usage.steal_ns, Some(5 * tick_ns));
        assert_eq!(usage.pressure.cpu_pressure_ns, Some(500_000));
        assert_eq!(usage.pressure.io_pressure_ns, Some(0));
        let traffic = usage.traffic.unwrap();
        assert_eq!((traffic.net_in_bytes, traffic.net_out_bytes), (500, 7_000));
        assert_eq!((traffic.net_in_packets, traffic.net_out_packets), (2, 30));
        assert_eq!(
            (usage.retransmits, usage.listen_overflows),
            (Some(2), Some(5))
        );
        assert_eq!(usage.memory_used_bytes, Some(2_000_000 * 1024));
        assert_eq!(
            (seen.cores, seen.memory_bytes),
            (Some(2), Some(8_000_000 * 1024))
        );
        assert_eq!(seen.link_bits_per_s, Some(10_000_000_000));
        assert_eq!(seen.missing, []);
    }

    #[test]
    fn what_the_machine_does_not_tell_is_absent_and_named() {
        let fixture = Fixture::new();
        let mut host = watching(&fixture);
        let seen = host.look(&fixture.proc());
        assert_eq!(seen.usage, HostUsage::default());
        let figures: Vec<Figure> = seen.missing.iter().map(|missing| missing.figure).collect();
        assert_eq!(
            figures,
            [
                Figure::Cpu,
                Figure::Pressure,
                Figure::Network,
                Figure::Retransmits,
                Figure::ListenOverflows,
                Figure::Memory
            ]
        );
        assert!(
            seen.missing
                .iter()
                .all(|missing| missing.why == Why::Untold)
        );
    }

    #[test]
    fn a_link_without_a_speed_has_none() {
        let fixture = machine();
        fixture.write_sys("class/net/eth0/speed", "-1\n");
        assert_eq!(
            watching(&fixture).look(&fixture.proc()).link_bits_per_s,
            None
        );
    }

    #[test]
    fn traffic_before_an_interface_was_followed_is_not_its_own() {
        let fixture = machine();
        let mut host = Host::default();
        host.look(&fixture.proc());
        host.follow(Some("eth0".to_owned()));
        assert_eq!(host.look(&fixture.proc()).usage.traffic, None);
        assert!(host.look(&fixture.proc()).usage.traffic.is_some());
    }
}
