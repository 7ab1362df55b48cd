//! Output preflight: before anything is sent, every output is opened, and none may be written over
//! another one or over what is read.

mod destination;
mod overwriting;
mod reserved;

pub use destination::{Destination, write_whole};
pub use overwriting::{Overwriting, refuse_overwriting};
pub use reserved::{Reserved, Unwritable, discard_all};
