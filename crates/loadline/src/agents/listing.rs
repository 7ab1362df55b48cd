//! The list of agents: a table, or JSON.

use loadline_bus::{Card, Offset, Selector};
use loadline_record::Floor;
use loadline_units::{rate, time, visible};
use serde_json::{Value, json};

const COLUMNS: [&str; 9] = [
    "name",
    "cores",
    "open files",
    "ports",
    "floor",
    "version",
    "clock",
    "state",
    "labels",
];

/// An agent, with what was measured of it.
pub(super) struct Listed {
    pub(super) card: Card,
    /// The best that its machine can do, if it has measured that.
    pub(super) floor: Option<Floor>,
    /// The offset of its clock, if it has answered.
    pub(super) clock: Option<Offset>,
}

/// Returns the table of the agents that were chosen.
pub(super) fn table(agents: &[Listed], requested: &Selector) -> String {
    if agents.is_empty() {
        return none(requested);
    }
    let rows: Vec<[String; 9]> = std::iter::once(COLUMNS.map(str::to_owned))
        .chain(agents.iter().map(row))
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

/// Returns the sentence about a bus without such agents.
fn none(requested: &Selector) -> String {
    let labels = requested.labels.iter();
    let labels = labels.map(|(key, value)| format!(" --label {key}={value}"));
    let labels: String = labels.collect();
    match labels.is_empty() {
        true => {
            "No agent waits there; start one with `loadline agent` and the same --nats.\n".into()
        }
        false => format!(
            "No agent with{} waits there; start one with `loadline agent{}` and the same --nats.\n",
            visible(&labels.replace("--label ", "")),
            visible(&labels)
        ),
    }
}

fn row(agent: &Listed) -> [String; 9] {
    let card = &agent.card;
    let labels = card.labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let state = match card.watches.is_empty() {
        true => state(card).to_owned(),
        false => format!("watches {}", card.watches.join(" ")),
    };
    let shown = |text: &str| visible(text).into_owned();
    [
        shown(&card.name),
        card.cores.to_string(),
        match card.open_files {
            u64::MAX => "unlimited".to_owned(),
            files => files.to_string(),
        },
        card.local_ports
            .map_or_else(|| "–".to_owned(), |ports| ports.to_string()),
        agent.floor.as_ref().map_or_else(|| "–".to_owned(), floor),
        shown(&card.versions.loadline),
        agent
            .clock
            .as_ref()
            .map_or_else(|| "no answer".to_owned(), offset),
        shown(&state),
        shown(&labels.join(" ")),
    ]
}

fn state(card: &Card) -> &'static str {
    match &card.busy_with {
        Some(_) => "busy",
        None if card.watches.is_empty() => "free",
        None => "watches",
    }
}

/// Returns the best rate and response time of a machine: `93 413/s, 41.2 µs`.
fn floor(floor: &Floor) -> String {
    format!(
        "{}, {}",
        rate(floor.answers_per_s),
        time(floor.p50_ns as f64)
    )
}

/// Returns the offset of a wall clock with its error: `+1.2 ms ± 80 µs`.
fn offset(clock: &Offset) -> String {
    let sign = if clock.wall_ahead_ns < 0 { '-' } else { '+' };
    let ahead = time(clock.wall_ahead_ns.unsigned_abs() as f64);
    format!("{sign}{ahead} ± {}", time(clock.error_ns as f64))
}

