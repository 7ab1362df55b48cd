//! Runs the real command. One binary, so that its parts are built once; one module per subject.

/// What the command says before it does anything: help, and every kind of refusal. Each file in
/// `cli/` is a conversation, compared word for word.
mod conversations;
