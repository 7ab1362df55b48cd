//! The modules of a script: from specifiers to compiled code.

pub(crate) mod cycles;
mod depth;
pub(crate) mod factory;
pub(crate) mod lines;
pub(crate) mod linking;
pub(crate) mod loader;
pub(crate) mod resolve;
pub(crate) mod store;
pub(crate) mod translate;
