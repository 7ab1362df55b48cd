//! Fields to header blocks that mean the same on every connection.
//!
//! A block refers to the static table only and adds nothing to the dynamic one, so it may be
//! written once, before the run, and sent on any connection at any time.

use super::static_table::{self, Known};
use super::{huffman, integer};

/// Sets the peer's idea of our dynamic table to nothing, before the first block of a connection.
/// With no table, no later setting of the peer asks for another update (RFC 7541, section 4.2).
pub(crate) const NO_TABLE: u8 = 0x20;

/// Appends one field, whose name is in lower case.
pub(crate) fn encode_field(name: &str, value: &str, out: &mut Vec<u8>) {
    match static_table::find(name, value) {
        Known::Field(index) => integer::encode(7, 0x80, index, out),
        Known::Name(index) => {
            integer::encode(4, 0, index, out);
            encode_string(value.as_bytes(), out);
        }
        Known::Nothing => {
            out.push(0);
            encode_string(name.as_bytes(), out);
            encode_string(value.as_bytes(), out);
        }
    }
}

/// The shorter of the text itself and its Huffman code.
fn encode_string(text: &[u8], out: &mut Vec<u8>) {
    let coded_len = huffman::encoded_len(text);
    if coded_len < text.len() {
        integer::encode(7, 0x80, coded_len, out);
        huffman::encode(text, out);
    } else {
        integer::encode(7, 0, text.len(), out);
        out.extend_from_slice(text);
    }
}
