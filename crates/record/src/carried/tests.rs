use super::*;
use crate::samples::{any_snapshot, exchange, second};
use crate::{Distribution, Exchange, Model, Recorder, Trace, Traced, TracedRequest};
use loadline_metrics::{
    CustomRecorder, Key, MetricKind, MetricUnit, SeriesId, SeriesSet, SeriesTable,
};
use proptest::prelude::*;

/// Both ends of a link.
#[derive(Default)]
struct Link {
    sent: SentNames,
    known: KnownNames,
}

impl Link {
    /// Sends a snapshot. Returns what arrives, and the number of bytes.
    fn carry(&mut self, snapshot: &Snapshot) -> (Snapshot, usize) {
        let carried = CarriedSnapshot::of(snapshot, &mut self.sent);
        let bytes = postcard::to_stdvec(&(self.sent.take_new(), carried)).expect("bytes");
        let (names, carried): (CarriedNames, CarriedSnapshot) =
            postcard::from_bytes(&bytes).expect("what was sent");
        self.known.learn(names).expect("new names");
        let snapshot = carried.snapshot(&self.known).expect("a snapshot");
        (snapshot, bytes.len())
    }
}

#[test]
fn every_part_of_a_snapshot_arrives() {
    let mut snapshot = second(0);
    for (place, (_, distribution)) in snapshot.times.each_mut().into_iter().enumerate() {
        distribution.record_ns(100 + place as u64);
    }
    snapshot.rejected.insert(500, 2);
    snapshot.drain = true;
    let mut metrics = CustomRecorder::new(9);
    for kind in MetricKind::ALL {
        let key = Key::new(kind.name()).unwrap();
        let id = metrics.define(&key, kind, MetricUnit::Bytes).unwrap();
        metrics.add(id, -2.5, 7);
        metrics.add(id, 12.0, 8);
    }
    let never = Key::new("never").unwrap();
    metrics
        .define(&never, MetricKind::Gauge, MetricUnit::None)
        .unwrap();
    snapshot.metrics = metrics.take();
    snapshot.metrics.leave_out(3);
    let traced = |id, response_ns| TracedRequest {
        trace: Trace {
            id,
            span: 7,
            is_sampled: true,
        },
        response_ns,
        end_ns: 9,
        status: Some(200),
    };
    snapshot.traced = Traced::of_requests(vec![
        (Some(Key::new("slow").unwrap()), traced(u128::MAX, 5)),
        (None, traced(1, 6)),
    ]);
    let (arrived, _) = Link::default().carry(&snapshot);
    assert_eq!(arrived, snapshot);
}

#[test]
fn the_bound_of_names_arrives_with_the_series() {
    let mut set = SeriesSet::new(2);
    for name in ["a", "b", "c"] {
        let series = crate::samples::second(0).series.total();
        set.add(&Key::new(name).unwrap(), &series);
    }
    let snapshot = Snapshot {
        series: set,
        ..Snapshot::default()
    };
    let (arrived, _) = Link::default().carry(&snapshot);
    assert_eq!(arrived.series.most(), Some(2));
    assert_eq!(arrived, snapshot);
}

#[test]
fn a_name_that_was_not_sent_is_an_error() {
    let snapshot = busy_second(2);
    let mut sent = SentNames::default();
    let carried = CarriedSnapshot::of(&snapshot, &mut sent);
    assert_eq!(
        carried.snapshot(&KnownNames::default()).unwrap_err(),
        CarryError::Names
    );
}

proptest! {
    #[test]
    fn what_is_merged_behind_a_link_is_what_is_merged_before_it(
        one in any_snapshot(), two in any_snapshot(),
    ) {
        let mut link = Link::default();
        let mut behind = link.carry(&one).0;
        behind.merge(&link.carry(&two).0);
        let mut before = one;
        before.merge(&two);
        prop_assert_eq!(link.carry(&before).0, before.clone());
        prop_assert_eq!(behind, before);
    }

    #[test]
    fn any_bytes_are_refused_or_read_without_harm(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let read: Result<CarriedSnapshot, _> = postcard::from_bytes(&bytes);
        if let Ok(carried) = read {
            let _ = carried.snapshot(&KnownNames::default());
        }
    }
}

/// Numbers that look random: splitmix64.
struct Noise(u64);

impl Noise {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns an exponential time with this mean, in nanoseconds.
    fn exponential(&mut self, mean_ns: f64) -> u64 {
        let share = (self.number() >> 11) as f64 / (1_u64 << 53) as f64;
        (-(1.0 - share).ln() * mean_ns) as u64
    }
}

