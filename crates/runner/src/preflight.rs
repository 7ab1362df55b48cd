//! Output preflight: before anything is sent, every output is opened, and no output may overwrite
//! another one or an input.

mod destination;
mod overwriting;
mod reserved;

pub use destination::{Destination, write_whole};
pub use overwriting::{Overwriting, refuse_overwriting};
pub use reserved::{Reserved, Unwritable, discard_all};
