//! Counts requests as ab does, and detects when ab would give up.

use super::ledger::{Ended, Records, RequestOutcome, Times};
use super::options::Options;
use loadline_engine::Agreed;
use loadline_record::ErrorKind;

/// The number of failures to connect that ab tolerates.
const MOST_FAILURES: u64 = 10;
/// The portable runtime's message for a timeout, and its number.
const EXPIRED: (&str, i32) = ("The timeout specified has expired", 70007);

/// The counts of the requests so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// True if failures to receive are tolerated.
    goes_on: bool,
    /// True if bodies may differ in length.
    variable_length: bool,
    verbosity: i64,
    /// True if connections serve more than one request. If not, ab reads up to the end of each
    /// connection and does not decode chunks.
    keepalive: bool,
    /// The `Server` of the first response.
    pub(super) server: String,
    /// The parameters of the first TLS connection.
    pub(super) agreed: Option<Agreed>,
    /// The size of the first body in bytes.
    pub(super) document_bytes: Option<u64>,
    pub(super) failures: Failures,
    /// Requests that could not be sent completely.
    pub(super) write_errors: u64,
    pub(super) non_2xx: u64,
    /// Responses after which the connection was kept alive.
    pub(super) kept: u64,
    pub(super) bytes_in: u64,
    pub(super) body_bytes: u64,
    pub(super) bytes_out: u64,
    /// The end of the last request, in microseconds from the run's begin.
    pub(super) end_us: u64,
    /// The times of each completed request.
    pub(super) times: Vec<Times>,
    /// The reason why the run is given up, if it is.
    pub(super) fatal: Option<Fatal>,
    /// Messages for stderr.
    pub(super) complaints: String,
    /// Messages for stdout.
    pub(super) remarks: Vec<u8>,
}

/// Failed requests by kind. One request may be of two kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Failures {
    pub(super) connect: u64,
    pub(super) receive: u64,
    pub(super) length: u64,
    pub(super) exceptions: u64,
}

impl Failures {
    /// Returns the sum of all kinds.
    pub(super) fn sum(&self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

/// The reason why ab gives up a run, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fatal {
    pub(super) text: String,
    pub(super) code: u8,
}

impl Fatal {
    /// Creates the error from the failed call, the reason and its number; the exit code is the
    /// number's last eight bits.
    fn new(what: &str, reason: &str, number: i32) -> Self {
        Fatal {
            text: format!("{what}: {reason} ({number})\n"),
            code: (number & 0xff) as u8,
        }
    }
}

impl Tally {
    pub(super) fn new(options: &Options) -> Self {
        Tally {
            goes_on: options.goes_on,
            variable_length: options.variable_length,
            verbosity: options.verbosity,
            keepalive: options.keepalive,
            ..Tally::default()
        }
    }

    /// Counts the bytes of requests that were sent and have no response at the end of the run, each
    /// of this length.
    pub(super) fn left(&mut self, requests: u64, bytes: usize) {
        self.bytes_out += requests * bytes as u64;
    }

    /// Returns the number of completed requests.
    pub(super) fn done(&self) -> u64 {
        self.times.len() as u64
    }

    /// Adds the records of workers, up to the event that ends the run.
    pub(super) fn take(&mut self, records: &Records) {
        if let Some(server) = &records.server
            && self.server.is_empty()
        {
            self.server.clone_from(server);
        }
        self.agreed = self.agreed.take().or_else(|| records.agreed.clone());
        self.remarks.extend(&records.transcript);
        let mut ended: Vec<&Ended> = records.ended.iter().collect();
        if self.document_bytes.is_none() {
            // The first response of all workers is the one that others are compared with.
            ended.sort_by_key(|ended| ended.times.start_us + ended.times.total_us);
        }
        ended.into_iter().for_each(|ended| self.end(ended));
    }

    fn end(&mut self, ended: &Ended) {
        if self.fatal.is_some() {
            return;
        }
        self.bytes_in += ended.bytes_in;
        self.bytes_out += ended.bytes_out;
        match &ended.outcome {
            RequestOutcome::Answered {
                status,
                body_bytes,
                framed_bytes,
                kept,
            } => {
                let bytes = if self.keepalive {
                    body_bytes
                } else {
                    framed_bytes
                };
                self.answered(*status, *bytes, *kept);
            }
            RequestOutcome::Failed {
                kind: ErrorKind::Read,
                os_error: None,
                body_bytes: Some(bytes),
                ..
            } => self.ended_early(*bytes),
            RequestOutcome::Failed {
                kind,
                os_error,
                reason,
                ..
            } => self.failed(*kind, *os_error, reason),
        }
        if self.fatal.is_none() {
            let end_us = ended.times.start_us + ended.times.total_us;
            self.end_us = self.end_us.max(end_us);
            self.times.push(ended.times);
        }
    }

