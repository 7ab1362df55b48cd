//! Changes of the load while a run lasted.

use loadline_plan::{Level, Plan};
use serde::{Deserialize, Serialize};

/// A change of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChange {
    /// From when on it holds, in nanoseconds from the begin of the measured part; less than 0 in
    /// the warm-up.
    pub at_ns: i64,
    /// What the load is then.
    pub level: Level,
    /// The scenario whose load it is, counted from 0; that of all of them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<usize>,
}

impl LoadChange {
    /// The name of the scenario whose load it is, if it is not that of the whole plan.
    pub fn scenario_of<'a>(&self, plan: &'a Plan) -> Option<&'a str> {
        let scenario = plan.scenarios.get(self.scenario?)?;
        Some(&scenario.part.name)
    }
}
