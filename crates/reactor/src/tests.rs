//! Tests of both implementations of the loop, through the same trait.

use crate::{Address, Coalescing, Host, Kernel, Received, Sim, Socket, SocketOptions};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

async fn recv(socket: &impl Socket, buffer: &mut [u8]) -> io::Result<Received> {
    poll_fn(|cx| socket.poll_recv(cx, buffer)).await
}

async fn send_all(socket: &impl Socket, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let sent = poll_fn(|cx| socket.poll_send(cx, bytes)).await?;
        bytes = &bytes[sent..];
    }
    Ok(())
}

async fn discard(socket: &impl Socket, most: usize) -> io::Result<Received> {
    poll_fn(|cx| socket.poll_discard(cx, most)).await
}

/// Runs a server thread that serves one connection with `serve`.
fn serve_one(serve: impl FnOnce(TcpStream) + Send + 'static) -> (Address, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Ip(listener.local_addr().unwrap());
    (
        address,
        thread::spawn(move || serve(listener.accept().unwrap().0)),
    )
}

fn later(host: &impl Host) -> u64 {
    host.now_ns() + 20 * SECOND_NS
}

const STAMPED: SocketOptions = SocketOptions {
    local: None,
    timestamps: true,
    buffer_bytes: None,
};

#[test]
fn the_kernel_face_hears_of_many_bytes_at_once() {
    let (go_on, wait) = std::sync::mpsc::channel();
    let (address, server) = serve_one(move |mut peer| {
        peer.set_nodelay(true).unwrap();
        for part in [&b"first"[..], b" second", b" third"] {
            peer.write_all(part).unwrap();
            wait.recv().unwrap();
        }
    });
    let kernel = Kernel::new().unwrap();
    let heard = async {
        let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await;
        let socket = connected.unwrap().socket;
        socket.set_receive_low_water(12);
        let mut buffer = [0; 64];
        let mut early = pin!(recv(&socket, &mut buffer));
        kernel.timer().until(kernel.now_ns() + SECOND_NS / 50).await;
        let is_early = poll_fn(|cx| Poll::Ready(early.as_mut().poll(cx).is_ready())).await;
        assert!(!is_early, "five bytes are too few");
        go_on.send(()).unwrap();
        let both = early.await.unwrap().bytes;
        go_on.send(()).unwrap();
        kernel.timer().until(kernel.now_ns() + SECOND_NS / 50).await;
        socket.set_receive_low_water(1);
        let rest = recv(&socket, &mut [0; 64]).await.unwrap().bytes;
        go_on.send(()).unwrap();
        (both, rest)
    };
    assert_eq!(kernel.block_on(heard).unwrap(), (12, 6));
    server.join().unwrap();
}

#[test]
fn the_kernel_face_sends_receives_and_stamps() {
    let (address, server) = serve_one(|mut peer| {
        let mut request = [0; 4];
        while peer.read_exact(&mut request).is_ok() {
            peer.write_all(&request).unwrap();
        }
    });
    let kernel = Kernel::new().unwrap();
    let (received, before_ns, after_ns) = kernel
        .block_on(async {
            let socket = kernel
                .connect(&address, &STAMPED, later(&kernel))
                .await
                .unwrap()
                .socket;
            socket.set_deadline(Some(later(&kernel)));
            // The first socket that requests timestamps enables them for the host, a little later.
            for _ in 0..1_000 {
                let before_ns = kernel.now_ns();
                send_all(&socket, b"ping").await.unwrap();
                let mut buffer = [0; 64];
                let received = recv(&socket, &mut buffer).await.unwrap();
                assert_eq!((received.bytes, &buffer[..4]), (4, &b"ping"[..]));
                if received.at_ns.is_some() {
                    return (received, before_ns, kernel.now_ns());
                }
                kernel.timer().until(kernel.now_ns() + 1_000_000).await;
            }
            panic!("TCP on Linux gives receive timestamps");
        })
        .unwrap();
    server.join().unwrap();
    let at_ns = received.at_ns.unwrap();
    // The timestamp is of another clock: allow for the error of the conversion.
    assert!(at_ns + 1_000_000 > before_ns && at_ns < after_ns + 1_000_000);
}

