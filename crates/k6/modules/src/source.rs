//! Loadline's own JavaScript, which scripts call as modules.
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

/// The file name of Loadline's own JavaScript. Stacks that users see leave its frames out.
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

/// Evaluates a source of Loadline, whose frames users don't see.
///
/// Each thread compiles a source once: loading the compiled form takes a fraction of the time for a
/// user, and leaves no garbage of a parser in memory.
///
/// # Errors
/// An exception of the source, or a value of another type.
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
    /// The bytecode of sources by their addresses, which are valid as long as the program runs.
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
    // SAFETY: the texts end with a zero and outlive the call; the returned function is owned here,
    // as is the buffer, whose bytes are copied before it is freed.
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
    // SAFETY: the same library wrote the bytes, on this thread. Evaluating a function takes its
    // ownership.
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

/// Returns a value that is created once in a realm. It is kept out of scripts' sight: on the class
/// of errors, under a symbol of this name.
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
