//! A share of the arrivals that can be divided and handed on.
//!
//! The share of a worker is one stripe. When a worker is gone, others take its share over, each an
//! equal part in addition to its own: a list of stripes, each a fraction of the whole in whole
//! numbers. However often shares are divided and handed on, together they are the whole, and no
//! arrival is in two of them.

use crate::Stripe;

/// A share of the arrivals: stripes that have no arrival in common. The shares that are made from
/// one by [`divide`](Stripes::divide) are together that share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stripes(Vec<Stripe>);

impl From<Stripe> for Stripes {
    fn from(stripe: Stripe) -> Self {
        Stripes(vec![stripe])
    }
}

impl From<&Stripes> for Stripes {
    fn from(share: &Stripes) -> Self {
        share.clone()
    }
}

impl Stripes {
    /// Returns the stripes, in their order.
    pub fn stripes(&self) -> &[Stripe] {
        &self.0
    }

    /// True if the share has no arrivals.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of arrivals that the share has among the first `total` ones.
    pub fn count(&self, total: u64) -> u64 {
        self.0.iter().map(|stripe| stripe.count(total)).sum()
    }

    /// True if an arrival with this index is in the share.
    pub fn contains(&self, index: u64) -> bool {
        self.0.iter().any(|stripe| stripe.contains(index))
    }

    /// Adds a share that has no arrival in common with this one.
    pub fn add(&mut self, other: Stripes) {
        self.0.extend(other.0);
        self.0.sort_unstable();
    }

    /// Divides the share into `heirs` equal ones. A stripe that is too fine to be divided any more
    /// (less than one of four thousand million arrivals) goes to one of them.
    pub fn divide(&self, heirs: u32) -> Vec<Stripes> {
        let mut shares = vec![Stripes::default(); heirs as usize];
        if heirs == 0 {
            return shares;
        }
        let mut stripes = self.0.clone();
        stripes.sort_unstable_by_key(|stripe| (stripe.of, stripe.index));
        let mut next = (0..shares.len()).cycle();
        for alike in stripes.chunk_by(|one, two| one.of == two.of) {
            // Each heir gets as many whole ones as possible, and a part of the rest.
            let whole = alike.len() - alike.len() % shares.len();
            let rest = &alike[whole..];
            let parts = rest
                .iter()
                .flat_map(|stripe| parts(*stripe, rest.len(), heirs));
            for stripe in alike[..whole].iter().copied().chain(parts) {
                let heir = next.next().unwrap_or_default();
                shares[heir].0.push(stripe);
            }
        }
        shares.iter_mut().for_each(|share| share.0.sort_unstable());
        shares
    }
}

/// Returns the parts of a stripe that is divided among heirs together with others, so many in all:
/// as few parts as give each heir the same number. If that is too fine, the stripe itself.
fn parts(stripe: Stripe, together: usize, heirs: u32) -> Vec<Stripe> {
    let of = heirs / divisor(together as u32, heirs);
    let parts: Option<Vec<Stripe>> = (0..of).map(|index| stripe.part(index, of)).collect();
    parts.unwrap_or_else(|| vec![stripe])
}

/// Returns the greatest common divisor of two numbers.
fn divisor(one: u32, two: u32) -> u32 {
    match two {
        0 => one,
        two => divisor(two, one % two),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the number of shares that contain each of the first indices.
    fn owners(shares: &[Stripes], indices: u64) -> Vec<usize> {
        let owners = |index| shares.iter().filter(|share| share.contains(index)).count();
        (0..indices).map(owners).collect()
    }

    /// Returns the shares of so many workers.
    fn workers(of: u32) -> Vec<Stripes> {
        (0..of).map(|index| Stripe { index, of }.into()).collect()
    }

    #[test]
    fn a_lost_share_goes_to_the_others_in_equal_parts() {
        let mut shares = workers(3);
        let lost = shares.remove(1);
        for (own, more) in shares.iter_mut().zip(lost.divide(2)) {
            own.add(more);
        }
        let of = |index, of| Stripe { index, of };
        assert_eq!(shares[0].stripes(), [of(0, 3), of(1, 6)]);
        assert_eq!(shares[1].stripes(), [of(2, 3), of(4, 6)]);
        assert_eq!(owners(&shares, 600), vec![1; 600]);
        assert_eq!([shares[0].count(600), shares[1].count(600)], [300, 300]);
    }

    #[test]
    fn alike_stripes_are_handed_on_whole_as_far_as_they_go() {
        let mut share = Stripes::default();
        (0..5).for_each(|index| share.add(Stripe { index, of: 5 }.into()));
        let two = share.divide(2);
        assert_eq!(two.iter().map(|one| one.stripes().len()).sum::<usize>(), 6);
        assert_eq!(share.divide(5), workers(5));
        let four = share.divide(4);
        assert!(four.iter().all(|one| one.stripes().len() == 2));
    }

    #[test]
    fn nothing_and_no_heirs_are_shares_too() {
        let nothing = Stripes::default();
        assert!(nothing.is_empty() && nothing.count(u64::MAX) == 0);
        assert_eq!(nothing.divide(2), vec![Stripes::default(); 2]);
        assert!(Stripes::from(Stripe::WHOLE).divide(0).is_empty());
        assert_eq!(Stripes::from(Stripe::WHOLE).count(u64::MAX), u64::MAX);
    }

    #[test]
    fn what_is_too_fine_to_be_divided_goes_to_one() {
        let fine = Stripe {
            index: 7,
            of: u32::MAX,
        };
        let shares = Stripes::from(fine).divide(3);
        let taken: usize = shares.iter().map(|share| share.stripes().len()).sum();
        assert_eq!(taken, 1);
    }

    proptest! {
        #[test]
        fn whoever_is_lost_each_arrival_has_one_owner(
            of in 1..8_u32,
            losses in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        ) {
            let mut shares = workers(of);
            for lost in losses {
                if shares.len() == 1 {
                    break;
                }
                let lost = shares.remove(lost.index(shares.len()));
                let parts = lost.divide(shares.len() as u32);
                shares.iter_mut().zip(parts).for_each(|(own, more)| own.add(more));
            }
            prop_assert_eq!(owners(&shares, 3_000), vec![1; 3_000]);
            for total in [0, 1, 2_999, u64::MAX] {
                let counted: u128 = shares.iter().map(|share| u128::from(share.count(total))).sum();
                prop_assert_eq!(counted, u128::from(total));
            }
        }

        #[test]
        fn equal_parts_are_equal(of in 1..12_u32, taken in 1..12_u32, heirs in 1..12_u32) {
            let mut share = Stripes::default();
            (0..taken.min(of)).for_each(|index| share.add(Stripe { index, of }.into()));
            let shares = share.divide(heirs);
            // After so many arrivals each part has had the same number of them.
            let round = u64::from(of) * u64::from(heirs);
            let counts: Vec<u64> = shares.iter().map(|share| share.count(round)).collect();
            let each = u64::from(taken.min(of));
            prop_assert!(counts.iter().all(|count| *count == each), "{:?}", counts);
        }
    }
}
