//! A memo of header blocks, so that repeated blocks are recognised by their bytes and not decoded
//! again.
//!
//! A server under load repeats its header blocks byte for byte. Two kinds of blocks can be
//! recognised:
//!
//! - A block that refers to no entry of the dynamic table has the same meaning whatever the table
//!   holds. It may add entries, as nginx does with every response; they are added late, just before
//!   the next block that has to be decoded, and no more of them than the table can hold.
//! - A block that refers to entries, and adds none, has the same meaning as long as the table does
//!   not change.

use std::mem;

use super::decoder::{Decoder, Dependence, InvalidBlock};
use super::fields::FieldList;
use super::table::entry_size;

/// The most blocks in the memo at the same time.
const MAX_BLOCKS: usize = 8;

/// The length, in bytes, of the longest block in the memo.
const MAX_BLOCK_BYTES: usize = 2048;

/// The most pending changes from one repeated block to another, before their entries are added.
const MAX_PENDING: usize = 64;

/// Reads the header blocks of one connection, in order. `F` is the caller's interpretation of a
/// block's fields.
#[derive(Clone, Debug)]
pub(crate) struct BlockReader<F> {
    decoder: Decoder,
    known: Vec<Block<F>>,
    /// The block that was read last, if it is not in the memo.
    unknown: Block<F>,
    /// The index of the known block that was read last, which is mostly the next one too.
    latest: usize,
    /// The index of the known block that is replaced next.
    oldest: usize,
    /// Blocks whose entries have not yet been added to the table.
    pending: Vec<Repeated>,
    /// The number of changes of the table, including pending ones.
    table_version: u64,
}

/// A block and its meaning.
#[derive(Clone, Debug, Default)]
struct Block<F> {
    bytes: Vec<u8>,
    fields: FieldList,
    facts: F,
    dependence: Dependence,
    /// The version of the table after the block was decoded.
    table_version: u64,
}

/// A known block, and the number of times in a row that it arrived.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    block: usize,
    times: usize,
}

impl<F: Clone + Default> BlockReader<F> {
    /// Creates a reader for the blocks of a peer whose table may have up to `table_size` bytes, and
    /// whose lists of fields up to `max_list_size` each (RFC 9113, section 6.5.2).
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

    /// Reads the next block: returns its fields, and the result of `interpret` from when the block
    /// was decoded.
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

    /// Records that a known block has arrived once more.
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

    /// Adds the entries of pending blocks. Of a block that was repeated, only as many entries are
    /// added as fill the table, because more make no difference.
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

    /// Adds the block that was decoded last to the memo, in place of the oldest.
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
