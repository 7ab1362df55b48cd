//! The list of agents.

use loadline_bus::{Card, Offset};
use loadline_units::{time, visible};

const COLUMNS: [&str; 7] = [
    "name",
    "cores",
    "open files",
    "version",
    "clock",
    "state",
    "labels",
];

/// Returns the table of agents, each with the offset of its clock if it has answered.
pub(super) fn table(agents: &[(Card, Option<Offset>)]) -> String {
    if agents.is_empty() {
        return "No agent waits there; start one with `loadline agent` and the same --nats.\n"
            .to_owned();
    }
    let rows = agents.iter().map(|(card, clock)| row(card, clock.as_ref()));
    let rows: Vec<[String; 7]> = std::iter::once(COLUMNS.map(str::to_owned))
        .chain(rows)
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, &width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn row(card: &Card, clock: Option<&Offset>) -> [String; 7] {
    let labels = card.labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let state = match &card.busy_with {
        Some(_) => "busy".to_owned(),
        None if card.watches.is_empty() => "free".to_owned(),
        None => format!("watches {}", card.watches.join(" ")),
    };
    let shown = |text: &str| visible(text).into_owned();
    [
        shown(&card.name),
        card.cores.to_string(),
        match card.open_files {
            u64::MAX => "unlimited".to_owned(),
            files => files.to_string(),
        },
        shown(&card.versions.loadline),
        clock.map_or_else(|| "no answer".to_owned(), offset),
        shown(&state),
        shown(&labels.join(" ")),
    ]
}

/// Returns the offset of a wall clock with its error: `+1.2 ms ± 80 µs`.
fn offset(clock: &Offset) -> String {
    let sign = if clock.wall_ahead_ns < 0 { '-' } else { '+' };
    let ahead = time(clock.wall_ahead_ns.unsigned_abs() as f64);
    format!("{sign}{ahead} ± {}", time(clock.error_ns as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_bus::Labels;

    #[test]
    fn each_agent_has_a_row() {
        let labels = Labels::from([("region".to_owned(), "eu".to_owned())]);
        let mut one = Card::new("web-1".to_owned(), 4, 1_024, labels);
        one.versions.loadline = "1.2.3".to_owned();
        let two = Card {
            busy_with: Some("run".to_owned()),
            name: "a-longer\u{1b}name".to_owned(),
            ..one.clone()
        };
        let clock = Offset {
            ahead_ns: 0,
            wall_ahead_ns: -2_000_000,
            error_ns: 80_000,
            longest_ns: 0,
        };
        let text = table(&[(one, Some(clock)), (two, None)]);
        let lines: Vec<&str> = text.lines().collect();
        let words = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(lines[0]).len(), 8, "{text}");
        assert!(lines[1].starts_with("web-1 "), "{text}");
        assert!(lines[1].ends_with("free   region=eu"), "{text}");
        assert!(
            lines[1].contains("1.2.3") && lines[1].contains("-2"),
            "{text}"
        );
        assert!(
            lines[2].contains("no answer") && lines[2].contains("busy"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(table(&[]).contains("loadline agent"));
    }
}
