//! Users that handle responses: cookies, redirects, challenges and decoding, with exact counts.

use super::parallel;
use super::plans::{MS, SECOND, closed, get, open};
use super::ran::Ran;
use super::server::{Reply, Seen};
use super::world::World;
use crate::composed::{ComposeError, Composed};
use crate::observer::Observer;
use crate::sessions::Session;
use flate2::Compression;
use flate2::write::GzEncoder;
use loadline_metrics::SeriesId;
use loadline_plan::{Body, Client, Plan};
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::Sink;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io::Write;
use std::rc::Rc;
use std::task::Poll;
use url::Url;

/// Returns a plan of one user that sends this many of these requests.
fn user(paths: &[&str], requests: u64, client: Client) -> Plan {
    let url = |path: &&str| get(&format!("http://10.0.0.1:80{path}"));
    let mut plan = closed(1, 60 * SECOND);
    plan.requests = paths.iter().map(url).collect();
    plan.request_limit = Some(requests);
    plan.client = client;
    plan
}

fn cookies() -> Client {
    Client {
        cookies: true,
        ..Client::default()
    }
}

fn following(most: u32) -> Client {
    Client {
        follow_redirects: most,
        ..Client::default()
    }
}

fn compressed() -> Client {
    Client {
        compressed: true,
        ..Client::default()
    }
}

fn answer(status: &str, fields: &str, body: &[u8]) -> Reply {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{fields}\r\n");
    Reply::raw([head.as_bytes(), body].concat())
}

fn redirect(status: &str, location: &str) -> Reply {
    answer(status, &format!("Location: {location}\r\n"), b"")
}

/// Returns the first lines of the received requests.
fn lines(ran: &Ran) -> Vec<&str> {
    let line = |seen: &'_ Seen| seen.text.lines().next().map(str::len);
    let lines = ran.seen.iter().map(|seen| {
        let end = line(seen).unwrap_or_default();
        seen.text[..end].trim_end_matches(" HTTP/1.1")
    });
    lines.collect()
}

/// Returns the value of a field of each received request; empty if it has none.
fn fields<'a>(ran: &'a Ran, name: &str) -> Vec<&'a str> {
    let prefix = format!("{name}: ");
    let field = |seen: &'a Seen| {
        let mut lines = seen.text.lines();
        lines.find_map(|line| line.strip_prefix(&prefix))
    };
    ran.seen
        .iter()
        .map(|seen| field(seen).unwrap_or_default())
        .collect()
}

#[test]
fn each_user_keeps_its_cookies_and_goes_through_the_list_by_itself() {
    let mut plan = user(&["/login", "/read"], 8, cookies());
    plan.load.users = 2;
    plan.load.max_users = 2;
    let ran = World::new(plan)
        .script(|seen| match &*seen.target {
            "/login" => answer(
                "200 OK",
                &format!("Set-Cookie: user={}\r\n", seen.connection),
                b"",
            ),
            _ => Reply::ok(),
        })
        .run();
    assert_eq!(ran.counts(), [8, 8, 8, 0, 0]);
    let mut by_user: BTreeMap<usize, Vec<(&str, String)>> = BTreeMap::new();
    for (seen, cookie) in ran.seen.iter().zip(fields(&ran, "Cookie")) {
        let requests = by_user.entry(seen.connection).or_default();
        requests.push((&seen.target, cookie.to_owned()));
    }
    assert_eq!(by_user.len(), 2);
    for (user, requests) in by_user {
        let own = format!("user={user}");
        let expected = [
            ("/login", ""),
            ("/read", &own),
            ("/login", &own),
            ("/read", &own),
        ];
        let requests: Vec<_> = requests.iter().map(|(path, own)| (*path, &**own)).collect();
        assert_eq!(requests, expected);
    }
}

#[test]
fn cookies_of_the_plan_stand_before_those_of_the_user() {
    let mut plan = user(&["/"], 2, cookies());
    let own = "Cookie: own=1".parse().expect("a header");
    plan.requests[0].headers.push(own);
    let ran = World::new(plan)
        .script(|_| answer("200 OK", "Set-Cookie: set=2\r\n", b""))
        .run();
    assert_eq!(fields(&ran, "Cookie"), ["own=1", "own=1; set=2"]);
}

