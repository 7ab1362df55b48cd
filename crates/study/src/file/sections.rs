//! The sections on tools, targets and cores.

use super::reader::{Entry, Reader};
use crate::page::columns::numeric_columns;
use crate::peer::ToolKind;
use crate::problem::{FileError, Problem};
use crate::study::{Alike, Command, Cores, Pin, Plot, Target, Tool, WarmUp, What};
use std::time::Duration;

/// The default of the time that a target may take to serve.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(10);

/// The defaults of a warm-up.
const DEFAULT_ROUND: Duration = Duration::from_secs(10);
const MOST_WARM_UP: Duration = Duration::from_secs(120);
const WARMING_CONNECTIONS: u32 = 50;
/// The detector of transients judges eight seconds or more.
const SHORTEST_ROUND: Duration = Duration::from_secs(8);

/// The keys of a target.
const OF_TARGET: [&str; 10] = [
    "name", "url", "prepare", "start", "check", "stop", "reset", "patience", "cores", "files",
];

/// The default address at which a backend is checked.
const OF_THIS_HOST: &str = "http://127.0.0.1:{port}/";

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
    let (mut name, mut kind, mut words, mut prepare) = (None, None, None, None);
    for entry in entries {
        match entry.key.as_str() {
            "name" => name = Some(reader.name(entry)?),
            "kind" => kind = Some(kind_of(reader, entry)?),
            "command" => words = Some(reader.words(entry)?),
            "prepare" => prepare = Some(command(reader, entry)?),
            _ => return Err(reader.unknown(entry, &["name", "kind", "command", "prepare"])),
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
        line,
        prepare,
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
        if target.url.is_empty() {
            let (key, advice) = ("url", "say where the requests go.");
            return Err(reader.error(line, None, Problem::Missing { key, advice }));
        }
        if targets.iter().any(|known| known.name == target.name) {
            return Err(reader.error(line, None, Problem::Twice(target.name)));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Reads the backends, which the targets need. They have the keys of a target, and need no URL.
pub(super) fn backends(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Vec<Target>, FileError> {
    let mut backends: Vec<Target> = Vec::new();
    for (line, entries) in reader.sections(entry, "backend")? {
        let mut backend = target(reader, line, &entries)?;
        if backends.iter().any(|known| known.name == backend.name) {
            return Err(reader.error(line, None, Problem::Twice(backend.name)));
        }
        if backend.url.is_empty() {
            OF_THIS_HOST.clone_into(&mut backend.url);
        }
        backends.push(backend);
    }
    Ok(backends)
}

fn target(reader: &Reader<'_>, line: usize, entries: &[Entry<'_>]) -> Result<Target, FileError> {
    let mut target = Target {
        name: String::new(),
        line,
        url: String::new(),
        prepare: None,
        start: None,
        check: None,
        stop: None,
        reset: None,
        start_timeout: DEFAULT_START_TIMEOUT,
        cores: None,
        files: Vec::new(),
    };
    for entry in entries {
        match entry.key.as_str() {
            "name" => target.name = reader.name(entry)?,
            "url" => target.url = url(reader, entry)?,
            "prepare" => target.prepare = Some(command(reader, entry)?),
            "start" => target.start = Some(command(reader, entry)?),
            "check" => target.check = Some(command(reader, entry)?),
            "stop" => target.stop = Some(command(reader, entry)?),
            "reset" => target.reset = Some(command(reader, entry)?),
            "patience" => target.start_timeout = reader.duration(entry)?,
            "cores" => target.cores = Some(cores(reader, entry)?),
            "files" => target.files = files(reader, entry)?,
            _ => return Err(reader.unknown(entry, &OF_TARGET)),
        }
    }
    if target.name.is_empty() {
        let (key, advice) = ("name", "say what the rows call the target.");
        return Err(reader.error(line, None, Problem::Missing { key, advice }));
    }
    Ok(target)
}

/// Requests to which all targets must respond alike.
pub(super) fn alike(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Vec<Alike>, FileError> {
    let sections = reader.sections(entry, "alike")?.into_iter();
    sections
        .map(|(line, entries)| one_alike(reader, line, &entries))
        .collect()
}

fn one_alike(reader: &Reader<'_>, line: usize, entries: &[Entry<'_>]) -> Result<Alike, FileError> {
    let mut alike = Alike {
        line,
        method: "GET".to_owned(),
        path: String::new(),
        body: None,
    };
    for entry in entries {
        match entry.key.as_str() {
            "method" => alike.method = reader.text(entry)?,
            "path" => alike.path = reader.text(entry)?,
            "body" => alike.body = Some(reader.text(entry)?),
            _ => return Err(reader.unknown(entry, &["method", "path", "body"])),
        }
    }
    if !alike.path.starts_with('/') {
        let (key, advice) = ("path", "say what is requested, beginning with a slash.");
        return Err(reader.error(line, None, Problem::Missing { key, advice }));
    }
    Ok(alike)
}

/// Reads the settings of warm-ups.
pub(super) fn warm_up(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<WarmUp, FileError> {
    let mut warm_up = WarmUp {
        round: DEFAULT_ROUND,
        most: MOST_WARM_UP,
        connections: WARMING_CONNECTIONS,
        script: None,
    };
    for entry in reader.section(entry)? {
        match entry.key.as_str() {
            "round" => warm_up.round = reader.duration(&entry)?,
            "most" => warm_up.most = reader.duration(&entry)?,
            "connections" => warm_up.connections = reader.small_count(&entry)?,
            "script" => warm_up.script = Some(reader.text(&entry)?.into()),
            _ => return Err(reader.unknown(&entry, &["round", "most", "connections", "script"])),
        }
    }
    match warm_up.round < SHORTEST_ROUND {
        true => Err(reader.refuse(entry, Problem::ShortRound)),
        false => Ok(warm_up),
    }
}

/// The plots of the page.
pub(super) fn plots(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Vec<Plot>, FileError> {
    let sections = reader.sections(entry, "plot")?.into_iter();
    sections
        .map(|(line, entries)| plot(reader, line, &entries))
        .collect()
}

/// The keys of a plot.
const OF_PLOT: [&str; 8] = [
    "name",
    "title",
    "x",
    "y",
    "log",
    "tool",
    "target",
    "keep-alive",
];

fn plot(reader: &Reader<'_>, line: usize, entries: &[Entry<'_>]) -> Result<Plot, FileError> {
    let mut plot = Plot::default();
    for entry in entries {
        match entry.key.as_str() {
            "name" => plot.name = reader.name(entry)?,
            "title" => plot.title = reader.text(entry)?,
            "x" => plot.x = column(reader, entry)?,
            "y" => plot.y = column(reader, entry)?,
            "log" => plot.is_log = reader.boolean(entry)?,
            "tool" => plot.tool = Some(reader.text(entry)?),
            "target" => plot.target = Some(reader.text(entry)?),
            "keep-alive" => plot.keep_alive = Some(reader.boolean(entry)?),
            _ => return Err(reader.unknown(entry, &OF_PLOT)),
        }
    }
    let needed = [
        (
            "name",
            &plot.name,
            "say what the files of the plot are called.",
        ),
        ("title", &plot.title, "say what the plot shows."),
        ("x", &plot.x, "name the column from left to right."),
        ("y", &plot.y, "name the column from bottom to top."),
    ];
    let missing = needed.into_iter().find(|(_, text, _)| text.is_empty());
    if let Some((key, _, advice)) = missing {
        return Err(reader.error(line, None, Problem::Missing { key, advice }));
    }
    Ok(plot)
}

/// The name of a column with numbers.
fn column(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<String, FileError> {
    let name = reader.text(entry)?;
    let known = numeric_columns();
    match known.contains(&name.as_str()) {
        true => Ok(name),
        false => Err(reader.not_one_of(entry, &name, &known)),
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
