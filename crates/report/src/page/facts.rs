//! The counts, and the machine.

use crate::text;
use loadline_page::Fact;
use loadline_record::{Environment, Summary};
use loadline_units as units;

/// The head of the text report.
pub(super) fn of_run(summary: &Summary) -> Vec<Fact> {
    // The page has a list of the notes.
    let facts = text::facts(summary).into_iter();
    let facts = facts.filter(|(name, _)| *name != text::NOTES);
    facts.map(|(name, text)| fact(name, text)).collect()
}

/// Returns the known facts about the machine of the generator.
pub(crate) fn of_machine(environment: &Environment) -> Vec<Fact> {
    let facts = [
        ("processor", environment.cpu_model.clone()),
        ("cores", cores(environment)),
        (
            "memory",
            environment
                .memory_bytes
                .map(|bytes| units::bytes(bytes as f64)),
        ),
        ("kernel", environment.kernel.clone()),
        ("open files", environment.open_files.map(units::count)),
        ("load before", environment.load_average.map(load_average)),
    ];
    let known = facts
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)));
    known.map(|(name, text)| fact(name, text)).collect()
}

fn cores(environment: &Environment) -> Option<String> {
    let cores = environment.cores?;
    Some(match environment.usable_cores {
        Some(usable) if usable != cores => format!("{cores}, {usable} of them usable"),
        _ => cores.to_string(),
    })
}

fn load_average(averages: [f64; 3]) -> String {
    let [one, five, fifteen] = averages;
    format!("{one} in the last minute, {five} in five, {fifteen} in fifteen")
}

fn fact(name: &str, text: String) -> Fact {
    Fact {
        name: name.to_owned(),
        text,
    }
}
