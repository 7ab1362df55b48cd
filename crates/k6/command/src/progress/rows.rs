//! The rows of the progress, in k6's columns.

/// The maximum width of a bar, in columns.
const BAR_COLUMNS: usize = 38;
/// The minimum width of a bar, in columns; a percentage replaces narrower ones.
const LEAST_COLUMNS: usize = 6;

/// The state of a row's scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It is running.
    None,
    /// It has not begun.
    Waiting,
    /// It has ended.
    Done,
    /// It was interrupted.
    Cut,
}

/// A row: the texts to the left of the bar, in it, and to the right of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) mark: Mark,
    /// The completed share, from 0 to 1.
    pub(super) share: f64,
    pub(super) cells: Vec<String>,
}

/// The appearance of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStyle {
    /// True if there are bars, otherwise percentages.
    pub(super) has_bars: bool,
    pub(super) has_colours: bool,
    /// The width of the terminal in columns, if known.
    pub(super) columns: Option<usize>,
}

/// Formats the rows as lines. Names fill at least `names` columns.
pub(super) fn lines(rows: &[Row], names: usize, style: RowStyle) -> Vec<String> {
    let names = rows
        .iter()
        .map(|row| row.name.chars().count())
        .fold(names, usize::max);
    let widths = widths(rows);
    let rights: Vec<String> = rows.iter().map(|row| right(&row.cells, &widths)).collect();
    let longest = rights.iter().map(|text| text.chars().count()).max();
    let around = names + " m [] ".len() + longest.unwrap_or(0);
    let room = style
        .columns
        .map_or(BAR_COLUMNS, |columns| columns.saturating_sub(around));
    let line = |(row, right): (&Row, &String)| {
        let bar = match style.has_bars && room >= LEAST_COLUMNS {
            true => bar(row.share, room.min(BAR_COLUMNS), style.has_colours),
            false => format!("[ {:3.0}% ]", (row.share * 100.0).floor()),
        };
        let line = format!(
            "{:names$} {} {bar} {right}",
            row.name,
            mark(row.mark, style)
        );
        match row.cells.is_empty() {
            true => line.trim_end().to_owned(),
            false => line,
        }
    };
    rows.iter().zip(&rights).map(line).collect()
}

/// Returns the widths of the columns to the right of the bar. The last cell of a row does not
/// count.
fn widths(rows: &[Row]) -> Vec<usize> {
    let count = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let width = |column: usize| {
        let followed = rows.iter().filter(|row| row.cells.len() > column + 1);
        let widths = followed.map(|row| row.cells[column].chars().count());
        widths.max().unwrap_or(0)
    };
    (0..count).map(width).collect()
}

fn right(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths);
    let padded = padded.map(|(cell, width)| format!("{cell:<width$}", width = width + 1));
    padded.collect::<Vec<_>>().join(" ")
}

fn mark(mark: Mark, style: RowStyle) -> String {
    let (sign, begin, end) = match mark {
        Mark::None => return " ".to_owned(),
        Mark::Waiting => ("•", "\u{1b}[2m", "\u{1b}[22m"),
        Mark::Done => ("✓", "\u{1b}[32m", "\u{1b}[0m"),
        Mark::Cut => ("✗", "\u{1b}[31m", "\u{1b}[0m"),
    };
    match style.has_colours {
        true => format!("{begin}{sign}{end}"),
        false => sign.to_owned(),
    }
}

fn bar(share: f64, columns: usize, has_colours: bool) -> String {
    let filled = ((share * columns as f64) as usize).min(columns);
    let head = if filled > 0 && filled < columns {
        ">"
    } else {
        ""
    };
    let body = "=".repeat(filled - head.len());
    let rest = "-".repeat(columns - filled);
    match has_colours {
        true => format!("[{body}{head}\u{1b}[2m{rest}\u{1b}[22m]"),
        false => format!("[{body}{head}{rest}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, mark: Mark, share: f64, cells: &[&str]) -> Row {
        Row {
            name: name.to_owned(),
            mark,
            share,
            cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
        }
    }

    const PLAIN: RowStyle = RowStyle {
        has_bars: false,
        has_colours: false,
        columns: None,
    };

    #[test]
    fn rows_stand_in_columns_as_those_of_k6() {
        let rows = [
            row(
                "car",
                Mark::None,
                0.49,
                &["1/2 VUs", "1.0s/2s", "5.00 iters/s"],
            ),
            row("cvus", Mark::Done, 1.0, &["2 VUs", "1.5s"]),
            row("ext", Mark::None, 0.499, &["1/4 VUs", "1.0s/2s", ""]),
            row("ramp", Mark::None, 0.66, &["11/12 VUs", "1.0s/1.5s"]),
            row("per_vu", Mark::Waiting, 0.0, &["waiting", "0.0s"]),
        ];
        assert_eq!(
            lines(&rows, 4, PLAIN),
            [
                "car      [  49% ] 1/2 VUs    1.0s/2s  5.00 iters/s",
                "cvus   ✓ [ 100% ] 2 VUs      1.5s    ",
                "ext      [  49% ] 1/4 VUs    1.0s/2s   ",
                "ramp     [  66% ] 11/12 VUs  1.0s/1.5s",
                "per_vu • [   0% ] waiting    0.0s    ",
            ]
        );
        let setup = [row("default", Mark::None, 0.0, &[])];
        assert_eq!(lines(&setup, 4, PLAIN), ["default   [   0% ]"]);
    }

    #[test]
    fn bars_grow_and_narrow() {
        let style = RowStyle {
            has_bars: true,
            has_colours: true,
            columns: Some(80),
        };
        let rows = [row("default", Mark::None, 0.1, &["2 VUs", "0.2s/2s"])];
        assert_eq!(
            lines(&rows, 4, style),
            [format!(
                "default   [==>\u{1b}[2m{}\u{1b}[22m] 2 VUs  0.2s/2s",
                "-".repeat(35)
            )]
        );
        let narrow = RowStyle {
            columns: Some(30),
            ..style
        };
        assert_eq!(
            lines(&rows, 4, narrow),
            ["default   [  10% ] 2 VUs  0.2s/2s"]
        );
    }
}
