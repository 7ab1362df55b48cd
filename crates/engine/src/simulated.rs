//! The engine on the simulated loop: every arrival and every count exact.
