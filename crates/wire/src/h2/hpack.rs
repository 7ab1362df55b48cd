//! Header compression (RFC 7541): blocks of the peer are decoded with its dynamic table, our own
//! need none.

mod decoder;
mod encoder;
mod fields;
mod huffman;
mod integer;
mod memo;
mod static_table;
mod table;

pub(crate) use self::decoder::DEFAULT_TABLE_SIZE;
pub use self::decoder::InvalidBlock;
pub(crate) use self::encoder::{NO_TABLE, encode_field};
pub(crate) use self::fields::FieldList;
pub(crate) use self::memo::BlockReader;
