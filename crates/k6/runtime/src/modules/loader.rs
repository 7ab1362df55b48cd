//! The loader of a script's modules for QuickJS.
//!
//! Built-in modules and files of CommonJS are objects first. Their module consists of a few lines
//! that export the object's members by name, and the object itself as the default.

use super::linking::namespace;
use super::resolve::{Resolved, resolve, unknown};
use super::store::{Store, Unit};
use crate::errors::{k6_error, only_in_init, refuse};
use crate::native::{Call, Text, function, guarded};
use crate::vu::Vu;
use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Atom, Ctx, Function, IntoJs, Module, Object, Promise, Result, Value};
use std::fmt::Write;
use std::sync::Arc;

/// Resolves the specifiers of imports.
#[derive(Debug)]
pub(crate) struct Names;

impl Resolver for Names {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        match resolve(base, name) {
            Ok(resolved) => {
                let (resolved, vu) = (resolved.into_name(), Vu::of(ctx));
                let store = &vu.program.store;
                store.note_specifier(&resolved, name);
                match vu.loading.refusal_of_import(store, &resolved) {
                    Some(sentence) => Err(refuse(ctx, &sentence)),
                    None => Ok(resolved),
                }
            }
            Err(sentence) => Err(refuse(ctx, &sentence)),
        }
    }
}

/// Loads modules by their resolved names.
#[derive(Debug)]
pub(crate) struct Modules(pub(crate) Arc<Store>);

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        // QuickJS calls this through C, which must not be unwound.
        guarded(ctx, || load(ctx, &self.0, name))
    }
}

fn load<'js>(ctx: &Ctx<'js>, store: &Store, name: &str) -> Result<Module<'js, Declared>> {
    if is_built_in(name) {
        let object = built_in(ctx, name)?;
        return synthetic(ctx, store, name, &object);
    }
    let unit = store.unit(name).map_err(|error| refuse(ctx, &error))?;
    let vu = Vu::of(ctx);
    if !unit.is_common_js {
        vu.loading.add(name);
        return declare(ctx, name, &unit);
    }
    let exports = vu
        .loading
        .while_running(name, || common_js(ctx, name, &unit))?;
    synthetic(ctx, store, name, &exports)
}

pub(crate) fn is_built_in(name: &str) -> bool {
    name == "k6" || name.starts_with("k6/")
}

/// Returns the object of a built-in module, one for each user.
pub(crate) fn built_in<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let cache: Object<'js> = vu.hidden(ctx)?.get("modules")?;
    if let Some(known) = cache.get::<_, Option<Object<'js>>>(name)? {
        return Ok(known);
    }
    let object = match vu.shared() {
        // A script may change its own object.
        Some(_) => copy(&built_in_realm(
            ctx,
            &vu.common(ctx)?.get("modules")?,
            name,
        )?)?,
        None => made_built_in(ctx, name)?,
    };
    cache.set(name, object.clone())?;
    Ok(object)
}

/// Returns the object of which users of a shared runtime have copies.
fn built_in_realm<'js>(ctx: &Ctx<'js>, cache: &Object<'js>, name: &str) -> Result<Object<'js>> {
    if let Some(known) = cache.get::<_, Option<Object<'js>>>(name)? {
        return Ok(known);
    }
    let object = made_built_in(ctx, name)?;
    cache.set(name, object.clone())?;
    Ok(object)
}

fn made_built_in<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    match (Vu::of(ctx).program.built_in)(name) {
        Ok(make) => make(ctx),
        Err(sentence) => Err(refuse(ctx, &sentence)),
    }
}

/// Returns another object with the same members.
pub(crate) fn copy<'js>(object: &Object<'js>) -> Result<Object<'js>> {
    let copy = Object::new(object.ctx().clone())?;
    for entry in object.props::<Atom<'js>, Value<'js>>() {
        let (name, value) = entry?;
        copy.set(name, value)?;
    }
    Ok(copy)
}

