//! The memory cost of a request: from its start in the schedule to its place in the record.

use crate::control::Handle;
use crate::event::Detail;
use crate::launch::{Launch, run_groups};
use crate::prepare::Prepared;
use crate::simulated::http2_server::{
    DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE_BYTES, SETTINGS, STATUS_200, frame, take_frame,
};
use crate::simulated::plans::{MS, SECOND, closed, get};
use allocation_counter::measure;
use loadline_plan::{HttpVersion, Plan};
use loadline_reactor::{Host, Kernel};
use loadline_schedule::Stripe;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

const REQUESTS: u64 = 20_000;
/// Allocations for structures that grow with the slowest response of a run, and for the
/// supervisor's periodic work: per run, not per request.
const MOST_ALLOCATIONS: u64 = REQUESTS / 100;

#[test]
fn a_request_over_http1_allocates_nothing() {
    let address = serve(answer_http1);
    let mut plan = closed(4, 60 * SECOND);
    plan.requests = vec![get(&format!("http://{address}/"))];
    assert_allocates_nothing(&plan);
}

#[test]
fn a_request_over_http2_allocates_nothing() {
    let address = serve(answer_http2);
    let mut plan = closed(20, 60 * SECOND);
    plan.requests = vec![get(&format!("http://{address}/"))];
    plan.connection.http = HttpVersion::V2;
    plan.connection.streams = 10;
    assert_allocates_nothing(&plan);
}

/// Compares a run with one that has [`REQUESTS`] more.
fn assert_allocates_nothing(plan: &Plan) {
    let few = allocations(plan, 1_000);
    let many = allocations(plan, 1_000 + REQUESTS);
    let more = many.saturating_sub(few);
    assert!(
        more < MOST_ALLOCATIONS,
        "{REQUESTS} requests more allocated {more} times more"
    );
}

/// Returns the number of allocations of a run of this many requests on its worker's thread, which
/// is this one.
fn allocations(plan: &Plan, requests: u64) -> u64 {
    let plan = Plan {
        request_limit: Some(requests),
        ..plan.clone()
    };
    let mut parts = Prepared::all(&plan, Detail::default(), |_| false, 1).expect("a server");
    let prepared = Arc::into_inner(parts.remove(0)).expect("nobody else has it");
    let prepared = Arc::new(Prepared {
        interval_ns: 60 * SECOND,
        ..prepared
    });
    let kernel = Kernel::new().expect("an event loop");
    let stripe = Stripe { index: 0, of: 1 };
    let launch = Launch::requests(&plan);
    let run = async {
        let group = launch.set_up(kernel.clone(), &prepared, stripe, Box::new(drop));
        let begin_ns = kernel.now_ns() + MS;
        run_groups(vec![group.await], begin_ns, &Handle::new()).await;
    };
    measure(|| kernel.block_on(run).expect("a live loop")).count_total
}

/// Answers each connection on a thread of its own. Returns the server's address.
fn serve(answer: fn(TcpStream) -> std::io::Result<()>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // The thread ends with its client's connection.
            thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer_http1(mut stream: TcpStream) -> std::io::Result<()> {
    let mut input = [0; 4096];
    loop {
        let bytes = stream.read(&mut input)?;
        if bytes == 0 {
            return Ok(());
        }
        if input[..bytes].ends_with(b"\r\n\r\n") {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        }
    }
}

fn answer_http2(mut stream: TcpStream) -> std::io::Result<()> {
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    let (mut part, mut input) = ([0; 4096], Vec::new());
    loop {
        let bytes = stream.read(&mut part)?;
        if bytes == 0 {
            return Ok(());
        }
        input.extend_from_slice(&part[..bytes]);
        let mut output = Vec::new();
        while let Some((kind, _, number)) = take_frame(&mut input) {
            if kind == HEADERS {
                output.extend(frame(HEADERS, END_HEADERS, number, &[STATUS_200]));
                output.extend(frame(DATA, END_STREAM, number, b"ok"));
            }
        }
        stream.write_all(&output)?;
    }
}
