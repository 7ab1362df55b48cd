//! The messages of a line over the bus, each way: frames and the end, numbered; signs of life.
//!
//! A bus has a longest message, so a long frame is sent in pieces. It delivers a message at most
//! once, and none while it is restarted, so each end keeps what the other one has not acknowledged,
//! and sends it again: when the other end reports a gap, or acknowledges nothing from one sign of
//! life to the next. What arrives twice is left out.

use loadline_cluster::{Bundle, Frame, Hash, LONGEST_FRAME};
use std::collections::VecDeque;
use std::io;

/// A message with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parcel {
    Frame(Frame),
    /// The name of a bundle, in place of the bundle.
    Bundle(BundleName),
    /// The request for a bundle that was named.
    Request(Hash),
    /// The sender's end: how the process ended, or why it is to end.
    End(String),
}

/// The name of a bundle: hash and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BundleName {
    /// The hash of its bytes.
    pub(crate) hash: Hash,
    /// Their number.
    pub(crate) length: u64,
}

impl BundleName {
    /// Returns the name of a bundle.
    pub(crate) fn of(bundle: &Bundle) -> Self {
        BundleName {
            hash: bundle.hash(),
            length: bundle.bytes().len() as u64,
        }
    }

    fn bytes(self) -> Vec<u8> {
        [self.hash.bytes(), &self.length.to_be_bytes()[..]].concat()
    }

    fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let (hash, length) = bytes.split_at_checked(Hash::BYTES).ok_or_else(no_hash)?;
        Ok(BundleName {
            hash: hash_of(hash)?,
            length: u64::from_be_bytes(length.try_into().map_err(|_| no_hash())?),
        })
    }
}

fn hash_of(bytes: &[u8]) -> io::Result<Hash> {
    let bytes = bytes.try_into().map_err(|_| no_hash())?;
    Ok(Hash::from_bytes(bytes))
}

fn no_hash() -> io::Error {
    io::Error::other("the name of a bundle that is none")
}

/// A received message, for the end of a line that it arrives at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// A complete parcel.
    Parcel(Parcel),
    /// Nothing to do.
    Nothing,
    /// Messages before this one are missing: they are to be requested again.
    Gap,
    /// The other end requests all that it has not acknowledged.
    Again,
}

/// The kinds of messages.
const LAST_PIECE: u8 = b'f';
const PIECE: u8 = b'p';
const END: u8 = b'e';
const BUNDLE: u8 = b'b';
const REQUEST: u8 = b'q';
/// A sign of life: its number is the next that is expected, which acknowledges those before.
const ALIVE: u8 = b'a';
/// The same, and a request for all from that number on.
const AGAIN: u8 = b'r';

/// True for a sign of life, which is an acknowledgement alone.
pub(crate) fn is_sign_of_life(message: &[u8]) -> bool {
    message.get(HEAD - 1) == Some(&ALIVE)
}

/// The bytes before the contents: a number of four bytes and the kind.
const HEAD: usize = 5;

/// Numbers, keeps and reads the messages at one end of a line.
#[derive(Debug)]
pub(crate) struct Conveyor {
    /// The most bytes of a message.
    longest: usize,
    next_out: u32,
    /// The messages that are not acknowledged, up to the next number.
    kept: VecDeque<Vec<u8>>,
    /// The oldest number that was kept at the last sign of life.
    oldest_then: Option<u32>,
    next_in: u32,
    /// True since a gap was reported.
    has_gap: bool,
    /// The pieces of a frame that is not complete.
    open: Vec<u8>,
}

impl Conveyor {
    /// Creates the end of a line whose messages have at most so many bytes.
    pub(crate) fn new(longest: usize) -> Self {
        Conveyor {
            longest: longest.max(2 * HEAD),
            next_out: 0,
            kept: VecDeque::new(),
            oldest_then: None,
            next_in: 0,
            has_gap: false,
            open: Vec::new(),
        }
    }

    /// Returns the messages of a parcel.
    pub(crate) fn pack(&mut self, parcel: &Parcel) -> Vec<Vec<u8>> {
        match parcel {
            Parcel::Frame(frame) => {
                let bytes = frame.bytes();
                let mut pieces = bytes.chunks(self.longest - HEAD).peekable();
                let mut messages = Vec::new();
                while let Some(piece) = pieces.next() {
                    let kind = match pieces.peek() {
                        Some(_) => PIECE,
                        None => LAST_PIECE,
                    };
                    messages.push(self.keep(kind, piece));
                }
                messages
            }
            Parcel::Bundle(name) => vec![self.keep(BUNDLE, &name.bytes())],
            Parcel::Request(hash) => vec![self.keep(REQUEST, hash.bytes())],
            Parcel::End(reason) => vec![self.keep(END, reason.as_bytes())],
        }
    }

