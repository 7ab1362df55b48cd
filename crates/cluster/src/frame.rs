//! Frames: what the two ends of a link send each other.
//!
//! On a stream of bytes a frame is its length in four bytes, the most significant first, its kind
//! in one, and its contents. The length is that of kind and contents.

use crate::bundle::Bundle;
use crate::message::FromChild;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::ops::Range;

/// The longest frame that is read, in bytes. An interval of 2 000 names has some hundred kilobytes,
/// a plan with a list of millions of lines some hundred megabytes.
pub const LONGEST_FRAME: u32 = 1 << 30;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A message of the protocol, as JSON.
    Message(Vec<u8>),
    /// A report of a part of a run, as its writer has written it.
    Report(Vec<u8>),
    /// The bundle that all parts of a run have in common.
    Bundle(Bundle),
    /// A message of those who lead the users of a script, which only they read.
    Script(Vec<u8>),
    /// A message for the agent that passes frames on, as JSON: [`ToAgent`](crate::ToAgent).
    Agent(Vec<u8>),
    /// The joined reports of a group: the agent's number as a merger in four bytes, and a message
    /// of the engine.
    Merged(Vec<u8>),
}

/// The kinds of frames, as they are sent.
const MESSAGE: u8 = b'm';
const REPORT: u8 = b'r';
const SCRIPT: u8 = b's';
const AGENT: u8 = b'g';
const MERGED: u8 = b'j';
const BUNDLE: u8 = b'b';

impl Frame {
    /// Creates the frame of a message.
    ///
    /// # Errors
    /// If the message has no JSON.
    pub(crate) fn of(message: &impl Serialize) -> io::Result<Self> {
        Ok(Frame::Message(serde_json::to_vec(message)?))
    }

    /// Returns the message of a frame.
    ///
    /// # Errors
    /// If it has none of this type.
    pub(crate) fn message<T: DeserializeOwned>(&self) -> io::Result<T> {
        match self {
            Frame::Message(json) => Ok(serde_json::from_slice(json)?),
            Frame::Report(_) => Err(io::Error::other("a report where a message was due")),
            Frame::Script(_) => Err(io::Error::other("a script's message where ours was due")),
            Frame::Agent(_) => Err(io::Error::other("an agent's message where ours was due")),
            Frame::Merged(_) => Err(io::Error::other("joined reports where a message was due")),
            Frame::Bundle(_) => Err(io::Error::other("a bundle where a message was due")),
        }
    }

    /// Creates the frame of a sign of life, for who passes on the frames of a part that has ended.
    pub fn alive() -> Self {
        Frame::of(&FromChild::Alive).expect("a word has JSON")
    }

    /// True if it is the last message of a part.
    pub fn is_done(&self) -> bool {
        matches!(self.message(), Ok(FromChild::Done))
    }

    /// Returns the frame as it is sent where messages have a length of their own: its kind and its
    /// contents.
    pub fn bytes(&self) -> Vec<u8> {
        let (kind, contents) = self.parts();
        [&[kind], contents].concat()
    }

    /// Returns the number of these bytes.
    pub fn length(&self) -> usize {
        1 + self.parts().1.len()
    }

    /// Adds a piece of these bytes to others.
    pub fn add_piece(&self, piece: Range<usize>, to: &mut Vec<u8>) {
        let (kind, contents) = self.parts();
        if piece.start == 0 && piece.end > 0 {
            to.push(kind);
        }
        let of_contents = piece.start.saturating_sub(1)..piece.end.saturating_sub(1);
        to.extend_from_slice(&contents[of_contents]);
    }

    /// Returns the frame of its kind and its contents.
    ///
    /// # Errors
    /// If there is no such kind.
    pub fn from_bytes(mut bytes: Vec<u8>) -> io::Result<Self> {
        let kind = bytes.first().copied();
        match kind {
            Some(MESSAGE) => Ok(Frame::Message(bytes.split_off(1))),
            Some(REPORT) => Ok(Frame::Report(bytes.split_off(1))),
            Some(SCRIPT) => Ok(Frame::Script(bytes.split_off(1))),
            Some(AGENT) => Ok(Frame::Agent(bytes.split_off(1))),
            Some(MERGED) => Ok(Frame::Merged(bytes.split_off(1))),
            Some(BUNDLE) => Ok(Frame::Bundle(Bundle::new(bytes.split_off(1)))),
            _ => Err(io::Error::other("a frame of no known kind")),
        }
    }