    fn answered(&mut self, status: u16, body_bytes: u64, kept: bool) {
        self.body_bytes += body_bytes;
        self.kept += u64::from(kept);
        self.non_2xx += u64::from(!(200..300).contains(&status));
        let document = *self.document_bytes.get_or_insert(body_bytes);
        self.compare_length(document == body_bytes);
    }

    /// Counts a response whose body ended early; only its length can make it a failure.
    fn ended_early(&mut self, body_bytes: u64) {
        self.body_bytes += body_bytes;
        let document = *self.document_bytes.get_or_insert(body_bytes);
        self.compare_length(document == body_bytes);
    }

    fn compare_length(&mut self, is_same: bool) {
        if !is_same && !self.variable_length {
            self.failures.length += 1;
        }
    }

    fn failed(&mut self, kind: ErrorKind, os_error: Option<i32>, reason: &str) {
        // ab does not distinguish faults of its own machine: it counts these as failed connections.
        let kind = match kind {
            ErrorKind::Descriptors | ErrorKind::Ports => ErrorKind::Connect,
            ErrorKind::Resolve
            | ErrorKind::Connect
            | ErrorKind::Tls
            | ErrorKind::Write
            | ErrorKind::Read
            | ErrorKind::Protocol
            | ErrorKind::StreamReset
            | ErrorKind::GoAway
            | ErrorKind::Redirect
            | ErrorKind::Challenge
            | ErrorKind::Content
            | ErrorKind::Timeout
            | ErrorKind::Aborted
            | ErrorKind::Other => kind,
        };
        match (kind, os_error) {
            (ErrorKind::Connect, Some(number)) if !is_detected_late(number) => {
                self.no_connection(number, reason);
            }
            (ErrorKind::Connect, None) => self.fail_to_connect(reason),
            (ErrorKind::Connect | ErrorKind::Read, Some(number)) => {
                self.no_receive("apr_socket_recv", &words_of(number), number);
            }
            // A response that ends early has another length.
            (ErrorKind::Read, None) => self.cut_short(),
            (ErrorKind::Timeout, _) => {
                self.no_receive("apr_pollset_poll", EXPIRED.0, EXPIRED.1);
            }
            (ErrorKind::Write, _) => {
                self.write_errors += 1;
                self.remarks.extend(b"Send request failed!\n");
                self.cut_short();
            }
            (ErrorKind::Tls, _) => {
                self.failures.connect += 1;
                self.complaints.push_str("SSL handshake failed (1).\n");
            }
            (ErrorKind::Protocol, _) => {
                self.non_2xx += 1;
                self.failures.exceptions += 1;
            }
            (
                ErrorKind::Resolve
                | ErrorKind::Descriptors
                | ErrorKind::Ports
                | ErrorKind::StreamReset
                | ErrorKind::GoAway
                | ErrorKind::Redirect
                | ErrorKind::Challenge
                | ErrorKind::Content
                | ErrorKind::Aborted
                | ErrorKind::Other,
                _,
            ) => self.failures.exceptions += 1,
        }
    }

    /// Counts a connection that failed at once; ab tolerates a few of these.
    fn no_connection(&mut self, number: i32, reason: &str) {
        self.failures.connect += 1;
        if self.failures.sum() > MOST_FAILURES {
            self.complaints
                .push_str("\nTest aborted after 10 failures\n\n");
            self.fatal = Some(Fatal::new(
                "apr_socket_connect()",
                &words_of(number),
                number,
            ));
        } else if self.verbosity >= 1 {
            self.complaints.push_str(&format!("{reason}\n"));
        }
    }

    /// Counts a failure without an `errno`: a timeout, or a proxy that opened no tunnel.
    fn fail_to_connect(&mut self, reason: &str) {
        if self.goes_on {
            self.failures.connect += 1;
            return;
        }
        self.fatal = Some(Fatal {
            text: format!("apr_socket_connect(): {reason}\n"),
            code: 1,
        });
    }

    /// Counts a failure to receive; it ends the run, unless such failures are tolerated.
    fn no_receive(&mut self, what: &str, reason: &str, number: i32) {
        let fatal = Fatal::new(what, reason, number);
        if !self.goes_on {
            self.fatal = Some(fatal);
            return;
        }
        self.failures.receive += 1;
        if self.verbosity >= 1 {
            self.complaints.push_str(&fatal.text);
        }
        self.cut_short();
    }

