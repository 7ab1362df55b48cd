//! One clear sentence for whatever is wrong with a command line.

use super::{foreign, help, late_command, stray};
use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use std::ffi::OsString;

/// The reason why a command line starts nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It requests a text alone: help or the version.
    Requested(String),
    /// It can't be read; the sentence has the reason.
    Mistake(String),
}

impl Refusal {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    pub(super) fn of_line(error: &Error, words: &[OsString]) -> Self {
        match error.kind() {
            ErrorKind::DisplayHelp => Self::Requested(help::text(words)),
            ErrorKind::InvalidSubcommand if help::is_of_help(words) => {
                Self::Requested(help::text(words))
            }
            ErrorKind::DisplayVersion => Self::Requested(error.render().to_string()),
            ErrorKind::InvalidUtf8 => {
                Self::Mistake(not_text(words).unwrap_or_else(|| first_line(error)))
            }
            _ => Self::Mistake(late_command(error, words).unwrap_or_else(|| mistake(error, words))),
        }
    }
}

/// Returns the mistake, and where to find help.
fn mistake(error: &Error, words: &[OsString]) -> String {
    let sentence = of_place(error, words).or_else(|| of_another_tool(error, words));
    let sentence = sentence.or_else(|| quiet_with_a_number(error, words));
    if let Some(sentence) = sentence.or_else(|| one_dash(error, words)) {
        return sentence;
    }
    format!(
        "{}{}{}",
        negative(error, words).unwrap_or_else(|| self::sentence(error)),
        of_body(error),
        where_to_look(error, words)
    )
}

/// The sentence where a long flag has one dash, as in Go's programs: `-rate` is not `-r ate`.
fn one_dash(error: &Error, words: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let value = text(error, ContextKind::InvalidValue);
    let line = super::command();
    let is_long = |name: &str| {
        line.get_arguments()
            .any(|flag| flag.get_long() == Some(name))
    };
    let meant = words.iter().find_map(|word| {
        let name = word.to_str()?.strip_prefix('-')?;
        (name.get(1..) == Some(value.as_str()) && is_long(name)).then_some(name)
    })?;
    Some(format!("-{meant} has two dashes here: write --{meant}."))
}

/// Returns the replacement for curl's -d, if the value is no time.
fn of_body(error: &Error) -> &'static str {
    let value = text(error, ContextKind::InvalidValue);
    let is_time = value.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let is_body = value.contains(['{', '=', '&', '"', '@', '[']);
    match error.kind() == ErrorKind::ValueValidation && flag(error) == "--duration" {
        true if is_body && !is_time => " A body, curl's and hey's -d, is given with --body (-b).",
        _ => "",
    }
}

/// The sentence about a word that was taken for what is loaded, and was meant for something else.
fn of_place(error: &Error, words: &[OsString]) -> Option<String> {
    let is_place = text(error, ContextKind::InvalidArg).contains("URL|PLAN.toml");
    if error.kind() != ErrorKind::ValueValidation || !is_place {
        return None;
    }
    let word = text(error, ContextKind::InvalidValue);
    late_command::called(words, &word).or_else(|| stray::sentence(words, &word))
}

/// The sentence where -q is taken for the flag of a rate, with the number as one word: `-q10`.
fn quiet_with_a_number(error: &Error, words: &[OsString]) -> Option<String> {
    let kinds = [ErrorKind::UnknownArgument, ErrorKind::TooManyValues];
    let number = words.iter().find_map(|word| {
        let number = word.to_str()?.strip_prefix("-q")?.trim_start_matches('=');
        number.parse::<f64>().ok().map(|_| number)
    });
    number
        .filter(|_| kinds.contains(&error.kind()))
        .map(stray::quiet)
}

/// The sentence about a flag that other load testers have, where a run's flags are taken.
fn of_another_tool(error: &Error, words: &[OsString]) -> Option<String> {
    const WITHOUT_A_RUN: [&str; 14] = [
        "agent",
        "agents",
        "report",
        "compare",
        "study",
        "serve",
        "demo",
        "shims",
        "web",
        "watch",
        "doctor",
        "man",
        "completions",
        "help",
    ];
    let command = words
        .get(1)
        .and_then(|word| word.to_str())
        .unwrap_or_default();
    let is_unknown = error.kind() == ErrorKind::UnknownArgument && negative(error, words).is_none();
    if !is_unknown || WITHOUT_A_RUN.contains(&command) {
        return None;
    }
    let flag = flag(error);
    let instead = foreign::instead(&flag)?;
    Some(format!("there is no flag {flag}; {instead}"))
}

/// Returns the sentence about a flag that is not known because its command comes after it.
fn late_command(error: &Error, words: &[OsString]) -> Option<String> {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    late_command::knowing(words, &flag(error)).filter(|_| is_unknown)
}

/// The sentence about the first word that is not UTF-8, if there is one.
pub(crate) fn not_text(words: &[OsString]) -> Option<String> {
    let word = words.iter().find(|word| word.to_str().is_none())?;
    Some(format!(
        "`{}` is not UTF-8; write such bytes of a URL as in %FF, and a body with such bytes into \
         a file.",
        word.to_string_lossy()
    ))
}