/// Performs one exchange of four bytes; returns the kernel's time of its send, which must lie
/// between readings of the monotonic clock.
async fn stamped_exchange(kernel: &Kernel, socket: &impl Socket, is_stamped: bool) -> Option<u64> {
    let before_ns = kernel.now_ns();
    if is_stamped {
        socket.stamp_next_send();
    }
    send_all(socket, b"ping").await.unwrap();
    let mut buffer = [0; 64];
    assert_eq!(recv(socket, &mut buffer).await.unwrap().bytes, 4);
    let sent_at_ns = socket.sent_at_ns();
    // Timestamps are of the wall clock: converted to the monotonic one they may be some
    // microseconds off.
    let around = before_ns - 1_000_000..kernel.now_ns() + 1_000_000;
    assert!(sent_at_ns.is_none_or(|at_ns| around.contains(&at_ns)));
    sent_at_ns
}

#[test]
fn the_kernel_stamps_the_sends_that_it_is_asked_to() {
    let (address, server) = serve_one(|mut peer| {
        let mut request = [0; 4];
        while peer.read_exact(&mut request).is_ok() {
            peer.write_all(&request).unwrap();
        }
    });
    let kernel = Kernel::new().unwrap();
    let running = kernel.block_on(async {
        let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await;
        let socket = connected.unwrap().socket;
        socket.set_deadline(Some(later(&kernel)));
        for is_stamped in [false, true, false, false, true, true, false] {
            let sent_at_ns = stamped_exchange(&kernel, &socket, is_stamped).await;
            assert_eq!(sent_at_ns.is_some(), is_stamped);
            assert!(!socket.peer_closed(), "a stamp is no failure");
        }
        // A timestamp that was not read does not count as the next one's.
        socket.stamp_next_send();
        send_all(&socket, b"ping").await.unwrap();
        recv(&socket, &mut [0; 64]).await.unwrap();
        assert!(stamped_exchange(&kernel, &socket, true).await.is_some());
    });
    running.unwrap();
    server.join().unwrap();
}

#[test]
fn a_socket_whose_sends_are_stamped_still_sees_its_peer_go() {
    let (address, server) = serve_one(|mut peer| {
        let mut request = [0; 4];
        peer.read_exact(&mut request).unwrap();
        peer.write_all(&request).unwrap();
        // Unread data makes the kernel reset the connection.
        while peer.peek(&mut request).unwrap() == 0 {}
    });
    let kernel = Kernel::new().unwrap();
    let running = kernel.block_on(async {
        let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await;
        let socket = connected.unwrap().socket;
        socket.set_deadline(Some(later(&kernel)));
        stamped_exchange(&kernel, &socket, true).await;
        send_all(&socket, b"more").await.unwrap();
        poll_fn(|cx| socket.poll_closed(cx)).await;
        assert!(socket.peer_closed());
    });
    running.unwrap();
    server.join().unwrap();
}

#[test]
fn the_kernel_drops_bytes_and_leaves_those_behind_them() {
    let (address, server) = serve_one(|mut peer| {
        peer.write_all(&[b'x'; 300_000]).unwrap();
        peer.write_all(b"tail").unwrap();
    });
    let kernel = Kernel::new().unwrap();
    kernel
        .block_on(async {
            let socket = kernel
                .connect(&address, &STAMPED, later(&kernel))
                .await
                .unwrap()
                .socket;
            let mut left = 300_000;
            while left > 0 {
                left -= discard(&socket, left).await.unwrap().bytes;
            }
            let mut tail = [0; 8];
            assert_eq!(recv(&socket, &mut tail).await.unwrap().bytes, 4);
            assert_eq!(&tail[..4], b"tail");
        })
        .unwrap();
    server.join().unwrap();
}

#[test]
fn what_comes_unasked_is_noticed_without_a_read() {
    let (address, server) = serve_one(|mut peer| {
        peer.write_all(b"hello").unwrap();
        peer.read_exact(&mut [0]).unwrap();
        peer.write_all(b"and").unwrap();
        peer.read_exact(&mut [0]).unwrap();
    });
    let kernel = Kernel::new().unwrap();
    kernel
        .block_on(async {
            let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await;
            let socket = connected.unwrap().socket;
            assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 5);
            assert!(!socket.may_receive());
            send_all(&socket, b"!").await.unwrap();
            while !socket.may_receive() {
                kernel.timer().until(kernel.now_ns() + 100_000).await;
            }
            assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 3);
            assert!(!socket.may_receive());
            send_all(&socket, b"!").await.unwrap();
        })
        .unwrap();
    server.join().unwrap();
}

