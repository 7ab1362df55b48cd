use super::*;

fn code(text: &str) -> String {
    factory(text).code
}

#[test]
fn imports_are_looked_up_and_exports_are_getters() {
    let made = factory(
        "import http from 'k6/http';\nimport { add, sum as total } from './sums.js';\n\
         export const two = add(1, 1);\nexport default () => ({ total }) + http.get;\n",
    );
    assert_eq!(made.requests, ["k6/http", "./sums.js"]);
    assert!(!made.is_async);
    assert_eq!(
        made.code,
        "(function(__link){\"use strict\";\
         const __link0=__link.m[0];const __link1=__link.m[1];\
         __link.e({\"two\":()=>two,\"default\":()=>_default});const http=__link0;;\n;\n       \
         const two = (0,__link1.add)(1, 1);\n\
         const _default=() => ({ total:__link1.sum }) + http.get;\n\
         \n__link.f([\"two\",\"default\"])})"
    );
}

#[test]
fn what_changes_stays_a_getter() {
    let code = code("export let n = 0; export function up() { n += 1; }");
    assert!(code.ends_with("f([\"up\"])})"), "{code}");
    assert!(code.contains("\"n\":()=>n"), "{code}");
}

#[test]
fn functions_and_classes_get_a_name() {
    let anonymous = code("export default function () {}");
    assert!(
        anonymous.contains("               function  _default() {}"),
        "{anonymous}"
    );
    let named = code("export default function start() {}");
    assert!(
        named.contains("function start() {}") && named.contains("()=>start"),
        "{named}"
    );
    let class = code("export default class { }");
    assert!(class.contains("class _default { }"), "{class}");
}

#[test]
fn other_modules_are_exported_again() {
    let made = factory(
        "export { a as b } from './a.js';\nexport * from './c.js';\nexport * as d from './d.js';\n\
         import { x } from './a.js';\nexport { x as y };",
    );
    assert_eq!(made.requests, ["./a.js", "./c.js", "./d.js"]);
    for part in [
        "\"b\":()=>__link0.a",
        "\"d\":()=>__link2",
        "\"y\":()=>__link0.x",
        "__link.s(__link1);",
    ] {
        assert!(made.code.contains(part), "{part}: {}", made.code);
    }
    assert_eq!(made.code.lines().count(), 6);
}

#[test]
fn a_bracket_does_not_go_on_with_the_line_before() {
    let code = code("import { f } from './f.js'\nconst a = 1\nf().then(2)\nconst b = f(f)");
    assert!(
        code.contains("\nvoid 0,(0,__link0.f)().then(2)\n"),
        "{code}"
    );
    assert!(
        code.contains("const b = (0,__link0.f)(__link0.f)"),
        "{code}"
    );
}

#[test]
fn waiting_at_the_top_is_told_from_waiting_in_functions() {
    assert!(factory("await 1; export {};").is_async);
    assert!(factory("for await (const a of b); export {};").is_async);
    assert!(!factory("export default async () => { await 1; };").is_async);
}

#[test]
fn names_that_are_taken_are_left_alone() {
    let code = code("const _default = 1, __link = 2;\nexport default _default;");
    assert!(code.contains("const _default_=_default;"), "{code}");
    assert!(code.starts_with("(function(__link_)"), "{code}");
}

#[test]
fn modules_that_are_asked_for_later_and_meta_go_through_the_link() {
    let code = code("export const a = import.meta.url; const b = () => import('./b.js');");
    assert!(code.contains("__link.meta.url"), "{code}");
    assert!(code.contains("__link.i('./b.js')"), "{code}");
}
