//! Scripts, run by the engine's users.

mod hostile;
mod lifecycle;
mod ran;