#[test]
fn a_unix_socket_drops_bytes_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let mut peer = listener.accept().unwrap().0;
        peer.write_all(&[b'x'; 100_000]).unwrap();
        peer.write_all(b"tail").unwrap();
    });
    let kernel = Kernel::new().unwrap();
    kernel
        .block_on(async {
            let address = Address::Unix(path);
            let socket = kernel
                .connect(&address, &STAMPED, later(&kernel))
                .await
                .unwrap()
                .socket;
            let mut left = 100_000;
            while left > 0 {
                left -= discard(&socket, left).await.unwrap().bytes;
            }
            let mut tail = [0; 8];
            let received = recv(&socket, &mut tail).await.unwrap();
            assert_eq!((received.bytes, received.at_ns), (4, None));
        })
        .unwrap();
    server.join().unwrap();
}

#[test]
fn a_refused_connection_and_a_silent_peer_are_errors_of_their_kinds() {
    let refused = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Address::Ip(listener.local_addr().unwrap())
    };
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_address = Address::Ip(silent.local_addr().unwrap());
    let kernel = Kernel::new().unwrap();
    kernel
        .block_on(async {
            let error = kernel
                .connect(&refused, &STAMPED, later(&kernel))
                .await
                .unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
            let connected = kernel
                .connect(&silent_address, &STAMPED, later(&kernel))
                .await;
            let socket = connected.unwrap().socket;
            let deadline_ns = kernel.now_ns() + 20_000_000;
            socket.set_deadline(Some(deadline_ns));
            let error = recv(&socket, &mut [0; 8]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(kernel.now_ns() >= deadline_ns);
        })
        .unwrap();
}

#[test]
fn a_loop_coalesces_before_it_waits_but_not_into_a_deadline() {
    const LONG_NS: u64 = 60 * SECOND_NS;
    const SHORT_NS: u64 = 20_000_000;
    let (address, server) = serve_one(|mut peer| peer.write_all(b"x").unwrap());
    let kernel = Kernel::new().unwrap();
    kernel.set_coalescing(Coalescing::For(LONG_NS));
    let begin_ns = kernel.now_ns();
    kernel
        .block_on(kernel.timer().until(begin_ns + 1_000_000))
        .unwrap();
    assert!(kernel.now_ns() - begin_ns < LONG_NS);

    kernel.set_coalescing(Coalescing::For(SHORT_NS));
    let begin_ns = kernel.now_ns();
    let received = kernel.block_on(async {
        let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await?;
        recv(&connected.socket, &mut [0; 8]).await
    });
    assert_eq!(received.unwrap().unwrap().bytes, 1);
    assert!(kernel.now_ns() - begin_ns >= SHORT_NS);
    server.join().unwrap();
}

#[test]
fn a_loop_that_coalesces_until_a_timer_hears_its_sockets_then() {
    const FAR_NS: u64 = SECOND_NS;
    let kernel = Kernel::new().unwrap();
    let received_after_ns = |within_ns| {
        let (address, server) = serve_one(|mut peer| peer.write_all(b"x").unwrap());
        kernel.set_coalescing(Coalescing::UntilTimer(within_ns));
        let begin_ns = kernel.now_ns();
        let timer = kernel.timer();
        timer.set(Some(begin_ns + FAR_NS));
        let received = kernel.block_on(async {
            let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await?;
            recv(&connected.socket, &mut [0; 8]).await
        });
        let passed_ns = kernel.now_ns() - begin_ns;
        assert_eq!(received.unwrap().unwrap().bytes, 1);
        server.join().unwrap();
        passed_ns
    };
    // The loop requests its wake-up ahead of its timers, by at most this.
    const LEAD_NS: u64 = 50_000;
    assert!(received_after_ns(2 * FAR_NS) >= FAR_NS - LEAD_NS);
    let at_once = || received_after_ns(FAR_NS / 1_000) < FAR_NS;
    assert!((0..5).any(|_| at_once()), "a timer far off was waited for");
}

#[test]
fn an_iteration_drives_tasks_without_waiting() {
    let kernel = Kernel::new().unwrap();
    let steps = Rc::new(RefCell::new(Vec::new()));
    let task = kernel.spawn({
        let (kernel, steps) = (kernel.clone(), Rc::clone(&steps));
        async move {
            steps.borrow_mut().push("started");
            kernel.timer().until(kernel.now_ns() + 1_000_000).await;
            steps.borrow_mut().push("woken");
        }
    });
    while !task.is_finished() {
        if let Some(due_ns) = kernel.iterate().unwrap() {
            let wait_ns = due_ns.saturating_sub(kernel.now_ns());
            thread::sleep(std::time::Duration::from_nanos(wait_ns));
        }
    }
    assert_eq!(*steps.borrow(), ["started", "woken"]);
}

