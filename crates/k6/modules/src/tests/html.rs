//! `k6/html` compared with the results of k6 1.8 for the same expressions.
//!
//! `cases.txt` has a page, an expression and k6's value in each line. `$` is the page's selection,
//! `E(css)` its first element that a selector selects, `H` is `parseHTML`. `PANIC` marks
//! expressions for which k6 panics. `elements.txt` has members of elements: name, member,
//! attribute, and the values without the attribute and with `foo`, `5`, `-1`, an empty text and
//! `FOO` in it.

use rquickjs::{Ctx, Function, Runtime};

const CASES: &str = include_str!("html/cases.txt");
const ELEMENTS: &str = include_str!("html/elements.txt");
const PAGES: [(&str, &str); 4] = [
    ("page", include_str!("html/page.html")),
    ("form", include_str!("html/form.html")),
    ("table", include_str!("html/table.html")),
    ("more", include_str!("html/more.html")),
];

/// Intended differences from k6.
const DIFFERENT: &str = include_str!("html/different.txt");

fn with_page<T>(run: impl FnOnce(&Ctx<'_>, Function<'_>) -> T) -> T {
    let runtime = Runtime::new().unwrap();
    let context = crate::realm(&runtime).unwrap();
    context.with(|ctx| {
        crate::install_globals(&ctx, |ctx, text| crate::go_error(ctx, text)).unwrap();
        let module = crate::html(&ctx).unwrap();
        ctx.globals().set("html", module).unwrap();
        let _: () = ctx.eval(include_str!("show.js")).unwrap();
        let value: Function<'_> = ctx
            .eval(
                "(page, expression) => {
                    const $ = html.parseHTML(page);
                    const E = (css) => $.find(css).get(0);
                    const f = new Function('$', 'E', 'H', `return (${expression})`);
                    return attempt(() => f($, E, html.parseHTML)).replace(/\\n/g, '\\\\n');
                }",
            )
            .unwrap();
        run(&ctx, value)
    })
}

/// Returns the expected value of an expression: k6's, unless a difference is intended.
fn expected<'a>(page: &str, expression: &str, k6: &'a str) -> &'a str {
    let mut different = DIFFERENT.lines().filter(|line| !line.starts_with('#'));
    let ours = different.find_map(|line| {
        let (expression_of_page, ours) = line.rsplit_once('\t')?;
        (expression_of_page.split_once('\t')? == (page, expression)).then_some(ours)
    });
    ours.unwrap_or(k6)
}

/// True if two results are the same. Engines have different messages for type errors, and k6 names
/// the type of a wrong argument in Go.
fn is_same(ours: &str, expected: &str) -> bool {
    let starts = [
        "! TypeError: ",
        "! GoError: invalid argument, cannot use a '",
    ];
    let is_alike = |start: &&str| ours.starts_with(*start) && expected.starts_with(*start);
    ours == expected || starts.iter().any(is_alike)
}

#[test]
fn expressions_have_the_values_that_k6_gives_them() {
    let wrong = with_page(|_, value| {
        let mut wrong = Vec::new();
        for line in CASES.lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [page, expression, k6] = parts[..] else {
                panic!("not a case: {line}");
            };
            let html = PAGES.iter().find(|(name, _)| *name == page);
            let html = html.map_or("", |(_, html)| html);
            let ours: String = value.call((html, expression)).unwrap();
            let expected = expected(page, expression, k6);
            if !is_same(&ours, expected) {
                wrong.push(format!("{page}\t{expression}\n  {expected}\n  {ours}"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn elements_reflect_their_attributes_as_in_k6() {
    let wrong = with_page(|_, value| {
        let mut wrong = Vec::new();
        for line in ELEMENTS.lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [tag, member, attribute, values @ ..] = &parts[..] else {
                panic!("not a case: {line}");
            };
            let given = ["", "=foo", "=5", "=-1", "=''", "=FOO"];
            assert_eq!(values.len(), given.len(), "{line}");
            for (given, k6) in given.iter().zip(values) {
                let attribute = match *given {
                    "" => String::new(),
                    given => format!("{attribute}{given}"),
                };
                let page = match *tag {
                    "td" | "th" => format!("<table><tr><{tag} {attribute}></table>"),
                    "tr" | "tbody" | "thead" | "tfoot" | "col" | "colgroup" => {
                        format!("<table><{tag} {attribute}></table>")
                    }
                    tag => format!("<html><body><{tag} {attribute}>"),
                };
                let expression = format!("E('{tag}').{member}()");
                let ours: String = value.call((page, &expression)).unwrap();
                if ours != *k6 {
                    wrong.push(format!("{expression} {attribute}: {k6}, not {ours}"));
                }
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_classes_are_made_once_in_a_realm() {
    with_page(|ctx, _| {
        let same = "html.parseHTML('<p>').constructor === html.parseHTML('<b>').constructor";
        assert!(ctx.eval::<bool, _>(same).unwrap());
    });
}
