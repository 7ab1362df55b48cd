//! `k6/data`: arrays that all virtual users share.
//!
//! The elements are stored once, as JSON text; each access parses a new object, so that changes of
//! one virtual user are not visible to others.

use crate::error::go_error;
use crate::native::function;
use crate::source;
use crate::text::Text;
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The shared arrays of a process, by name. A clone refers to the same store.
#[derive(Clone, Default)]
pub struct SharedArrays(Arc<Mutex<HashMap<String, Elements>>>);

/// The maximum number of elements in an array.
const MOST_ELEMENTS: f64 = 33_554_432.0;

/// Elements as JSON texts.
pub(crate) type Elements = Arc<[Box<str>]>;

impl SharedArrays {
    pub(crate) fn named(&self, name: &str) -> Option<Elements> {
        let arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.get(name).cloned()
    }

    /// Stores an array, unless there is one of this name. Returns the stored one.
    pub(crate) fn keep(&self, name: String, elements: Elements) -> Elements {
        let mut arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.entry(name).or_insert(elements).clone()
    }
}

/// Creates the module `k6/data`. `may_declare` throws where arrays must not be declared.
pub fn data<'js>(
    ctx: &Ctx<'js>,
    arrays: &SharedArrays,
    may_declare: fn(&Ctx<'_>) -> Result<()>,
) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let store = arrays.clone();
    let find = move |ctx: Ctx<'js>, Text(name): Text, build: Function<'js>| {
        may_declare(&ctx)?;
        let elements = match store.named(&name) {
            Some(elements) => elements,
            None => store.keep(name, built(&ctx, &build)?),
        };
        access(&ctx, elements)
    };
    natives.set("find", function(ctx, find)?)?;
    source::run(ctx, include_str!("js/data.js"), natives)?.get()
}

/// Calls a builder; throws if it returns no array.
fn built<'js>(ctx: &Ctx<'js>, build: &Function<'js>) -> Result<Elements> {
    let value: Value<'js> = build.call(())?;
    let Some(array) = value.as_array() else {
        let message = "only arrays can be made into SharedArray";
        return Err(go_error(ctx, message));
    };
    // The library's own length has 31 bits only.
    if array.as_object().get::<_, f64>("length")? > MOST_ELEMENTS {
        return Err(go_error(ctx, "the array of a SharedArray is too long"));
    }
    array
        .iter::<Value<'js>>()
        .map(|element| {
            let text = ctx.json_stringify(element?)?;
            let text = text.map(|text| text.to_string()).transpose()?;
            Ok(text.unwrap_or_else(|| "null".to_owned()).into())
        })
        .collect()
}

/// Creates `{ length, at(index) }` for the elements of an array.
pub(crate) fn access<'js>(ctx: &Ctx<'js>, elements: Elements) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("length", elements.len())?;
    let at = move |ctx: Ctx<'js>, index: usize| match elements.get(index) {
        Some(text) => ctx.json_parse(text.as_bytes()),
        None => Ok(Value::new_undefined(ctx)),
    };
    object.set("at", function(ctx, at)?)?;
    Ok(object)
}
