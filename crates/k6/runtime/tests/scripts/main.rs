//! Scripts, run by the engine's users.

mod alone;
mod costs;
mod hostile;
mod http;
mod lifecycle;
mod ran;
mod sharing;