    fn keep(&mut self, kind: u8, contents: &[u8]) -> Vec<u8> {
        let message = message(self.next_out, kind, contents);
        self.next_out = self.next_out.wrapping_add(1);
        self.kept.push_back(message.clone());
        message
    }

    /// True if the other end has acknowledged everything.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns all messages that are not acknowledged.
    pub(crate) fn unacknowledged(&self) -> Vec<Vec<u8>> {
        self.kept.iter().cloned().collect()
    }

    /// Returns a sign of life, and messages of which the other end has acknowledged none since the
    /// last one.
    pub(crate) fn beat(&mut self) -> Vec<Vec<u8>> {
        let mut messages = vec![message(self.next_in, ALIVE, &[])];
        let oldest = (!self.kept.is_empty()).then(|| self.oldest());
        if oldest.is_some() && oldest == self.oldest_then {
            messages.extend(self.unacknowledged());
        }
        self.oldest_then = oldest;
        messages
    }

    /// Returns the request for missing messages.
    pub(crate) fn again(&self) -> Vec<u8> {
        message(self.next_in, AGAIN, &[])
    }

    /// Returns the number of the oldest message that is kept.
    fn oldest(&self) -> u32 {
        self.next_out.wrapping_sub(self.kept.len() as u32)
    }

    /// Takes a message.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn receive(&mut self, message: &[u8]) -> io::Result<Received> {
        let (number, rest) = message
            .split_first_chunk()
            .ok_or_else(|| io::Error::other("a message without its number"))?;
        let number = u32::from_be_bytes(*number);
        match rest.split_first() {
            Some((&ALIVE, _)) => {
                self.acknowledge(number);
                Ok(Received::Nothing)
            }
            Some((&AGAIN, _)) => {
                self.acknowledge(number);
                Ok(Received::Again)
            }
            Some((kind, contents)) if number == self.next_in => {
                self.next_in = self.next_in.wrapping_add(1);
                self.has_gap = false;
                self.receive_next(*kind, contents)
            }
            Some(_) => Ok(self.out_of_turn(number)),
            None => Err(io::Error::other("a message without its kind")),
        }
    }

    fn receive_next(&mut self, kind: u8, contents: &[u8]) -> io::Result<Received> {
        let parcel = match kind {
            PIECE => {
                self.open(contents)?;
                return Ok(Received::Nothing);
            }
            LAST_PIECE => {
                self.open(contents)?;
                Parcel::Frame(Frame::from_bytes(std::mem::take(&mut self.open))?)
            }
            BUNDLE => Parcel::Bundle(BundleName::from_bytes(contents)?),
            REQUEST => Parcel::Request(hash_of(contents)?),
            END => Parcel::End(String::from_utf8_lossy(contents).into_owned()),
            _ => return Err(io::Error::other("a message of no known kind")),
        };
        Ok(Received::Parcel(parcel))
    }

    fn open(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.open.len() + piece.len() > LONGEST_FRAME as usize {
            return Err(io::Error::other("a frame that is too long"));
        }
        self.open.extend_from_slice(piece);
        Ok(())
    }

    /// Handles a message that came before, or before which others are missing: a gap is reported
    /// once.
    fn out_of_turn(&mut self, number: u32) -> Received {
        let is_later = number.wrapping_sub(self.next_in) < u32::MAX / 2;
        match is_later && !std::mem::replace(&mut self.has_gap, is_later) {
            true => Received::Gap,
            false => Received::Nothing,
        }
    }

    fn acknowledge(&mut self, next: u32) {
        let count = next.wrapping_sub(self.oldest()) as usize;
        if count <= self.kept.len() {
            self.kept.drain(..count);
        }
    }
}

