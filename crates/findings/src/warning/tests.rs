use super::*;

/// Every variant, and each of its texts.
fn every_text() -> Vec<Warning> {
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

fn early_ends() -> Vec<Warning> {
    let after = Duration::from_millis(3_210);
    let planned = Some(Duration::from_secs(90));
    let check = "errors<1%".to_owned();
    vec![
        Warning::Aborted { check, after },
        Warning::Interrupted { after, planned },
        Warning::Interrupted {
            after,
            planned: None,
        },
        Warning::ScriptThrew {
            error: "token.lua, line 7, in request(): no token".to_owned(),
            after,
        },
        Warning::WorkerFailed {
            error: "worker 1 failed: Cannot allocate memory.".to_owned(),
            after,
        },
    ]
}

fn few_samples() -> Vec<Warning> {
    let few = |percentiles: &[f64], samples, needed, length| Warning::FewSamples {
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

fn statuses() -> Vec<Warning> {
    let answered = 1_000;
    let status = |(count, status)| Warning::NotSuccessful {
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

fn shortfalls() -> Vec<Warning> {
    let rate = |shortfall| Warning::RateBelowAsked {
        asked: 2_000.0,
        achieved: 1_666.7,
        shortfall,
    };
    [Shortfall::Failed, Shortfall::InFlight, Shortfall::Unsent]
        .map(rate)
        .to_vec()
}

fn silence() -> Vec<Warning> {
    let nothing = |(sent, failed)| Warning::NothingAnswered { sent, failed };
    let some = |(unsent, in_flight, oldest_ns)| Warning::Unanswered {
        unsent,
        in_flight,
        oldest_ns,
        counted: oldest_ns > 0,
    };
    let (half, five) = (500_000_000, 5_000_000_000);
    let nothing = [(0, 0), (1, 1), (50, 0)].map(nothing);
    let some = [(950, 50, half), (0, 50, five), (0, 1, five), (3, 2, 0)].map(some);
    nothing.into_iter().chain(some).collect()
}

fn reconnects() -> Vec<Warning> {
    let reconnects = |(count, answered)| Warning::Reconnects { count, answered };
    let surplus = |(count, answered)| Warning::ExtraBytes { count, answered };
    let reconnects = [(240, 3_904), (1, 0)].map(reconnects).into_iter();
    reconnects.chain([(20, 200)].map(surplus)).collect()
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
        Warning::Reconnects {
            count,
            answered: 200,
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
