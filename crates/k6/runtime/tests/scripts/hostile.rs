//! Scripts that misbehave: each ends its own iteration at most.

use crate::alone::alone;
use crate::ran::{Amount, in_both_modes, load, run, run_program, with_memory};
use std::time::Duration;

fn once(body: &str) -> crate::ran::Ran {
    let script =
        format!("import {{ sleep, check }} from 'k6';\nexport default function () {{ {body} }}");
    run(&script, Amount::ONCE)
}

const NOTHING: [&str; 0] = [];

/// Returns the log without the lines about stopped timers.
fn beside_timers(ran: &crate::ran::Ran) -> Vec<&String> {
    let is_timer =
        |line: &&String| line.ends_with("was stopped because the VU iteration was interrupted");
    ran.log.iter().filter(|line| !is_timer(line)).collect()
}

#[test]
fn recursion_ends_in_an_exception() {
    in_both_modes(|| {
        for body in [
            "(function f() { f(); })();",
            "(function f() { sleep(0); f(); })();",
            "(function f() { [1, 2].map(() => f()); })();",
            "(function f() { [2, 1].sort(() => f()); })();",
            "const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o);",
            "const o = new Proxy({}, { get: (_, n, p) => p[n] }); o.x;",
            "let s = '['.repeat(1e5); JSON.parse(s);",
            "new RegExp('('.repeat(1e5));",
            "(function f() { check(1, { a: () => f() }); })();",
        ] {
            let ran = once(body);
            assert_eq!(ran.complete, 1, "{body}");
            assert_eq!(ran.log.len(), 1, "{body}: {:?}", ran.log);
        }
    });
}

#[test]
fn native_functions_have_room_at_every_depth() {
    let imports = "import http from 'k6/http'; import exec from 'k6/execution';
        import { sleep, check, group } from 'k6'; import { Trend } from 'k6/metrics';
        import encoding from 'k6/encoding'; import crypto from 'k6/crypto';
        import { parseHTML } from 'k6/html'; import { SharedArray } from 'k6/data';
        const trend = new Trend('own'), array = new SharedArray('a', () => [{ n: [1] }]);
        const nowhere = 'http://127.0.0.1:1/', page = '<ul><li>a<li class=b>b</ul><form></form>';";
    in_both_modes(|| {
        for call in [
            "sleep(0)",
            "sleep(0.00001)",
            "http.get(nowhere)",
            "http.post(nowhere, { file: http.file('x', 'x.txt') })",
            "http.batch([nowhere, { method: 'POST', url: nowhere, body: { a: 1 } }])",
            "http.asyncRequest('GET', nowhere).catch(() => {})",
            "http.cookieJar().set(nowhere, 'a', 'b')",
            "parseHTML(page).find('ul:has(li.b) > li').not('.b').text()",
            "parseHTML(page).find('form').serialize()",
            "check(1, { one: (n) => n === 1 }, { tag: 'x' })",
            "group('one', () => exec.vu.tags.scenario)",
            "console.log({ a: [1, { b: [2] }] }, array)",
            "trend.add(1, { kind: 'x' })",
            "array.map((one) => one.n)",
            "encoding.b64encode(crypto.sha256('a', 'binary'))",
            "structuredClone({ a: [new Date()] })",
            "new URL('../a?b=c#d', nowhere).searchParams.get('b')",
            "new TextDecoder().decode(new TextEncoder().encode('a'))",
            "JSON.stringify(JSON.parse('[[[[1]]]]'))",
            "Math.max(exec.scenario.progress, exec.instance.vusActive)",
        ] {
            let script = format!(
                "{imports}
                 export default function () {{
                     let depth = 0;
                     const fall = () => {{ {call}; depth += 1; fall(); }};
                     try {{ fall(); }} catch (error) {{
                         if (error.name !== 'RangeError' || depth < 100) throw error;
                     }}
                     console.warn('on');
                 }}"
            );
            let ran = run(&script, Amount::ONCE);
            assert_eq!(ran.complete, 1, "{call}");
            let goes_on = ran.log.iter().any(|line| line == "Warning on");
            assert!(goes_on, "{call}: {:?}", ran.log.last());
        }
    });
}

