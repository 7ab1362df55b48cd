//! A receiver that keeps what is posted to it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

const TAKEN: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Posted heads and bodies, in the order of their arrival.
type Posted = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// What a receiver does beside keeping what is posted.
#[derive(Default)]
struct Doings {
    /// The answers to the first messages; whoever has one is closed upon.
    answers: VecDeque<&'static str>,
    /// When each message had arrived.
    arrivals: Vec<Instant>,
}

/// Takes everything that is posted.
pub(super) struct Bodies {
    pub(super) address: SocketAddr,
    posted: Posted,
    doings: Arc<Mutex<Doings>>,
}

impl Bodies {
    pub(super) fn listen() -> Bodies {
        Bodies::answering(&[])
    }

    /// Gives these answers first, each followed by the end of its connection, and takes the rest.
    pub(super) fn answering(answers: &[&'static str]) -> Bodies {
        let doings = Doings {
            answers: answers.iter().copied().collect(),
            ..Doings::default()
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let bodies = Bodies {
            address: listener.local_addr().unwrap(),
            posted: Posted::default(),
            doings: Arc::new(Mutex::new(doings)),
        };
        let posted = Arc::clone(&bodies.posted);
        let doings = Arc::clone(&bodies.doings);
        // Both threads end with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (posted, doings) = (Arc::clone(&posted), Arc::clone(&doings));
                thread::spawn(move || take_all(stream, &posted, &doings));
            }
        });
        bodies
    }

    /// When each message had arrived.
    pub(super) fn arrivals(&self) -> Vec<Instant> {
        self.doings.lock().unwrap().arrivals.clone()
    }

    pub(super) fn taken(&self) -> Vec<(String, Vec<u8>)> {
        self.posted.lock().unwrap().clone()
    }
}

fn take_all(stream: TcpStream, posted: &Posted, doings: &Mutex<Doings>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let refusal = {
            let mut doings = doings.lock().unwrap();
            doings.arrivals.push(Instant::now());
            doings.answers.pop_front()
        };
        if refusal.is_none() {
            posted.lock().unwrap().push((head, body));
        }
        let answer = refusal.unwrap_or(TAKEN);
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        if refusal.is_some() {
            return;
        }
    }
}
