//! Each option by query and by header.

use crate::client::{Answer, Client, End, plain, start};
use loadline_testbed::{Config, StatusCode, response_options};

/// Returns the responses to an option set by the query, by a header, and by the server's defaults;
/// each on a connection of its own.
fn three_ways(option: &str, value: &str) -> [Answer; 3] {
    let server = plain();
    let by_query = Client::connect(&server).get(&format!("/?{option}={value}"));
    let mut client = Client::connect(&server);
    client.send_get_with("/", &format!("X-Loadline-{option}: {value}\r\n"));
    let by_header = client.answer();

    let mut config = Config::default();
    config.defaults.set(option, value).expect("an option");
    let server = start(config);
    [by_query, by_header, Client::connect(&server).get("/")]
}

fn each_way(option: &str, value: &str, check: impl Fn(&Answer)) {
    for answer in &three_ways(option, value) {
        check(answer);
    }
}

#[test]
fn without_options_sixty_bytes_come_with_a_length() {
    let server = plain();
    let mut client = Client::connect(&server);
    let answer = client.get("/any/path");
    assert_eq!(answer.status_line, "HTTP/1.1 200 OK");
    assert_eq!(answer.body, [b'x'; 60]);
    assert_eq!(answer.header("content-length"), Some("60"));
    assert_eq!(answer.header("x-arrival-gap-ns"), Some("0"));
    assert_eq!(answer.header("connection"), None);
    assert_eq!(client.get("/").status(), 200, "the connection goes on");
}

#[test]
fn size_sets_the_body() {
    for size in [0, 1, 1_000, 65_536, 65_537, 3_000_000] {
        each_way("size", &size.to_string(), |answer| {
            assert_eq!(answer.body.len(), size)
        });
    }
    each_way("size", "64k", |answer| {
        assert_eq!(answer.body.len(), 64_000)
    });
}

#[test]
fn status_sets_the_status() {
    each_way("status", "503", |answer| {
        assert_eq!(answer.status_line, "HTTP/1.1 503 Service Unavailable");
        assert_eq!(answer.body.len(), 60);
    });
    for bodiless in ["204", "304"] {
        each_way("status", bodiless, |answer| {
            assert_eq!(answer.status().to_string(), bodiless);
            assert_eq!(answer.header("content-length"), None);
        });
    }
}

#[test]
fn an_answer_without_a_body_leaves_the_connection_in_step() {
    let server = plain();
    let mut client = Client::connect(&server);
    for target in [
        "/?status=204",
        "/?status=304",
        "/?status=204&chunked=1",
        "/?size=0",
        "/",
    ] {
        client.send_get(target);
    }
    let statuses: Vec<u16> = (0..5).map(|_| client.answer().status()).collect();
    assert_eq!(statuses, [204, 304, 204, 200, 200]);
}

#[test]
fn version_1_0_closes_unless_told_otherwise() {
    each_way("version", "1.0", |answer| {
        assert_eq!(answer.status_line, "HTTP/1.0 200 OK");
        assert_eq!(answer.header("connection"), Some("close"));
        assert_eq!(answer.body.len(), 60);
    });
    let server = plain();
    let mut client = Client::connect(&server);
    let answer = client.get("/?version=1.0&close=0");
    assert_eq!(answer.header("connection"), Some("keep-alive"));
    assert_eq!(client.get("/").status(), 200);
}

#[test]
fn version_1_0_knows_no_chunks() {
    let server = plain();
    for target in [
        "/?version=1.0&chunked=1&size=9",
        "/?version=1.0&trailers=1&size=9",
    ] {
        let answer = Client::connect(&server).get(target);
        assert_eq!(answer.header("transfer-encoding"), None);
        assert_eq!(answer.header("content-length"), None);
        assert_eq!(answer.body.len(), 9);
    }
}

#[test]
fn chunked_sends_chunks() {
    each_way("chunked", "1", |answer| assert_eq!(answer.chunks, [60]));
    let server = plain();
    let mut client = Client::connect(&server);
    assert_eq!(
        client.get("/?chunked=1&size=10000").chunks,
        [4096, 4096, 1808]
    );
    let empty = client.get("/?chunked=1&size=0");
    assert_eq!(empty.header("transfer-encoding"), Some("chunked"));
    assert_eq!(client.get("/").status(), 200, "the connection goes on");
}

