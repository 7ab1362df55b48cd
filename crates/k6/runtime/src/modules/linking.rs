//! Modules of users that share a runtime: each module's factory is compiled once, and called once
//! for each user.
//!
//! The exports of a module are getters of its namespace until it has run; then those that never
//! change become values. Modules that import each other get the exports that exist so far.

use super::factory::Factory;
use super::loader::{built_in, common_js, is_built_in, resolved};
use super::resolve::resolve;
use super::store::Unit;
use crate::errors::refuse;
use crate::event_loop::settle;
use crate::native::{Call, function};
use crate::vu::Vu;
use rquickjs::context::EvalOptions;
use rquickjs::{Array, Ctx, Function, Object, Result, Value};

/// Makes the object with the members of the link that factories call.
const LINK: &str = "(function (later, resolve) {
    const define = (of, name, what) =>
        Object.defineProperty(of, name, { enumerable: true, configurable: true, ...what });
    return {
        e(getters) {
            for (const name of Object.keys(getters)) define(this.n, name, { get: getters[name] });
        },
        s(other) {
            for (const name of Object.keys(other)) {
                if (name === 'default' || Object.hasOwn(this.n, name)) continue;
                define(this.n, name, { get: () => other[name] });
            }
        },
        f(fixed) {
            for (const name of fixed) {
                const value = this.n[name];
                if (typeof value === 'function' && /^_default_*$/.test(value.name)) {
                    Object.defineProperty(value, 'name', { value: 'default', configurable: true });
                }
                define(this.n, name, { value });
            }
        },
        i(specifier) { return later(this.name, `${specifier}`); },
        get meta() {
            return this.own ??= { resolve: (specifier) => resolve(this.name, specifier) };
        },
    };
})";

/// Returns the namespace of the module of this name, and instantiates it if the running user has
/// none.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    if is_built_in(name) {
        return built_in(ctx, name);
    }
    let vu = Vu::of(ctx);
    let cache: Object<'js> = vu.hidden(ctx)?.get("modules")?;
    if let Some(known) = cache.get::<_, Option<Object<'js>>>(name)? {
        return Ok(known);
    }
    let unit = vu.program.store.unit(name);
    let unit = unit.map_err(|error| refuse(ctx, &error))?;
    if unit.is_common_js {
        let namespace = exported(common_js(ctx, name, &unit)?)?;
        cache.set(name, namespace.clone())?;
        return Ok(namespace);
    }
    let namespace = Object::new(ctx.clone())?;
    cache.set(name, namespace.clone())?;
    make(ctx, &vu, (name, &unit), &namespace)?;
    Ok(namespace)
}

/// Returns the namespace of a CommonJS module for `import`: the whole of its exports is the default
/// as well.
fn exported<'js>(all: Object<'js>) -> Result<Object<'js>> {
    let namespace = Object::new(all.ctx().clone())?;
    for entry in all.props::<rquickjs::Atom<'js>, Value<'js>>() {
        let (name, value) = entry?;
        namespace.set(name, value)?;
    }
    if !all.contains_key("default")? {
        namespace.set("default", all)?;
    }
    Ok(namespace)
}

/// Instantiates a module, after those that it imports.
fn make<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    (name, unit): (&str, &Unit),
    namespace: &Object<'js>,
) -> Result<()> {
    let factory = unit.factory();
    let modules = Array::new(ctx.clone())?;
    for (index, specifier) in factory.requests.iter().enumerate() {
        modules.set(index, imported(ctx, name, specifier)?)?;
    }
    let link = Object::new(ctx.clone())?;
    link.set_prototype(Some(&prototype(ctx, vu)?))?;
    link.set("name", name)?;
    link.set("n", namespace.clone())?;
    link.set("m", modules)?;
    let made: Value<'js> = compiled(ctx, vu, name, factory)?.call((link,))?;
    match made.as_promise().filter(|_| factory.is_async) {
        Some(promise) if settle(ctx, vu, promise)?.is_none() => Err(never_settled(ctx)),
        _ => Ok(()),
    }
}

/// Throws the error for a module that waits forever.
pub(crate) fn never_settled(ctx: &Ctx<'_>) -> rquickjs::Error {
    let sentence = "the main module waits for a promise that is never settled";
    rquickjs::Exception::throw_message(ctx, sentence)
}

/// Returns the module that a specifier names in the module `base`.
fn imported<'js>(ctx: &Ctx<'js>, base: &str, specifier: &str) -> Result<Object<'js>> {
    let resolved = resolve(base, specifier);
    let resolved = resolved.map_err(|sentence| refuse(ctx, &sentence))?;
    namespace(ctx, &resolved.into_name())
}

/// Returns the prototype of all links.
fn prototype<'js>(ctx: &Ctx<'js>, vu: &Vu) -> Result<Object<'js>> {
    let common = vu.common(ctx)?;
    if let Some(known) = common.get::<_, Option<Object<'js>>>("link")? {
        return Ok(known);
    }
    let make: Function<'js> = ctx.eval(LINK)?;
    let resolve = function(ctx, "resolve", |call| {
        let base = call.text(&call.arg(0))?;
        resolved(&call, &base, 1)
    })?;
    let link: Object<'js> = make.call((function(ctx, "later", later)?, resolve))?;
    common.set("link", link.clone())?;
    Ok(link)
}

/// Implements `import()`: returns a promise of a module.
fn later<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let ctx = call.ctx;
    let (base, specifier) = (call.text(&call.arg(0))?, call.text(&call.arg(1))?);
    let (promise, resolve, reject) = ctx.promise()?;
    match imported(ctx, &base, &specifier) {
        Ok(namespace) => resolve.call::<_, ()>((namespace,))?,
        Err(rquickjs::Error::Exception) => reject.call::<_, ()>((ctx.catch(),))?,
        Err(error) => return Err(error),
    }
    Ok(promise.into_value())
}

/// Returns the factory, compiled once for all users of the runtime.
fn compiled<'js>(ctx: &Ctx<'js>, vu: &Vu, name: &str, factory: &Factory) -> Result<Function<'js>> {
    let cache: Object<'js> = vu.common(ctx)?.get("factories")?;
    if let Some(known) = cache.get::<_, Option<Function<'js>>>(name)? {
        return Ok(known);
    }
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    let function: Function<'js> = ctx.eval_with_options(factory.code.as_str(), options)?;
    cache.set(name, function.clone())?;
    Ok(function)
}