#[test]
fn what_never_ends_is_cut_off_where_it_is() {
    in_both_modes(|| {
        let soon = Amount {
            users: 2,
            iterations: u64::MAX,
            within: Duration::from_millis(300),
        };
        for body in [
            "while (true) {}",
            "/^(a+)+$/.test('a'.repeat(40) + 'b');",
            "try { while (true) {} } catch (e) { console.log('caught'); }",
            "try { sleep(1000); } catch (e) { console.log('caught'); } finally { sleep(1000); }",
            "new Promise(() => {}).then(() => {}); setTimeout(() => {}, 1e9);",
            "for (;;) { try { sleep(1000); } catch (e) {} }",
        ] {
            let script =
                format!("import {{ sleep }} from 'k6';\nexport default function () {{ {body} }}");
            let ran = run(&script, soon);
            assert_eq!((ran.complete, ran.interrupted), (0, 2), "{body}");
            assert_eq!(beside_timers(&ran), NOTHING, "{body}");
        }
    });
}

#[test]
fn a_loop_leaves_others_their_turns() {
    in_both_modes(|| {
        let ran = run(
            "import { sleep } from 'k6';
         export default function () {
             if (__VU === 1) while (true) {}
             sleep(0.001);
         }",
            Amount {
                users: 3,
                iterations: u64::MAX,
                within: Duration::from_millis(500),
            },
        );
        assert!(ran.complete >= 5, "{}", ran.complete);
    });
}

#[test]
fn iterations_of_many_users_are_cut_off_in_their_waits() {
    in_both_modes(|| {
        // Each user begins one iteration, which lasts longer than the run.
        let ran = run(
            "import { sleep } from 'k6';
         export default async function () {
             setTimeout(() => console.log('never'), 1e6);
             await Promise.all([1, 2].map(async () => sleep(1000)));
         }",
            Amount {
                users: 200,
                iterations: u64::MAX,
                within: Duration::from_millis(200),
            },
        );
        assert_eq!((ran.complete, ran.interrupted), (0, 200));
        assert_eq!(ran.log.len(), 200);
        assert_eq!(beside_timers(&ran), NOTHING);
    });
}

#[test]
fn memory_that_is_not_there_is_an_exception() {
    in_both_modes(|| {
        let ran = once("const all = []; for (;;) all.push(new ArrayBuffer(2 ** 40));");
        assert_eq!((ran.complete, ran.log.len()), (1, 1), "{:?}", ran.log);
    });
}

