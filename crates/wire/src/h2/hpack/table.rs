//! The dynamic table: the fields that the peer added last (RFC 7541, sections 2.3.2 and 4).

use std::collections::VecDeque;

/// What each field counts beside its text (RFC 7541, section 4.1).
const OVERHEAD: usize = 32;

/// The fields that were added last, as far as they fit.
#[derive(Clone, Debug)]
pub(super) struct DynamicTable {
    /// The newest first.
    entries: VecDeque<Entry>,
    /// Memory of entries that were evicted, for those to come.
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

    /// Name and value of the entry at `index`, 0 being the newest.
    pub(super) fn entry(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(index)?;
        Some(entry.text.split_at(entry.name_len))
    }

    pub(super) fn max_size(&self) -> usize {
        self.max_size
    }

    /// Sets the size that entries may have together, and evicts what doesn't fit.
    pub(super) fn resize(&mut self, max_size: usize) {
        self.max_size = max_size;
        self.evict_down_to(max_size);
    }

    /// Adds an entry. One that is larger than the whole table empties it (RFC 7541, section 4.4).
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

    /// The entries, the newest first.
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

/// What a field counts in a table.
pub(super) fn entry_size(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + OVERHEAD
}
