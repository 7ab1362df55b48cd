//! Every way of cutting the input gives the same result.

use proptest::prelude::*;

use super::corpus::ANSWERS;
use super::{Facts, cut, feed_all, read};
use crate::{Expect, Malformed, ResponseParser};

#[test]
fn in_two() {
    for &(expect, answer) in ANSWERS {
        let uncut = read(expect, [answer]);
        for at in 0..=answer.len() {
            let pieces = [&answer[..at], &answer[at..]];
            assert_eq!(
                read(expect, pieces),
                uncut,
                "{} at {at}",
                answer.escape_ascii()
            );
        }
    }
}

#[test]
fn in_three() {
    for &(expect, answer) in ANSWERS {
        let uncut = read(expect, [answer]);
        for to in 0..=answer.len() {
            for from in 0..=to {
                let pieces = [&answer[..from], &answer[from..to], &answer[to..]];
                assert_eq!(
                    read(expect, pieces),
                    uncut,
                    "{from} {to} {}",
                    answer.escape_ascii()
                );
            }
        }
    }
}

#[test]
fn in_single_bytes() {
    for &(expect, answer) in ANSWERS {
        let uncut = read(expect, [answer]);
        assert_eq!(
            read(expect, answer.chunks(1)),
            uncut,
            "{}",
            answer.escape_ascii()
        );
    }
}

#[test]
fn the_corpus_has_all_ends() {
    let ends = ANSWERS
        .iter()
        .map(|&(expect, answer)| read(expect, [answer]));
    let (good, bad): (Vec<_>, Vec<_>) = ends.partition(|reading| reading.end.is_ok());
    assert!(
        good.len() >= 25 && bad.len() >= 15,
        "{} good, {} bad",
        good.len(),
        bad.len()
    );
    assert!(
        good.iter()
            .any(|reading| reading.close == Some(Err(Malformed::Truncated)))
    );
}

/// Reads like `feed_all`, but drops discardable bytes instead of feeding them, where `drop` selects
/// that for a piece.
fn feed_or_drop(
    parser: &mut ResponseParser,
    pieces: &[&[u8]],
    drop: &[bool],
) -> Result<(), Malformed> {
    for (piece, drop) in pieces.iter().zip(drop.iter().cycle()) {
        let mut piece = *piece;
        while !piece.is_empty() {
            let droppable = parser.discardable().min(piece.len() as u64);
            let (used, done) = if *drop && droppable > 0 {
                (droppable as usize, parser.discarded(droppable))
            } else {
                let fed = parser.feed(piece, &mut ())?;
                (fed.used, fed.done)
            };
            if done {
                return Ok(());
            }
            piece = &piece[used..];
        }
    }
    Ok(())
}

fn an_answer() -> impl Strategy<Value = (Expect, &'static [u8])> {
    (0..ANSWERS.len()).prop_map(|index| ANSWERS[index])
}

proptest! {
    #[test]
    fn anywhere(
        (expect, answer) in an_answer(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        prop_assert_eq!(read(expect, cut(answer, &cuts)), read(expect, [answer]));
    }

    #[test]
    fn and_dropping_bodies(
        (expect, answer) in an_answer(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        drop in prop::collection::vec(any::<bool>(), 1..6),
    ) {
        let (mut fed, mut dropped) = (ResponseParser::new(), ResponseParser::new());
        fed.begin(expect);
        dropped.begin(expect);
        let result = feed_all(&mut fed, [answer], &mut ()).map(|_| ());
        let kind = |malformed: Malformed| std::mem::discriminant(&malformed);
        let other = feed_or_drop(&mut dropped, &cut(answer, &cuts), &drop);
        prop_assert_eq!(result.clone().map_err(kind), other.map_err(kind));
        if result.is_ok() {
            prop_assert_eq!(fed.close(), dropped.close());
            prop_assert_eq!(Facts::of(&fed), Facts::of(&dropped));
        }
    }
}
