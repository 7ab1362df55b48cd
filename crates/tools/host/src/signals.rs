//! The signals that ask a command to end.
//!
//! Whoever watches the signals of the process passes them on by [`Signals::receive`]; a command
//! that has more to do at its end than to end a run handles the first one by
//! [`Signals::on_first`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A signal that asks a command to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Signal {
    /// Returns the name of the signal in the messages of programs in Go.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "interrupt",
            Signal::Terminate => "terminated",
        }
    }
}

/// The signals that a process has received, for all threads of a command.
#[derive(Clone, Default)]
pub struct Signals(Arc<Mutex<Received>>);

#[derive(Default)]
struct Received {
    has_any: bool,
    is_terminated: bool,
    on_first: Option<Handler>,
}

type Handler = Box<dyn FnOnce(Signal) + Send>;

impl Signals {
    /// Takes note of a signal. Returns true if the command ends in an orderly way now: it is the
    /// first signal, and the command handles it.
    pub fn receive(&self, signal: Signal) -> bool {
        let mut received = self.lock();
        let is_first = !std::mem::replace(&mut received.has_any, true);
        received.is_terminated |= signal == Signal::Terminate;
        let handler = received.on_first.take().filter(|_| is_first);
        drop(received);
        match handler {
            Some(handle) => {
                handle(signal);
                true
            }
            None => false,
        }
    }

    /// Has the first signal handled from now on. A signal that was received before is not.
    pub fn on_first(&self, handle: impl FnOnce(Signal) + Send + 'static) {
        self.lock().on_first = Some(Box::new(handle));
    }

    /// True if a signal was received.
    pub fn has_any(&self) -> bool {
        self.lock().has_any
    }

    /// True if SIGTERM was received.
    pub fn is_terminated(&self) -> bool {
        self.lock().is_terminated
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        // The state is consistent even after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let received = self.lock();
        f.debug_struct("Signals")
            .field("has_any", &received.has_any)
            .field("is_terminated", &received.is_terminated)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_signal_is_handled_and_only_from_then_on() {
        let handled = Arc::new(Mutex::new(Vec::new()));
        let handler = |handled: &Arc<Mutex<Vec<Signal>>>| {
            let handled = Arc::clone(handled);
            move |signal| handled.lock().unwrap().push(signal)
        };
        let signals = Signals::default();
        signals.on_first(handler(&handled));
        assert!(!signals.has_any());
        assert!(signals.receive(Signal::Interrupt));
        assert!(signals.has_any() && !signals.is_terminated());
        assert!(!signals.receive(Signal::Terminate));
        assert!(signals.is_terminated());
        assert_eq!(*handled.lock().unwrap(), [Signal::Interrupt]);

        let late = Signals::default();
        assert!(!late.receive(Signal::Interrupt));
        late.on_first(handler(&handled));
        assert!(!late.receive(Signal::Interrupt));
        assert_eq!(handled.lock().unwrap().len(), 1);
    }
}
