use super::*;
use crate::control::Change;
use crate::merger::Merger;
use crate::part_reports::PartReports;
use crate::report::{MemberReport, Report};
use crate::simulated::plans::{SECOND, open};
use crate::{EndReason, Event, Tally};
use loadline_metrics::{Key, SeriesId, SeriesTable};
use loadline_plan::{Level, Plan};
use loadline_record::{
    Dial, ErrorKind, Model, Outcome, Recorder, Snapshot, Unfinished, WorkerTimes,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Counted(u32);

impl Tally for Counted {
    fn merge(&mut self, other: Self) {
        self.0 += other.0;
    }
}

fn exchange(intended_ns: u64, outcome: Outcome) -> Exchange {
    Exchange {
        intended_ns,
        ready_ns: intended_ns,
        start_ns: intended_ns + 3_000,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: intended_ns + 3_000,
        first_byte_ns: intended_ns + 1_003_000,
        end_ns: intended_ns + 1_003_000,
        wakeup_ns: 7_000,
        bytes_in: 60,
        bytes_out: 40,
        outcome,
        request: Some(1),
    }
}

/// Returns a second of a worker: two responses, a failure, a new connection, one request in flight.
fn snapshot(worker: u32) -> Snapshot {
    let mut table = SeriesTable::new(2_000);
    let tags = [("user".to_owned(), "new".to_owned())].into();
    table.intern(&Key::tagged("login", tags).expect("a name"));
    let mut recorder = Recorder::new(Model::Open).with_series(table);
    recorder.dialled(&Dial {
        connect_ns: 30_000,
        tls_ns: Some(900_000),
    });
    recorder.failure_example(ErrorKind::Read, || "closed »early«".to_owned());
    let answered = Outcome::Answered { status: 200 };
    for (number, outcome) in [answered, answered, Outcome::Failed(ErrorKind::Read)]
        .into_iter()
        .enumerate()
    {
        let exchange = exchange(number as u64 * 250_000_000, outcome);
        recorder.begin(exchange.start_ns);
        recorder.arrived(exchange.ready_ns, exchange.start_ns, 1);
        recorder.end(&exchange);
        recorder.count_in_series(SeriesId(0), &exchange);
    }
    recorder.begin(900_000_000);
    recorder.received(180);
    let mut snapshot = recorder.take(SECOND);
    snapshot.workers.insert(worker, loop_times());
    snapshot
}

fn loop_times() -> WorkerTimes {
    let mut times = WorkerTimes {
        wall_ns: SECOND,
        cpu_ns: 1_234_567,
        cores: [1].into(),
        timer_slack_ns: Some(50_000),
        ..WorkerTimes::default()
    };
    times.add_loop_iterations(20_000, 3);
    times
}

fn interval(worker: u32) -> Interval {
    Interval {
        snapshot: Box::new(snapshot(worker)),
        tally: Some(AnyTally::new(Counted(worker))),
        followed_ns: SECOND,
        begun: 3,
        changes: vec![ReceivedChange {
            worker,
            number: 0,
            change: Change {
                at_ns: SECOND / 2,
                level: Level::Share(1_500),
                scenario: None,
            },
        }],
        gone: Gone::default(),
        not_due: NotDue {
            requestless: 2,
            pausing: 1,
            paused_ns: 2_000_000,
        },
    }
}

fn done() -> Done {
    let mut unfinished = Unfinished {
        in_flight: 1,
        ..Unfinished::default()
    };
    unfinished.ages.service.record_ns(5_000);
    Done {
        unfinished: Box::new(unfinished),
        ..Done::default()
    }
}

/// Returns what the part with workers 2 and 3 reports: an interval, an early tally, a log, its end.
fn reports() -> Vec<PartReport> {
    let mut part = PartReports::new(2..4, 1);
    let mut take = |member, report| {
        part.take(MemberReport {
            member,
            scenario: 0,
            report,
        });
    };
    for worker in [3, 2] {
        take(worker, Report::Interval(interval(worker as u32)));
    }
    take(3, Report::Tally(AnyTally::new(Counted(9))));
    let answered = Outcome::Answered { status: 200 };
    take(2, Report::Log(vec![exchange(0, answered)]));
    let failure = WorkerFailure::Stuck { worker: 2 };
    take(2, Report::Lost(failure));
    take(3, Report::Done(done()));
    std::iter::from_fn(|| part.next()).collect()
}

fn reader() -> ReportReader {
    ReportReader::new(2..4, 1, Some(TallyCodec::of::<Counted>()))
}

/// The bytes of [`reports`] in version 6 of the format. Two programs of this version understand
/// each other, so these bytes change only together with [`REPORT_FORMAT`].
const GOLDEN: [&str; 4] = [
    "06000001000109",
    "0600000202010000b817000000b817f89b3df89b3dd8363c2800c8010101",
    "06000100056c6f67696e010475736572036e6577000100008094ebdc03000008040490e3f002020002\
     90e79f62020000000000000002e8020001c801040001060210636c6f73656420c2bb6561726c79c2\
     ab0a000001a65701e0010001a15701e00200010001e0030001dc1301e0050001d32e0180060001dd\
     5501800701010000000800010001e0090001d61d01e011010100000002028094ebdc0387ad4b0000\
     01e22901c00000000000010101d08603038094ebdc0387ad4b000001e22901c00000000000010101\
     d086031a02000000000000000000000002000000000000000000000000021a020000000000000000\
     000000020000000000000000000000000201d00f01000400020001c8010403f40d04e0eff401f89b\
     3d0000000000000101058094ebdc030602020080cab5ee0100dc0b00030080cab5ee0100dc0b00020203\
     0004028092f401",
    "06010003000000000000000000020000000001e219010000000001010200",
];

#[test]
fn the_format_is_that_of_its_version() {
    let mut writer = ReportWriter::default();
    let written = reports().into_iter().map(|report| {
        let bytes = writer.write(&report).expect("bytes");
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        digits.collect::<String>()
    });
    assert_eq!(written.collect::<Vec<_>>(), GOLDEN);
    assert_eq!(REPORT_FORMAT, 6);
}

#[test]
fn reports_arrive_as_they_were_sent() {
    let (mut writer, mut reader) = (ReportWriter::default(), reader());
    for report in reports() {
        let sent = format!("{report:?}");
        let bytes = writer.write(&report).expect("bytes");
        let arrived = reader.read(&bytes).expect("a report");
        assert_eq!(format!("{arrived:?}"), sent);
        assert_eq!(arrived.interval_end_ns(), report.interval_end_ns());
    }
}

#[test]
fn what_is_no_report_of_the_part_is_refused() {
    let mut writer = ReportWriter::default();
    let bytes: Vec<Vec<u8>> = reports()
        .iter()
        .map(|report| writer.write(report).expect("bytes"))
        .collect();
    let refusal = |mut reader: ReportReader, bytes: &[u8]| {
        let refused = reader.read(bytes).expect_err("a refusal");
        refused.to_string()
    };
    let mut other = bytes[0].clone();
    other[0] = 7;
    let said = refusal(reader(), &other);
    assert_eq!(said, "a report has version 7 of the format, not 6");
    assert_eq!(refusal(reader(), &[]), "a report is empty");
    for cut in 1..bytes[0].len() {
        refusal(reader(), &bytes[0][..cut]);
    }
    let log = bytes.iter().position(|bytes| {
        let read = reader().read(bytes);
        matches!(read, Ok(PartReport(PartNews::Log { .. })))
    });
    let log = &bytes[log.expect("a log without names")];
    let of_others = ReportReader::new(0..2, 1, None);
    assert_eq!(
        refusal(of_others, log),
        "a report is on worker 2, which is of another part"
    );
    let without_tallies = ReportReader::new(2..4, 1, None);
    let said = refusal(without_tallies, &bytes[0]);
    assert_eq!(
        said,
        "a report can't be read: it has a tally, and the run has none"
    );
}

/// Returns the events of a run of these members.
fn merged(plan: &Plan, members: &[Range<u32>], told: Vec<(usize, Report)>) -> Vec<Event> {
    let mut merger = Merger::of_members(plan, members);
    told.into_iter()
        .for_each(|(member, report)| merger.take(member, 0, report));
    std::iter::from_fn(|| merger.event()).collect()
}

#[test]
fn a_part_that_is_lost_takes_the_requests_in_flight_of_its_last_report() {
    let plan = Plan {
        threads: 2,
        ..open(3, 2, 2 * SECOND)
    };
    let failure = WorkerFailure::Stuck { worker: 1 };
    let told = vec![
        (0, Report::Interval(interval(0))),
        (1, Report::Interval(interval(1))),
        (1, Report::Lost(failure)),
        (0, Report::Done(done())),
    ];
    let events = merged(&plan, &[0..1, 1..2], told);
    let Some(Event::Ended { reason, unfinished }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!((*reason, unfinished.in_flight), (EndReason::Failed, 2));
}
