//! The dynamic table: the most recent fields that the peer added (RFC 7541, sections 2.3.2 and 4).

use std::collections::VecDeque;

/// The size of each field in addition to its text, in bytes (RFC 7541, section 4.1).
const OVERHEAD: usize = 32;

/// The fields that were added last, as many as fit.
#[derive(Clone, Debug)]
pub(super) struct DynamicTable {
    /// The entries, newest first.
    entries: VecDeque<Entry>,
    /// Buffers of evicted entries, for new ones.
    spare: Vec<Vec<u8>>,
    size: usize,
    max_size: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    text: Vec<u8>,
    name_len: usize,
}

impl DynamicTable {
    pub(super) fn new(max_size: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            spare: Vec::new(),
            size: 0,
            max_size,
        }
    }

    /// Returns name and value of the entry at `index`; 0 is the newest.
    pub(super) fn entry(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(index)?;
        Some(entry.text.split_at(entry.name_len))
    }

    pub(super) fn max_size(&self) -> usize {
        self.max_size
    }

    /// Sets the largest total size of the entries, and evicts the oldest that don't fit.
    pub(super) fn resize(&mut self, max_size: usize) {
        self.max_size = max_size;
        self.evict_down_to(max_size);
    }

    /// Adds an entry. An entry that is larger than the whole table empties it (RFC 7541, section
    /// 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = entry_size(name, value);
        self.evict_down_to(self.max_size.saturating_sub(size));
        if size > self.max_size {
            return;
        }
        let mut text = self.spare.pop().unwrap_or_default();
        text.clear();
        text.extend_from_slice(name);
        text.extend_from_slice(value);
        self.entries.push_front(Entry {
            text,
            name_len: name.len(),
        });
        self.size += size;
    }

    fn evict_down_to(&mut self, size: usize) {
        while self.size > size {
            let Some(entry) = self.entries.pop_back() else {
                return;
            };
            self.size -= entry.text.len() + OVERHEAD;
            self.spare.push(entry.text);
        }
    }

    /// Returns the entries, newest first.
    #[cfg(test)]
    pub(super) fn entries(&self) -> Vec<(&[u8], &[u8])> {
        self.entries
            .iter()
            .map(|entry| entry.text.split_at(entry.name_len))
            .collect()
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

/// Returns the size of a field in a table, in bytes.
pub(super) fn entry_size(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + OVERHEAD
}
