//! Native functions that scripts call.
//!
//! QuickJS calls them through C, which must not be unwound, and a script may catch every ordinary
//! error. So each function is wrapped: a panic is logged and ends the iteration. An error that ends
//! an iteration is thrown so that no `catch` and no `finally` of the script receives it.

use crate::vu::Vu;
use rquickjs::function::{IntoJsFunc, ParamRequirement, Params};
use rquickjs::{Coerced, Ctx, FromJs, Function, Object, Result, Value};

pub(crate) use loadline_k6_modules::{Text, guarded, lossy, text_of, uncatchable};

/// A native function that receives all arguments as they are.
struct Native<F>(F);

/// A call of a native function. Its values are counted references, which are made where they are
/// needed only.
pub(crate) struct Call<'a, 'js> {
    /// The realm.
    pub(crate) ctx: &'a Ctx<'js>,
    params: &'a Params<'a, 'js>,
}

impl<'js> Call<'_, 'js> {
    /// Returns the value of `this`.
    pub(crate) fn this(&self) -> Value<'js> {
        self.params.this()
    }

    /// Returns the number of arguments.
    pub(crate) fn len(&self) -> usize {
        self.params.len()
    }

    /// True if there are no arguments.
    pub(crate) fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// Returns all arguments.
    pub(crate) fn args(&self) -> impl Iterator<Item = Value<'js>> {
        (0..self.len()).filter_map(|index| self.given(index))
    }

    /// Returns an argument; `None` if it is missing.
    pub(crate) fn given(&self, index: usize) -> Option<Value<'js>> {
        self.params.arg(index)
    }

    /// Returns an argument; `undefined` if it is missing.
    pub(crate) fn arg(&self, index: usize) -> Value<'js> {
        let arg = self.given(index);
        arg.unwrap_or_else(|| Value::new_undefined(self.ctx.clone()))
    }

    /// Returns an argument as a number, converted as JavaScript does.
    pub(crate) fn number(&self, index: usize) -> Result<f64> {
        let number = Coerced::<f64>::from_js(self.ctx, self.arg(index));
        number.map(|number| number.0)
    }

    /// Returns a value as a text, converted as JavaScript does.
    pub(crate) fn text(&self, value: &Value<'js>) -> Result<String> {
        text_of(value)
    }

    /// True if JavaScript treats the value as true.
    pub(crate) fn is_truthy(&self, value: Value<'js>) -> Result<bool> {
        let truth = Coerced::<bool>::from_js(self.ctx, value);
        truth.map(|truth| truth.0)
    }

    /// Returns the virtual user that calls.
    pub(crate) fn vu(&self) -> std::rc::Rc<Vu> {
        Vu::of(self.ctx)
    }
}

impl<'js, F> IntoJsFunc<'js, ()> for Native<F>
where
    F: Fn(Call<'_, 'js>) -> Result<Value<'js>> + 'js,
{
    fn param_requirements() -> ParamRequirement {
        ParamRequirement::any()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> Result<Value<'js>> {
        let call = Call {
            ctx: params.ctx(),
            params: &params,
        };
        guarded(params.ctx(), || (self.0)(call))
    }
}

/// Creates a function of this name.
pub(crate) fn function<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    run: impl Fn(Call<'_, 'js>) -> Result<Value<'js>> + 'js,
) -> Result<Function<'js>> {
    Function::new(ctx.clone(), Native(run))?.with_name(name)
}

/// Gives an object a function of this name.
pub(crate) fn set<'js>(
    object: &Object<'js>,
    name: &str,
    run: impl Fn(Call<'_, 'js>) -> Result<Value<'js>> + 'js,
) -> Result<()> {
    object.set(name, function(object.ctx(), name, run)?)
}