/// Returns the longest iteration of a loop whose next turn is due in this many nanoseconds, and
/// comes late by `late_ns`.
fn longest_of_driven_ns(due_in_ns: u64, late_ns: u64) -> u64 {
    let kernel = Kernel::new().unwrap();
    let mut timer = kernel.timer();
    let due_ns = kernel.now_ns() + due_in_ns;
    let _task = kernel.spawn(async move { timer.until(due_ns).await });
    kernel.turn().unwrap();
    let until_ns = due_ns + late_ns;
    thread::sleep(Duration::from_nanos(until_ns - kernel.now_ns()));
    kernel.turn().unwrap();
    let mut longest_ns = 0;
    kernel.take_loop_iterations(&mut |length_ns, _| longest_ns = longest_ns.max(length_ns));
    longest_ns
}

#[test]
fn a_driven_loop_that_waits_has_no_iteration_and_one_that_is_late_has() {
    assert!(
        longest_of_driven_ns(SECOND_NS, 0) < SECOND_NS / 2,
        "it waited"
    );
    let late_ns = longest_of_driven_ns(SECOND_NS / 10, SECOND_NS / 2);
    assert!(late_ns >= SECOND_NS / 2, "{late_ns}");
}

/// One timer after the other is overdue when the loop has a core again, and each has an iteration
/// of its own.
#[test]
fn loop_iterations_never_overlap_however_much_is_overdue() {
    let kernel = Kernel::new().unwrap();
    let start_ns = kernel.now_ns();
    let run = async {
        let timer = kernel.timer();
        thread::sleep(std::time::Duration::from_millis(100));
        for step in 1..=100 {
            timer.set(Some(start_ns + step * 1_000_000));
            std::future::poll_fn(|cx| timer.poll(cx)).await;
        }
    };
    kernel.block_on(run).unwrap();
    let (mut sum_ns, mut longest_ns) = (0, 0);
    kernel.take_loop_iterations(&mut |length_ns, count| {
        sum_ns += length_ns * count;
        longest_ns = length_ns;
    });
    // The length of an iteration is that of its bucket, which is at most a sixteenth off.
    let most_ns = (kernel.now_ns() - start_ns) * 17 / 16;
    assert!((1..=most_ns).contains(&sum_ns), "{sum_ns} of {most_ns}");
    assert!(longest_ns <= most_ns);
}

#[test]
fn a_dropped_task_never_runs_again() {
    let sim = Sim::new(1, 0);
    let steps = Rc::new(RefCell::new(0));
    let task = sim.spawn({
        let (sim, steps) = (sim.clone(), Rc::clone(&steps));
        async move {
            loop {
                *steps.borrow_mut() += 1;
                sim.timer().until(sim.now_ns() + 10).await;
            }
        }
    });
    sim.run(async { sim.timer().until(sim.now_ns() + 25).await });
    drop(task);
    sim.run(async { sim.timer().until(sim.now_ns() + 1_000).await });
    assert_eq!(*steps.borrow(), 3);
}

fn simulated_address() -> SocketAddr {
    "10.0.0.1:80".parse().unwrap()
}

#[test]
fn simulated_bytes_take_the_latency_and_are_stamped_at_their_arrival() {
    let sim = Sim::new(1, 500);
    let listener = sim.listen(simulated_address());
    sim.spawn({
        let sim = sim.clone();
        async move {
            let peer = listener.accept().await;
            let mut request = [0; 16];
            let received = recv(&peer, &mut request).await.unwrap();
            sim.timer().until(sim.now_ns() + 2_000).await;
            send_all(&peer, &request[..received.bytes]).await.unwrap();
            sim.timer().until(sim.now_ns() + 100).await;
        }
    })
    .detach();
    sim.run(async {
        let start_ns = sim.now_ns();
        let address = Address::Ip(simulated_address());
        let socket = sim
            .connect(&address, &STAMPED, later(&sim))
            .await
            .unwrap()
            .socket;
        assert_eq!(sim.now_ns() - start_ns, 1_000);
        send_all(&socket, b"ping").await.unwrap();
        let mut buffer = [0; 16];
        assert!(!socket.may_receive());
        let received = recv(&socket, &mut buffer).await.unwrap();
        assert!(!socket.may_receive());
        let expected_ns = start_ns + 1_000 + 500 + 2_000 + 500;
        assert_eq!(sim.now_ns(), expected_ns);
        assert_eq!(
            received,
            Received {
                bytes: 4,
                at_ns: Some(expected_ns)
            }
        );
        assert!(!socket.peer_closed());
        assert_eq!(recv(&socket, &mut buffer).await.unwrap().bytes, 0);
        assert!(socket.peer_closed());
    });
}

