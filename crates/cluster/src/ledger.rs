//! What happens to the agents of a run while it lasts, until somebody takes notice of it: losses,
//! returns, who can't join, and whose kernels timestamp nothing.

use std::ops::Range;

/// An agent that is lost while its part of a load lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its name.
    pub agent: String,
    /// Its workers.
    pub workers: Range<u32>,
    /// The end of its last interval that counts: nanoseconds from the run's zero.
    pub until_ns: u64,
    /// The instant from which the others send its load, if they do: as above.
    pub taken_from_ns: Option<u64>,
}

/// An agent that is there again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Return {
    /// Its loss.
    pub loss: Loss,
    /// The instant at which it was seen: nanoseconds from the run's zero.
    pub at_ns: u64,
}

/// An agent that would have joined a run, and can't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outsider {
    /// Its name.
    pub agent: String,
    /// The reason, as the rest of a sentence.
    pub reason: String,
    /// The instant at which that was known: nanoseconds from the run's zero.
    pub at_ns: u64,
}

/// Who is lost, who is back, and who can't join.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Those of each kind that nobody has taken notice of.
    losses: Vec<Loss>,
    returns: Vec<Return>,
    outsiders: Vec<Outsider>,
    unstamped: Vec<String>,
    /// The losses of agents that are not back.
    absent: Vec<Loss>,
}

impl Ledger {
    /// Notes a loss.
    pub(crate) fn lose(&mut self, loss: Loss) {
        self.losses.push(loss.clone());
        self.absent.push(loss);
    }

    /// Returns the losses since the last call.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }

    /// Returns the names of the agents that are lost and not back.
    pub(crate) fn absent(&self) -> Vec<String> {
        let names = self.absent.iter().map(|loss| loss.agent.clone());
        names.collect()
    }

    /// Notes that a lost agent is there again, at this instant from the run's zero.
    pub(crate) fn welcome(&mut self, agent: &str, at_ns: u64) {
        let found = self.absent.iter().position(|loss| loss.agent == agent);
        if let Some(found) = found {
            let loss = self.absent.remove(found);
            self.returns.push(Return { loss, at_ns });
        }
    }

    /// Returns the returns since the last call.
    pub(crate) fn take_returns(&mut self) -> Vec<Return> {
        std::mem::take(&mut self.returns)
    }

    /// Notes that the kernel of an agent timestamps nothing that arrives.
    pub(crate) fn miss_stamps(&mut self, agent: &str) {
        self.unstamped.push(agent.to_owned());
    }

    /// Returns the agents without timestamps since the last call.
    pub(crate) fn take_unstamped(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unstamped)
    }

    /// Notes that an agent can't join.
    pub(crate) fn refuse(&mut self, outsider: Outsider) {
        self.outsiders.push(outsider);
    }

    /// Returns the agents that can't join since the last call.
    pub(crate) fn take_outsiders(&mut self) -> Vec<Outsider> {
        std::mem::take(&mut self.outsiders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(agent: &str) -> Loss {
        Loss {
            agent: agent.to_owned(),
            workers: 0..1,
            until_ns: 2,
            taken_from_ns: None,
        }
    }

    #[test]
    fn an_agent_is_back_once_and_only_after_its_loss() {
        let mut ledger = Ledger::default();
        ledger.welcome("one", 1);
        assert_eq!(ledger.take_returns(), []);
        ledger.lose(loss("one"));
        ledger.lose(loss("two"));
        assert_eq!(ledger.absent(), ["one", "two"]);
        ledger.welcome("one", 9);
        ledger.welcome("one", 10);
        assert_eq!(ledger.absent(), ["two"]);
        let back = |at_ns| Return {
            loss: loss("one"),
            at_ns,
        };
        assert_eq!(ledger.take_returns(), [back(9)]);
        assert_eq!(ledger.take_returns(), []);
        // The next loss of the same agent has a return of its own.
        ledger.lose(loss("one"));
        ledger.welcome("one", 12);
        assert_eq!(ledger.take_returns(), [back(12)]);
        assert_eq!(ledger.take_losses().len(), 3);
    }
}