#[test]
fn whatever_throws_ends_its_own_iteration_at_most() {
    let evil = "const boom = () => { throw new Error('boom'); };
        const evil = { toString: boom, valueOf: boom, toJSON: boom, [Symbol.toPrimitive]: boom,
                       get name() { boom(); }, get message() { boom(); }, get stack() { boom(); } };
        const trap = new Proxy(function () {}, { get: boom, has: boom, ownKeys: boom, apply: boom,
                       getPrototypeOf: boom, getOwnPropertyDescriptor: boom, construct: boom });
        const calls = [];
        for (const x of [evil, trap, Symbol('s'), null, undefined, 10n, NaN, boom, [evil]]) {
            const own = { a: x, get b() { boom(); } };
            calls.push(() => check(x, x), () => check(1, own), () => check(1, { a: boom }, x),
                () => group(x, boom), () => group('g', x), () => sleep(x), () => fail(x),
                () => http.get(x), () => http.get('http://127.0.0.1:1/', x),
                () => http.get('http://127.0.0.1:1/', { headers: own, tags: own }),
                () => http.get('http://127.0.0.1:1/', own), () => http.post('x', x),
                () => http.post('http://127.0.0.1:1/', own), () => http.batch(x),
                () => http.batch([x]), () => http.batch(own), () => http.asyncRequest(x, x, x),
                () => http.url`${x}`,
                () => http.file(x, x, x), () => http.expectedStatuses(x),
                () => new http.CookieJar().set(x, x, x),
                () => http.setResponseCallback(x), () => setTimeout(x, x), () => setInterval(x),
                () => clearTimeout(x), () => console.log(x, own), () => trend.add(x, own),
                () => encoding.b64encode(x), () => encoding.b64decode(x, x),
                () => crypto.sha256(x, x),
                () => crypto.hmac(x, x, x), () => crypto.randomBytes(x),
                () => html.parseHTML(x).find(x),
                () => exec.vu.tags.x = x, () => exec.test.fail(x), () => open(x), () => require(x),
                () => new URL(x), () => structuredClone(x), () => atob(x),
                () => new TextDecoder(x).decode(x),
                () => new SharedArray(x, x), () => randomSeed(x), () => JSON.stringify(own),
                () => Promise.reject(x), () => { throw x; });
        }";
    let imports = "import http from 'k6/http'; import exec from 'k6/execution';
        import { sleep, check, group, fail, randomSeed } from 'k6';
        import { Trend } from 'k6/metrics';
        import encoding from 'k6/encoding'; import crypto from 'k6/crypto';
        import html from 'k6/html';
        import { SharedArray } from 'k6/data';
        const trend = new Trend('own');";
    in_both_modes(|| {
        let script = format!(
            "{imports} {evil}
             export default function () {{
                 const call = calls[__ITER % calls.length];
                 try {{ call(); }} catch (error) {{}}
                 if (__ITER >= calls.length) call();
             }}
             export const options = {{ calls: calls.length }};"
        );
        let (program, log) = load(&[("main.js", &script)]);
        let program = program.expect("a script that loads");
        let options = program.options().expect("options");
        let calls: u64 = options[9..options.len() - 1].parse().expect("a number");
        assert!(calls > 300, "{calls}");
        let amount = Amount {
            iterations: 2 * calls,
            ..Amount::ONCE
        };
        let ran = run_program(&program, &log, amount);
        assert_eq!((ran.complete, &ran.failure), (2 * calls, &None));
        let internal = ran.log.iter().find(|line| line.contains("internal error"));
        assert_eq!(internal, None);
    });
}

#[test]
fn what_is_thrown_is_told_whatever_it_is() {
    in_both_modes(|| {
        for (thrown, told) in [
            ("null", "null"),
            ("undefined", "undefined"),
            ("7", "7"),
            ("Symbol('s')", ""),
            ("{ toString() { throw 1; } }", "an unknown error"),
            ("new Proxy({}, { get() { throw 1; } })", "an unknown error"),
            ("Object.create(null)", "an unknown error"),
        ] {
            for how in [
                "throw ({})",
                "Promise.reject({})",
                "setTimeout(() => { throw {} }, 1)",
                "queueMicrotask(() => { Promise.reject({}) })",
            ] {
                let ran = once(&how.replace("{}", thrown).replace("({})", thrown));
                assert_eq!(ran.complete, 1, "{how} {thrown}");
                assert_eq!(ran.log.len(), 1, "{how} {thrown}: {:?}", ran.log);
                assert!(ran.log[0].contains(told), "{how} {thrown}: {:?}", ran.log);
            }
        }
    });
}

#[test]
fn memory_without_end_is_an_exception() {
    in_both_modes(|| {
        for body in [
            "const all = []; for (;;) all.push({ a: 1 });",
            "let text = 'x'; for (;;) text += text + 'y';",
            "const all = []; for (;;) all.push(new Uint8Array(1 << 16));",
            "const map = new Map(); for (let n = 0; ; n++) map.set(n, `${n}`);",
            "let last = null; for (;;) { last = { last }; last.self = last; }",
        ] {
            let ran = with_memory(64 << 20, || once(body));
            assert_eq!(
                (ran.complete, ran.log.len()),
                (1, 1),
                "{body}: {:?}",
                ran.log
            );
        }
    });
}

#[test]
fn a_user_goes_on_behind_the_end_of_its_memory() {
    in_both_modes(|| {
        let script = "import { sleep } from 'k6';
            export default function () {
                const all = [];
                try { for (;;) all.push(new Uint8Array(1 << 18)); } catch (e) { sleep(0.001); }
                all.length = 0;
                if (new Uint8Array(1 << 20).length !== 1 << 20) console.log('none');
            }";
        let amount = Amount {
            iterations: 10,
            ..Amount::ONCE
        };
        let ran = with_memory(64 << 20, || run(script, amount));
        assert_eq!((ran.complete, ran.log.len()), (10, 0), "{:?}", ran.log);
    });
}