#[test]
fn simulated_faults_are_those_of_tcp() {
    let sim = Sim::new(1, 500);
    let address = Address::Ip(simulated_address());
    sim.run(async {
        let error = sim
            .connect(&address, &STAMPED, later(&sim))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let listener = sim.listen(simulated_address());
        let error = sim
            .connect(&address, &STAMPED, sim.now_ns() + 999)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);

        let client = sim
            .connect(&address, &STAMPED, later(&sim))
            .await
            .unwrap()
            .socket;
        listener.accept().await.reset();
        let error = recv(&client, &mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);

        let client = sim
            .connect(&address, &STAMPED, later(&sim))
            .await
            .unwrap()
            .socket;
        drop(listener.accept().await);
        send_all(&client, b"late").await.unwrap();
        sim.timer().until(sim.now_ns() + 1_000).await;
        // The end arrived before the reset, and stays readable.
        assert_eq!(recv(&client, &mut [0; 8]).await.unwrap().bytes, 0);
        let error = send_all(&client, b"more").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    });
}

#[test]
fn cut_up_bytes_arrive_whole_and_in_order() {
    let message: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    let sim = Sim::new(7, 10);
    sim.cut_up(13);
    let listener = sim.listen(simulated_address());
    sim.spawn({
        let message = message.clone();
        async move { send_all(&listener.accept().await, &message).await.unwrap() }
    })
    .detach();
    let (got, reads) = sim.run(async {
        let address = Address::Ip(simulated_address());
        let socket = sim
            .connect(&address, &STAMPED, later(&sim))
            .await
            .unwrap()
            .socket;
        let (mut got, mut reads, mut buffer) = (Vec::new(), 0, [0; 4_096]);
        loop {
            let received = recv(&socket, &mut buffer).await.unwrap();
            if received.bytes == 0 {
                return (got, reads);
            }
            assert!(received.bytes <= 13);
            got.extend_from_slice(&buffer[..received.bytes]);
            reads += 1;
        }
    });
    assert_eq!(got, message);
    assert!(reads > 5_000 / 13);
}

