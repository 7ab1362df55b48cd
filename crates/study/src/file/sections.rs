//! The sections on tools, targets and cores.

use super::reader::{Entry, Reader};
use crate::peer::ToolKind;
use crate::problem::{FileError, Problem};
use crate::study::{Command, Cores, Pin, Target, Tool, What};
use std::time::Duration;

/// The default of the time that a target may take to serve.
const PATIENCE: Duration = Duration::from_secs(10);

/// The keys of a target.
const OF_TARGET: [&str; 8] = [
    "name", "url", "start", "check", "stop", "reset", "patience", "files",
];

pub(super) fn pin(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Pin, FileError> {
    let mut pin = Pin {
        line: entry.line,
        ..Pin::default()
    };
    for entry in reader.section(entry)? {
        match entry.key.as_str() {
            "tools" => pin.tools = Some(cores(reader, &entry)?),
            "targets" => pin.targets = Some(cores(reader, &entry)?),
            _ => return Err(reader.unknown(&entry, &["tools", "targets"])),
        }
    }
    Ok(pin)
}

fn cores(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Cores, FileError> {
    let text = reader.scalar(entry)?;
    let refused = || reader.refuse(entry, Problem::Cores(text.clone()));
    Cores::parse(&text).ok_or_else(refused)
}

pub(super) fn tools(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Vec<Tool>, FileError> {
    let mut tools: Vec<Tool> = Vec::new();
    for (line, entries) in reader.sections(entry, "tool")? {
        let tool = tool(reader, line, &entries)?;
        if tools.iter().any(|known| known.name == tool.name) {
            return Err(reader.error(line, None, Problem::Twice(tool.name)));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn tool(reader: &Reader<'_>, line: usize, entries: &[Entry<'_>]) -> Result<Tool, FileError> {
    let (mut name, mut kind, mut words) = (None, None, None);
    for entry in entries {
        match entry.key.as_str() {
            "name" => name = Some(reader.name(entry)?),
            "kind" => kind = Some(kind_of(reader, entry)?),
            "command" => words = Some(reader.words(entry)?),
            _ => return Err(reader.unknown(entry, &["name", "kind", "command"])),
        }
    }
    let missing = |key, advice| reader.error(line, None, Problem::Missing { key, advice });
    let kind: ToolKind = kind.ok_or_else(|| {
        missing(
            "kind",
            "say whose arguments the tool takes, such as \"wrk\".",
        )
    })?;
    Ok(Tool {
        name: name.ok_or_else(|| missing("name", "say what the rows call the tool."))?,
        kind,
        words: words.unwrap_or_else(|| kind.words()),
    })
}

fn kind_of(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<ToolKind, FileError> {
    let text = reader.text(entry)?;
    let names = ToolKind::ALL.map(ToolKind::name);
    ToolKind::named(&text).ok_or_else(|| reader.not_one_of(entry, &text, &names))
}

pub(super) fn targets(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Vec<Target>, FileError> {
    let mut targets: Vec<Target> = Vec::new();
    for (line, entries) in reader.sections(entry, "target")? {
        let target = target(reader, line, &entries)?;
        if targets.iter().any(|known| known.name == target.name) {
            return Err(reader.error(line, None, Problem::Twice(target.name)));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn target(reader: &Reader<'_>, line: usize, entries: &[Entry<'_>]) -> Result<Target, FileError> {
    let mut target = Target {
        name: String::new(),
        line,
        url: String::new(),
        start: None,
        check: None,
        stop: None,
        reset: None,
        patience: PATIENCE,
        files: Vec::new(),
    };
    for entry in entries {
        match entry.key.as_str() {
            "name" => target.name = reader.name(entry)?,
            "url" => target.url = url(reader, entry)?,
            "start" => target.start = Some(command(reader, entry)?),
            "check" => target.check = Some(command(reader, entry)?),
            "stop" => target.stop = Some(command(reader, entry)?),
            "reset" => target.reset = Some(command(reader, entry)?),
            "patience" => target.patience = reader.duration(entry)?,
            "files" => target.files = files(reader, entry)?,
            _ => return Err(reader.unknown(entry, &OF_TARGET)),
        }
    }
    let missing = |key, advice| Err(reader.error(line, None, Problem::Missing { key, advice }));
    match (target.name.as_str(), target.url.as_str()) {
        ("", _) => missing("name", "say what the rows call the target."),
        (_, "") => missing("url", "say where the requests go."),
        _ => Ok(target),
    }
}

fn url(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<String, FileError> {
    let typed = reader.text(entry)?;
    // Any port will do for checking the URL.
    let parsed = typed
        .replace("{port}", "1")
        .parse::<loadline_plan::Target>();
    parsed.map_err(|error| reader.refuse(entry, Problem::Value(error.to_string())))?;
    // Some tools reject a URL without a scheme.
    Ok(match typed.contains("://") {
        true => typed,
        false => format!("http://{typed}"),
    })
}

fn command(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Command, FileError> {
    let what = match entry.value.as_str() {
        Some(line) if line.trim().is_empty() => {
            return Err(reader.refuse(entry, Problem::EmptyCommand));
        }
        Some(line) => What::Shell(line.to_owned()),
        None => What::Words(reader.words(entry)?),
    };
    Ok(Command {
        line: entry.line,
        what,
    })
}

fn files(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Vec<(String, String)>, FileError> {
    let file = |entry: &Entry<'_>| {
        if entry.typed.contains('/') || entry.typed.starts_with('.') {
            let sentence = format!("`{}` is not a plain file name.", entry.typed);
            return Err(reader.refuse(entry, Problem::Value(sentence)));
        }
        Ok((entry.typed.to_owned(), reader.text(entry)?))
    };
    reader.section(entry)?.iter().map(file).collect()
}
