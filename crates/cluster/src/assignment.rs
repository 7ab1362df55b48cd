//! What each part of a run is assigned: the plan, what all have in common, and its workers.

use crate::bundle::{Bundle, Contents};
use crate::link::Link;
use crate::message::{Job, ToChild};
use loadline_engine::{Detail, StartError};
use loadline_plan::Plan;
use std::io;
use std::ops::Range;

/// The assignment of each part of a run.
pub(crate) struct Assignment {
    bundle: Bundle,
    /// The plan without what is in the bundle.
    plan: Box<Plan>,
    detail: Detail,
}

impl Assignment {
    /// Creates the assignment of a plan, and of a job if the parts have one.
    ///
    /// # Errors
    /// If a file that all parts need can't be read.
    pub(crate) fn new(plan: &Plan, detail: Detail, job: Option<Job>) -> io::Result<Self> {
        let mut plan = Box::new(plan.clone());
        let contents = Contents::take(&mut plan, job);
        Ok(Assignment {
            bundle: contents.pack()?,
            plan,
            detail,
        })
    }

    /// Checks that agents take it: a bundle of at most so many bytes.
    ///
    /// # Errors
    /// If it has more.
    pub(crate) fn for_agents(self, most_bytes: usize) -> Result<Self, StartError> {
        let bytes = self.bundle.bytes().len();
        match bytes > most_bytes {
            true => Err(StartError::Remote(format!(
                "the bodies, lists, certificates and scripts of this run have {} together as they \
                 are sent, and agents take at most {}; give shorter ones, or leave out --agents",
                mebibytes(bytes),
                mebibytes(most_bytes)
            ))),
            false => Ok(self),
        }
    }

    /// Sends a part its assignment.
    pub(crate) fn give(&self, link: &mut Link) {
        link.send_bundle(self.bundle.clone());
        link.send(&ToChild::Assign {
            plan: self.plan.clone(),
            own: None,
            detail: self.detail,
            workers: link.workers(),
        });
    }
}

/// Returns a number of bytes in MiB, rounded up.
fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Returns the workers of each process, as equal in number as possible.
pub(crate) fn shares(workers: u32, processes: u32) -> impl Iterator<Item = Range<u32>> {
    let end =
        move |index: u32| (u64::from(workers) * u64::from(index) / u64::from(processes)) as u32;
    (0..processes).map(move |index| end(index)..end(index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_sent_no_more_than_they_take() {
        let assignment = |text: &str| {
            let job = Job::new("k6", &text).expect("a job");
            Assignment::new(&Plan::default(), Detail::default(), Some(job)).expect("a plan")
        };
        let short = assignment("script");
        let bytes = short.bundle.bytes().len();
        assert!(short.for_agents(bytes).is_ok());
        let refusal = assignment("script").for_agents(bytes - 1).map(drop);
        let refusal = refusal.expect_err("a refusal").to_string();
        assert_eq!(
            refusal,
            "the bodies, lists, certificates and scripts of this run have 1 MiB together as they \
             are sent, and agents take at most 1 MiB; give shorter ones, or leave out --agents"
        );
        assert!(assignment("script").for_agents(Bundle::MOST_BYTES).is_ok());
    }
}
