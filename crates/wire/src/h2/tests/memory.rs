use super::*;
use crate::h2::frame::flags::{END_HEADERS, END_STREAM};

struct Count(u64);

impl Sink for Count {
    const NEEDS_FIELDS: bool = false;
    const NEEDS_BODY: bool = false;

    fn end(&mut self, _key: usize, ended: Ended) {
        self.0 += u64::from(ended.status == 200);
    }
}

/// Performs ten requests and their responses, with a header block that adds to the header table.
fn exchange(connection: &mut Connection, get: &Request, input: &mut Vec<u8>, count: &mut Count) {
    input.clear();
    for key in 0..10 {
        let stream = connection.begin(get, key).unwrap();
        frame::write(
            FrameKind::HEADERS,
            END_HEADERS,
            stream,
            b"\x88\x40\x01a\x01b",
            input,
        );
        frame::write(FrameKind::DATA, END_STREAM, stream, b"hello", input);
    }
    connection.sent(connection.output().len());
    connection.feed(input, count).unwrap();
}

#[test]
fn requests_allocate_nothing() {
    let (mut connection, get) = (open(), request("GET", None));
    let (mut input, mut count) = (Vec::new(), Count(0));
    for _ in 0..100 {
        exchange(&mut connection, &get, &mut input, &mut count);
    }
    let measured = allocation_counter::measure(|| {
        for _ in 0..1000 {
            exchange(&mut connection, &get, &mut input, &mut count);
        }
    });
    assert_eq!((measured.count_total, count.0), (0, 11_000));
}
