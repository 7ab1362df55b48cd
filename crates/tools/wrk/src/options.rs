//! Options as GNU `getopt_long` reads them: in any order and position, `--name=value`, unique
//! abbreviations of names, bundled letters, `--` as the end.
//!
//! `lexopt` splits the words; the names, the rules for abbreviations and the messages of the C
//! library are here.

use super::Tool;
use lexopt::{Arg, Parser};
use std::ffi::OsString;

/// An option, by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Connections,
    Duration,
    Threads,
    Script,
    Header,
    Latency,
    Timeout,
    Help,
    Version,
    Rate,
    Uncorrected,
    Batch,
    Distribution,
    EachLatency,
    TailLatency,
}

/// One item read from a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// An option, with its value if it takes one.
    Option(Flag, String),
    /// A word that is not an option.
    Positional(String),
    /// An invalid option, with the message of the C library; empty if it prints none.
    Mistake(String),
}

struct Declared {
    flag: Flag,
    long: &'static str,
    short: Option<char>,
    valued: bool,
    only_wrk2: bool,
}

const fn declared(flag: Flag, long: &'static str, short: Option<char>, valued: bool) -> Declared {
    Declared {
        flag,
        long,
        short,
        valued,
        only_wrk2: matches!(
            flag,
            Flag::Rate
                | Flag::Uncorrected
                | Flag::Batch
                | Flag::Distribution
                | Flag::EachLatency
                | Flag::TailLatency
        ),
    }
}

/// All options, in the order in which error messages list the possibilities.
const DECLARED: [Declared; 15] = [
    declared(Flag::Connections, "connections", Some('c'), true),
    declared(Flag::Duration, "duration", Some('d'), true),
    declared(Flag::Threads, "threads", Some('t'), true),
    declared(Flag::Script, "script", Some('s'), true),
    declared(Flag::Header, "header", Some('H'), true),
    declared(Flag::Latency, "latency", Some('L'), false),
    declared(Flag::Uncorrected, "u_latency", Some('U'), false),
    declared(Flag::Batch, "batch_latency", Some('B'), false),
    declared(Flag::Timeout, "timeout", Some('T'), true),
    declared(Flag::Help, "help", None, false),
    declared(Flag::Version, "version", Some('v'), false),
    declared(Flag::Rate, "rate", Some('R'), true),
    // The options of the DeathStarBench fork of wrk2; the last two have no long name.
    declared(Flag::Distribution, "dist", Some('D'), true),
    declared(Flag::EachLatency, "", Some('P'), false),
    declared(Flag::TailLatency, "", Some('p'), false),
];

/// The options of one tool, read one by one.
pub(super) struct Words {
    tool: Tool,
    parser: Parser,
}

impl Words {
    /// Creates the reader of the words after the tool's name.
    pub(super) fn new(tool: Tool, words: impl IntoIterator<Item = OsString>) -> Self {
        Words {
            tool,
            parser: Parser::from_args(words),
        }
    }

    fn declared(&self) -> impl Iterator<Item = &'static Declared> {
        let all = self.tool == Tool::Wrk2;
        DECLARED
            .iter()
            .filter(move |option| all || !option.only_wrk2)
    }

    /// Returns the option with this name; otherwise all that it may abbreviate.
    fn long(&self, name: &str) -> Result<&'static Declared, Vec<&'static Declared>> {
        let named = || self.declared().filter(|option| !option.long.is_empty());
        let exact = named().find(|option| option.long == name);
        // An abbreviation of the fork's name would make one of wrk2's ambiguous.
        let meant: Vec<_> = named()
            .filter(|option| option.long.starts_with(name))
            .filter(|option| option.flag != Flag::Distribution)
            .collect();
        match (exact, meant.as_slice()) {
            (Some(option), _) => Ok(option),
            (None, [option]) => Ok(*option),
            (None, _) => Err(meant),
        }
    }

    /// Returns the message about an unknown or ambiguous name, which contains the name and its
    /// value.
    fn unclear(&mut self, name: &str, meant: &[&Declared]) -> String {
        let value = self.parser.optional_value().map(text);
        let typed = value.map_or(name.to_owned(), |value| format!("{name}={value}"));
        match meant {
            [] => format!("unrecognized option '--{typed}'"),
            several => ambiguous(&typed, several),
        }
    }

    fn short(&self, letter: char) -> Result<&'static Declared, String> {
        let found = self.declared().find(|option| option.short == Some(letter));
        match found {
            Some(option) => Ok(option),
            // Both letters are in wrk's list, but have no meaning.
            None if matches!(letter, 'r' | '?') => Err(String::new()),
            None => Err(format!("invalid option -- '{letter}'")),
        }
    }

    fn word(&mut self, declared: &'static Declared, by_name: bool) -> Word {
        if !declared.valued {
            return match by_name && self.parser.optional_value().is_some() {
                false => Word::Option(declared.flag, String::new()),
                true => self.mistake(&format!(
                    "option '--{}' doesn't allow an argument",
                    declared.long
                )),
            };
        }
        match self.parser.value() {
            Ok(value) => Word::Option(declared.flag, text(value)),
            Err(_) if by_name => self.mistake(&format!(
                "option '--{}' requires an argument",
                declared.long
            )),
            Err(_) => {
                let letter = declared.short.unwrap_or_default();
                self.mistake(&format!("option requires an argument -- '{letter}'"))
            }
        }
    }

    fn mistake(&self, problem: &str) -> Word {
        Word::Mistake(match problem {
            "" => String::new(),
            _ => format!("{}: {problem}\n", self.tool.name()),
        })
    }
}

