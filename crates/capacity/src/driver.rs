//! Drives a search, from the warm-up to the ladder.

mod concluding;

use crate::conclusion::Conclusion;
use crate::keeping_up::TooShort;
use crate::ladder::{Ladder, Recovery, Rung};
use crate::measure::{Measure, Observation, Part, Purpose, Trial};
use crate::pace::Pace;
use crate::settings::{FIRST_TRIALS, Settings};
use loadline_stats::search::{self, Finding, Search, Step};
use serde::{Deserialize, Serialize};

/// The index of the goal that all checks pass; the goals of the single checks follow it.
const ALL: usize = 0;
/// The share of the time for repeated trials that is reserved until a first trial has failed.
const RETRY_RESERVE: f64 = 0.5;
/// The share of the width by which the first level lies below a refuted one.
const CLOSE_BELOW: f64 = 0.9;
/// The number of last trials from whose overheads the overhead of the next one is predicted.
const OVERHEADS: usize = 3;
/// The factor by which each further step down exceeds the one before, on a logarithmic scale.
const FURTHER_BELOW: i32 = 3;

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOutcome {
    /// The load line, or the reason why there is none.
    pub conclusion: Conclusion,
    /// The target's behaviour around its load line; empty if that was not found, or no time was
    /// left.
    pub ladder: Ladder,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
}

impl SearchOutcome {
    /// Returns a finding if the trials of the search were too short to show a growing backlog of an
    /// open load: the load line found may then be too high, or by chance too low.
    pub fn too_short(&self) -> Option<TooShort> {
        let trials = || self.trials.iter();
        let is_rung = |trial: &Trial| matches!(trial.purpose, Purpose::Ladder(_));
        let answered = trials().filter(|trial| trial.seen.answers_per_s > 0.0 && !is_rung(trial));
        let at_ease = answered.min_by(|one, other| one.level.total_cmp(&other.level))?;
        let response_s = at_ease.seen.mean_s;
        let confirming = trials().filter(|trial| trial.purpose == Purpose::Confirmation);
        let confirming_s = confirming.map(|trial| trial.seconds).reduce(f64::min)?;
        let confirming = Settings::CONFIRMATION_TRIALS;
        TooShort::of(confirming_s / confirming, confirming, response_s)
    }
}

/// The way in which a search ended.
#[derive(Debug, PartialEq, Eq)]
pub enum SearchEnd<E> {
    /// It was complete.
    Complete,
    /// The user interrupted it.
    Interrupted,
    /// A trial could not be measured.
    Failed(E),
}

/// Searches the load line, confirms it and measures the ladder. The outcome so far is returned
/// however the search ends.
pub fn find<M: Measure>(
    settings: &Settings,
    measure: &mut M,
) -> (SearchOutcome, SearchEnd<M::Error>) {
    let mut driver = Driver {
        search: Search::new(settings.range(), vec![settings.goal(); settings.checks + 2]),
        settings,
        measure,
        trials: Vec::new(),
        spent_s: settings.spent_s,
        overheads_s: Vec::new(),
        retry_left_s: settings.retry_s(),
        ladder: Ladder::default(),
        mean_at_ease_s: f64::MAX,
        pace: Pace::default(),
        most_answers_per_s: 0.0,
        suggested_s: 0.0,
        confirmed: None,
        refuted: Vec::new(),
    };
    let ended = match driver.run() {
        Ok(()) => SearchEnd::Complete,
        Err(Stop::Interrupted) => SearchEnd::Interrupted,
        Err(Stop::Failed(error)) => SearchEnd::Failed(error),
    };
    let outcome = SearchOutcome {
        conclusion: driver.conclusion(),
        ladder: driver.ladder,
        trials: driver.trials,
    };
    (outcome, ended)
}

/// A reason why a search stops early.
enum Stop<E> {
    Interrupted,
    Failed(E),
}

struct Driver<'a, M> {
    settings: &'a Settings,
    measure: &'a mut M,
    search: Search,
    trials: Vec<Trial>,
    /// Seconds of the budget that are spent.
    spent_s: f64,
    /// The overhead of each trial in seconds: its duration without the measured part and the wait
    /// for the last responses; empty without a clock.
    overheads_s: Vec<f64>,
    /// Seconds left for trials that are repeated.
    retry_left_s: f64,
    ladder: Ladder,
    /// The shortest mean response time of a trial, in seconds.
    mean_at_ease_s: f64,
    /// The users' pace, from the trials in which they kept it.
    pace: Pace,
    /// The highest rate of responses of a trial, per second.
    most_answers_per_s: f64,
    /// The duration of the trial that last suggested where the load line may be, in seconds.
    suggested_s: f64,
    /// The highest level at which a long run passed, and all responses together do.
    confirmed: Option<f64>,
    /// The levels at which a long run or all responses together failed, in rising order.
    refuted: Vec<f64>,
}

