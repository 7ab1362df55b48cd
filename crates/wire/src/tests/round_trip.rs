//! Random responses, framed and cut at random, are read back unchanged.

use proptest::prelude::*;

use super::{Seen, cut, feed_all};
use crate::{Expect, Fed, ResponseParser};

/// A response before it is framed.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    reason: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    framing: Framing,
    line_end: &'static str,
    interim: u32,
}

#[derive(Clone, Debug)]
enum Framing {
    Length,
    Chunked {
        sizes: Vec<usize>,
        extension: String,
        trailers: Vec<(String, String)>,
    },
    UntilClose,
}

impl Answer {
    fn write(&self, out: &mut Vec<u8>) {
        let end = self.line_end;
        for _ in 0..self.interim {
            out.extend_from_slice(format!("HTTP/1.1 103 x{end}Link: y{end}{end}").as_bytes());
        }
        let framing = match self.framing {
            Framing::Length => format!("Content-Length: {}{end}", self.body.len()),
            Framing::Chunked { .. } => format!("Transfer-Encoding: chunked{end}"),
            Framing::UntilClose => String::new(),
        };
        let status_line = format!("HTTP/1.1 {} {}{end}", self.status, self.reason);
        let fields = lines(&self.fields, end);
        out.extend_from_slice(format!("{status_line}{fields}{framing}{end}").as_bytes());
        self.write_body(out);
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        let Framing::Chunked {
            sizes,
            extension,
            trailers,
        } = &self.framing
        else {
            out.extend_from_slice(&self.body);
            return;
        };
        let end = self.line_end;
        let mut rest = &self.body[..];
        for size in sizes.iter().cycle() {
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            if chunk.is_empty() {
                break;
            }
            out.extend_from_slice(format!("{:x}{extension}{end}", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(end.as_bytes());
            rest = after;
        }
        out.extend_from_slice(format!("0{end}{}{end}", lines(trailers, end)).as_bytes());
    }

    /// The fields that a sink receives: those of the head, the one that frames, the trailers.
    fn fields_seen(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut fields = self.fields.clone();
        match &self.framing {
            Framing::Length => fields.push(("Content-Length".into(), self.body.len().to_string())),
            Framing::Chunked { trailers, .. } => {
                fields.push(("Transfer-Encoding".into(), "chunked".into()));
                fields.extend(trailers.clone());
            }
            Framing::UntilClose => {}
        }
        fields
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn ends_with_connection(&self) -> bool {
        matches!(self.framing, Framing::UntilClose)
    }

    fn check(&self, parser: &ResponseParser, seen: &Seen) {
        assert_eq!(seen.statuses, [self.status]);
        assert_eq!(seen.fields, self.fields_seen());
        assert_eq!(seen.body, self.body);
        assert_eq!(parser.status(), self.status);
        assert_eq!(parser.body_len(), self.body.len() as u64);
        assert_eq!(parser.interim(), self.interim);
        assert_eq!(parser.reusable(), !self.ends_with_connection());
    }
}

fn lines(fields: &[(String, String)], end: &str) -> String {
    fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}{end}"))
        .collect()
}

/// Fields that don't frame: their names begin with x.
fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(
        (
            "x[!#$%&'*+.^_`|~0-9A-Za-z-]{0,20}",
            "([!-~]([ -~]{0,30}[!-~])?)?",
        ),
        0..8,
    )
}

fn framing() -> impl Strategy<Value = Framing> {
    let sizes = prop::collection::vec(1_usize..100, 1..5);
    let extension = prop_oneof![Just(String::new()), "[ \t]?;[ -~]{0,10}"];
    let chunked = (sizes, extension, fields());
    prop_oneof![
        Just(Framing::Length),
        chunked.prop_map(|(sizes, extension, trailers)| Framing::Chunked {
            sizes,
            extension,
            trailers
        }),
    ]
}

fn status() -> impl Strategy<Value = u16> {
    (200_u16..1000).prop_filter("these have no body", |status| !matches!(status, 204 | 304))
}

fn answer(framing: impl Strategy<Value = Framing>) -> impl Strategy<Value = Answer> {
    let body = prop::collection::vec(any::<u8>(), 0..300);
    let line_end = prop_oneof![Just("\r\n"), Just("\n")];
    (
        status(),
        "[ -~]{0,20}",
        fields(),
        body,
        framing,
        line_end,
        0_u32..3,
    )
        .prop_map(
            |(status, reason, fields, body, framing, line_end, interim)| Answer {
                status,
                reason,
                fields,
                body,
                framing,
                line_end,
                interim,
            },
        )
}

/// Reads `answers` from the pieces of one connection.
fn check_pipeline(answers: &[Answer], mut pieces: std::vec::IntoIter<&[u8]>) {
    let mut parser = ResponseParser::new();
    let mut piece: &[u8] = &[];
    for answer in answers {
        parser.begin(Expect::Other);
        let mut seen = Seen::default();
        let mut fed = parser.feed(piece, &mut seen).unwrap();
        while !fed.done {
            assert_eq!(fed.used, piece.len());
            piece = pieces.next().expect("the answers end with the pieces");
            fed = parser.feed(piece, &mut seen).unwrap();
        }
        piece = &piece[fed.used..];
        answer.check(&parser, &seen);
    }
    assert!(piece.is_empty() && pieces.all(<[u8]>::is_empty));
}

proptest! {
    #[test]
    fn of_pipelined_answers(
        answers in prop::collection::vec(answer(framing()), 1..6),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let mut wire = Vec::new();
        for answer in &answers {
            answer.write(&mut wire);
        }
        check_pipeline(&answers, cut(&wire, &cuts).into_iter());
    }

    #[test]
    fn of_a_body_that_ends_with_the_connection(
        answer in answer(Just(Framing::UntilClose)),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let mut wire = Vec::new();
        answer.write(&mut wire);
        let mut parser = ResponseParser::new();
        let mut seen = Seen::default();
        let fed = feed_all(&mut parser, cut(&wire, &cuts), &mut seen).unwrap();
        prop_assert_eq!(fed, Fed { used: wire.len(), done: false });
        prop_assert_eq!(parser.close(), Ok(()));
        answer.check(&parser, &seen);
    }
}
