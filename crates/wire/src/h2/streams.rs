//! The open streams, by their numbers.
//!
//! Each number has one slot of a table, which is larger than the number of open streams. A client
//! numbers its streams consecutively, so that streams which are open at the same time mostly have
//! different slots. If an older stream occupies the slot, the new one goes to a list. Nothing is
//! allocated as long as no more streams are open than ever before.

use super::stream::Stream;

/// The number of slots of the smallest table.
const MIN_SLOTS: usize = 4;

/// The open streams of a connection.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// The table: empty, or a power of two of slots, at least twice as many as streams were open,
    /// because some streams end late.
    slots: Vec<Option<Slot>>,
    /// Streams whose slots are occupied by older ones.
    displaced: Vec<Slot>,
    len: usize,
}

#[derive(Debug)]
struct Slot {
    number: u32,
    stream: Stream,
}

impl Streams {
    /// Returns the number of open streams.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the open stream of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Stream> {
        let slot = match self.slots.get(self.home(number)) {
            Some(Some(slot)) if slot.number == number => slot,
            _ => &self.displaced[self.find_displaced(number)?],
        };
        Some(&slot.stream)
    }

    /// Returns the open stream of a number.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Stream> {
        let home = self.home(number);
        if self.has(home, number) {
            return self.slots[home].as_mut().map(|slot| &mut slot.stream);
        }
        let index = self.find_displaced(number)?;
        Some(&mut self.displaced[index].stream)
    }

    /// Adds a stream, whose number must be unused.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32, stream: Stream) {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        self.len += 1;
        self.put(Slot { number, stream });
    }

    /// Removes a stream. Returns false if it was not open.
    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> bool {
        let home = self.home(number);
        if self.has(home, number) {
            self.slots[home] = None;
        } else if let Some(index) = self.find_displaced(number) {
            self.displaced.swap_remove(index);
        } else {
            return false;
        }
        self.len -= 1;
        true
    }

    /// Returns the numbers of the open streams, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        let slots = self.slots.iter().flatten();
        slots.chain(&self.displaced).map(|slot| slot.number)
    }

    /// Returns the open streams, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        let slots = self.slots.iter_mut().flatten();
        slots
            .chain(&mut self.displaced)
            .map(|slot| &mut slot.stream)
    }

    /// Returns the index of a number's slot. All numbers are odd.
    #[inline]
    fn home(&self, number: u32) -> usize {
        (number / 2) as usize & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    fn has(&self, home: usize, number: u32) -> bool {
        matches!(self.slots.get(home), Some(Some(slot)) if slot.number == number)
    }

    #[cold]
    fn find_displaced(&self, number: u32) -> Option<usize> {
        let mut displaced = self.displaced.iter();
        displaced.position(|slot| slot.number == number)
    }

    #[inline]
    fn put(&mut self, slot: Slot) {
        let home = self.home(slot.number);
        if self.slots[home].is_none() {
            self.slots[home] = Some(slot);
        } else {
            self.displaced.push(slot);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(MIN_SLOTS);
        let larger = std::iter::repeat_with(|| None).take(len).collect();
        let slots = std::mem::replace(&mut self.slots, larger);
        let displaced = std::mem::take(&mut self.displaced);
        let all = slots.into_iter().flatten().chain(displaced);
        all.for_each(|slot| self.put(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Expect;
    use crate::h2::window::{ReceiveWindow, SendWindow};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn stream(key: usize) -> Stream {
        Stream {
            key,
            expect: Expect::Other,
            status: 0,
            content_length: None,
            head_len: 0,
            body_len: 0,
            interim: 0,
            receive_window: ReceiveWindow::new(1, 1),
            send_window: SendWindow::new(1),
            unsent: None,
        }
    }

    proptest! {
        #[test]
        fn streams_are_found_as_in_a_map(
            steps in prop::collection::vec((any::<bool>(), 0_u32..100), 0..300),
        ) {
            let (mut streams, mut map) = (Streams::default(), BTreeMap::new());
            for (key, (is_new, at)) in steps.into_iter().enumerate() {
                let number = at * 2 + 1;
                if is_new && !map.contains_key(&number) {
                    streams.insert(number, stream(key));
                    map.insert(number, key);
                } else {
                    prop_assert_eq!(streams.remove(number), map.remove(&number).is_some());
                }
                prop_assert_eq!(streams.len(), map.len());
                let mut numbers: Vec<u32> = streams.numbers().collect();
                numbers.sort_unstable();
                prop_assert!(numbers.iter().eq(map.keys()));
                for number in (1..200).step_by(2) {
                    let found = streams.get(number).map(|stream| stream.key);
                    prop_assert_eq!(found, map.get(&number).copied());
                }
            }
        }
    }
}
