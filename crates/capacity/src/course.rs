//! The course of a search from the warm-up to the ladder.

use crate::answer::{self, Answer, LoadLine, Unsettled, Why};
use crate::keeping_up::{TooShort, keeps_up};
use crate::ladder::{Ladder, Recovery, Rung};
use crate::measure::{Measure, OwnLimit, Part, Purpose, Seen, Trial};
use crate::settings::{CONFIRMATIONS, Settings, TELLING};
use loadline_stats::search::{self, Finding, Search, Step};
use std::collections::BTreeMap;

/// The goal that all checks hold; those of the single checks come after it.
const ALL: usize = 0;
/// The part of the seconds for trials that are set aside which is kept until a trial broke.
const KEPT_ASIDE: f64 = 0.5;
/// How often the search may go on after a confirmation that failed.
const MOST_ROUNDS: u32 = 3;

/// Everything that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the search says.
    pub answer: Answer,
    /// What the target does around its load line; empty where that was not found.
    pub ladder: Ladder,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<Trial>,
}

impl Outcome {
    /// The highest level at which most of the trials held so far, and the lowest at which most did
    /// not, whether or not these are enough to be sure.
    pub fn seems_between(&self) -> (Option<f64>, Option<f64>) {
        let mut levels: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        for trial in self.trials.iter().filter(|trial| trial.counts()) {
            // The bits of floats above zero are in the order of the floats.
            let (held, all) = levels.entry(trial.level.to_bits()).or_default();
            (*held, *all) = (*held + u32::from(trial.held()), *all + 1);
        }
        let broke = |(held, all): &(u32, u32)| 2 * held < *all;
        let lowest_broken = levels.iter().find(|(_, counts)| broke(counts));
        let lowest_broken = lowest_broken.map(|(level, _)| *level);
        let below = |level: &&u64| lowest_broken.is_none_or(|broken| **level < broken);
        let highest_held = levels.keys().rfind(below);
        (
            highest_held.map(|level| f64::from_bits(*level)),
            lowest_broken.map(f64::from_bits),
        )
    }

    /// Whether the trials of the search were too short for a backlog of an open load to show, so that
    /// what was found may lie too high.
    pub fn too_short(&self) -> Option<TooShort> {
        let trials = || self.trials.iter();
        let answered = trials().filter(|trial| trial.seen.answers_per_s > 0.0);
        let response_s = answered.map(|trial| trial.seen.mean_s).reduce(f64::min)?;
        let counting = trials().filter(|trial| trial.purpose == Purpose::Search);
        let trial_s = counting.map(|trial| trial.seconds).reduce(f64::min)?;
        TooShort::of(trial_s, response_s)
    }
}

/// How a search ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<E> {
    /// As it should.
    Complete,
    /// The user wanted no more.
    Interrupted,
    /// Nothing could be measured any more.
    Failed(E),
}

/// Searches the load line, confirms it and climbs the ladder. What was found is told however it
/// ended.
pub fn find<M: Measure>(settings: &Settings, measure: &mut M) -> (Outcome, Ended<M::Error>) {
    let mut course = Course {
        search: Search::new(settings.range(), vec![settings.goal(); settings.checks + 2]),
        settings,
        measure,
        trials: Vec::new(),
        aside_s: settings.aside_s(),
        ladder: Ladder::default(),
        mean_at_ease_s: f64::MAX,
        most_answers_per_s: 0.0,
    };
    let ended = match course.run() {
        Ok(()) => Ended::Complete,
        Err(Stop::Interrupted) => Ended::Interrupted,
        Err(Stop::Failed(error)) => Ended::Failed(error),
    };
    let outcome = Outcome {
        answer: course.answer(),
        ladder: course.ladder,
        trials: course.trials,
    };
    (outcome, ended)
}

/// Why a course ends before its end.
enum Stop<E> {
    Interrupted,
    Failed(E),
}

struct Course<'a, M> {
    settings: &'a Settings,
    measure: &'a mut M,
    search: Search,
    trials: Vec<Trial>,
    /// Seconds that trials may yet take which are set aside.
    aside_s: f64,
    ladder: Ladder,
    /// The shortest mean response time of a trial, in seconds.
    mean_at_ease_s: f64,
    /// The most answers a second of a trial.
    most_answers_per_s: f64,
}

