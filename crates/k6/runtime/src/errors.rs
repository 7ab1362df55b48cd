//! The errors that native functions throw.

use crate::native::{Call, uncatchable};
use crate::program::Failure;
use crate::vu::Vu;
use rquickjs::{Ctx, Error, Result};

/// Throws one of k6's own errors with this message. Return it from the native function.
pub(crate) fn k6_error(ctx: &Ctx<'_>, message: &str) -> Error {
    loadline_k6_modules::go_error(ctx, message)
}

/// Refuses to load a module, which ends the loading of the script with this message.
pub(crate) fn refuse(ctx: &Ctx<'_>, sentence: &str) -> Error {
    Vu::of(ctx).refuse_to_load(sentence);
    k6_error(ctx, sentence)
}

/// Ends the test, because a script needs a feature that is not supported. Return the error from the
/// native function.
pub(crate) fn not_supported(ctx: &Ctx<'_>, sentence: &str) -> Error {
    let vu = Vu::of(ctx);
    match &vu.run {
        Some(run) if !vu.is_init() => {
            run.fail(Failure::NotLoaded(sentence.to_owned()));
            vu.control.cancel(true);
            uncatchable(ctx, sentence)
        }
        _ => refuse(ctx, sentence),
    }
}

/// Refuses a call of the global function of this name after the init stage.
///
/// # Errors
/// k6's own error.
pub(crate) fn only_in_init(call: &Call<'_, '_>, name: &str) -> Result<()> {
    match call.vu().is_init() {
        true => Ok(()),
        false => Err(k6_error(
            call.ctx,
            &format!(
                "the \"{name}\" function is only available in the init stage (i.e. the global \
                 scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for \
                 more information"
            ),
        )),
    }
}
