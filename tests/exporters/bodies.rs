//! A receiver that keeps what is posted to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Posted heads and bodies, in the order of their arrival.
type Posted = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// Takes everything that is posted.
pub(super) struct Bodies {
    pub(super) address: SocketAddr,
    posted: Posted,
}

impl Bodies {
    pub(super) fn listen() -> Bodies {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let bodies = Bodies {
            address: listener.local_addr().unwrap(),
            posted: Posted::default(),
        };
        let posted = Arc::clone(&bodies.posted);
        // Both threads end with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let posted = Arc::clone(&posted);
                thread::spawn(move || take_all(stream, &posted));
            }
        });
        bodies
    }

    pub(super) fn taken(&self) -> Vec<(String, Vec<u8>)> {
        self.posted.lock().unwrap().clone()
    }
}

fn take_all(stream: TcpStream, posted: &Posted) {
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
        posted.lock().unwrap().push((head, body));
        let answered = reader
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        answered.unwrap();
    }
}
