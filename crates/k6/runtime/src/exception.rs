//! Exceptions as text, as k6 logs them: the thrown value, and the places in the lines of the files.

use crate::modules::store::Store;
use crate::native::{Text, function, text_of};
use crate::vu::Vu;
use loadline_k6_modules::{INTERNAL, Secrets};
use rquickjs::function::This;
use rquickjs::{CaughtError, Ctx, Error, Exception, Function, IntoJs, Object, Value};

/// The file name of the code below all frames of a user in a shared runtime.
pub(crate) const BASE_FILE: &str = "loadline-base";

/// Replaces the getter of `stack` on errors by one with k6's text, because QuickJS's lacks the
/// message. Evaluates to a function that returns QuickJS's own getter.
const STACK: &str = "(function (shown) {
    const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
    const stack = {
        get stack() {
            const frames = get.call(this);
            return typeof frames === 'string' ? shown(this, frames) : frames;
        },
    };
    const own = Object.getOwnPropertyDescriptor(stack, 'stack');
    Object.defineProperty(Error.prototype, 'stack', { ...own, set, enumerable: false });
    return get;
})";

/// The name under which QuickJS's own getter is kept, hidden from scripts.
const STACK_OF: &str = "stackOf";

/// A value that a script threw, or with which it rejected a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// The name of an error; empty for any other value.
    pub(crate) name: String,
    /// The message of an error, or another value as text.
    pub(crate) message: String,
    /// The places in the files, the innermost first, a line for each.
    pub(crate) frames: Vec<String>,
}

impl Thrown {
    fn value(text: String) -> Thrown {
        Thrown {
            name: String::new(),
            message: text,
            frames: Vec::new(),
        }
    }

    /// Returns the same of a promise whose rejection no code handles.
    #[must_use]
    pub(crate) fn in_promise(mut self) -> Thrown {
        // Errors of Go have no name in this message.
        if self.name == "GoError" && !self.message.is_empty() {
            self.name.clear();
        }
        let first = match self.name.is_empty() {
            true => &mut self.message,
            false => &mut self.name,
        };
        first.insert_str(0, "Uncaught (in promise) ");
        self
    }

    /// Returns the same with these secrets masked.
    #[must_use]
    pub(crate) fn hiding(self, secrets: &dyn Secrets) -> Thrown {
        let hidden = |text: String| secrets.redacted(&text).unwrap_or(text);
        Thrown {
            name: self.name,
            message: hidden(self.message),
            frames: self.frames.into_iter().map(hidden).collect(),
        }
    }

    /// Returns it as k6 logs it.
    pub(crate) fn text(&self) -> String {
        let mut text = self.name.clone();
        if !self.name.is_empty() && !self.message.is_empty() {
            text += ": ";
        }
        text += &self.message;
        for frame in &self.frames {
            text += "\n\tat ";
            text += frame;
        }
        text
    }
}

/// Installs k6's stacks for the errors of a realm.
pub(crate) fn install_stacks<'js>(ctx: &Ctx<'js>, vu: &Vu) -> rquickjs::Result<()> {
    let shown = function(ctx, "shown", |call| {
        let (error, frames) = (call.arg(0), call.text(&call.arg(1))?);
        let error = error.into_object().ok_or(Error::Unknown)?;
        let error = with_frames(&call.vu().program.store, &error, &frames);
        let text = error.text() + "\n";
        text.into_js(call.ctx)
    })?;
    let install: Function<'js> = loadline_k6_modules::evaluate(ctx, STACK)?;
    let stack_of: Value<'js> = install.call((shown,))?;
    vu.common(ctx)?.set(STACK_OF, stack_of)
}

