//! Messages of Go's library that k6 prints: users and their tools recognise errors by them.

use std::io;

/// Formats an error of the system as Go does: `no such file or directory`.
pub(super) fn system(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Converts the engine's reason for a missing response to Go's words.
pub(super) fn network(problem: &str) -> String {
    let refused = problem.strip_prefix("connecting to ");
    match refused.and_then(|rest| rest.split_once(": ")) {
        Some((address, error)) => {
            let error = system(&io::Error::other(error));
            format!("dial tcp {address}: connect: {error}")
        }
        None => problem.to_owned(),
    }
}

/// Returns Go's message for invalid JSON.
pub(super) fn json(text: &[u8], error: &serde_json::Error) -> String {
    match wrong_letter(text, error) {
        Some(letter) if !error.is_eof() => {
            format!("invalid character '{letter}' {}", place(&error.to_string()))
        }
        _ => "unexpected end of JSON input".to_owned(),
    }
}

/// Returns the character at which the parser stopped.
fn wrong_letter(text: &[u8], error: &serde_json::Error) -> Option<char> {
    let line = text
        .split(|byte| *byte == b'\n')
        .nth(error.line().checked_sub(1)?)?;
    let rest = line.get(error.column().checked_sub(1)?..)?;
    String::from_utf8_lossy(rest).chars().next()
}

/// Converts the parser's expectation to Go's words.
fn place(problem: &str) -> &'static str {
    let known = [
        ("trailing characters", "after top-level value"),
        ("expected `:`", "after object key"),
        (
            "key must be a string",
            "looking for beginning of object key string",
        ),
        (
            "trailing comma",
            "looking for beginning of object key string",
        ),
        ("expected `,` or `}`", "after object key:value pair"),
        ("expected `,` or `]`", "after array element"),
    ];
    let found = known.iter().find(|(ours, _)| problem.starts_with(ours));
    found.map_or("looking for beginning of value", |(_, theirs)| theirs)
}

/// Formats a number as Go prints it in YAML: with an exponent below 10⁻⁴ and from 10⁶ on.
pub(super) fn yaml_number(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(-4..=5) | Err(_) => value.to_string(),
        Ok(exponent) if exponent < 0 => format!("{digits}e-{:02}", -exponent),
        Ok(exponent) => format!("{digits}e+{exponent:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn problem(text: &str) -> String {
        let error = serde_json::from_str::<Value>(text).expect_err("no JSON");
        json(text.as_bytes(), &error)
    }

    #[test]
    fn what_is_no_json_is_refused_in_the_words_of_go() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("{\"data\":", "unexpected end of JSON input"),
            ("xx", "invalid character 'x' looking for beginning of value"),
            (
                "<!DOCTYPE",
                "invalid character '<' looking for beginning of value",
            ),
            ("{} x", "invalid character 'x' after top-level value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            (
                "{a:1}",
                "invalid character 'a' looking for beginning of object key string",
            ),
            (
                "{\"a\":1,}",
                "invalid character '}' looking for beginning of object key string",
            ),
            (
                "{\"a\":1 2}",
                "invalid character '2' after object key:value pair",
            ),
        ];
        for (text, said) in cases {
            assert_eq!(problem(text), said, "{text}");
        }
    }

    #[test]
    fn numbers_of_yaml_have_an_exponent_where_go_gives_them_one() {
        let cases = [
            (0.0, "0"),
            (5.5, "5.5"),
            (123_456.0, "123456"),
            (1_234_567.8, "1.2345678e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e21, "1e+21"),
        ];
        for (value, text) in cases {
            assert_eq!(yaml_number(value), text);
        }
    }

    #[test]
    fn a_connection_that_is_refused_is_said_as_go_says_it() {
        let problem = "connecting to 127.0.0.1:1: Connection refused (os error 111)";
        let said = "dial tcp 127.0.0.1:1: connect: connection refused";
        assert_eq!(network(problem), said);
        assert_eq!(network("timed out"), "timed out");
    }

    #[test]
    fn errors_of_the_system_begin_with_a_small_letter_and_have_no_number() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(system(&error), "no such file or directory");
    }
}
