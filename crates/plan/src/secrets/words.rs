//! Command lines of any tool without their secrets, which are recognised by the names of flags and
//! the form of values.

use super::{MASKED, is_secret_name, without_userinfo};

/// Short flags of load testers whose value may be credentials or a cookie (`-u me:password`).
const SHORT: [&str; 5] = ["-u", "-a", "-A", "-P", "-C"];
/// The ends of long flags' names whose value is secret.
const LONG: [&str; 9] = [
    "user",
    "auth",
    "password",
    "passwd",
    "token",
    "secret",
    "api-key",
    "credentials",
    "cookie",
];

/// Returns the words of a command line, with their secrets masked.
pub fn mask_words(words: &[String]) -> Vec<String> {
    let before = [None].into_iter().chain(words.iter().map(Some));
    let pairs = before.zip(words);
    pairs
        .map(|(before, word)| match before {
            Some(flag) if is_secret_behind(flag, word) => MASKED.to_owned(),
            _ => masked(word).unwrap_or_else(|| word.clone()),
        })
        .collect()
}

/// Returns a line for a shell, with the secrets of its words masked.
pub fn mask_line(line: &str) -> String {
    let parts = parts(line);
    let words: Vec<String> = parts.iter().map(|(_, word)| unquoted(word)).collect();
    let masked = mask_words(&words).into_iter().zip(&words).zip(&parts);
    let each = masked.map(|((masked, word), (gap, written))| match masked == *word {
        true => format!("{gap}{written}"),
        false => format!("{gap}'{masked}'"),
    });
    each.collect()
}

/// True if a word after this flag is secret.
fn is_secret_behind(flag: &str, word: &str) -> bool {
    if SHORT.contains(&flag) {
        return word.contains([':', '=']);
    }
    is_secret_flag(flag) && !word.starts_with('-')
}

fn is_secret_flag(flag: &str) -> bool {
    let name = flag.strip_prefix("--").map(|name| name.replace('_', "-"));
    name.is_some_and(|name| LONG.iter().any(|end| name.ends_with(end)))
}

/// Returns the word with its secrets masked, if it has any.
fn masked(word: &str) -> Option<String> {
    let flag = word
        .split_once('=')
        .filter(|(flag, _)| is_secret_flag(flag));
    if let Some((flag, value)) = flag {
        return (!value.is_empty()).then(|| format!("{flag}={MASKED}"));
    }
    masked_value(word).or_else(|| without_userinfo(word))
}

/// Masks the value of a header field or a variable whose name is secret, alone or joined to its
/// flag; `None` for any other word.
fn masked_value(word: &str) -> Option<String> {
    let is_sign = |c: char| c == ':' || c == '=';
    for (at, sign) in word.match_indices(is_sign) {
        let begin = word[..at].rfind(is_sign).map_or(0, |before| before + 1);
        let name = word[begin..at].trim();
        let name = match name.strip_prefix('-') {
            Some(flag) if flag.starts_with('-') => continue,
            Some(joined) => without_first(joined),
            None => name,
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let value = &word[at + 1..];
        let is_secret = is_secret_name(name) && name.chars().all(is_name);
        if is_secret && !value.trim().is_empty() {
            let gap = if sign == ":" { " " } else { "" };
            return Some(format!("{}{sign}{gap}{MASKED}", &word[..at]));
        }
    }
    None
}

/// Returns the text that is joined to a flag of one letter.
fn without_first(joined: &str) -> &str {
    let mut letters = joined.chars();
    letters.next();
    letters.as_str()
}

/// Returns the words of a line as written, each with the blanks before it.
fn parts(line: &str) -> Vec<(&str, &str)> {
    let (mut parts, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start().len();
        let (gap, behind) = rest.split_at(gap);
        let (word, behind) = behind.split_at(end_of_word(behind));
        parts.push((gap, word));
        rest = behind;
    }
    parts
}

fn end_of_word(text: &str) -> usize {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, _) if letter.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

fn unquoted(word: &str) -> String {
    word.replace(['"', '\''], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked_line(line: &str) -> String {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        mask_words(&words).join("|")
    }

    #[test]
    fn secrets_of_every_testers_flags_are_masked() {
        for (line, kept) in [
            (
                "wrk|-H|Authorization: Bearer s3|http://a/",
                "wrk|-H|Authorization: ****|http://a/",
            ),
            ("wrk|-HX-Api-Key: s3", "wrk|-HX-Api-Key: ****"),
            (
                "h2load|--header=Cookie: sid=s3",
                "h2load|--header=Cookie: ****",
            ),
            (
                "ab|-A|me:s3|-P|me:s3|-C|sid=s3",
                "ab|-A|****|-P|****|-C|****",
            ),
            ("oha|-a|me:s3|-u|us", "oha|-a|****|-u|us"),
            (
                "loadline|-u|me:s3|http://me:s3@a/",
                "loadline|-u|****|http://****:****@a/",
            ),
            (
                "loadline|--user=me:s3|--cookies|http://a/",
                "loadline|--user=****|--cookies|http://a/",
            ),
            (
                "k6|run|-e|API_TOKEN=s3|-e|N=5|a.js",
                "k6|run|-e|API_TOKEN=****|-e|N=5|a.js",
            ),
            ("k6|--env=PASSWORD=s3", "k6|--env=PASSWORD=****"),
            (
                "locust|-u|10|--api-token|s3|--host|http://me:s3@a",
                "locust|-u|10|--api-token|****|--host|http://****:****@a",
            ),
        ] {
            assert_eq!(masked_line(line), kept);
        }
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        for line in [
            "wrk|-t2|-c10|-d60s|-H|Accept: text/html|http://a/?token=visible",
            "ab|-k|-n|100|-c|10|http://a:80/",
            "k6|run|--no-cookies-reset|a.js|--vus|5",
            "loadline|--cookies|http://a/|-u",
            "oha|--latency-correction|--disable-keepalive|http://[::1]:80/",
            "a|--user=|Authorization:",
        ] {
            assert_eq!(masked_line(line), line);
        }
    }

    #[test]
    fn a_line_for_a_shell_keeps_its_form() {
        let line = "TOKEN=s3 exec  server -H \"Authorization: Bearer s3\" --port {port} 'a b' >x";
        let kept = "'TOKEN=****' exec  server -H 'Authorization: ****' --port {port} 'a b' >x";
        assert_eq!(mask_line(line), kept);
        assert_eq!(mask_line("  sync; sleep 1 "), "  sync; sleep 1 ");
        assert_eq!(mask_line(""), "");
    }
}
