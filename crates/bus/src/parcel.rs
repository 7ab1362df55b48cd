//! The messages of a line over the bus, each way: frames and the end, numbered; signs of life.
//!
//! A bus has a longest message, so a long frame is sent in pieces. It delivers a message at most
//! once, and none while it is restarted, so each end keeps what the other one has not acknowledged,
//! and sends it again: when the other end reports a gap, or acknowledges nothing from one sign of
//! life to the next. What arrives twice is left out.
//!
//! Only so many bytes are under way on a line at once, its *window*: lines with long frames share
//! a slow link, on which the signs of life of all of them have to get through in time, and the bus
//! cuts off who takes its messages too slowly. So the receiver of much acknowledges it at once.

use loadline_cluster::{Bundle, Frame, Hash, LONGEST_FRAME};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of a line that are under way at once: of 64 lines they take 1.3 s at 100 Mbit/s.
const WINDOW: usize = 256 * 1024;
/// The most bytes of a message, and those after which the receiver acknowledges at once.
const LONGEST_MESSAGE: usize = WINDOW / 4;
/// The most signs of life for which an acknowledgement is awaited before all is sent again.
const MOST_BEATS: u32 = 8;

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
    kept: VecDeque<KeptMessage>,
    /// The number of these, from the first one, that are under way, and their bytes.
    sent: usize,
    sent_bytes: usize,
    again: SendingAgain,
    next_in: u32,
    /// True since a gap was reported.
    has_gap: bool,
    /// The bytes that were received since the last sign of life.
    received_bytes: usize,
    /// The pieces of a frame that is not complete.
    open: Vec<u8>,
}

/// A message that is not acknowledged.
#[derive(Debug)]
struct KeptMessage {
    kind: u8,
    contents: Contents,
}

/// The contents of a message.
#[derive(Debug)]
enum Contents {
    Own(Vec<u8>),
    /// A piece of a frame, whose bytes all lines with it share.
    Piece(Arc<Frame>, Range<usize>),
}

impl KeptMessage {
    fn length(&self) -> usize {
        HEAD + match &self.contents {
            Contents::Own(bytes) => bytes.len(),
            Contents::Piece(_, piece) => piece.len(),
        }
    }

    /// Returns the message under this number.
    fn message(&self, number: u32) -> Vec<u8> {
        let mut message = Vec::with_capacity(self.length());
        message.extend_from_slice(&number.to_be_bytes());
        message.push(self.kind);
        match &self.contents {
            Contents::Own(bytes) => message.extend_from_slice(bytes),
            Contents::Piece(frame, piece) => frame.add_piece(piece.clone(), &mut message),
        }
        message
    }
}

/// The messages that are sent again, when the other end acknowledges none of them.
#[derive(Debug)]
struct SendingAgain {
    /// The number of the oldest message at the last sign of life, and for how many of them it was
    /// that.
    oldest: Option<u32>,
    beats: u32,
    /// The signs of life for which an acknowledgement is awaited: twice as many each time, as the
    /// other end may be slow, until what was sent again is acknowledged.
    beats_to_wait: u32,
    /// The number after those that were sent again.
    before: u32,
}

impl SendingAgain {
    /// Counts a sign of life; `sent` are the numbers of what is under way. Returns true if that is
    /// to be sent again.
    fn is_due(&mut self, sent: Range<u32>) -> bool {
        let oldest = (sent.start != sent.end).then_some(sent.start);
        if oldest.is_none() || oldest != self.oldest {
            self.oldest = oldest;
            self.beats = 0;
            return false;
        }
        self.beats += 1;
        let is_due = self.beats >= self.beats_to_wait;
        if is_due {
            self.beats = 0;
            self.beats_to_wait = (2 * self.beats_to_wait).min(MOST_BEATS);
            self.before = sent.end;
        }
        is_due
    }

    /// Notes that everything before this number is acknowledged.
    fn acknowledge(&mut self, next: u32) {
        if next.wrapping_sub(self.before) < u32::MAX / 2 {
            self.beats_to_wait = 1;
        }
    }
}

impl Conveyor {
    /// Creates the end of a line over a bus whose messages have at most so many bytes.
    pub(crate) fn new(longest: usize) -> Self {
        Conveyor {
            longest: longest.clamp(2 * HEAD, LONGEST_MESSAGE),
            next_out: 0,
            kept: VecDeque::new(),
            sent: 0,
            sent_bytes: 0,
            again: SendingAgain {
                oldest: None,
                beats: 0,
                beats_to_wait: 1,
                before: 0,
            },
            next_in: 0,
            has_gap: false,
            received_bytes: 0,
            open: Vec::new(),
        }
    }

