use super::super::rates::Sampler;
use super::*;
use loadline_engine::Tick;
use loadline_record::{Environment, ErrorKind, Failures, Header};
use proptest::prelude::*;
use std::time::SystemTime;

const MS_NS: u64 = 1_000_000;

fn arguments(tool: Tool, line: &[&str]) -> Arguments {
    Arguments::parse(tool, line.iter().map(Into::into)).expect("a good line")
}

/// A run of two seconds without events so far.
fn summary(arguments: &Arguments) -> Summary {
    let plan = arguments.plan().expect("a plan");
    let header = Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH);
    let mut summary = Summary::new(header);
    summary.duration_ns = 2_000 * MS_NS;
    summary
}

/// As [`summary`], with responses that took these times, after a delay of a millisecond each.
fn with_answers(arguments: &Arguments, times_ns: &[u64]) -> Summary {
    let mut summary = summary(arguments);
    let total = &mut summary.total;
    for time_ns in times_ns {
        total.times.service.record_ns(*time_ns);
        total.times.response.record_ns(time_ns + MS_NS);
    }
    total.counts.answered = times_ns.len() as u64;
    total.counts.bytes_in = 33_491_517;
    total.statuses.insert(200, times_ns.len() as u64);
    summary
}

fn rates(tool: Tool, ticks: &[u64]) -> Rates {
    let mut sampler = Sampler::new(tool);
    for &answered in ticks {
        sampler.add(Tick {
            answered,
            length_ns: 100 * MS_NS,
        });
    }
    sampler.take().unwrap_or_default()
}

#[test]
fn the_banner_repeats_what_was_asked_for() {
    let asked = arguments(Tool::Wrk, &["-c5", "-d90", "http://127.0.0.1:8080/#part"]);
    assert_eq!(
        banner(&asked),
        "Running 2m test @ http://127.0.0.1:8080/#part\n  2 threads and 5 connections\n"
    );
}

#[test]
fn wrk_has_a_table_and_totals() {
    let asked = arguments(Tool::Wrk, &["--latency", "http://h/"]);
    let times: Vec<u64> = (1..=100).map(|n| n * 10_000).collect();
    let rates = rates(Tool::Wrk, &[4_000, 4_100, 4_200]);
    let text = report(&asked, &with_answers(&asked, &times), &rates);
    insta::assert_snapshot!(text);
}

#[test]
fn times_that_are_all_alike_are_within_their_deviation() {
    let asked = arguments(Tool::Wrk, &["http://h/"]);
    for time_ns in [999, 1_234_567, 1_000_000_123] {
        let text = report(
            &asked,
            &with_answers(&asked, &[time_ns; 4]),
            &rates(Tool::Wrk, &[1]),
        );
        let row = text.lines().nth(1).unwrap_or_default();
        assert!(row.ends_with("100.00%"), "{time_ns}: {row}");
    }
}

#[test]
fn wrk_has_no_share_of_nothing() {
    let asked = arguments(Tool::Wrk, &["http://h/"]);
    let text = report(&asked, &summary(&asked), &rates(Tool::Wrk, &[0, 0]));
    assert_eq!(
        text,
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency     0.00us    0.00us   0.00us    -nan%\n    \
         Req/Sec     0.00      0.00     0.00      -nan%\n  \
         0 requests in 2.00s, 0.00B read\n\
         Requests/sec:      0.00\n\
         Transfer/sec:       0.00B\n"
    );
}

#[test]
fn wrk2_has_no_number_of_nothing() {
    let asked = arguments(Tool::Wrk2, &["-R1", "http://h/"]);
    let text = report(&asked, &summary(&asked), &Rates::default());
    let row = "    Req/Sec       -nan      -nan   0.00      0.00%\n";
    assert!(text.contains(row), "{text}");
}

#[test]
fn wrk2_prints_both_clocks() {
    let asked = arguments(Tool::Wrk2, &["-R50", "-U", "http://h/"]);
    let times: Vec<u64> = (1..=100).map(|n| n * 10_000).collect();
    let rates = rates(Tool::Wrk2, &[5, 5, 0]);
    let text = report(&asked, &with_answers(&asked, &times), &rates);
    insta::assert_snapshot!(text);
}

#[test]
fn failures_have_their_lines_only_if_there_are_some() {
    let asked = arguments(Tool::Wrk, &["http://h/"]);
    let mut summary = with_answers(&asked, &[MS_NS]);
    for (kind, count) in [
        (ErrorKind::Connect, 1),
        (ErrorKind::Tls, 2),
        (ErrorKind::Read, 3),
        (ErrorKind::Protocol, 4),
        (ErrorKind::Write, 5),
        (ErrorKind::Timeout, 6),
        (ErrorKind::Aborted, 7),
    ] {
        let failures = Failures {
            count,
            example: String::new(),
        };
        summary.total.errors.insert(kind, failures);
    }
    summary.total.counts.closed_for_extra_bytes = 8;
    summary
        .total
        .statuses
        .extend([(399, 1), (400, 2), (503, 3)]);
    let text = report(&asked, &summary, &Rates::default());
    assert!(
        text.contains(
            "read\n  Socket errors: connect 3, read 15, write 5, timeout 6\n  \
             Non-2xx or 3xx responses: 5\nRequests/sec:"
        ),
        "{text}"
    );
    let quiet = report(&asked, &with_answers(&asked, &[MS_NS]), &Rates::default());
    assert!(
        !quiet.contains("errors") && !quiet.contains("Non-2xx"),
        "{quiet}"
    );
}

/// The numbers on the line of a report that begins so; none if it is not there.
fn numbers(report: &str, begin: &str) -> Vec<u64> {
    let line = report.lines().find_map(|line| line.strip_prefix(begin));
    let words = line.unwrap_or_default().split([' ', ',', ':']);
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Any kind of failure.
fn kinds() -> impl Strategy<Value = ErrorKind> {
    prop::sample::select(&ErrorKind::ALL[..])
}

proptest! {
    /// The counts of our own outputs are in wrk's words, to the last request.
    #[test]
    fn whatever_was_counted_is_printed_to_the_last_request(
        statuses in prop::collection::btree_map(200..600_u16, 0..1_000_u64, 0..6),
        failed in prop::collection::btree_map(kinds(), 0..50_u64, 0..6),
        is_wrk2 in any::<bool>(),
    ) {
        let asked = match is_wrk2 {
            true => arguments(Tool::Wrk2, &["-R50", "http://h/"]),
            false => arguments(Tool::Wrk, &["http://h/"]),
        };
        let mut summary = summary(&asked);
        let total = &mut summary.total;
        total.counts.answered = statuses.values().sum();
        total.counts.failed = failed.values().sum();
        total.statuses.extend(statuses.clone());
        for (kind, count) in failed.clone() {
            total.errors.insert(kind, Failures { count, example: String::new() });
        }
        let answered = total.counts.answered;
        let text = report(&asked, &summary, &Rates::default());
        let line = format!("\n  {answered} requests in 2.00s, ");
        prop_assert!(text.contains(&line), "{}", text);
        let errors: u64 = numbers(&text, "  Socket errors").iter().sum();
        let aborted = failed.get(&ErrorKind::Aborted).copied().unwrap_or(0);
        prop_assert_eq!(errors, failed.values().sum::<u64>() - aborted);
        let bad: u64 = statuses.range(400..).map(|(_, count)| count).sum();
        let printed: u64 = numbers(&text, "  Non-2xx or 3xx responses").iter().sum();
        prop_assert_eq!(printed, bad);
    }
}
