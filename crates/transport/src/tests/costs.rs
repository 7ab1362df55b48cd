//! The memory that an exchange costs.

use super::authority::{Authority, BOTH};
use super::servers::{serve, serve_tls};
use super::*;
use allocation_counter::{AllocationInfo, measure};
use loadline_reactor::KernelSocket;
use std::io::{Read, Write};

const EXCHANGES: u64 = 100;

/// Returns the allocations of this many exchanges, without those that only the first ones need.
fn allocations_of_exchanges(
    kernel: &Kernel,
    connection: &mut Connection<KernelSocket>,
    scratch: &RefCell<Scratch>,
) -> AllocationInfo {
    let mut run = |exchanges: u64| {
        let conversation = async {
            for _ in 0..exchanges {
                exchange(kernel, connection, scratch).await;
            }
        };
        measure(|| kernel.block_on(conversation).expect("a live loop"))
    };
    run(10);
    let (few, many) = (run(1), run(1 + EXCHANGES));
    AllocationInfo {
        count_total: many.count_total - few.count_total,
        bytes_total: many.bytes_total - few.bytes_total,
        ..many
    }
}

/// Performs an exchange: a request of 100 bytes, a response of 200.
async fn exchange(
    kernel: &Kernel,
    connection: &mut Connection<KernelSocket>,
    scratch: &RefCell<Scratch>,
) {
    connection.set_deadline(kernel.now_ns() + TEST_TIMEOUT.as_nanos() as u64);
    connection.send_all(&[1; 100]).await.expect("sent");
    let mut left = 200;
    while left > 0 {
        let received = poll_fn(|cx| connection.poll_recv(cx, &mut scratch.borrow_mut())).await;
        left -= received.expect("an answer").bytes;
    }
}

fn answer(stream: &mut (impl Read + Write)) {
    while stream.read_exact(&mut [0; 100]).is_ok() {
        stream.write_all(&[2; 200]).expect("a client");
    }
}

#[test]
fn an_exchange_without_tls_allocates_nothing() {
    let server = serve(1, |mut stream| answer(&mut stream));
    let kernel = Kernel::new().expect("an event loop");
    let dialler = dialler(&kernel, plainly(&[server.address]), &settings());
    let dialled = kernel
        .block_on(dialler.dial(0, u64::MAX))
        .expect("a live loop");
    let (mut connection, _) = dialled.expect("a connection");
    let cost = allocations_of_exchanges(&kernel, &mut connection, &dialler.scratch);
    assert_eq!((cost.count_total, cost.bytes_total), (0, 0));
    drop(connection);
    server.found();
}

#[test]
fn an_exchange_over_tls_allocates_its_two_records() {
    let authority = Authority::new();
    let config = authority.server(&authority.issue(&["localhost"]), &BOTH);
    let server = serve_tls(config, 1, answer);
    let kernel = Kernel::new().expect("an event loop");
    let settings = with_tls(authority.trusted());
    let dialler = dialler(&kernel, securely("localhost", server.address), &settings);
    let dialled = kernel
        .block_on(dialler.dial(0, u64::MAX))
        .expect("a live loop");
    let (mut connection, _) = dialled.expect("a connection");
    let cost = allocations_of_exchanges(&kernel, &mut connection, &dialler.scratch);
    // TLS allocates a vector for each record that it encrypts or decrypts, as large as the record.
    assert_eq!(cost.count_total, 2 * EXCHANGES, "{cost:?}");
    assert!(cost.bytes_total < 400 * EXCHANGES, "{cost:?}");
    drop(connection);
    server.found();
}

/// A user waits in its dial, so the size of that future is multiplied by all users.
#[test]
fn a_dial_that_waits_is_small() {
    let kernel = Kernel::new().expect("an event loop");
    let dialler = dialler(&kernel, plainly(&[super::servers::nobody()]), &settings());
    let size = size_of_val(&dialler.dial(0, u64::MAX));
    assert!(size < 1024, "{size} bytes");
}
