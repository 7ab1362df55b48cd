//! `k6/encoding`, `k6/crypto` and `k6/data` compared with the results of k6 1.8 for the same
//! expressions.
//!
//! `modules.txt` has an expression and k6's value in each line; `enc` and `cr` are modules, `S` has
//! the shared arrays that are created here.

use rquickjs::{Function, Runtime};

const CASES: &str = include_str!("modules.txt");

/// Intended differences from k6: expression, Loadline's value.
const DIFFERENT: &str = include_str!("modules_different.txt");

const ARRAYS: &str = "({
    a: new SharedArray('a', () => [{ n: 1, o: { p: [1] } }, { n: 2 }]),
    prim: new SharedArray(5, () => [1, 'x', null, undefined, true, [1], () => 1, NaN, new Date(0)]),
    empty: SharedArray('empty', () => []),
    proto: new SharedArray('proto', () => new Array(3)),
})";

#[test]
fn expressions_have_the_values_that_k6_gives_them() {
    let runtime = Runtime::new().unwrap();
    let wrong = crate::realm(&runtime).unwrap().with(|ctx| {
        crate::install_globals(&ctx, |ctx, text| crate::go_error(ctx, text)).unwrap();
        let globals = ctx.globals();
        globals.set("enc", crate::encoding(&ctx).unwrap()).unwrap();
        globals.set("cr", crate::crypto(&ctx).unwrap()).unwrap();
        let data = crate::data(&ctx, &crate::SharedArrays::default(), |_| Ok(())).unwrap();
        let shared: Function<'_> = data.get("SharedArray").unwrap();
        globals.set("SharedArray", shared).unwrap();
        let arrays: rquickjs::Value<'_> = ctx.eval(ARRAYS).unwrap();
        globals.set("S", arrays).unwrap();
        let _: () = ctx.eval(include_str!("show.js")).unwrap();
        let value: Function<'_> = ctx
            .eval(
                "(expression) => attempt(new Function(`return (${expression})`))
                    .replace(/\\n/g, '\\\\n')",
            )
            .unwrap();
        let mut wrong = Vec::new();
        for line in CASES.lines() {
            let (expression, k6) = line.split_once('\t').unwrap();
            let ours: String = value.call((expression,)).unwrap();
            let mut different = DIFFERENT.lines().filter_map(|line| line.split_once('\t'));
            let expected = different.find(|(other, _)| *other == expression);
            let expected = expected.map_or(k6, |(_, value)| value);
            let both = "! TypeError: ";
            let is_alike = ours.starts_with(both) && expected.starts_with(both);
            if ours != expected && !is_alike {
                wrong.push(format!("{expression}\n  {expected}\n  {ours}"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn shared_arrays_refuse_what_k6_refuses() {
    let made = |args: &str| super::result_of(&format!("new data.SharedArray({args})"));
    assert_eq!(
        made("'a', async () => [1]"),
        "GoError: SharedArray constructor does not support async functions as second argument"
    );
    assert_eq!(
        made("'', () => []"),
        "GoError: empty name provided to SharedArray's constructor"
    );
    assert_eq!(
        made("'a', 5"),
        "GoError: a function is expected as the second argument of SharedArray's constructor"
    );
    assert_eq!(
        made("'a', () => new Uint8Array(2)"),
        "GoError: only arrays can be made into SharedArray"
    );
    assert_eq!(
        made("'a', () => { throw new Error('boom') }"),
        "Error: boom"
    );
}
