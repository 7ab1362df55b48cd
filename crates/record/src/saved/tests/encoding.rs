//! Distributions as text, and invalid texts.

use crate::samples::second;
use crate::saved::encoding::{Encoder, decode};
use crate::{DecodeError, Distribution, LONGEST_NS};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use proptest::prelude::*;
use std::io::Write;

#[test]
fn other_programs_can_decode_the_times() {
    let interval = second(0);
    let text = Encoder::new().encode(&interval.times.response).unwrap();
    let bytes = STANDARD.decode(text).unwrap();
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .unwrap();
    let own = &interval.times.response;
    assert_eq!(histogram.len(), own.len());
    assert_eq!(
        (histogram.low(), histogram.high(), histogram.sigfig()),
        (1, 3_600_000_000_000, 3)
    );
    assert_eq!(
        (histogram.min(), histogram.max()),
        (own.min_ns(), own.max_ns())
    );
    assert_eq!(
        (histogram.mean(), histogram.stdev()),
        (own.mean_ns(), own.stdev_ns())
    );
    let steps = histogram.iter_recorded();
    let steps = steps.map(|step| (step.value_iterated_to(), step.count_at_value()));
    assert!(steps.eq(own.steps()));
}

#[test]
fn an_encoder_that_is_used_again_writes_what_a_new_one_and_the_library_do() {
    let mut encoder = Encoder::new();
    let longest = [1, 2_000, 5_000_000, LONGEST_NS];
    let of = |count: u64| {
        let mut distribution = Distribution::default();
        (0..count).for_each(|n| distribution.record_ns(longest[n as usize % 4] / (n % 97 + 1)));
        distribution
    };
    for count in [1, 40_000, 3, 7, 40_000] {
        let distribution = of(count);
        let text = encoder.encode(&distribution).unwrap();
        assert_eq!(Some(&text), Encoder::new().encode(&distribution).as_ref());
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut STANDARD.decode(&text).unwrap().as_slice())
            .unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&histogram, &mut bytes)
            .unwrap();
        assert_eq!(text, STANDARD.encode(bytes));
        assert_eq!(decode(&text).unwrap(), distribution);
    }
}

#[test]
fn an_empty_distribution_has_no_text() {
    assert_eq!(Encoder::new().encode(&Distribution::default()), None);
}

/// Returns a histogram with other bounds, as another program may write it.
fn foreign(low: u64, high: u64, digits: u8) -> String {
    let mut histogram = Histogram::<u64>::new_with_bounds(low, high, digits).unwrap();
    histogram.record(high).unwrap();
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    STANDARD.encode(bytes)
}

#[test]
fn foreign_bounds_are_refused() {
    for text in [
        foreign(1, 1_000, 3),
        foreign(1_000, LONGEST_NS, 3),
        foreign(1, LONGEST_NS, 2),
    ] {
        assert!(matches!(decode(&text), Err(DecodeError::Bounds)));
    }
    assert!(decode(&foreign(1, LONGEST_NS, 3)).is_ok());
}

#[test]
fn what_is_no_histogram_is_refused() {
    assert!(matches!(decode("!"), Err(DecodeError::Base64(_))));
    assert!(matches!(decode(""), Err(DecodeError::Encoding)));
    assert!(matches!(decode("AAAAAAAAAAA="), Err(DecodeError::Encoding)));
}

/// Returns the encoding with Loadline's bounds and this payload, compressed.
fn with_payload(payload: &[u8]) -> String {
    let mut inner = Vec::new();
    for word in [0x1c84_9313, payload.len() as u32, 0, 3] {
        inner.extend_from_slice(&word.to_be_bytes());
    }
    for long in [1, LONGEST_NS, 1.0_f64.to_bits()] {
        inner.extend_from_slice(&long.to_be_bytes());
    }
    inner.extend_from_slice(payload);
    let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    deflated.write_all(&inner).unwrap();
    let deflated = deflated.finish().unwrap();
    let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&(deflated.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&deflated);
    STANDARD.encode(bytes)
}

#[test]
fn counts_that_would_burst_a_sum_are_refused() {
    assert_eq!(decode(&with_payload(&[2, 4])).unwrap().len(), 3);
    assert!(matches!(
        decode(&with_payload(&[0xff; 9])),
        Err(DecodeError::Count)
    ));
    let just_below = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f].repeat(20);
    assert!(matches!(
        decode(&with_payload(&just_below)),
        Err(DecodeError::Count)
    ));
    let far_skip = with_payload(&[0xff, 0xff, 0xff, 0xff, 0x0f, 2]);
    assert!(matches!(decode(&far_skip), Err(DecodeError::Encoding)));
}

#[test]
fn a_bomb_is_not_inflated() {
    let bomb = with_payload(&vec![0; 1 << 24]);
    assert!(bomb.len() < 1 << 19);
    assert!(matches!(decode(&bomb), Err(DecodeError::Encoding)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changed_histogram_bytes_never_panic(
        payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        if let Ok(distribution) = decode(&with_payload(&payload)) {
            prop_assert!(distribution.len() <= 1 << 48);
            prop_assert!(distribution.percentile_ns(99.0) <= distribution.max_ns());
        }
    }
}
