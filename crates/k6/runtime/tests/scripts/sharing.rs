//! Users that share a runtime: the state that each has of its own nevertheless.

use crate::ran::{Amount, Ran, load, run, run_program, shared};
use std::time::Duration;

fn amount(users: u32, iterations: u64) -> Amount {
    Amount {
        users,
        iterations,
        within: Duration::from_secs(60),
    }
}

/// Runs a script that logs its failures.
fn of(users: u32, iterations: u64, script: &str) -> Ran {
    let ran = shared(|| run(script, amount(users, iterations)));
    assert_eq!((ran.complete, &ran.failure), (iterations, &None));
    ran
}

/// Runs files that log their failures.
fn of_files(users: u32, iterations: u64, files: &[(&str, &str)]) -> Ran {
    let (program, log) = load(files);
    let program = program.expect("a script that loads");
    let ran = shared(|| run_program(&program, &log, amount(users, iterations)));
    assert_eq!((ran.complete, &ran.failure), (iterations, &None));
    ran
}

const NOTHING: [&str; 0] = [];

#[test]
fn each_user_has_its_own_modules_numbers_and_environment() {
    let ran = of_files(
        10,
        100,
        &[
            (
                "main.js",
                "import { sleep } from 'k6';
                 import exec from 'k6/execution';
                 import { count, up, seen } from './state.js';
                 const user = __VU;
                 let own = 0;
                 export default function () {
                     const before = [__VU, __ITER, exec.vu.idInTest].join();
                     up(); own += 1; seen.push(user);
                     __ENV.OWN = own;
                     sleep(Math.random() / 500);
                     const after = [__VU, __ITER, exec.vu.idInTest].join();
                     const all = [before === after, user === __VU, own === count,
                         __ITER + 1 === own, seen.every((one) => one === user), __ENV.OWN === own];
                     if (!all.every(Boolean)) console.log(all.join());
                 }",
            ),
            (
                "state.js",
                "export let count = 0; export function up() { count += 1; }
                 export const seen = [];",
            ),
        ],
    );
    assert_eq!(ran.log, NOTHING);
}

#[test]
fn promises_go_on_with_the_user_that_has_made_them() {
    let ran = of(
        20,
        400,
        "import { sleep } from 'k6';
         const user = __VU;
         const steps = [];
         const step = (name) => {
             if (user !== __VU) console.log(`user ${user} at ${name} of ${__VU}`);
             steps.push(name);
         };
         export default async function () {
             steps.length = 0;
             const first = Promise.resolve().then(() => { step('a'); sleep(0.001); step('b'); });
             queueMicrotask(() => step('c'));
             // A wait of the script itself comes before all that it has promised.
             sleep(Math.random() / 1000);
             step('d');
             await first;
             step('e');
             await new Promise((resolve) => setTimeout(resolve, 1));
             await Promise.all([1, 2, 3].map(async (n) => {
                 await null; sleep(n / 5000); await null; step(`f${n}`);
             }));
             for await (const n of (async function* () { sleep(0.0001); yield 1; yield 2; })()) {
                 step(`g${n}`);
             }
             const said = steps.join(' ');
             if (said !== 'd a b c e f1 f2 f3 g1 g2') console.log(said);
         }",
    );
    assert_eq!(ran.log, NOTHING);
}

#[test]
fn stacks_are_told_and_limited_as_if_nobody_else_were_there() {
    let ran = of(
        8,
        160,
        "import { sleep } from 'k6';
         function deep(n) {
             if (n === 0) { sleep(Math.random() / 1000); throw new Error('boom'); }
             deep(n - 1);
         }
         export default function () {
             const n = 1 + (__VU + __ITER) % 5;
             try { deep(n); } catch (error) {
                 const frames = error.stack.trim().split('\\n');
                 const named = frames.filter((frame) => frame.includes('at deep (')).length;
                 if (named !== n + 1 || frames.length > n + 4) console.log(n, error.stack);
             }
             let depth = 0;
             const fall = () => { depth += 1; if (depth === 300) sleep(0.0001); fall(); };
             try { fall(); } catch (error) {
                 if (error.name !== 'RangeError' || depth < 500) console.log(depth, `${error}`);
             }
         }",
    );
    assert_eq!(ran.log, NOTHING);
}

