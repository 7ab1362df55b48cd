//! Encodes fields to header blocks that are valid on every connection.
//!
//! A block refers to the static table only and adds nothing to the dynamic one, so it may be
//! written once, before the run, and sent on any connection at any time.

use super::static_table::{self, Known};
use super::{huffman, integer};

/// Sets the size of the client's dynamic table to zero, before the first block of a connection.
/// With an empty table, no later setting of the server requires another update (RFC 7541, section
/// 4.2).
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

/// Appends a text as it is or in Huffman code, whichever is shorter.
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
