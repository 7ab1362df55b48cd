//! Words that stand where a URL does and were meant for something else: a mistyped command, the
//! value of another tool's flag, another tool.

use std::ffi::OsString;

/// Other load testers whose words are not taken, and their flags here.
const OTHER_TOOLS: [(&[&str], &str); 5] = [
    (
        &["hey", "boom"],
        "-n, -c and -H are the same here; write -z as -d, -q N as -r (the rate of all connections \
         together), -m as -X, -d and -D as -b, -T as -H 'Content-Type: …', -a as -u, -t as \
         --timeout, -x as --proxy and -h2 as --http 2",
    ),
    (
        &["vegeta", "attack"],
        "write -rate as --rate, -duration as --duration, -targets as --urls, -body FILE as \
         --body @FILE, -header as --header, -timeout as --timeout and -max-workers as \
         --max-connections",
    ),
    (
        &["bombardier"],
        "-c, -n, -d, -H and -k are the same here; write -r as --rate, -m as -X, -f FILE as \
         --body @FILE, -t as --timeout and -l not at all",
    ),
    (
        &["siege", "autocannon"],
        "write -c as --connections, -t or -d as --duration, -f as --urls, -m as -X and -b as \
         --body",
    ),
    (
        &["h2load"],
        "-n, -c and -t are the same here; write -m as --streams with --http 2, -D as --duration, \
         -d FILE as --body @FILE, -i as --urls and --rps as --rate",
    ),
];

/// The sentence where the first word is another load tester, whose command line would follow.
pub(super) fn other_tool(words: &[OsString]) -> Option<String> {
    let word = words.get(1)?.to_str()?;
    let (_, flags) = OTHER_TOOLS
        .iter()
        .find(|(names, _)| names.contains(&word))?;
    Some(format!(
        "there are no words of {word} here: {flags}. (A host of that name is written \
         http://{word}/.)"
    ))
}

/// The sentence where this word, which is no URL, was meant for something else.
pub(super) fn sentence(words: &[OsString], word: &str) -> Option<String> {
    let follows_quiet = |pair: &[OsString]| pair[0] == "-q" && pair[1] == word;
    if word.parse::<f64>().is_ok() && words.windows(2).any(follows_quiet) {
        return Some(quiet(word));
    }
    let at = words.iter().position(|other| other == word)?;
    let is_first = at == 1 || at == 2 && words[1] == "run";
    mistyped_command(word).filter(|_| is_first)
}

/// The sentence where -q is taken for hey's and oha's flag of the rate.
pub(super) fn quiet(number: &str) -> String {
    format!(
        "-q is --quiet here and takes no value; for {number} requests a second write --rate \
         {number} (-r)."
    )
}

/// The sentence about a word that is almost a command.
fn mistyped_command(word: &str) -> Option<String> {
    const ALIKE: f64 = 0.8;
    /// Shorter names are like too many hosts' names, and so are those with a number.
    const SHORTEST: usize = 4;
    let line = super::command();
    let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut names = line.get_subcommands().map(clap::Command::get_name);
    let meant = names.find(|name| {
        let are_words = is_word(word) && is_word(name) && name.len() >= SHORTEST;
        are_words && strsim::jaro(name, word) >= ALIKE
    })?;
    Some(format!(
        "there is no command {word}; did you mean {meant}? (A host of that name is written \
         http://{word}/.)"
    ))
}