#[test]
fn waits_in_all_kinds_of_frames_go_on_where_they_were() {
    let ran = of(
        16,
        320,
        "import { sleep, check, group } from 'k6';
         const nap = (value) => { sleep(Math.random() / 3000); return value; };
         export default function () {
             const user = __VU;
             const found = [
                 [3, 1, 2].sort((a, b) => nap(a - b)).join(''),
                 'abc'.replace(/[a-c]/g, (letter) => nap(letter.toUpperCase())),
                 JSON.stringify({ toJSON: () => nap({ user }) }),
                 new Proxy({}, { get: (_, name) => nap(name) }).seen,
                 ({ get it() { return nap(user); } }).it,
                 [...(function* () { yield nap(1); yield nap(2); })()].join(''),
                 new (class { constructor() { this.user = nap(user); } })().user,
                 Reflect.apply(Array.from, Array, [[1, 2], (n) => nap(n * 2)]).join(''),
                 `${{ toString: () => nap('text') }}`,
                 check(user, { same: (one) => nap(one) === __VU }),
                 group('inner', () => nap(user)),
             ];
             const wanted = ['123', 'ABC', `{\"user\":${user}}`, 'seen', user, '12', user, '24',
                 'text', true, user];
             if (`${found}` !== `${wanted}`) console.log(`${found}`);
         }",
    );
    assert_eq!(ran.log, NOTHING);
}

#[test]
fn modules_are_linked_as_modules_are() {
    let ran = of_files(
        3,
        6,
        &[
            (
                "main.js",
                "import { check } from 'k6';
                 import * as all from './all.js';
                 import two, { two as same, me } from './two.js';
                 import common, { three } from './common.js';
                 const late = await Promise.resolve(9);
                 const { one } = await import('./all.js');
                 export const options = {};
                 export default async function () {
                     const found = [Object.keys(all).sort(), two(), same(), me(), three,
                         common.three, late, one, typeof check, (await import('./two.js')).two(),
                         all.kind.name,
                         require === undefined, new all.kind().n, typeof this];
                     const wanted = [['a', 'kind', 'me', 'one', 'two'], 2, 2, 'undefined', 3, 3, 9,
                         1, 'function', 2, 'default', false, 5, 'undefined'];
                     if (`${found}` !== `${wanted}`) console.log(`${found}`);
                 }",
            ),
            (
                "all.js",
                "export * from './two.js';
                 export { default as kind } from './kind.js';
                 export const one = 1;
                 export { one as a };",
            ),
            (
                "two.js",
                "import { one } from './all.js'
                 export function two() { return one + 1; }
                 export default two
                 export { me } from './kind.js'",
            ),
            (
                "kind.js",
                "export default class { n = 5 }
                 export const me = function () { return typeof this; };",
            ),
            ("common.js", "exports.three = 3;"),
        ],
    );
    assert_eq!(ran.log, NOTHING);
}

#[test]
fn exceptions_have_the_places_of_their_files() {
    let ran = of(
        2,
        2,
        "import { sleep } from 'k6';\n\nexport default () => {\n  sleep(0.01);\n  \
         throw new Error('x');\n};",
    );
    for line in &ran.log {
        assert!(
            line.starts_with("Error Error: x\n\tat default (file:///s/main.js:5:"),
            "{line}"
        );
        assert_eq!(line.trim().lines().count(), 2, "{line}");
    }
    assert_eq!(ran.log.len(), 2);
}

#[test]
fn a_seed_is_that_of_its_user() {
    let ran = of(
        5,
        50,
        "import { randomSeed, sleep } from 'k6';
         randomSeed(7);
         const seen = [];
         export default function () {
             seen.push(Math.random());
             sleep(Math.random() / 1e6 / 1000);
             if (__ITER === 0) console.log(seen[0]);
         }",
    );
    let first = &ran.log[0];
    assert!(ran.log.iter().all(|line| line == first), "{:?}", ran.log);
}

#[test]
fn users_that_end_leave_the_others_alone() {
    // Each is cancelled at another place, with jobs that no user runs any more.
    let within = Amount {
        users: 60,
        iterations: u64::MAX,
        within: Duration::from_millis(400),
    };
    let ran = shared(|| {
        run(
            "import { sleep } from 'k6';
             export default async function () {
                 Promise.resolve().then(() => { sleep(0.001); }).then(() => { sleep(0.001); });
                 const cycle = { of: __VU }; cycle.self = cycle;
                 if (__VU % 3 === 0) sleep(0.002); else await null;
                 if (__VU % 7 === 0) throw new Error('seven');
             }",
            within,
        )
    });
    assert!(ran.complete >= 60, "{}", ran.complete);
    assert!(
        ran.log.iter().all(|line| line.contains("seven")),
        "{:?}",
        ran.log.iter().find(|line| !line.contains("seven"))
    );
}
