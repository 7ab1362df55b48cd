//! Other tools' command lines and reports.
//!
//! A *dialect* turns an argument list into a plan, and the measurements into the text that the
//! other tool would have printed. The interface is identical; the original's defects are not
//! reproduced. `docs/dialects.md` lists every flag, and the differences with their reasons.

pub mod ab;
#[cfg(feature = "k6")]
pub mod k6;
pub mod oha;
pub mod processes;
mod threads;
pub mod wrk;
