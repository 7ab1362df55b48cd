//! Decodes header blocks to fields (RFC 7541, sections 3 and 6).

use thiserror::Error;

use super::fields::FieldList;
use super::static_table::STATIC_TABLE;
use super::table::DynamicTable;
use super::{huffman, integer};

/// A reason why a header block can't be decoded. After it, later blocks of the connection can't be
/// decoded either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidBlock {
    /// The index of a field that is in no table.
    #[error("field {0} of the header tables, which have none")]
    Index(usize),
    /// A number that is cut off, or larger than any may be.
    #[error("a number that doesn't end")]
    Integer,
    /// A string with an invalid Huffman code.
    #[error("a string that isn't in Huffman code")]
    Huffman,
    /// A string that is longer than the block.
    #[error("a string that is longer than the block")]
    String,
    /// A new size of the dynamic table, after a field or above what was allowed.
    #[error("a new size of the header table where none may be, or above what was allowed")]
    TableSize,
    /// The fields are longer than the limit.
    #[error("header fields of more than 256 KiB")]
    TooLong,
}

/// The relation of a block to the dynamic table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    /// True if the block refers to entries, so that its meaning depends on the table.
    pub(super) reads: bool,
    /// True if the block adds entries.
    pub(super) inserts: bool,
    /// True if the block sets the table's size.
    pub(super) resizes: bool,
}

/// Decodes the blocks of one connection, in order.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    pub(super) table: DynamicTable,
    /// The largest table that the peer may choose, in bytes.
    allowed_size: usize,
    /// The largest size of a block's fields, as [`FieldList::size`] counts it.
    max_list_size: usize,
}

/// The table's size, in bytes, until the peer sets another (RFC 9113, section 6.5.2).
pub(crate) const DEFAULT_TABLE_SIZE: usize = 4096;

impl Decoder {
    pub(super) fn new(allowed_size: usize, max_list_size: usize) -> Self {
        Self {
            table: DynamicTable::new(DEFAULT_TABLE_SIZE),
            allowed_size,
            max_list_size,
        }
    }

    /// Decodes a whole block into `fields`, whose former contents are replaced.
    pub(super) fn decode(
        &mut self,
        mut block: &[u8],
        fields: &mut FieldList,
    ) -> Result<Dependence, InvalidBlock> {
        fields.clear();
        let mut dependence = Dependence::default();
        let mut may_resize = true;
        while let Some(&first) = block.first() {
            if first & 0xe0 == 0x20 {
                if !may_resize {
                    return Err(InvalidBlock::TableSize);
                }
                self.resize(&mut block)?;
                dependence.resizes = true;
                continue;
            }
            may_resize = false;
            self.decode_field(first, &mut block, fields, &mut dependence)?;
            if fields.size() > self.max_list_size {
                return Err(InvalidBlock::TooLong);
            }
        }
        Ok(dependence)
    }

    fn resize(&mut self, block: &mut &[u8]) -> Result<(), InvalidBlock> {
        let size = integer::decode(5, block).ok_or(InvalidBlock::Integer)?;
        if size > self.allowed_size {
            return Err(InvalidBlock::TableSize);
        }
        self.table.resize(size);
        Ok(())
    }

    fn decode_field(
        &mut self,
        first: u8,
        block: &mut &[u8],
        fields: &mut FieldList,
        dependence: &mut Dependence,
    ) -> Result<(), InvalidBlock> {
        let (prefix, is_inserted) = match first {
            0x80.. => return self.decode_indexed(block, fields, dependence),
            0x40.. => (6, true),
            _ => (4, false),
        };
        let index = integer::decode(prefix, block).ok_or(InvalidBlock::Integer)?;
        if index == 0 {
            decode_string(block, fields.text())?;
        } else {
            let (name, _) = self.field(index, dependence)?;
            fields.text().extend_from_slice(name);
        }
        let name_end = fields.text().len();
        decode_string(block, fields.text())?;
        fields.end_field(name_end, is_inserted);
        if is_inserted && let Some((name, value)) = fields.last() {
            self.table.insert(name, value);
            dependence.inserts = true;
        }
        Ok(())
    }

    fn decode_indexed(
        &self,
        block: &mut &[u8],
        fields: &mut FieldList,
        dependence: &mut Dependence,
    ) -> Result<(), InvalidBlock> {
        let index = integer::decode(7, block).ok_or(InvalidBlock::Integer)?;
        let (name, value) = self.field(index, dependence)?;
        fields.text().extend_from_slice(name);
        let name_end = fields.text().len();
        fields.text().extend_from_slice(value);
        fields.end_field(name_end, false);
        Ok(())
    }

    /// Returns the field at `index` of both tables (RFC 7541, section 2.3.3).
    fn field(
        &self,
        index: usize,
        dependence: &mut Dependence,
    ) -> Result<(&[u8], &[u8]), InvalidBlock> {
        let nth = index.checked_sub(1).ok_or(InvalidBlock::Index(index))?;
        if let Some((name, value)) = STATIC_TABLE.get(nth) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        dependence.reads = true;
        let entry = self.table.entry(nth - STATIC_TABLE.len());
        entry.ok_or(InvalidBlock::Index(index))
    }
}

fn decode_string(block: &mut &[u8], out: &mut Vec<u8>) -> Result<(), InvalidBlock> {
    let is_coded = block.first().is_some_and(|first| first & 0x80 != 0);
    let len = integer::decode(7, block).ok_or(InvalidBlock::Integer)?;
    let (text, rest) = block.split_at_checked(len).ok_or(InvalidBlock::String)?;
    *block = rest;
    if is_coded {
        return huffman::decode(text, out).ok_or(InvalidBlock::Huffman);
    }
    out.extend_from_slice(text);
    Ok(())
}

#[cfg(test)]
mod tests;
