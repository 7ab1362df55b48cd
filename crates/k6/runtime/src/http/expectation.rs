//! Expected statuses: `http.expectedStatuses`, `http.setResponseCallback`.

use super::held;
use super::state::Expectation;
use crate::errors::k6_error;
use crate::native::Call;
use rquickjs::{Object, Result, Value};
use std::rc::Rc;

/// Implements `http.expectedStatuses(200, {min: 300, max: 399})`.
pub(crate) fn expected_statuses<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    if call.is_empty() {
        return Err(k6_error(call.ctx, "no arguments"));
    }
    let mut ranges = Vec::new();
    for (index, value) in call.args().enumerate() {
        let range = range(&value).ok_or_else(|| {
            let sentence = format!(
                "argument number {} to expectedStatuses was neither an integer nor an object like \
                 {{min:100, max:329}}",
                index + 1
            );
            k6_error(call.ctx, &sentence)
        })?;
        ranges.push(range);
    }
    let prototype = Object::new(call.ctx.clone())?;
    held::hold(Rc::new(Expectation(ranges)), prototype)
}

fn range(value: &Value<'_>) -> Option<(u16, u16)> {
    if let Some(status) = value.as_number() {
        let status = u16::try_from(status as i64)
            .ok()
            .filter(|_| status.fract() == 0.0)?;
        return Some((status, status));
    }
    let object = value.as_object()?;
    let bound = |name: &str| object.get::<_, Option<u16>>(name).ok().flatten();
    Some((bound("min")?, bound("max")?))
}

/// Reads a response callback that a script gives: `Ok(None)` for `null`.
///
/// # Errors
/// If it is not a result of `expectedStatuses`.
fn read<'js>(call: &Call<'_, 'js>, value: &Value<'js>) -> Result<Option<Rc<Expectation>>> {
    of(value).ok_or_else(|| {
        let sentence = "unsupported argument, expected http.expectedStatuses";
        k6_error(call.ctx, sentence)
    })
}

/// Reads the expectation of a value: `Some(None)` for `null`, `None` if it is not a callback.
pub(crate) fn of(value: &Value<'_>) -> Option<Option<Rc<Expectation>>> {
    if value.is_null() || value.is_undefined() {
        return Some(None);
    }
    held::held::<Expectation>(value).map(Some)
}

/// Implements `http.setResponseCallback(callback)`, for all later requests of the user.
pub(crate) fn set_response_callback<'js>(call: Call<'_, 'js>) -> Result<Value<'js>> {
    let expectation = read(&call, &call.arg(0))?;
    call.vu().http.expectation.replace(expectation);
    Ok(Value::new_undefined(call.ctx.clone()))
}
