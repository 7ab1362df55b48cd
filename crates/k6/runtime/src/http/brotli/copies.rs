//! Copies of what came before.
//!
//! Places whose four bytes have the same hash are in one chain, the latest first.

/// The window as a number of bits: how far back a copy may reach, and what a reader has to keep.
pub(super) const WINDOW_BITS: u32 = 18;
/// The furthest copy (RFC 7932, 9.1).
const FURTHEST: usize = (1 << WINDOW_BITS) - 16;

/// The shortest copy that is looked for.
const SHORTEST: usize = 4;
/// From this distance on, it costs more bits than four literals.
const FAR: usize = 1 << 13;
/// A copy that is long enough to look no further.
const LONG: usize = 128;
/// The number of places that are looked at.
const TRIES: usize = 32;

const HASH_BITS: u32 = 15;
const NONE: u32 = u32::MAX;

/// A copy of earlier bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierCopy {
    pub(super) length: usize,
    pub(super) distance: usize,
}

/// The places of bytes that were passed.
pub(super) struct Copies<'a> {
    bytes: &'a [u8],
    /// The latest place by hash.
    latest: Vec<u32>,
    /// The place before each, by its lowest bits.
    before: Vec<u32>,
}

impl<'a> Copies<'a> {
    /// Bodies are shorter than 4 GiB.
    pub(super) fn of(bytes: &'a [u8]) -> Copies<'a> {
        let window = bytes.len().next_power_of_two().min(1 << WINDOW_BITS);
        Copies {
            bytes,
            latest: vec![NONE; 1 << HASH_BITS],
            before: vec![NONE; window],
        }
    }

    /// Returns the copy to make here, of bytes before `end`; none where a literal is better, also
    /// because the next place has a longer copy.
    pub(super) fn best(&self, at: usize, end: usize, last_distance: usize) -> Option<EarlierCopy> {
        let found = self.longest(at, end, last_distance)?;
        let is_long = found.length >= LONG;
        let next = (!is_long).then(|| self.longest(at + 1, end, last_distance));
        let is_beaten = next
            .flatten()
            .is_some_and(|next| next.length > found.length + 1);
        (!is_beaten).then_some(found)
    }

    fn longest(&self, at: usize, end: usize, last_distance: usize) -> Option<EarlierCopy> {
        let hash = self.hash(at)?;
        let mut best = self.copy(at, end, last_distance);
        let mut place = self.latest[hash];
        for _ in 0..TRIES {
            let Some(distance) = self.distance(at, place) else {
                break;
            };
            let found = self.copy(at, end, distance);
            // The last distance costs nearly nothing.
            if found.length > best.length + usize::from(best.distance == last_distance) {
                best = found;
            }
            if best.length >= LONG {
                break;
            }
            place = self.before[place as usize & (self.before.len() - 1)];
        }
        let shortest = SHORTEST + usize::from(best.distance >= FAR);
        (best.length >= shortest).then_some(best)
    }

    /// Returns how far a place of a chain lies back; none if the chain ends there.
    fn distance(&self, at: usize, place: u32) -> Option<usize> {
        let distance = at.checked_sub(place as usize)?;
        let furthest = FURTHEST.min(self.before.len() - 1);
        (1..=furthest).contains(&distance).then_some(distance)
    }

    /// Returns how much of what stands this far back is the same.
    fn copy(&self, at: usize, end: usize, distance: usize) -> EarlierCopy {
        let here = &self.bytes[at..end];
        let there = at
            .checked_sub(distance)
            .map_or(&[][..], |from| &self.bytes[from..]);
        let same = here
            .iter()
            .zip(there)
            .take_while(|(one, other)| one == other);
        EarlierCopy {
            length: same.count(),
            distance,
        }
    }

    /// Notes these places.
    pub(super) fn pass(&mut self, from: usize, to: usize) {
        for at in from..to {
            let Some(hash) = self.hash(at) else {
                return;
            };
            let mask = self.before.len() - 1;
            self.before[at & mask] = self.latest[hash];
            self.latest[hash] = at as u32;
        }
    }

    /// Returns a number for the four bytes here; none so near the end that there are fewer.
    fn hash(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at + 4)?;
        let number = u32::from_le_bytes(bytes.try_into().ok()?);
        Some((number.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize)
    }
}