#[test]
fn a_redirect_is_an_exchange_of_its_own() {
    let mut plan = user(&["/form"], 3, following(5));
    plan.requests[0].method = "POST".to_owned();
    plan.requests[0].body = Body::Bytes(b"a=b".to_vec().into());
    let ran = World::new(plan)
        .script(|seen| match &*seen.target {
            "/form" => redirect("302 Found", "/done"),
            _ => Reply::ok().after(5 * MS),
        })
        .run();
    let expected = ["POST /form", "GET /done"].repeat(3);
    assert_eq!(lines(&ran), expected);
    assert_eq!(ran.counts(), [6, 6, 6, 0, 0]);
    assert_eq!(ran.total.statuses[&302], 3);
    assert_eq!(fields(&ran, "Content-Length")[..2], ["3", ""]);
    assert_eq!(ran.accepted, 1, "all on one connection");
}

#[test]
fn redirects_of_an_open_load_are_planned_when_they_are_sent() {
    let mut plan = open(10, 4, SECOND);
    plan.client = following(5);
    let ran = World::new(plan)
        .script(|seen| match &*seen.target {
            "/" => redirect("307 Temporary Redirect", "/a"),
            "/a" => redirect("301 Moved Permanently", "b"),
            _ => Reply::ok(),
        })
        .run();
    assert_eq!(ran.counts(), [30, 30, 30, 0, 0]);
}

#[test]
fn a_redirect_that_leads_nowhere_is_an_error_and_the_connection_stays() {
    for (location, reason) in [
        ("/", "more than 3 redirects in a row"),
        ("ftp://a/", "the redirect leads to `ftp:`"),
        ("http://", "the Location of the redirect is no URL"),
    ] {
        let ran = World::new(user(&["/"], 2, following(3)))
            .script(move |_| redirect("302 Found", location))
            .run();
        let hops = if location == "/" { 4 } else { 1 };
        assert_eq!(ran.errors(), [(ErrorKind::Redirect, 2)], "{location}");
        assert_eq!(ran.counts(), [2 * hops, 2 * hops, 2 * hops - 2, 2, 0]);
        let example = &ran.total.errors[&ErrorKind::Redirect].example;
        assert!(example.starts_with(reason), "{example}");
        assert_eq!(ran.accepted, 1);
    }
}

#[test]
fn what_is_no_redirect_to_follow_is_a_response() {
    for (client, fields) in [
        (following(3), ""),
        (Client::default(), "Location: /other\r\n"),
        (cookies(), "Location: /other\r\n"),
    ] {
        let ran = World::new(user(&["/"], 2, client))
            .script(move |_| answer("302 Found", fields, b""))
            .run();
        assert_eq!(ran.counts(), [2, 2, 2, 0, 0]);
        assert_eq!(ran.total.statuses[&302], 2);
    }
}

#[test]
fn credentials_stay_with_their_origin_and_cookies_with_their_domain() {
    let client = Client {
        cookies: true,
        ..following(3)
    };
    let mut plan = user(&["/"], 1, client);
    for line in ["Authorization: secret", "Cookie: own=1", "X: y"] {
        plan.requests[0]
            .headers
            .push(line.parse().expect("a header"));
    }
    let mut world = World::new(plan);
    // The other port is another origin; its address is the second door's.
    world.doors = 2;
    let ran = world
        .script(|seen| match (seen.door, &*seen.target) {
            (0, "/") => answer(
                "302 Found",
                "Set-Cookie: set=2\r\nLocation: http://10.0.0.1:8001/\r\n",
                b"",
            ),
            (1, "/") => redirect("302 Found", "http://10.0.0.1/back"),
            _ => Reply::ok(),
        })
        .run();
    assert_eq!(lines(&ran), ["GET /", "GET /", "GET /back"]);
    assert_eq!(fields(&ran, "Authorization"), ["secret", "", ""]);
    // Cookies do not depend on the port (RFC 6265, section 8.5).
    assert_eq!(fields(&ran, "Cookie"), ["own=1", "set=2", "set=2"]);
    assert_eq!(fields(&ran, "X"), ["y", "y", "y"]);
    assert_eq!(
        fields(&ran, "Host"),
        ["10.0.0.1", "10.0.0.1:8001", "10.0.0.1"]
    );
}

fn digest() -> Client {
    Client {
        digest: Some("me:secret".parse().expect("credentials")),
        ..Client::default()
    }
}