    fn parts(&self) -> (u8, &[u8]) {
        match self {
            Frame::Message(contents) => (MESSAGE, contents),
            Frame::Report(contents) => (REPORT, contents),
            Frame::Script(contents) => (SCRIPT, contents),
            Frame::Agent(contents) => (AGENT, contents),
            Frame::Merged(contents) => (MERGED, contents),
            Frame::Bundle(bundle) => (BUNDLE, bundle.bytes()),
        }
    }

    /// Writes the frame to a stream.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_block(&self.bytes(), to)
    }

    /// Reads the next frame of a stream; `None` at the end, even in the middle of a frame: that of
    /// a killed sender is incomplete.
    ///
    /// # Errors
    /// If the stream has no frame, or can't be read.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let block = read_block(from)?;
        block.map(Frame::from_bytes).transpose()
    }
}

/// Writes the length of some bytes, and the bytes.
///
/// # Errors
/// If they can't be written.
pub(crate) fn write_block(bytes: &[u8], to: &mut impl Write) -> io::Result<()> {
    let length = u32::try_from(bytes.len());
    let length = length.map_err(|_| io::Error::other("a frame of more than 4 GB"))?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// Reads bytes that follow their length; `None` at the end of the stream, even in the middle of
/// them.
///
/// # Errors
/// If the length is that of no frame, or the stream can't be read.
pub(crate) fn read_block(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if let Err(error) = from.read_exact(&mut length) {
        return match error.kind() == io::ErrorKind::UnexpectedEof {
            true => Ok(None),
            false => Err(error),
        };
    }
    let length = u32::from_be_bytes(length);
    if length > LONGEST_FRAME {
        return Err(io::Error::other(format!("a frame of {length} bytes")));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    Ok((bytes.len() == length as usize).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let frames = [
            Frame::of(&"alive").expect("JSON"),
            Frame::Report(vec![0, b'\n', 255]),
            Frame::Report(Vec::new()),
            Frame::Script(vec![128, 4]),
            Frame::Agent(b"{}".to_vec()),
            Frame::Merged(vec![0, 0, 0, 1, 9]),
            Frame::Bundle(Bundle::new(vec![0, 255])),
        ];
        let mut bytes = Vec::new();
        frames
            .iter()
            .for_each(|frame| frame.write(&mut bytes).expect("memory"));
        assert_eq!(bytes[..12], *b"\0\0\0\x08m\"alive\"");
        let mut rest = &bytes[..];
        for frame in &frames {
            assert_eq!(
                Frame::read(&mut rest).expect("a frame").as_ref(),
                Some(frame)
            );
        }
        assert_eq!(Frame::read(&mut rest).expect("the end"), None);
        for cut in 0..12 {
            let read = Frame::read(&mut &bytes[..cut]).expect("the end");
            assert_eq!(read, None, "{cut}");
        }
    }

    #[test]
    fn the_pieces_of_a_frame_are_its_bytes() {
        for frame in [
            Frame::Report(Vec::new()),
            Frame::Bundle(Bundle::new((0..9).collect())),
        ] {
            let bytes = frame.bytes();
            assert_eq!(frame.length(), bytes.len());
            for most in 1..12 {
                let mut joined = Vec::new();
                for start in (0..bytes.len()).step_by(most) {
                    frame.add_piece(start..bytes.len().min(start + most), &mut joined);
                }
                assert_eq!(joined, bytes, "{most}");
            }
            frame.add_piece(0..0, &mut Vec::new());
        }
    }

    #[test]
    fn the_last_message_is_known_to_who_passes_it_on() {
        assert!(Frame::of(&FromChild::Done).expect("JSON").is_done());
        for other in [
            Frame::alive(),
            Frame::Report(Vec::new()),
            Frame::Message(Vec::new()),
        ] {
            assert!(!other.is_done(), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        for bytes in [&b"hello\n"[..], b"\0\0\0\0", b"\0\0\0\x02xy"] {
            assert!(Frame::read(&mut &*bytes).is_err(), "{bytes:?}");
        }
        let report = Frame::Report(Vec::new());
        assert!(report.message::<String>().is_err());
        assert!(Frame::Message(b"{".to_vec()).message::<String>().is_err());
    }
}
