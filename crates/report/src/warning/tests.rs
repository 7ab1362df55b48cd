use super::*;

/// Every variant, and each of its texts.
fn every_text() -> Vec<Warning> {
    let seconds = Duration::from_secs;
    let rate = |shortfall| Warning::RateBelowAsked {
        asked: 2_000.0,
        achieved: 1_666.7,
        shortfall,
    };
    let status = |status| Warning::NotSuccessful {
        count: 20,
        answered: 1_000,
        status,
    };
    vec![
        Warning::Aborted {
            check: "errors<1%".to_owned(),
            after: seconds(3),
        },
        Warning::BrokenOff {
            after: Duration::from_millis(3_210),
        },
        Warning::FewSamples {
            percentiles: vec![99.9],
            samples: 1_000,
            needed: 3_688,
            length: Some(seconds(37)),
        },
        Warning::FewSamples {
            percentiles: vec![99.0, 99.99],
            samples: 3,
            needed: 36_887,
            length: None,
        },
        Warning::Interrupted {
            after: seconds(3),
            planned: Some(seconds(90)),
        },
        Warning::Interrupted {
            after: seconds(3),
            planned: None,
        },
        status(302),
        status(401),
        status(404),
        status(405),
        status(429),
        status(503),
        status(600),
        Warning::NotSuccessful {
            count: 1_000,
            answered: 1_000,
            status: 404,
        },
        Warning::NothingAnswered { sent: 0, failed: 0 },
        Warning::NothingAnswered { sent: 1, failed: 1 },
        Warning::NothingAnswered {
            sent: 50,
            failed: 0,
        },
        rate(Shortfall::Failed),
        rate(Shortfall::InFlight),
        rate(Shortfall::Unsent),
        Warning::Reconnects {
            count: 240,
            answered: 3_904,
        },
        Warning::Reconnects {
            count: 1,
            answered: 0,
        },
        Warning::Unanswered {
            unsent: 950,
            in_flight: 50,
            oldest_ns: 500_000_000,
        },
        Warning::Unanswered {
            unsent: 0,
            in_flight: 50,
            oldest_ns: 5_000_000_000,
        },
        Warning::Unanswered {
            unsent: 0,
            in_flight: 1,
            oldest_ns: 5_000_000_000,
        },
    ]
}

#[test]
fn every_warning_ends_in_what_to_do() {
    let texts: Vec<String> = every_text()
        .iter()
        .map(|warning| format!("{}: {warning}", warning.name()))
        .collect();
    assert!(texts.iter().all(|text| text.ends_with('.')));
    insta::assert_snapshot!(texts.join("\n"));
}
