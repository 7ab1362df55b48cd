//! Objects of scripts that hold a value of ours.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, JsLifetime, Object, Result, Value, function::Constructor};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// What an object holds, and what was made of it.
struct Held<'js> {
    value: Rc<dyn Any>,
    kept: RefCell<Vec<(&'static str, Value<'js>)>>,
}

impl<'js> Trace<'js> for Held<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // Nothing is traced while something is added: that calls no script.
        if let Ok(kept) = self.kept.try_borrow() {
            kept.iter().for_each(|(_, value)| value.trace(tracer));
        }
    }
}

#[expect(
    unsafe_code,
    reason = "a derived one would ask it of the value as well"
)]
// SAFETY: the values of the runtime that it holds change their lifetime with it.
unsafe impl<'js> JsLifetime<'js> for Held<'js> {
    type Changed<'to> = Held<'to>;
}

impl<'js> JsClass<'js> for Held<'js> {
    const NAME: &'static str = "Held";

    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// An object of this prototype that holds a value.
pub(crate) fn hold<'js, T: 'static>(value: Rc<T>, prototype: Object<'js>) -> Result<Value<'js>> {
    let held = Held {
        value,
        kept: RefCell::default(),
    };
    let object = Class::instance_proto(held, prototype)?;
    Ok(object.into_inner().into_value())
}

/// The value that an object holds; `None` of any other object.
pub(crate) fn held<T: 'static>(value: &Value<'_>) -> Option<Rc<T>> {
    let object = Class::<Held<'_>>::from_object(value.as_object()?)?;
    let held = Rc::clone(&object.borrow().value);
    held.downcast().ok()
}

/// What is kept under this name with what an object holds.
pub(crate) fn kept<'js>(value: &Value<'js>, name: &str) -> Option<Value<'js>> {
    let object = Class::<Held<'js>>::from_object(value.as_object()?)?;
    let held = object.borrow();
    let kept = held.kept.borrow();
    let found = kept.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| value.clone())
}

/// Keeps something with what an object holds.
pub(crate) fn keep<'js>(value: &Value<'js>, name: &'static str, made: Value<'js>) {
    let object = value.as_object().and_then(Class::<Held<'js>>::from_object);
    if let Some(object) = object {
        object.borrow().kept.borrow_mut().push((name, made));
    }
}
