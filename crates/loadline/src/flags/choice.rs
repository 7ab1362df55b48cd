//! Flags whose value is one of a few words.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of the words as its value. The words appear in help and completions.
pub(super) fn choice<T: Copy + Send + Sync>(
    choices: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(choices.iter().map(|(word, _)| *word));
    words.map(|typed| {
        let chosen = choices.iter().find(|(word, _)| *word == typed);
        chosen.expect("only the words above are let through").1
    })
}
