//! A client of the bus besides agents and coordinators: it hears what they send, and may answer, or
//! sends what no coordinator does.

use super::Bus;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;

/// Passes the contents of each message on these subjects to `take`, with the number of its subject
/// in the list, until the bus ends. What it returns is sent to whoever waits for an answer.
pub(super) fn overhear(
    bus: &Bus,
    subjects: &[&str],
    mut take: impl FnMut(usize, Vec<u8>) -> Option<String> + Send + 'static,
) {
    let (mut to, mut from) = subscribe(bus, subjects);
    thread::spawn(move || {
        while let Some(line) = next_line(&mut from) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["PING"] => to.write_all(b"PONG\r\n").unwrap(),
                ["MSG", _, number, ref inbox @ .., length] => {
                    let mut contents = vec![0; length.parse::<usize>().unwrap() + 2];
                    if from.read_exact(&mut contents).is_err() {
                        return;
                    }
                    contents.truncate(contents.len() - 2);
                    let answer = take(number.parse().unwrap(), contents);
                    if let ([inbox], Some(answer)) = (inbox, answer) {
                        let length = answer.len();
                        let message = format!("PUB {inbox} {length}\r\n{answer}\r\n");
                        to.write_all(message.as_bytes()).unwrap();
                    }
                }
                _ => {}
            }
        }
    });
}

/// A client that sends what it is told, and receives what is sent on its subjects.
pub(super) struct Stranger {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Stranger {
    /// Subscribes to these subjects.
    pub(super) fn on(bus: &Bus, subjects: &[&str]) -> Stranger {
        let (to, from) = subscribe(bus, subjects);
        Stranger { to, from }
    }

    /// Sends a message; the answer goes to `inbox`, if there is one.
    pub(super) fn send(&mut self, subject: &str, inbox: Option<&str>, contents: &[u8]) {
        let inbox = inbox.map_or_else(String::new, |inbox| format!("{inbox} "));
        let head = format!("PUB {subject} {inbox}{}\r\n", contents.len());
        let message = [head.as_bytes(), contents, b"\r\n"].concat();
        self.to.write_all(&message).unwrap();
    }

    /// The next message for which `take` returns something.
    pub(super) fn receive<T>(&mut self, take: impl Fn(&[u8]) -> Option<T>) -> T {
        loop {
            let line = next_line(&mut self.from).expect("a bus");
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["PING"] => self.to.write_all(b"PONG\r\n").unwrap(),
                ["MSG", .., length] => {
                    let mut contents = vec![0; length.parse::<usize>().unwrap() + 2];
                    self.from.read_exact(&mut contents).unwrap();
                    contents.truncate(contents.len() - 2);
                    if let Some(taken) = take(&contents) {
                        return taken;
                    }
                }
                _ => {}
            }
        }
    }
}

/// A connection with a subscription to each subject, as both of its ends.
fn subscribe(bus: &Bus, subjects: &[&str]) -> (TcpStream, BufReader<TcpStream>) {
    let mut to = TcpStream::connect((Ipv4Addr::LOCALHOST, bus.port)).unwrap();
    let mut words = "CONNECT {\"verbose\":false}\r\n".to_owned();
    for (number, subject) in subjects.iter().enumerate() {
        words += &format!("SUB {subject} {number}\r\n");
    }
    words += "PING\r\n";
    to.write_all(words.as_bytes()).unwrap();
    let mut from = BufReader::new(to.try_clone().unwrap());
    // The subscriptions stand when the server answers.
    while next_line(&mut from).expect("a bus") != "PONG" {}
    (to, from)
}

/// The next line of the bus; `None` once it has ended.
fn next_line(from: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let length = from.read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end().to_owned())
}
