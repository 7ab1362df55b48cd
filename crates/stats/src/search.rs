//! The search for a capacity: the highest rate that keeps all promises, despite noise.
//!
//! After RFC 9971, *Multiple Loss Ratio Search*, 2026. A *trial* measures one rate for a while; for
//! each *goal* it was good or bad. One bad trial proves nothing where there is noise: a rate is
//! classified by the share of the time that was bad, once there is enough of it ([`Class`]). Of the
//! upper bounds the lowest is *relevant*, of the lower bounds the largest below it; a goal is done
//! when the two are close enough, and every goal uses the trials of all.
//!
//! The RFC leaves open which rate to try next. Here the rates are tried in a course that depends on
//! the trials so far alone, so that [`Search::next`] is a pure function of them:
//!
//! 1. From the first rate upwards by threes (or downwards by thirds) until one rate looks good and
//!    a higher one bad. Low rates come first: the RFC warns that a target which is not warm yet
//!    makes unjust upper bounds. On the way up trials are short, which the RFC allows: they never
//!    make a lower bound.
//! 2. Halve the distance (as a ratio), or try what is [suggested](Search::suggest). How sure the
//!    ends must be before it is halved grows with the square of how close they are, as the number
//!    of trials does that it takes to tell them apart; a distant good end costs one trial, a bad
//!    one two of three, and only the last two ends are measured in full, in turn.
//! 3. An end that turns out to be on the other side moves the interval, and the search goes on
//!    there.
//! 4. A rate that was [refuted](Search::refute) is an upper bound, whatever its trials were.

mod class;
mod threshold;

pub use class::{Class, Goal, Tally};
pub use threshold::{Attempt, Threshold};

/// The distances of the rates that enclose a suggestion, below and above it, in parts of the width:
/// close below, because the lower rate is published.
const BELOW: f64 = 0.1;
const ABOVE: f64 = 0.7;

/// From one rate to the next, as long as all look alike.
const STRIDE: f64 = 3.0;

/// The range of a search and its time. Rates are per second, or any other measure of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest rate that is tried, above zero.
    pub lowest: f64,
    /// The highest rate that is tried.
    pub highest: f64,
    /// The rate that is tried first.
    pub first: f64,
    /// True if rates are whole numbers, as numbers of users are; else they have four digits.
    pub whole: bool,
    /// Seconds of a trial on the way up.
    pub short_s: f64,
    /// The trials may take this many seconds together.
    pub budget_s: f64,
}

/// A trial to be made, or that was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The rate to be offered.
    pub rate: f64,
    /// For how many seconds.
    pub seconds: f64,
}

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Make this trial and [`record`](Search::record) it.
    Measure(Trial),
    /// The search is over: [`finding`](Search::finding) returns the result of each goal.
    Done,
}

/// The result for a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// The highest good rate lies between these, which are as close as required.
    Between {
        /// The relevant lower bound: good.
        lower: f64,
        /// The relevant upper bound: bad.
        upper: f64,
    },
    /// Even the highest rate is good.
    AllGood,
    /// Even the lowest rate is bad.
    NoneGood,
    /// The search is not over, or its time was. What is known so far.
    Open {
        /// The relevant lower bound, if there is one.
        lower: Option<f64>,
        /// The relevant upper bound, if there is one.
        upper: Option<f64>,
    },
}

/// All trials at one rate, in sums for each goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The rate.
    pub rate: f64,
    /// For each goal, how much of the time was good and bad.
    pub tallies: Vec<Tally>,
}

/// A search for several goals at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    goals: Vec<Goal>,
    range: Range,
    /// The rates that were tried, rising.
    loads: Vec<Load>,
    spent_s: f64,
    /// For each goal the lowest rate that was refuted; infinite if none was.
    refuted: Vec<f64>,
    /// The estimate of the highest good rate.
    suggestion: Option<f64>,
}

impl Search {
    /// A search that has tried nothing. The first rate is moved into the range and onto a step.
    pub fn new(range: Range, goals: Vec<Goal>) -> Search {
        Search {
            refuted: vec![f64::INFINITY; goals.len()],
            goals,
            range,
            loads: Vec::new(),
            spent_s: 0.0,
            suggestion: None,
        }
    }

    /// Adds a trial. `good` has for each goal, in their order, whether the trial was good; missing
    /// ones are bad.
    pub fn record(&mut self, trial: Trial, good: &[bool]) {
        let goals = &self.goals;
        let load = match self
            .loads
            .binary_search_by(|load| load.rate.total_cmp(&trial.rate))
        {
            Ok(index) => &mut self.loads[index],
            Err(index) => {
                let tallies = vec![Tally::default(); goals.len()];
                let rate = trial.rate;
                self.loads.insert(index, Load { rate, tallies });
                &mut self.loads[index]
            }
        };
        for (index, goal) in goals.iter().enumerate() {
            let good = good.get(index).copied().unwrap_or(false);
            load.tallies[index].add(goal, trial.seconds, good);
        }
        self.spent_s += trial.seconds;
    }

