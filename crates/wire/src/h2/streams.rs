//! The streams that are open, by their numbers.
//!
//! A hash table with linear probing, whose hash is the stream's number: a client counts its streams
//! up, so that those that are open at the same time mostly have slots of their own. Nothing is
//! allocated while the number of open streams stays below its maximum so far.

use super::stream::Stream;

/// Slots of the smallest table.
const MIN_SLOTS: usize = 4;

/// The open streams of a connection.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// None, or a power of two; at most half of them are taken.
    slots: Vec<Option<Slot>>,
    len: usize,
}

#[derive(Debug)]
struct Slot {
    number: u32,
    stream: Stream,
}

impl Streams {
    /// How many streams are open.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The open stream with a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Stream> {
        let index = self.find(number)?;
        self.slots[index].as_ref().map(|slot| &slot.stream)
    }

    /// The open stream with a number.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Stream> {
        let index = self.find(number)?;
        self.slots[index].as_mut().map(|slot| &mut slot.stream)
    }

    /// Adds a stream, whose number no other one may have.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32, stream: Stream) {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        self.len += 1;
        self.put(Slot { number, stream });
    }

    /// Takes a stream out.
    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> Option<Stream> {
        let index = self.find(number)?;
        let removed = self.slots[index].take()?;
        self.len -= 1;
        if self.slots[self.after(index)].is_some() {
            self.close_gap(index);
        }
        Some(removed.stream)
    }

    /// The numbers of the open streams, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().flatten().map(|slot| slot.number)
    }

    /// The open streams, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        let slots = self.slots.iter_mut().flatten();
        slots.map(|slot| &mut slot.stream)
    }

    #[inline]
    fn find(&self, number: u32) -> Option<usize> {
        let mut index = self.home(number);
        loop {
            if self.slots.get(index)?.as_ref()?.number == number {
                return Some(index);
            }
            index = self.after(index);
        }
    }

    /// Where a stream lies unless another one is there. All numbers are odd.
    #[inline]
    fn home(&self, number: u32) -> usize {
        (number / 2) as usize & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    fn after(&self, index: usize) -> usize {
        (index + 1) & (self.slots.len() - 1)
    }

    #[inline]
    fn put(&mut self, slot: Slot) {
        let mut index = self.home(slot.number);
        while self.slots[index].is_some() {
            index = self.after(index);
        }
        self.slots[index] = Some(slot);
    }

    /// Moves streams that lie behind a slot that was emptied back to where they are looked for.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.slots.len() - 1;
        let mut index = self.after(gap);
        while let Some(slot) = &self.slots[index] {
            let from_home = index.wrapping_sub(self.home(slot.number)) & mask;
            if from_home >= index.wrapping_sub(gap) & mask {
                self.slots.swap(gap, index);
                gap = index;
            }
            index = self.after(index);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(MIN_SLOTS);
        let larger = std::iter::repeat_with(|| None).take(len).collect();
        let slots = std::mem::replace(&mut self.slots, larger);
        slots.into_iter().flatten().for_each(|slot| self.put(slot));
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
                    let removed = streams.remove(number).map(|stream| stream.key);
                    prop_assert_eq!(removed, map.remove(&number));
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
