//! Other tools' command lines and reports.
//!
//! A *dialect* turns an argument list into a plan, and the measurements into the text that the
//! other tool would have printed. The interface is identical; the original's defects are not
//! reproduced. `docs/dialects.md` lists every flag, and the differences with their reasons.
//!
//! ## To change
//!
//! - a flag or a report of one tool: the header of its module: `ab.rs`, `wrk.rs`, `oha.rs`, `k6.rs`
//! - the users of a tool in the processes of `--processes`: `processes.rs`
//! - the threads of a command line that gives none: `threads.rs`
//! - a new tool: a module here, which `../tests/any_words.rs` tries with arbitrary words;
//!   `docs/dialects.md`

pub mod ab;
#[cfg(feature = "k6")]
pub mod k6;
pub mod oha;
pub mod processes;
mod threads;
pub mod wrk;
