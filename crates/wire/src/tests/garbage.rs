//! No input that a peer may send breaks the parser: each input is used to its end, unless the
//! message is whole or malformed (`feed_all` asserts it), and cuts change nothing.

use proptest::prelude::*;

use super::corpus::ANSWERS;
use super::{cut, read};
use crate::Expect;

fn expectation() -> impl Strategy<Value = Expect> {
    prop_oneof![
        Just(Expect::Other),
        Just(Expect::Head),
        Just(Expect::Connect)
    ]
}

/// Pieces that bring the parser into more states than random bytes do.
const SCRAPS: &[&[u8]] = &[
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 100 x\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"A: b\r\n",
    b"7",
    b"0\r\n",
    b"f;",
    b"\xff\x00",
];

fn scraps() -> impl Strategy<Value = Vec<u8>> {
    let scrap = prop::sample::select(SCRAPS);
    prop::collection::vec(scrap, 0..24).prop_map(|scraps| scraps.concat())
}

/// A response of the corpus with some bytes overwritten.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let damage = prop::collection::vec((any::<usize>(), any::<u8>()), 1..4);
    (0..ANSWERS.len(), damage).prop_map(|(index, damage)| {
        let mut answer = ANSWERS[index].1.to_vec();
        let len = answer.len();
        for (at, byte) in damage {
            answer[at % len] = byte;
        }
        answer
    })
}

fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let http = scraps().prop_map(|scraps| [&b"HTTP/1.1 200 OK\r\n"[..], &scraps].concat());
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        scraps(),
        http,
        damaged()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn breaks_nothing(
        expect in expectation(),
        input in garbage(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let uncut = read(expect, [&input[..]]);
        prop_assert_eq!(read(expect, cut(&input, &cuts)), uncut.clone());
        prop_assert_eq!(read(expect, input.chunks(1)), uncut);
    }
}