    /// Makes a rate an upper bound of a goal, whatever its trials were: other evidence spoke
    /// against it.
    pub fn refute(&mut self, goal: usize, rate: f64) {
        self.refuted[goal] = self.refuted[goal].min(rate);
    }

    /// Moves the rate that is tried first.
    pub fn begin_at(&mut self, rate: f64) {
        self.range.first = rate;
    }

    /// Sets an estimate of the highest good rate. It is enclosed first, if it lies between the
    /// ends.
    pub fn suggest(&mut self, rate: f64) {
        self.suggestion = Some(rate);
    }

    /// Returns the seconds that are left for trials.
    pub fn left_s(&self) -> f64 {
        self.range.budget_s - self.spent_s
    }

    /// The trial that comes next; goals are seen to in their order.
    pub fn next(&self) -> Step {
        self.affordable((0..self.goals.len()).find_map(|goal| self.trial_for(goal)))
    }

    /// The trial that comes next for one goal alone; the others learn what they can from its
    /// trials.
    pub fn next_for(&self, goal: usize) -> Step {
        self.affordable(self.trial_for(goal))
    }

    fn affordable(&self, trial: Option<Trial>) -> Step {
        match trial {
            Some(trial) if trial.seconds <= self.left_s() => Step::Measure(trial),
            _ => Step::Done,
        }
    }

    /// Returns the result for the goal of this index.
    pub fn finding(&self, goal: usize) -> Finding {
        let (lower, upper) = self.bounds(goal);
        match (lower, upper) {
            (Some(lower), Some(upper)) if self.close(lower, upper, goal) => {
                Finding::Between { lower, upper }
            }
            (Some(lower), None) if lower >= self.range.highest => Finding::AllGood,
            (None, Some(upper)) if upper <= self.range.lowest => Finding::NoneGood,
            _ => Finding::Open { lower, upper },
        }
    }

    /// The relevant bounds of a goal: the largest lower bound below the lowest upper bound, and
    /// that.
    pub fn bounds(&self, goal: usize) -> (Option<f64>, Option<f64>) {
        let is = |load: &&Load, class| self.class_of(goal, load) == class;
        let upper = self.loads.iter().find(|load| is(load, Class::Upper));
        let below = |load: &&Load| upper.is_none_or(|upper| load.rate < upper.rate);
        let lower = self.loads.iter().filter(below);
        let lower = lower.rev().find(|load| is(load, Class::Lower));
        (lower.map(|load| load.rate), upper.map(|load| load.rate))
    }

    /// The lowest rate that looks bad so far, and the highest below it that looks good, in order.
    pub fn apparent_bounds(&self, goal: usize) -> (Option<f64>, Option<f64>) {
        let (good, bad) = self.apparent(goal);
        (good.map(|load| load.rate), bad.map(|load| load.rate))
    }

    fn class_of(&self, goal: usize, load: &Load) -> Class {
        if load.rate >= self.refuted[goal] {
            return Class::Upper;
        }
        load.tallies[goal].class(&self.goals[goal])
    }

    /// Returns the class of a rate for a goal; undecided if the rate was not tried.
    pub fn class(&self, goal: usize, rate: f64) -> Class {
        let load = self.loads.iter().find(|load| load.rate == rate);
        load.map_or(Class::Undecided, |load| self.class_of(goal, load))
    }

    /// All rates that were tried, rising, with their results.
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// Returns the duration of all trials, in seconds.
    pub fn spent_s(&self) -> f64 {
        self.spent_s
    }

    fn trial_for(&self, goal: usize) -> Option<Trial> {
        let rate = self.rate_for(goal)?;
        let goes_up = self.apparent(goal).1.is_none() && rate < self.range.highest;
        let full_s = self.goals[goal].full_s;
        let seconds = if goes_up {
            self.range.short_s.min(full_s)
        } else {
            full_s
        };
        Some(Trial { rate, seconds })
    }

    /// The rate to try for a goal; none once it is found.
    fn rate_for(&self, goal: usize) -> Option<f64> {
        let (good, bad) = self.apparent(goal);
        let doubtful = bad.filter(|bad| self.is_doubtful(goal, bad));
        match (good, bad) {
            _ if doubtful.is_some() => doubtful.map(|load| load.rate),
            (None, None) => Some(self.on_step(self.range.first)),
            (Some(good), None) => self.upwards(goal, good),
            (None, Some(bad)) => self.downwards(goal, bad),
            (Some(good), Some(bad)) => self.inwards(goal, good, bad),
        }
    }