impl<M: Measure> Driver<'_, M> {
    fn run(&mut self) -> Result<(), Stop<M::Error>> {
        if self.settings.warm_up_s > 0.0 {
            self.warm_up()?;
        }
        self.search()?;
        if let Some(level) = self.candidate()
            && self.has_time_to_confirm(level)
            && !self.confirm(level)?
        {
            self.go_below()?;
        }
        match self.found() {
            Some(level) if self.settings.ladder_s(self.overhead_s()) <= self.left_s() => {
                self.climb(level)
            }
            _ => Ok(()),
        }
    }

    /// Warms the target up. If the target does not even keep up with that, the search begins at the
    /// rate that it achieved.
    fn warm_up(&mut self) -> Result<(), Stop<M::Error>> {
        let level = self.settings.warm_up_level();
        let seconds = self.settings.warm_up_s;
        let seen = self.seen(Purpose::WarmUp, level, seconds)?;
        self.add(Purpose::WarmUp, level, seconds, seen, false);
        let trial = self.trials.last().expect("the trial was just made");
        if !trial.kept_up && !trial.seen.is_void && !self.settings.whole {
            self.search.begin_at(trial.seen.answers_per_s);
        }
        self.pause();
        Ok(())
    }

    /// Returns the load line, unless the generator reached its limit before it.
    fn found(&self) -> Option<f64> {
        let (lower, upper) = self.enclosed()?;
        self.own_limit(lower, upper).is_none().then_some(lower)
    }

    /// Returns the confirmed level and the relevant upper bound, if they are close enough.
    fn enclosed(&self) -> Option<(f64, f64)> {
        let (_, upper) = self.search.bounds(ALL);
        let bounds = self.confirmed.zip(upper);
        bounds.filter(|(lower, upper)| self.search.close(*lower, *upper, ALL))
    }

    /// Makes trials until the load line is enclosed, or until no time is left for another one and
    /// the confirmation.
    fn search(&mut self) -> Result<(), Stop<M::Error>> {
        while let Step::Measure(trial) = self.search.next_for(ALL) {
            let level = trial.rate;
            let seconds = match trial.seconds < self.settings.trial_s {
                true => trial.seconds,
                false => self.settings.length_s(level),
            };
            let confirmation_s = self.settings.confirmation_s(level);
            if self.whole_s(seconds) + self.whole_s(confirmation_s) > self.left_s() {
                break;
            }
            self.counted(Purpose::Search, level, seconds)?;
        }
        Ok(())
    }

    /// Returns the level to be confirmed: the relevant lower bound, or, if the time ended before
    /// there was one, the highest level that apparently holds.
    fn candidate(&self) -> Option<f64> {
        match self.search.finding(ALL) {
            Finding::Between { lower, .. } => Some(lower),
            Finding::AllGood => Some(self.settings.highest),
            Finding::NoneGood => None,
            Finding::Open { .. } => self.search.apparent_bounds(ALL).0,
        }
    }

    fn has_time_to_confirm(&self, level: f64) -> bool {
        self.has_time_for(self.settings.confirmation_s(level))
    }

    /// True if there is time for a trial that measures this many seconds.
    fn has_time_for(&self, seconds: f64) -> bool {
        self.whole_s(seconds) <= self.left_s()
    }

    /// Measures a level in one long run. Returns true if the run passed, and all responses at the
    /// level together.
    fn confirm(&mut self, level: f64) -> Result<bool, Stop<M::Error>> {
        let seconds = self.settings.confirmation_s(level);
        let held = self.counted(Purpose::Confirmation, level, seconds)?;
        let held = held && self.measure.together(level).iter().all(|held| *held);
        if held {
            self.confirmed = Some(self.confirmed.map_or(level, |other| other.max(level)));
        } else {
            self.refuted.push(level);
            self.refuted.sort_by(f64::total_cmp);
            self.search.refute(ALL, level);
        }
        Ok(held)
    }

    /// Searches the load line below a refuted level. Short trials had passed there, so only long
    /// runs count from here on.
    fn go_below(&mut self) -> Result<(), Stop<M::Error>> {
        let mut ratio = 1.0 - CLOSE_BELOW * self.settings.width;
        while let Some(upper) = self.refuted.first().copied() {
            let level = match self.confirmed {
                Some(lower) if self.search.close(lower, upper, ALL) => break,
                Some(lower) => self.search.middle(lower, upper),
                None if upper <= self.settings.lowest => break,
                None => self.step_down(upper, ratio),
            };
            if !self.has_time_to_confirm(level) {
                break;
            }
            self.confirm(level)?;
            ratio = ratio.powi(FURTHER_BELOW);
        }
        Ok(())
    }

    /// Returns a level below a refuted one: lower by this ratio, or the rate that the target
    /// achieved if this is the first refutation and it fell behind.
    fn step_down(&self, upper: f64, ratio: f64) -> f64 {
        let last = self.trials.last().filter(|trial| !trial.kept_up);
        let carried = last.map(|trial| trial.seen.answers_per_s);
        let below = match (self.settings.whole, carried) {
            (true, _) => (upper * ratio).min(upper - 1.0),
            (false, Some(carried)) if self.refuted.len() == 1 && carried < upper => carried,
            (false, _) => upper * ratio,
        };
        self.search.on_step(below)
    }

    fn climb(&mut self, load_line: f64) -> Result<(), Stop<M::Error>> {
        for part in Part::RISING {
            if !self.has_time_for(self.settings.trial_s) {
                return Ok(());
            }
            let level = self.level(part, load_line);
            self.undisturbed(Purpose::Ladder(part), level, self.settings.trial_s)?;
            self.add_rung(part);
        }
        self.descend(load_line)
    }

    /// Measures the last two rungs: above the load line, and immediately after that below it.
    fn descend(&mut self, load_line: f64) -> Result<(), Stop<M::Error>> {
        let over = (self.level(Part::Over, load_line), self.settings.trial_s);
        let back = (self.level(Part::Back, load_line), self.settings.recovery_s);
        while self.has_time_for(over.1 + back.1) {
            let descent = self.measure.descend(over, back);
            let descent = descent.map_err(Stop::Failed)?.ok_or(Stop::Interrupted)?;
            self.spend(over.1 + back.1, &descent.back);
            let discarded = self.is_to_be_made_again(&descent.back, over.1 + back.1);
            let recovery = Recovery::of(&descent);
            let steps = [
                (Part::Over, over, descent.over),
                (Part::Back, back, descent.back),
            ];
            for (part, (level, seconds), seen) in steps {
                self.add(Purpose::Ladder(part), level, seconds, seen, discarded);
                if !discarded {
                    self.add_rung(part);
                }
            }
            if !discarded {
                self.ladder.recovery = recovery;
                return Ok(());
            }
            self.discard(over.1 + back.1);
        }
        Ok(())
    }

    fn level(&self, part: Part, load_line: f64) -> f64 {
        // Idle is at least the lowest rate at which anything can be measured.
        self.search.on_step(load_line * part.share())
    }

    fn add_rung(&mut self, part: Part) {
        let trial = self.trials.last().expect("the rung was just measured");
        let trial = trial.clone();
        self.ladder.rungs.push(Rung { part, trial });
    }

    /// Makes a trial that counts for the search. Returns true if it passed. A trial that is longer
    /// because its rate is low has the same weight as any other.
    fn counted(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<bool, Stop<M::Error>> {
        self.undisturbed(purpose, level, seconds)?;
        let trial = self.trials.last().expect("the trial was just made");
        let held = trial.held();
        let mut good = vec![held];
        good.extend(&trial.seen.checks);
        good.push(trial.kept_up);
        if !trial.kept_up && trial.seen.answers_per_s > 0.0 && seconds >= self.suggested_s {
            let carried = self.carried(&trial.seen);
            self.search.suggest(carried);
            self.suggested_s = seconds;
        }
        let seconds = seconds * self.settings.trial_s / self.settings.length_s(level);
        let rate = level;
        self.search.record(search::Trial { rate, seconds }, &good);
        Ok(held)
    }

    /// Returns the level that the target sustained in a trial in which it did not keep up.
    fn carried(&self, seen: &Observation) -> f64 {
        match self.settings.whole {
            true => seen.answers_per_s * self.pace.cycle_s(self.mean_at_ease_s),
            false => seen.answers_per_s,
        }
    }

    /// Makes a trial, and repeats it while its machine loses time and the budget allows it. Passed
    /// and failed trials are both repeated: repeating only failures would bias the result upwards.
    /// A void trial is repeated in any case.
    fn undisturbed(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<(), Stop<M::Error>> {
        loop {
            let seen = self.seen(purpose, level, seconds)?;
            let discarded = self.is_to_be_made_again(&seen, seconds);
            self.add(purpose, level, seconds, seen, discarded);
            if !discarded {
                self.pause();
                return Ok(());
            }
            self.discard(seconds);
        }
    }

    fn is_to_be_made_again(&self, seen: &Observation, seconds: f64) -> bool {
        let is_disturbed = seen.lost_time && !self.is_always_disturbed();
        seen.is_void || (is_disturbed && self.can_spare(seconds))
    }

    /// Accounts for a trial that is repeated.
    fn discard(&mut self, seconds: f64) {
        let last = self.trials.last().expect("a trial was just made");
        if !last.seen.is_void {
            self.retry_left_s -= seconds;
        }
        self.pause();
    }

    /// True if the first [`FIRST_TRIALS`] trials after the warm-up, or more, were all discarded:
    /// disturbance is then normal on this machine, and waiting does not help.
    fn is_always_disturbed(&self) -> bool {
        let trials = self.trials.iter().filter(|trial| !trial.seen.is_void);
        let first = trials.filter(|trial| trial.purpose != Purpose::WarmUp);
        first.take_while(|trial| trial.discarded).count() >= FIRST_TRIALS
    }

    fn can_spare(&self, seconds: f64) -> bool {
        let left_s = self.retry_left_s - self.retry_reserve_s();
        seconds <= left_s && 2.0 * self.whole_s(seconds) <= self.left_s()
    }

    /// Returns the seconds reserved for repeating trials around the load line: repeating those far
    /// below it, where the search begins, would move no bound.
    fn retry_reserve_s(&self) -> f64 {
        let mut counting = self.trials.iter().filter(|trial| trial.counts());
        match counting.any(|trial| !trial.held()) {
            true => 0.0,
            false => RETRY_RESERVE * self.settings.retry_s(),
        }
    }

    fn seen(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
    ) -> Result<Observation, Stop<M::Error>> {
        let seen = self.measure.trial(purpose, level, seconds);
        let seen = seen.map_err(Stop::Failed)?.ok_or(Stop::Interrupted)?;
        self.spend(seconds, &seen);
        Ok(seen)
    }

    /// Accounts for a trial that measured this many seconds, and then waited for its last
    /// responses: by the clock, if there is one. The remaining time is recorded as its overhead,
    /// from which that of the next trials is predicted; a loss in a void trial is none.
    fn spend(&mut self, seconds: f64, seen: &Observation) {
        let drained_s = seen.drained_s;
        let reckoned_s = self.settings.whole_s(seconds) + drained_s;
        let Some(now_s) = self.measure.spent_s() else {
            self.spent_s += reckoned_s;
            return;
        };
        let took_s = (now_s - self.spent_s).max(0.0);
        if !seen.is_void {
            self.overheads_s.push(took_s - seconds - drained_s);
        }
        self.spent_s += took_s;
    }

    /// Returns the whole duration of a trial with this many measured seconds.
    fn whole_s(&self, seconds: f64) -> f64 {
        seconds + self.overhead_s()
    }

    /// Returns the predicted overhead of a trial: the longest of the last ones.
    fn overhead_s(&self) -> f64 {
        let last = self.overheads_s.iter().rev().take(OVERHEADS);
        last.copied().fold(self.settings.overhead_s, f64::max)
    }

    /// Returns the seconds left of the budget.
    fn left_s(&self) -> f64 {
        self.settings.budget_s - self.spent_s
    }

    /// Pauses until the target has finished the backlog of the last trial. Close to its capacity it
    /// would otherwise never finish it, and the following trials would fail.
    fn pause(&mut self) {
        let trial = self.trials.last().expect("a trial was just made");
        let backlog_s = match self.most_answers_per_s {
            // A target without any response so far may need as long as the trial lasted.
            0.0 => trial.seconds,
            rate => trial.seen.backlog_s(rate, self.mean_at_ease_s),
        };
        let longest_s = self.settings.longest_pause_s(self.left_s());
        let seconds = backlog_s.min(longest_s);
        if seconds > 0.0 {
            self.measure.pause(seconds);
            self.spent_s += seconds;
        }
    }

    fn add(
        &mut self,
        purpose: Purpose,
        level: f64,
        seconds: f64,
        seen: Observation,
        discarded: bool,
    ) {
        if seen.answers_per_s > 0.0 {
            self.mean_at_ease_s = self.mean_at_ease_s.min(seen.mean_s);
            self.most_answers_per_s = self.most_answers_per_s.max(seen.answers_per_s);
        }
        let mut trial = Trial {
            number: self.trials.len() as u32 + 1,
            purpose,
            level,
            seconds,
            kept_up: true,
            discarded,
            seen,
        };
        let backlog = trial.backlog();
        trial.kept_up = backlog.keeps_up(self.mean_at_ease_s, level, seconds)
            && (!self.settings.users_keep_pace || self.users_keep_pace(&trial));
        self.measure.ended(&trial);
        self.trials.push(trial);
    }
}

impl<M> Driver<'_, M> {
    /// True if the users of a trial kept their pace; the trial then contributes to the known pace.
    fn users_keep_pace(&mut self, trial: &Trial) -> bool {
        let is_kept = self.pace.is_kept(trial, self.mean_at_ease_s);
        if is_kept {
            self.pace.observe(trial);
        }
        is_kept
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod study;
