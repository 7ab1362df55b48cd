//! The agent that measures other response times than the others.

use super::{Agent, Bus, end, start};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::Duration;

/// A server that answers at once, but for its first connection, which waits for each response.
fn unfair() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (number, connection) in listener.incoming().enumerate() {
            let connection = connection.unwrap();
            let delay = Duration::from_millis(if number == 0 { 30 } else { 5 });
            thread::spawn(move || {
                let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.is_empty() {
                        thread::sleep(delay);
                        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                        let _ = (&connection).write_all(response);
                    }
                }
            });
        }
    });
    url
}

#[test]
fn an_agent_with_other_response_times_is_named() {
    let bus = Bus::start(&[]);
    let _agents = Agent::three(&bus);
    let url = unfair();
    let words = ["-t", "3", "-c", "3", "-d", "6s", &url];
    let (found, stderr, code) = end(start(&bus, "3", &words));
    assert_eq!(code, Some(0), "{stderr}");
    let warnings = found["warnings"].as_array().expect("warnings");
    let odd: Vec<&str> = warnings
        .iter()
        .filter(|warning| warning["kind"] == "odd_agent")
        .filter_map(|warning| warning["text"].as_str())
        .collect();
    let [text] = odd[..] else {
        panic!("{odd:?}: {found:#}");
    };
    assert!(text.starts_with("Agent "), "{text}");
    assert!(text.contains("measured other response times"), "{text}");
}
