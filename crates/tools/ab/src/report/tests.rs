use super::*;
use crate::arguments::parse;
use crate::ledger::{Ended, Records, RequestOutcome, Times};
use loadline_record::ErrorKind;

fn options(line: &str) -> Options {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words, |_| Ok(b"hello\n".to_vec())).expect("a run")
}

/// A tally of requests that take 10 ms, 20 ms and so on, one after another.
fn tally(options: &Options, bodies: &[u64]) -> Tally {
    let mut tally = Tally::new(options);
    tally.take(&Records {
        server: Some("nginx/1.22.1".to_owned()),
        ..Records::default()
    });
    let mut start_us = 0;
    for (index, &body_bytes) in bodies.iter().enumerate() {
        let total_us = 10_000 * (index as u64 + 1);
        let ended = Ended {
            times: Times {
                start_us,
                connect_us: 400,
                total_us,
                wait_us: total_us - 1_000,
            },
            bytes_in: body_bytes + 100,
            bytes_out: 140,
            outcome: RequestOutcome::Answered {
                status: 200,
                body_bytes,
                framed_bytes: body_bytes,
                kept: false,
            },
        };
        tally.take(&Records {
            ended: vec![ended],
            ..Records::default()
        });
        start_us += total_us;
    }
    tally
}

fn text(line: &str, bodies: &[u64]) -> String {
    let options = options(line);
    let tally = tally(&options, bodies);
    let elapsed_us = tally.end_us;
    Report {
        options: &options,
        tally: &tally,
        elapsed_us,
    }
    .text()
}

#[test]
fn a_report_is_that_of_ab() {
    insta::assert_snapshot!(text(
        "-n 4 -c 2 http://127.0.0.1:8080/a?b",
        &[60, 60, 60, 60]
    ));
}

#[test]
fn bodies_failures_and_kept_connections_have_lines_of_their_own() {
    insta::assert_snapshot!(text(
        "-k -S -n 3 -p body http://127.0.0.1:8080/",
        &[60, 61, 60]
    ));
}

#[test]
fn one_request_has_no_percentages_and_none_has_no_times() {
    let one = text("http://a/", &[60]);
    assert!(
        one.contains("Total:         10   10   0.0     10      10\n"),
        "{one}"
    );
    assert!(!one.contains("Percentage"));
    let none = text("http://a/", &[]);
    assert!(none.contains("Document Length:        0 bytes\n"), "{none}");
    assert!(!none.contains("per second") && !none.contains("Connection Times"));
    assert!(none.ends_with("HTML transferred:       0 bytes\n"));
}

#[test]
fn flags_leave_out_what_they_say() {
    let text = text("-l -d -n 2 http://a/", &[60, 61]);
    assert!(text.contains("Document Length:        Variable\n"));
    assert!(text.contains("Failed requests:        0\n"));
    assert!(!text.contains("Percentage") && !text.contains("Keep-Alive"));
}

#[test]
fn mean_and_median_apart_are_doubted() {
    let spread = |mean_us, median_us, deviation_us| Spread {
        mean_us,
        median_us,
        deviation_us,
        ..Spread::default()
    };
    let doubt = |spread| doubt("the total time", &spread);
    assert_eq!(doubt(spread(10_000, 9_000, 1_000.0)), "");
    let warning = doubt(spread(10_000, 8_000, 1_500.0));
    assert!(warning.starts_with("WARNING: The median and mean for the total time are not within"));
    let error = doubt(spread(8_000, 10_000, 900.0));
    assert!(error.starts_with("ERROR: The median and mean for the total time are more than twice"));
    assert!(error.ends_with("\n       deviation apart. These results are NOT reliable.\n"));
}

#[test]
fn tls_has_its_lines() {
    let options = options("https://a.example/");
    let mut tally = tally(&options, &[1]);
    let agreed = Agreed {
        version: "TLSv1_3".to_owned(),
        suite: "TLS13_AES_128_GCM_SHA256".to_owned(),
        group: "secp256r1".to_owned(),
        certificate: Vec::new(),
    };
    let ended = Ended {
        times: Times::default(),
        bytes_in: 0,
        bytes_out: 0,
        outcome: RequestOutcome::Failed {
            body_bytes: None,
            kind: ErrorKind::Tls,
            os_error: None,
            reason: String::new(),
        },
    };
    tally.take(&Records {
        agreed: Some(agreed),
        ended: vec![ended],
        ..Records::default()
    });
    let report = Report {
        options: &options,
        tally: &tally,
        elapsed_us: 1,
    };
    let text = report.text();
    for line in [
        "SSL/TLS Protocol:       TLSv1.3,TLS_AES_128_GCM_SHA256,0,128\n",
        "Server Temp Key:        ECDH prime256v1 256 bits\n",
        "TLS Server Name:        a.example\n\n",
        "   (Connect: 1, Receive: 0, Length: 0, Exceptions: 0)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
