//! Header compression (RFC 7541): the server's blocks are decoded with its dynamic table; the
//! client's blocks use none.

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