/// The requests of a worker in a second.
const RATE: u64 = 1_000;

/// The delays that a generator adds, in nanoseconds: the least one, and the mean above it. Those of
/// a busy machine change nearly all response times, those of a calm one some of them.
const BUSY: (u64, f64) = (15_000, 40_000.0);
const CALM: (u64, f64) = (2_000, 5_000.0);

/// Returns a second of two workers with 2 000 requests, whose service times are exponential with a
/// mean of 5 ms, with this many names.
fn busy_second(names: u64) -> Snapshot {
    second_with(names, BUSY)
}

fn second_with(names: u64, delays: (u64, f64)) -> Snapshot {
    let mut sum = Snapshot::empty(0);
    for worker in 0..2 {
        sum.merge(&worker_second(worker, names, delays));
    }
    sum
}

fn worker_second(worker: u32, names: u64, delays: (u64, f64)) -> Snapshot {
    let mut noise = Noise(u64::from(worker));
    let mut table = SeriesTable::new(2_000);
    for name in 0..names {
        table.intern(&Key::new(&format!("/shop/articles/{name}")).unwrap());
    }
    let mut recorder = match names {
        // Requests that all have the same name have no series.
        1 => Recorder::new(Model::Open),
        _ => Recorder::new(Model::Open).with_series(table),
    };
    for number in 0..RATE {
        let intended_ns = number * 1_000_000_000 / RATE;
        let exchange = late_exchange(intended_ns, delays, &mut noise);
        recorder.begin(exchange.start_ns);
        recorder.arrived(intended_ns, exchange.start_ns, 1);
        recorder.end(&exchange);
        recorder.count_in_series(SeriesId((noise.number() % names) as u32), &exchange);
        recorder.received(1_200);
        recorder.transmitted(180);
    }
    let mut snapshot = recorder.take(1_000_000_000);
    snapshot.workers.insert(worker, loop_times(&mut noise));
    snapshot
}

/// Returns an exchange that is a little late and whose response comes in one piece.
fn late_exchange(intended_ns: u64, delays: (u64, f64), noise: &mut Noise) -> Exchange {
    let late_ns = delays.0 + noise.exponential(delays.1);
    let service_ns = 80_000 + noise.exponential(5_000_000.0);
    Exchange {
        intended_ns,
        ready_ns: intended_ns,
        wakeup_ns: 8_000 + noise.exponential(15_000.0),
        ..exchange(intended_ns + late_ns, service_ns)
    }
}

fn loop_times(noise: &mut Noise) -> WorkerTimes {
    let mut times = WorkerTimes {
        wall_ns: 1_000_000_000,
        cpu_ns: 61_234_567,
        polled_ns: 12_345_678,
        queued_ns: 456_789,
        answered: RATE,
        bytes_in: RATE * 1_200,
        bytes_out: RATE * 180,
        cores: [0, 1].into(),
        timer_slack_ns: Some(1),
        ..WorkerTimes::default()
    };
    for _ in 0..2 * RATE {
        // The engine distinguishes sixteen lengths in each doubling.
        let length_ns = 2_500 + noise.exponential(3_000.0);
        let shift = length_ns.ilog2() - 4;
        times.add_loop_iterations(length_ns >> shift << shift, 1);
    }
    times
}

#[test]
fn a_second_is_small_with_one_name_and_with_a_hundred() {
    for (names, delays, most_bytes) in [
        (1, BUSY, 4_096),
        (1, CALM, 4_096),
        (100, BUSY, 12_288),
        (100, CALM, 12_288),
    ] {
        let snapshot = second_with(names, delays);
        let mut link = Link::default();
        let (first, with_names) = link.carry(&snapshot);
        let (second, bytes) = link.carry(&snapshot);
        assert_eq!((&first, &second), (&snapshot, &snapshot));
        assert!(bytes <= with_names, "names are sent once");
        assert!(
            with_names <= most_bytes,
            "{names}: {bytes}, {with_names} at first"
        );
    }
}

#[test]
fn a_distribution_that_equals_another_one_takes_no_room() {
    let mut snapshot = Snapshot::default();
    (0..2_000).for_each(|number| snapshot.times.service.record_ns(number * 7_919));
    let one = Link::default().carry(&snapshot).1;
    snapshot.times.first_byte = snapshot.times.service.clone();
    let (arrived, two) = Link::default().carry(&snapshot);
    assert_eq!(arrived, snapshot);
    assert!(two - one < 10, "{one} {two}");
    snapshot.times.first_byte = Distribution::default();
    assert_eq!(Link::default().carry(&snapshot).1, one);
}