/// Creates a module whose exports are the members of an object.
fn synthetic<'js>(
    ctx: &Ctx<'js>,
    store: &Store,
    name: &str,
    object: &Object<'js>,
) -> Result<Module<'js, Declared>> {
    let keys: Vec<Text> = object.keys().collect::<Result<_>>()?;
    let keys: Vec<String> = keys.into_iter().map(|key| key.0).collect();
    let unit = store.made(&format!("exports of {name}"), || exporting(&keys));
    let module = declare(ctx, name, &unit)?;
    module.meta()?.set("exports", object.clone())?;
    Ok(module)
}

/// Returns the code of a module that exports these members of `import.meta.exports`.
fn exporting(keys: &[String]) -> String {
    let mut code = String::from("const all = import.meta.exports;\n");
    let has = |name: &str| keys.iter().any(|key| key == name);
    code.push_str(match has("default") {
        true => "export default all.default;\n",
        false => "export default all;\n",
    });
    let named = keys.iter().filter(|key| is_name(key) && *key != "default");
    for (index, key) in named.enumerate() {
        // Writing to a string can't fail.
        let _ = writeln!(
            code,
            "const e{index} = all.{key}; export {{ e{index} as {key} }};"
        );
    }
    code
}

fn is_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    text.starts_with(is_first) && text.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

/// Declares a module, compiled once for all users.
pub(crate) fn declare<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    unit: &Unit,
) -> Result<Module<'js, Declared>> {
    if let Some(bytecode) = unit.bytecode.get() {
        let module = compiled(ctx, bytecode)?;
        return describe(ctx, name, unit, module);
    }
    let module = Module::declare(ctx.clone(), name, unit.code.as_str())?;
    let options = WriteOptions {
        strip_source: true,
        ..WriteOptions::default()
    };
    if let Ok(bytecode) = module.write(options) {
        // If two users compile it at the same time, one of both results is kept.
        let _ = unit.bytecode.set(bytecode);
    }
    describe(ctx, name, unit, module)
}

/// Adds `import.meta` to a module whose code uses it, because every user needs memory for it.
fn describe<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    unit: &Unit,
    module: Module<'js, Declared>,
) -> Result<Module<'js, Declared>> {
    if unit.code.contains("import.meta") {
        let base = name.to_owned();
        let resolve = function(ctx, "resolve", move |call| resolved(&call, &base, 0))?;
        module.meta()?.set("resolve", resolve)?;
    }
    Ok(module)
}

/// Resolves the argument at `index`, a specifier in the module `base`, to a URL.
pub(crate) fn resolved<'js>(call: &Call<'_, 'js>, base: &str, index: usize) -> Result<Value<'js>> {
    let specifier = call.text(&call.arg(index))?;
    match resolve(base, &specifier) {
        Ok(Resolved::Url(url)) => String::from(url).into_js(call.ctx),
        Ok(Resolved::BuiltIn(_)) => Err(k6_error(call.ctx, &unknown(&specifier))),
        Err(sentence) => Err(k6_error(call.ctx, &sentence)),
    }
}

#[expect(unsafe_code, reason = "bytecode can't be checked")]
fn compiled<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Module<'js, Declared>> {
    // SAFETY: the bytecode was written by the same library, in this process.
    unsafe { Module::load(ctx.clone(), bytecode) }
}

/// Runs a file of CommonJS unless this user has already run it, and returns its exports.
pub(crate) fn common_js<'js>(ctx: &Ctx<'js>, name: &str, unit: &Unit) -> Result<Object<'js>> {
    let cache: Object<'js> = Vu::of(ctx).hidden(ctx)?.get("commonJs")?;
    let module = match cache.get::<_, Option<Object<'js>>>(name)? {
        Some(module) => module,
        None => run_common_js(ctx, &cache, name, unit)?,
    };
    let exports: Value<'js> = module.get("exports")?;
    match exports.into_object() {
        Some(object) => Ok(object),
        None => {
            let object = Object::new(ctx.clone())?;
            object.set("default", module.get::<_, Value<'js>>("exports")?)?;
            object.set("__esModule", true)?;
            Ok(object)
        }
    }
}