/// Points to the help that lists the flags, where one was not known.
fn where_to_look(error: &Error, words: &[OsString]) -> String {
    if negative(error, words).is_some() {
        return String::new();
    }
    let is_unknown = error.kind() == ErrorKind::UnknownArgument && flag(error).starts_with('-');
    if !is_unknown || suggestion(error).is_some() {
        return String::new();
    }
    let line = super::command();
    let subcommand = words.get(1).and_then(|word| line.find_subcommand(word));
    let name = subcommand
        .map(|command| format!("{} ", command.get_name()))
        .unwrap_or_default();
    format!(" `loadline {name}--help` lists all.")
}

/// The sentence where a value with a minus was taken for a flag.
fn negative(error: &Error, words: &[OsString]) -> Option<String> {
    let minus_and_digit = |text: &str| {
        let digit = text.strip_prefix('-')?.chars().next()?;
        digit.is_ascii_digit().then_some(())
    };
    minus_and_digit(&flag(error))?;
    let at = words.iter().position(|word| {
        word.to_str()
            .is_some_and(|word| minus_and_digit(word).is_some())
    })?;
    let (before, value) = (words.get(at.checked_sub(1)?)?, &words[at]);
    // Behind anything else it is a flag of its own.
    before.to_str().filter(|before| before.starts_with('-'))?;
    Some(format!(
        "{}: `{}` is negative; no flag takes a negative value.",
        before.to_string_lossy(),
        value.to_string_lossy()
    ))
}

/// Returns one sentence about the mistake, the flag first.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
pub(crate) fn sentence(error: &Error) -> String {
    let flag = flag(error);
    match value_problem(error) {
        Some(problem) if flag.starts_with('-') => return format!("{flag}: {problem}"),
        Some(problem) => return problem,
        None => {}
    }
    match error.kind() {
        ErrorKind::InvalidValue => format!("{flag} needs a value."),
        ErrorKind::UnknownArgument if !flag.starts_with('-') => {
            format!("`{flag}` is one argument too many.")
        }
        ErrorKind::UnknownArgument => match suggestion(error) {
            Some(known) => format!("there is no flag {flag}; did you mean {known}?"),
            None => format!("there is no flag {flag}."),
        },
        ErrorKind::ArgumentConflict => conflict(error, &flag),
        ErrorKind::MissingRequiredArgument if ["--base", "--with"].contains(&&*flag) => {
            "--base and --with belong together: give the saved runs of A and those of B.".to_owned()
        }
        ErrorKind::MissingRequiredArgument if flag.starts_with('-') => {
            format!("{flag} is missing, which another flag needs.")
        }
        ErrorKind::MissingRequiredArgument if flag == "<SHELL>" => {
            "name the shell: bash, elvish, fish, powershell or zsh.".to_owned()
        }
        ErrorKind::MissingRequiredArgument => {
            let name = flag.trim_end_matches('.').trim_matches(['<', '>']);
            format!("{name} is missing; `--help` shows where it goes.")
        }
        ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => format!(
            "give {}; there {}.",
            names(&text(error, ContextKind::InvalidArg)),
            match number(error, ContextKind::ActualNumValues) {
                1 => "is only 1".to_owned(),
                several => format!("are {several}"),
            }
        ),
        ErrorKind::InvalidSubcommand => {
            let name = text(error, ContextKind::InvalidSubcommand);
            format!("there is no command {name}.")
        }
        ErrorKind::TooManyValues => format!("{flag} takes no value."),
        _ => first_line(error),
    }
}

/// Returns the problem with the value of a flag, if the error is about one.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library has dozens, and may add more"
)]
pub(crate) fn value_problem(error: &Error) -> Option<String> {
    let value = text(error, ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::ValueValidation => Some(match error.source() {
            Some(source) => source.to_string(),
            None => format!("`{value}` can't be read."),
        }),
        ErrorKind::InvalidValue if !value.is_empty() => Some(format!(
            "`{value}` is not one of {}.",
            text(error, ContextKind::ValidValue)
        )),
        _ => None,
    }
}

fn conflict(error: &Error, flag: &str) -> String {
    match text(error, ContextKind::PriorArg).as_str() {
        "" => format!("{flag} stands before a command; write the command first."),
        prior if without_value(prior) == flag => format!("{flag} is given twice."),
        prior => format!("{flag} and {} contradict each other.", without_value(prior)),
    }
}

/// The flag that is nearest to one that is not known.
pub(crate) fn suggestion(error: &Error) -> Option<String> {
    Some(text(error, ContextKind::SuggestedArg)).filter(|known| !known.is_empty())
}

/// The flag that is wrong, without the name of its value.
fn flag(error: &Error) -> String {
    without_value(&text(error, ContextKind::InvalidArg)).to_owned()
}

fn without_value(flag: &str) -> &str {
    flag.split([' ', '=', '[']).next().unwrap_or(flag)
}

/// The names of several values as a phrase.
fn names(values: &str) -> String {
    let plain = values.replace("...", "").replace(['[', ']', '<', '>'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" and ")
}

fn number(error: &Error, kind: ContextKind) -> isize {
    match error.get(kind) {
        Some(ContextValue::Number(number)) => *number,
        _ => 0,
    }
}

fn text(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// Returns clap's own text for other errors.
fn first_line(error: &Error) -> String {
    let rendered = error.render().to_string();
    let line = rendered.lines().next().unwrap_or_default();
    format!("{}.", line.trim_start_matches("error: "))
}