#[test]
fn trailers_follow_the_last_chunk() {
    let expected = [("X-Trailer".to_owned(), "end".to_owned())];
    each_way("trailers", "1", |answer| {
        assert_eq!(answer.header("trailer"), Some("X-Trailer"));
        assert_eq!(
            (answer.chunks.as_slice(), answer.trailers.as_slice()),
            (&[60][..], &expected[..])
        );
    });
    let server = plain();
    let mut client = Client::connect(&server);
    assert_eq!(
        client.get("/?trailers=1&size=10000").chunks,
        [4096, 4096, 1808]
    );
    assert_eq!(client.get("/").status(), 200, "the connection goes on");
}

#[test]
fn until_close_says_no_length() {
    each_way("until-close", "1", |answer| {
        assert_eq!(answer.status_line, "HTTP/1.1 200 OK");
        assert_eq!(answer.header("content-length"), None);
        assert_eq!(answer.header("connection"), Some("close"));
        assert_eq!(answer.body.len(), 60);
    });
}

#[test]
fn interim_answers_come_first() {
    each_way("interim", "103", |answer| {
        assert_eq!(answer.status_line, "HTTP/1.1 103 Early Hints")
    });
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get("/?interim=100,103");
    client.send_get("/");
    let statuses: Vec<u16> = (0..4).map(|_| client.answer().status()).collect();
    assert_eq!(statuses, [100, 103, 200, 200]);
    assert_eq!(server.stop().answers, 2, "interim answers are not counted");
}

#[test]
fn close_announces_the_end() {
    each_way("close", "1", |answer| {
        assert_eq!(answer.header("connection"), Some("close"))
    });
    let server = plain();
    let mut client = Client::connect(&server);
    assert_eq!(client.get("/?close=1").status(), 200);
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
}

#[test]
fn close_after_counts_the_answers_of_a_connection() {
    let mut config = Config::default();
    config.defaults.set("close-after", "3").expect("an option");
    let server = start(config);
    for _ in 0..2 {
        let mut client = Client::connect(&server);
        let announced = [(); 3].map(|()| client.get("/").header("connection").is_some());
        assert_eq!(announced, [false, false, true]);
        assert_eq!(client.read_to_end(), (vec![], End::Eof));
    }
    assert_eq!(
        Client::connect(&server)
            .get("/?close-after=1")
            .header("connection"),
        Some("close")
    );
}

#[test]
fn every_limits_the_status_to_each_nth_request() {
    let server = plain();
    let mut client = Client::connect(&server);
    let statuses: Vec<u16> = (0..9)
        .map(|_| client.get("/?status=500&every=3").status())
        .collect();
    assert_eq!(statuses, [200, 200, 500, 200, 200, 500, 200, 200, 500]);
}

#[test]
fn probability_limits_the_status_by_the_seed() {
    let draw = |seed| {
        let mut config = Config {
            seed,
            ..Config::default()
        };
        config.defaults.status = StatusCode::BAD_GATEWAY;
        config.defaults.probability = 0.5;
        let server = start(config);
        let mut client = Client::connect(&server);
        (0..64)
            .map(|_| client.get("/").status())
            .collect::<Vec<_>>()
    };
    let statuses = draw(1);
    assert!(
        statuses.contains(&200) && statuses.contains(&502),
        "{statuses:?}"
    );
    assert_eq!(statuses, draw(1));
    assert_ne!(statuses, draw(2));
}

#[test]
fn headers_have_the_last_word() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get_with("/?size=5&status=404", "x-loadline-size: 7\r\n");
    let answer = client.answer();
    assert_eq!((answer.status(), answer.body.len()), (404, 7));
}

#[test]
fn a_option_that_cannot_be_read_is_a_400_that_says_what_it_takes() {
    let server = plain();
    let mut client = Client::connect(&server);
    for option in response_options() {
        let answer = client.get(&format!("/?{}=%3F", option.name));
        let expected = format!(
            "`{}` does not take `?`. It takes {}.\n",
            option.name, option.takes
        );
        assert_eq!((answer.status(), answer.text()), (400, expected));
        client.send_get_with("/", &format!("X-Loadline-{}: ?\r\n", option.name));
        assert_eq!(client.answer().status(), 400);
    }
    let answer = client.get("/?seize=5");
    assert_eq!(answer.status(), 400);
    assert!(
        answer
            .text()
            .starts_with("There is no option `seize`. There are size, json, status, ")
    );
}
