use super::*;

fn framing(fields: &str) -> Result<Framing, Malformed> {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    Ok(parse(head.as_bytes())?.expect("the head is whole").framing)
}

fn refused_status_line(line: &str) -> Malformed {
    parse(format!("{line}\r\n\r\n").as_bytes()).unwrap_err()
}

#[test]
fn reads_status_version_and_length() {
    let head = parse(b"HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nrest")
        .unwrap()
        .unwrap();
    assert_eq!((head.len, head.status, head.is_http10), (32, 404, false));
    let head = parse(b"HTTP/1.0 200 OK\n\nrest").unwrap().unwrap();
    assert_eq!((head.len, head.status, head.is_http10), (17, 200, true));
}

#[test]
fn any_minor_version_will_do() {
    assert!(
        !parse(b"HTTP/1.7 200 OK\r\n\r\n")
            .unwrap()
            .unwrap()
            .is_http10
    );
    assert!(matches!(
        refused_status_line("HTTP/1.x 200 OK"),
        Malformed::StatusLine(_)
    ));
}

#[test]
fn the_reason_may_be_missing() {
    for line in ["HTTP/1.1 200", "HTTP/1.1 200 "] {
        let head = parse(format!("{line}\r\n\r\n").as_bytes())
            .unwrap()
            .unwrap();
        assert_eq!(head.status, 200);
    }
}

#[test]
fn a_status_is_three_digits_from_100() {
    for good in ["100", "999"] {
        let head = format!("HTTP/1.1 {good} x\n\n");
        assert_eq!(
            parse(head.as_bytes()).unwrap().unwrap().status.to_string(),
            good
        );
    }
    for bad in ["099", "20", "2000", "2x0", "-20", "", " 200"] {
        let error = refused_status_line(&format!("HTTP/1.1 {bad}"));
        assert!(matches!(error, Malformed::StatusLine(_)), "{bad}: {error}");
    }
}

#[test]
fn other_protocols_are_named() {
    let error = refused_status_line("SSH-2.0-OpenSSH_9.2");
    assert_eq!(
        error.to_string(),
        r"the response is not HTTP/1: it begins with “SSH-2.0-OpenSSH_9.2\r\n\r\n”"
    );
    assert!(matches!(
        refused_status_line("HTTP/2 200"),
        Malformed::NotHttp(_)
    ));
}

#[test]
fn a_status_line_cut_short_by_its_end_is_refused() {
    assert_eq!(
        parse(b"HTTP/1.1\n\n"),
        Err(Malformed::StatusLine(Excerpt::of(b"HTTP/1.1")))
    );
}

#[test]
fn a_head_is_unknown_until_its_empty_line() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n c\r\n\r\n";
    for len in 0..head.len() {
        assert_eq!(parse(&head[..len]), Ok(None), "{len}");
    }
    assert!(parse(head).unwrap().is_some());
}

#[test]
fn lengths_are_digits() {
    assert_eq!(
        framing("content-LENGTH:\t17 \r\n").unwrap().length,
        Some(17)
    );
    assert_eq!(
        framing("Content-Length: 0017\r\n").unwrap().length,
        Some(17)
    );
    for bad in [
        "",
        "+5",
        "-5",
        "5 5",
        "0x5",
        "5;",
        "5,",
        "9223372036854775808",
        "99999999999999999999",
    ] {
        let error = framing(&format!("Content-Length: {bad}\r\n")).unwrap_err();
        assert_eq!(error, Malformed::ContentLength(Excerpt::of(bad.as_bytes())));
    }
    assert_eq!(
        framing("Content-Length: 9223372036854775807\r\n")
            .unwrap()
            .length,
        Some(i64::MAX as u64)
    );
}

#[test]
fn equal_lengths_are_one_and_others_are_refused() {
    assert_eq!(
        framing("Content-Length: 5\r\nContent-Length: 5\r\n")
            .unwrap()
            .length,
        Some(5)
    );
    assert_eq!(framing("Content-Length: 5, 5\r\n").unwrap().length, Some(5));
    let error = framing("Content-Length: 5\r\nContent-Length: 6\r\n").unwrap_err();
    assert_eq!(error, Malformed::ContentLengths(5, 6));
    assert_eq!(
        framing("Content-Length: 5, 6\r\n"),
        Err(Malformed::ContentLengths(5, 6))
    );
}

#[test]
fn the_last_coding_counts() {
    let coding = |value: &str| {
        framing(&format!("Transfer-Encoding: {value}\r\n"))
            .unwrap()
            .coding
    };
    assert_eq!(coding("chunked"), Some(Coding::Chunked));
    assert_eq!(coding("ChunKed"), Some(Coding::Chunked));
    assert_eq!(coding("gzip , chunked,"), Some(Coding::Chunked));
    assert_eq!(coding("chunked, gzip"), Some(Coding::Other));
    assert_eq!(
        coding("gzip\r\nTransfer-Encoding: chunked"),
        Some(Coding::Chunked)
    );
    assert_eq!(coding("identity"), None);
    assert_eq!(coding(""), None);
}

#[test]
fn connection_options_are_a_list_over_several_fields() {
    let options = |fields: &str| {
        let framing = framing(fields).unwrap();
        (framing.close, framing.keep_alive)
    };
    assert_eq!(options(""), (false, false));
    assert_eq!(options("Connection: Close\r\n"), (true, false));
    assert_eq!(
        options("CONNECTION: upgrade, Keep-Alive\r\n"),
        (false, true)
    );
    assert_eq!(options("Connection: close, keep-alive\r\n"), (true, true));
    assert_eq!(
        options("Connection: keep-alive\r\nConnection: x,close\r\n"),
        (true, true)
    );
    assert_eq!(
        options("Connection: closed\r\nProxy-Connection: close\r\n"),
        (false, false)
    );
}

#[test]
fn folds_belong_to_the_value_before_them() {
    let head = framing("Content-Length:\r\n 12\r\nX: y\r\n\tContent-Length: 99\r\n").unwrap();
    assert_eq!(head.length, Some(12));
    assert!(framing("Connection: keep-alive,\n close\n").unwrap().close);
    assert!(matches!(
        framing("Content-Length: 1\r\n 2\r\n"),
        Err(Malformed::ContentLength(_))
    ));
}

#[test]
fn a_line_that_is_no_field_is_passed_over() {
    let framing = framing("A: b\r\nthis is none\r\nContent-Length\r\nContent-Length : 3\r\n");
    assert_eq!(framing.unwrap().length, Some(3));
}
