//! Native functions that scripts call.
//!
//! QuickJS calls them through C, which must not be unwound, and a script may catch every ordinary
//! error. So each is wrapped: a panic ends the iteration and is told in the log, and what ends an
//! iteration is thrown so that no `catch` and no `finally` of the script sees it.

use crate::vu::Vu;
use rquickjs::function::{IntoJsFunc, ParamRequirement, Params};
use rquickjs::{Coerced, Ctx, FromJs, Function, Object, Result, Value};
use smallvec::SmallVec;

pub(crate) use loadline_k6_modules::{Text, guarded, lossy, text_of, uncatchable};

/// As many arguments take no memory of their own.
const USUAL_ARGUMENTS: usize = 3;

/// A native function that takes all its arguments as they are.
struct Native<F>(F);

/// What a native function is called with.
pub(crate) struct Call<'js> {
    /// The realm.
    pub(crate) ctx: Ctx<'js>,
    /// What it is called on.
    pub(crate) this: Value<'js>,
    /// Its arguments.
    pub(crate) args: SmallVec<[Value<'js>; USUAL_ARGUMENTS]>,
}

impl<'js> Call<'js> {
    /// An argument; `undefined` if it is missing.
    pub(crate) fn arg(&self, index: usize) -> Value<'js> {
        let arg = self.args.get(index).cloned();
        arg.unwrap_or_else(|| Value::new_undefined(self.ctx.clone()))
    }

    /// An argument as a number, as JavaScript makes one of it.
    pub(crate) fn number(&self, index: usize) -> Result<f64> {
        let number = Coerced::<f64>::from_js(&self.ctx, self.arg(index));
        number.map(|number| number.0)
    }

    /// A value as a text, as JavaScript makes one of it.
    pub(crate) fn text(&self, value: &Value<'js>) -> Result<String> {
        text_of(value)
    }

    /// Whether a value counts as true.
    pub(crate) fn is_truthy(&self, value: Value<'js>) -> Result<bool> {
        let truth = Coerced::<bool>::from_js(&self.ctx, value);
        truth.map(|truth| truth.0)
    }

    /// The virtual user that calls.
    pub(crate) fn vu(&self) -> std::rc::Rc<Vu> {
        Vu::of(&self.ctx)
    }
}

impl<'js, F> IntoJsFunc<'js, ()> for Native<F>
where
    F: Fn(Call<'js>) -> Result<Value<'js>> + 'js,
{
    fn param_requirements() -> ParamRequirement {
        ParamRequirement::any()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> Result<Value<'js>> {
        let args = (0..params.len()).filter_map(|index| params.arg(index));
        let call = Call {
            ctx: params.ctx().clone(),
            this: params.this(),
            args: args.collect(),
        };
        guarded(params.ctx(), || (self.0)(call))
    }
}

/// A function of this name.
pub(crate) fn function<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    run: impl Fn(Call<'js>) -> Result<Value<'js>> + 'js,
) -> Result<Function<'js>> {
    Function::new(ctx.clone(), Native(run))?.with_name(name)
}

/// Gives an object a function of this name.
pub(crate) fn set<'js>(
    object: &Object<'js>,
    name: &str,
    run: impl Fn(Call<'js>) -> Result<Value<'js>> + 'js,
) -> Result<()> {
    object.set(name, function(object.ctx(), name, run)?)
}