impl Iterator for Words {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let (found, by_name) = match self.parser.next() {
            Ok(None) => return None,
            Ok(Some(Arg::Value(value))) => return Some(Word::Positional(text(value))),
            Ok(Some(Arg::Long(name))) => {
                let name = name.to_owned();
                let found = self.long(&name);
                (found.map_err(|meant| self.unclear(&name, &meant)), true)
            }
            Ok(Some(Arg::Short(letter))) => (self.short(letter), false),
            // The value of a long name is read at once, so this is a letter with a value.
            Err(lexopt::Error::UnexpectedValue { .. }) => {
                return Some(self.mistake("invalid option -- '='"));
            }
            Err(other) => return Some(self.mistake(&other.to_string())),
        };
        Some(match found {
            Ok(declared) => self.word(declared, by_name),
            Err(problem) => self.mistake(&problem),
        })
    }
}

fn ambiguous(name: &str, several: &[&Declared]) -> String {
    let possibilities: Vec<String> = several
        .iter()
        .map(|option| format!("'--{}'", option.long))
        .collect();
    let possibilities = possibilities.join(" ");
    format!("option '--{name}' is ambiguous; possibilities: {possibilities}")
}

/// Converts a word to text. Words that are not UTF-8 were refused before.
fn text(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: Tool, line: &str) -> Vec<Word> {
        Words::new(tool, line.split_whitespace().map(OsString::from)).collect()
    }

    fn option(flag: Flag, value: &str) -> Word {
        Word::Option(flag, value.to_owned())
    }

    fn positional(word: &str) -> Word {
        Word::Positional(word.to_owned())
    }

    #[test]
    fn options_and_others_stand_in_any_order() {
        assert_eq!(
            read(Tool::Wrk, "URL -c5 one --duration=3 -t 4 -- -d two"),
            [
                positional("URL"),
                option(Flag::Connections, "5"),
                positional("one"),
                option(Flag::Duration, "3"),
                option(Flag::Threads, "4"),
                positional("-d"),
                positional("two"),
            ]
        );
    }

    #[test]
    fn names_may_be_cut_short_and_letters_bundled() {
        assert_eq!(
            read(Tool::Wrk2, "--lat --conn 5 --u -LUBvc7 --ti 1 -c -5"),
            [
                option(Flag::Latency, ""),
                option(Flag::Connections, "5"),
                option(Flag::Uncorrected, ""),
                option(Flag::Latency, ""),
                option(Flag::Uncorrected, ""),
                option(Flag::Batch, ""),
                option(Flag::Version, ""),
                option(Flag::Connections, "7"),
                option(Flag::Timeout, "1"),
                option(Flag::Connections, "-5"),
            ]
        );
    }

    #[test]
    fn the_flags_of_a_fork_are_wrk2s_alone() {
        let dist = |value| option(Flag::Distribution, value);
        let (each, tail) = (option(Flag::EachLatency, ""), option(Flag::TailLatency, ""));
        assert_eq!(
            read(Tool::Wrk2, "-D exp --dist=fixed -Pp"),
            [dist("exp"), dist("fixed"), each, tail]
        );
        let duration = option(Flag::Duration, "5");
        assert_eq!(read(Tool::Wrk2, "--d 5"), [duration]);
        let mistake = |letter| Word::Mistake(format!("wrk: invalid option -- '{letter}'\n"));
        assert_eq!(read(Tool::Wrk, "-P"), [mistake('P')]);
    }

    fn mistake_in(line: &str) -> Option<Word> {
        let mut words = read(Tool::Wrk, line).into_iter();
        words.find(|word| matches!(word, Word::Mistake(_)))
    }

    #[test]
    fn mistakes_are_told_as_the_c_library_tells_them() {
        for (line, said) in [
            ("-h", "wrk: invalid option -- 'h'\n"),
            ("-r", ""),
            ("-c", "wrk: option requires an argument -- 'c'\n"),
            (
                "--conn",
                "wrk: option '--connections' requires an argument\n",
            ),
            (
                "--lat=5",
                "wrk: option '--latency' doesn't allow an argument\n",
            ),
            (
                "--help=5",
                "wrk: option '--help' doesn't allow an argument\n",
            ),
            ("-L=5", "wrk: invalid option -- '='\n"),
            ("--nothing", "wrk: unrecognized option '--nothing'\n"),
            ("--no=5", "wrk: unrecognized option '--no=5'\n"),
            (
                "--t=5",
                "wrk: option '--t=5' is ambiguous; possibilities: '--threads' '--timeout'\n",
            ),
            (
                "--t 5",
                "wrk: option '--t' is ambiguous; possibilities: '--threads' '--timeout'\n",
            ),
            ("-R5", "wrk: invalid option -- 'R'\n"),
            ("--rate 5", "wrk: unrecognized option '--rate'\n"),
        ] {
            let mistake = Word::Mistake(said.to_owned());
            assert_eq!(mistake_in(line), Some(mistake), "{line}");
        }
    }
}