impl<M: Measure> Course<'_, M> {
    fn run(&mut self) -> Result<(), Stop<M::Error>> {
        if self.settings.warm_up_s > 0.0 {
            let first = self.settings.first;
            let seconds = self.settings.warm_up_s;
            let seen = self.seen(Purpose::WarmUp, first, seconds)?;
            self.add(Purpose::WarmUp, first, seconds, seen, false);
            self.pause();
        }
        for _ in 0..MOST_ROUNDS {
            self.search()?;
            match self.found() {
                Some(level) if !self.confirm(level)? => {}
                _ => break,
            }
        }
        self.search()?;
        self.found().map_or(Ok(()), |level| self.climb(level))
    }

    /// The load line, unless the generator ended before it.
    fn found(&self) -> Option<f64> {
        match self.search.finding(ALL) {
            Finding::Between { lower, upper } if self.own_limit(lower, upper).is_none() => {
                Some(lower)
            }
            _ => None,
        }
    }

    fn search(&mut self) -> Result<(), Stop<M::Error>> {
        while let Step::Measure(trial) = self.search.next_for(ALL) {
            self.counted(Purpose::Search, trial.rate)?;
        }
        Ok(())
    }

    /// Measures the level again, as long as there is time; whether it holds in most trials.
    fn confirm(&mut self, level: f64) -> Result<bool, Stop<M::Error>> {
        let (mut held, mut made) = (0, 0);
        while made < CONFIRMATIONS && self.settings.trial_s <= self.search.left_s() {
            held += u32::from(self.counted(Purpose::Confirmation, level)?);
            made += 1;
        }
        Ok(2 * held > made)
    }

    fn climb(&mut self, load_line: f64) -> Result<(), Stop<M::Error>> {
        for part in Part::RISING {
            let level = self.level(part, load_line);
            self.undisturbed(Purpose::Ladder(part), level)?;
            self.add_rung(part);
        }
        self.descend(load_line)
    }

    /// From above the load line back below it.
    fn descend(&mut self, load_line: f64) -> Result<(), Stop<M::Error>> {
        let over = (self.level(Part::Over, load_line), self.settings.trial_s);
        let back = (self.level(Part::Back, load_line), self.settings.recovery_s);
        loop {
            let descent = self.measure.descend(over, back);
            let descent = descent.map_err(Stop::Failed)?.ok_or(Stop::Interrupted)?;
            let aside = self.is_to_be_made_again(&descent.back, over.1 + back.1);
            let recovery = Recovery::of(&descent);
            let steps = [
                (Part::Over, over, descent.over),
                (Part::Back, back, descent.back),
            ];
            for (part, (level, seconds), seen) in steps {
                self.add(Purpose::Ladder(part), level, seconds, seen, aside);
                if !aside {
                    self.add_rung(part);
                }
            }
            if !aside {
                self.ladder.recovery = recovery;
                return Ok(());
            }
            self.set_aside(over.1 + back.1);
        }
    }

    fn level(&self, part: Part, load_line: f64) -> f64 {
        let step = self.settings.step;
        let level = (load_line * part.share() / step).round() * step;
        // Idle is no less than the lowest rate at which anything can be measured.
        level.max(self.settings.lowest.min(load_line))
    }

    fn add_rung(&mut self, part: Part) {
        let trial = self.trials.last().expect("the rung was just measured");
        let trial = trial.clone();
        self.ladder.rungs.push(Rung { part, trial });
    }

    /// Makes a trial that counts for the search; whether it held.
    fn counted(&mut self, purpose: Purpose, level: f64) -> Result<bool, Stop<M::Error>> {
        self.undisturbed(purpose, level)?;
        let trial = self.trials.last().expect("the trial was just made");
        let held = trial.held();
        let mut good = vec![held];
        good.extend(&trial.seen.checks);
        good.push(trial.kept_up);
        let (rate, seconds) = (level, trial.seconds);
        self.search.record(search::Trial { rate, seconds }, &good);
        Ok(held)
    }

    /// Makes a trial, and makes it again while its machine loses time and there is time for it. Which
    /// way it went does not matter: if only those were made again that broke, more would hold than
    /// the target keeps.
    fn undisturbed(&mut self, purpose: Purpose, level: f64) -> Result<(), Stop<M::Error>> {
        let seconds = self.settings.trial_s;
        loop {
            let seen = self.seen(purpose, level, seconds)?;
            let aside = self.is_to_be_made_again(&seen, seconds);
            self.add(purpose, level, seconds, seen, aside);
            if !aside {
                self.pause();
                return Ok(());
            }
            self.set_aside(seconds);
        }
    }

    fn is_to_be_made_again(&self, seen: &Seen, seconds: f64) -> bool {
        seen.lost_time && !self.is_always_disturbed() && self.can_spare(seconds)
    }

    /// Accounts for a trial that is made again.
    fn set_aside(&mut self, seconds: f64) {
        self.aside_s -= seconds;
        self.search.spend(seconds);
        self.pause();
    }

    /// Whether the machine never was otherwise, so that waiting does not help.
    fn is_always_disturbed(&self) -> bool {
        let trials = self.trials.iter();
        let first = trials.filter(|trial| trial.purpose != Purpose::WarmUp);
        first.take_while(|trial| trial.set_aside).count() >= TELLING
    }

    fn can_spare(&self, seconds: f64) -> bool {
        let left_s = self.aside_s - self.kept_aside_s();
        seconds <= left_s && 2.0 * seconds <= self.search.left_s()
    }

    /// Seconds that are kept for the trials around the load line: what is lost far below it, where the
    /// first trials are, moves no bound.
    fn kept_aside_s(&self) -> f64 {
        let mut counting = self.trials.iter().filter(|trial| trial.counts());
        match counting.any(|trial| !trial.held()) {
            true => 0.0,
            false => KEPT_ASIDE * self.settings.aside_s(),
        }
    }

    fn seen(&mut self, purpose: Purpose, level: f64, seconds: f64) -> Result<Seen, Stop<M::Error>> {
        let seen = self.measure.trial(purpose, level, seconds);
        seen.map_err(Stop::Failed)?.ok_or(Stop::Interrupted)
    }

    /// Lets the target get done with what the last trial left behind. Close to its capacity it else
    /// never would, and that would break the trials that follow.
    fn pause(&mut self) {
        let trial = self.trials.last().expect("a trial was just made");
        let backlog_s = match self.most_answers_per_s {
            // What never answered anything may not do so yet.
            0.0 => trial.seconds,
            rate => trial.seen.backlog_s(rate, self.mean_at_ease_s),
        };
        let longest_s = self.settings.longest_pause_s(self.search.left_s());
        let seconds = backlog_s.min(longest_s);
        if seconds > 0.0 {
            self.measure.pause(seconds);
            self.search.spend(self.settings.measured_s(seconds));
        }
    }

    fn add(&mut self, purpose: Purpose, level: f64, seconds: f64, seen: Seen, set_aside: bool) {
        if seen.answers_per_s > 0.0 {
            self.mean_at_ease_s = self.mean_at_ease_s.min(seen.mean_s);
            self.most_answers_per_s = self.most_answers_per_s.max(seen.answers_per_s);
        }
        let trial = Trial {
            number: self.trials.len() as u32 + 1,
            purpose,
            level,
            seconds,
            kept_up: keeps_up(seen.outstanding_s, self.mean_at_ease_s, level, seconds),
            set_aside,
            seen,
        };
        self.measure.ended(&trial);
        self.trials.push(trial);
    }

    /// The trials that count for the search, at this level or at all.
    fn counting(&self, level: Option<f64>) -> Vec<&Trial> {
        let counts =
            |trial: &&Trial| trial.counts() && level.is_none_or(|level| trial.level == level);
        self.trials.iter().filter(counts).collect()
    }

    /// What of the generator ended between these bounds, if the upper one is not the target's.
    fn own_limit(&self, lower: f64, upper: f64) -> Option<OwnLimit> {
        let in_trials = answer::own_limit(&self.counting(Some(upper)));
        in_trials.or_else(|| self.settings.floor_at(lower))
    }

    fn answer(&self) -> Answer {
        let (lower, upper) = self.search.bounds(ALL);
        let at_upper = upper.map_or(Vec::new(), |upper| self.counting(Some(upper)));
        match self.search.finding(ALL) {
            Finding::Between { lower, upper } => match self.own_limit(lower, upper) {
                Some(limit) => Answer::AtLeast {
                    level: lower,
                    why: Why::Generator { limit, at: upper },
                },
                None => Answer::Found(self.load_line(lower, upper)),
            },
            Finding::AllGood => Answer::AtLeast {
                level: self.settings.highest,
                why: Why::Highest,
            },
            Finding::NoneGood => Answer::NothingHolds {
                level: self.settings.lowest,
                breaks: answer::breaks(&at_upper),
                own_limit: answer::excuse(&at_upper),
            },
            Finding::Open { .. } => Answer::Unsettled(Unsettled {
                lower,
                upper,
                own_limit: answer::excuse(&self.counting(None)),
            }),
        }
    }

    fn load_line(&self, lower: f64, upper: f64) -> LoadLine {
        let threshold = answer::threshold(&self.counting(None), lower, upper);
        let (at_lower, at_upper) = (self.counting(Some(lower)), self.counting(Some(upper)));
        let confirming = at_lower
            .iter()
            .filter(|trial| trial.purpose == Purpose::Confirmation);
        LoadLine {
            level: lower,
            low: threshold.low.min(lower) * (1.0 - answer::piled_up(&at_lower)),
            high: threshold.high.max(lower),
            breaks: answer::breaks(&at_upper),
            disturbance: answer::excuse(&at_upper),
            confirmed: confirming.clone().filter(|trial| trial.held()).count() as u32,
            confirmations: confirming.count() as u32,
            target_cores: answer::target_cores(&at_lower),
        }
    }
}

#[cfg(test)]
mod tests;
