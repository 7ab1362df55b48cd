//! What each part of a run is assigned: the plan, what all have in common, and its workers.

use crate::bundle::{Bundle, Contents};
use crate::link::Link;
use crate::message::{Job, ToChild};
use loadline_engine::Detail;
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

    /// Sends a part its assignment.
    pub(crate) fn give(&self, link: &mut Link) {
        link.tell_bundle(self.bundle.clone());
        link.tell(&ToChild::Assign {
            plan: self.plan.clone(),
            own: None,
            detail: self.detail,
            workers: link.workers(),
        });
    }
}

/// Returns the workers of each process, as equal in number as possible.
pub(crate) fn shares(workers: u32, processes: u32) -> impl Iterator<Item = Range<u32>> {
    let end =
        move |index: u32| (u64::from(workers) * u64::from(index) / u64::from(processes)) as u32;
    (0..processes).map(move |index| end(index)..end(index + 1))
}
