//! The table of series: assigns indices to a bounded number of keys.

use crate::Key;
use std::collections::HashMap;

/// The default for the highest number of series of a run.
pub const DEFAULT_MOST: u32 = 2_000;

/// The index of a series in the [`SeriesTable`] that assigned it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u32);

impl SeriesId {
    /// The series of requests without room in the table.
    pub const OVERFLOW: SeriesId = SeriesId(u32::MAX);
}

/// The keys of a run's series, each with its index.
#[derive(Clone, Debug)]
pub struct SeriesTable {
    keys: Vec<Key>,
    ids: HashMap<Key, SeriesId>,
    most: u32,
}

impl SeriesTable {
    /// Creates a table with room for `most` series.
    pub fn new(most: u32) -> SeriesTable {
        SeriesTable {
            keys: Vec::new(),
            ids: HashMap::new(),
            most,
        }
    }

    /// Returns the series of this key, which is added if there is room.
    pub fn intern(&mut self, key: &Key) -> SeriesId {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        if self.keys.len() >= self.most as usize {
            return SeriesId::OVERFLOW;
        }
        let id = SeriesId(self.keys.len() as u32);
        self.keys.push(key.clone());
        self.ids.insert(key.clone(), id);
        id
    }

    /// Returns the keys in the order of their indices.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the highest number of series.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Returns the number of series.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True if there is no series.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_index_until_the_table_is_full() {
        let mut table = SeriesTable::new(2);
        let [a, b, c] = ["a", "b", "c"].map(|name| Key::new(name).unwrap());
        assert_eq!(table.intern(&a), SeriesId(0));
        assert_eq!(table.intern(&b), SeriesId(1));
        assert_eq!(table.intern(&c), SeriesId::OVERFLOW);
        assert_eq!(table.intern(&a), SeriesId(0));
        assert_eq!(table.keys(), [a, b]);
    }

    #[test]
    fn a_table_without_room_has_the_overflow_alone() {
        let mut table = SeriesTable::new(0);
        assert_eq!(table.intern(&Key::new("a").unwrap()), SeriesId::OVERFLOW);
        assert!(table.is_empty());
    }
}
