//! k6's modules that send nothing.
//!
//! Each module is a function that creates an object with the module's members; the script engine
//! makes exports of them. Nothing here blocks or depends on virtual users, so all of it can be
//! tested in a plain runtime. Parts that are simpler in JavaScript are written in JavaScript
//! (`src/js`). They are evaluated when a script first uses them, since each virtual user needs
//! memory for them.

mod bytes;
mod crypto;
mod csv;
mod data;
mod encoding;
mod error;
mod files;
mod form;
mod globals;
mod html;
mod json;
mod native;
mod secrets;
mod source;
mod streams;
mod table;
mod text;

pub use bytes::{buffer, bytes_of_buffer, type_in_go};
pub use crypto::crypto;
pub use data::{SharedArrays, data};
pub use encoding::{base64, encoding};
pub use error::go_error;
pub use files::{Files, OpenError, Opened, experimental_csv, experimental_fs};
pub use form::{FormSubmission, form_of, link_of, urlencoded};
pub use globals::{Missing, install_globals, realm};
pub use html::{html, selection_of};
pub use json::{gjson_get, parse_json};
pub use native::{guarded, uncatchable};
pub use secrets::{Secrets, secrets};
pub use source::{INTERNAL, evaluate};
pub use streams::experimental_streams;
pub use text::{Text, lossy, text_of};

#[cfg(test)]
mod tests;
