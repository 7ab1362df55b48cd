//! Other tools' command lines and reports.
//!
//! A *dialect* turns an argument list into a plan, and what was measured into the text that the
//! other tool would have printed. The letter of its interface is kept, its defects are not;
//! `docs/dialects.md` lists every flag, and where we differ and why.

pub mod ab;
#[cfg(feature = "k6")]
pub mod k6;
pub mod oha;
pub mod processes;
mod threads;
pub mod wrk;
