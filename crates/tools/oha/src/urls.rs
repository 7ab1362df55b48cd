//! The URLs of requests: one URL, a random one of a list, or a random match of a pattern.

use super::arguments::Arguments;
use super::outcome::Output;
use rand::Rng;
use rand_regex::Regex;
use regex_syntax::hir::{Hir, HirKind};
use std::borrow::Cow;
use std::fs;
use url::Url;

/// The number of matches to try until one is a URL.
const ATTEMPTS: usize = 100;

/// The maximum length of a match, in bytes: servers accept URLs of a few thousand.
const MOST_BYTES: u64 = 1 << 16;

/// The URLs of a run's requests.
#[derive(Clone, Debug)]
pub(super) enum Urls {
    /// One of these URLs, all equally likely; never empty.
    List(Vec<Url>),
    /// A random match of this pattern.
    Pattern(Regex),
}

impl Urls {
    /// Reads the URLs of a command line.
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Output> {
        let Some(text) = &arguments.url else {
            return Err(Output::refusal(
                "there is no URL; give the target's, as in oha http://127.0.0.1:8080/.",
            ));
        };
        if arguments.urls_from_file {
            return from_file(text);
        }
        if arguments.rand_regex_url {
            return pattern(text, arguments.max_repeat);
        }
        Ok(Urls::List(vec![parse(text).map_err(Output::error)?]))
    }

    /// Draws a URL, and returns it with its index in the list if there is one.
    ///
    /// # Errors
    /// If no match of the pattern is a URL.
    pub(super) fn draw(
        &self,
        random: &mut impl Rng,
    ) -> Result<(Cow<'_, Url>, Option<usize>), String> {
        match self {
            Urls::List(list) => {
                let index = match list.len() {
                    1 => 0,
                    length => random.random_range(0..length),
                };
                Ok((Cow::Borrowed(&list[index]), Some(index)))
            }
            Urls::Pattern(pattern) => Ok((Cow::Owned(matching(pattern, random)?), None)),
        }
    }
}