/// Returns the frames of an error, as QuickJS formats them.
fn frames_of(error: &Object<'_>) -> Option<String> {
    let ctx = error.ctx();
    let common = Vu::of(ctx).common(ctx).ok()?;
    let stack_of: Option<Function<'_>> = common.get(STACK_OF).ok()?;
    let frames: Option<Text> = match stack_of {
        Some(stack_of) => stack_of.call((This(error.clone()),)).ok()?,
        None => error.get("stack").ok()?,
    };
    frames.map(|frames| frames.0)
}

/// Returns a thrown error, with its stack.
pub(crate) fn caught(ctx: &Ctx<'_>, store: &Store, error: Error) -> Thrown {
    match CaughtError::from_error(ctx, error) {
        CaughtError::Error(error) => Thrown::value(error.to_string()),
        CaughtError::Exception(exception) => of_exception(store, &exception),
        CaughtError::Value(value) => of_value(store, value),
    }
}

/// Returns a value that was thrown, or with which a promise was rejected.
pub(crate) fn of_value(store: &Store, value: Value<'_>) -> Thrown {
    let object = value.as_object().cloned();
    match object.and_then(Exception::from_object) {
        Some(exception) => of_exception(store, &exception),
        None => Thrown::value(text_of(&value).unwrap_or_else(|_| "an unknown error".to_owned())),
    }
}

fn of_exception(store: &Store, exception: &Exception<'_>) -> Thrown {
    let frames = frames_of(exception.as_object());
    with_frames(store, exception.as_object(), &frames.unwrap_or_default())
}

/// Returns an error, with these frames of QuickJS.
fn with_frames(store: &Store, error: &Object<'_>, frames: &str) -> Thrown {
    let text = |name: &str| error.get::<_, Text>(name).ok().map(|text| text.0);
    let name = text("name").unwrap_or_else(|| "Error".to_owned());
    let message = text("message").unwrap_or_default();
    let message = match message == NOT_CALLABLE {
        true => missing_member(store, frames).unwrap_or(message),
        false => message,
    };
    let frames = own(frames).filter_map(|frame| frame_of(store, frame));
    Thrown {
        name,
        message,
        frames: frames.collect(),
    }
}

/// QuickJS's message for a call of a value that is not a function, whatever its name.
const NOT_CALLABLE: &str = "not a function";

/// Returns k6's message for a call of a missing member. The name is read from the source: the
/// innermost frame has its position.
fn missing_member(store: &Store, frames: &str) -> Option<String> {
    let (_, place) = own(frames).next()?.rsplit_once(" (")?;
    let mut parts = place.strip_suffix(')')?.rsplitn(3, ':');
    let column: usize = parts.next()?.parse().ok()?;
    let line: usize = parts.next()?.parse().ok()?;
    let unit = store.code(parts.next()?)?;
    let line = unit.code.lines().nth(line.checked_sub(1)?)?;
    let place = column.checked_sub(1)?;
    let place = place + usize::from(line.chars().nth(place) == Some('.'));
    let before: String = line.chars().take(place).collect();
    let behind = line.chars().skip(place);
    let is_of_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let name: String = behind.take_while(is_of_name).collect();
    let is_member = before.ends_with('.') && !before.ends_with("...") && !name.is_empty();
    is_member.then(|| format!("Object has no member '{name}'"))
}

/// Returns the frames of the script itself.
fn own(stack: &str) -> impl Iterator<Item = &str> {
    let below = format!("({BASE_FILE}:");
    stack
        .lines()
        .take_while(move |frame| !frame.contains(&below))
}

/// Returns the current place in the script: its innermost frame.
pub(crate) fn place(ctx: &Ctx<'_>, store: &Store) -> Option<String> {
    let here = Exception::from_message(ctx.clone(), "").ok()?;
    let stack = frames_of(here.as_object())?;
    let mut frames = own(&stack).filter(|frame| !frame.contains("(native)"));
    frames.find_map(|frame| frame_of(store, frame))
}

/// Translates a line of QuickJS's stack, `    at name (file:line:column)`, to the position in the
/// file; `None` for Loadline's own JavaScript, which is hidden from scripts.
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
