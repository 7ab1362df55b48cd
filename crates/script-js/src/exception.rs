//! Exceptions as text, as k6 logs them: what was thrown, and where, in the lines of the files.

use crate::modules::store::Store;
use loadline_k6_modules::INTERNAL;
use rquickjs::{CaughtError, Ctx, Error, Exception, FromJs, Object, Value};

/// The file of what is below all frames of a user that shares its runtime.
pub(crate) const BASE_FILE: &str = "loadline-base";

/// What was thrown, with its stack.
pub(crate) fn described(ctx: &Ctx<'_>, store: &Store, error: Error) -> String {
    match CaughtError::from_error(ctx, error) {
        CaughtError::Error(error) => error.to_string(),
        CaughtError::Exception(exception) => of_exception(store, &exception),
        CaughtError::Value(value) => of_value(ctx, store, value),
    }
}

/// A value that was thrown, or that a promise was rejected with.
pub(crate) fn of_value<'js>(ctx: &Ctx<'js>, store: &Store, value: Value<'js>) -> String {
    let object = value.as_object().cloned();
    match object.and_then(Exception::from_object) {
        Some(exception) => of_exception(store, &exception),
        None => {
            let text = rquickjs::Coerced::<String>::from_js(ctx, value);
            text.map_or_else(|_| "an unknown error".to_owned(), |text| text.0)
        }
    }
}

fn of_exception(store: &Store, exception: &Exception<'_>) -> String {
    let object: &Object<'_> = exception.as_object();
    let name: String = object.get("name").unwrap_or_else(|_| "Error".to_owned());
    let message = exception.message().unwrap_or_default();
    let mut text = match message.is_empty() {
        true => name,
        false => format!("{name}: {message}"),
    };
    let stack = exception.stack().unwrap_or_default();
    for frame in own(&stack) {
        if let Some(frame) = frame_of(store, frame) {
            text += "\n\tat ";
            text += &frame;
        }
    }
    text
}

/// The frames of the script itself.
fn own(stack: &str) -> impl Iterator<Item = &str> {
    let below = format!("({BASE_FILE}:");
    stack
        .lines()
        .take_while(move |frame| !frame.contains(&below))
}

/// Where the script is: its innermost frame.
pub(crate) fn place(ctx: &Ctx<'_>, store: &Store) -> Option<String> {
    let here = Exception::from_message(ctx.clone(), "").ok()?;
    let stack = here.stack()?;
    let mut frames = own(&stack).filter(|frame| !frame.contains("(native)"));
    frames.find_map(|frame| frame_of(store, frame))
}

/// A line of QuickJS's stack, `    at name (file:line:column)`, with the place in the file; `None`
/// for our own JavaScript, of which scripts know nothing.
fn frame_of(store: &Store, frame: &str) -> Option<String> {
    let frame = frame.trim().strip_prefix("at ")?;
    let Some((name, place)) = frame.rsplit_once(" (") else {
        return Some(frame.to_owned());
    };
    let place = place.strip_suffix(')').unwrap_or(place);
    if place == "native" {
        return Some(frame.to_owned());
    }
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok();
    let line = parts.next().and_then(|line| line.parse().ok());
    let (Some(column), Some(line), Some(file)) = (column, line, parts.next()) else {
        return Some(frame.to_owned());
    };
    if file == INTERNAL {
        return None;
    }
    let (file, line, column) = store.written(file, (line, column));
    Some(match name {
        "<anonymous>" | "" => format!("{file}:{line}:{column}"),
        name => format!("{name} ({file}:{line}:{column})"),
    })
}
