//! k6's modules that send nothing.
//!
//! Each module is a function that creates an object with the module's members; the script engine
//! makes exports of them. Nothing here blocks or depends on virtual users, so all of it can be
//! tested in a plain runtime. Modules that need a virtual user (`k6`, `k6/http`, `k6/execution`,
//! `k6/metrics`, `k6/timers`) are in `crates/k6/runtime`. Parts that are simpler in JavaScript are
//! written in JavaScript (`src/js`). They are evaluated when a script first uses them, since each
//! virtual user needs memory for them.
//!
//! ## To change
//!
//! - a function of a module: `crypto.rs`, `data.rs`, `encoding.rs`, `html.rs`, `secrets.rs`,
//!   `streams.rs`; files and CSV `files.rs`, `csv.rs`; parts in JavaScript `js/`
//! - a new module: a file here, its function in `lib.rs`; its name goes into the list of modules of
//!   the crate `script-js`
//! - a global: `globals.rs`, with `NAMES` there
//! - a member of a selection or element of `k6/html`: `js/html/selection.js`, `js/html/element.js`;
//!   of elements of one name `js/html/kinds.js`, `js/html/fields.js`, `js/html/links.js`
//! - the selectors of `k6/html`: `html/css.rs`, `html/css/`; the cases with k6's own values are in
//!   `tests/html/`
//! - errors and native functions: `error.rs`, `native.rs`
//! - values of scripts: bytes `bytes.rs`, texts `text.rs`, JSON `json.rs`, forms `form.rs`, rows of
//!   a CSV file `table.rs`; our own JavaScript `source.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

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