#[test]
fn a_panic_of_a_native_function_ends_its_iteration_alone() {
    in_both_modes(|| {
        let script = "import { sleep } from 'k6';
            export default async function () {
                sleep(0.001);
                if (__ITER === 1) {
                    try { console.log('panic!'); } catch (e) { console.log('caught'); }
                    finally { console.log('finally'); }
                }
                await null;
                [2, 1].sort(() => { if (__ITER === 2) console.log('panic!'); return 0; });
                if (__ITER === 3) setTimeout(() => console.log('panic!'), 1);
            }";
        let amount = Amount {
            users: 2,
            iterations: 20,
            ..Amount::ONCE
        };
        let ran = run(script, amount);
        assert_eq!((ran.complete, &ran.failure), (20, &None), "{:?}", ran.log);
        assert!(!ran.log.is_empty());
        let told = "Error Error: internal error: a log that panics";
        let others: Vec<&String> = ran
            .log
            .iter()
            .filter(|line| !line.starts_with(told))
            .collect();
        assert!(others.is_empty(), "{others:?}");
    });
}

#[test]
#[ignore = "it takes half a minute; make soak runs it"]
fn ten_thousand_iterations_that_are_cut_off_leave_nothing() {
    alone(
        ten_thousand_iterations_that_are_cut_off_leave_nothing,
        || {
            let script = "import http from 'k6/http'; import { sleep } from 'k6';
            export default async function () {
                const cycle = { data: new Uint8Array(1000) }; cycle.self = cycle;
                setTimeout(() => cycle, 1e6);
                Promise.resolve(cycle).then(() => {}).then(() => sleep(1000));
                try { if (__VU % 2) await new Promise(() => {}); else sleep(1000); }
                finally { console.log('never'); }
            }";
            let soon = Amount {
                users: 500,
                iterations: u64::MAX,
                within: Duration::from_millis(400),
            };
            in_both_modes(|| {
                let mut cut_off = 0;
                let mut allocated = Vec::new();
                for _ in 0..22 {
                    let ran = run(script, soon);
                    assert_eq!(beside_timers(&ran), NOTHING);
                    cut_off += ran.interrupted;
                    allocated.push(crate::costs::allocated());
                }
                let more = allocated[21].saturating_sub(allocated[1]);
                println!(
                    "{cut_off} iterations were cut off; {} KB more",
                    more / 1_000
                );
                assert!(cut_off >= 10_000, "{cut_off}");
                assert!(more <= 1 << 20, "{more} bytes");
            });
        },
    );
}

/// The bytes that may remain in memory after an hour of iterations, because the allocator keeps
/// some.
const KEPT_BYTES: u64 = 24 << 20;

#[test]
#[ignore = "it takes half a minute; make soak runs it"]
fn an_hour_of_iterations_leaves_nothing() {
    alone(an_hour_of_iterations_leaves_nothing, || {
        // Ten times the iterations of ten users in an hour, at one per second.
        let script = "import { sleep, check, group } from 'k6';
            import { Trend } from 'k6/metrics';
            const own = new Trend('own');
            export default async function () {
                const cycle = { n: __ITER }; cycle.self = cycle;
                group('g', () => check(cycle, { same: (one) => one.n === __ITER }));
                own.add(__ITER, { kind: `${__ITER % 10}` });
                try { JSON.parse('{'); } catch (e) {}
                await Promise.all([1, 2].map(async (n) => { sleep(0.0001); return n; }));
            }";
        let all = Amount {
            users: 10,
            iterations: 360_000,
            within: Duration::from_secs(3_600),
        };
        in_both_modes(|| {
            run(
                script,
                Amount {
                    iterations: 20_000,
                    ..all
                },
            );
            let before = crate::costs::resident();
            let ran = run(script, all);
            let more = crate::costs::resident().saturating_sub(before);
            println!("{} iterations; {} KB more", ran.complete, more / 1_000);
            assert_eq!((ran.complete, ran.log.len()), (360_000, 0));
            assert!(more <= KEPT_BYTES, "{more} bytes");
        });
    });
}
