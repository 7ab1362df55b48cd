//! The users of a script in one of several processes, whose tally is the error that ends the load.

use crate::failure::Failure;
use loadline_engine::AnyTally;
use loadline_script::{Raised, TallySource};
use std::sync::Arc;

/// Reports the first error of a script once.
#[derive(Debug)]
pub(crate) struct ErrorTally(pub(crate) Arc<Failure>);

impl TallySource for ErrorTally {
    fn take_tally(&mut self) -> Option<AnyTally> {
        let raised = self.0.take_raised()?;
        Some(AnyTally::new(Raised(raised.into())))
    }

    fn take_early_tally(&mut self) -> Option<AnyTally> {
        self.take_tally()
    }
}
