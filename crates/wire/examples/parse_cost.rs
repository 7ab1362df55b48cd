//! Measures the time of parsing one small response, as nginx sends it. Run it with `--release`; on
//! a busy machine under a counter of instructions, such as `valgrind --tool=callgrind`.
//!
//! `parse_cost [ROUNDS]`

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::hint::black_box;
use std::time::Instant;

use loadline_wire::{Expect, Malformed, ResponseParser};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: nginx/1.26.3\r\n\
    Date: Sat, 01 Mar 2025 12:00:00 GMT\r\n\
    Content-Type: text/html\r\n\
    Content-Length: 60\r\n\
    Last-Modified: Sat, 01 Mar 2025 11:00:00 GMT\r\n\
    Connection: keep-alive\r\n\
    ETag: \"67c2e1a0-3c\"\r\n\
    Accept-Ranges: bytes\r\n\
    \r\n\
    ............................................................";

fn main() -> Result<(), Malformed> {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(5_000_000_u32);
    let mut parser = ResponseParser::new();
    let begun = Instant::now();
    for _ in 0..rounds {
        parser.begin(Expect::Other);
        let fed = parser.feed(black_box(ANSWER), &mut ())?;
        assert!(black_box(fed).done && parser.reusable());
    }
    let ns = begun.elapsed().as_nanos() as f64 / f64::from(rounds);
    println!("{ns:.1} ns per response of {} bytes", ANSWER.len());
    println!("{} bytes per parser", size_of::<ResponseParser>());
    Ok(())
}
