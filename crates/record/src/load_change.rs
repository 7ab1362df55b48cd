//! Changes of the load during a run.

use loadline_plan::{Level, Plan};
use serde::{Deserialize, Serialize};

/// A change of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChange {
    /// The instant from which it holds, in nanoseconds from the begin of the measured part;
    /// negative in the warm-up.
    pub at_ns: i64,
    /// The new level of the load.
    pub level: Level,
    /// The index of the changed scenario, from 0; `None` for the load of all scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<usize>,
}

impl LoadChange {
    /// Returns the name of the changed scenario; `None` for the load of the whole plan.
    pub fn scenario_of<'a>(&self, plan: &'a Plan) -> Option<&'a str> {
        let scenario = plan.scenarios.get(self.scenario?)?;
        Some(&scenario.part.name)
    }
}
