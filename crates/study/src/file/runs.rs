//! The runs of a study file: rows of settings, each with one or several values.

use super::reader::{Entry, Reader};
use super::sections::warm_up;
use crate::peer::ToolKind;
use crate::problem::{FileError, Problem};
use crate::settings::{Axis, Flag, Setting};
use crate::study::{Quick, Row, Study};
use loadline_plan::Rate;
use std::path::Path;
use toml::de::DeValue;

/// The settings by name; whatever begins with a dash is one as well.
const SETTINGS: [&str; 10] = [
    "tool",
    "target",
    "against",
    "connections",
    "threads",
    "rate",
    "duration",
    "requests",
    "keep-alive",
    "script",
];

/// Reads all rows of all `[[runs]]`. They refer to the tools and targets in the rest of the file.
pub(super) fn rows(
    reader: &Reader<'_>,
    entry: &Entry<'_>,
    study: &Study,
) -> Result<Vec<Row>, FileError> {
    let mut rows = Vec::new();
    for (line, entries) in reader.sections(entry, "runs")? {
        rows.extend(block(reader, line, entries, study)?);
    }
    match rows.is_empty() {
        true => Err(reader.refuse(entry, Problem::EmptyAxis)),
        false => Ok(rows),
    }
}

/// Reads the rows of one `[[runs]]`: its own settings are common to all its rows.
fn block(
    reader: &Reader<'_>,
    line: usize,
    entries: Vec<Entry<'_>>,
    study: &Study,
) -> Result<Vec<Row>, FileError> {
    let (listed, common): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.key == "rows");
    let common = row(reader, line, &common, None, study)?;
    let rows = match listed.first() {
        None => vec![common],
        Some(listed) => {
            let listed = reader.values(listed)?.into_iter().map(|listed| {
                let entries = reader.section(&listed)?;
                row(reader, listed.line, &entries, Some(&common), study)
            });
            listed.collect::<Result<_, _>>()?
        }
    };
    for row in &rows {
        if !row.axes.iter().any(|axis| axis.name == "tool") {
            let missing = Problem::Missing {
                key: "tool",
                advice: "say what the runs are made with, such as \"wrk\".",
            };
            return Err(reader.error(row.line, None, missing));
        }
    }
    Ok(rows)
}

/// Reads a row: its own axes, and the common axes that it does not set itself.
fn row(
    reader: &Reader<'_>,
    line: usize,
    entries: &[Entry<'_>],
    common: Option<&Row>,
    study: &Study,
) -> Result<Row, FileError> {
    let mut row = common.cloned().unwrap_or(Row {
        line,
        quick: true,
        axes: Vec::new(),
    });
    row.line = line;
    for entry in entries {
        match entry.key.as_str() {
            "quick" => row.quick = reader.boolean(entry)?,
            _ => replace(&mut row.axes, axis(reader, entry)?),
        }
    }
    check_axes(reader, &row.axes, study)?;
    Ok(row)
}

/// Replaces the axis of the same name, or adds the axis as the last.
pub(crate) fn replace(axes: &mut Vec<Axis>, axis: Axis) {
    match axes.iter_mut().find(|known| known.name == axis.name) {
        Some(known) => *known = axis,
        None => axes.push(axis),
    }
}

/// Reads the settings of a quick study.
pub(super) fn quick(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Quick, FileError> {
    let mut quick = Quick::default();
    for entry in reader.section(entry)? {
        match entry.key.as_str() {
            "repeats" => quick.repeats = Some(reader.small_count(&entry)?),
            "warm-up" => quick.warm_up = Some(warm_up(reader, &entry)?),
            "pause" => quick.pause = Some(reader.duration(&entry)?),
            _ => quick.axes.push(axis(reader, &entry)?),
        }
    }
    Ok(quick)
}

fn axis(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Axis, FileError> {
    let values = reader.values(entry)?;
    let values = values.iter().map(|value| setting(reader, value));
    Ok(Axis {
        name: entry.key.clone(),
        line: entry.line,
        values: values.collect::<Result<_, _>>()?,
    })
}

fn setting(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Setting, FileError> {
    Ok(match entry.key.as_str() {
        "tool" => Setting::Tool(reader.text(entry)?),
        "target" => Setting::Target(reader.text(entry)?),
        "against" => Setting::Against(reader.text(entry)?),
        "connections" => Setting::Connections(reader.small_count(entry)?),
        "threads" => Setting::Threads(reader.small_count(entry)?),
        "rate" => Setting::Rate(reader.parsed(entry, str::parse::<Rate>)?),
        "duration" => Setting::Duration(reader.duration(entry)?),
        "requests" => Setting::Requests(reader.count(entry)?),
        "keep-alive" => Setting::KeepAlive(reader.boolean(entry)?),
        "script" => Setting::Script(reader.text(entry)?.into()),
        key if key.starts_with('-') => Setting::Flag(flag(reader, entry)?),
        _ => return Err(reader.unknown(entry, &SETTINGS)),
    })
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's values: only a flag without a value is a boolean"
)]
fn flag(reader: &Reader<'_>, entry: &Entry<'_>) -> Result<Flag, FileError> {
    let value = match entry.value {
        DeValue::Boolean(_) => None,
        _ => Some(reader.scalar(entry)?),
    };
    Ok(Flag {
        name: entry.typed.to_owned(),
        value,
        on: entry.value.as_bool().unwrap_or(true),
    })
}

/// Checks that the tools, targets and scripts of the axes exist.
pub(super) fn check_axes(
    reader: &Reader<'_>,
    axes: &[Axis],
    study: &Study,
) -> Result<(), FileError> {
    for axis in axes {
        for value in &axis.values {
            let problem = match value {
                Setting::Tool(name) if !study.knows_tool(name) => {
                    let known = ToolKind::ALL.map(ToolKind::name).join(", ");
                    Problem::UnknownTool(name.clone(), known)
                }
                Setting::Target(name) | Setting::Against(name) if study.target(name).is_none() => {
                    Problem::UnknownTarget(name.clone())
                }
                Setting::Script(path) if !study.resolve_path(path).is_file() => {
                    Problem::Value(missing_script(path))
                }
                Setting::Tool(_)
                | Setting::Target(_)
                | Setting::Against(_)
                | Setting::Connections(_)
                | Setting::Threads(_)
                | Setting::Rate(_)
                | Setting::Duration(_)
                | Setting::Requests(_)
                | Setting::KeepAlive(_)
                | Setting::Script(_)
                | Setting::Flag(_) => continue,
            };
            return Err(reader.error(axis.line, Some(&axis.name), problem));
        }
    }
    Ok(())
}

/// Checks that the script of a warm-up exists.
pub(super) fn check_script(
    reader: &Reader<'_>,
    script: Option<&Path>,
    study: &Study,
) -> Result<(), FileError> {
    match script.filter(|path| !study.resolve_path(path).is_file()) {
        Some(path) => Err(reader.error(1, Some("warm-up"), Problem::Value(missing_script(path)))),
        None => Ok(()),
    }
}

fn missing_script(path: &Path) -> String {
    format!(
        "there is no file {}; paths begin at the folder of the study.",
        path.display()
    )
}
