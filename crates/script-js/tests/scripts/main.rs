//! Scripts, run by the engine's users.

mod costs;
mod hostile;
mod http;
mod lifecycle;
mod ran;
mod sharing;
