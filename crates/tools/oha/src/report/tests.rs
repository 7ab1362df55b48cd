use super::super::tally::Success;
use super::*;

/// A run of a thousand responses and four errors.
fn measured(breaks_down: bool) -> Measured {
    let mut tally = Tally::new(breaks_down);
    for index in 0..1_000_u64 {
        tally.succeeded(&Success {
            start_ns: index * 40_000,
            end_ns: index * 40_000 + 212_000 + index * 7_538,
            latency_ns: 212_000 + index * 7_538,
            first_byte_ns: Some(200_000 + index * 7_000),
            dial_ns: (index < 50).then_some(238_700 + index * 15_000),
            lookup_ns: if index < 50 { 1_100 + index } else { 0 },
            status: if index % 10 == 0 { 404 } else { 200 },
            bytes: 60,
            ..Success::default()
        });
    }
    (0..3).for_each(|_| tally.failed("Connection refused (os error 111)", 1));
    tally.failed("timeout", 1);
    Measured {
        tally,
        aborted: 7,
        total: 0.047_472_6,
        unit: None,
    }
}

/// A run in which nothing was sent.
fn nothing() -> Measured {
    Measured {
        tally: Tally::default(),
        aborted: 0,
        total: 0.0,
        unit: None,
    }
}

#[test]
fn text_is_laid_out_as_ohas() {
    insta::assert_snapshot!("text", text(&measured(false), false));
}

#[test]
fn text_with_both_kinds_of_statuses_has_four_sections_more() {
    insta::assert_snapshot!("text_breakdown", text(&measured(true), false));
}

#[test]
fn text_without_a_response_has_ohas_words_for_nothing() {
    insta::assert_snapshot!("text_nothing", text(&nothing(), false));
}

#[test]
fn text_in_colours_has_the_same_characters() {
    let coloured = text(&measured(true), true);
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, escape)) = rest.split_once('\x1b') {
        plain += before;
        rest = escape.split_once('m').expect("an escape's end").1;
    }
    assert_eq!(plain + rest, text(&measured(true), false));
    assert!(coloured.contains("\x1b[32m  [200] 900 responses\x1b[0m"));
    assert!(coloured.contains("\x1b[33m  [404] 100 responses\x1b[0m"));
}

#[test]
fn a_unit_that_the_user_chose_is_that_of_all_times() {
    let chosen = Measured {
        unit: Some(Unit::Us),
        ..measured(false)
    };
    let text = text(&chosen, false);
    assert!(text.contains("  Total:\t47472.6000 us\n"), "{text}");
}

#[test]
fn json_has_ohas_keys() {
    insta::assert_snapshot!("json", json(&measured(true)));
}

#[test]
fn json_without_a_response_has_nulls() {
    insta::assert_snapshot!("json_nothing", json(&nothing()));
}

#[test]
fn requests_in_flight_at_the_end_are_errors_that_do_not_count() {
    let measured = measured(false);
    let ended = 1_004.0;
    assert_eq!(measured.success_rate(), 1_000.0 / ended);
    assert_eq!(measured.requests_per_second(), ended / measured.total);
    assert_eq!(measured.errors()[0], (ABORTED.to_owned(), 7));
}
