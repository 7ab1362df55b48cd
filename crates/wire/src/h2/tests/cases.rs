//! The rules of RFC 9113 for a client, as text: `cases.txt` explains itself.

use super::*;
use crate::h2::frame::{FRAME_HEAD_BYTES, FrameHead, flags};
use crate::h2::{ErrorCode, Outcome};

const CASES: &str = include_str!("cases.txt");

#[test]
fn each_rule_is_kept() {
    let cases: Vec<&str> = CASES.split("\n## ").skip(1).collect();
    assert!(cases.len() > 40);
    for case in cases {
        let (name, lines) = case.split_once('\n').unwrap();
        let mut play = Play::new(name);
        for line in lines
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            play.line(line);
        }
        play.check();
    }
}

/// A case that is being run.
struct Play<'a> {
    name: &'a str,
    connection: Connection,
    seen: Seen,
    begun: usize,
    error: Option<ErrorCode>,
    expected_error: Option<&'a str>,
    expected_ends: Vec<String>,
    expected_output: Vec<String>,
}

impl<'a> Play<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            connection: open(),
            seen: Seen::default(),
            begun: 0,
            error: None,
            expected_error: None,
            expected_ends: vec![],
            expected_output: vec![],
        }
    }

    fn line(&mut self, line: &'a str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["unsettled"] => self.connection = Connection::new(Config::default()),
            ["windows", stream, connection] => self.open_with(stream, connection),
            ["get"] => self.begin(&request("GET", None)),
            ["head"] => self.begin(&request("HEAD", None)),
            ["post", size] => {
                self.begin(&request("POST", Some(&vec![b'u'; size.parse().unwrap()])));
                take_output(&mut self.connection);
            }
            ["reset", stream] => {
                assert!(
                    self.connection
                        .reset(stream.parse().unwrap(), ErrorCode::CANCEL)
                );
                take_output(&mut self.connection);
            }
            ["<", kind, flags, stream, payload] => self.feed(1, [kind, flags, stream, payload]),
            ["<", kind, flags, stream, payload, times] => {
                let times = times.strip_prefix('x').unwrap().parse().unwrap();
                self.feed(times, [kind, flags, stream, payload]);
            }
            ["text", ..] => self.take(&line.as_bytes()["text ".len()..]),
            [">", ..] => self.expected_output.push(line[2..].to_owned()),
            ["=", ..] => self.expected_ends.push(line[2..].to_owned()),
            ["!", code] => self.expected_error = Some(code),
            _ => panic!("{}: what is {line:?}?", self.name),
        }
    }

    fn open_with(&mut self, stream: &str, connection: &str) {
        let config = Config {
            stream_window: stream.parse().unwrap(),
            connection_window: connection.parse().unwrap(),
            ..Config::default()
        };
        self.connection = Connection::new(config);
        self.take(&frame(FrameKind::SETTINGS, 0, 0, &[]));
        take_output(&mut self.connection);
    }

    fn begin(&mut self, request: &Request) {
        let begun = self.connection.begin(request, self.begun);
        begun.unwrap_or_else(|refused| panic!("{}: {refused}", self.name));
        self.begun += 1;
        if request.body.is_empty() {
            take_output(&mut self.connection);
        }
    }

    fn feed(&mut self, times: usize, [kind, flags, stream, payload]: [&str; 4]) {
        let kind = (0..=u8::MAX)
            .map(FrameKind)
            .find(|known| known.to_string() == kind);
        let flags = flags.split('+').map(flag).sum();
        let frame = frame(
            kind.unwrap(),
            flags,
            stream.parse().unwrap(),
            &bytes(payload),
        );
        self.take(&frame.repeat(times));
    }

    fn take(&mut self, input: &[u8]) {
        assert_eq!(self.error, None, "{}: more after an error", self.name);
        let fed = self.connection.feed(input, &mut self.seen);
        self.error = fed.err().map(|error| error.code());
    }

    fn check(mut self) {
        let name = self.name;
        let error = self.error.map(|code| code.to_string());
        assert_eq!(error.as_deref(), self.expected_error, "{name}");
        let ends: Vec<String> = self.seen.ended.iter().map(outcome_of).collect();
        assert_eq!(ends, self.expected_ends, "{name}");
        let output = take_output(&mut self.connection);
        let output = frames(&output);
        if let Some(code) = self.error {
            let last = output.last().unwrap();
            assert_eq!(
                *last,
                format!("GOAWAY 0 0 00000000{:08x}", code.0),
                "{name}"
            );
        } else if !self.expected_output.is_empty() {
            assert_eq!(output, self.expected_output, "{name}");
        }
    }
}

fn outcome_of((key, ended): &(usize, Ended)) -> String {
    let outcome = match &ended.outcome {
        Outcome::Whole => format!("{} {}", ended.status, ended.body_len),
        Outcome::Reset(code) => format!("reset {code}"),
        Outcome::GoneAway(code) => format!("gone {code}"),
        Outcome::Malformed(error) => format!("malformed {}: {error}", error.code()),
        Outcome::ConnectionLost => "lost".to_owned(),
    };
    format!("{key} {outcome}")
}

fn flag(name: &str) -> u8 {
    match name {
        "-" => 0,
        "ACK" => flags::ACK,
        "END_STREAM" => flags::END_STREAM,
        "END_HEADERS" => flags::END_HEADERS,
        "PADDED" => flags::PADDED,
        "PRIORITY" => flags::PRIORITY,
        _ => panic!("what is the flag {name}?"),
    }
}

/// Hexadecimal bytes; `ab*3` is three times the same byte.
fn bytes(text: &str) -> Vec<u8> {
    let byte = |pair: &str| u8::from_str_radix(pair, 16).unwrap();
    if let Some((pair, times)) = text.split_once('*') {
        return vec![byte(pair); times.parse().unwrap()];
    }
    let text = text.trim_matches('-');
    (0..text.len())
        .step_by(2)
        .map(|at| byte(&text[at..at + 2]))
        .collect()
}

/// The frames in `output`: kind, flags, stream, and the payload's bytes, or their number if there
/// are many.
fn frames(output: &[u8]) -> Vec<String> {
    let mut output = output
        .strip_prefix(crate::h2::settings::PREFACE)
        .unwrap_or(output);
    let mut frames = Vec::new();
    while let Some((head, rest)) = output.split_first_chunk::<FRAME_HEAD_BYTES>() {
        let head = FrameHead::parse(head);
        let (payload, rest) = rest.split_at(head.length as usize);
        let shown = match payload.len() {
            0..=16 => payload.iter().map(|byte| format!("{byte:02x}")).collect(),
            many => format!("{many}"),
        };
        let FrameHead {
            kind,
            flags,
            stream,
            ..
        } = head;
        frames.push(
            format!("{kind} {flags} {stream} {shown}")
                .trim_end()
                .to_owned(),
        );
        output = rest;
    }
    frames
}
