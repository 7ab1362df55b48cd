//! ab's banner and usage, and its refusals of a command line.

use super::options::Html;

/// The output in place of a run, and the exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

/// The exit code of an invalid command line, and of `-h` (EINVAL).
const BAD_USAGE: u8 = 22;

const BANNER: [&str; 3] = [
    "This is ApacheBench, Version 2.3 ",
    "Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/",
    "Licensed to The Apache Software Foundation, http://www.apache.org/",
];

/// The flags and their meanings, in ab's order; a meaning with an empty flag continues the line
/// above.
const FLAGS: [(&str, &str); 41] = [
    ("-n requests", "How many requests to make"),
    ("-c concurrency", "How many of them at a time"),
    ("-t timelimit", "End after so many seconds"),
    ("", "Before -n, this means -n 50000"),
    ("-s timeout", "Seconds that a response may take"),
    ("", "30 unless given"),
    ("-b windowsize", "Bytes in each socket's buffers"),
    ("-B address", "Local address to connect from"),
    ("-p postfile", "File to POST; see -T"),
    ("-u putfile", "File to PUT; see -T"),
    ("-T content-type", "What -p or -u sends, such as"),
    ("", "'application/x-www-form-urlencoded'"),
    ("", "'text/plain' unless given"),
    ("-v verbosity", "How much to tell of each request"),
    ("-w", "Report in HTML tables"),
    ("-i", "HEAD instead of GET"),
    ("-x attributes", "Attributes of the HTML table"),
    ("-y attributes", "Attributes of its rows"),
    ("-z attributes", "Attributes of its cells"),
    ("-C attribute", "A cookie, such as 'Apache=1234'"),
    (
        "-H attribute",
        "A header line, such as 'Accept-Encoding: gzip'",
    ),
    ("", "Follows the usual ones (repeatable)"),
    ("-A attribute", "user:password for basic authentication"),
    ("-P attribute", "user:password for the proxy"),
    ("-X proxy:port", "Go through this proxy"),
    ("-V", "Print the version"),
    ("-k", "Keep connections alive"),
    ("-d", "No table of percentages"),
    ("-S", "No deviations, medians and warnings"),
    ("-q", "No progress for more than 150 requests"),
    ("-l", "Bodies may differ in length (dynamic pages)"),
    (
        "-g filename",
        "Write the times of each request, for gnuplot",
    ),
    ("-e filename", "Write the percentages as CSV"),
    ("-r", "Go on where receiving fails"),
    ("-m method", "This method"),
    ("-h", "Print this"),
    ("-I", "Do not tell the server its name in TLS (no SNI)"),
    ("-Z ciphersuite", "Ciphers to offer, by OpenSSL's names"),
    ("-f protocol", "Version of TLS to offer"),
    ("", "(TLS1.2, TLS1.3 or ALL)"),
    ("-E certfile", "Client certificate and private key (PEM)"),
];

/// Returns the three lines of the banner, followed by an empty line.
pub(super) fn banner() -> String {
    let [version, copyright, license] = BANNER;
    format!("{version}<$Revision$>\n{copyright}\n{license}\n\n")
}

/// Returns the banner in HTML; the paragraph after it stays open.
pub(super) fn html_banner() -> String {
    let [version, copyright, license] = BANNER;
    format!(
        "<p>\n {version}<i>&lt;$Revision$&gt;</i><br>\n {copyright}<br>\n {license}<br>\n</p>\n\
         <p>\n"
    )
}

impl Output {
    /// Creates the output of the banner alone.
    pub(super) fn version() -> Self {
        Output {
            stdout: banner(),
            ..Output::default()
        }
    }

    /// Creates the output of the usage, after a problem if there is one.
    pub(super) fn usage(problem: Option<&str>) -> Self {
        let problem = problem.map(|problem| format!("ab: {problem}\n"));
        Output {
            stderr: problem.unwrap_or_default() + &usage(),
            code: BAD_USAGE,
            ..Output::default()
        }
    }

    /// Creates the output of a problem, followed by an empty line as in ab.
    pub(super) fn problem(problem: &str) -> Self {
        Output {
            stderr: format!("{problem}\n\n"),
            code: 1,
            ..Output::default()
        }
    }

    /// Creates the output of one sentence.
    pub(super) fn sentence(sentence: &str) -> Self {
        Output {
            stderr: format!("{sentence}\n"),
            code: 1,
            ..Output::default()
        }
    }
}

fn usage() -> String {
    let mut text =
        String::from("Usage: ab [options] [http[s]://]hostname[:port]/path\nOptions are:\n");
    for (flag, meaning) in FLAGS {
        text.push_str(&format!("    {flag:<15} {meaning}\n"));
    }
    text
}

/// Returns the line that names the host under load; empty for HTML.
pub(super) fn benchmarking(
    host: &str,
    proxy: Option<&(String, u16)>,
    has_progress: bool,
    html: Option<&Html>,
) -> String {
    if html.is_some() {
        return String::new();
    }
    let through = proxy
        .map(|(host, port)| format!("[through {host}:{port}] "))
        .unwrap_or_default();
    let end = if has_progress { "\n" } else { "..." };
    format!("Benchmarking {host} {through}(be patient){end}")
}
