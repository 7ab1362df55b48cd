//! Texts from scripts. A text of JavaScript may contain half of a surrogate pair, which has no form
//! in UTF-8: it becomes a replacement character, as in k6.

use rquickjs::{Atom, Coerced, Ctx, Error, FromAtom, FromJs, Result, Value};

/// A text, or the name of a property, with any contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(pub String);

impl<'js> FromJs<'js> for Text {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        match value.as_string() {
            Some(text) => lossy(text).map(Text),
            None => Err(Error::new_from_js(value.type_name(), "string")),
        }
    }
}

impl<'js> FromAtom<'js> for Text {
    fn from_atom(atom: Atom<'js>) -> Result<Self> {
        // The library cuts names at a NUL, and assumes that they are UTF-8.
        lossy(&atom.to_js_string()?).map(Text)
    }
}

/// Converts a value to a text as JavaScript does.
///
/// # Errors
/// An exception of its `toString()`.
pub fn text_of(value: &Value<'_>) -> Result<String> {
    match value.as_string() {
        Some(text) => lossy(text),
        None => lossy(&value.get::<Coerced<rquickjs::String<'_>>>()?.0),
    }
}

/// Converts a text of JavaScript; halves of surrogate pairs become replacement characters.
///
/// # Errors
/// If there is no memory for it.
pub fn lossy(text: &rquickjs::String<'_>) -> Result<String> {
    match text.to_string() {
        Err(Error::Utf8(_)) => {
            let bytes = text.clone().to_cstring()?;
            let bytes: &[u8] = bytes.as_ref();
            Ok(without_halves(bytes))
        }
        known => known,
    }
}

/// Converts these bytes to a text. Halves of surrogate pairs are encoded in them like characters.
fn without_halves(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(all) => return text + all,
            Err(error) => {
                let (good, bad) = rest.split_at(error.valid_up_to());
                text += &String::from_utf8_lossy(good);
                text.push(char::REPLACEMENT_CHARACTER);
                let length = match bad {
                    [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] => 3,
                    _ => 1,
                };
                rest = &bad[length..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rquickjs::{Context, Object, Runtime};

    fn with(script: &str, look: impl FnOnce(Value<'_>)) {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        context.with(|ctx| look(ctx.eval(script).unwrap()));
    }

    #[test]
    fn half_of_a_pair_becomes_one_replacement_character() {
        for (script, text) in [
            ("'Hello 😀 world'.slice(0, 7)", "Hello \u{FFFD}"),
            ("'\\ude00b😀\\ud83d\\ud83d'", "\u{FFFD}b😀\u{FFFD}\u{FFFD}"),
            ("'whole 😀'", "whole 😀"),
            ("({ toString: () => 'a\\ud800' })", "a\u{FFFD}"),
        ] {
            with(script, |value| {
                assert_eq!(text_of(&value).unwrap(), text, "{script}");
            });
        }
    }

    #[test]
    fn names_of_properties_are_whole() {
        with("({ 'a\\0b': 1, 'c\\ud83d': 2, 7: 3 })", |value| {
            let object: &Object<'_> = value.as_object().unwrap();
            let names: Result<Vec<Text>> = object.keys().collect();
            let names: Vec<String> = names.unwrap().into_iter().map(|name| name.0).collect();
            assert_eq!(names, ["7", "a\0b", "c\u{FFFD}"]);
        });
    }
}
