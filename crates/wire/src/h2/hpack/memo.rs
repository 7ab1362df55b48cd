//! Header blocks that repeat are known by their bytes, and not decoded again.
//!
//! A server under load repeats its header blocks byte for byte. Two kinds of blocks can be known:
//!
//! - A block that names no entry of the dynamic table means the same whatever the table holds.
//!   It may add entries, as nginx does with every response; they are added late, just before the
//!   next block that has to be decoded, and no more of them than the table can hold.
//! - A block that names entries, and adds none, means the same for as long as the table does not
//!   change.

use std::mem;

use super::decoder::{Decoder, Dependence, InvalidBlock};
use super::fields::FieldList;
use super::table::entry_size;

/// Blocks that are known at the same time.
const MAX_BLOCKS: usize = 8;

/// Blocks longer than this are not worth remembering.
const MAX_BLOCK_BYTES: usize = 2048;

/// Changes from one repeated block to another that are noted before their entries are added.
const MAX_PENDING: usize = 64;

/// Reads the header blocks of one connection, in their order. `F` is what their reader makes of
/// their fields.
#[derive(Clone, Debug)]
pub(crate) struct BlockReader<F> {
    decoder: Decoder,
    known: Vec<Block<F>>,
    /// The block that was read last, if it is not known.
    unknown: Block<F>,
    /// The known block that was read last, which is mostly the next one too.
    latest: usize,
    /// The known block that the next one replaces.
    oldest: usize,
    /// Blocks whose entries are still to be added to the table.
    pending: Vec<Repeated>,
    /// Counts the changes of the table, those to come included.
    table_version: u64,
}

/// A block, and what it says.
#[derive(Clone, Debug, Default)]
struct Block<F> {
    bytes: Vec<u8>,
    fields: FieldList,
    facts: F,
    dependence: Dependence,
    /// The table with which it was decoded.
    table_version: u64,
}

/// A known block, and how often in a row it came.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    block: usize,
    times: usize,
}

impl<F: Clone + Default> BlockReader<F> {
    /// Reads blocks of a peer that may have a table of up to `table_size`, each of whose lists of
    /// fields may have `max_list_size` (RFC 9113, section 6.5.2).
    pub(crate) fn new(table_size: usize, max_list_size: usize) -> Self {
        Self {
            decoder: Decoder::new(table_size, max_list_size),
            known: Vec::new(),
            unknown: Block::default(),
            latest: 0,
            oldest: 0,
            pending: Vec::new(),
            table_version: 0,
        }
    }

    /// Reads the next block: its fields, and what `interpret` made of them when it was decoded.
    #[inline]
    pub(crate) fn read(
        &mut self,
        block: &[u8],
        interpret: impl FnOnce(&FieldList) -> F,
    ) -> Result<(&FieldList, &F), InvalidBlock> {
        let block = match self.find(block) {
            Some(index) => {
                self.note(index);
                &self.known[index]
            }
            None => self.decode(block, interpret)?,
        };
        Ok((&block.fields, &block.facts))
    }

    #[inline]
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let version = self.table_version;
        let is_it = |block: &Block<F>| {
            (!block.dependence.reads || block.table_version == version) && block.bytes == bytes
        };
        if self.known.get(self.latest).is_some_and(is_it) {
            return Some(self.latest);
        }
        let found = self.known.iter().position(is_it)?;
        self.latest = found;
        Some(found)
    }

    /// Keeps in mind that a known block came once more.
    #[inline]
    fn note(&mut self, block: usize) {
        if !self.known[block].dependence.inserts {
            return;
        }
        self.table_version += 1;
        match self.pending.last_mut() {
            Some(last) if last.block == block => last.times = last.times.saturating_add(1),
            _ => self.note_change(block),
        }
    }

    fn note_change(&mut self, block: usize) {
        if self.pending.len() == MAX_PENDING {
            self.add_pending();
        }
        self.pending.push(Repeated { block, times: 1 });
    }

    /// Adds the entries of blocks that were known. Of one that repeats, more than fill the table
    /// make no difference.
    fn add_pending(&mut self) {
        let table = &mut self.decoder.table;
        for Repeated { block, times } in self.pending.drain(..) {
            let fields = &self.known[block].fields;
            let sizes = fields
                .inserted()
                .map(|(name, value)| entry_size(name, value));
            let most = table.max_size() / sizes.sum::<usize>().max(1) + 2;
            for _ in 0..times.min(most) {
                for (name, value) in fields.inserted() {
                    table.insert(name, value);
                }
            }
        }
    }

    fn decode(
        &mut self,
        bytes: &[u8],
        interpret: impl FnOnce(&FieldList) -> F,
    ) -> Result<&Block<F>, InvalidBlock> {
        self.add_pending();
        let block = &mut self.unknown;
        block.dependence = self.decoder.decode(bytes, &mut block.fields)?;
        block.facts = interpret(&block.fields);
        let Dependence {
            reads,
            inserts,
            resizes,
        } = block.dependence;
        self.table_version += u64::from(inserts || resizes);
        block.table_version = self.table_version;
        if resizes || (reads && inserts) || bytes.len() > MAX_BLOCK_BYTES {
            return Ok(&self.unknown);
        }
        block.bytes.clear();
        block.bytes.extend_from_slice(bytes);
        Ok(self.keep())
    }

    /// Makes the block that was decoded last a known one, in place of the oldest.
    fn keep(&mut self) -> &Block<F> {
        if self.known.len() < MAX_BLOCKS {
            self.known.push(mem::take(&mut self.unknown));
            self.latest = self.known.len() - 1;
        } else {
            mem::swap(&mut self.known[self.oldest], &mut self.unknown);
            self.latest = self.oldest;
            self.oldest = (self.oldest + 1) % MAX_BLOCKS;
        }
        &self.known[self.latest]
    }
}

#[cfg(test)]
mod tests;