#[test]
fn a_challenge_is_answered_once_and_what_follows_is_signed_ahead() {
    let ran = World::new(user(&["/a?b"], 3, digest()))
        .script(
            |seen| match seen.text.contains("\r\nAuthorization: Digest ") {
                true => Reply::ok(),
                false => answer(
                    "401 Unauthorized",
                    "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n",
                    b"",
                ),
            },
        )
        .run();
    assert_eq!(ran.counts(), [4, 4, 4, 0, 0]);
    assert_eq!(ran.total.statuses[&401], 1);
    let signed = fields(&ran, "Authorization");
    assert_eq!(signed[0], "");
    for (count, signed) in signed[1..].iter().enumerate() {
        assert!(
            signed.contains(&format!("nc=0000000{}", count + 1)),
            "{signed}"
        );
        assert!(signed.contains("uri=\"/a?b\""), "{signed}");
    }
}

#[test]
fn a_wrong_password_is_a_401_and_a_senseless_challenge_an_error() {
    let challenged = |challenge: &'static str| {
        World::new(user(&["/"], 2, digest()))
            .script(move |_| {
                let field = format!("WWW-Authenticate: {challenge}\r\n");
                answer("401 Unauthorized", &field, b"")
            })
            .run()
    };
    let refused = challenged("Digest realm=\"r\", nonce=\"n\"");
    // Each is challenged, signed and refused.
    assert_eq!(refused.counts(), [4, 4, 4, 0, 0]);
    // A server that calls every answer stale receives each request three times.
    let stale = challenged("Digest realm=\"r\", nonce=\"n\", stale=true");
    assert_eq!(stale.counts(), [6, 6, 6, 0, 0]);
    let basic = challenged("Basic realm=\"r\"");
    assert_eq!(basic.counts(), [2, 2, 2, 0, 0]);
    let senseless = challenged("Digest realm=\"r\", nonce=\"n\", algorithm=ROT13");
    assert_eq!(senseless.counts(), [2, 2, 0, 2, 0]);
    assert_eq!(senseless.errors(), [(ErrorKind::Challenge, 2)]);
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("no I/O");
    encoder.finish().expect("no I/O")
}

const GZIP: &str = "Content-Encoding: gzip\r\n";

#[test]
fn a_compressed_body_is_decoded_to_its_end() {
    let whole = gzip(&b"a body ".repeat(20_000));
    let ran = World::new(user(&["/"], 3, compressed()))
        .script(move |_| answer("200 OK", GZIP, &whole).drip(50, MS))
        .run();
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    let asked = fields(&ran, "Accept-Encoding");
    assert_eq!(asked, ["gzip, deflate, br, zstd"; 3]);
}

#[test]
fn a_body_that_is_not_what_it_says_is_an_error() {
    let whole = gzip(&b"a body ".repeat(100));
    let cut = whole[..whole.len() - 4].to_vec();
    let bomb = gzip(&vec![0; (256 << 20) + 1]);
    for (fields, body, reason) in [
        (GZIP, &b"no gzip at all"[..], "the body is no valid gzip"),
        (GZIP, &cut, "the body ends in the middle of its gzip"),
        (
            GZIP,
            &bomb,
            "the body of gzip decompresses to more than 268435456",
        ),
        (
            "Content-Encoding: lzw\r\n",
            b"x",
            "the body comes in the coding `lzw`",
        ),
    ] {
        let reply = answer("200 OK", fields, body);
        let ran = World::new(user(&["/"], 2, compressed()))
            .script(move |_| reply.clone())
            .run();
        assert_eq!(ran.errors(), [(ErrorKind::Content, 2)], "{reason}");
        assert_eq!(ran.counts(), [2, 2, 0, 2, 0]);
        let example = &ran.total.errors[&ErrorKind::Content].example;
        assert!(example.starts_with(reason), "{example}");
    }
}

#[test]
fn what_has_no_body_has_nothing_to_decode() {
    let mut plan = user(&["/"], 2, compressed());
    plan.requests[0].method = "HEAD".to_owned();
    let ran = World::new(plan)
        .script(|_| {
            Reply::raw(format!(
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n{GZIP}\r\n"
            ))
        })
        .run();
    assert_eq!(ran.counts(), [2, 2, 2, 0, 0]);
}

/// Keeps the last body that it received.
#[derive(Default)]
struct LastBody {
    body: Vec<u8>,
    exchanges: usize,
}

