//! Requests that are sent together.

use loadline_metrics::SeriesId;
use loadline_wire::{Expect, h2};

/// Requests that are sent together on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The endpoint's index in the run's list.
    pub endpoint: usize,
    /// The bytes of all requests, one after the other; empty with HTTP/2.
    pub bytes: &'a [u8],
    /// Bytes that follow, sent without a copy: the body of the last request, if it is long and
    /// shared.
    pub tail: &'a [u8],
    /// The only request, if it is sent over HTTP/2; its part ends after its last byte.
    pub http2: Option<&'a h2::Request>,
    /// The end of each request; never empty.
    pub parts: &'a [Part],
    /// The condition for sending the requests again.
    pub resend: Resend,
}

/// The condition for sending requests again after their connection of HTTP/1.1, which had served a
/// response before, ended without a byte of their responses.
///
/// Requests of which no byte was written are always sent again. So are requests that follow a
/// response that announces the close. Over HTTP/2 the code of the reset matters as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resend {
    /// If it is known that the server has read nothing of them, so that a request is processed
    /// once.
    #[default]
    Unread,
    /// Never, if a byte of them was written; not over HTTP/2 either, like hyper.
    Never,
    /// Never, if a byte of them was written; over HTTP/2 by Go's rules.
    Unwritten,
    /// Always: the server may have processed them. Over HTTP/2 by Go's rules.
    Unanswered,
}

impl Resend {
    /// True if a request is sent again after its stream of HTTP/2 ended like this. A server that
    /// reports a request as unprocessed is believed; Go also sends again after a reset with
    /// PROTOCOL_ERROR (`canRetryError` in its `http2/transport.go`).
    pub(crate) fn goes_again(self, ended: &h2::Ended) -> bool {
        match self {
            Resend::Never => false,
            Resend::Unread => ended.is_unprocessed(),
            Resend::Unwritten | Resend::Unanswered => {
                let reset = h2::Outcome::Reset(h2::ErrorCode::PROTOCOL_ERROR);
                ended.is_unprocessed() || ended.outcome == reset && ended.is_unanswered()
            }
        }
    }
}

/// One request among the bytes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset after its last byte.
    pub end: usize,
    /// The kind of response to expect.
    pub expect: Expect,
    /// The series that counts it, if the run has series.
    pub series: SeriesId,
    /// Its index among the plan's requests; `None` if the plan does not contain it.
    pub request: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::h2::{Ended, ErrorCode, Outcome as End};
    use super::*;

    fn ended(outcome: End, status: u16, interim: u32) -> Ended {
        Ended {
            outcome,
            status,
            is_sent: true,
            head_len: 0,
            body_len: 0,
            interim,
        }
    }

    // `tests/dropped.rs` compares the last three with the tools that they imitate.
    #[test]
    fn whoever_sends_again_over_http2_does_so_before_a_response_alone() {
        let refused = End::Reset(ErrorCode::REFUSED_STREAM);
        let protocol = End::Reset(ErrorCode::PROTOCOL_ERROR);
        let gone = End::GoneAway(ErrorCode::NO_ERROR);
        let internal = End::Reset(ErrorCode::INTERNAL_ERROR);
        let of_all = [refused, gone, protocol, internal, End::ConnectionLost];
        for (resend, expected) in [
            (Resend::Unread, [true, true, false, false, false]),
            (Resend::Never, [false; 5]),
            (Resend::Unwritten, [true, true, true, false, false]),
            (Resend::Unanswered, [true, true, true, false, false]),
        ] {
            let untouched = of_all
                .clone()
                .map(|end| resend.goes_again(&ended(end, 0, 0)));
            assert_eq!(untouched, expected, "{resend:?}");
            for (status, interim) in [(200, 0), (0, 1)] {
                let begun = of_all
                    .clone()
                    .map(|end| resend.goes_again(&ended(end, status, interim)));
                assert_eq!(begun, [false; 5], "{resend:?}");
            }
        }
    }
}
