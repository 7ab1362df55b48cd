//! Frames that no HTTP library would send, written on the bare connection of HTTP/2.

use crate::content::Content;
use crate::h2_fault::H2Fault;
use crate::line::Line;
use crate::reply::Reply;
use std::io;

/// The bytes with which each client of HTTP/2 begins (RFC 9113, section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// The largest payload of a frame, in bytes.
const MOST_PAYLOAD: u64 = 16_384;

/// The number of a flood's frames that are sent at once.
const AT_ONCE: usize = 1_000;

/// Plays `fault` in place of the response on `stream`. A flood continues until the client has
/// closed.
///
/// # Errors
/// Those of the socket.
pub(crate) async fn play(
    line: &Line,
    fault: H2Fault,
    stream: u32,
    reply: &Reply,
) -> io::Result<()> {
    match fault {
        H2Fault::GoAway => line.send(&go_away(stream.saturating_sub(2))).await,
        H2Fault::GoAwayInBody => {
            line.send(&half_of_answer(stream, &reply.content)).await?;
            line.send(&go_away(stream)).await
        }
        H2Fault::WrongFrame => line.send(&frame(DATA, 0, 0, b"nobody's data")).await,
        H2Fault::HeaderFlood => {
            line.send(&frame(HEADERS, 0, stream, b"\x88")).await?;
            flood(line, &frame(CONTINUATION, 0, stream, b"\x0f\x2b\x01x")).await
        }
        H2Fault::PingFlood => flood(line, &frame(PING, 0, 0, b"and so o")).await,
        H2Fault::SettingsFlood => flood(line, &frame(SETTINGS, 0, 0, b"")).await,
        H2Fault::Silent | H2Fault::ClosedWindow | H2Fault::Reset(_) | H2Fault::ResetInBody(_) => {
            Ok(())
        }
    }
}

async fn flood(line: &Line, frame: &[u8]) -> io::Result<()> {
    let frames = frame.repeat(AT_ONCE);
    loop {
        line.send(&frames).await?;
    }
}

/// Returns the head (status 200 and a length, by the static table alone) and half of the body.
fn half_of_answer(stream: u32, content: &Content) -> Vec<u8> {
    let length = content.size().to_string();
    let mut block = vec![0x88, 0x0f, 0x0d, length.len() as u8];
    block.extend_from_slice(length.as_bytes());
    let mut frames = frame(HEADERS, END_HEADERS, stream, &block);
    let half = (content.size() / 2).min(MOST_PAYLOAD);
    frames.extend(frame(DATA, 0, stream, &content.piece(0, half)));
    frames
}

fn go_away(last_stream: u32) -> Vec<u8> {
    let payload = [last_stream.to_be_bytes(), [0; 4]].concat();
    frame(GOAWAY, 0, 0, &payload)
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let mut frame = vec![a, b, c, kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}
