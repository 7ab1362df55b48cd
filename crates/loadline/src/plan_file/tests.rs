//! Tests of plan files: as read, as completed by the command line, and as refused.

use super::*;
use crate::flags::run::RunFlags;
use std::ffi::OsStr;

fn file(text: &str) -> PlanFile<RunFlags> {
    PlanFile::parse(Path::new("plan.toml"), text).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    PlanFile::<RunFlags>::parse(Path::new("plan.toml"), text)
        .expect_err(text)
        .to_string()
}

fn assert_refused(text: &str, beginning: &str) {
    let refusal = refusal(text);
    assert!(refusal.starts_with(beginning), "{refusal}");
}

/// The words of all keys in the file.
fn words_of(text: &str) -> Vec<OsString> {
    file(text)
        .entries
        .into_iter()
        .flat_map(|entry| entry.words)
        .collect()
}

/// The words that come of a file and a command line.
fn merged(text: &str, line: &str) -> String {
    let typed = line.split_whitespace().map(OsString::from);
    let flags = flags::parse_planned::<RunFlags>(typed).expect("flags");
    let flags = file(text)
        .under(flags)
        .unwrap_or_else(|error| panic!("{error}"));
    flags
        .typed
        .join(OsStr::new(" "))
        .into_string()
        .expect("text")
}

#[test]
fn keys_are_the_words_of_the_command_line() {
    for (text, words) in [
        ("connections = 1_000", vec!["--connections=1000"]),
        ("rate = 2.5", vec!["--rate=2.5"]),
        ("rate = '2.5k'", vec!["--rate=2.5k"]),
        ("connect-timeout = '1s'", vec!["--connect-timeout=1s"]),
        ("connect_timeout = 1", vec!["--connect-timeout=1"]),
        ("no-keepalive = true", vec!["--no-keepalive"]),
        ("no-keepalive = false", vec![]),
        (
            "header = ['A: 1', 'B: 2']",
            vec!["--header=A: 1", "--header=B: 2"],
        ),
        ("header = 'A: 1'", vec!["--header=A: 1"]),
        ("check = []", vec![]),
        (
            "percentiles = [50, 99.9]",
            vec!["--percentiles=50", "--percentiles=99.9"],
        ),
        ("url = ['http://a/', 'b/']", vec!["http://a/", "b/"]),
        ("urls_inline = '''\na/\nb/'''", vec!["--urls-inline=a/\nb/"]),
        ("url = '-k/'", vec!["http://-k/"]),
        ("# nothing", vec![]),
    ] {
        assert_eq!(words_of(text), words, "{text}");
    }
}

#[test]
fn every_flag_is_a_key() {
    let command = flags::planned_command::<RunFlags>();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        assert_eq!(argument.get_long().unwrap_or("url").replace('-', "_"), id);
        let refusal = refusal(&format!("{id} = 1979-05-27"));
        assert!(!refusal.contains("no such key"), "{refusal}");
    }
}

#[test]
fn flags_override_the_file() {
    for (text, line, expected) in [
        (
            "rate = 5\nconnections = 7",
            "p.toml -c 8",
            "--rate=5 p.toml -c 8",
        ),
        ("header = ['A: 1', 'B: 2']", "-HC:3 p.toml", "-HC:3 p.toml"),
        (
            "timeout = '5s'",
            "p.toml --timeout=30s",
            "p.toml --timeout=30s",
        ),
        ("url = 'a/'\nrate = 5", "p.toml", "a/ --rate=5 p.toml"),
        ("url = 'a/'\nurls_inline = 'b/'", "p.toml c/", "p.toml c/"),
        ("url = 'a/'", "p.toml --urls list", "p.toml --urls list"),
        ("rate = 5", "p.toml --burst 1/s", "p.toml --burst 1/s"),
        ("form = ['a=b']", "p.toml -b x", "p.toml -b x"),
        ("ipv4 = true", "p.toml -6", "p.toml -6"),
        ("short = true", "p.toml --full", "p.toml --full"),
        ("full = true", "p.toml --short", "p.toml --short"),
        ("insecure = true", "p.toml", "--insecure p.toml"),
    ] {
        assert_eq!(merged(text, line), expected, "{text} under {line}");
    }
}

#[test]
fn refusals_name_file_line_and_key() {
    for (text, expected) in [
        ("url = 5", "plan.toml, line 1, url: it takes a text: a URL."),
        (
            "rate = 5\nurl = ['a/', 1.5]",
            "plan.toml, line 2, url: it takes a text: a URL.",
        ),
        (
            "\n\nrate = 'fast'",
            "plan.toml, line 3, rate: `fast` is not a rate. Write a number",
        ),
        (
            "clock = 'wall'",
            "plan.toml, line 1, clock: `wall` is not one of kernel, user.",
        ),
        (
            "rate = 5\nconections = 5",
            "plan.toml, line 2, conections: there is no such key; did you mean connections?",
        ),
        (
            "frobnicate = 5",
            "plan.toml, line 1, frobnicate: there is no such key.",
        ),
        (
            "help = true",
            "plan.toml, line 1, help: there is no such key.",
        ),
        (
            "typed = 'x'",
            "plan.toml, line 1, typed: there is no such key.",
        ),
        ("'' = 5", "plan.toml, line 1, : there is no such key."),
    ] {
        assert_refused(text, expected);
    }
}

#[test]
fn refusals_say_what_a_value_has_to_be() {
    for (text, expected) in [
        (
            "url = 'ftp://a'",
            "plan.toml, line 1, url: `ftp://a` is not a URL to load",
        ),
        (
            "url = 'b.toml'",
            "plan.toml, line 1, url: a plan file can't name another",
        ),
        (
            "insecure = 'yes'",
            "plan.toml, line 1, insecure: it takes true or false.",
        ),
        (
            "insecure = 1",
            "plan.toml, line 1, insecure: it takes true or false.",
        ),
        (
            "rate = true",
            "plan.toml, line 1, rate: it takes a text or a number.",
        ),
        (
            "rate = [1, 2]",
            "plan.toml, line 1, rate: it takes one value, not several.",
        ),
        (
            "rate = 07:32:00",
            "plan.toml, line 1, rate: it takes a text or a number.",
        ),
        (
            "check = ['p99<1s', 'p99<1']",
            "plan.toml, line 1, check: `p99<1` is not a check",
        ),
        (
            "check = [['p99<1s']]",
            "plan.toml, line 1, check: it takes a text or a number.",
        ),
        (
            "rate = 5\n[load]\nrate = 6",
            "plan.toml, line 2, load: a plan file has no sections",
        ),
        (
            "body.text = 'x'",
            "plan.toml, line 1, body: a plan file has no sections",
        ),
        (
            "urls_inline = '''\na/\nftp://b'''",
            "plan.toml, line 1, urls_inline: in its line 2: `ftp://b` is not",
        ),
        ("rate = -5", "plan.toml, line 1, rate: `-5` is not a rate."),
        (
            "connections = 0x10",
            "plan.toml, line 1, connections: `0x10` is not a count.",
        ),
    ] {
        assert_refused(text, expected);
    }
}

#[test]
fn what_is_not_toml_is_refused_with_its_line() {
    for (text, line) in [
        ("rate = ", 1),
        ("rate = 5\nrate = 6", 2),
        ("a = 1\nb = 2\nhello", 3),
    ] {
        let refusal = refusal(text);
        let expected = format!("plan.toml, line {line}: this is not TOML: ");
        assert!(
            refusal.starts_with(&expected) && !refusal.contains('\n'),
            "{refusal}"
        );
    }
}
