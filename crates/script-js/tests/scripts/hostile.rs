//! Scripts that do what they should not: they end their own iteration at most.

use crate::ran::{Amount, in_both_modes, run};
use std::time::Duration;

fn once(body: &str) -> crate::ran::Ran {
    let script =
        format!("import {{ sleep, check }} from 'k6';\nexport default function () {{ {body} }}");
    run(&script, Amount::ONCE)
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
            assert!(ran.log.is_empty(), "{body}: {:?}", ran.log);
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
        // Each user begins one, which lasts longer than the run.
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
        assert!(ran.log.is_empty());
    });
}

#[test]
fn memory_that_is_not_there_is_an_exception() {
    in_both_modes(|| {
        let ran = once("const all = []; for (;;) all.push(new ArrayBuffer(2 ** 40));");
        assert_eq!((ran.complete, ran.log.len()), (1, 1), "{:?}", ran.log);
    });
}