fn matching(pattern: &Regex, random: &mut impl Rng) -> Result<Url, String> {
    let mut problem = String::new();
    for _ in 0..ATTEMPTS {
        let text: String = random.sample(pattern);
        match parse(&text) {
            Ok(url) => return Ok(url),
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

fn from_file(path: &str) -> Result<Urls, Output> {
    let text = fs::read_to_string(path)
        .map_err(|error| Output::error(format!("{path} can't be read: {error}")))?;
    let lines = text.lines().enumerate();
    let written = lines.filter(|(_, line)| !line.trim().is_empty());
    let urls: Vec<Url> = written
        .map(|(index, line)| {
            parse(line.trim())
                .map_err(|error| Output::error(format!("{path}, line {}: {error}", index + 1)))
        })
        .collect::<Result<_, Output>>()?;
    if urls.is_empty() {
        return Err(Output::refusal(format!(
            "{path} has no URL; write one on each line."
        )));
    }
    Ok(Urls::List(urls))
}

/// Compiles a pattern. As in oha, a dot matches only itself.
fn pattern(text: &str, max_repeat: u32) -> Result<Urls, Output> {
    let escaped = text.replace('.', "\\.");
    if let Ok(parsed) = regex_syntax::parse(&escaped)
        && longest(&parsed, max_repeat) > MOST_BYTES
    {
        return Err(Output::error(format!(
            "the pattern has matches of more than {MOST_BYTES} bytes, which no URL has; repeat \
             less, or lower --max-repeat"
        )));
    }
    let pattern = Regex::compile(&escaped, max_repeat).map_err(Output::error)?;
    Ok(Urls::Pattern(pattern))
}

/// Returns the length of the longest match in bytes, saturating at the largest number; an unlimited
/// repetition counts `max_repeat` more than its minimum.
fn longest(pattern: &Hir, max_repeat: u32) -> u64 {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(class) => class.maximum_len().unwrap_or(0) as u64,
        HirKind::Capture(capture) => longest(&capture.sub, max_repeat),
        HirKind::Repetition(part) => {
            let unlimited = u64::from(part.min) + u64::from(max_repeat);
            let most = part.max.map_or(unlimited, u64::from);
            longest(&part.sub, max_repeat).saturating_mul(most)
        }
        HirKind::Concat(parts) => parts
            .iter()
            .map(|part| longest(part, max_repeat))
            .fold(0, u64::saturating_add),
        HirKind::Alternation(parts) => parts
            .iter()
            .map(|part| longest(part, max_repeat))
            .max()
            .unwrap_or(0),
    }
}

/// Parses an absolute URL. TLS is used for `https` only; any other scheme means plain HTTP, as in
/// oha. User and password are removed.
fn parse(text: &str) -> Result<Url, String> {
    let url: Url = text
        .parse()
        .map_err(|error: url::ParseError| error.to_string())?;
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or("failed to get host from URL")?;
    if url.scheme() == "https" || url.scheme() == "http" {
        return Ok(without_user(url));
    }
    let port = url
        .port_or_known_default()
        .ok_or("failed to get port from URL")?;
    let rest = &url[url::Position::BeforePath..];
    let slash = if rest.starts_with('/') { "" } else { "/" };
    let plain = format!("http://{host}:{port}{slash}{rest}");
    plain
        .parse()
        .map_err(|error: url::ParseError| error.to_string())
}

/// Returns the URL without its user and password.
pub(super) fn without_user(mut url: Url) -> Url {
    // A URL with a host can have a user, so the user can also be removed.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn urls(words: &[&str]) -> Result<Urls, Output> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Urls::of(&Arguments::read(&words).expect("arguments"))
    }

    fn drawn(words: &[&str], count: usize) -> Vec<String> {
        let urls = urls(words).expect("URLs");
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let draw = |_| urls.draw(&mut random).expect("a URL").0.to_string();
        (0..count).map(draw).collect()
    }

    #[test]
    fn only_https_means_tls() {
        for (text, url) in [
            ("http://a", "http://a/"),
            ("https://a/x?y", "https://a/x?y"),
            ("ftp://h:80/x", "http://h/x"),
            ("ftp://h/", "http://h:21/"),
            ("foo://h:81", "http://h:81/"),
            ("http://u:p@h/", "http://h/"),
        ] {
            assert_eq!(parse(text).map(String::from), Ok(url.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused_in_ohas_words() {
        let problem = |text| urls(&[text]).expect_err("a refusal");
        let output = problem("127.0.0.1:80");
        assert_eq!(output.stderr, "Error: relative URL without a base\n");
        assert_eq!(output.code, 1);
        let output = problem("localhost:80");
        assert_eq!(output.stderr, "Error: failed to get host from URL\n");
        assert_eq!(urls(&["-n", "5"]).expect_err("a refusal").code, 2);
    }

    #[test]
    fn a_pattern_makes_urls_of_which_dots_are_dots() {
        let drawn = drawn(&["--rand-regex-url", "http://127.0.0.1/[a-c]x"], 50);
        assert!(drawn.iter().all(|url| {
            let path = url.strip_prefix("http://127.0.0.1/");
            path.is_some_and(|path| ["ax", "bx", "cx"].contains(&path))
        }));
        assert!(drawn.iter().any(|url| url != &drawn[0]));
    }

    #[test]
    fn repeats_are_bounded() {
        let drawn = drawn(
            &[
                "--rand-regex-url",
                "--max-repeat",
                "0",
                "http://a/x*y+z{2,}",
            ],
            5,
        );
        assert!(drawn.iter().all(|url| url == "http://a/yzz"));
    }

    #[test]
    fn a_pattern_without_bound_is_refused() {
        for pattern in [
            "http://a/((((a{1000}){1000}){1000}){1000})",
            "http://a/(((((((((a{1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000})",
            "http://a/[a-z]{65537}",
        ] {
            let output = urls(&["--rand-regex-url", pattern]).expect_err("a refusal");
            assert!(
                output
                    .stderr
                    .starts_with("Error: the pattern has matches of more than 65536 bytes"),
                "{}",
                output.stderr
            );
        }
        let endless = [
            "--rand-regex-url",
            "--max-repeat",
            "4294967295",
            "http://a/x*",
        ];
        assert!(urls(&endless).is_err());
        let uuids = "http://a/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}/){9}(x|yy)?";
        assert!(urls(&["--rand-regex-url", uuids]).is_ok());
    }

    #[test]
    fn a_file_has_a_url_on_each_line_and_a_bad_one_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("urls");
        let name = path.to_str().expect("a name");
        std::fs::write(&path, "http://a/1\n\n  http://b/2\r\n").expect("a file");
        let mut drawn = drawn(&["--urls-from-file", name], 50);
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn, ["http://a/1", "http://b/2"]);
        std::fs::write(&path, "http://a/1\n\nb/2\n").expect("a file");
        let refused = urls(&["--urls-from-file", name]).expect_err("a refusal");
        assert_eq!(
            refused.stderr,
            format!("Error: {name}, line 3: relative URL without a base\n")
        );
        std::fs::write(&path, "\n").expect("a file");
        assert_eq!(
            urls(&["--urls-from-file", name])
                .expect_err("a refusal")
                .code,
            2
        );
    }
}
