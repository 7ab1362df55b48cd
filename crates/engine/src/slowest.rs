//! The slowest requests of an interval: a bounded number for each worker.
//!
//! Nothing is kept unless it is asked for. Then a request costs a comparison with the fastest of
//! those kept; only one that is slower takes its place.

use loadline_metrics::SeriesId;
use loadline_record::Exchange;

/// The most requests that are kept.
const MOST: usize = 16;

/// The slowest requests since the last time they were taken.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    kept: Vec<SlowExchange>,
    /// A request has to take longer than this; 0 while there is room.
    beyond_ns: u64,
}

/// A request that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlowExchange {
    pub(crate) exchange: Exchange,
    pub(crate) series: SeriesId,
    pub(crate) served_before: Option<u64>,
}

impl Slowest {
    /// Keeps a request if it is one of the slowest.
    #[inline]
    pub(crate) fn observe(&mut self, request: &SlowExchange) {
        if request.exchange.response_ns() > self.beyond_ns {
            self.keep(request);
        }
    }

    #[cold]
    fn keep(&mut self, request: &SlowExchange) {
        if self.kept.len() < MOST {
            self.kept.push(*request);
        } else if let Some(fastest) = self.fastest() {
            self.kept[fastest] = *request;
        }
        if self.kept.len() == MOST {
            let fastest = self.fastest().map(|index| &self.kept[index]);
            self.beyond_ns = fastest.map_or(0, |kept| kept.exchange.response_ns());
        }
    }

    fn fastest(&self) -> Option<usize> {
        let kept = self.kept.iter().enumerate();
        let fastest = kept.min_by_key(|(_, kept)| kept.exchange.response_ns());
        fastest.map(|(index, _)| index)
    }

    /// Takes the requests that are kept, and begins anew.
    pub(crate) fn take(&mut self) -> Vec<SlowExchange> {
        self.beyond_ns = 0;
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::Outcome;

    fn request(response_ns: u64) -> SlowExchange {
        SlowExchange {
            exchange: Exchange {
                intended_ns: 0,
                ready_ns: 0,
                start_ns: 0,
                dial_ns: 0,
                resolve_ns: 0,
                tls_ns: 0,
                sent_ns: 0,
                first_byte_ns: response_ns,
                end_ns: response_ns,
                wakeup_ns: 0,
                bytes_in: 0,
                bytes_out: 0,
                outcome: Outcome::Answered { status: 200 },
                request: None,
            },
            series: SeriesId(0),
            served_before: None,
        }
    }

    fn kept(slowest: &mut Slowest) -> Vec<u64> {
        let kept = slowest.take().into_iter();
        let mut times: Vec<u64> = kept.map(|kept| kept.exchange.response_ns()).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn the_slowest_are_kept_in_whatever_order_they_come() {
        let mut slowest = Slowest::default();
        // Each number below 1 000 once, out of order.
        (0..1_000).for_each(|index| slowest.observe(&request(index * 7 % 1_000)));
        let expected: Vec<u64> = (1_000 - MOST as u64..1_000).collect();
        assert_eq!(kept(&mut slowest), expected);
    }

    #[test]
    fn each_interval_begins_anew() {
        let mut slowest = Slowest::default();
        (0..100).for_each(|_| slowest.observe(&request(1_000_000)));
        assert_eq!(kept(&mut slowest).len(), MOST);
        slowest.observe(&request(3));
        assert_eq!(kept(&mut slowest), [3]);
        assert!(kept(&mut slowest).is_empty());
    }
}