    /// Counts a body that is shorter than the document, if the document's length is known.
    fn cut_short(&mut self) {
        self.compare_length(self.document_bytes.is_none());
    }
}

/// True if connecting fails with this number only after some time: ab then detects the failure when
/// it tries to receive.
fn is_detected_late(number: i32) -> bool {
    const RESET: i32 = 104;
    const TIMED_OUT: i32 = 110;
    const REFUSED: i32 = 111;
    const NO_ROUTE: i32 = 113;
    matches!(number, RESET | TIMED_OUT | REFUSED | NO_ROUTE)
}

/// Returns the system's message for an `errno`.
fn words_of(number: i32) -> String {
    super::arguments::reason(&std::io::Error::from_raw_os_error(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::{AnyTally, TallyCodec};

    fn tally(goes_on: bool) -> Tally {
        Tally {
            goes_on,
            verbosity: 1,
            ..Tally::default()
        }
    }

    fn ended(outcome: RequestOutcome) -> Records {
        let ended = Ended {
            times: Times {
                start_us: 10,
                connect_us: 1,
                total_us: 5,
                wait_us: 2,
            },
            bytes_in: 100,
            bytes_out: 50,
            outcome,
        };
        Records {
            ended: vec![ended],
            ..Records::default()
        }
    }

    fn answer(status: u16, body_bytes: u64) -> Records {
        ended(RequestOutcome::Answered {
            status,
            body_bytes,
            framed_bytes: body_bytes,
            kept: true,
        })
    }

    fn failure(kind: ErrorKind, os_error: Option<i32>) -> Records {
        ended(RequestOutcome::Failed {
            kind,
            os_error,
            reason: "why".to_owned(),
            body_bytes: None,
        })
    }

    #[test]
    fn records_come_back_from_another_process_as_they_were() {
        let mut records = answer(200, 5);
        let failed = failure(ErrorKind::Read, Some(104));
        records.ended.extend(failed.ended);
        records.server = Some("nginx".to_owned());
        records.agreed = Some(loadline_engine::Agreed::default());
        records.transcript = b"LOG: header\n".to_vec();
        let sent = AnyTally::new(records.clone()).encode().expect("bytes");
        let codec = TallyCodec::of::<Records>();
        let came = codec.decode(&sent).expect("records");
        assert_eq!(came.get(), Some(&records));
    }

    #[test]
    fn records_that_a_merger_joins_are_those_of_one_process() {
        let records = |start_us| {
            let mut records = answer(200, start_us % 7);
            records.ended[0].times.start_us = start_us;
            records.server = Some("nginx".to_owned());
            records.transcript = b"LOG: header\n".to_vec();
            records
        };
        let mut whole = Records::default();
        (0..40).for_each(|start_us| loadline_engine::Tally::merge(&mut whole, records(start_us)));
        // The last ones come first, of four parts in turn.
        let tallies = (0..40).rev().map(|start_us| {
            let part = start_us as usize % 4;
            (part, AnyTally::new(records(start_us)))
        });
        let names: Vec<String> = (0..4).map(|part| format!("agent {part}")).collect();
        let codec = TallyCodec::of::<Records>();
        let came = codec.through_merger(&tallies.collect::<Vec<_>>(), &names);
        let mut came = came.expect("records").get::<Records>().cloned();
        if let Some(came) = &mut came {
            came.ended.sort_by_key(|ended| ended.times.start_us);
        }
        assert_eq!(came, Some(whole));
    }

    #[test]
    fn answers_that_all_end_early_alike_have_the_length_that_came() {
        let cut = |bytes| {
            ended(RequestOutcome::Failed {
                kind: ErrorKind::Read,
                os_error: None,
                reason: String::new(),
                body_bytes: Some(bytes),
            })
        };
        let mut tally = tally(false);
        (0..3).for_each(|_| tally.take(&cut(3)));
        assert_eq!((tally.document_bytes, tally.failures.sum()), (Some(3), 0));
        tally.take(&cut(2));
        assert_eq!((tally.failures.length, tally.done()), (1, 4));
        assert_eq!(tally.body_bytes, 11);
    }

    #[test]
    fn chunks_are_part_of_a_body_that_the_connection_ends() {
        let chunked = || {
            ended(RequestOutcome::Answered {
                status: 200,
                body_bytes: 53,
                framed_bytes: 69,
                kept: false,
            })
        };
        let (mut closing, mut kept) = (tally(false), tally(false));
        kept.keepalive = true;
        closing.take(&chunked());
        kept.take(&chunked());
        assert_eq!((closing.document_bytes, closing.body_bytes), (Some(69), 69));
        assert_eq!((kept.document_bytes, kept.body_bytes), (Some(53), 53));
    }

    #[test]
    fn what_was_sent_for_nothing_is_sent() {
        let mut tally = tally(false);
        tally.take(&answer(200, 1));
        tally.left(2, 40);
        assert_eq!((tally.bytes_out, tally.done()), (130, 1));
    }

    #[test]
    fn the_first_body_is_the_measure_of_all() {
        let mut tally = tally(false);
        [(200, 60), (200, 60), (404, 10), (301, 60)]
            .into_iter()
            .for_each(|(status, body)| tally.take(&answer(status, body)));
        assert_eq!(tally.document_bytes, Some(60));
        assert_eq!((tally.failures.length, tally.failures.sum()), (1, 1));
        assert_eq!((tally.done(), tally.non_2xx, tally.kept), (4, 2, 4));
        assert_eq!(
            (tally.bytes_in, tally.body_bytes, tally.bytes_out),
            (400, 190, 200)
        );
        assert_eq!(tally.end_us, 15);
        let mut any = Tally {
            variable_length: true,
            ..Tally::default()
        };
        any.take(&answer(200, 1));
        any.take(&answer(200, 2));
        assert_eq!(any.failures.sum(), 0);
    }

    #[test]
    fn a_reset_ends_the_run_unless_it_is_put_up_with() {
        let mut given_up = tally(false);
        given_up.take(&answer(200, 60));
        given_up.take(&failure(ErrorKind::Read, Some(104)));
        given_up.take(&answer(200, 60));
        let fatal = given_up.fatal.as_ref().expect("the end");
        assert_eq!(
            fatal.text,
            "apr_socket_recv: Connection reset by peer (104)\n"
        );
        assert_eq!((fatal.code, given_up.done()), (104, 1));
        let mut patient = tally(true);
        patient.take(&answer(200, 60));
        patient.take(&failure(ErrorKind::Read, Some(104)));
        assert_eq!(patient.fatal, None);
        let failures = patient.failures;
        assert_eq!(
            (failures.receive, failures.length, patient.done()),
            (1, 1, 2)
        );
        assert_eq!(
            patient.complaints,
            "apr_socket_recv: Connection reset by peer (104)\n"
        );
    }

    #[test]
    fn a_refused_connection_shows_when_receiving() {
        let mut tally = tally(false);
        tally.take(&failure(ErrorKind::Connect, Some(111)));
        let fatal = tally.fatal.expect("the end");
        assert_eq!(fatal.text, "apr_socket_recv: Connection refused (111)\n");
        assert_eq!(fatal.code, 111);
    }

    #[test]
    fn ten_connections_may_fail_at_once() {
        let mut tally = tally(false);
        for _ in 0..10 {
            tally.take(&failure(ErrorKind::Connect, Some(101)));
        }
        assert_eq!((tally.fatal.clone(), tally.failures.connect), (None, 10));
        tally.take(&failure(ErrorKind::Connect, Some(101)));
        assert_eq!(tally.fatal.expect("the end").code, 101);
        assert!(
            tally
                .complaints
                .ends_with("\nTest aborted after 10 failures\n\n")
        );
    }

    #[test]
    fn time_that_is_over_ends_the_run() {
        let mut tally = tally(false);
        tally.take(&failure(ErrorKind::Timeout, None));
        let fatal = tally.fatal.expect("the end");
        assert_eq!(
            fatal.text,
            "apr_pollset_poll: The timeout specified has expired (70007)\n"
        );
        assert_eq!(fatal.code, 119);
    }

    #[test]
    fn other_failures_are_done_and_counted() {
        let mut tally = tally(false);
        for (kind, os_error) in [
            (ErrorKind::Read, None),
            (ErrorKind::Tls, None),
            (ErrorKind::Protocol, None),
            (ErrorKind::Write, Some(32)),
        ] {
            tally.take(&failure(kind, os_error));
        }
        let expected = Failures {
            connect: 1,
            exceptions: 1,
            ..Failures::default()
        };
        assert_eq!((tally.failures, tally.done()), (expected, 4));
        assert_eq!((tally.write_errors, tally.non_2xx), (1, 1));
        assert_eq!(tally.remarks, b"Send request failed!\n");
        tally.take(&answer(200, 60));
        tally.take(&failure(ErrorKind::Read, None));
        assert_eq!(tally.failures.length, 1);
    }
}
