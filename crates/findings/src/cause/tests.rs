use super::*;
use loadline_plan::Statistic;

/// Every variant, and each of its texts.
fn every_text() -> Vec<Cause> {
    [
        early_ends(),
        few_samples(),
        statuses(),
        shortfalls(),
        silence(),
        reconnects(),
    ]
    .concat()
}

fn early_ends() -> Vec<Cause> {
    let after = Duration::from_millis(3_210);
    let planned = Some(Duration::from_secs(90));
    let aborted = |check: &str, of_script| Cause::Aborted {
        check: check.to_owned(),
        of_script,
        after,
    };
    vec![
        aborted("errors<1%", false),
        aborted("checks: rate>0.9", true),
        Cause::Interrupted { after, planned },
        Cause::Interrupted {
            after,
            planned: None,
        },
        Cause::ScriptThrew {
            error: "token.lua, line 7, in request(): no token".to_owned(),
            after,
        },
        Cause::WorkerFailed {
            error: "worker 1 failed: Cannot allocate memory.".to_owned(),
            after: Some(after),
        },
        Cause::WorkerFailed {
            error: "agent a2 ended.".to_owned(),
            after: None,
        },
        Cause::ManyFailed {
            failed: 250,
            ended: 500,
        },
        Cause::NotDelivered {
            sentence: "statsd (a:1): 4 of 60 batches were not delivered: it is away.".to_owned(),
        },
    ]
}

fn few_samples() -> Vec<Cause> {
    let few = |percentiles: &[f64], samples, needed, length| Cause::FewSamples {
        percentiles: percentiles.to_vec(),
        samples,
        needed,
        length,
    };
    let length = Some(Duration::from_secs(37));
    vec![
        few(&[99.9], 1_000, 3_688, length),
        few(&[99.0, 99.99], 3, 36_887, None),
    ]
}

fn statuses() -> Vec<Cause> {
    let answered = 1_000;
    let status = |(count, status)| Cause::NotSuccessful {
        count,
        answered,
        status,
    };
    let some = [302, 401, 404, 405, 429, 503, 600].map(|status| (20, status));
    some.into_iter()
        .chain([(answered, 404)])
        .map(status)
        .collect()
}

fn shortfalls() -> Vec<Cause> {
    let rate = |shortfall| Cause::RateBelowAsked {
        asked: 2_000.0,
        achieved: 1_666.7,
        shortfall,
    };
    [
        Shortfall::Failed,
        Shortfall::InFlight,
        Shortfall::Unsent,
        Shortfall::NotDue,
    ]
    .map(rate)
    .to_vec()
}

fn silence() -> Vec<Cause> {
    let nothing = |(sent, failed, has_script)| Cause::NothingAnswered {
        sent,
        failed,
        has_script,
    };
    let some = |(unsent, in_flight, oldest_ns)| Cause::Unanswered {
        unsent,
        in_flight,
        oldest_ns,
        counted: oldest_ns > 0,
    };
    let (half, five) = (500_000_000, 5_000_000_000);
    let nothing = [(0, 0, false), (0, 0, true), (1, 1, false), (50, 0, true)].map(nothing);
    let some = [(950, 50, half), (0, 50, five), (0, 1, five), (3, 2, 0)].map(some);
    nothing.into_iter().chain(some).collect()
}

fn reconnects() -> Vec<Cause> {
    let reconnects = |(count, answered, is_http2)| Cause::Reconnects {
        count,
        answered,
        is_http2,
    };
    let resent = |(count, sent, is_http2)| Cause::Resent {
        count,
        sent,
        is_http2,
    };
    let resent = [(52, 2_000, false), (1, 100, false), (52, 2_000, true)].map(resent);
    let extra = |(count, answered)| Cause::ExtraBytes { count, answered };
    let reconnects = [(240, 3_904, false), (1, 0, false), (240, 3_904, true)]
        .map(reconnects)
        .into_iter();
    let odd = Cause::OddAgent {
        agent: "web-2".to_owned(),
        percentile: 95.0,
        own_ns: 42_000_000,
        rest_ns: 18_000_000,
    };
    let others = resent
        .into_iter()
        .chain([(20, 200)].map(extra))
        .chain([odd]);
    reconnects.chain(others).collect()
}

