//! A command after flags: it would be taken for the name of a host, and must come first.

use std::ffi::OsString;

/// The sentence where this word, taken for what is loaded, is the name of a command.
pub(super) fn called(words: &[OsString], word: &str) -> Option<String> {
    let (at, command) = late(words, |command| command.get_name() == word)?;
    let name = command.get_name();
    Some(format!(
        "put the command first: `{}`. (A host of that name is written http://{name}/.)",
        with_first(words, at)
    ))
}

/// Returns the sentence about a flag that a run does not know, but a later command does.
pub(super) fn knowing(words: &[OsString], flag: &str) -> Option<String> {
    let flag = flag.strip_prefix("--")?;
    let knows = |command: &clap::Command| {
        let mut arguments = command.get_arguments();
        arguments.any(|argument| argument.get_long() == Some(flag))
    };
    let (at, _) = late(words, knows)?;
    Some(format!(
        "put the command first: `{}`.",
        with_first(words, at)
    ))
}

/// Returns the first word that is a command after flags, and the one that is searched for, with its
/// position.
fn late(
    words: &[OsString],
    is_it: impl Fn(&clap::Command) -> bool,
) -> Option<(usize, clap::Command)> {
    let line = super::command();
    if words
        .get(1)
        .is_some_and(|word| line.find_subcommand(word).is_some())
    {
        return None;
    }
    words.iter().enumerate().skip(2).find_map(|(at, word)| {
        let command = line.find_subcommand(word)?;
        is_it(command).then(|| (at, command.clone()))
    })
}

/// Returns the line with the word at this position directly after the program's name, as a shell
/// takes it.
fn with_first(words: &[OsString], at: usize) -> String {
    let others = words
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(place, _)| *place != at);
    let ordered = std::iter::once(&words[at]).chain(others.map(|(_, word)| word));
    ordered.fold("loadline".to_owned(), |line, word| {
        format!("{line} {}", quoted(&word.to_string_lossy()))
    })
}

/// The word as a shell takes it for one.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
