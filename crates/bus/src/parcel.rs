//! What the two ends of a line over the bus send each other: frames, signs of life, and the end.
//!
//! A bus has a longest message, so a long frame is sent in pieces. It does not promise that every
//! message arrives, so messages are numbered: after a gap the line is broken, and nothing that
//! follows is taken for what it is not.

use loadline_cluster::{Frame, LONGEST_FRAME};
use std::io;

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parcel {
    Frame(Frame),
    /// The sender is alive.
    Alive,
    /// The sender's end: how the process ended, or why it is to end.
    End(String),
}

/// The kinds of messages.
const LAST_PIECE: u8 = b'f';
const PIECE: u8 = b'p';
const ALIVE: u8 = b'a';
const END: u8 = b'e';

/// The bytes before the contents: a number of four bytes and the kind.
const HEAD: usize = 5;

/// Makes the messages of parcels.
#[derive(Debug)]
pub(crate) struct Packer {
    next: u32,
    /// The most bytes of a message.
    longest: usize,
}

impl Packer {
    /// Creates the packer of messages of at most so many bytes.
    pub(crate) fn new(longest: usize) -> Self {
        Packer {
            next: 0,
            longest: longest.max(2 * HEAD),
        }
    }

    /// Returns the messages of a parcel.
    pub(crate) fn pack(&mut self, parcel: &Parcel) -> Vec<Vec<u8>> {
        match parcel {
            Parcel::Frame(frame) => self.pack_frame(&frame.bytes()),
            Parcel::Alive => vec![self.message(ALIVE, &[])],
            Parcel::End(reason) => vec![self.message(END, reason.as_bytes())],
        }
    }

    fn pack_frame(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut pieces = bytes.chunks(self.longest - HEAD).peekable();
        let mut messages = Vec::new();
        while let Some(piece) = pieces.next() {
            let kind = match pieces.peek() {
                Some(_) => PIECE,
                None => LAST_PIECE,
            };
            messages.push(self.message(kind, piece));
        }
        messages
    }

    fn message(&mut self, kind: u8, contents: &[u8]) -> Vec<u8> {
        let number = self.next.to_be_bytes();
        self.next = self.next.wrapping_add(1);
        [&number[..], &[kind], contents].concat()
    }
}

/// Reads the parcels of messages.
#[derive(Debug, Default)]
pub(crate) struct Unpacker {
    next: u32,
    /// The pieces of a frame that is not complete.
    open: Vec<u8>,
}

impl Unpacker {
    /// Takes the next message; returns a parcel if it is complete.
    ///
    /// # Errors
    /// If a message is missing, or is none.
    pub(crate) fn unpack(&mut self, message: &[u8]) -> io::Result<Option<Parcel>> {
        let (number, rest) = message
            .split_first_chunk()
            .ok_or_else(|| io::Error::other("a message without its number"))?;
        let number = u32::from_be_bytes(*number);
        if number != self.next {
            let next = self.next;
            let gap = format!("message {number} came where message {next} was due");
            return Err(io::Error::other(gap));
        }
        self.next = self.next.wrapping_add(1);
        match rest.split_first() {
            Some((&PIECE, piece)) => self.open(piece).map(|()| None),
            Some((&LAST_PIECE, piece)) => {
                self.open(piece)?;
                let frame = Frame::from_bytes(std::mem::take(&mut self.open))?;
                Ok(Some(Parcel::Frame(frame)))
            }
            Some((&ALIVE, _)) => Ok(Some(Parcel::Alive)),
            Some((&END, reason)) => {
                let reason = String::from_utf8_lossy(reason).into_owned();
                Ok(Some(Parcel::End(reason)))
            }
            _ => Err(io::Error::other("a message of no known kind")),
        }
    }

    fn open(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.open.len() + piece.len() > LONGEST_FRAME as usize {
            return Err(io::Error::other("a frame that is too long"));
        }
        self.open.extend_from_slice(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_that_is_missing_or_comes_twice_breaks_the_line() {
        let mut packer = Packer::new(100);
        let messages: Vec<_> = (0..3).flat_map(|_| packer.pack(&Parcel::Alive)).collect();
        let mut unpacker = Unpacker::default();
        assert_eq!(
            unpacker.unpack(&messages[0]).expect("the first"),
            Some(Parcel::Alive)
        );
        for wrong in [0, 2] {
            let error = unpacker.unpack(&messages[wrong]).expect_err("a gap");
            assert!(error.to_string().contains("message 1 was due"), "{error}");
        }
        for none in [&b""[..], b"abc", b"\0\0\0\x01", b"\0\0\0\x02x"] {
            assert!(unpacker.unpack(none).is_err(), "{none:?}");
        }
    }

    proptest! {
        #[test]
        fn parcels_arrive_whatever_the_longest_message_is(
            reports in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
            longest in 0..200_usize,
        ) {
            let frames = reports.into_iter().map(|bytes| Parcel::Frame(Frame::Report(bytes)));
            let ends = [Parcel::Alive, Parcel::End("end".to_owned())];
            let parcels: Vec<_> = frames.chain(ends).collect();
            let (mut packer, mut unpacker) = (Packer::new(longest), Unpacker::default());
            let mut arrived = Vec::new();
            for parcel in &parcels {
                for message in packer.pack(parcel) {
                    prop_assert!(message.len() <= longest.max(10));
                    arrived.extend(unpacker.unpack(&message).expect("the next message"));
                }
            }
            prop_assert_eq!(arrived, parcels);
        }
    }
}