#[test]
fn every_warning_ends_in_what_to_do() {
    let texts: Vec<String> = every_text()
        .iter()
        .map(|warning| format!("{}: {}", warning.name(), warning.sentence()))
        .collect();
    assert!(texts.iter().all(|text| text.ends_with('.')));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_server_without_keep_alive_is_not_told_to_raise_its_limits() {
    let text = |count| {
        Cause::Reconnects {
            count,
            answered: 200,
            is_http2: false,
        }
        .sentence()
    };
    assert!(
        text(150).contains("no keep-alive, as with HTTP/1.0"),
        "{}",
        text(150)
    );
    assert!(text(100).contains("keepalive_requests"), "{}", text(100));
}

#[test]
fn every_cause_is_a_sentence_that_ends_in_what_to_do() {
    let effect = Effect {
        statistic: Statistic::Percentile(99.0),
        with_ns: 682_000.0,
        without_ns: 224_000.0,
    };
    let causes = [
        Cause::Decisive {
            effect,
            passed: false,
        },
        Cause::Late { effect },
        Cause::PlanLimit {
            max_connections: 50,
            effect: Some(effect),
            unsent: 31,
            planned: 5_000,
        },
        Cause::Unstamped { share: 0.91 },
        Cause::Busy { share: 0.71 },
        Cause::BusyAtTimes {
            stretch: Stretch {
                start_ns: 50_000_000_000,
                end_ns: 60_000_000_000,
                cpu_share: 0.93,
            },
        },
        Cause::Crowded {
            share: 0.3,
            by_target: true,
        },
        Cause::Crowded {
            share: 0.3,
            by_target: false,
        },
        Cause::Bunched { share: 0.11 },
        Cause::Stalled {
            share: 0.04,
            longest_ns: 201_000_000,
        },
        Cause::Unsent {
            planned: 20_000,
            unsent: 5_000,
            by_loadline: 0,
            lost: 0,
        },
        Cause::Unsent {
            planned: 20_000,
            unsent: 5_000,
            by_loadline: 4_900,
            lost: 100,
        },
        Cause::Unsent {
            planned: 20_000,
            unsent: 5_000,
            by_loadline: 4_900,
            lost: 4_800,
        },
        Cause::Dropped {
            planned: 20_000,
            dropped: 5_000,
        },
        Cause::Descriptors {
            failed: 12,
            sent: 20_000,
        },
        Cause::Ports {
            failed: 9_000,
            sent: 37_000,
        },
        Cause::Unreachable {
            away_ns: 15_000_000_000,
            duration_ns: 20_000_000_000,
        },
        Cause::Stolen { share: 0.08 },
        Cause::UnevenBegin {
            agent: "web-2".to_owned(),
            late_ns: 0,
            clock_error_ns: 7_500_000,
            others: 0,
        },
        Cause::UnevenBegin {
            agent: "web-3".to_owned(),
            late_ns: 23_000_000,
            clock_error_ns: 85_000,
            others: 2,
        },
        Cause::Lost { share: 0.02 },
        Cause::NotSteady,
        Cause::TooShort,
        Cause::BrokenOff,
        Cause::OwnQueue {
            in_flight: 38.3,
            users: 100,
            have_streams: false,
            beside_target: true,
        },
        Cause::OwnQueue {
            in_flight: 38.3,
            users: 100,
            have_streams: true,
            beside_target: false,
        },
        Cause::Limit {
            share: 0.97,
            beside_target: false,
        },
    ];
    let sentences: Vec<String> = causes.iter().map(Cause::sentence).collect();
    insta::assert_snapshot!(sentences.join("\n"));
}
