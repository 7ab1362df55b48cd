//! A running test as seen by the live page. What the page changes, it changes as the REST API does.

use super::{Running, Step};
use crate::rest::{Control, Scale};
use crate::stop::Reason;
use loadline_plan::Level;
use loadline_record::Note;
use loadline_runner::{Changed, Command, Levels, Means, NoteProblem, Phase, Steer, SteerProblem};

impl Steer for Running {
    fn means(&self) -> Means {
        Means {
            pauses: true,
            levels: match self.live().controlled {
                Some(_) => Levels::Users,
                None => Levels::None,
            },
        }
    }

    fn phase(&self) -> Phase {
        match self.live().step {
            Step::Created | Step::Waiting | Step::Setup => Phase::BeforeLoad,
            Step::Load => Phase::Running,
            Step::Teardown | Step::Ended | Step::Interrupted => Phase::Ended,
        }
    }

    fn is_paused(&self) -> bool {
        Running::is_paused(self)
    }

    fn is_ending(&self) -> bool {
        self.interrupt.reason().is_some()
    }

    fn set_paused(&self, is_paused: bool) -> Changed {
        let paused = Control::pause(self, is_paused);
        paused
            .map(|()| None)
            .map_err(|problem| SteerProblem::Tool(format!("{problem}.")))
    }

    /// The users of the scenario that is controlled externally.
    fn change(&self, level: Level) -> Changed {
        let vus = match level {
            Level::Users(users) => Some(i64::from(users)),
            Level::Share(_) | Level::Rate(_) | Level::Paused => {
                return Err(SteerProblem::Tool(
                    "its level is a number of users.".to_owned(),
                ));
            }
        };
        let scaled = self.scale(Scale { vus, vus_max: None });
        scaled
            .map(|()| None)
            .map_err(|problem| SteerProblem::Tool(format!("{problem}.")))
    }

    fn note(&self, note: Note) -> Result<(), NoteProblem> {
        self.commands.note(note)
    }

    fn end(&self, _command: Command) {
        self.interrupt.end(Reason::Requested);
    }
}
