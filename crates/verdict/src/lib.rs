//! Checks on a result and what they say.