fn message(number: u32, kind: u8, contents: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes()[..], &[kind], contents].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end(reason: &str) -> Parcel {
        Parcel::End(reason.to_owned())
    }

    #[test]
    fn invalid_messages_are_refused() {
        let mut conveyor = Conveyor::new(100);
        for none in [
            &b""[..],
            b"abc",
            b"\0\0\0\x01",
            b"\0\0\0\0x",
            b"\0\0\0\x01b",
            b"\0\0\0\x02qshort",
        ] {
            assert!(conveyor.receive(none).is_err(), "{none:?}");
        }
    }

    #[test]
    fn a_gap_is_reported_once_and_closed_by_what_is_sent_again() {
        let (mut here, mut there) = (Conveyor::new(100), Conveyor::new(100));
        let sent: Vec<_> = ["a", "b", "c"]
            .map(|text| here.pack(&end(text)).remove(0))
            .into();
        let received = |there: &mut Conveyor, message: &[u8]| there.receive(message).unwrap();
        assert_eq!(received(&mut there, &sent[1]), Received::Gap);
        assert_eq!(received(&mut there, &sent[2]), Received::Nothing);
        assert_eq!(here.receive(&there.again()).unwrap(), Received::Again);
        let again = here.unacknowledged();
        assert_eq!(again, sent);
        for (message, text) in again.iter().zip(["a", "b", "c"]) {
            assert_eq!(received(&mut there, message), Received::Parcel(end(text)));
            assert_eq!(
                received(&mut there, message),
                Received::Nothing,
                "it came before"
            );
        }
        assert!(!here.is_acknowledged());
        let life = there.beat().remove(0);
        assert_eq!(here.receive(&life).unwrap(), Received::Nothing);
        assert!(here.is_acknowledged());
    }

    #[test]
    fn what_nobody_acknowledges_is_sent_again_with_the_second_sign_of_life() {
        let mut here = Conveyor::new(100);
        let sent = here.pack(&end("a"));
        assert_eq!(here.beat().len(), 1);
        assert_eq!(here.beat()[1..], sent[..]);
        here.acknowledge(1);
        assert_eq!(here.beat().len(), 1);
        here.acknowledge(0);
        here.acknowledge(7);
        assert!(here.is_acknowledged(), "nothing invalid is acknowledged");
    }

    proptest! {
        #[test]
        fn parcels_arrive_once_and_in_order_whatever_is_lost_doubled_or_late(
            reports in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
            longest in 0..200_usize,
            seed in any::<u64>(),
        ) {
            let frames = reports.into_iter().map(|bytes| Parcel::Frame(Frame::Report(bytes)));
            let bundle = Bundle::new(seed.to_be_bytes().to_vec());
            let named = Parcel::Bundle(BundleName::of(&bundle));
            let request = Parcel::Request(bundle.hash());
            let last = [named, request, end("end")];
            let parcels: Vec<_> = frames.chain(last).collect();
            let (mut here, mut there) = (Conveyor::new(longest), Conveyor::new(longest));
            let mut state = seed;
            // A quarter is lost, by a linear congruential generator.
            let mut is_lost = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 62 == 0
            };
            let mut arrived = Vec::new();
            let mut on_the_way: Vec<Vec<u8>> =
                parcels.iter().flat_map(|parcel| here.pack(parcel)).collect();
            for _ in 0..5_000 {
                let mut sent = std::mem::take(&mut on_the_way);
                for index in 1..sent.len() {
                    if is_lost() {
                        sent.swap(index - 1, index);
                    }
                }
                let copies = |message: Vec<u8>| match is_lost() {
                    true => vec![message.clone(), message],
                    false => vec![message],
                };
                let delivered: Vec<Vec<u8>> = sent.into_iter().flat_map(copies).collect();
                for message in delivered {
                    // A name is not divided.
                    prop_assert!(message.len() <= longest.max(HEAD + Hash::BYTES + 8));
                    if is_lost() {
                        continue;
                    }
                    match there.receive(&message).expect("a message") {
                        Received::Parcel(parcel) => arrived.push(parcel),
                        Received::Nothing => {}
                        Received::Gap if is_lost() => {}
                        Received::Gap => {
                            prop_assert_eq!(here.receive(&there.again()).unwrap(), Received::Again);
                            on_the_way.extend(here.unacknowledged());
                        }
                        Received::Again => unreachable!("nothing was sent from there"),
                    }
                }
                if here.is_acknowledged() {
                    break;
                }
                for life in there.beat() {
                    if !is_lost() {
                        prop_assert_eq!(here.receive(&life).unwrap(), Received::Nothing);
                    }
                }
                on_the_way.extend(here.beat().into_iter().skip(1));
            }
            prop_assert_eq!(arrived, parcels);
        }
    }
}
