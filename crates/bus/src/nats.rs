//! The protocol of a NATS server, as far as it is used: lines of text, some of which the contents
//! of a message follow (<https://docs.nats.io/reference/reference-protocols/nats-protocol>).

use crate::address::Credentials;
use serde::Deserialize;
use serde_json::json;
use std::io::{self, BufRead, Read};

/// The longest line, in bytes.
const LONGEST_LINE: u64 = 64 * 1024;
/// The longest contents of a message, in bytes: the most that a server can be configured for.
const LONGEST_CONTENTS: usize = 64 * 1024 * 1024;

/// The request for a [`Op::Pong`].
pub(crate) const PING: &[u8] = b"PING\r\n";
/// The answer to a [`Op::Ping`].
pub(crate) const PONG: &[u8] = b"PONG\r\n";

/// A line of the server, with the contents of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// The server's description of itself.
    Info(Info),
    /// A message to the subscription of this number.
    Message {
        number: u64,
        reply: Option<String>,
        contents: Vec<u8>,
    },
    Ping,
    Pong,
    Ok,
    Error(String),
}

/// The description of a server.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Info {
    /// The most bytes of a message's contents.
    pub(crate) max_payload: usize,
    #[serde(default)]
    pub(crate) tls_required: bool,
    /// The text that a user signs, if the server knows users by keys.
    #[serde(default)]
    pub(crate) nonce: String,
}

/// Reads the next line of a server; `None` at the end.
///
/// # Errors
/// If the line is not of the protocol, or can't be read.
pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Op>> {
    let mut line = Vec::new();
    from.by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let line = String::from_utf8_lossy(&line);
    let line = line.trim_end();
    let (verb, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    Ok(Some(match verb.to_ascii_uppercase().as_str() {
        "MSG" => read_message(rest, from)?,
        "PING" => Op::Ping,
        "PONG" => Op::Pong,
        "+OK" => Op::Ok,
        "-ERR" => Op::Error(rest.trim().trim_matches('\'').to_owned()),
        "INFO" => Op::Info(serde_json::from_str(rest)?),
        _ => return Err(io::Error::other("it is no NATS server")),
    }))
}

/// Reads the rest of a message, whose line is `SUBJECT NUMBER [REPLY] LENGTH`.
fn read_message(line: &str, from: &mut impl Read) -> io::Result<Op> {
    let wrong = || io::Error::other("it sends an invalid message");
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (number, reply, length) = match words.as_slice() {
        [_, number, length] => (*number, None, *length),
        [_, number, reply, length] => (*number, Some(*reply), *length),
        _ => return Err(wrong()),
    };
    let number = number.parse().map_err(|_| wrong())?;
    let length: usize = length.parse().map_err(|_| wrong())?;
    if length > LONGEST_CONTENTS {
        return Err(wrong());
    }
    let mut contents = vec![0; length];
    from.read_exact(&mut contents)?;
    let mut end = [0; 2];
    from.read_exact(&mut end)?;
    match &end == b"\r\n" {
        true => Ok(Op::Message {
            number,
            reply: reply.map(str::to_owned),
            contents,
        }),
        false => Err(wrong()),
    }
}

/// Returns the first line of a client, to a server with this nonce.
///
/// # Errors
/// If the nonce can't be signed.
pub(crate) fn connect(credentials: &Credentials, nonce: &str) -> Result<Vec<u8>, String> {
    let mut options = json!({
        "name": "loadline",
        "lang": "rust",
        "version": env!("CARGO_PKG_VERSION"),
        "verbose": false,
        "pedantic": false,
        "echo": true,
        "protocol": 1,
    });
    match credentials {
        Credentials::Nobody => {}
        Credentials::User(user, password) => {
            options["user"] = json!(user);
            options["pass"] = json!(password);
        }
        Credentials::Token(token) => options["auth_token"] = json!(token),
        Credentials::Key(creds) => {
            options["sig"] = json!(creds.key.sign(nonce)?);
            match &creds.jwt {
                Some(jwt) => options["jwt"] = json!(jwt),
                None => options["nkey"] = json!(creds.key.public()),
            }
        }
    }
    Ok(format!("CONNECT {options}\r\n").into_bytes())
}

/// Returns a message to a subject, whose answers go to `reply`.
pub(crate) fn publish(subject: &str, reply: Option<&str>, contents: &[u8]) -> Vec<u8> {
    let length = contents.len();
    let head = match reply {
        Some(reply) => format!("PUB {subject} {reply} {length}\r\n"),
        None => format!("PUB {subject} {length}\r\n"),
    };
    [head.as_bytes(), contents, b"\r\n"].concat()
}

/// Returns the line that subscribes to a subject under this number.
pub(crate) fn subscribe(subject: &str, number: u64) -> Vec<u8> {
    format!("SUB {subject} {number}\r\n").into_bytes()
}

/// Returns the line that ends the subscription of this number.
pub(crate) fn unsubscribe(number: u64) -> Vec<u8> {
    format!("UNSUB {number}\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(mut bytes: &[u8]) -> io::Result<Vec<Op>> {
        let mut ops = Vec::new();
        while let Some(op) = read(&mut bytes)? {
            ops.push(op);
        }
        Ok(ops)
    }

    #[test]
    fn lines_of_a_server_are_read() {
        let text =
            b"INFO {\"server_id\":\"A\",\"max_payload\":1048576,\"nonce\":\"n\"}\r\nPING\r\n\
                     MSG a.b 7 4\r\nab\r\n\r\nmsg a.b 8 _r.1 0\r\n\r\n+OK\r\nPONG\r\n\
                     -ERR 'Authorization Violation'\r\n";
        let message = |number, reply: Option<&str>, contents: &[u8]| Op::Message {
            number,
            reply: reply.map(str::to_owned),
            contents: contents.to_vec(),
        };
        let expected = vec![
            Op::Info(Info {
                max_payload: 1 << 20,
                tls_required: false,
                nonce: "n".to_owned(),
            }),
            Op::Ping,
            message(7, None, b"ab\r\n"),
            message(8, Some("_r.1"), b""),
            Op::Ok,
            Op::Pong,
            Op::Error("Authorization Violation".to_owned()),
        ];
        assert_eq!(all(text).expect("lines"), expected);
    }

    #[test]
    fn invalid_lines_are_refused() {
        for text in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"MSG a 1\r\n",
            b"MSG a x 1\r\n.\r\n",
            b"MSG a 1 99999999999\r\n",
            b"MSG a 1 4\r\nab",
            b"MSG a 1 2\r\nabcd",
            b"INFO {\r\n",
        ] {
            assert!(all(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn lines_of_a_client_are_those_of_the_protocol() {
        assert_eq!(publish("a", None, b"xy"), b"PUB a 2\r\nxy\r\n");
        assert_eq!(publish("a", Some("b"), b""), b"PUB a b 0\r\n\r\n");
        assert_eq!(subscribe("a.*", 3), b"SUB a.* 3\r\n");
        assert_eq!(unsubscribe(3), b"UNSUB 3\r\n");
        let user = Credentials::User("anna".to_owned(), "\"x".to_owned());
        let line = String::from_utf8(connect(&user, "").expect("a line")).expect("text");
        assert!(
            line.starts_with("CONNECT {") && line.ends_with("}\r\n"),
            "{line}"
        );
        assert!(line.contains(r#""pass":"\"x""#), "{line}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = all(&bytes);
        }
    }
}
