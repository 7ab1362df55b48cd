//! Lines of the log in k6's formats: logfmt, JSON, the message alone, and coloured for terminals.

use super::super::go_json;
use chrono::{DateTime, Local, SecondsFormat};
use loadline_script_js::{Entry, Level};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The width of a message before its fields, on a terminal.
const MESSAGE_COLUMNS: usize = 44;

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Logfmt: `time="…" level=info msg=… source=console`.
    Logfmt,
    /// A JSON object for each entry.
    Json,
    /// The message alone.
    Raw,
    /// Coloured, with the seconds since the command's begin.
    Terminal,
}

/// The time of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) at: SystemTime,
    pub(super) since_begin: Duration,
}

/// Formats an entry, including its line end; `fields` replace its own fields.
pub(super) fn line(form: Form, entry: &Entry<'_>, fields: &[(&str, &str)], when: When) -> String {
    let mut fields = fields.to_vec();
    fields.sort_unstable();
    match form {
        Form::Logfmt => logfmt(entry, &fields, when),
        Form::Json => json(entry, &fields, when),
        Form::Raw => format!("{}\n", entry.message),
        Form::Terminal => terminal(entry, &fields, when),
    }
}

fn logfmt(entry: &Entry<'_>, fields: &[(&str, &str)], when: When) -> String {
    let mut text = format!("time=\"{}\" level={}", time(when.at), level(entry.level));
    if !entry.message.is_empty() {
        text += &format!(" msg={}", value(entry.message));
    }
    for (name, field) in fields {
        text += &format!(" {name}={}", value(field));
    }
    text + "\n"
}

fn json(entry: &Entry<'_>, fields: &[(&str, &str)], when: When) -> String {
    let time = time(when.at);
    let mut object: BTreeMap<&str, &str> = fields.iter().copied().collect();
    object.extend([
        ("level", level(entry.level)),
        ("msg", entry.message),
        ("time", &time),
    ]);
    go_json::compact(&object) + "\n"
}

fn terminal(entry: &Entry<'_>, fields: &[(&str, &str)], when: When) -> String {
    let (word, colour) = match entry.level {
        Level::Debug => ("DEBU", 37),
        Level::Info => ("INFO", 36),
        Level::Warning => ("WARN", 33),
        Level::Error => ("ERRO", 31),
    };
    let message = entry.message.strip_suffix('\n').unwrap_or(entry.message);
    let seconds = when.since_begin.as_secs();
    let mut text =
        format!("\u{1b}[{colour}m{word}\u{1b}[0m[{seconds:04}] {message:<MESSAGE_COLUMNS$} ");
    for (name, field) in fields {
        text += &format!(" \u{1b}[{colour}m{name}\u{1b}[0m={}", value(field));
    }
    text + "\n"
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// Formats a time as RFC 3339 in the local time zone, in whole seconds.
fn time(at: SystemTime) -> String {
    DateTime::<Local>::from(at).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats a value of logfmt: in quotes, unless it is plain.
fn value(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/@^+".contains(letter);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Quotes a text as Go does.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            letter if u32::from(letter) < 0x80 && letter.is_control() => {
                quoted += &format!("\\x{:02x}", u32::from(letter));
            }
            letter if letter.is_control() => quoted += &format!("\\u{:04x}", u32::from(letter)),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(form: Form, message: &str, fields: &[(&str, &str)]) -> String {
        let entry = Entry {
            level: Level::Warning,
            message,
            fields,
        };
        let when = When {
            at: SystemTime::UNIX_EPOCH,
            since_begin: Duration::from_millis(1_900),
        };
        line(form, &entry, fields, when)
    }

    #[test]
    fn values_are_quoted_unless_they_are_plain() {
        for (message, text) in [
            ("a/b-c.d_e@f^g+h", "a/b-c.d_e@f^g+h"),
            ("x=1", "\"x=1\""),
            ("a \"b\"", r#""a \"b\"""#),
            ("multi\nline\ttab é \u{1}", r#""multi\nline\ttab é \x01""#),
        ] {
            let line = shown(Form::Logfmt, message, &[("source", "console")]);
            let end = format!(" level=warning msg={text} source=console\n");
            assert!(line.ends_with(&end), "{line}");
        }
        let empty = shown(Form::Logfmt, "", &[]);
        assert!(empty.ends_with(" level=warning\n"), "{empty}");
    }

    #[test]
    fn other_forms_are_those_of_k6() {
        let fields = [("source", "console"), ("executor", "a b")];
        let json = shown(Form::Json, "<a>", &fields);
        assert!(
            json.starts_with(
                r#"{"executor":"a b","level":"warning","msg":"\u003ca\u003e","source":"console","#
            ),
            "{json}"
        );
        assert_eq!(shown(Form::Raw, "a b", &fields), "a b\n");
        assert_eq!(
            shown(Form::Terminal, "hi\n", &fields[..1]),
            format!(
                "\u{1b}[33mWARN\u{1b}[0m[0001] {:<44}  \u{1b}[33msource\u{1b}[0m=console\n",
                "hi"
            )
        );
    }
}
