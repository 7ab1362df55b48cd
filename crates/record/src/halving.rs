//! A history of bounded length.
//!
//! A run may take a second or a day. A history begins with a segment for each interval. When it is
//! full, it joins each pair of neighbours, and each segment covers twice as many intervals from
//! then on.

/// The data that a history stores for some consecutive intervals.
pub trait Segment {
    /// The data of one interval.
    type Interval;

    /// Creates the segment of one interval.
    fn of(interval: &Self::Interval) -> Self;

    /// Adds the next interval.
    fn add(&mut self, interval: &Self::Interval);

    /// Adds the next segment.
    fn join(&mut self, next: &Self);

    /// Packs the segment into less memory: no interval is added to it soon.
    fn pack(&mut self) {}
}

/// The segments of a run, never more than `MOST`.
#[derive(Clone, Debug, PartialEq)]
pub struct Halving<T, const MOST: usize> {
    segments: Vec<T>,
    /// The number of intervals per segment, a power of two.
    each: usize,
    /// The number of intervals in the last segment.
    in_last: usize,
}

impl<T, const MOST: usize> Default for Halving<T, MOST> {
    fn default() -> Self {
        Halving {
            segments: Vec::new(),
            each: 1,
            in_last: 0,
        }
    }
}

impl<T: Segment, const MOST: usize> Halving<T, MOST> {
    /// Adds the next interval.
    pub fn observe(&mut self, interval: &T::Interval) {
        match self.segments.last_mut() {
            Some(last) if self.in_last < self.each => {
                last.add(interval);
                self.in_last += 1;
            }
            _ => self.begin(interval),
        }
    }

    /// Adds to the last segment the data after the last interval.
    pub fn observe_rest(&mut self, rest: &T::Interval) {
        match self.segments.last_mut() {
            Some(last) => last.add(rest),
            None => self.begin(rest),
        }
    }

    /// Returns the segments in the order of time.
    pub fn segments(&self) -> &[T] {
        &self.segments
    }

    /// Returns the number of intervals per segment; the last one may have fewer.
    pub fn intervals_each(&self) -> usize {
        self.each
    }

    fn begin(&mut self, interval: &T::Interval) {
        if let Some(last) = self.segments.last_mut() {
            last.pack();
        }
        if self.segments.len() >= MOST {
            self.halve();
        }
        self.segments.push(T::of(interval));
        self.in_last = 1;
    }

    fn halve(&mut self) {
        let mut segments = std::mem::take(&mut self.segments).into_iter();
        while let Some(mut joined) = segments.next() {
            if let Some(next) = segments.next() {
                joined.join(&next);
                joined.pack();
            }
            self.segments.push(joined);
        }
        self.each *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first and the last interval of a segment.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Span(usize, usize);

    impl Segment for Span {
        type Interval = Span;

        fn of(interval: &Span) -> Span {
            *interval
        }

        fn add(&mut self, interval: &Span) {
            self.join(interval);
        }

        fn join(&mut self, next: &Span) {
            assert_eq!(self.1, next.0, "neighbours only");
            self.1 = next.1;
        }
    }

    fn history(intervals: usize) -> Halving<Span, 4> {
        let mut history = Halving::default();
        (0..intervals).for_each(|n| history.observe(&Span(n, n + 1)));
        history
    }

    #[test]
    fn up_to_the_limit_each_interval_is_a_segment() {
        assert!(history(0).segments().is_empty());
        assert_eq!(history(4).segments().len(), 4);
        assert_eq!(history(4).intervals_each(), 1);
    }

    #[test]
    fn beyond_it_each_segment_holds_twice_as_many() {
        let spans = |n| history(n).segments().to_vec();
        assert_eq!(spans(5), [Span(0, 2), Span(2, 4), Span(4, 5)]);
        assert_eq!(spans(9), [Span(0, 4), Span(4, 8), Span(8, 9)]);
    }

    #[test]
    fn the_rest_goes_to_the_last_segment() {
        let mut full = history(4);
        full.observe_rest(&Span(4, 9));
        assert_eq!(full.segments()[3], Span(3, 9));
        let mut empty = history(0);
        empty.observe_rest(&Span(0, 1));
        assert_eq!(empty.segments(), [Span(0, 1)]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_too_long(intervals in 1usize..500) {
            let history = history(intervals);
            prop_assert!(history.segments().len() <= 4);
            prop_assert_eq!(history.segments()[0].0, 0);
            prop_assert_eq!(history.segments().last().unwrap().1, intervals);
        }
    }
}
