//! One straight line of a rate curve: its integral, and the inverse of the integral.
//!
//! With rate a at the start, b at the end and the duration d, the integral after x nanoseconds is
//! n(x) = a·x + (b − a)·x² / 2d. Its inverse is the root of a quadratic, guessed in floating point
//! and then corrected in whole numbers, so that the two always agree. Rates and integrals are in
//! ticks (see [`crate::grid`]).

use crate::stage::Span;

/// A linear stretch of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The span of the piece, with the rates at its ends in ticks per nanosecond: even, at most
    /// 2^63.
    span: Span<u64>,
}

impl Piece {
    pub(crate) fn new(span: Span<u64>) -> Self {
        Self { span }
    }

    pub(crate) fn start_ns(&self) -> u64 {
        self.span.from_ns
    }

    /// Returns the integral over the whole piece, without rounding.
    pub(crate) fn area(&self) -> u128 {
        let both_ends = u128::from(self.span.start) + u128::from(self.span.end);
        both_ends / 2 * u128::from(self.span.duration_ns)
    }

    /// Returns the integral from the piece's start to `t_ns`, rounded up to a whole tick; instants
    /// beyond the piece count as its end.
    pub(crate) fn ticks_before(&self, t_ns: u64) -> u128 {
        let x_ns = t_ns.saturating_sub(self.span.from_ns);
        self.integral(x_ns.min(self.span.duration_ns))
    }

    /// Returns the last nanosecond at which the integral is at most `ticks`, which must be less
    /// than the area.
    pub(crate) fn instant_of(&self, ticks: u128) -> u64 {
        let x_ns = if self.is_flat() {
            (ticks / u128::from(self.span.start)) as u64
        } else {
            self.settle(self.guess(ticks), ticks)
        };
        self.span.from_ns + x_ns
    }

    fn is_flat(&self) -> bool {
        self.span.start == self.span.end
    }

    /// Returns n(x), rounded up.
    fn integral(&self, x_ns: u64) -> u128 {
        let line = u128::from(self.span.start) * u128::from(x_ns);
        if self.is_flat() {
            return line;
        }
        let (bend, has_rest) = self.bend(x_ns);
        if self.span.start < self.span.end {
            line + bend + u128::from(has_rest)
        } else {
            line - bend
        }
    }

    /// Returns |b − a| · x² / 2d, rounded down, and whether it was rounded. Divides before it
    /// multiplies, with a separate remainder, so that 128 bits are enough.
    fn bend(&self, x_ns: u64) -> (u128, bool) {
        let half_difference = u128::from(self.span.start.abs_diff(self.span.end) / 2);
        let duration = u128::from(self.span.duration_ns);
        let square = u128::from(x_ns) * u128::from(x_ns);
        let rest = half_difference * (square % duration);
        let bend = half_difference * (square / duration) + rest / duration;
        (bend, !rest.is_multiple_of(duration))
    }

    /// Returns an x with n(x) close to `ticks`: off by less than a nanosecond in pieces of hours,
    /// by a few millionths of a millionth of the piece in any. Always measured from the slower end,
    /// where the formula of the root subtracts nothing and so loses no digits.
    fn guess(&self, ticks: u128) -> u64 {
        if self.span.start < self.span.end {
            self.rise(self.span.start, ticks) as u64
        } else {
            let from_end = self.rise(self.span.end, self.area() - ticks).ceil();
            self.span.duration_ns.saturating_sub(from_end as u64)
        }
    }

    /// Returns the root of slow·x + |b − a|·x² / 2d = ticks as 2·ticks / (slow + √(slow² +
    /// 4·ticks·|b − a|/2d)). For zero over zero the result is not a number, which a cast turns into
    /// the correct zero.
    fn rise(&self, slow: u64, ticks: u128) -> f64 {
        let (slow, ticks) = (slow as f64, ticks as f64);
        let bend =
            self.span.start.abs_diff(self.span.end) as f64 / 2.0 / self.span.duration_ns as f64;
        2.0 * ticks / (slow + (slow * slow + 4.0 * ticks * bend).sqrt())
    }