/// Returns the agents as JSON; `null` is what is unknown, or has no limit.
pub(super) fn json(agents: &[Listed]) -> Value {
    let agent = |agent: &Listed| {
        let card = &agent.card;
        let open_files = Some(card.open_files).filter(|files| *files != u64::MAX);
        let clock = agent.clock.as_ref().map(
            |clock| json!({ "wall_ahead_ns": clock.wall_ahead_ns, "error_ns": clock.error_ns }),
        );
        json!({
            "id": card.id,
            "name": card.name,
            "cores": card.cores,
            "open_files": open_files,
            "local_ports": card.local_ports,
            "floor": agent.floor,
            "version": card.versions.loadline,
            "protocol": card.versions.protocol,
            "reports": card.versions.reports,
            "clock": clock,
            "state": state(card),
            "watches": card.watches,
            "labels": card.labels,
        })
    };
    json!({ "agents": agents.iter().map(agent).collect::<Vec<Value>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_bus::Labels;

    fn agents() -> [Listed; 3] {
        let labels = Labels::from([("region".to_owned(), "eu".to_owned())]);
        let mut one = Card::new("web-1".to_owned(), 4, 1_024, labels);
        one.versions.loadline = "1.2.3".to_owned();
        one.local_ports = Some(28_232);
        let two = Card {
            local_ports: None,
            busy_with: Some("run".to_owned()),
            name: "a-longer\u{1b}name".to_owned(),
            open_files: u64::MAX,
            ..one.clone()
        };
        let three = Card {
            watches: vec![":80".to_owned()],
            ..one.clone()
        };
        let clock = Offset {
            ahead_ns: 0,
            wall_ahead_ns: -2_000_000,
            error_ns: 80_000,
            longest_ns: 0,
        };
        let floor = Floor {
            min_ns: 20_000,
            p50_ns: 41_200,
            p99_ns: 90_000,
            answers_per_s: 93_412.6,
            connections: 64,
        };
        let listed = |card, floor, clock| Listed { card, floor, clock };
        [
            listed(one, Some(floor), Some(clock)),
            listed(two, None, None),
            listed(three, None, Some(clock)),
        ]
    }

    #[test]
    fn each_agent_has_a_row() {
        let text = table(&agents(), &Selector::default());
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| {
                line.split("  ")
                    .map(str::trim)
                    .filter(|cell| !cell.is_empty())
            })
            .map(Iterator::collect)
            .collect();
        assert_eq!(rows[0], COLUMNS);
        let own = [
            "web-1",
            "4",
            "1024",
            "28232",
            "93 413/s, 41.2 µs",
            "1.2.3",
            "-2.00 ms ± 80.0 µs",
        ];
        assert_eq!(rows[1], [&own[..], &["free", "region=eu"]].concat());
        assert_eq!(
            rows[2][2..],
            [
                "unlimited",
                "–",
                "–",
                "1.2.3",
                "no answer",
                "busy",
                "region=eu"
            ]
        );
        assert_eq!(rows[3][7..], ["watches :80", "region=eu"]);
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn a_bus_without_such_agents_is_a_sentence() {
        let all = table(&[], &Selector::default());
        assert!(all.contains("start one with `loadline agent` and"), "{all}");
        let some = Selector {
            count: None,
            labels: Labels::from([("region".to_owned(), "eu".to_owned())]),
        };
        let none = table(&[], &some);
        let sentence = "No agent with region=eu waits there; start one with `loadline agent \
                        --label region=eu` and the same --nats.\n";
        assert_eq!(none, sentence);
    }

    #[test]
    fn json_has_what_the_table_has() {
        let found = json(&agents());
        let [one, two, three] = [0, 1, 2].map(|index| &found["agents"][index]);
        assert_eq!(one["floor"]["p50_ns"], 41_200);
        assert_eq!(one["floor"]["connections"], 64);
        assert_eq!(
            one["clock"],
            json!({ "wall_ahead_ns": -2_000_000, "error_ns": 80_000 })
        );
        assert_eq!(
            (&one["state"], &one["open_files"]),
            (&json!("free"), &json!(1_024))
        );
        assert_eq!(
            (&one["local_ports"], &two["local_ports"]),
            (&json!(28_232), &Value::Null)
        );
        assert_eq!(one["labels"], json!({ "region": "eu" }));
        assert_eq!((&two["floor"], &two["clock"]), (&Value::Null, &Value::Null));
        assert_eq!(
            (&two["state"], &two["open_files"]),
            (&json!("busy"), &Value::Null)
        );
        assert_eq!(
            (&three["state"], &three["watches"]),
            (&json!("watches"), &json!([":80"]))
        );
        assert_eq!(json(&[]), json!({ "agents": [] }));
    }
}
