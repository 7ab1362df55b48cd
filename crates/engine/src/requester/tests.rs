//! The origin of a user's connections, and the time at which they are closed, as observed by a
//! server on the loopback.

use crate::behaviour::{Behaviour, Scenario};
use crate::simulated::plans::{SECOND, closed};
use crate::{Composed, Detail, Event, Iteration, Requester, Run};
use loadline_metrics::SeriesId;
use loadline_reactor::Kernel;
use loadline_record::{Outcome, Snapshot};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::Url;

/// The addresses of the connections' clients, in their order.
type Peers = Arc<Mutex<Vec<IpAddr>>>;

fn serve() -> (SocketAddr, Peers) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let peers = Peers::default();
    let told = Arc::clone(&peers);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let peer = stream.peer_addr().expect("a peer").ip();
            told.lock().expect("no panic").push(peer);
            std::thread::spawn(move || answer(stream));
        }
    });
    (address, peers)
}

fn answer(mut stream: TcpStream) {
    let mut buffer = [0; 4_096];
    while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}

/// The action of a user before each of its requests, given the number of its iteration.
type Before = fn(&Requester<Kernel>, u8);

#[derive(Clone)]
struct Users {
    url: Url,
    before: Before,
    iterations: u8,
}

impl Scenario<Kernel> for Users {
    const COMPOSES: bool = true;
    type Behaviour = Users;

    fn user(&mut self) -> Users {
        self.clone()
    }
}

impl Behaviour<Kernel> for Users {
    async fn iterate(&mut self, iteration: Iteration<'_, Kernel>) {
        let requester = iteration.requester();
        (self.before)(requester, self.iterations);
        self.iterations += 1;
        let request = Composed {
            method: "GET",
            url: &self.url,
            headers: &[],
            body: None,
            series: SeriesId::default(),
            timeout: None,
            resend: crate::Resend::default(),
        };
        let outcome = requester.request(request, &mut ()).await;
        assert_eq!(outcome, Ok(Outcome::Answered { status: 200 }));
    }
}

/// Has one user send four requests; returns the record, and the clients' addresses.
fn four(before: Before) -> (Snapshot, Vec<IpAddr>) {
    let (address, peers) = serve();
    let url: Url = format!("http://{address}/").parse().expect("a URL");
    let mut plan = closed(1, 60 * SECOND);
    plan.requests.clear();
    plan.request_limit = Some(4);
    let scenario = move |_| Users {
        url: url.clone(),
        before,
        iterations: 0,
    };
    let mut run = Run::start_scenario(plan, Detail::default(), scenario).expect("a run");
    let mut total = Snapshot::default();
    loop {
        match run.next_event(Duration::from_secs(10)) {
            Some(Event::Interval(snapshot)) => total.append(&snapshot),
            Some(Event::Ended { .. }) => break,
            Some(_) => {}
            None => panic!("the run does not end"),
        }
    }
    assert_eq!(total.counts.answered, 4);
    let peers = peers.lock().expect("no panic").clone();
    (total, peers)
}

#[test]
fn a_user_dials_again_behind_the_close_of_its_idle_connections() {
    let (total, peers) = four(|_, _| ());
    assert_eq!((peers.len(), total.counts.connections), (1, 1));
    let (total, peers) = four(|requester, iteration| {
        if iteration == 2 {
            requester.close_idle();
        }
    });
    assert_eq!((peers.len(), total.counts.connections), (2, 2));
    assert_eq!(total.counts.reconnects, 0);
}

#[test]
fn the_next_connections_of_a_user_leave_from_the_address_that_it_is_given() {
    let (_, peers) = four(|requester, iteration| {
        requester.close_idle();
        let own = (iteration < 3).then(|| IpAddr::from([127, 0, 0, 2 + iteration]));
        requester.leave_from(own);
    });
    let expected = [2, 3, 4, 1].map(|last| IpAddr::from([127, 0, 0, last]));
    assert_eq!(peers, expected);
}
