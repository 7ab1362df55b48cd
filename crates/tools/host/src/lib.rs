//! What the commands of other tools share.
//!
//! A *dialect* turns an argument list into a plan, and the measurements into the text that the
//! other tool would have printed. The interface is identical; the original's defects are not
//! reproduced. `docs/dialects.md` lists every flag, and the differences with their reasons.
//!
//! Each tool has a crate of its own beside this one; k6's is `crates/k6/command`.

pub mod processes;
mod threads;

pub use threads::threads;
