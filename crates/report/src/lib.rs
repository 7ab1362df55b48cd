//! Text, JSON and CSV from a recorded run.