fn run_common_js<'js>(
    ctx: &Ctx<'js>,
    cache: &Object<'js>,
    name: &str,
    unit: &Unit,
) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    // Files that require each other get the exports that exist so far.
    cache.set(name, module.clone())?;
    let run = wrapped(ctx, name, unit)?;
    let require = requiring(ctx, name.to_owned())?;
    let this = rquickjs::function::This(exports.clone());
    run.call::<_, Value<'js>>((this, module.clone(), exports, require))?;
    Ok(module)
}

/// Returns the exports of the main module, if it is CommonJS. They are its own object, not the
/// namespace that an import of it has.
pub(crate) fn main_of_common_js<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Option<Object<'js>>> {
    let store = Arc::clone(&Vu::of(ctx).program.store);
    match store.unit(name) {
        Ok(unit) if unit.is_common_js => common_js(ctx, name, &unit).map(Some),
        _ => Ok(None),
    }
}

/// Returns a file of CommonJS as a function, compiled once for a runtime.
fn wrapped<'js>(ctx: &Ctx<'js>, name: &str, unit: &Unit) -> Result<Function<'js>> {
    let cache: Object<'js> = Vu::of(ctx).common(ctx)?.get("wrappers")?;
    if let Some(known) = cache.get::<_, Option<Function<'js>>>(name)? {
        return Ok(known);
    }
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    // The head is on the first line, so that the lines of the file keep their numbers.
    let code = format!("(function (module, exports, require) {{{}\n}})", unit.code);
    let run: Function<'js> = ctx.eval_with_options(code, options)?;
    cache.set(name, run.clone())?;
    Ok(run)
}

/// The maximum number of calls between a native function and the module that runs.
const MOST_BETWEEN: isize = 64;

/// Returns the innermost module that runs. Files of CommonJS may run inside of it.
fn running_module(ctx: &Ctx<'_>, store: &Store) -> Option<String> {
    let name = |level| ctx.script_or_module_name(level)?.to_string().ok();
    let is_module = |name: &String| store.code(name).is_some_and(|unit| !unit.is_common_js);
    (0..=MOST_BETWEEN).filter_map(name).find(is_module)
}

/// Returns the function `require` for the CommonJS file of this name.
fn requiring<'js>(ctx: &Ctx<'js>, name: String) -> Result<Function<'js>> {
    function(ctx, "require", move |call| required_by(&call, &name))
}

/// Implements `require()` of the first argument in the module `base`.
pub(crate) fn required_by<'js>(call: &Call<'_, 'js>, base: &str) -> Result<Value<'js>> {
    only_in_init(call, "require")?;
    let specifier = call.text(&call.arg(0))?;
    require(call.ctx, base, &specifier)
}

/// Returns the exports of the module that a specifier in the module `base` names.
fn require<'js>(ctx: &Ctx<'js>, base: &str, specifier: &str) -> Result<Value<'js>> {
    let name = match resolve(base, specifier) {
        Ok(Resolved::BuiltIn(name)) => return built_in(ctx, &name).map(Object::into_value),
        Ok(resolved) => resolved.into_name(),
        Err(sentence) => return Err(refuse(ctx, &sentence)),
    };
    let vu = Vu::of(ctx);
    let store = Arc::clone(&vu.program.store);
    let unit = store.unit(&name).map_err(|error| refuse(ctx, &error))?;
    if unit.is_common_js {
        common_js(ctx, &name, &unit)?;
        let cache: Object<'js> = vu.hidden(ctx)?.get("commonJs")?;
        return cache.get::<_, Object<'js>>(name)?.get("exports");
    }
    if vu.shared().is_some() {
        return namespace(ctx, &name).map(Object::into_value);
    }
    let by = running_module(ctx, &store);
    if let Some(sentence) = vu.loading.refusal(&store, by, &name) {
        return Err(refuse(ctx, &sentence));
    }
    vu.loading.begin();
    let promise: Result<Promise<'js>> = Module::import(ctx, name);
    let required = promise.and_then(|promise| promise.finish());
    vu.loading.end(required.is_ok());
    required
}
