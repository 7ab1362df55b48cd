//! Any input, cut in any way.

use super::*;
use crate::h2::ConnectionError;
use proptest::prelude::*;

/// The result of reading, in a form that doesn't depend on cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reading {
    seen: Seen,
    end: Result<(), ConnectionError>,
    /// The output without its bodies, which are long.
    output: Vec<u8>,
    open_streams: usize,
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Reading {
    let mut connection = open();
    for (key, method) in ["GET", "HEAD", "GET", "GET"].into_iter().enumerate() {
        connection.begin(&request(method, None), key).unwrap();
    }
    connection
        .begin(&request("POST", Some(&[b'u'; 100_000])), 4)
        .unwrap();
    let mut seen = Seen::default();
    let end = pieces
        .into_iter()
        .try_for_each(|piece| connection.feed(piece, &mut seen));
    Reading {
        seen,
        end,
        output: without_bodies(connection.output()),
        open_streams: connection.open_streams(),
    }
}

fn without_bodies(output: &[u8]) -> Vec<u8> {
    output
        .iter()
        .copied()
        .filter(|&byte| byte != b'u')
        .collect()
}

/// Header blocks, good and bad.
fn block() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(b"\x88".to_vec()),
        2 => Just(b"\x88\x0f\x0d\x015".to_vec()),
        1 => Just(b"\x08\x03103".to_vec()),
        2 => Just(b"\x88\x40\x01a\x01b".to_vec()),
        1 => Just(b"\x88\xbe".to_vec()),
        1 => Just(b"\x40\x01a\x01b".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

/// Frames that are valid more often than random bytes are.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop::sample::select(vec![0_u32, 1, 1, 3, 3, 5, 5, 7, 9, 9, 2, 11]);
    let flags = prop::sample::select(vec![0_u8, 1, 4, 4, 5, 5, 8, 12, 0x24, 0xff]);
    let payload = prop_oneof![
        Just(vec![]),
        block(),
        block(),
        Just(b"hello".to_vec()),
        Just(vec![0, 0, 0, 8]),
        Just(vec![0, 4, 0, 1, 0, 0]),
        Just(vec![0, 0, 0, 3, 0, 0, 0, 0]),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    (0..11_u8, flags, stream, payload)
        .prop_map(|(kind, flags, stream, payload)| frame(FrameKind(kind), flags, stream, &payload))
}

/// Responses as a server sends them, on streams that are open.
fn response() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop::sample::select(vec![1_u32, 3, 5, 7, 9]);
    (stream, block(), 0..3_usize).prop_map(|(stream, block, parts)| {
        let last = u8::from(parts == 0);
        let mut all = frame(FrameKind::HEADERS, 4 | last, stream, &block);
        for part in 1..=parts {
            let last = u8::from(part == parts);
            all.extend(frame(FrameKind::DATA, last | 8, stream, b"\x02hello\0\0"));
        }
        all
    })
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    let frames = prop_oneof![3 => response(), 2 => any_frame()];
    let garbage = prop::collection::vec(any::<u8>(), 0..20);
    (prop::collection::vec(frames, 0..12), garbage)
        .prop_map(|(frames, garbage)| [frames.concat(), garbage].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn every_split_of_the_input_gives_the_same(
        input in input(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let whole = read([&input[..]]);
        prop_assert_eq!(&read(input.chunks(1)), &whole);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        cuts.extend([0, input.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]);
        prop_assert_eq!(&read(pieces), &whole);
    }

    /// A sink without interest in bodies gets the same result whether DATA is fed or discarded.
    #[test]
    fn data_may_be_dropped_unseen(input in input()) {
        let whole = read([&input[..]]);
        let mut connection = open();
        for (key, method) in ["GET", "HEAD", "GET", "GET"].into_iter().enumerate() {
            connection.begin(&request(method, None), key).unwrap();
        }
        connection.begin(&request("POST", Some(&[b'u'; 100_000])), 4).unwrap();
        let mut seen = Seen::default();
        let mut rest = &input[..];
        while !rest.is_empty() {
            let dropped = connection.discardable().min(rest.len() as u64) as usize;
            if dropped > 0 {
                connection.discarded(dropped as u64, &mut seen);
                rest = &rest[dropped..];
                continue;
            }
            if connection.feed(&rest[..1], &mut seen).is_err() {
                break;
            }
            rest = &rest[1..];
        }
        prop_assert_eq!(seen.ended, whole.seen.ended);
        prop_assert_eq!(without_bodies(connection.output()), whole.output);
    }
}
