//! Scripts, run by the engine's users.

mod costs;
mod hostile;
mod lifecycle;
mod ran;
