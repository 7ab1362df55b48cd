//! `--processes` before another tool's own words.

const FLAG: &str = "--processes";

/// Returns the number of processes that the words give, and the tool's own words after that.
///
/// # Errors
/// The message if there is no number, or it is 0.
pub fn split(words: &[String]) -> Result<(u32, &[String]), String> {
    let (number, rest) = match words {
        [flag, number, rest @ ..] if flag == FLAG => (number.as_str(), rest),
        [word, rest @ ..] => match word.strip_prefix(FLAG) {
            Some("") => ("", rest),
            Some(number) if number.starts_with('=') => (&number[1..], rest),
            _ => return Ok((1, words)),
        },
        [] => return Ok((1, words)),
    };
    match number.parse() {
        Ok(processes) if processes > 0 => Ok((processes, rest)),
        _ => Err(format!(
            "{FLAG} takes a number of processes, at least 1, and not `{number}`."
        )),
    }
}

/// Returns the message for more processes than connections; `None` if each process gets one. `flag`
/// is the tool's own flag for connections.
pub fn too_many(processes: u32, connections: u32, flag: &str) -> Option<String> {
    (processes > connections).then(|| {
        format!(
            "{FLAG} {processes} is more than {flag} {connections}, and some processes would idle; \
             give more of {flag}, or fewer processes."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<(u32, usize), String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        split(&words).map(|(processes, rest)| (processes, rest.len()))
    }

    #[test]
    fn processes_stand_in_front_of_the_tools_own_words() {
        assert_eq!(of("--processes 3 -n 5 a/"), Ok((3, 3)));
        assert_eq!(of("--processes=3 a/"), Ok((3, 1)));
        assert_eq!(of("-n 5 a/"), Ok((1, 3)));
        assert_eq!(of("a/ --processes 3"), Ok((1, 3)));
        assert_eq!(of(""), Ok((1, 0)));
        for line in [
            "--processes",
            "--processes 0 a/",
            "--processes=x a/",
            "--processes -n 5",
        ] {
            let sentence = of(line).expect_err("no number");
            assert!(
                sentence.starts_with("--processes takes a number"),
                "{sentence}"
            );
        }
    }

    #[test]
    fn no_process_is_without_a_connection() {
        assert_eq!(too_many(2, 2, "-c"), None);
        let sentence = too_many(3, 2, "-c").expect("a sentence");
        assert!(
            sentence.starts_with("--processes 3 is more than -c 2"),
            "{sentence}"
        );
    }
}