    /// True if a rate that looks bad may look so by chance.
    fn is_doubtful(&self, goal: usize, load: &Load) -> bool {
        load.rate < self.refuted[goal] && load.tallies[goal].is_doubtful(&self.goals[goal])
    }

    /// The lowest rate that looks bad so far, and the highest below it that looks good, in order.
    fn apparent(&self, goal: usize) -> (Option<&Load>, Option<&Load>) {
        let looks_bad = |load: &Load| {
            let tally = &load.tallies[goal];
            load.rate >= self.refuted[goal]
                || tally.looks_bad(&self.goals[goal])
                || tally.is_doubtful(&self.goals[goal])
        };
        let end = self.loads.iter().position(looks_bad);
        let below = &self.loads[..end.unwrap_or(self.loads.len())];
        (below.last(), end.map(|index| &self.loads[index]))
    }

    fn upwards(&self, goal: usize, good: &Load) -> Option<f64> {
        if good.rate < self.range.highest {
            return Some(self.on_step(good.rate * STRIDE));
        }
        self.unless_decided(goal, good)
    }

    fn downwards(&self, goal: usize, bad: &Load) -> Option<f64> {
        if bad.rate > self.range.lowest {
            return Some(self.on_step(bad.rate / STRIDE));
        }
        self.unless_decided(goal, bad)
    }

    fn unless_decided(&self, goal: usize, load: &Load) -> Option<f64> {
        let undecided = self.class_of(goal, load) == Class::Undecided;
        undecided.then_some(load.rate)
    }

    /// Between two ends that look different: an end that is not sure enough for their distance, or
    /// else a rate between them. Of two unsure ends the one that was tried for a shorter time comes
    /// first, so that a target which drifts meanwhile moves both.
    fn inwards(&self, goal: usize, good: &Load, bad: &Load) -> Option<f64> {
        let close = self.close(good.rate, bad.rate, goal);
        let distance = (bad.rate - good.rate) / bad.rate;
        let share = (self.goals[goal].width / distance).powi(2).min(1.0);
        let eased = self.goals[goal].eased(if close { 1.0 } else { share });
        let unsure = |load: &&&Load| {
            load.rate < self.refuted[goal] && load.tallies[goal].class(&eased) == Class::Undecided
        };
        let tried = |load: &&&Load| load.tallies[goal].trials;
        let ends = [good, bad];
        if let Some(load) = ends.iter().filter(unsure).min_by_key(tried) {
            return Some(load.rate);
        }
        (!close).then(|| self.between(goal, good.rate, bad.rate))
    }

    /// A rate between two others: close to what was suggested, on the side that is not known yet,
    /// or the middle.
    fn between(&self, goal: usize, lower: f64, upper: f64) -> f64 {
        let width = self.goals[goal].width;
        let apart = width / 2.0;
        let inside = |rate: &f64| *rate > lower * (1.0 + apart) && *rate < upper * (1.0 - apart);
        let (below, above) = (1.0 - BELOW * width, 1.0 + ABOVE * width);
        let around = self.suggestion.map(|rate| [rate * below, rate * above]);
        let suggested = around.into_iter().flatten().map(|rate| self.on_step(rate));
        let suggested = suggested.filter(|_| !self.range.whole).find(inside);
        suggested.unwrap_or_else(|| self.middle(lower, upper))
    }

    /// True if two rates are as close as a goal requires, or have no rate between them.
    pub fn close(&self, lower: f64, upper: f64, goal: usize) -> bool {
        let near = (upper - lower) / upper <= self.goals[goal].width * (1.0 + 1e-9);
        near || self.range.whole && upper - lower < 1.5
    }

    /// About the geometric mean of two rates that are not close, and between both.
    pub fn middle(&self, lower: f64, upper: f64) -> f64 {
        let middle = self.on_step((lower * upper).sqrt());
        match self.range.whole {
            true => middle.max(lower + 1.0).min(upper - 1.0),
            false => middle,
        }
    }

    /// The nearest rate that may be tried.
    pub fn on_step(&self, rate: f64) -> f64 {
        let rate = if self.range.whole {
            rate.round()
        } else {
            four_digits(rate)
        };
        rate.max(self.range.lowest).min(self.range.highest)
    }
}

/// Returns the nearest number with four digits, so that a rate is exactly what is printed.
fn four_digits(rate: f64) -> f64 {
    format!("{rate:.3e}").parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests;
