//! JavaScript of our own, which scripts call as modules.
//!
//! A source is one arrow function: it takes the native functions that it needs and returns the
//! module's members. So it has no names in the script's global scope.

use crate::error;
use rquickjs::{Ctx, Error, FromJs, Function, Object, Result, Value, qjs};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::rc::Rc;

/// The file name of all our own JavaScript. Stacks that users see leave its frames out.
pub const INTERNAL: &str = "loadline:internal";

/// Evaluates a source and calls it with its native functions.
pub(crate) fn run<'js>(
    ctx: &Ctx<'js>,
    source: &'static str,
    natives: Object<'js>,
) -> Result<Value<'js>> {
    let make: Function<'js> = evaluate(ctx, source)?;
    make.call((natives,))
}

/// Evaluates a source of our own, so that users see none of its frames.
///
/// Each thread compiles a source once: to read the compiled form costs a user a fraction of the
/// time, and leaves no garbage of a parser in its memory.
///
/// # Errors
/// What the source throws, or that its value is of another type.
pub fn evaluate<'js, T: FromJs<'js>>(ctx: &Ctx<'js>, source: &'static str) -> Result<T> {
    let known = COMPILED.with_borrow(|compiled| compiled.get(&ptr::from_ref(source)).cloned());
    let bytecode = match known {
        Some(known) => known,
        None => {
            let bytecode = compile(ctx, source)?;
            COMPILED.with_borrow_mut(|compiled| {
                compiled.insert(ptr::from_ref(source), Rc::clone(&bytecode));
            });
            bytecode
        }
    };
    T::from_js(ctx, run_bytecode(ctx, &bytecode)?)
}

thread_local! {
    /// The bytecode of sources, by where they lie: they are there as long as the program.
    static COMPILED: RefCell<HashMap<*const str, Rc<[u8]>>> = RefCell::default();
}

#[expect(unsafe_code, reason = "the library compiles nothing but modules")]
fn compile(ctx: &Ctx<'_>, source: &'static str) -> Result<Rc<[u8]>> {
    let text = CString::new(source)?;
    let name = CString::new(INTERNAL)?;
    let flags =
        qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_STRICT | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let form = qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the texts end with a zero and outlive the call; the function that it gives belongs
    // to us, as does the buffer, whose bytes are copied before it is freed.
    unsafe {
        let function = qjs::JS_Eval(
            raw,
            text.as_ptr(),
            source.len() as _,
            name.as_ptr(),
            flags as i32,
        );
        let function = Value::from_raw(ctx.clone(), function);
        if function.is_exception() {
            return Err(Error::Exception);
        }
        let mut length = 0;
        let buffer = qjs::JS_WriteObject(raw, &mut length, function.as_raw(), form as i32);
        if buffer.is_null() {
            return Err(Error::Exception);
        }
        let bytes = Rc::from(std::slice::from_raw_parts(buffer, length as usize));
        qjs::js_free(raw, buffer.cast());
        Ok(bytes)
    }
}

#[expect(unsafe_code, reason = "bytecode can't be checked")]
fn run_bytecode<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: this very library wrote the bytes, on this thread. Who evaluates a function owns it
    // no longer.
    let value = unsafe {
        let flags = qjs::JS_READ_OBJ_BYTECODE as i32;
        let function = qjs::JS_ReadObject(raw, bytecode.as_ptr(), bytecode.len() as _, flags);
        let value = match qjs::JS_IsException(function) {
            true => function,
            false => qjs::JS_EvalFunction(raw, function),
        };
        Value::from_raw(ctx.clone(), value)
    };
    match value.is_exception() {
        true => Err(Error::Exception),
        false => Ok(value),
    }
}

/// What is made once in a realm. It is kept where scripts don't see it: with the class of errors.
pub(crate) fn once<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    make: impl FnOnce() -> Result<Value<'js>>,
) -> Result<Value<'js>> {
    let keeper = error::class(ctx)?;
    let key = rquickjs::Symbol::new_global(ctx.clone(), name)?;
    let known: Option<Value<'js>> = keeper.get(key.clone())?;
    if let Some(known) = known {
        return Ok(known);
    }
    let made = make()?;
    keeper.prop(key, rquickjs::object::Property::from(made.clone()))?;
    Ok(made)
}