#[test]
fn a_silent_listener_lets_those_who_connect_wait() {
    let sim = Sim::new(1, 500);
    let address = Address::Ip(simulated_address());
    let listener = sim.listen(simulated_address());
    sim.run(async {
        listener.set_silent(true);
        let start_ns = sim.now_ns();
        let tried = sim.connect(&address, &STAMPED, start_ns + 7_000).await;
        assert_eq!(tried.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(sim.now_ns(), start_ns + 7_000);
        listener.set_silent(false);
        assert!(sim.connect(&address, &STAMPED, later(&sim)).await.is_ok());
    });
}

#[test]
fn a_window_holds_the_sender_back_until_the_peer_reads() {
    let sim = Sim::new(1, 500);
    sim.set_window(10);
    let address = Address::Ip(simulated_address());
    let listener = sim.listen(simulated_address());
    sim.run(async {
        let connected = sim.connect(&address, &STAMPED, later(&sim)).await;
        let client = connected.unwrap().socket;
        let peer = listener.accept().await;
        let start_ns = sim.now_ns();
        client.set_deadline(Some(start_ns + 9_000));
        let error = send_all(&client, &[b'x'; 11]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(sim.now_ns(), start_ns + 9_000);

        assert_eq!(recv(&peer, &mut [0; 4]).await.unwrap().bytes, 4);
        client.set_deadline(None);
        send_all(&client, &[b'x'; 4]).await.unwrap();
        let reset_ns = sim.now_ns();
        // The peer responds to unread data with a reset.
        drop(peer);
        let error = send_all(&client, &[b'x'; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(sim.now_ns(), reset_ns + 500);
    });
}

#[test]
fn a_simulated_peer_that_has_always_more_holds_up_nobody() {
    let sim = Sim::new(1, 500);
    let address = Address::Ip(simulated_address());
    let listener = sim.listen(simulated_address());
    let turns_ns = Rc::new(RefCell::new(Vec::new()));
    let ticker = {
        let (sim, turns_ns) = (sim.clone(), Rc::clone(&turns_ns));
        async move {
            loop {
                let now_ns = sim.now_ns();
                turns_ns.borrow_mut().push(now_ns);
                sim.timer().until(now_ns + 1).await;
            }
        }
    };
    let (read, lasted_ns) = sim.run(async {
        let connected = sim.connect(&address, &STAMPED, later(&sim)).await;
        let client = connected.unwrap().socket;
        let peer = listener.accept().await;
        send_all(&peer, &vec![b'x'; 100 << 16]).await.unwrap();
        sim.timer().until(sim.now_ns() + 500).await;
        let start_ns = sim.now_ns();
        let _ticker = sim.spawn(ticker);
        client.set_deadline(Some(start_ns + 4_900_000));
        let mut buffer = vec![0; 1 << 16];
        let mut read = 0;
        let error = loop {
            match recv(&client, &mut buffer).await {
                Ok(_) => read += 1,
                Err(error) => break error,
            }
            sim.stall(100_000);
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        (read, sim.now_ns() - start_ns)
    });
    // A stretch is eleven reads of 0.1 ms each: the eleventh begins 1 ms after the first. The
    // deadline is in the fifth stretch, which ends before the clocks are checked; the sixth is the
    // last.
    assert_eq!((read, lasted_ns), (66, 6_600_000));
    let mut gaps_ns = turns_ns.take();
    gaps_ns = gaps_ns.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Its timer is due a nanosecond into a stretch, fires after it, and the next one comes before.
    assert_eq!(gaps_ns.iter().max(), Some(&2_200_000), "{gaps_ns:?}");
}

#[test]
fn a_peer_that_has_always_more_keeps_neither_deadlines_nor_others_waiting() {
    let (address, server) = serve_one(|mut stream| {
        let bytes = [b'x'; 1 << 18];
        while stream.write_all(&bytes).is_ok() {}
    });
    let kernel = Kernel::new().unwrap();
    kernel
        .block_on(async {
            let connected = kernel.connect(&address, &STAMPED, later(&kernel)).await;
            let socket = connected.unwrap().socket;
            let ticks = Rc::new(Cell::new(0));
            let ticked = Rc::clone(&ticks);
            let host = kernel.clone();
            let _ticker = kernel.spawn(async move {
                loop {
                    ticked.set(ticked.get() + 1);
                    host.timer().until(host.now_ns() + 1_000_000).await;
                }
            });
            let start_ns = kernel.now_ns();
            socket.set_deadline(Some(start_ns + 500_000_000));
            // Reads are small, so that there is more data than one of them takes, as if each took
            // long.
            let mut buffer = [0; 64];
            let error = loop {
                if let Err(error) = recv(&socket, &mut buffer).await {
                    break error;
                }
                let lasted_ns = kernel.now_ns() - start_ns;
                assert!(lasted_ns < 20_000_000_000, "the deadline was not kept");
            };
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(ticks.get() > 5, "{}", ticks.get());
        })
        .unwrap();
    server.join().unwrap();
}

#[test]
fn what_came_before_a_reset_can_be_read() {
    let sim = Sim::new(1, 500);
    let address = Address::Ip(simulated_address());
    let listener = sim.listen(simulated_address());
    sim.run(async {
        let connected = sim.connect(&address, &STAMPED, later(&sim)).await;
        let client = connected.unwrap().socket;
        let peer = listener.accept().await;
        send_all(&client, b"unread").await.unwrap();
        sim.timer().until(sim.now_ns() + 500).await;
        send_all(&peer, b"answer").await.unwrap();
        drop(peer);
        assert_eq!(recv(&client, &mut [0; 8]).await.unwrap().bytes, 6);
        let error = recv(&client, &mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert!(client.peer_closed());
    });
}

/// A server's reaction to a request of 100 bytes, on a connection on which it answered one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// It closes before the request is sent.
    ClosesBefore,
    /// It ends its side before that, and reads until the client's end.
    EndsBeforeAndReads,
    /// It reads the request whole, and closes.
    ReadsAndCloses,
    /// It reads a part of it, and closes, which causes a reset.
    ReadsSomeAndCloses,
    /// It closes when the request has arrived, without reading it.
    ClosesUnread,
    /// It reads the request whole, and resets the connection.
    ReadsAndResets,
}

const DEEDS: [(Deed, bool); 6] = [
    (Deed::ClosesBefore, true),
    (Deed::EndsBeforeAndReads, true),
    (Deed::ReadsAndCloses, false),
    (Deed::ReadsSomeAndCloses, false),
    // Nothing of the request was read, but the client can't know that.
    (Deed::ClosesUnread, false),
    (Deed::ReadsAndResets, false),
];

/// Returns whether the request arrived after the connection's end, as far as the client knows when
/// it notices the end, for a server with this reaction.
fn behind_end_on_loopback(deed: Deed) -> bool {
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let (address, server) = serve_one(move |mut peer| {
        let mut request = [0; 100];
        peer.read_exact(&mut request[..4]).unwrap();
        peer.write_all(b"answer").unwrap();
        match deed {
            Deed::ClosesBefore => return drop((peer, done)),
            Deed::EndsBeforeAndReads => peer.shutdown(std::net::Shutdown::Write).unwrap(),
            _ => {}
        }
        done.send(()).unwrap();
        wait.recv().unwrap();
        match deed {
            Deed::ReadsSomeAndCloses => peer.read_exact(&mut request[..10]).unwrap(),
            Deed::ClosesUnread => {}
            _ => peer.read_exact(&mut request).unwrap(),
        }
        if deed == Deed::ReadsAndResets {
            let socket = socket2::SockRef::from(&peer);
            socket.set_linger(Some(Duration::ZERO)).unwrap();
        }
        if deed == Deed::EndsBeforeAndReads {
            // It waits for the client's end.
            assert_eq!(peer.read(&mut request).unwrap(), 0);
        }
    });
    let kernel = Kernel::new().unwrap();
    let behind = kernel.block_on(async {
        let connected = kernel
            .connect(&address, &STAMPED, later(&kernel))
            .await
            .unwrap();
        let socket = connected.socket;
        send_all(&socket, b"ping").await.unwrap();
        let mut buffer = [0; 100];
        assert_eq!(recv(&socket, &mut buffer).await.unwrap().bytes, 6);
        // A server that closes ends this wait.
        let _ = is_done.recv();
        assert_eq!(socket.taken(), 4);
        send_all(&socket, &buffer).await.unwrap();
        let _ = go_on.send(());
        let ended = recv(&socket, &mut buffer).await;
        assert!(ended.is_ok_and(|received| received.bytes == 0) || deed != Deed::ClosesBefore);
        assert_eq!(socket.taken(), 104);
        socket.came_behind_end(4, false)
    });
    server.join().unwrap();
    behind.unwrap()
}

#[test]
fn the_kernel_tells_a_request_that_came_too_late_from_one_that_was_read() {
    for (deed, is_behind) in DEEDS {
        assert_eq!(behind_end_on_loopback(deed), is_behind, "{deed:?}");
    }
}

/// Like [`behind_end_on_loopback`], with the request in flight for half a microsecond.
fn behind_end_in_simulation(deed: Deed) -> bool {
    let sim = Sim::new(1, 500);
    let address = Address::Ip(simulated_address());
    let listener = sim.listen(simulated_address());
    sim.run(async {
        let connected = sim.connect(&address, &STAMPED, later(&sim)).await;
        let client = connected.unwrap().socket;
        let peer = Rc::new(listener.accept().await);
        send_all(&client, b"ping").await.unwrap();
        let mut buffer = [0; 100];
        recv(&*peer, &mut buffer).await.unwrap();
        if deed == Deed::EndsBeforeAndReads {
            peer.half_close();
        }
        // A server that closes before does so while the request is in flight.
        send_all(&client, &[0; 100]).await.unwrap();
        let wait_ns = if deed == Deed::ClosesBefore { 400 } else { 600 };
        sim.timer().until(sim.now_ns() + wait_ns).await;
        match deed {
            Deed::ReadsSomeAndCloses => drop(recv(&*peer, &mut buffer[..10]).await.unwrap()),
            Deed::ClosesBefore | Deed::ClosesUnread => {}
            _ => assert_eq!(recv(&*peer, &mut buffer).await.unwrap().bytes, 100),
        }
        if deed == Deed::ReadsAndResets {
            peer.reset();
        }
        let _kept = (deed == Deed::EndsBeforeAndReads).then(|| Rc::clone(&peer));
        drop(peer);
        let _ = recv(&client, &mut buffer).await;
        assert_eq!(client.taken(), 104);
        client.came_behind_end(4, false)
    })
}

#[test]
fn the_simulated_network_tells_the_same() {
    for (deed, is_behind) in DEEDS {
        assert_eq!(behind_end_in_simulation(deed), is_behind, "{deed:?}");
    }
}

#[test]
fn bytes_that_no_send_took_came_nowhere_and_those_of_a_unix_socket_are_not_known_to() {
    let folder = std::env::temp_dir().join(format!("loadline-behind-end-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let kernel = Kernel::new().unwrap();
    let behind = kernel.block_on(async {
        let address = Address::Unix(path.clone());
        let connected = kernel
            .connect(&address, &SocketOptions::default(), later(&kernel))
            .await
            .unwrap();
        let socket = connected.socket;
        let (mut peer, _) = listener.accept().unwrap();
        send_all(&socket, b"ping").await.unwrap();
        peer.read_exact(&mut [0; 4]).unwrap();
        drop(peer);
        let error = send_all(&socket, b"request").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        [4, 0].map(|from| socket.came_behind_end(from, false))
    });
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(behind.unwrap(), [true, false]);
}

#[test]
fn a_request_to_a_broken_connection_came_behind_its_end() {
    let (address, server) = serve_one(drop);
    let kernel = Kernel::new().unwrap();
    let told = kernel.block_on(async {
        let connected = kernel
            .connect(&address, &STAMPED, later(&kernel))
            .await
            .unwrap();
        let socket = connected.socket;
        while !socket.peer_closed() {
            poll_fn(|cx| socket.poll_closed(cx)).await;
        }
        send_all(&socket, b"first").await.unwrap();
        let error = send_all(&socket, b"second").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        (socket.taken(), socket.came_behind_end(0, false))
    });
    server.join().unwrap();
    assert_eq!(told.unwrap(), (5, true));
}

#[test]
fn a_deadline_that_comes_while_tasks_run_goes_before_the_next_of_them() {
    // On a crowded machine the first task may begin after the deadline, which proves nothing.
    let order = (0..100).find_map(|_| order_around_a_deadline());
    let order = order.expect("a task that begins before the deadline");
    assert_eq!(order, ["first", "the deadline", "second", "third"]);
}

/// Returns the order in which a deadline is reached and three tasks end, each of which lasts until
/// the deadline; `None` if the first of them began after it.
fn order_around_a_deadline() -> Option<Vec<&'static str>> {
    let kernel = Kernel::new().unwrap();
    let order = Rc::new(RefCell::new(Vec::new()));
    let in_time = Rc::new(Cell::new(None));
    let run = async {
        let due_ns = kernel.now_ns() + 500_000;
        let waits = {
            let (own, order) = (kernel.clone(), Rc::clone(&order));
            kernel.spawn(async move {
                own.timer().until(due_ns).await;
                order.borrow_mut().push("the deadline");
            })
        };
        kernel.timer().until(due_ns - 400_000).await;
        let others = ["first", "second", "third"].map(|name| {
            let (own, order) = (kernel.clone(), Rc::clone(&order));
            let in_time = Rc::clone(&in_time);
            kernel.spawn(async move {
                if in_time.get().is_none() {
                    in_time.set(Some(own.now_ns() < due_ns));
                }
                while own.now_ns() < due_ns {}
                order.borrow_mut().push(name);
            })
        });
        waits.await;
        for other in others {
            other.await;
        }
    };
    kernel.block_on(run).unwrap();
    (in_time.get() == Some(true)).then(|| order.take())
}

#[test]
fn both_faces_look_names_up_while_the_loop_goes_on() {
    let port_of = |found: io::Result<Vec<SocketAddr>>| found.map(|all| all[0].port());
    let kernel = Kernel::new().unwrap();
    let ticks = Rc::new(Cell::new(0));
    let (own, counted) = (kernel.clone(), Rc::clone(&ticks));
    let ticking = kernel.spawn(async move {
        let mut timer = own.timer();
        loop {
            counted.set(counted.get() + 1);
            timer.until(own.now_ns() + 10_000).await;
        }
    });
    // A look-up that blocked the loop would each time be ready before the first task runs, as one
    // may be by chance whose thread runs at once.
    for _ in 0..100 {
        let found = kernel.block_on(kernel.look_up("localhost", 80)).unwrap();
        assert_eq!(port_of(found).unwrap(), 80);
    }
    assert!(ticks.get() > 0, "the loop stood still");
    drop(ticking);
    let unknown = kernel.block_on(kernel.look_up("a..b", 80)).unwrap();
    assert!(unknown.is_err(), "{unknown:?}");

    let sim = Sim::new(1, 0);
    let address = [10, 0, 0, 1].into();
    sim.set_name("shop.test", &[address], SECOND_NS);
    let begun_ns = sim.now_ns();
    let found = sim.run(sim.look_up("shop.test", 80)).unwrap();
    assert_eq!(found, [SocketAddr::new(address, 80)]);
    assert_eq!(sim.now_ns() - begun_ns, SECOND_NS);
    assert!(sim.run(sim.look_up("gone.test", 80)).is_err());
    let own_name = sim.run(sim.look_up("10.0.0.2", 80)).unwrap();
    assert_eq!(own_name[0].to_string(), "10.0.0.2:80");
}
