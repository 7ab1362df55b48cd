use super::*;
use crate::line::Remote;
use std::io::{BufReader, Read};

/// The frames of a stream.
struct Frames(BufReader<UnixStream>);

impl Source for Frames {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        Frame::read(&mut self.0)
    }
}

/// A process that ends when it is killed.
struct Other(UnixStream);

impl Remote for Other {
    fn kill(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }

    fn ending(&mut self) -> Option<String> {
        Some("has ended".to_owned())
    }
}

/// Returns a line, and the stream at its other end.
fn line() -> (Line, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    let mut to = ours.try_clone().expect("a socket");
    let line = Line {
        name: "part".to_owned(),
        agent: None,
        cores: 1,
        clock_ahead_ns: 0,
        clock_error_ns: 0,
        head_start_ns: 0,
        sink: Box::new(move |frame| drop(frame.write(&mut to))),
        source: Box::new(Frames(BufReader::new(ours.try_clone().expect("a socket")))),
        remote: Box::new(Other(ours)),
    };
    (line, theirs)
}

/// Returns the sockets of an end, and their other ends.
fn sockets() -> (Sockets, UnixStream, UnixStream) {
    let (messages, own_messages) = UnixStream::pair().expect("sockets");
    let (reports, own_reports) = UnixStream::pair().expect("sockets");
    (Sockets { messages, reports }, own_messages, own_reports)
}

fn take_seat(stream: UnixStream) -> Seat {
    let source = Frames(BufReader::new(stream.try_clone().expect("a socket")));
    Seat::take(Box::new(source), stream, || ()).expect("an assignment")
}

fn job() -> Job {
    Job::new("locust", &7).expect("JSON")
}

#[test]
fn messages_and_reports_arrive_and_the_sockets_end_with_the_part() {
    let (line, theirs) = line();
    let (ours, mut messages, mut reports) = sockets();
    let own = RawValue::from_string("[2]".to_owned()).expect("JSON");
    let relay = Relay::begin(line, job(), Some(own), ours).expect("a relay");
    let mut seat = take_seat(theirs);
    assert_eq!(seat.job().terms::<u32>().expect("terms"), 7);
    assert_eq!(seat.own().map(RawValue::get), Some("[2]"));
    let (there, mut far_messages, mut far_reports) = sockets();
    seat.begin(there).expect("a seat");

    write_block(b"down", &mut messages).expect("a socket");
    let read = |from: &mut UnixStream| read_block(from).expect("a socket");
    assert_eq!(read(&mut far_messages).as_deref(), Some(&b"down"[..]));
    write_block(b"up", &mut far_messages).expect("a socket");
    assert_eq!(read(&mut messages).as_deref(), Some(&b"up"[..]));
    let report = Frame::Report(vec![1, 2, 3]);
    report.write(&mut far_reports).expect("a socket");
    assert_eq!(Frame::read(&mut reports).expect("a frame"), Some(report));
    assert_eq!(relay.ending(), None);

    write_block(b"last", &mut far_messages).expect("a socket");
    drop((far_messages, far_reports));
    seat.finish();
    relay.kill();
    assert_eq!(read(&mut messages).as_deref(), Some(&b"last"[..]));
    assert_eq!(read(&mut messages), None);
    assert_eq!(reports.read(&mut [0]).expect("a socket"), 0);
    assert_eq!(relay.ending().as_deref(), Some("was ended"));
}

#[test]
fn a_part_that_can_not_begin_says_why() {
    let (line, theirs) = line();
    let (ours, mut messages, _reports) = sockets();
    let relay = Relay::begin(line, job(), None, ours).expect("a relay");
    take_seat(theirs).fail("there is no module named x");
    assert_eq!(read_block(&mut messages).expect("a socket"), None);
    assert_eq!(
        relay.ending().as_deref(),
        Some("there is no module named x")
    );
}

#[test]
fn a_part_whose_coordinator_is_gone_reads_the_end_of_its_messages() {
    let (line, theirs) = line();
    let (ours, messages, _reports) = sockets();
    let relay = Relay::begin(line, job(), None, ours).expect("a relay");
    let mut seat = take_seat(theirs);
    let (there, mut far_messages, _far_reports) = sockets();
    seat.begin(there).expect("a seat");
    drop((relay, messages));
    assert_eq!(read_block(&mut far_messages).expect("a socket"), None);
}

#[test]
fn a_process_learns_that_the_coordinator_of_its_part_is_gone() {
    let (line, theirs) = line();
    let (ours, _messages, _reports) = sockets();
    let relay = Relay::begin(line, job(), None, ours).expect("a relay");
    let source = Frames(BufReader::new(theirs.try_clone().expect("a socket")));
    let (orphaned, is_orphaned) = std::sync::mpsc::channel();
    let seat = Seat::take(Box::new(source), theirs, move || {
        orphaned.send(()).expect("a receiver");
    });
    assert_eq!(is_orphaned.try_recv().ok(), None);
    relay.kill();
    is_orphaned
        .recv_timeout(Duration::from_secs(60))
        .expect("a word");
    drop(seat.expect("an assignment"));
}