    /// Returns the last x with n(x) at most `ticks`, searched from the guess in growing steps until
    /// it is enclosed, and then by bisection. After a good guess n is computed twice.
    fn settle(&self, guess: u64, ticks: u128) -> u64 {
        let fits = |x_ns| self.integral(x_ns) <= ticks;
        // n(0) = 0 fits, and n(d) is the area, which does not.
        let (mut low, mut high) = (0, self.span.duration_ns);
        let (mut probe, mut step) = (guess.min(high - 1), 1);
        while high - low > 1 {
            if fits(probe) {
                low = probe;
                probe = low.saturating_add(step);
            } else {
                high = probe;
                probe = high.saturating_sub(step);
            }
            if probe <= low || probe >= high {
                probe = low + (high - low) / 2;
            }
            step = step.saturating_mul(2);
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(duration_ns: u64, start: u64, end: u64) -> Piece {
        Piece::new(Span {
            from_ns: 1_000,
            duration_ns,
            start,
            end,
        })
    }

    #[test]
    fn integrals_are_exact_and_round_up() {
        // n(x) = x² / 10, and from the other end 100·x − x² / 10 over 10.
        let up = piece(10, 0, 2);
        let ticks: Vec<_> = (1_000..=1_011).map(|t| up.ticks_before(t)).collect();
        assert_eq!(ticks, [0, 1, 1, 1, 2, 3, 4, 5, 7, 9, 10, 10]);
        let down = piece(10, 2, 0);
        let ticks: Vec<_> = (999..=1_010).map(|t| down.ticks_before(t)).collect();
        assert_eq!(ticks, [0, 0, 2, 4, 6, 7, 8, 9, 10, 10, 10, 10]);
        assert_eq!((up.area(), down.area()), (10, 10));
    }

    #[test]
    fn the_largest_piece_does_not_overflow() {
        let fastest = 1 << 63;
        let last = u64::MAX - 1;
        // Towards zero, the last nanosecond holds a quarter of a tick, and the last but one more.
        let cases = [
            (0, fastest, last),
            (fastest, 0, last - 1),
            (fastest, fastest, last),
        ];
        for (start, end, expected) in cases {
            let piece = Piece::new(Span {
                from_ns: 0,
                duration_ns: u64::MAX,
                start,
                end,
            });
            assert_eq!(piece.ticks_before(u64::MAX), piece.area());
            assert_eq!(piece.instant_of(piece.area() - 1), expected);
            assert_eq!(piece.instant_of(0), 0);
        }
    }

    /// The search ends soon even if the guess is far off.
    #[test]
    fn any_guess_settles_on_the_same_instant() {
        let piece = piece(1 << 60, 10, 1_000_000);
        let ticks = piece.area() / 3;
        let exact = piece.settle(piece.guess(ticks), ticks);
        for guess in [0, 1, exact / 2, exact + 1_000, 1 << 59, u64::MAX] {
            assert_eq!(piece.settle(guess, ticks), exact);
        }
    }

    /// In an hour at up to a million a second the guess is never off by more than two computations.
    #[test]
    fn guesses_are_within_a_nanosecond_over_hours() {
        let hour_ns = 3_600_000_000_000;
        for (start, end) in [(0, 1 << 50), (1 << 50, 0), (1 << 30, 1 << 31), (6, 4)] {
            let piece = piece(hour_ns, start, end);
            for part in 0..1_000 {
                let ticks = piece.area() / 1_000 * part;
                let guess = piece.guess(ticks);
                assert!(piece.settle(guess, ticks).abs_diff(guess) <= 1);
            }
        }
    }

    proptest! {
        #[test]
        fn the_way_back_is_the_last_instant_that_fits(
            start in prop_oneof![0..100u64, 0..1u64 << 62],
            end in prop_oneof![0..100u64, 0..1u64 << 62],
            duration_ns in prop_oneof![1..100u64, 1..20_000_000_000_000u64, 1..u64::MAX / 2],
            part in 0.0..1.0f64,
        ) {
            let piece = piece(duration_ns, 2 * start, 2 * end);
            let ticks = (piece.area() as f64 * part) as u128;
            prop_assume!(ticks < piece.area());
            let at_ns = piece.instant_of(ticks);
            prop_assert!((1_000..1_000 + duration_ns).contains(&at_ns));
            prop_assert!(piece.ticks_before(at_ns) <= ticks);
            prop_assert!(piece.ticks_before(at_ns + 1) > ticks);
        }
    }
}
