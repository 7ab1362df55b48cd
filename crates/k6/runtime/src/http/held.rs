//! Objects of scripts that hold a value of Rust.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, JsLifetime, Object, Result, Value, function::Constructor};
use std::any::Any;
use std::rc::Rc;

/// The native part of such an object.
struct Held(Rc<dyn Any>);

impl<'js> Trace<'js> for Held {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

#[expect(
    unsafe_code,
    reason = "a derived one would ask it of the value as well"
)]
// SAFETY: it holds no values of the runtime.
unsafe impl JsLifetime<'_> for Held {
    type Changed<'to> = Held;
}

impl<'js> JsClass<'js> for Held {
    const NAME: &'static str = "Held";

    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// Creates an object with this prototype that holds a value.
pub(crate) fn hold<'js, T: 'static>(value: Rc<T>, prototype: Object<'js>) -> Result<Value<'js>> {
    let object = Class::instance_proto(Held(value), prototype)?;
    Ok(object.into_inner().into_value())
}

/// Returns the value that an object holds; `None` for any other object.
pub(crate) fn held<T: 'static>(value: &Value<'_>) -> Option<Rc<T>> {
    let object = Class::<Held>::from_object(value.as_object()?)?;
    let held = Rc::clone(&object.borrow().0);
    held.downcast().ok()
}