impl Sink for LastBody {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn status(&mut self, _status: u16) {
        self.body.clear();
    }

    fn body(&mut self, part: &[u8]) {
        self.body.extend_from_slice(part);
    }
}

impl Observer for LastBody {
    fn ended(&mut self, _exchange: &Exchange) {
        self.exchanges += 1;
    }
}

fn composed<'a>(method: &'a str, url: &'a Url) -> Composed<'a> {
    Composed {
        method,
        url,
        headers: &[("Authorization", "secret")],
        body: (method == "POST").then_some(b"name=me"),
        series: SeriesId::default(),
        timeout: None,
        resend: crate::Resend::default(),
    }
}

/// Creates a world with one iteration of one user.
fn one_iteration() -> World {
    let mut plan = closed(1, SECOND);
    plan.request_limit = Some(1);
    World::new(plan)
}

#[test]
fn a_script_logs_in_is_redirected_and_reads_what_was_compressed() {
    let body = b"{\"orders\": []}".repeat(500);
    let expected = body.clone();
    let zipped = gzip(&body);
    let world = one_iteration().script(move |seen| match &*seen.target {
        "/login" => answer(
            "303 See Other",
            "Set-Cookie: session=1\r\nLocation: /orders\r\n",
            b"",
        ),
        _ if !seen.text.contains("Cookie: session=1\r\n") => answer("403 Forbidden", "", b""),
        _ => answer("200 OK", GZIP, &zipped),
    });
    let ran = parallel::run(world, move |requester| {
        let expected = expected.clone();
        async move {
            let session = Session::new(&Client {
                cookies: true,
                follow_redirects: 5,
                compressed: true,
                digest: None,
            });
            let login: Url = "http://10.0.0.1/login".parse().expect("a URL");
            let mut observer = LastBody::default();
            let sent = session.request(&requester, composed("POST", &login), &mut observer);
            let end = sent.await.expect("a good request");
            assert_eq!(end.outcome, Outcome::Answered { status: 200 });
            assert_eq!(
                (end.url.as_str(), end.redirects),
                ("http://10.0.0.1/orders", 1)
            );
            assert!(observer.body == expected && observer.exchanges == 2);
        }
    });
    assert_eq!(lines(&ran), ["POST /login", "GET /orders"]);
    assert_eq!(fields(&ran, "Authorization"), ["secret", "secret"]);
    assert_eq!(ran.counts(), [2, 2, 2, 0, 0]);
}

#[test]
fn requests_of_a_session_beside_each_other_share_its_cookies() {
    let world = one_iteration().script(|seen| match &*seen.target {
        "/a" => answer("200 OK", "Set-Cookie: a=1; Path=/\r\n", b""),
        "/b" => answer("200 OK", "Set-Cookie: b=2; Path=/\r\n", b"").after(5 * MS),
        _ => Reply::ok(),
    });
    let ran = parallel::run(world, async |requester| {
        let session = Rc::new(Session::new(&cookies()));
        let get = |path: &'static str| {
            let (session, requester) = (Rc::clone(&session), requester.clone());
            async move {
                let url: Url = format!("http://10.0.0.1{path}").parse().expect("a URL");
                let observer = &mut ();
                let sent = session.request(&requester, composed("GET", &url), observer);
                sent.await.expect("a good request").outcome
            }
        };
        let mut both = [Box::pin(get("/a")), Box::pin(get("/b"))].map(Some);
        poll_fn(|cx| {
            for one in &mut both {
                if one
                    .as_mut()
                    .is_some_and(|one| one.as_mut().poll(cx).is_ready())
                {
                    *one = None;
                }
            }
            match both.iter().all(Option::is_none) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        assert_eq!(get("/c").await, Outcome::Answered { status: 200 });
    });
    assert_eq!(fields(&ran, "Cookie")[2], "a=1; b=2");
}

#[test]
fn a_request_of_a_session_that_can_not_be_written_is_not_sent() {
    let ran = parallel::run(one_iteration(), async |requester| {
        let session = Session::new(&following(3));
        let url: Url = "ftp://10.0.0.1/".parse().expect("a URL");
        let observer = &mut ();
        let sent = session.request(&requester, composed("GET", &url), observer);
        assert_eq!(sent.await, Err(ComposeError::Scheme("ftp".to_owned())));
    });
    assert!(ran.seen.is_empty());
}