    /// Adds the messages of a parcel to those that are due.
    pub(crate) fn pack(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::Frame(frame) => self.pack_frame(frame),
            Parcel::Bundle(name) => self.keep(BUNDLE, Contents::Own(name.bytes())),
            Parcel::Request(hash) => self.keep(REQUEST, Contents::Own(hash.bytes().to_vec())),
            Parcel::End(reason) => self.keep(END, Contents::Own(reason.into_bytes())),
        }
    }

    fn pack_frame(&mut self, frame: Frame) {
        let (length, most) = (frame.length(), self.longest - HEAD);
        let frame = Arc::new(frame);
        for start in (0..length).step_by(most) {
            let piece = start..length.min(start + most);
            let kind = match piece.end == length {
                true => LAST_PIECE,
                false => PIECE,
            };
            self.keep(kind, Contents::Piece(Arc::clone(&frame), piece));
        }
    }

    fn keep(&mut self, kind: u8, contents: Contents) {
        self.next_out = self.next_out.wrapping_add(1);
        self.kept.push_back(KeptMessage { kind, contents });
    }

    /// Returns the messages that are to be sent now: as many as the window has room for.
    pub(crate) fn due(&mut self) -> Vec<Vec<u8>> {
        let first = self.sent;
        while let Some(next) = self.kept.get(self.sent) {
            let length = next.length();
            if self.sent > 0 && self.sent_bytes + length > WINDOW {
                break;
            }
            self.sent += 1;
            self.sent_bytes += length;
        }
        self.messages(first..self.sent)
    }

    /// Returns the messages at these places.
    fn messages(&self, places: Range<usize>) -> Vec<Vec<u8>> {
        let number = |place: usize| self.oldest().wrapping_add(place as u32);
        let kept = places.clone().zip(self.kept.range(places));
        kept.map(|(place, kept)| kept.message(number(place)))
            .collect()
    }

    /// True if the other end has acknowledged everything.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns all messages that are under way and not acknowledged.
    pub(crate) fn unacknowledged(&self) -> Vec<Vec<u8>> {
        self.messages(0..self.sent)
    }

    /// Returns a sign of life, and messages of which the other end has acknowledged none for too
    /// long.
    pub(crate) fn beat(&mut self) -> Vec<Vec<u8>> {
        let mut messages = vec![self.sign_of_life()];
        let oldest = self.oldest();
        let sent = oldest..oldest.wrapping_add(self.sent as u32);
        if self.again.is_due(sent) {
            messages.extend(self.unacknowledged());
        }
        messages
    }

    /// Returns a sign of life if much was received since the last one: the other end waits for it.
    pub(crate) fn early_beat(&mut self) -> Option<Vec<u8>> {
        let is_due = self.received_bytes >= LONGEST_MESSAGE;
        is_due.then(|| self.sign_of_life())
    }

    fn sign_of_life(&mut self) -> Vec<u8> {
        self.received_bytes = 0;
        message(self.next_in, ALIVE)
    }

    /// Returns the request for missing messages.
    pub(crate) fn again(&self) -> Vec<u8> {
        message(self.next_in, AGAIN)
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
                self.received_bytes += message.len();
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
        if count <= self.sent {
            let ended = self.kept.drain(..count);
            self.sent_bytes -= ended.map(|kept| kept.length()).sum::<usize>();
            self.sent -= count;
            self.again.acknowledge(next);
        }
    }
}

/// Returns a message that has nothing but its number and its kind.
fn message(number: u32, kind: u8) -> Vec<u8> {
    [&number.to_be_bytes()[..], &[kind]].concat()
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
        ["a", "b", "c"]
            .map(end)
            .into_iter()
            .for_each(|end| here.pack(end));
        let sent = here.due();
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
        here.pack(end("a"));
        let sent = here.due();
        assert_eq!(here.beat().len(), 1);
        assert_eq!(here.beat()[1..], sent[..]);
        // The other end may be slow.
        let lengths: Vec<usize> = (0..14).map(|_| here.beat().len()).collect();
        assert_eq!(lengths, [1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2]);
        here.acknowledge(1);
        here.pack(end("b"));
        let sent = here.due();
        assert_eq!(here.beat().len(), 1);
        assert_eq!(here.beat()[1..], sent[..]);
        here.acknowledge(2);
        assert_eq!(here.beat().len(), 1);
        here.acknowledge(0);
        here.acknowledge(7);
        assert!(here.is_acknowledged(), "nothing invalid is acknowledged");
    }

    #[test]
    fn a_long_frame_is_under_way_piece_by_piece() {
        let (mut here, mut there) = (Conveyor::new(1 << 20), Conveyor::new(1 << 20));
        let frame = Frame::Bundle(Bundle::new((0..3_000_000_u32).map(|n| n as u8).collect()));
        here.pack(Parcel::Frame(frame.clone()));
        let bytes = |messages: &[Vec<u8>]| messages.iter().map(Vec::len).sum::<usize>();
        let mut sent = here.due();
        let mut arrived = None;
        while arrived.is_none() {
            assert!(!sent.is_empty() && bytes(&sent) <= WINDOW, "{}", sent.len());
            assert!(here.due().is_empty(), "the window is full");
            // What the bus loses of it is all that is sent again.
            assert_eq!(here.unacknowledged(), sent);
            let mut room = Vec::new();
            for message in &sent {
                if let Received::Parcel(parcel) = there.receive(message).expect("a message") {
                    arrived = Some(parcel);
                }
                if let Some(life) = there.early_beat() {
                    here.receive(&life).expect("a message");
                    room.extend(here.due());
                }
            }
            sent = room;
        }
        assert_eq!(arrived, Some(Parcel::Frame(frame)));
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
            parcels.iter().cloned().for_each(|parcel| here.pack(parcel));
            let mut on_the_way = here.due();
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
                for life in there.early_beat().into_iter().chain(there.beat()) {
                    if !is_lost() {
                        prop_assert_eq!(here.receive(&life).unwrap(), Received::Nothing);
                        on_the_way.extend(here.due());
                    }
                }
                on_the_way.extend(here.beat().into_iter().skip(1));
            }
            prop_assert_eq!(arrived, parcels);
        }
    }
}
