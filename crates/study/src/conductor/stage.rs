//! The runs of a study one after the other, each with its targets as they are to be before it.

use super::{Agenda, Conductor, Screen, Stop, needs};
use crate::alike::Likeness;
use crate::backends::Backends;
use crate::events::Events;
use crate::expand::Run;
use crate::progress::Forecast;
use crate::study::Target;
use crate::target::{NoTarget, Serving};
use crate::warming::warm_up;
use std::time::Instant;

/// The servers that exist while runs are made.
pub(super) struct Stage<'r, 'a> {
    pub(super) conductor: &'r Conductor<'a>,
    pub(super) backends: &'r Backends<'a>,
    pub(super) events: &'r Events,
}

/// The targets that serve.
#[derive(Default)]
struct Up<'a> {
    targets: Vec<Serving<'a>>,
    /// True if a run was made against them since they were started.
    were_used: bool,
}

impl<'a> Stage<'_, 'a> {
    /// Makes these runs.
    pub(super) fn make(
        &self,
        pending: &[&Run],
        total: usize,
        screen: &mut dyn Screen,
    ) -> Result<(), Stop> {
        let study = self.conductor.study;
        let mut likeness = Likeness::new(study);
        let mut up = self.try_targets(pending, &mut likeness)?;
        let mut forecast = Forecast::new(study.pause);
        for (index, run) in pending.iter().enumerate() {
            let agenda = Agenda {
                pending: &pending[index..],
                total,
                forecast: forecast.clone(),
            };
            let begun = Instant::now();
            self.make_ready(run, &mut up, &mut likeness, screen)?;
            let attempt = self.conductor.attempt(run, &up.targets, self.backends);
            attempt.make(&agenda, screen, self.events)?;
            up.were_used = true;
            forecast.learn(run.lasts, begun.elapsed());
            if index + 1 < pending.len() && !self.events.pause(study.pause) {
                return Err(Stop::Interrupted);
            }
        }
        Ok(up.targets.into_iter().try_for_each(Serving::stop)?)
    }

    /// Starts each target, sees that it serves and that it responds as the others, before anything
    /// runs. The one of the first run goes on.
    fn try_targets(&self, pending: &[&Run], likeness: &mut Likeness<'a>) -> Result<Up<'a>, Stop> {
        let mut up = Up::default();
        for target in self.conductor.targets(pending).into_iter().rev() {
            let serving = self.start(target)?;
            likeness.check(&serving).map_err(NoTarget::Refused)?;
            match pending.first() {
                Some(run) if run.settings.target == target.name => up.targets.push(serving),
                _ => serving.stop()?,
            }
        }
        Ok(up)
    }

    /// Leaves the targets of a run, and no other, as they are to be before it.
    fn make_ready(
        &self,
        run: &Run,
        up: &mut Up<'a>,
        likeness: &mut Likeness<'a>,
        screen: &mut dyn Screen,
    ) -> Result<(), Stop> {
        let needed = needs(run);
        let is_needed = |target: &Serving<'_>| needed.contains(&target.name()) && !target.is_gone();
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut up.targets)
            .into_iter()
            .partition(is_needed);
        go.into_iter().try_for_each(Serving::stop)?;
        up.targets = stay;
        if up.were_used {
            let mut targets = up.targets.iter();
            targets.try_for_each(|target| target.reset(self.events))?;
        }
        for name in needed {
            if !up.targets.iter().any(|target| target.name() == name) {
                let target = self.conductor.study.target(name);
                let serving = self.start(target.expect("rows name targets that are known"))?;
                likeness.check(&serving).map_err(NoTarget::Refused)?;
                up.targets.push(serving);
            }
        }
        self.warm_up(&mut up.targets, screen)?;
        up.were_used = false;
        Ok(self.backends.reset(self.events)?)
    }

    /// Starts a target, with the backends as they are before a run.
    fn start(&self, target: &'a Target) -> Result<Serving<'a>, NoTarget> {
        self.backends.reset(self.events)?;
        let Conductor { study, folder, .. } = *self.conductor;
        let folder = folder.work(&format!("target-{}", target.name));
        Serving::start(study, target, &folder, self.backends.places(), self.events)
    }

    /// Warms up those targets that were started since the last run.
    fn warm_up(
        &self,
        targets: &mut [Serving<'a>],
        screen: &mut dyn Screen,
    ) -> Result<(), NoTarget> {
        let study = self.conductor.study;
        let Some(how) = &study.warm_up else {
            return Ok(());
        };
        for target in targets.iter_mut().filter(|target| target.warmed.is_none()) {
            screen.print_line(&format!("{} is being warmed up.", target.name()));
            target.warmed = Some(warm_up(study, how, target, self.events)?);
        }
        Ok(())
    }
}
